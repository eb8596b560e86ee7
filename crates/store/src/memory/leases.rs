//! Leases in memory: of one node, or of several nodes that share the journal.

use std::time::Duration;

use holdshort_core::id::RunId;
use holdshort_core::projection::RunRow;
use holdshort_core::time::Timestamp;

use super::state::RunLease;
use super::{Memory, lock};
use crate::journal::Error;
use crate::leases::{Lease, Leases, NodeRow};

impl Leases for Memory {
    async fn runnable(&self, limit: usize) -> Result<Vec<RunId>, Error> {
        let state = self.state()?;
        let mine = |held: &RunLease| !state.shared || held.node == Some(self.node);
        let is_mine = |row: &RunRow| state.leases.get(&row.run).is_some_and(mine);
        Ok(state.tables.runs_by(|row| is_mine(row).then_some(row.created_at), limit))
    }

    async fn claim(&self, limit: usize) -> Result<Vec<RunId>, Error> {
        let mut state = self.state()?;
        Ok(if state.shared { state.claim(self.node, limit) } else { Vec::new() })
    }

    fn has_valid_leases(&self) -> bool {
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
        let node = |held: &RunLease| if state.shared { held.node } else { Some(self.node) };
        let leases = rest.map(|(run, held)| Lease { run: run.clone(), node: node(held) });
        Ok(leases.take(limit).collect())
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
}
