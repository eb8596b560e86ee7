//! Tests of the edges' translations that need no server.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod config;
mod form;
mod hooks;
mod messages;
