//! Checkpoints that leave the house over channels: how often, and of which the journal says that they did.
//!
//! That channels were told is an event, so no restart and no other node tells them twice within an interval. The event is in
//! the journal like any other, and is no reason for another checkpoint.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::time::Timestamp;

/// The tree that a checkpoint covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Covered {
    /// Events.
    pub size: u64,
    pub root: Digest,
}

/// The last one that channels were told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastTold {
    pub at: Timestamp,
    pub covered: Covered,
}

impl LastTold {
    /// Whether another one may follow by now, of a journal with so many events.
    pub fn is_followed(&self, now: Timestamp, every_ms: u64, size: u64) -> bool {
        // The event that says so is one more.
        now >= self.at.plus_ms(every_ms) && size > self.covered.size + 1
    }
}

/// Has channels told of a checkpoint, where none was told of within this time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tell {
    pub covered: Covered,
    pub every_ms: u64,
}
