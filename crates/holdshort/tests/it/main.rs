//! Tests of the real binary from outside: at a pseudo-terminal, from scripts, next to a server.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod audit;
mod backup;
mod browser;
mod called;
mod cards;
mod chat;
mod config;
mod configured;
mod demo;
mod errors;
mod examples;
mod freezes;
mod keys;
mod logs;
mod models;
mod nginx;
mod packs;
mod plan;
mod proxy;
mod raw;
mod reached;
mod receipts;
mod serve;
mod tls;
mod tls_served;
mod token;
mod told;
mod undo;
mod without_packs;
