//! Promises of a journal to its nodes: which node drives which run, and under which epoch.

use std::future::Future;
use std::time::Duration;

use holdshort_core::id::RunId;
use holdshort_core::time::Timestamp;

use crate::journal::Error;

/// One opening of the store: a process that drives runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRow {
    /// First epoch that the node drew.
    pub node: u64,
    /// Name given by the operator; the host name by default.
    pub name: String,
    pub opened_at: Timestamp,
    /// Time at which its leases end unless it renews them. `None` if the store has only one node.
    pub alive_until: Option<Timestamp>,
    pub alive: bool,
    /// True if this node answers the request.
    pub here: bool,
    /// Number of runs whose lease it holds.
    pub runs: u64,
}

/// A node's right to drive a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub run: RunId,
    /// `None` if the run waits for a node.
    pub node: Option<u64>,
}

/// Assignment of runnable runs to nodes.
pub trait Leases: Send + Sync + 'static {
    /// Returns runnable runs whose lease this node holds, oldest first. The only node of a store holds all of them.
    fn runnable(&self, limit: usize) -> impl Future<Output = Result<Vec<RunId>, Error>> + Send;

    /// Takes the leases of runnable runs that no living node drives. Also returns runs of this node that another node
    /// changed since the last call. Returns nothing if there is only one node.
    fn claim(&self, limit: usize) -> impl Future<Output = Result<Vec<RunId>, Error>> + Send;

    /// Releases the lease of a run that this node cannot read: a node of a newer version may take it. This node never
    /// claims that run again. Does nothing if there is only one node.
    fn give_back(&self, run: &RunId) -> impl Future<Output = Result<(), Error>> + Send {
        let _ = run;
        async { Ok(()) }
    }

    /// Returns true if this node's leases are valid by its own clock. The driver checks it once more right before a
    /// side effect.
    fn has_valid_leases(&self) -> bool;

    /// Returns how often to look for changes of other nodes. `None` if there are none: then only this node writes, and
    /// its memory agrees with the journal.
    fn poll(&self) -> Option<Duration>;

    /// Returns the nodes that are alive or hold leases, in the order of their opening.
    fn nodes(&self) -> impl Future<Output = Result<Vec<NodeRow>, Error>> + Send;

    /// Returns runnable runs after the given one and the nodes that drive them, in order of run id.
    fn leases(
        &self,
        after: Option<&RunId>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Lease>, Error>> + Send;

    /// Returns the last epoch that this node drew; it draws the first one when it opens the store. Each epoch is unique
    /// and larger than all earlier ones. Work starts under one epoch and is adopted under a later one.
    fn epoch(&self) -> u64;

    /// Draws the next epoch. Called when a run was driven under a later epoch than this node has.
    fn draw_epoch(&self) -> impl Future<Output = Result<u64, Error>> + Send;
}
