//! The outbox: notifications to send, called deliveries, and the results of sending them. Appends of events add
//! deliveries. Only one node at a time sends a delivery. Deliveries and their results are deleted after a limited time.
//!
//! Unlike [`Tables`](crate::Tables), the outbox cannot be rebuilt from events. A rebuild of the other rows leaves it
//! unchanged.

use std::future::Future;
use std::time::Duration;

use holdshort_core::delivery::{Attempt, ChannelState, Delivery, DeliveryState};
use holdshort_core::id::{DeliveryId, InterruptId};
use holdshort_core::time::Timestamp;

use crate::journal::Error;
use crate::tables::{Cursor, Page};

/// Request with which a node asks for deliveries to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub channel: String,
    /// Current time. Only deliveries whose due time has come are claimed.
    pub now: Timestamp,
    pub limit: usize,
    /// Deliveries that this node is still sending. The claim excludes them, even if another node has claimed and
    /// released them since. Otherwise the result of the running attempt would be recorded for the new claim. All other
    /// deliveries that this node claimed earlier can be claimed again, because this node is no longer sending them.
    pub sending: Vec<DeliveryId>,
    /// True if a single node must get all due deliveries of the channel, even if several nodes make a claim at the same
    /// moment.
    pub whole: bool,
}

/// Result of sending a delivery that this node claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The delivery in its new state. No node is sending it now.
    pub delivery: Delivery,
    /// Attempt to send the delivery. `None` if the node made no attempt.
    pub attempt: Option<Attempt>,
}

/// Result of [`Outbox::settle_delivery`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettleOutcome {
    /// Another node has claimed the delivery in the meantime. The store wrote nothing.
    Taken,
    /// The result of the delivery was written. `failing` is `None` if the channel works, or if no attempt was made.
    Written { failing: Option<Failing> },
}

/// Period in which all attempts to send over a channel have failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failing {
    /// Time of the channel's first attempt that failed after its last success.
    pub since: Timestamp,
    /// Milliseconds from the first to the last failed attempt. A pause between two attempts adds at most
    /// [`CHANNEL_PAUSE`], because the channel may have worked during the pause.
    pub ms: u64,
}

/// A change to deliveries or to the states of channels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryChange {
    /// Makes a delivery due now, even if it has ended, and enables its channel again. Does nothing if the delivery is
    /// being sent, or if it was delivered.
    Retry { delivery: DeliveryId, now: Timestamp },
    /// Drops all waiting deliveries and records the reason `why`.
    DropWaiting { why: String, now: Timestamp },
    /// Marks waiting deliveries that were due before the time `before` as failed. Such deliveries are still waiting
    /// because their channel was deleted or disabled.
    FailOld { before: Timestamp, why: String, now: Timestamp },
    /// Disables the channel, so that nothing is sent to it any more.
    Disable { channel: String, why: String, now: Timestamp },
    /// Deletes the notification texts and the receivers' responses of deliveries that ended before `bodies`. Deletes
    /// deliveries that ended before `attempts`, together with their attempts.
    Forget { bodies: Timestamp, attempts: Timestamp },
}

/// Filter for the list of deliveries, which is sorted from newest to oldest.
#[derive(Clone, Debug, Default)]
pub struct DeliveryFilter {
    pub channel: Option<String>,
    pub state: Option<DeliveryState>,
    pub interrupt: Option<InterruptId>,
}

/// Store of deliveries, and of the states of channels that fail or are disabled.
pub trait Outbox: Send + Sync + 'static {
    /// Claims due deliveries of one channel that no living node is sending, in the order of their due times. Claims
    /// nothing if the channel is disabled or this node's lease has expired.
    fn claim_deliveries(&self, claim: Claim) -> impl Future<Output = Result<Vec<Delivery>, Error>> + Send;

    /// Records the new state of a delivery, the attempt to send it, and the resulting state of the delivery's channel.
    fn settle_delivery(&self, settled: Settled) -> impl Future<Output = Result<SettleOutcome, Error>> + Send;

    /// Applies a change. Returns the number of changed deliveries or channels. `Forget` and `FailOld` change at most
    /// one batch per call. The caller repeats the call until the returned number is 0.
    fn change_deliveries(&self, change: DeliveryChange) -> impl Future<Output = Result<usize, Error>> + Send;

    /// Returns the earliest due time of the waiting deliveries of these channels. Deliveries that a node is sending are
    /// ignored.
    fn next_delivery(
        &self,
        channels: Vec<String>,
    ) -> impl Future<Output = Result<Option<Timestamp>, Error>> + Send;

    fn delivery(&self, id: &DeliveryId) -> impl Future<Output = Result<Option<Delivery>, Error>> + Send;

    fn deliveries(
        &self,
        filter: &DeliveryFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> impl Future<Output = Result<Page<Delivery>, Error>> + Send;

    /// Returns the attempts of one delivery, in their order.
    fn attempts(&self, id: &DeliveryId) -> impl Future<Output = Result<Vec<Attempt>, Error>> + Send;

    /// Returns the states of the channels that fail or are disabled, sorted by channel name.
    fn channel_states(&self) -> impl Future<Output = Result<Vec<ChannelState>, Error>> + Send;
}

/// Maximum number of deliveries that one transaction marks as failed or deletes. The transaction must be short, because
/// appends of events wait until it ends. The next transaction handles the remaining deliveries.
pub(crate) const DELIVERIES_AT_ONCE: usize = 500;
/// Maximum time that a pause between two failed attempts adds to the period in which a channel failed.
pub const CHANNEL_PAUSE: Duration = Duration::from_hours(24);

impl Settled {
    /// Returns true if the attempt to send shows that the channel works, and false if the attempt failed. Returns
    /// `None` if there was no attempt.
    pub(crate) fn works(&self) -> Option<bool> {
        // If an attempt ends with a dropped delivery, the receiver has answered that the recipient is gone. The channel
        // itself works.
        let works = matches!(self.delivery.state, DeliveryState::Delivered | DeliveryState::Dropped);
        self.attempt.as_ref().map(|_| works)
    }
}

/// Returns [`CHANNEL_PAUSE`] in milliseconds, for an SQL statement.
pub(crate) fn pause_ms() -> i64 {
    i64::try_from(CHANNEL_PAUSE.as_millis()).unwrap_or(i64::MAX)
}
