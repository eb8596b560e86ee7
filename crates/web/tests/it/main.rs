//! Tests of the HTTP kit through its public API.

mod identity;
mod peer_process;
