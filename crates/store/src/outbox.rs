//! What a journal promises of its outbox: deliveries are written by appends, each is sent by one node at a time, and what
//! became of it is kept for a while.
//!
//! Unlike [`Tables`](crate::Tables) it is no projection: it is left alone when rows are rebuilt.

use std::future::Future;
use std::time::Duration;

use holdshort_core::delivery::{Attempt, ChannelState, Delivery, DeliveryState};
use holdshort_core::id::{DeliveryId, InterruptId};
use holdshort_core::time::Timestamp;

use crate::journal::Error;
use crate::tables::{Cursor, Page};

/// Deliveries that a node wants to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub channel: String,
    /// Those that are due by now.
    pub now: Timestamp,
    pub limit: usize,
    /// Those that it is sending, which it is not given again: also where another node has had one in between, for the
    /// attempt that is under way would settle the new claim. Any other that it has claimed before is one that it knows
    /// nothing of any more.
    pub sending: Vec<DeliveryId>,
    /// All that are due go to one node, where several ask at the same moment.
    pub whole: bool,
}

/// What became of a delivery that this node had claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// As it is from here on, with nobody sending it.
    pub delivery: Delivery,
    /// `None`: it was not tried.
    pub attempt: Option<Attempt>,
}

/// What settling told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Another node has it by now: nothing was written.
    Taken,
    /// `None`: the channel works, or it was not tried.
    Written { failing: Option<Failing> },
}

/// How long every attempt over a channel has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failing {
    /// The first of them.
    pub since: Timestamp,
    /// From the first to the last. A pause between two of them counts as [`CHANNEL_PAUSE`] at most: while nothing is sent,
    /// nothing fails.
    pub ms: u64,
}

/// What is done to deliveries, and to the channels that they are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryChange {
    /// One that is not being sent and was not delivered is due now, also where it had ended; its channel is tried again.
    Retry { delivery: DeliveryId, now: Timestamp },
    /// All that wait are not sent any more.
    DropWaiting { why: String, now: Timestamp },
    /// Those that were due before this moment and still wait have failed: of a channel that is not there any more, or disabled.
    FailOld { before: Timestamp, why: String, now: Timestamp },
    /// Nothing is sent to the channel any more.
    Disable { channel: String, why: String, now: Timestamp },
    /// Of those that ended before the first moment the notice and the answers are forgotten, of those that ended before the
    /// second everything.
    Forget { bodies: Timestamp, attempts: Timestamp },
}

/// Newest first.
#[derive(Clone, Debug, Default)]
pub struct DeliveryFilter {
    pub channel: Option<String>,
    pub state: Option<DeliveryState>,
    pub interrupt: Option<InterruptId>,
}

/// Deliveries, and the channels that do not work as they should.
pub trait Outbox: Send + Sync + 'static {
    /// Claims those that are due and that no living node is sending, the longest due first. None of a channel that is
    /// disabled; none where this node itself has lapsed.
    fn claim_deliveries(&self, claim: Claim) -> impl Future<Output = Result<Vec<Delivery>, Error>> + Send;

    /// Writes down what became of one, with the attempt, and whether its channel works.
    fn settle_delivery(&self, settled: Settled) -> impl Future<Output = Result<Told, Error>> + Send;

    /// How many deliveries or channels it changed. What forgets and fails does some at a time: after 0 there is nothing more.
    fn change_deliveries(&self, change: DeliveryChange) -> impl Future<Output = Result<usize, Error>> + Send;

    /// When the next of those is due that wait for these channels and that no node is sending.
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

    /// Those of one delivery, in their order.
    fn attempts(&self, id: &DeliveryId) -> impl Future<Output = Result<Vec<Attempt>, Error>> + Send;

    /// Channels that fail or are disabled, by name.
    fn channel_states(&self) -> impl Future<Output = Result<Vec<ChannelState>, Error>> + Send;
}

/// Forgotten or failed at once: others wait for the writer meanwhile.
pub(crate) const DELIVERIES_AT_ONCE: usize = 500;
/// The most that a pause between two failed attempts counts of how long a channel has failed.
pub const CHANNEL_PAUSE: Duration = Duration::from_hours(24);

impl Settled {
    /// Whether the channel works, as far as this tells.
    pub(crate) fn works(&self) -> Option<bool> {
        // One that was tried and dropped was for somebody who is gone, as its receiver has said.
        let works = matches!(self.delivery.state, DeliveryState::Delivered | DeliveryState::Dropped);
        self.attempt.as_ref().map(|_| works)
    }
}

/// [`CHANNEL_PAUSE`] as it stands in a statement.
pub(crate) fn pause_ms() -> i64 {
    i64::try_from(CHANNEL_PAUSE.as_millis()).unwrap_or(i64::MAX)
}
