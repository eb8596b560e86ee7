//! Delivery of checkpoints over channels: the interval, and the record in the journal.
//!
//! Each delivery is an event, so neither a restart nor a second node repeats a delivery within an interval. A
//! delivery's event is a part of the journal, but does not cause a further checkpoint.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::time::Timestamp;

/// Tree of events that a checkpoint covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointTree {
    /// Number of events in the tree.
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
    /// Returns true if the next checkpoint after this one is due. `size` is the number of events in the journal.
    pub fn is_next_due(&self, now: Timestamp, every_ms: u64, size: u64) -> bool {
        // The event of the last delivery is one of the new events, but does not cause a checkpoint.
        now >= self.at.plus_ms(every_ms) && size > self.covered.size + 1
    }
}

/// Input that sends a checkpoint to channels, unless a checkpoint was sent within `every_ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendCheckpoint {
    pub covered: CheckpointTree,
    pub every_ms: u64,
}
