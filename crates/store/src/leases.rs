//! What a journal promises of its nodes: which of them drives which run, and under which epoch.

use std::future::Future;
use std::time::Duration;

use holdshort_core::id::RunId;
use holdshort_core::time::Timestamp;

use crate::journal::Error;

/// One opening of the store: a process that drives runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRow {
    /// The first epoch that it drew.
    pub node: u64,
    /// What its operator calls it; a host name by default.
    pub name: String,
    pub opened_at: Timestamp,
    /// When its leases end unless it renews them. `None`: there is no other node that could take them.
    pub alive_until: Option<Timestamp>,
    pub alive: bool,
    /// The node that answers.
    pub here: bool,
    /// Runs whose lease it holds.
    pub runs: u64,
}

/// A node's right to drive a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub run: RunId,
    /// `None`: the run waits for a node.
    pub node: Option<u64>,
}

/// Who drives what.
pub trait Leases: Send + Sync + 'static {
    /// Runnable runs whose lease this node holds, oldest first. The only node of a store holds all of them.
    fn runnable(&self, limit: usize) -> impl Future<Output = Result<Vec<RunId>, Error>> + Send;

    /// Takes the lease of runnable runs that nobody drives or whose node is gone, and names those of this node
    /// that another one changed since it was asked last. Empty where there is one node.
    fn claim(&self, limit: usize) -> impl Future<Output = Result<Vec<RunId>, Error>> + Send;

    /// Gives the lease of a run back that this node can not read, and claims it no more: a node of a newer version may
    /// have it. Nothing where there is one node.
    fn give_back(&self, run: &RunId) -> impl Future<Output = Result<(), Error>> + Send {
        let _ = run;
        async { Ok(()) }
    }

    /// Whether this node's leases stand, as far as its own clock tells: looked at once more right before a
    /// side effect.
    fn holds(&self) -> bool;

    /// How often to look for what other nodes did; `None` where there are none: then nobody else writes, and
    /// what is in memory is what is in the journal.
    fn poll(&self) -> Option<Duration>;

    /// The nodes that are alive or hold leases, in order of their opening.
    fn nodes(&self) -> impl Future<Output = Result<Vec<NodeRow>, Error>> + Send;

    /// Runnable runs and who drives them, in order of their id, after the given one.
    fn leases(
        &self,
        after: Option<&RunId>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Lease>, Error>> + Send;

    /// The last epoch that this node drew, the first of them at its opening. No two are ever the same, and
    /// each is larger than all before. Work is started under one, and adopted under a later one.
    fn epoch(&self) -> u64;

    /// Draws the next epoch: a run was driven under a later one than this node has.
    fn draw_epoch(&self) -> impl Future<Output = Result<u64, Error>> + Send;
}
