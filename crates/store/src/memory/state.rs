//! Content of a journal in memory (events by stream, and leases of runs), and the changes that an append makes to it.

use std::collections::BTreeMap;

use holdshort_core::digest::Digest;
use holdshort_core::envelope::{Chain, Sealed};
use holdshort_core::head::Head;
use holdshort_core::id::{RunId, StreamId};
use holdshort_core::projection::RunRow;
use holdshort_core::time::Timestamp;
use tokio::sync::watch;

use super::list::RowMaps;
use super::outbox::Deliveries;
use crate::check;
use crate::log::{Append, AppendError, Appended, Key};

#[derive(Debug)]
pub(super) struct State {
    /// Latest epoch that any node has acquired.
    pub(super) epoch: u64,
    pub(super) nodes: BTreeMap<u64, Node>,
    /// True if several nodes are allowed to write to the journal.
    pub(super) shared: bool,
    pub(super) leases: BTreeMap<RunId, RunLease>,
    /// All events. The event at index `i` has position `i + 1`.
    pub(super) log: Vec<Sealed>,
    /// Head of the journal after each event.
    pub(super) heads: Vec<Head>,
    /// For each stream, the indexes of its events in `log`. The element at index `i` is for the event with the sequence
    /// number `i + 1`.
    pub(super) streams: BTreeMap<StreamId, Vec<usize>>,
    pub(super) keys: BTreeMap<(String, String), Key>,
    pub(super) blobs: BTreeMap<Digest, Vec<u8>>,
    /// File contents, each with the time of its last use.
    pub(super) bodies: BTreeMap<Digest, (Timestamp, Vec<u8>)>,
    pub(super) tables: RowMaps,
    pub(super) outbox: Deliveries,
    pub(super) position: watch::Sender<u64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) epoch: u64,
    pub(super) alive: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunLease {
    pub(super) node: Option<u64>,
    pub(super) woken: bool,
}

impl State {
    pub(super) fn new() -> Self {
        Self {
            epoch: 0,
            nodes: BTreeMap::new(),
            shared: false,
            leases: BTreeMap::new(),
            log: Vec::new(),
            heads: Vec::new(),
            streams: BTreeMap::new(),
            keys: BTreeMap::new(),
            blobs: BTreeMap::new(),
            bodies: BTreeMap::new(),
            tables: RowMaps::default(),
            outbox: Deliveries::default(),
            position: watch::Sender::new(0),
        }
    }

    pub(super) fn append(&mut self, node: u64, append: Append) -> Result<Appended, AppendError> {
        self.admit(node, &append)?;
        for key in append.keys {
            self.keys.insert((key.scope.clone(), key.key.clone()), key);
        }
        for event in append.streams.into_iter().flat_map(|part| part.events) {
            if let Some(content) = event.content.as_ref().filter(|content| check::is_large(&content.bytes)) {
                self.blobs.entry(Digest::of_bytes(&content.bytes)).or_insert_with(|| content.bytes.clone());
            }
            self.streams.entry(event.stream.clone()).or_default().push(self.log.len());
            self.heads.push(self.head().then(&event.hash));
            self.log.push(event);
        }
        for (stream, seq) in &append.erased {
            self.erase(stream, *seq);
        }
        for blob in append.blobs {
            self.blobs.entry(blob.digest).or_insert(blob.bytes);
        }
        if let Some(row) = &append.rows.run {
            self.lease(node, row, append.drives);
        }
        self.tables.put(append.rows);
        if let Some(run) = &append.forgets {
            self.tables.answers.retain(|_, row| row.run != *run);
            self.outbox.forget_answers(run);
        }
        self.outbox.add(append.deliveries);
        let position = self.last();
        self.position.send_replace(position);
        Ok(Appended { position })
    }

    fn erase(&mut self, stream: &StreamId, seq: u64) {
        let index = usize::try_from(seq - 1).ok().and_then(|at| self.streams.get(stream)?.get(at).copied());
        let Some(content) = index.and_then(|index| self.log[index].content.take()) else { return };
        let is_same =
            |event: &Sealed| event.content.as_ref().is_some_and(|other| other.bytes == content.bytes);
        if check::is_large(&content.bytes) && !self.log.iter().any(is_same) {
            self.blobs.remove(&Digest::of_bytes(&content.bytes));
        }
    }

    pub(super) fn lease(&mut self, node: u64, row: &RunRow, drives: bool) {
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

    /// Returns the id of the node that drives the run: the node holds the run's lease and is alive.
    pub(super) fn driver(&self, run: &RunId) -> Option<u64> {
        let node = self.leases.get(run)?.node?;
        self.nodes.get(&node).filter(|found| found.alive).map(|_| node)
    }

    pub(super) fn is_alive(&self, node: u64) -> bool {
        self.nodes.get(&node).is_some_and(|node| node.alive)
    }

    pub(super) fn claim(&mut self, node: u64, limit: usize) -> Vec<RunId> {
        let free = self.leases.iter().filter(|(run, held)| match self.driver(run) {
            Some(driver) => driver == node && held.woken,
            None => true,
        });
        let claimed: Vec<RunId> = free.map(|(run, _)| run.clone()).take(limit).collect();
        for run in &claimed {
            self.leases.insert(run.clone(), RunLease { node: Some(node), woken: false });
        }
        claimed
    }

    pub(super) fn admit(&self, node: u64, append: &Append) -> Result<(), AppendError> {
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

    pub(super) fn head(&self) -> Head {
        self.heads.last().copied().unwrap_or(Head::START)
    }

    pub(super) fn last(&self) -> u64 {
        self.log.len() as u64
    }

    pub(super) fn events(&self, stream: &StreamId) -> impl Iterator<Item = &Sealed> {
        self.streams.get(stream).into_iter().flatten().map(|index| &self.log[*index])
    }

    pub(super) fn position(&self, stream: &StreamId, seq: u64) -> Option<u64> {
        let at = usize::try_from(seq).ok()?.checked_sub(1)?;
        let index = *self.streams.get(stream)?.get(at)?;
        Some(index as u64 + 1)
    }

    pub(super) fn chain(&self, stream: &StreamId) -> Chain {
        let last = self.streams.get(stream).and_then(|indexes| indexes.last()).map(|index| &self.log[*index]);
        last.map_or(Chain::START, |event| Chain { seq: event.seq, hash: event.hash })
    }
}
