//! Leases: a lease gives one node the right to drive a run. An epoch is a number that tells which process started some
//! work.

use std::future::Future;
use std::time::Duration;

use holdshort_core::id::RunId;
use holdshort_core::time::Timestamp;

use crate::journal::Error;

/// A node: a process that has opened the store and drives runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRow {
    /// Id of the node: the epoch that the node acquired when it opened the store.
    pub node: u64,
    /// Name that the operator gave to the node. Default: the host name.
    pub name: String,
    pub opened_at: Timestamp,
    /// Time at which the node's leases expire if the node does not renew them. `None` if the store has only one node.
    pub alive_until: Option<Timestamp>,
    pub alive: bool,
    /// True if this row describes the node that reads the list of nodes.
    pub here: bool,
    /// Number of runs whose lease the node holds.
    pub runs: u64,
}

/// The right of one node to drive a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub run: RunId,
    /// Node that holds the lease. `None` if no node holds the lease.
    pub node: Option<u64>,
}

/// Leases of runnable runs: each lease assigns a run to the node that drives it.
pub trait Leases: Send + Sync + 'static {
    /// Returns the runnable runs whose lease belongs to this node, oldest first. In a store with only one node, all
    /// leases belong to this node.
    fn runnable(&self, limit: usize) -> impl Future<Output = Result<Vec<RunId>, Error>> + Send;

    /// Acquires the leases of runnable runs that no living node drives, and returns these runs. The result also
    /// contains the runs of this node that another node has changed since the last call. If the store has only one
    /// node, returns nothing.
    fn claim(&self, limit: usize) -> impl Future<Output = Result<Vec<RunId>, Error>> + Send;

    /// Releases the lease of a run that this node cannot read, so that a node with a newer program version can drive
    /// the run. This node does not claim the run again. If the store has only one node, does nothing.
    fn give_back(&self, run: &RunId) -> impl Future<Output = Result<(), Error>> + Send {
        let _ = run;
        async { Ok(()) }
    }

    /// Returns true if this node's leases are still valid by this node's clock. The driver calls this directly before
    /// each side effect.
    fn has_valid_leases(&self) -> bool;

    /// Returns the interval at which to check for changes by other nodes. Returns `None` if the store has only one
    /// node, because its cached state is never stale.
    fn poll(&self) -> Option<Duration>;

    /// Returns the nodes that are alive or hold leases, in the order in which they opened the store.
    fn nodes(&self) -> impl Future<Output = Result<Vec<NodeRow>, Error>> + Send;

    /// Returns the leases of runnable runs after the given run, in the order of the run ids.
    fn leases(
        &self,
        after: Option<&RunId>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Lease>, Error>> + Send;

    /// Returns the latest epoch of this node: a number that marks the work that the node starts. A new epoch is larger
    /// than all earlier epochs of all nodes. A node with a later epoch can take over work that was started under an
    /// earlier epoch.
    fn epoch(&self) -> u64;

    /// Acquires a new epoch. A node needs a new epoch before it drives a run that was driven under a later epoch than the
    /// node's own.
    fn draw_epoch(&self) -> impl Future<Output = Result<u64, Error>> + Send;
}
