//! Deliveries: the rows of the outbox. One row is one notification over one channel about one event.
//!
//! Rows of `projection.rs` can be rebuilt from the journal, but rows of the outbox cannot. Only the outbox records
//! which notifications were sent. If the outbox were rebuilt, all notifications would be sent again.

use crate::id::{DeliveryId, Id, InterruptId, RunId};
use crate::notice::Occasion;
use crate::time::Timestamp;

/// Notification over one channel about one event, with its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Id that every attempt sends. The receiver can discard duplicates by this id.
    pub delivery: DeliveryId,
    pub channel: String,
    pub occasion: Occasion,
    /// Run whose event `seq` the notification is about. For a checkpoint, `seq` is the number of an event in the system
    /// stream, and run and interrupt are [placeholders](Self::placeholder_ids).
    pub run: RunId,
    pub seq: u64,
    pub interrupt: InterruptId,
    /// A [`Notice`](crate::notice::Notice) as JSON, or a [`CheckpointNotice`](crate::notice::CheckpointNotice). A
    /// notice contains no erasable content. When the delivery is old, this text is removed.
    pub notice: String,
    pub state: DeliveryState,
    pub created_at: Timestamp,
    /// Time of the next attempt. `None` if no further attempt follows.
    pub next_at: Option<Timestamp>,
    pub attempts: u64,
    /// Node that is currently sending the delivery.
    pub node: Option<u64>,
    /// Status code of the response to the last attempt.
    pub status: Option<u64>,
    /// Reason why the last attempt failed, or why the delivery was dropped.
    pub error: Option<String>,
    pub ended_at: Option<Timestamp>,
}

/// Digits that every placeholder id has.
const NOTHING: &str = "00000000000000000000000000";

impl Delivery {
    /// Returns the placeholder ids of a delivery that is not about an interrupt.
    pub fn placeholder_ids() -> (RunId, InterruptId) {
        let id = |prefix: &str| format!("{prefix}{NOTHING}");
        (RunId::from_text(id(RunId::PREFIX)), InterruptId::from_text(id(InterruptId::PREFIX)))
    }

    /// Returns the run and the interrupt that the delivery is about. `None` if the delivery is a checkpoint.
    pub fn subject(&self) -> Option<(&RunId, &InterruptId)> {
        (self.occasion != Occasion::Checkpoint).then_some((&self.run, &self.interrupt))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeliveryState {
    /// The delivery waits for its first attempt or for another attempt.
    Waiting,
    /// The receiver acknowledged the delivery.
    Delivered,
    /// The last attempt failed, and no further attempt follows.
    Failed,
    /// The delivery was no longer needed before it could be sent.
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
    /// Number of the attempt, from 1.
    pub number: u64,
    pub at: Timestamp,
    pub took_ms: u64,
    pub status: Option<u64>,
    pub error: Option<String>,
    /// SHA-256 of the sent bytes, in hexadecimal. `None` if no bytes were sent.
    pub digest: Option<String>,
    /// Beginning of the receiver's response, which is removed when the delivery is old.
    pub answer: Option<String>,
}

/// State of a channel whose deliveries fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelState {
    pub channel: String,
    /// Time of the first failure since the last successful delivery.
    pub failing_since: Timestamp,
    /// Time of the last failure. `failing_ms` is the time between the first and the last failure. If there was a long
    /// pause between two attempts, only a part of the pause is counted.
    pub failed_at: Timestamp,
    pub failing_ms: u64,
    /// Time at which the channel was disabled. A disabled channel gets no deliveries until a person requests a retry.
    pub disabled_at: Option<Timestamp>,
    pub why: Option<String>,
}
