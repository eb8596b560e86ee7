//! Promises of a journal about its outbox. Appends write deliveries, one node at a time sends each delivery, and
//! results are kept for a while.
//!
//! Unlike [`Tables`](crate::Tables) the outbox is not a projection: a rebuild of rows leaves it alone.

use std::future::Future;
use std::time::Duration;

use holdshort_core::delivery::{Attempt, ChannelState, Delivery, DeliveryState};
use holdshort_core::id::{DeliveryId, InterruptId};
use holdshort_core::time::Timestamp;

use crate::journal::Error;
use crate::tables::{Cursor, Page};

/// Request of a node for deliveries to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub channel: String,
    /// Current time: only deliveries due by then are claimed.
    pub now: Timestamp,
    pub limit: usize,
    /// Deliveries that this node is sending now. They are not claimed again, even if another node had them in between:
    /// the running attempt would settle the new claim. The node has lost track of every other delivery that it claimed
    /// before.
    pub sending: Vec<DeliveryId>,
    /// True if all due deliveries go to one node when several nodes claim at the same moment.
    pub whole: bool,
}

/// Result of a delivery that this node had claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// New state of the delivery, which no node sends now.
    pub delivery: Delivery,
    /// `None` if it was not attempted.
    pub attempt: Option<Attempt>,
}

/// Outcome of settling a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettleOutcome {
    /// Another node has claimed the delivery. The store wrote nothing.
    Taken,
    /// `failing` is `None` if the channel works or was not tried.
    Written { failing: Option<Failing> },
}

/// Duration for which every attempt over a channel has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failing {
    /// Time of the first failed attempt.
    pub since: Timestamp,
    /// Milliseconds from the first failed attempt to the last. A pause between two attempts adds at most
    /// [`CHANNEL_PAUSE`]: a channel does not fail while nothing is sent.
    pub ms: u64,
}

/// Change to deliveries or to their channels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryChange {
    /// Makes a delivery due now, even if it had ended, and tries its channel again. Skips deliveries that are being
    /// sent or were delivered.
    Retry { delivery: DeliveryId, now: Timestamp },
    /// Drops all waiting deliveries.
    DropWaiting { why: String, now: Timestamp },
    /// Fails waiting deliveries that were due before this time: their channel is deleted or disabled.
    FailOld { before: Timestamp, why: String, now: Timestamp },
    /// Disables the channel: it gets no more deliveries.
    Disable { channel: String, why: String, now: Timestamp },
    /// Forgets the notice and the responses of deliveries that ended before `bodies`, and everything of those that
    /// ended before `attempts`.
    Forget { bodies: Timestamp, attempts: Timestamp },
}

/// Filter of the list of deliveries, newest first.
#[derive(Clone, Debug, Default)]
pub struct DeliveryFilter {
    pub channel: Option<String>,
    pub state: Option<DeliveryState>,
    pub interrupt: Option<InterruptId>,
}

/// Deliveries, and the channels that fail or are disabled.
pub trait Outbox: Send + Sync + 'static {
    /// Claims due deliveries that no living node is sending, longest due first. Claims none of a disabled channel, and
    /// none if this node's lease has lapsed.
    fn claim_deliveries(&self, claim: Claim) -> impl Future<Output = Result<Vec<Delivery>, Error>> + Send;

    /// Records the result of a delivery, its attempt, and whether its channel works.
    fn settle_delivery(&self, settled: Settled) -> impl Future<Output = Result<SettleOutcome, Error>> + Send;

    /// Applies a change and returns how many deliveries or channels it changed. `Forget` and `FailOld` work in batches:
    /// 0 means that they are finished.
    fn change_deliveries(&self, change: DeliveryChange) -> impl Future<Output = Result<usize, Error>> + Send;

    /// Returns when the next delivery of these channels is due that waits and that no node is sending.
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

    /// Returns the channels that fail or are disabled, by name.
    fn channel_states(&self) -> impl Future<Output = Result<Vec<ChannelState>, Error>> + Send;
}

/// Maximum deliveries that fail or are deleted in one transaction, while other appends wait. The next transaction takes
/// the rest.
pub(crate) const DELIVERIES_AT_ONCE: usize = 500;
/// Maximum time that one pause between failed attempts adds to the failing time of a channel. The rest is ignored.
pub const CHANNEL_PAUSE: Duration = Duration::from_hours(24);

impl Settled {
    /// Returns whether the channel works; `None` if it was not tried.
    pub(crate) fn works(&self) -> Option<bool> {
        // A delivery dropped after an attempt means that its receiver reported the recipient as gone. The channel
        // works.
        let works = matches!(self.delivery.state, DeliveryState::Delivered | DeliveryState::Dropped);
        self.attempt.as_ref().map(|_| works)
    }
}

/// Returns [`CHANNEL_PAUSE`] in milliseconds, for an SQL statement.
pub(crate) fn pause_ms() -> i64 {
    i64::try_from(CHANNEL_PAUSE.as_millis()).unwrap_or(i64::MAX)
}
