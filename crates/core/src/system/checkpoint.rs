//! Delivery of the journal's checkpoints over channels: the time between two deliveries, and the record of each
//! delivery.
//!
//! Each delivery of a checkpoint is an event. Therefore neither a restart nor a second server node sends another
//! checkpoint too early. This event belongs to the journal, but does not make a further checkpoint necessary.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::time::Timestamp;

/// Merkle tree over the events that a checkpoint covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointTree {
    /// Number of events in the Merkle tree.
    pub size: u64,
    pub root: Digest,
}

/// Latest checkpoint that was sent to channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastSentCheckpoint {
    pub at: Timestamp,
    pub covered: CheckpointTree,
}

impl LastSentCheckpoint {
    /// Returns true if the next checkpoint must be sent. `size` is the number of events in the journal.
    pub fn is_next_due(&self, now: Timestamp, every_ms: u64, size: u64) -> bool {
        // The event of the last delivery is a new event in the journal, but does not cause a checkpoint.
        now >= self.at.plus_ms(every_ms) && size > self.covered.size + 1
    }
}

/// Input that sends a checkpoint to channels. The input has no effect if a checkpoint was sent within the last
/// `every_ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendCheckpoint {
    pub covered: CheckpointTree,
    pub every_ms: u64,
}
