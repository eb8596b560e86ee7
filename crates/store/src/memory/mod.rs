//! The journal in memory, for tests and the simulator: the same answers as a database with several nodes, gone
//! with the process.
//!
//! Never the store of a server. `state.rs` is what an append changes, `list.rs` the rows.

mod list;
mod state;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use holdshort_core::digest::Digest;
use holdshort_core::event::{Chain, Sealed};
use holdshort_core::head::Head;
use holdshort_core::id::{GrantId, InterruptId, RunId, SessionId, StreamId};
use holdshort_core::projection::{GrantRow, InterruptRow, RunRow, SessionRow};
use holdshort_core::time::Timestamp;
use tokio::sync::watch;

use self::list::Tables;
use self::state::{Held, Node, State};
use crate::check;
use crate::cursor::{GrantPlace, InterruptPlace, RunPlace, SessionPlace};
use crate::journal::{
    Append, AppendError, Appended, Change, Cursor, Due, Error, GrantFilter, InterruptFilter, Journal, Key,
    Lease, Link, NodeRow, Page, Positioned, Rows, RunFilter, SessionFilter,
};

/// A journal in memory, as one of its nodes sees it.
#[derive(Debug)]
pub struct Memory {
    state: Arc<Mutex<State>>,
    node: u64,
}

impl Memory {
    pub fn new() -> Self {
        Self { state: Arc::new(Mutex::new(State::new())), node: 0 }.open()
    }

    /// A journal that several nodes may [`join`](Self::join).
    pub fn shared() -> Self {
        let memory = Self::new();
        lock(&memory.state).shared = true;
        memory
    }

    /// The same journal as a restarted process finds it: the epoch is the next one, and the handles of the
    /// processes that died are closed for good.
    pub fn reopen(&self) -> Self {
        {
            let mut state = lock(&self.state);
            state.nodes.clear();
            state.position = watch::Sender::new(state.last());
        }
        self.open()
    }

    /// Another node beside those that there are.
    pub fn join(&self) -> Self {
        assert!(lock(&self.state).shared, "a journal of one node is not joined");
        self.open()
    }

    fn open(&self) -> Self {
        let mut state = lock(&self.state);
        state.epoch += 1;
        let node = state.epoch;
        state.nodes.insert(node, Node { epoch: node, alive: true });
        Self { state: Arc::clone(&self.state), node }
    }

    /// The node's leases end, as if it had not renewed them. It can go on, and take what nobody took.
    pub fn lapse(&self) {
        self.set_alive(false);
    }

    /// The node renews its leases.
    pub fn renew(&self) {
        self.set_alive(true);
    }

    fn set_alive(&self, alive: bool) {
        if let Some(node) = lock(&self.state).nodes.get_mut(&self.node) {
            node.alive = alive;
        }
    }

    fn state(&self) -> Result<MutexGuard<'_, State>, Error> {
        let state = lock(&self.state);
        if state.nodes.contains_key(&self.node) { Ok(state) } else { Err(Error::Closed) }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

/// A panic while the lock is held leaves no append half done: `State::append` checks before it writes.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Journal for Memory {
    async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        check::append(&append)?;
        self.state()?.append(self.node, append)
    }

    async fn read(&self, stream: &StreamId, after: u64, limit: usize) -> Result<Vec<Sealed>, Error> {
        let state = self.state()?;
        Ok(state.events(stream).filter(|event| event.seq > after).take(limit).cloned().collect())
    }

    async fn tail(&self, after: u64, limit: usize) -> Result<Vec<Positioned>, Error> {
        let state = self.state()?;
        let log = (1..).zip(&state.log).filter(|(position, _)| *position > after).take(limit);
        Ok(log.map(|(position, event)| Positioned { position, event: event.clone() }).collect())
    }

    fn watch(&self) -> watch::Receiver<u64> {
        lock(&self.state).position.subscribe()
    }

    async fn chain(&self, stream: &StreamId) -> Result<Chain, Error> {
        Ok(self.state()?.chain(stream))
    }

    async fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.state()?.blobs.get(digest).cloned())
    }

    async fn key(&self, scope: &str, key: &str) -> Result<Option<Key>, Error> {
        Ok(self.state()?.keys.get(&(scope.to_owned(), key.to_owned())).cloned())
    }

    async fn keys(&self, after: Option<&Key>, limit: usize) -> Result<Vec<Key>, Error> {
        let state = self.state()?;
        let after = after.map(|after| (after.scope.clone(), after.key.clone()));
        let rest = state.keys.iter().filter(|(place, _)| after.as_ref().is_none_or(|after| *place > after));
        Ok(rest.map(|(_, key)| key.clone()).take(limit).collect())
    }

    async fn run(&self, run: &RunId) -> Result<Option<RunRow>, Error> {
        Ok(self.state()?.tables.runs.get(run).cloned())
    }

    async fn runs(
        &self,
        filter: &RunFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<RunRow>, Error> {
        let after = after.map(|cursor| RunPlace::decode(cursor)).transpose()?;
        Ok(self.state()?.tables.runs(filter, after.as_ref(), limit))
    }

    async fn session(&self, session: &SessionId) -> Result<Option<SessionRow>, Error> {
        Ok(self.state()?.tables.sessions.get(session).cloned())
    }

    async fn sessions(
        &self,
        filter: &SessionFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<SessionRow>, Error> {
        let after = after.map(|cursor| SessionPlace::decode(cursor)).transpose()?;
        Ok(self.state()?.tables.sessions(filter, after.as_ref(), limit))
    }

    async fn idle_sessions(&self, now: Timestamp, limit: usize) -> Result<Vec<SessionId>, Error> {
        Ok(self.state()?.tables.idle_sessions(now, limit))
    }

    async fn interrupt(&self, id: &InterruptId) -> Result<Option<InterruptRow>, Error> {
        Ok(self.state()?.tables.interrupts.get(id).cloned())
    }

    async fn interrupts(
        &self,
        filter: &InterruptFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<InterruptRow>, Error> {
        let after = after.map(|cursor| InterruptPlace::decode(cursor)).transpose()?;
        Ok(self.state()?.tables.interrupts(filter, after.as_ref(), limit))
    }

    async fn grant(&self, id: &GrantId) -> Result<Option<GrantRow>, Error> {
        Ok(self.state()?.tables.grants.get(id).cloned())
    }

    async fn grants(
        &self,
        filter: &GrantFilter,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<GrantRow>, Error> {
        let after = after.map(|cursor| GrantPlace::decode(cursor)).transpose()?;
        Ok(self.state()?.tables.grants(filter, after.as_ref(), limit))
    }

    async fn links(&self, after: u64, limit: usize) -> Result<Vec<Link>, Error> {
        let state = self.state()?;
        let all = (1..).zip(state.log.iter().zip(&state.heads));
        let link = |(position, (event, head)): (u64, (&Sealed, &Head))| Link {
            position,
            hash: event.hash,
            sealed: Some(*head),
        };
        let after = usize::try_from(after).unwrap_or(usize::MAX);
        Ok(all.map(link).skip(after).take(limit).collect())
    }

    async fn head(&self) -> Result<Head, Error> {
        Ok(self.state()?.head())
    }

    /// There are no files.
    async fn inspect(&self) -> Result<Vec<String>, Error> {
        self.state().map(|_| Vec::new())
    }

    async fn changes(&self, after: u64, limit: usize) -> Result<Vec<Change>, Error> {
        let tail = self.tail(after, limit).await?;
        let change =
            |Positioned { position, event }| Change { position, stream: event.stream, seq: event.seq };
        Ok(tail.into_iter().map(change).collect())
    }

    async fn runnable(&self, limit: usize) -> Result<Vec<RunId>, Error> {
        let state = self.state()?;
        let mine = |held: &Held| !state.shared || held.node == Some(self.node);
        let is_mine = |row: &RunRow| state.leases.get(&row.run).is_some_and(mine);
        Ok(state.tables.runs_by(|row| is_mine(row).then_some(row.created_at), limit))
    }

    async fn claim(&self, limit: usize) -> Result<Vec<RunId>, Error> {
        let mut state = self.state()?;
        Ok(if state.shared { state.claim(self.node, limit) } else { Vec::new() })
    }

    fn holds(&self) -> bool {
        lock(&self.state).nodes.get(&self.node).is_some_and(|node| node.alive)
    }

    fn poll(&self) -> Option<Duration> {
        lock(&self.state).shared.then_some(Duration::from_secs(1))
    }

    async fn nodes(&self) -> Result<Vec<NodeRow>, Error> {
        let state = self.state()?;
        let held_by = |node| {
            let held = state.leases.values().filter(|held| !state.shared || held.node == Some(node));
            held.count() as u64
        };
        let nodes = state.nodes.iter().map(|(id, node)| NodeRow {
            node: *id,
            name: format!("node {id}"),
            opened_at: Timestamp::from_millis(0),
            alive_until: None,
            alive: node.alive,
            here: *id == self.node,
            runs: held_by(*id),
        });
        Ok(nodes.collect())
    }

    async fn leases(&self, after: Option<&RunId>, limit: usize) -> Result<Vec<Lease>, Error> {
        let state = self.state()?;
        let rest = state.leases.iter().filter(|(run, _)| after.is_none_or(|after| *run > after));
        let node = |held: &Held| if state.shared { held.node } else { Some(self.node) };
        let leases = rest.map(|(run, held)| Lease { run: run.clone(), node: node(held) });
        Ok(leases.take(limit).collect())
    }

    async fn due(&self, now: Timestamp, after: Option<&Due>, limit: usize) -> Result<Vec<Due>, Error> {
        Ok(self.state()?.tables.due(now, after, limit))
    }

    async fn next_deadline(&self) -> Result<Option<Timestamp>, Error> {
        Ok(self.state()?.tables.runs.values().filter_map(|row| row.deadline).min())
    }

    fn epoch(&self) -> u64 {
        lock(&self.state).nodes.get(&self.node).map_or(self.node, |node| node.epoch)
    }

    async fn draw_epoch(&self) -> Result<u64, Error> {
        let mut state = self.state()?;
        state.epoch += 1;
        let epoch = state.epoch;
        state.nodes.entry(self.node).and_modify(|node| node.epoch = epoch);
        Ok(epoch)
    }

    async fn streams(&self, after: Option<&StreamId>, limit: usize) -> Result<Vec<StreamId>, Error> {
        let state = self.state()?;
        let ids = state.streams.keys().filter(|id| after.is_none_or(|after| *id > after));
        Ok(ids.take(limit).cloned().collect())
    }

    async fn replace_rows(&self, rows: Vec<Rows>) -> Result<(), Error> {
        let mut tables = Tables::default();
        for rows in rows {
            tables.put(rows);
        }
        let mut state = self.state()?;
        let runnable = tables.runs.values().filter(|row| row.runnable);
        let held = |row: &RunRow| state.leases.get(&row.run).copied().unwrap_or_default();
        let leases = runnable.map(|row| (row.run.clone(), held(row))).collect();
        state.leases = leases;
        state.tables = tables;
        Ok(())
    }
}
