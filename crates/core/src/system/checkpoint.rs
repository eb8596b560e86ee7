//! Delivery of checkpoints over channels: the interval between deliveries, and the record of each delivery in the
//! journal.
//!
//! Each delivery of a checkpoint is an event. Neither a restart nor a second node therefore repeats a delivery within
//! an interval. The event is part of the journal, but does not itself cause a further checkpoint.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::time::Timestamp;

/// Tree of the events that a checkpoint covers.
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
    /// Returns true if the checkpoint after this one is due. `size` is the number of events in the journal.
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
