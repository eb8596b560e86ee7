//! Tests of the server over real HTTP. The server runs in this process, on a separate data folder.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod access;
mod actions;
mod agents;
mod app;
mod approvals;
mod asyncapi;
mod audit;
mod cards;
mod connections;
mod conversation;
mod crew_socket;
mod decisions;
mod everything;
mod followers;
mod harness;
mod idempotency;
mod input;
mod interrupts;
mod keys;
mod links;
mod lists;
mod logins;
mod metrics;
mod native;
mod openapi;
mod people;
mod people_access;
mod plans;
mod policy;
mod rights;
mod sessions;
mod socket;
mod start;
mod store;
mod streams;
mod trials;
mod voting;
mod waiting;
mod withheld;
mod written;
