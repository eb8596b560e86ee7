//! The server: the native API over HTTP, its two local tokens, its streams.
//!
//! Everything that comes from outside passes here once: host, origin, token, size, JSON, types. Nothing here
//! decides what a run does: the core does, behind the engine's driver. Every answer is read from the journal, so
//! a connection that breaks changes nothing. Start at `server.rs`, then `routes/mod.rs`.

mod accept;
mod app;
mod asyncapi;
mod auth;
mod body;
mod connections;
mod convert;
mod decide;
mod edges;
mod feed;
mod guard;
mod idempotency;
mod library;
mod limits;
mod links;
mod logins;
mod openapi;
mod pace;
mod pages;
mod patient_stream;
mod problem;
mod query;
mod rate;
pub mod reading;
mod routes;
mod secrets;
mod server;
mod serving;
mod socket;
mod tokens;
mod view;
mod wait;

pub use asyncapi::asyncapi;
pub use library::{Checked, Error as WorkflowsError, check as check_workflows};
pub use limits::AGENT_REQUESTS;
pub use openapi::openapi;
pub use pace::Pace;
pub use routes::audit::{journal_head, verification};
pub use server::{Options, Server, StartError, Tuning, start, start_tuned};
