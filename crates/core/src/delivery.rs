//! Deliveries: the rows of the outbox. One tells one channel of one event.
//!
//! Unlike the rows of `projection.rs` they can not be made from the journal again: what was sent is known here alone, and
//! whoever made them again would tell everything once more.

use crate::id::{DeliveryId, Id, InterruptId, RunId};
use crate::notice::Occasion;
use crate::time::Timestamp;

/// What one channel is told of one event, and how that stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The same for each attempt: what a receiver tells repeats by.
    pub delivery: DeliveryId,
    pub channel: String,
    pub occasion: Occasion,
    /// The event that it tells of: `seq` in the stream of the run. Of a checkpoint it is in that of the installation, and run
    /// and interrupt are [none](Self::of_nothing).
    pub run: RunId,
    pub seq: u64,
    pub interrupt: InterruptId,
    /// A [`Notice`](crate::notice::Notice) as JSON, or a [`CheckpointNotice`](crate::system::checkpoint::CheckpointNotice);
    /// neither holds content. Empty once it is old.
    pub notice: String,
    pub state: DeliveryState,
    pub created_at: Timestamp,
    /// When it is tried next; `None` once it has ended.
    pub next_at: Option<Timestamp>,
    pub attempts: u64,
    /// The node that is sending it.
    pub node: Option<u64>,
    /// What the last attempt was answered with.
    pub status: Option<u64>,
    /// Why the last attempt failed, or why it is not sent.
    pub error: Option<String>,
    pub ended_at: Option<Timestamp>,
}

/// Of an id that names nothing.
const NOTHING: &str = "00000000000000000000000000";

impl Delivery {
    /// What stands in the columns of a delivery that is about no interrupt.
    pub fn of_nothing() -> (RunId, InterruptId) {
        let id = |prefix: &str| format!("{prefix}{NOTHING}");
        (RunId::from_text(id(RunId::PREFIX)), InterruptId::from_text(id(InterruptId::PREFIX)))
    }

    /// The interrupt that it is about, and its run.
    pub fn subject(&self) -> Option<(&RunId, &InterruptId)> {
        (self.occasion != Occasion::Checkpoint).then_some((&self.run, &self.interrupt))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeliveryState {
    /// It is to be sent, for the first time or again.
    Waiting,
    /// The receiver has said that it has it.
    Delivered,
    /// It is not tried any more.
    Failed,
    /// It was not worth sending any more.
    Dropped,
}

impl DeliveryState {
    pub const ALL: [Self; 4] = [Self::Waiting, Self::Delivered, Self::Failed, Self::Dropped];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Dropped => "dropped",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// One attempt to send a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub delivery: DeliveryId,
    /// From 1.
    pub number: u64,
    pub at: Timestamp,
    pub took_ms: u64,
    pub status: Option<u64>,
    pub error: Option<String>,
    /// SHA-256 of the bytes that were sent, in hexadecimal; `None` where none were.
    pub digest: Option<String>,
    /// The beginning of what was answered. Gone once it is old.
    pub answer: Option<String>,
}

/// A channel that does not work as it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelState {
    pub channel: String,
    /// The first failure since a delivery came through.
    pub failing_since: Timestamp,
    /// The last one, and the time from the first to it, of which long pauses count in part.
    pub failed_at: Timestamp,
    pub failing_ms: u64,
    /// Nothing is sent to it until a person retries.
    pub disabled_at: Option<Timestamp>,
    pub why: Option<String>,
}
