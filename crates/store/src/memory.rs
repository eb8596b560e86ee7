//! The journal in memory, for tests and the simulator: the same answers as a database with several nodes, gone
//! with the process.
//!
//! Never the store of a server. Lists sort everything they hold on each call.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use holdshort_core::digest::Digest;
use holdshort_core::event::{Chain, Sealed};
use holdshort_core::id::{GrantId, InterruptId, RunId, SessionId, StreamId};
use holdshort_core::projection::{GrantRow, InterruptRow, RunRow, SessionRow};
use holdshort_core::time::Timestamp;
use tokio::sync::watch;

use crate::check;
use crate::cursor::{GrantPlace, InterruptPlace, RunPlace, SessionPlace};
use crate::journal::{
    Append, AppendError, Appended, Change, Cursor, Error, GrantFilter, InterruptFilter, Journal, Key, Lease,
    NodeRow, Page, Positioned, Rows, RunFilter, SessionFilter,
};

/// A journal in memory, as one of its nodes sees it.
#[derive(Debug)]
pub struct Memory {
    state: Arc<Mutex<State>>,
    node: u64,
}

#[derive(Debug)]
struct State {
    /// The last epoch that any node drew.
    epoch: u64,
    nodes: BTreeMap<u64, Node>,
    /// Several nodes may write.
    shared: bool,
    /// The runnable runs, and who drives them.
    leases: BTreeMap<RunId, Held>,
    /// Every event; the one at index `i` has position `i + 1`.
    log: Vec<Sealed>,
    /// The indexes into the log, by stream; the one at index `i` has seq `i + 1`.
    streams: BTreeMap<StreamId, Vec<usize>>,
    keys: BTreeMap<(String, String), Key>,
    blobs: BTreeMap<Digest, Vec<u8>>,
    tables: Tables,
    position: watch::Sender<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// The last epoch that it drew.
    epoch: u64,
    alive: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Held {
    node: Option<u64>,
    woken: bool,
}

#[derive(Debug, Default)]
struct Tables {
    runs: BTreeMap<RunId, RunRow>,
    sessions: BTreeMap<SessionId, SessionRow>,
    interrupts: BTreeMap<InterruptId, InterruptRow>,
    grants: BTreeMap<GrantId, GrantRow>,
}

impl Memory {
    pub fn new() -> Self {
        let state = State {
            epoch: 0,
            nodes: BTreeMap::new(),
            shared: false,
            leases: BTreeMap::new(),
            log: Vec::new(),
            streams: BTreeMap::new(),
            keys: BTreeMap::new(),
            blobs: BTreeMap::new(),
            tables: Tables::default(),
            position: watch::Sender::new(0),
        };
        Self { state: Arc::new(Mutex::new(state)), node: 0 }.open()
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

impl State {
    fn append(&mut self, node: u64, append: Append) -> Result<Appended, AppendError> {
        self.admit(node, &append)?;
        for key in append.keys {
            self.keys.insert((key.scope.clone(), key.key.clone()), key);
        }
        for event in append.streams.into_iter().flat_map(|part| part.events) {
            if let Some(content) = event.content.as_ref().filter(|content| check::is_large(&content.bytes)) {
                self.blobs.entry(Digest::of(&content.bytes)).or_insert_with(|| content.bytes.clone());
            }
            self.streams.entry(event.stream.clone()).or_default().push(self.log.len());
            self.log.push(event);
        }
        for blob in append.blobs {
            self.blobs.entry(blob.digest).or_insert(blob.bytes);
        }
        if let Some(row) = &append.rows.run {
            self.lease(node, row, append.drives);
        }
        self.tables.put(append.rows);
        let position = self.last();
        self.position.send_replace(position);
        Ok(Appended { position })
    }

    fn lease(&mut self, node: u64, row: &RunRow, drives: bool) {
        if !row.runnable {
            self.leases.remove(&row.run);
            return;
        }
        let held = self.leases.entry(row.run.clone()).or_default();
        if drives {
            held.node = Some(node);
        } else {
            held.woken = true;
        }
    }

    /// The living node that holds the run's lease.
    fn driver(&self, run: &RunId) -> Option<u64> {
        let node = self.leases.get(run)?.node?;
        self.nodes.get(&node).filter(|found| found.alive).map(|_| node)
    }

    fn claim(&mut self, node: u64, limit: usize) -> Vec<RunId> {
        let free = self.leases.iter().filter(|(run, held)| match self.driver(run) {
            Some(driver) => driver == node && held.woken,
            None => true,
        });
        let claimed: Vec<RunId> = free.map(|(run, _)| run.clone()).take(limit).collect();
        for run in &claimed {
            self.leases.insert(run.clone(), Held { node: Some(node), woken: false });
        }
        claimed
    }

    fn admit(&self, node: u64, append: &Append) -> Result<(), AppendError> {
        for key in &append.keys {
            if let Some(first) = self.keys.get(&(key.scope.clone(), key.key.clone())) {
                return Err(AppendError::KeyTaken(first.clone()));
            }
        }
        let streams = append.streams.iter().map(|part| (&part.stream, part.expected));
        let guards = append.guards.iter().map(|(stream, seq)| (stream, *seq));
        for (stream, expected) in streams.chain(guards) {
            let found = self.chain(stream).seq;
            if found != expected {
                return Err(AppendError::Conflict { stream: stream.clone(), expected, found });
            }
        }
        let run = append.rows.run.as_ref().filter(|_| append.drives).map(|row| &row.run);
        match run.and_then(|run| self.driver(run)) {
            Some(driver) if driver != node => Err(AppendError::Driven),
            _ => Ok(()),
        }
    }

    fn last(&self) -> u64 {
        self.log.len() as u64
    }

    fn events(&self, stream: &StreamId) -> impl Iterator<Item = &Sealed> {
        self.streams.get(stream).into_iter().flatten().map(|index| &self.log[*index])
    }

    fn chain(&self, stream: &StreamId) -> Chain {
        let last = self.streams.get(stream).and_then(|indexes| indexes.last()).map(|index| &self.log[*index]);
        last.map_or(Chain::START, |event| Chain { seq: event.seq, hash: event.hash })
    }
}

impl Tables {
    fn put(&mut self, rows: Rows) {
        self.runs.extend(rows.run.map(|row| (row.run.clone(), row)));
        if let Some(row) = rows.session {
            let merged = match self.sessions.remove(&row.session) {
                Some(there) => there.with(row),
                None => row,
            };
            self.sessions.insert(merged.session.clone(), merged);
        }
        self.interrupts.extend(rows.interrupts.into_iter().map(|row| (row.interrupt.clone(), row)));
        self.grants.extend(rows.grants.into_iter().map(|row| (row.grant.clone(), row)));
    }

    fn runs(&self, filter: &RunFilter, after: Option<&RunPlace>, limit: usize) -> Page<RunRow> {
        let mut rows: Vec<_> = self
            .runs
            .values()
            .filter(|row| filter.status.is_none_or(|status| row.status == status))
            .filter(|row| filter.workflow.as_ref().is_none_or(|workflow| row.workflow == *workflow))
            .filter(|row| matches_session(filter.session.as_ref(), &row.session))
            .map(|row| (RunPlace::of(row), row))
            .filter(|(place, _)| after.is_none_or(|after| place > after))
            .collect();
        rows.sort_by(|(a, _), (b, _)| a.cmp(b));
        let items = rows.into_iter().take(limit.saturating_add(1)).map(|(_, row)| row.clone()).collect();
        Page::cut(items, limit, |row| RunPlace::of(row).encode())
    }

    fn sessions(
        &self,
        filter: &SessionFilter,
        after: Option<&SessionPlace>,
        limit: usize,
    ) -> Page<SessionRow> {
        let is_of = |row: &SessionRow, workflow: &String| {
            row.workflow.as_ref() == Some(workflow)
                || self.runs_of(&row.session).any(|run| run.workflow == *workflow)
        };
        let rows = self
            .sessions
            .values()
            .rev()
            .filter(|row| filter.states.is_empty() || filter.states.contains(&row.state))
            .filter(|row| filter.workflow.as_ref().is_none_or(|workflow| is_of(row, workflow)))
            .filter(|row| after.is_none_or(|after| SessionPlace::of(row) > *after));
        let items = rows.take(limit.saturating_add(1)).cloned().collect();
        Page::cut(items, limit, |row| SessionPlace::of(row).encode())
    }

    fn idle_sessions(&self, now: Timestamp, limit: usize) -> Vec<SessionId> {
        let is_idle = |row: &&SessionRow| {
            let Some(idle_ms) = row.idle_ms.filter(|_| !row.state.is_closed()) else { return false };
            let is_old = |at: Timestamp| at.plus_ms(idle_ms) <= now;
            is_old(row.changed_at)
                && self.runs_of(&row.session).all(|run| run.status.is_terminal() && is_old(run.updated_at))
        };
        self.sessions.values().filter(is_idle).map(|row| row.session.clone()).take(limit).collect()
    }

    fn runs_of(&self, session: &SessionId) -> impl Iterator<Item = &RunRow> {
        self.runs.values().filter(move |run| run.session == *session)
    }

    fn interrupts(
        &self,
        filter: &InterruptFilter,
        after: Option<&InterruptPlace>,
        limit: usize,
    ) -> Page<InterruptRow> {
        let mut rows: Vec<_> = self
            .interrupts
            .values()
            .filter(|row| filter.open.is_none_or(|open| row.open == open))
            .filter(|row| filter.run.as_ref().is_none_or(|run| row.run == *run))
            .filter(|row| filter.kind.is_none_or(|kind| row.kind == kind))
            .filter(|row| matches_session(filter.session.as_ref(), &row.session))
            .map(|row| (InterruptPlace::of(row), row))
            .filter(|(place, _)| after.is_none_or(|after| place > after))
            .collect();
        rows.sort_by(|(a, _), (b, _)| a.cmp(b));
        let items = rows.into_iter().take(limit.saturating_add(1)).map(|(_, row)| row.clone()).collect();
        Page::cut(items, limit, |row| InterruptPlace::of(row).encode())
    }

    fn grants(&self, filter: &GrantFilter, after: Option<&GrantPlace>, limit: usize) -> Page<GrantRow> {
        let rows = self
            .grants
            .values()
            .rev()
            .filter(|row| filter.revoked.is_none_or(|revoked| row.revoked == revoked))
            .filter(|row| after.is_none_or(|after| GrantPlace::of(row) > *after));
        let items = rows.take(limit.saturating_add(1)).cloned().collect();
        Page::cut(items, limit, |row| GrantPlace::of(row).encode())
    }

    /// The ids of the runs that `key` keeps, in order of that key.
    fn runs_by<K: Ord>(&self, key: impl Fn(&RunRow) -> Option<K>, limit: usize) -> Vec<RunId> {
        let mut keyed: Vec<_> =
            self.runs.values().filter_map(|row| key(row).map(|key| (key, &row.run))).collect();
        keyed.sort();
        keyed.into_iter().take(limit).map(|(_, run)| run.clone()).collect()
    }
}

fn matches_session(wanted: Option<&SessionId>, session: &SessionId) -> bool {
    wanted.is_none_or(|wanted| wanted == session)
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

    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<RunId>, Error> {
        Ok(self.state()?.tables.runs_by(|row| row.deadline.filter(|deadline| *deadline <= now), limit))
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
