//! Deliveries of notifications: the rows of the outbox. Each row is one notification about one event, sent over one
//! channel.
//!
//! The tables of `projection.rs` can be rebuilt from the journal. The outbox cannot be rebuilt. No other table records
//! which notifications were sent. If the outbox were emptied and filled again from the journal, all notifications would
//! be sent again.

use crate::id::{DeliveryId, Id, InterruptId, RunId};
use crate::notice::Occasion;
use crate::time::Timestamp;

/// Notification about one event over one channel, with the state of its delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Id of the notification, which is sent with every attempt. The id allows the receiver to discard duplicates.
    pub delivery: DeliveryId,
    pub channel: String,
    pub occasion: Occasion,
    /// Run to which the notification belongs. `seq` is the number of the event in this run. For a checkpoint of the
    /// journal, `seq` is the number of an event in the system stream. `run` and `interrupt` are then
    /// [placeholders](Self::placeholder_ids).
    pub run: RunId,
    pub seq: u64,
    pub interrupt: InterruptId,
    /// Notification as JSON: a [`Notice`](crate::notice::Notice) or a
    /// [`CheckpointNotice`](crate::notice::CheckpointNotice). A notification contains no content that people can erase.
    /// The notification is removed from old deliveries.
    pub notice: String,
    pub state: DeliveryState,
    pub created_at: Timestamp,
    /// Time of the next attempt to send the notification. `None` if no further attempt follows.
    pub next_at: Option<Timestamp>,
    pub attempts: u64,
    /// Server node that is sending the delivery now.
    pub node: Option<u64>,
    /// Status code of the receiver's response to the last attempt to send the notification.
    pub status: Option<u64>,
    /// Reason why the last attempt to send the notification failed, or why the delivery was dropped.
    pub error: Option<String>,
    pub ended_at: Option<Timestamp>,
}

/// Digits of the placeholder ids of a delivery: 26 zeros.
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
    /// The notification was discarded: it was no longer needed at the time of sending, or the receiver answered that
    /// its recipient no longer exists.
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
    /// Number of the attempt to send the delivery, from 1.
    pub number: u64,
    pub at: Timestamp,
    pub took_ms: u64,
    pub status: Option<u64>,
    pub error: Option<String>,
    /// SHA-256 of the sent bytes, in hexadecimal. `None` if no bytes were sent.
    pub digest: Option<String>,
    /// Beginning of the receiver's response. The response is removed from old deliveries.
    pub answer: Option<String>,
}

/// State of a channel whose deliveries fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelState {
    pub channel: String,
    /// Time of the channel's first failure since its last successful delivery.
    pub failing_since: Timestamp,
    /// Time of the channel's last failure. `failing_ms` is the time between the first and the last failure. A long
    /// pause between two attempts is counted only in part.
    pub failed_at: Timestamp,
    pub failing_ms: u64,
    /// Time at which the channel was disabled. A disabled channel gets no deliveries until a person requests a retry.
    pub disabled_at: Option<Timestamp>,
    pub why: Option<String>,
}
