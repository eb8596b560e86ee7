//! Tests of the requests of channels, over loopback sockets.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod channels;
mod formats;
mod push;
mod retry_after;
mod sending;
mod sign;
mod sink;
mod summary;
