//! Cost of the hash chain over all events for an append in SQLite: the time to compute a hash, and the bytes of the
//! hash in the row of the event.

use std::hint::black_box;
use std::time::{Duration, Instant};

use holdshort_core::digest::Digest;
use holdshort_core::head::Head;

/// Number of hashes over which the time of one hash is averaged.
const HASHES: u32 = 200_000;

pub(super) struct Chain {
    /// Time to hash one event.
    pub(super) hash: Duration,
    /// Bytes that the hash adds to the database row of one event.
    pub(super) bytes: usize,
}

impl Chain {
    pub(super) fn measure() -> Self {
        let event = Digest::of_bytes(b"an event");
        let mut head = Head::START;
        let began = Instant::now();
        for _ in 0..HASHES {
            head = head.then(black_box(&event));
        }
        let hash = began.elapsed() / HASHES;
        Self { hash, bytes: black_box(head).hash.as_bytes().len() }
    }
}
