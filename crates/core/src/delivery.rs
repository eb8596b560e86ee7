//! Deliveries: the rows of the outbox. One row notifies one channel of one event.
//!
//! The rows of `projection.rs` can be rebuilt from the journal, but these cannot. They alone record which notifications
//! were sent, so a rebuild would send all of them again.

use crate::id::{DeliveryId, Id, InterruptId, RunId};
use crate::notice::Occasion;
use crate::time::Timestamp;

/// Notification of one channel about one event, with its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Stays the same for each attempt, so that a receiver can discard repeats.
    pub delivery: DeliveryId,
    pub channel: String,
    pub occasion: Occasion,
    /// Event of the notification: `seq` in the stream of the run. A checkpoint's `seq` is in the system stream, and its
    /// run and interrupt are [placeholders](Self::placeholder_ids).
    pub run: RunId,
    pub seq: u64,
    pub interrupt: InterruptId,
    /// A [`Notice`](crate::notice::Notice) as JSON, or a
    /// [`CheckpointNotice`](crate::system::checkpoint::CheckpointNotice). Neither holds content. Emptied once it is
    /// old.
    pub notice: String,
    pub state: DeliveryState,
    pub created_at: Timestamp,
    /// Time of the next attempt. `None` once the delivery has ended.
    pub next_at: Option<Timestamp>,
    pub attempts: u64,
    /// Node that is sending the delivery.
    pub node: Option<u64>,
    /// Status code of the response to the last attempt.
    pub status: Option<u64>,
    /// Reason why the last attempt failed, or why the delivery was dropped.
    pub error: Option<String>,
    pub ended_at: Option<Timestamp>,
}

/// Digits of a placeholder id.
const NOTHING: &str = "00000000000000000000000000";

impl Delivery {
    /// Returns the placeholder ids of a delivery that concerns no interrupt.
    pub fn placeholder_ids() -> (RunId, InterruptId) {
        let id = |prefix: &str| format!("{prefix}{NOTHING}");
        (RunId::from_text(id(RunId::PREFIX)), InterruptId::from_text(id(InterruptId::PREFIX)))
    }

    /// Returns the run and the interrupt of the delivery.
    pub fn subject(&self) -> Option<(&RunId, &InterruptId)> {
        (self.occasion != Occasion::Checkpoint).then_some((&self.run, &self.interrupt))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeliveryState {
    /// Scheduled for a first or a further attempt.
    Waiting,
    /// Acknowledged by the receiver.
    Delivered,
    /// Given up: not tried again.
    Failed,
    /// Obsolete before it was sent.
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
    /// Counts from 1.
    pub number: u64,
    pub at: Timestamp,
    pub took_ms: u64,
    pub status: Option<u64>,
    pub error: Option<String>,
    /// Hexadecimal SHA-256 of the sent bytes. `None` if none were sent.
    pub digest: Option<String>,
    /// Beginning of the response. Removed once it is old.
    pub answer: Option<String>,
}

/// Channel whose deliveries fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelState {
    pub channel: String,
    /// Time of the first failure since the last successful delivery.
    pub failing_since: Timestamp,
    /// Time of the last failure. `failing_ms` counts from the first failure to this one, with only a part of each long
    /// pause.
    pub failed_at: Timestamp,
    pub failing_ms: u64,
    /// Time at which the channel was disabled. It receives no deliveries until a person retries.
    pub disabled_at: Option<Timestamp>,
    pub why: Option<String>,
}
