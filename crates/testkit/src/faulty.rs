//! A journal that a test can make fail: appends that are not written, appends whose response is lost, and appends that
//! are written late.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use holdshort_core::delivery::{Attempt, ChannelState, Delivery};
use holdshort_core::digest::Digest;
use holdshort_core::envelope::{Chain, Sealed};
use holdshort_core::head::Head;
use holdshort_core::id::{DeliveryId, GrantId, InterruptId, RunId, SessionId, StreamId};
use holdshort_core::projection::{AnswerRow, GrantRow, InterruptRow, RunRow, SessionRow, SessionUsage};
use holdshort_core::time::Timestamp;
use holdshort_store::{
    AnswerFilter, Append, AppendError, Appended, Blob, Bodies, Change, Claim, Cursor, DeliveryChange,
    DeliveryFilter, Due, Error, GrantFilter, InterruptFilter, Journal, Key, Lease, Leases, Link, Log,
    NodeRow, Outbox, Page, Positioned, Rows, RunFilter, SessionFilter, SettleOutcome, Settled, Tables,
};
use tokio::sync::{Notify, watch};

/// Outcome of one append to a journal that a test makes fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The disk is full, and the append is not written.
    Full,
    /// The append to the journal is written, but its caller receives an error.
    LostAnswer,
    /// The append to the journal is written at once, but its caller receives the response only after
    /// [`Faulty::answer`].
    LateAnswer,
    /// The append to the journal is written only after [`Faulty::write_held`], and its caller never receives a
    /// response.
    Held,
    /// The append to the journal succeeds. In a list of faults, this entry lets one append succeed.
    Pass,
}

/// A journal that forwards all calls to another journal, but makes some appends fail. Reads always succeed.
#[derive(Debug)]
pub struct Faulty<J> {
    inner: Arc<J>,
    faults: Mutex<VecDeque<Fault>>,
    held: Mutex<Vec<Append>>,
    answers: Notify,
}

impl<J> Faulty<J> {
    pub fn new(inner: Arc<J>) -> Self {
        Self { inner, faults: Mutex::default(), held: Mutex::default(), answers: Notify::new() }
    }

    pub fn inner(&self) -> &J {
        &self.inner
    }

    /// Adds faults for the next appends to the journal: one fault for each append, in order.
    pub fn fail(&self, faults: impl IntoIterator<Item = Fault>) {
        self.faults().extend(faults);
    }

    /// Sends all responses that [`Fault::LateAnswer`] has delayed.
    pub fn answer(&self) {
        self.answers.notify_waiters();
    }

    /// Removes all faults that no append has used yet.
    pub fn heal(&self) {
        self.faults().clear();
    }

    fn faults(&self) -> MutexGuard<'_, VecDeque<Fault>> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<J: Journal> Faulty<J> {
    /// Writes the appends that [`Fault::Held`] has delayed, and returns the result of each append.
    pub async fn write_held(&self) -> Vec<Result<Appended, AppendError>> {
        let held = std::mem::take(&mut *self.held.lock().unwrap_or_else(PoisonError::into_inner));
        let mut written = Vec::new();
        for append in held {
            written.push(self.inner.append(append).await);
        }
        written
    }
}

impl<J: Journal> Log for Faulty<J> {
    async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        let fault = self.faults().pop_front();
        match fault {
            Some(Fault::Full) => Err(Error::Full.into()),
            Some(Fault::LostAnswer) => {
                self.inner.append(append).await?;
                Err(Error::Io("the answer got lost".into()).into())
            }
            Some(Fault::LateAnswer) => {
                let appended = self.inner.append(append).await?;
                self.answers.notified().await;
                Ok(appended)
            }
            Some(Fault::Held) => {
                self.held.lock().unwrap_or_else(PoisonError::into_inner).push(append);
                std::future::pending().await
            }
            Some(Fault::Pass) | None => self.inner.append(append).await,
        }
    }

    async fn read(&self, stream: &StreamId, after: u64, limit: usize) -> Result<Vec<Sealed>, Error> {
        self.inner.read(stream, after, limit).await
    }

    async fn tail(&self, after: u64, limit: usize) -> Result<Vec<Positioned>, Error> {
        self.inner.tail(after, limit).await
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.inner.watch()
    }

    async fn chain(&self, stream: &StreamId) -> Result<Chain, Error> {
        self.inner.chain(stream).await
    }

    async fn position(&self, stream: &StreamId, seq: u64) -> Result<Option<u64>, Error> {
        self.inner.position(stream, seq).await
    }

    async fn links(&self, after: u64, limit: usize) -> Result<Vec<Link>, Error> {
        self.inner.links(after, limit).await
    }

    async fn head(&self) -> Result<Head, Error> {
        self.inner.head().await
    }

    async fn key(&self, scope: &str, key: &str) -> Result<Option<Key>, Error> {
        self.inner.key(scope, key).await
    }

    async fn keys(&self, after: Option<&Key>, limit: usize) -> Result<Vec<Key>, Error> {
        self.inner.keys(after, limit).await
    }

    async fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        self.inner.blob(digest).await
    }

    async fn changes(&self, after: u64, limit: usize) -> Result<Vec<Change>, Error> {
        self.inner.changes(after, limit).await
    }

    async fn streams(&self, after: Option<&StreamId>, limit: usize) -> Result<Vec<StreamId>, Error> {
        self.inner.streams(after, limit).await
    }

    async fn inspect(&self) -> Result<Vec<String>, Error> {
        self.inner.inspect().await
    }
}

impl<J: Journal> Tables for Faulty<J> {
    async fn run(&self, run: &RunId) -> Result<Option<RunRow>, Error> {
        self.inner.run(run).await
    }

    async fn runs(
        &self,
        filter: &RunFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<RunRow>, Error> {
        self.inner.runs(filter, after, limit).await
    }

    async fn session(&self, session: &SessionId) -> Result<Option<SessionRow>, Error> {
        self.inner.session(session).await
    }

    async fn sessions(
        &self,
        filter: &SessionFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<SessionRow>, Error> {
        self.inner.sessions(filter, after, limit).await
    }

    async fn idle_sessions(&self, now: Timestamp, limit: usize) -> Result<Vec<SessionId>, Error> {
        self.inner.idle_sessions(now, limit).await
    }

    async fn session_usage(&self, session: &SessionId) -> Result<Vec<SessionUsage>, Error> {
        self.inner.session_usage(session).await
    }

    async fn interrupt(&self, id: &InterruptId) -> Result<Option<InterruptRow>, Error> {
        self.inner.interrupt(id).await
    }

    async fn interrupts(
        &self,
        filter: &InterruptFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<InterruptRow>, Error> {
        self.inner.interrupts(filter, after, limit).await
    }

    async fn grant(&self, id: &GrantId) -> Result<Option<GrantRow>, Error> {
        self.inner.grant(id).await
    }

    async fn grants(
        &self,
        filter: &GrantFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<GrantRow>, Error> {
        self.inner.grants(filter, after, limit).await
    }

    async fn answer(&self, id: &InterruptId) -> Result<Option<AnswerRow>, Error> {
        self.inner.answer(id).await
    }

    async fn answers(
        &self,
        filter: &AnswerFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<AnswerRow>, Error> {
        self.inner.answers(filter, after, limit).await
    }

    async fn due(&self, now: Timestamp, after: Option<&Due>, limit: usize) -> Result<Vec<Due>, Error> {
        self.inner.due(now, after, limit).await
    }

    async fn next_deadline(&self) -> Result<Option<Timestamp>, Error> {
        self.inner.next_deadline().await
    }

    async fn replace_rows(&self, rows: Vec<Rows>) -> Result<(), Error> {
        self.inner.replace_rows(rows).await
    }
}

impl<J: Journal> Leases for Faulty<J> {
    async fn runnable(&self, limit: usize) -> Result<Vec<RunId>, Error> {
        self.inner.runnable(limit).await
    }

    async fn claim(&self, limit: usize) -> Result<Vec<RunId>, Error> {
        self.inner.claim(limit).await
    }

    fn has_valid_leases(&self) -> bool {
        self.inner.has_valid_leases()
    }

    fn poll(&self) -> Option<Duration> {
        self.inner.poll()
    }

    async fn nodes(&self) -> Result<Vec<NodeRow>, Error> {
        self.inner.nodes().await
    }

    async fn leases(&self, after: Option<&RunId>, limit: usize) -> Result<Vec<Lease>, Error> {
        self.inner.leases(after, limit).await
    }

    fn epoch(&self) -> u64 {
        self.inner.epoch()
    }

    async fn draw_epoch(&self) -> Result<u64, Error> {
        self.inner.draw_epoch().await
    }
}

impl<J: Journal> Bodies for Faulty<J> {
    async fn put_bodies(&self, bodies: Vec<Blob>, at: Timestamp) -> Result<(), Error> {
        self.inner.put_bodies(bodies, at).await
    }

    async fn body(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        self.inner.body(digest).await
    }

    async fn need_bodies(&self, digests: Vec<Digest>, at: Timestamp) -> Result<BTreeSet<Digest>, Error> {
        self.inner.need_bodies(digests, at).await
    }

    async fn drop_bodies(&self, before: Timestamp, most_bytes: u64) -> Result<usize, Error> {
        self.inner.drop_bodies(before, most_bytes).await
    }
}

impl<J: Journal> Outbox for Faulty<J> {
    async fn claim_deliveries(&self, claim: Claim) -> Result<Vec<Delivery>, Error> {
        self.inner.claim_deliveries(claim).await
    }

    async fn settle_delivery(&self, settled: Settled) -> Result<SettleOutcome, Error> {
        self.inner.settle_delivery(settled).await
    }

    async fn change_deliveries(&self, change: DeliveryChange) -> Result<usize, Error> {
        self.inner.change_deliveries(change).await
    }

    async fn next_delivery(&self, channels: Vec<String>) -> Result<Option<Timestamp>, Error> {
        self.inner.next_delivery(channels).await
    }

    async fn delivery(&self, id: &DeliveryId) -> Result<Option<Delivery>, Error> {
        self.inner.delivery(id).await
    }

    async fn deliveries(
        &self,
        filter: &DeliveryFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Delivery>, Error> {
        self.inner.deliveries(filter, after, limit).await
    }

    async fn attempts(&self, id: &DeliveryId) -> Result<Vec<Attempt>, Error> {
        self.inner.attempts(id).await
    }

    async fn channel_states(&self) -> Result<Vec<ChannelState>, Error> {
        self.inner.channel_states().await
    }
}
