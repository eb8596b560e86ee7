//! Leases in PostgreSQL: a table of runs, from which all nodes claim runs to drive.

use std::time::Duration;

use holdshort_core::id::RunId;

use super::{POLL, Postgres, node};
use crate::journal::Error;
use crate::leases::{Lease, Leases, NodeRow};

impl Leases for Postgres {
    async fn runnable(&self, limit: usize) -> Result<Vec<RunId>, Error> {
        match &self.node {
            Some(node) => node.runnable(&self.pool, limit).await,
            None => Ok(Vec::new()),
        }
    }

    async fn claim(&self, limit: usize) -> Result<Vec<RunId>, Error> {
        self.node()?.claim(&self.pool, limit).await
    }

    async fn give_back(&self, run: &RunId) -> Result<(), Error> {
        self.node()?.give_back(&self.pool, run).await
    }

    fn has_valid_leases(&self) -> bool {
        self.node.as_ref().is_some_and(|node| node.has_valid_leases())
    }

    fn poll(&self) -> Option<Duration> {
        Some(POLL)
    }

    async fn nodes(&self) -> Result<Vec<NodeRow>, Error> {
        node::all(&self.pool, self.node.as_ref().map(|node| node.id)).await
    }

    async fn leases(&self, after: Option<&RunId>, limit: usize) -> Result<Vec<Lease>, Error> {
        node::leases(&self.pool, after, limit).await
    }

    fn epoch(&self) -> u64 {
        self.node.as_ref().map_or(0, |node| node.epoch())
    }

    async fn draw_epoch(&self) -> Result<u64, Error> {
        self.node()?.draw_epoch(&self.pool).await
    }
}
