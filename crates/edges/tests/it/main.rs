//! What the edges promise without a server around them.

#![expect(clippy::unwrap_used, reason = "a test that can not go on fails")]

mod config;
mod form;
mod messages;
