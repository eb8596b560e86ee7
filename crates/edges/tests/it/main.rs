//! Tests of the edges' translations that need no server.

#![expect(clippy::unwrap_used, reason = "a test that can not go on fails")]

mod config;
mod form;
mod messages;
