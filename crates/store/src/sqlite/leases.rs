//! Leases in SQLite. A data folder has only one node. This node always holds all leases.

use std::sync::atomic::Ordering;
use std::time::Duration;

use holdshort_core::id::RunId;
use tokio::sync::oneshot;

use super::writer::Job;
use super::{Sqlite, list};
use crate::journal::Error;
use crate::leases::{Lease, Leases, NodeRow};

impl Leases for Sqlite {
    async fn runnable(&self, limit: usize) -> Result<Vec<RunId>, Error> {
        self.pool.read(move |connection| list::runnable(connection, limit)).await
    }

    async fn claim(&self, _limit: usize) -> Result<Vec<RunId>, Error> {
        Ok(Vec::new())
    }

    fn has_valid_leases(&self) -> bool {
        true
    }

    fn poll(&self) -> Option<Duration> {
        None
    }

    async fn nodes(&self) -> Result<Vec<NodeRow>, Error> {
        let runs = self.pool.read(list::count_runnable).await?;
        Ok(vec![NodeRow {
            node: self.node.first_epoch,
            name: "here".to_owned(),
            opened_at: self.node.opened_at,
            alive_until: None,
            alive: true,
            here: true,
            runs,
        }])
    }

    async fn leases(&self, after: Option<&RunId>, limit: usize) -> Result<Vec<Lease>, Error> {
        let (after, node) = (after.cloned(), Some(self.node.first_epoch));
        let runs = self.pool.read(move |connection| list::runnable_by_id(connection, after.as_ref(), limit));
        Ok(runs.await?.into_iter().map(|run| Lease { run, node }).collect())
    }

    fn epoch(&self) -> u64 {
        self.node.last_epoch.load(Ordering::Relaxed)
    }

    async fn draw_epoch(&self) -> Result<u64, Error> {
        let (reply, answer) = oneshot::channel();
        self.submit(Job::DrawEpoch { reply }).await?;
        let epoch = answer.await.map_err(|_| self.unanswered())??;
        self.node.last_epoch.fetch_max(epoch, Ordering::Relaxed);
        Ok(epoch)
    }
}
