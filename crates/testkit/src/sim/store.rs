//! The store of a simulation, which is a journal in memory. If this is requested, it has a twin, a real PostgreSQL.
//!
//! Most requests to the journal in memory are then sent to PostgreSQL too, by the same node. PostgreSQL must give the
//! same response. The first difference is recorded in `twin.rs`. The simulation always continues with the response from
//! memory. Therefore a seed gives the same simulation with and without a twin. When a lease ends in the time of the
//! simulation, it is ended in both stores.

use std::collections::BTreeSet;
use std::sync::Arc;
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
    DeliveryFilter, Due, Error, GrantFilter, InterruptFilter, Key, Lease, Leases, Link, Log, Memory, NodeRow,
    Outbox, Page, Positioned, Rows, RunFilter, SessionFilter, SettleOutcome, Settled, Tables,
};
use tokio::sync::watch;

use super::twin::{Database, Twin};

pub(super) struct Store {
    memory: Memory,
    twin: Option<Twin>,
}

impl Store {
    /// Creates a simulated store that only one node can use.
    pub(super) fn new() -> Self {
        Self { memory: Memory::new(), twin: None }
    }

    /// Creates a simulated store that several nodes can use. If the store has a twin, `beside` is the PostgreSQL
    /// database.
    pub(super) fn shared(beside: Option<Arc<Database>>) -> Self {
        Self::with_database(Memory::shared(), beside)
    }

    pub(super) fn reopen(&self) -> Self {
        Self { memory: self.memory.reopen(), twin: None }
    }

    pub(super) fn join(&self) -> Self {
        Self::with_database(self.memory.join(), self.twin.as_ref().map(Twin::database))
    }

    fn with_database(memory: Memory, database: Option<Arc<Database>>) -> Self {
        let twin = database.map(|database| Twin::open(database, memory.epoch()));
        Self { memory, twin }
    }

    /// Ends the leases of the simulated node, as if it had not renewed them.
    pub(super) fn lapse(&self) {
        self.memory.lapse();
        self.twin.iter().for_each(Twin::lapse);
    }

    pub(super) fn renew(&self) {
        self.memory.renew();
        self.twin.iter().for_each(Twin::renew);
    }

    /// Returns the first difference between the responses of PostgreSQL and those of the journal in memory.
    pub(super) fn difference(&self) -> Option<String> {
        self.twin.as_ref().and_then(Twin::difference)
    }
}

impl Log for Store {
    async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        let Some(twin) = &self.twin else { return self.memory.append(append).await };
        let answer = self.memory.append(append.clone()).await;
        twin.append(append, &answer);
        answer
    }

    async fn read(&self, stream: &StreamId, after: u64, limit: usize) -> Result<Vec<Sealed>, Error> {
        let answer = self.memory.read(stream, after, limit).await;
        if let Some(twin) = &self.twin {
            twin.same("read", &answer, twin.read(stream, after, limit));
        }
        answer
    }

    async fn tail(&self, after: u64, limit: usize) -> Result<Vec<Positioned>, Error> {
        let answer = self.memory.tail(after, limit).await;
        if let Some(twin) = &self.twin {
            let events = |tail: Vec<Positioned>| tail.into_iter().map(|each| each.event).collect::<Vec<_>>();
            let told = twin.tail(twin.position(after), limit);
            let told = async { told.await.map(events) };
            twin.same("tail", &answer.as_ref().map(|tail| events(tail.clone())), told);
        }
        answer
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.memory.watch()
    }

    async fn chain(&self, stream: &StreamId) -> Result<Chain, Error> {
        let answer = self.memory.chain(stream).await;
        if let Some(twin) = &self.twin {
            twin.same("chain", &answer, twin.chain(stream));
        }
        answer
    }

    async fn position(&self, stream: &StreamId, seq: u64) -> Result<Option<u64>, Error> {
        self.memory.position(stream, seq).await
    }

    async fn links(&self, after: u64, limit: usize) -> Result<Vec<Link>, Error> {
        self.memory.links(after, limit).await
    }

    async fn head(&self) -> Result<Head, Error> {
        self.memory.head().await
    }

    async fn key(&self, scope: &str, key: &str) -> Result<Option<Key>, Error> {
        let answer = self.memory.key(scope, key).await;
        if let Some(twin) = &self.twin {
            twin.same("key", &answer, twin.key(scope, key));
        }
        answer
    }

    async fn keys(&self, after: Option<&Key>, limit: usize) -> Result<Vec<Key>, Error> {
        let answer = self.memory.keys(after, limit).await;
        if let Some(twin) = &self.twin {
            twin.same("keys", &answer, twin.keys(after, limit));
        }
        answer
    }

    async fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        let answer = self.memory.blob(digest).await;
        if let Some(twin) = &self.twin {
            twin.same("blob", &answer, twin.blob(digest));
        }
        answer
    }

    async fn changes(&self, after: u64, limit: usize) -> Result<Vec<Change>, Error> {
        let answer = self.memory.changes(after, limit).await;
        if let Some(twin) = &self.twin {
            let places = |changes: Vec<Change>| {
                changes.into_iter().map(|each| (each.stream, each.seq)).collect::<Vec<_>>()
            };
            let told = twin.changes(twin.position(after), limit);
            let told = async { told.await.map(places) };
            twin.same("changes", &answer.as_ref().map(|changes| places(changes.clone())), told);
        }
        answer
    }

    async fn streams(&self, after: Option<&StreamId>, limit: usize) -> Result<Vec<StreamId>, Error> {
        let answer = self.memory.streams(after, limit).await;
        if let Some(twin) = &self.twin {
            twin.same("streams", &answer, twin.streams(after, limit));
        }
        answer
    }

    async fn inspect(&self) -> Result<Vec<String>, Error> {
        self.memory.inspect().await
    }
}

impl Tables for Store {
    async fn run(&self, run: &RunId) -> Result<Option<RunRow>, Error> {
        let answer = self.memory.run(run).await;
        if let Some(twin) = &self.twin {
            twin.same("run", &answer, twin.run(run));
        }
        answer
    }

    async fn runs(
        &self,
        filter: &RunFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<RunRow>, Error> {
        let answer = self.memory.runs(filter, after, limit).await;
        if let Some(twin) = &self.twin {
            twin.same("runs", &answer, twin.runs(filter, after, limit));
        }
        answer
    }

    async fn session(&self, session: &SessionId) -> Result<Option<SessionRow>, Error> {
        let answer = self.memory.session(session).await;
        if let Some(twin) = &self.twin {
            twin.same("session", &answer, twin.session(session));
        }
        answer
    }

    async fn sessions(
        &self,
        filter: &SessionFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<SessionRow>, Error> {
        let answer = self.memory.sessions(filter, after, limit).await;
        if let Some(twin) = &self.twin {
            twin.same("sessions", &answer, twin.sessions(filter, after, limit));
        }
        answer
    }

    async fn idle_sessions(&self, now: Timestamp, limit: usize) -> Result<Vec<SessionId>, Error> {
        let answer = self.memory.idle_sessions(now, limit).await;
        if let Some(twin) = &self.twin {
            twin.same("idle_sessions", &answer, twin.idle_sessions(now, limit));
        }
        answer
    }

    async fn session_usage(&self, session: &SessionId) -> Result<Vec<SessionUsage>, Error> {
        let answer = self.memory.session_usage(session).await;
        if let Some(twin) = &self.twin {
            twin.same("session_usage", &answer, twin.session_usage(session));
        }
        answer
    }

    async fn interrupt(&self, id: &InterruptId) -> Result<Option<InterruptRow>, Error> {
        let answer = self.memory.interrupt(id).await;
        if let Some(twin) = &self.twin {
            twin.same("interrupt", &answer, twin.interrupt(id));
        }
        answer
    }

    async fn interrupts(
        &self,
        filter: &InterruptFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<InterruptRow>, Error> {
        let answer = self.memory.interrupts(filter, after, limit).await;
        if let Some(twin) = &self.twin {
            twin.same("interrupts", &answer, twin.interrupts(filter, after, limit));
        }
        answer
    }

    async fn grant(&self, id: &GrantId) -> Result<Option<GrantRow>, Error> {
        let answer = self.memory.grant(id).await;
        if let Some(twin) = &self.twin {
            twin.same("grant", &answer, twin.grant(id));
        }
        answer
    }

    async fn grants(
        &self,
        filter: &GrantFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<GrantRow>, Error> {
        let answer = self.memory.grants(filter, after, limit).await;
        if let Some(twin) = &self.twin {
            twin.same("grants", &answer, twin.grants(filter, after, limit));
        }
        answer
    }

    async fn answer(&self, id: &InterruptId) -> Result<Option<AnswerRow>, Error> {
        let answer = self.memory.answer(id).await;
        if let Some(twin) = &self.twin {
            twin.same("answer", &answer, twin.answer(id));
        }
        answer
    }

    async fn answers(
        &self,
        filter: &AnswerFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<AnswerRow>, Error> {
        let answer = self.memory.answers(filter, after, limit).await;
        if let Some(twin) = &self.twin {
            twin.same("answers", &answer, twin.answers(filter, after, limit));
        }
        answer
    }

    async fn due(&self, now: Timestamp, after: Option<&Due>, limit: usize) -> Result<Vec<Due>, Error> {
        let answer = self.memory.due(now, after, limit).await;
        if let Some(twin) = &self.twin {
            twin.same("due", &answer, twin.due(now, after, limit));
        }
        answer
    }

    async fn next_deadline(&self) -> Result<Option<Timestamp>, Error> {
        let answer = self.memory.next_deadline().await;
        if let Some(twin) = &self.twin {
            twin.same("next_deadline", &answer, twin.next_deadline());
        }
        answer
    }

    async fn replace_rows(&self, rows: Vec<Rows>) -> Result<(), Error> {
        if let Some(twin) = &self.twin {
            twin.same("replace_rows", &Ok::<(), Error>(()), twin.replace_rows(rows.clone()));
        }
        self.memory.replace_rows(rows).await
    }
}

impl Leases for Store {
    async fn runnable(&self, limit: usize) -> Result<Vec<RunId>, Error> {
        let answer = self.memory.runnable(limit).await;
        if let Some(twin) = &self.twin {
            twin.same("runnable", &answer, twin.runnable(limit));
        }
        answer
    }

    /// Claims runs in memory and in PostgreSQL. The order of the claimed runs is not compared.
    async fn claim(&self, limit: usize) -> Result<Vec<RunId>, Error> {
        let answer = self.memory.claim(limit).await;
        if let Some(twin) = &self.twin {
            let sorted = |mut runs: Vec<RunId>| {
                runs.sort();
                runs
            };
            let told = async { twin.claim(limit).await.map(sorted) };
            twin.same("claim", &answer.as_ref().map(|runs| sorted(runs.clone())), told);
        }
        answer
    }

    fn has_valid_leases(&self) -> bool {
        self.memory.has_valid_leases()
    }

    fn poll(&self) -> Option<Duration> {
        self.memory.poll()
    }

    /// Compares which nodes are alive in memory and in PostgreSQL, and how many runs each node has. The other fields
    /// are not compared, because they differ between the two stores.
    async fn nodes(&self) -> Result<Vec<NodeRow>, Error> {
        let answer = self.memory.nodes().await;
        if let Some(twin) = &self.twin {
            let living = |nodes: Vec<NodeRow>| {
                let living = nodes.into_iter().filter(|each| each.alive);
                living.map(|each| (each.node, each.here, each.runs)).collect::<Vec<_>>()
            };
            let told = async { twin.nodes().await.map(living) };
            twin.same("nodes", &answer.as_ref().map(|nodes| living(nodes.clone())), told);
        }
        answer
    }

    async fn leases(&self, after: Option<&RunId>, limit: usize) -> Result<Vec<Lease>, Error> {
        let answer = self.memory.leases(after, limit).await;
        if let Some(twin) = &self.twin {
            twin.same("leases", &answer, twin.leases(after, limit));
        }
        answer
    }

    fn epoch(&self) -> u64 {
        self.memory.epoch()
    }

    async fn draw_epoch(&self) -> Result<u64, Error> {
        let answer = self.memory.draw_epoch().await;
        if let Some(twin) = &self.twin {
            twin.same("draw_epoch", &answer, twin.draw_epoch());
        }
        answer
    }
}

impl Bodies for Store {
    async fn put_bodies(&self, bodies: Vec<Blob>, at: Timestamp) -> Result<(), Error> {
        self.memory.put_bodies(bodies, at).await
    }

    async fn body(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        self.memory.body(digest).await
    }

    async fn need_bodies(&self, digests: Vec<Digest>, at: Timestamp) -> Result<BTreeSet<Digest>, Error> {
        self.memory.need_bodies(digests, at).await
    }

    async fn drop_bodies(&self, before: Timestamp, most_bytes: u64) -> Result<usize, Error> {
        self.memory.drop_bodies(before, most_bytes).await
    }
}

impl Outbox for Store {
    async fn claim_deliveries(&self, claim: Claim) -> Result<Vec<Delivery>, Error> {
        self.memory.claim_deliveries(claim).await
    }

    async fn settle_delivery(&self, settled: Settled) -> Result<SettleOutcome, Error> {
        self.memory.settle_delivery(settled).await
    }

    async fn change_deliveries(&self, change: DeliveryChange) -> Result<usize, Error> {
        self.memory.change_deliveries(change).await
    }

    async fn next_delivery(&self, channels: Vec<String>) -> Result<Option<Timestamp>, Error> {
        self.memory.next_delivery(channels).await
    }

    async fn delivery(&self, id: &DeliveryId) -> Result<Option<Delivery>, Error> {
        self.memory.delivery(id).await
    }

    async fn deliveries(
        &self,
        filter: &DeliveryFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Delivery>, Error> {
        self.memory.deliveries(filter, after, limit).await
    }

    async fn attempts(&self, id: &DeliveryId) -> Result<Vec<Attempt>, Error> {
        self.memory.attempts(id).await
    }

    async fn channel_states(&self) -> Result<Vec<ChannelState>, Error> {
        self.memory.channel_states().await
    }
}
