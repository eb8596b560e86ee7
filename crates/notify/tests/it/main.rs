//! Tests of what channels are sent, over sockets on loopback.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod channels;
mod formats;
mod push;
mod retry_after;
mod sending;
mod sign;
mod sink;
