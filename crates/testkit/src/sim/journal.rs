//! The journal that one node of a simulation uses: the store, a queue of appends, and injected faults.
//!
//! An append stays in the queue until the simulator writes it. The simulator can write it, lose it, refuse it, or write
//! it and report an error. Even if the caller has dropped its request or has died, the append may still be written.
//! Before each read, other tasks get the opportunity to act. If the store is for one node and a second process opens
//! it, the first process loses access.

use std::collections::{BTreeSet, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt;
use futures::channel::oneshot;
use holdshort_core::delivery::{Attempt, ChannelState, Delivery};
use holdshort_core::digest::Digest;
use holdshort_core::envelope::{Chain, Sealed};
use holdshort_core::head::Head;
use holdshort_core::id::{DeliveryId, GrantId, InterruptId, RunId, SessionId, StreamId};
use holdshort_core::projection::{AnswerRow, GrantRow, InterruptRow, RunRow, SessionRow, SessionUsage};
use holdshort_core::time::Timestamp;
use holdshort_store::{
    AnswerFilter, Append, AppendError, Appended, Blob, Bodies, Change, Claim, Cursor, DeliveryChange,
    DeliveryFilter, Due, Error, GrantFilter, InterruptFilter, Key, Lease, Leases, Link, Log, NodeRow, Outbox,
    Page, Positioned, Rows, RunFilter, SessionFilter, SettleOutcome, Settled, Tables,
};
use tokio::sync::watch;

use super::history;
use super::mutants::{self, Mutant, starts_a_commit};
use super::node::NodeId;
use super::site::{Shared, Site, lock};
use super::store::Store;

/// Outcome of the next append to the simulated journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Write {
    Well,
    /// The store is full, and the append is not written.
    Full,
    /// The append is written, but the caller receives an error.
    Unheard,
    /// The append is not written, and the caller gets an error that does not tell if it was.
    Lost,
}

/// Appends to the simulated journal that wait to be written, and how often the store was opened.
#[derive(Default)]
pub(super) struct Queue {
    pub(super) opening: u64,
    waiting: VecDeque<Waiting>,
    pub(super) failing_reads: u32,
    /// Appends that are reported as written although they are not written yet, which is a deliberate defect (a mutant).
    unwritten: Vec<(NodeId, Arc<Store>, Append)>,
}

struct Waiting {
    node: NodeId,
    store: Arc<Store>,
    append: Append,
    answer: oneshot::Sender<Result<Appended, AppendError>>,
}

impl Queue {
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Records that the simulated store was opened once more. Appends that are in the queue at this time are never
    /// written.
    pub(super) fn reopen(&mut self, opening: u64) {
        *self = Self { opening, ..Self::default() };
    }
}

impl Site {
    /// Takes one append out of the journal's queue, and either writes it or makes it fail. The witness, which checks
    /// all appends, is shown the append if it is written.
    pub(super) fn write_one(&mut self, index: usize, how: Write) {
        let Some(Waiting { node, store, append, answer }) = self.queue.waiting.remove(index) else { return };
        let broken = |why: &str| AppendError::Store(Error::Io(why.into()));
        let answered = match how {
            Write::Full => Err(AppendError::Store(Error::Full)),
            Write::Lost => Err(broken("nobody knows whether it was written")),
            Write::Well => self.write(node, store, append),
            Write::Unheard => {
                self.write(node, store, append).and_then(|_| Err(broken("the answer got lost")))
            }
        };
        if let Some(told) = outcome(how, &answered) {
            self.record_history(|| format!("n{node}: {told}"));
        }
        let _nobody_waits = answer.send(answered);
    }

    fn write(&mut self, node: NodeId, store: Arc<Store>, append: Append) -> Result<Appended, AppendError> {
        let is_early = match self.mutant {
            Some(Mutant::AnswerBeforeWriting) => true,
            Some(Mutant::CommitBeforeWriting) => !self.queue.unwritten.is_empty() || starts_a_commit(&append),
            _ => false,
        };
        if is_early {
            self.queue.unwritten.push((node, store, append));
            let late = self.queue.unwritten.len() > 2;
            let appends = if late { std::mem::take(&mut self.queue.unwritten) } else { Vec::new() };
            for (node, store, append) in appends {
                self.write_now(node, &store, append)?;
            }
            return Ok(Appended { position: 0 });
        }
        self.write_now(node, &store, append)
    }

    fn write_now(&mut self, node: NodeId, store: &Store, append: Append) -> Result<Appended, AppendError> {
        let mut written = self.mutated(append);
        let mut result = at_once(store.append(written.clone()));
        if self.mutant == Some(Mutant::IgnoreLeases) && matches!(result, Err(AppendError::Driven)) {
            written.drives = false;
            result = at_once(store.append(written.clone()));
        }
        if result.is_err() && self.mutant == Some(Mutant::TellWhatWasRefused) {
            let deliveries = Append { deliveries: written.deliveries.clone(), ..Append::default() };
            let _told = at_once(store.append(deliveries));
        }
        let appended = result?;
        self.appends += 1;
        self.record_history(|| format!("journal: n{node}: {}", history::append(&written)));
        self.witness.appended(node, &self.leases, &written);
        if self.mutant == Some(Mutant::SayFullAfterWriting) && self.appends.is_multiple_of(7) {
            return Err(AppendError::Store(Error::Full));
        }
        Ok(appended)
    }
}

impl Site {
    /// Writes the first append of a simulation, before the first turn.
    pub(super) fn found(&mut self, append: &Append) {
        let written = at_once(self.store.append(append.clone()));
        assert!(written.is_ok(), "the first append is written: {written:?}");
        self.witness.appended(0, &self.leases, append);
    }

    /// Returns an error if this read of the simulated journal is one of those that fail.
    fn read(&mut self) -> Result<(), Error> {
        if self.queue.failing_reads == 0 {
            return Ok(());
        }
        self.queue.failing_reads -= 1;
        self.record_history(|| "store: a read fails".to_owned());
        Err(Error::Io("the disk did not answer".into()))
    }
}

fn at_once<T>(answer: impl Future<Output = T>) -> T {
    answer.now_or_never().expect("memory answers at once")
}

fn outcome(how: Write, answered: &Result<Appended, AppendError>) -> Option<String> {
    match (how, answered) {
        (Write::Unheard, _) => Some("store: the answer of that append gets lost".to_owned()),
        (Write::Lost, _) => Some("store: an append is lost".to_owned()),
        (Write::Well | Write::Full, Err(error)) => Some(format!("store: {error}")),
        (Write::Well | Write::Full, Ok(_)) => None,
    }
}

/// Handle with which a simulated node uses the journal.
pub(super) struct SimJournal {
    site: Shared,
    node: NodeId,
    store: Arc<Store>,
    opening: u64,
    /// Channel for notifications of commits to the journal. The simulation never sends over the channel, so a receiver
    /// waits forever.
    silence: Option<watch::Sender<u64>>,
    /// Last epoch that the simulated node has chosen. Only a mutant uses this field: a deliberate defect in which nodes
    /// choose their epochs without the store.
    own_epoch: AtomicU64,
}

impl SimJournal {
    pub(super) fn new(site: Shared, node: NodeId, store: Arc<Store>, opening: u64, is_deaf: bool) -> Self {
        let silence = is_deaf.then(|| watch::Sender::new(0));
        Self { site, node, store, opening, silence, own_epoch: AtomicU64::new(1) }
    }

    fn mutant(&self) -> Option<Mutant> {
        lock(&self.site).mutant
    }

    fn draws_alone(&self) -> bool {
        let mutant = if self.store.poll().is_some() { Mutant::SameEpochForAll } else { Mutant::KeepTheEpoch };
        self.mutant() == Some(mutant)
    }

    /// Lets other tasks of the simulation act. After that, returns the store or an injected error.
    async fn reading(&self) -> Result<&Store, Error> {
        Pause(false).await;
        let mut site = lock(&self.site);
        if site.queue.opening != self.opening {
            return Err(Error::Closed);
        }
        site.read().inspect_err(|_| site.witness.telling.stumbled(self.node))?;
        Ok(&self.store)
    }
}

/// Future that gives other tasks of the simulation the opportunity to act: it completes at the second poll.
pub(super) struct Pause(pub(super) bool);

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Log for SimJournal {
    async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        let heard = {
            let mut site = lock(&self.site);
            if site.queue.opening != self.opening {
                return Err(Error::Closed.into());
            }
            let (answer, heard) = oneshot::channel();
            let (node, store) = (self.node, self.store.clone());
            site.queue.waiting.push_back(Waiting { node, store, append, answer });
            heard
        };
        heard.await.unwrap_or_else(|_| Err(Error::Closed.into()))
    }

    async fn read(&self, stream: &StreamId, after: u64, limit: usize) -> Result<Vec<Sealed>, Error> {
        let mut read = self.reading().await?.read(stream, after, limit).await?;
        if self.mutant() == Some(Mutant::ReadWhatWas) && !matches!(stream, StreamId::Run(_)) {
            let _the_last = read.pop();
        }
        Ok(read)
    }

    async fn tail(&self, after: u64, limit: usize) -> Result<Vec<Positioned>, Error> {
        self.reading().await?.tail(after, limit).await
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.silence.as_ref().map_or_else(|| self.store.watch(), watch::Sender::subscribe)
    }

    async fn chain(&self, stream: &StreamId) -> Result<Chain, Error> {
        self.reading().await?.chain(stream).await
    }

    async fn position(&self, stream: &StreamId, seq: u64) -> Result<Option<u64>, Error> {
        self.reading().await?.position(stream, seq).await
    }

    async fn links(&self, after: u64, limit: usize) -> Result<Vec<Link>, Error> {
        self.reading().await?.links(after, limit).await
    }

    async fn head(&self) -> Result<Head, Error> {
        self.reading().await?.head().await
    }

    async fn key(&self, scope: &str, key: &str) -> Result<Option<Key>, Error> {
        self.reading().await?.key(scope, key).await
    }

    async fn keys(&self, after: Option<&Key>, limit: usize) -> Result<Vec<Key>, Error> {
        self.reading().await?.keys(after, limit).await
    }

    async fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        self.reading().await?.blob(digest).await
    }

    async fn changes(&self, after: u64, limit: usize) -> Result<Vec<Change>, Error> {
        self.reading().await?.changes(after, limit).await
    }

    async fn streams(&self, after: Option<&StreamId>, limit: usize) -> Result<Vec<StreamId>, Error> {
        self.reading().await?.streams(after, limit).await
    }

    async fn inspect(&self) -> Result<Vec<String>, Error> {
        self.reading().await?.inspect().await
    }
}

impl Tables for SimJournal {
    async fn run(&self, run: &RunId) -> Result<Option<RunRow>, Error> {
        self.reading().await?.run(run).await
    }

    async fn runs(
        &self,
        filter: &RunFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<RunRow>, Error> {
        self.reading().await?.runs(filter, after, limit).await
    }

    async fn session(&self, session: &SessionId) -> Result<Option<SessionRow>, Error> {
        self.reading().await?.session(session).await
    }

    async fn sessions(
        &self,
        filter: &SessionFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<SessionRow>, Error> {
        self.reading().await?.sessions(filter, after, limit).await
    }

    async fn idle_sessions(&self, now: Timestamp, limit: usize) -> Result<Vec<SessionId>, Error> {
        self.reading().await?.idle_sessions(now, limit).await
    }

    async fn session_usage(&self, session: &SessionId) -> Result<Vec<SessionUsage>, Error> {
        self.reading().await?.session_usage(session).await
    }

    async fn interrupt(&self, id: &InterruptId) -> Result<Option<InterruptRow>, Error> {
        let row = self.reading().await?.interrupt(id).await?;
        let is_open = self.mutant() == Some(Mutant::AskWhatIsDecided);
        Ok(row.map(|row| InterruptRow { open: row.open || is_open, ..row }))
    }

    async fn interrupts(
        &self,
        filter: &InterruptFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<InterruptRow>, Error> {
        self.reading().await?.interrupts(filter, after, limit).await
    }

    async fn grant(&self, id: &GrantId) -> Result<Option<GrantRow>, Error> {
        self.reading().await?.grant(id).await
    }

    async fn grants(
        &self,
        filter: &GrantFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<GrantRow>, Error> {
        self.reading().await?.grants(filter, after, limit).await
    }

    async fn answer(&self, id: &InterruptId) -> Result<Option<AnswerRow>, Error> {
        self.reading().await?.answer(id).await
    }

    async fn answers(
        &self,
        filter: &AnswerFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<AnswerRow>, Error> {
        if self.mutant() == Some(Mutant::MixSubjects) {
            let any = AnswerFilter { subject: None, ..filter.clone() };
            return self.reading().await?.answers(&any, after, limit).await;
        }
        self.reading().await?.answers(filter, after, limit).await
    }

    async fn due(&self, now: Timestamp, after: Option<&Due>, limit: usize) -> Result<Vec<Due>, Error> {
        self.reading().await?.due(now, after, limit).await
    }

    async fn next_deadline(&self) -> Result<Option<Timestamp>, Error> {
        self.reading().await?.next_deadline().await
    }

    async fn replace_rows(&self, rows: Vec<Rows>) -> Result<(), Error> {
        self.reading().await?.replace_rows(rows).await
    }
}

impl Leases for SimJournal {
    async fn runnable(&self, limit: usize) -> Result<Vec<RunId>, Error> {
        self.reading().await?.runnable(limit).await
    }

    /// Claims leases of runs. An injected fault loses only the response; the leases are claimed anyway.
    async fn claim(&self, limit: usize) -> Result<Vec<RunId>, Error> {
        Pause(false).await;
        if self.mutant() == Some(Mutant::ClaimNothing) {
            return Ok(Vec::new());
        }
        let claimed = self.store.claim(limit).await?;
        lock(&self.site).read()?;
        Ok(claimed)
    }

    fn has_valid_leases(&self) -> bool {
        let mut site = lock(&self.site);
        // The lease is denied at every eighth check. Therefore a node loses one part of its work and continues with
        // another part.
        if site.mutant == Some(Mutant::AdoptEverything) {
            site.doubts += 1;
            if site.doubts.is_multiple_of(8) {
                return false;
            }
        }
        site.mutant == Some(Mutant::HoldForEver)
            || site.leases.is_believed_valid(self.node, site.clock.passed_ms())
    }

    fn poll(&self) -> Option<Duration> {
        self.store.poll()
    }

    async fn nodes(&self) -> Result<Vec<NodeRow>, Error> {
        self.reading().await?.nodes().await
    }

    async fn leases(&self, after: Option<&RunId>, limit: usize) -> Result<Vec<Lease>, Error> {
        self.reading().await?.leases(after, limit).await
    }

    fn epoch(&self) -> u64 {
        if self.draws_alone() { self.own_epoch.load(Ordering::Relaxed) } else { self.store.epoch() }
    }

    async fn draw_epoch(&self) -> Result<u64, Error> {
        let store = self.reading().await?;
        if self.draws_alone() {
            return Ok(self.own_epoch.fetch_add(1, Ordering::Relaxed) + 1);
        }
        store.draw_epoch().await
    }
}

impl Bodies for SimJournal {
    async fn put_bodies(&self, bodies: Vec<Blob>, at: Timestamp) -> Result<(), Error> {
        self.reading().await?.put_bodies(bodies, at).await
    }

    async fn body(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        self.reading().await?.body(digest).await
    }

    async fn need_bodies(&self, digests: Vec<Digest>, at: Timestamp) -> Result<BTreeSet<Digest>, Error> {
        self.reading().await?.need_bodies(digests, at).await
    }

    async fn drop_bodies(&self, before: Timestamp, most_bytes: u64) -> Result<usize, Error> {
        self.reading().await?.drop_bodies(before, most_bytes).await
    }
}

impl Outbox for SimJournal {
    async fn claim_deliveries(&self, claim: Claim) -> Result<Vec<Delivery>, Error> {
        let claimed = self.reading().await?.claim_deliveries(claim).await?;
        let mut guard = lock(&self.site);
        let site = &mut *guard;
        site.witness.claimed(self.node, &site.leases, &claimed);
        if let Some(mutant) = site.mutant {
            at_once(mutants::claimed(mutant, &self.store, &claimed))?;
        }
        Ok(claimed)
    }

    async fn settle_delivery(&self, settled: Settled) -> Result<SettleOutcome, Error> {
        let told = self.reading().await?.settle_delivery(settled.clone()).await?;
        if told != SettleOutcome::Taken {
            lock(&self.site).witness.telling.settled(&settled.delivery);
        }
        Ok(told)
    }

    async fn change_deliveries(&self, change: DeliveryChange) -> Result<usize, Error> {
        let store = self.reading().await?;
        if let (Some(Mutant::DropWithTheChannel), DeliveryChange::Disable { why, now, .. }) =
            (self.mutant(), &change)
        {
            store.change_deliveries(DeliveryChange::DropWaiting { why: why.clone(), now: *now }).await?;
        }
        store.change_deliveries(change).await
    }

    async fn next_delivery(&self, channels: Vec<String>) -> Result<Option<Timestamp>, Error> {
        self.reading().await?.next_delivery(channels).await
    }

    async fn delivery(&self, id: &DeliveryId) -> Result<Option<Delivery>, Error> {
        self.reading().await?.delivery(id).await
    }

    async fn deliveries(
        &self,
        filter: &DeliveryFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Delivery>, Error> {
        self.reading().await?.deliveries(filter, after, limit).await
    }

    async fn attempts(&self, id: &DeliveryId) -> Result<Vec<Attempt>, Error> {
        self.reading().await?.attempts(id).await
    }

    async fn channel_states(&self) -> Result<Vec<ChannelState>, Error> {
        self.reading().await?.channel_states().await
    }
}
