//! Tests of the real binary from outside: in a pseudo-terminal, from scripts, and next to a server.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod audit;
mod backup;
mod browser;
mod cards;
mod chat;
mod config;
mod configured;
mod demo;
mod errors;
mod examples;
mod freezes;
mod hook_install;
mod keys;
mod logs;
mod models;
mod nginx;
mod packs;
mod people;
mod plan;
mod program_name;
mod proxy;
mod raw;
mod receipts;
mod remote_access;
mod serve;
mod tls;
mod tls_served;
mod token;
mod undo;
mod without_packs;
