//! The real binary, from outside: at a pseudo-terminal, from scripts, beside a server.

mod demo;
mod errors;
mod examples;
mod home;
mod models;
mod serve;
mod terminal;
