//! Delivery of checkpoints over channels: its interval, and its record in the journal.
//!
//! The delivery is an event, so neither a restart nor another node repeats it within an interval. The event is in the
//! journal like any other, but does not cause another checkpoint.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::time::Timestamp;

/// Tree that a checkpoint covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointTree {
    /// Number of events.
    pub size: u64,
    pub root: Digest,
}

/// Last checkpoint that was sent to channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastSentCheckpoint {
    pub at: Timestamp,
    pub covered: CheckpointTree,
}

impl LastSentCheckpoint {
    /// Returns true if another checkpoint may follow now. `size` is the number of events in the journal.
    pub fn is_followed(&self, now: Timestamp, every_ms: u64, size: u64) -> bool {
        // The delivery's own event is one more.
        now >= self.at.plus_ms(every_ms) && size > self.covered.size + 1
    }
}

/// Sends a checkpoint to channels, unless one was sent within `every_ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendCheckpoint {
    pub covered: CheckpointTree,
    pub every_ms: u64,
}
