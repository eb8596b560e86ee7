//! The journal in memory, for tests and the simulator. The store in memory behaves like a database that several nodes
//! share. The data of the store is lost when the process ends.
//!
//! A server never uses this store. `log`, `tables`, `leases`, `bodies` and `outbox` implement the traits. `state`
//! contains the events and leases, and `list` contains the rows.

mod bodies;
mod leases;
mod list;
mod log;
mod outbox;
mod state;
mod tables;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use self::state::{Node, State};
use crate::journal::Error;

/// Handle with which one node uses a journal in memory.
#[derive(Debug)]
pub struct Memory {
    state: Arc<Mutex<State>>,
    node: u64,
}

impl Memory {
    pub fn new() -> Self {
        Self { state: Arc::new(Mutex::new(State::new())), node: 0 }.open()
    }

    /// Creates a journal to which more nodes can be added with [`join`](Self::join).
    pub fn shared() -> Self {
        let memory = Self::new();
        lock(&memory.state).shared = true;
        memory
    }

    /// Opens the journal again, as a restarted process does. The returned handle has the next epoch, and all earlier
    /// handles are closed.
    pub fn reopen(&self) -> Self {
        {
            let mut state = lock(&self.state);
            state.nodes.clear();
            state.position = watch::Sender::new(state.last());
        }
        self.open()
    }

    /// Adds a node to a shared journal.
    pub fn join(&self) -> Self {
        assert!(lock(&self.state).shared, "a single-node journal cannot be joined");
        self.open()
    }

    fn open(&self) -> Self {
        let mut state = lock(&self.state);
        state.epoch += 1;
        let node = state.epoch;
        state.nodes.insert(node, Node { epoch: node, alive: true });
        Self { state: Arc::clone(&self.state), node }
    }

    /// Makes the node's leases expire, as if the node had not renewed them in time. After [`Self::renew`], the node can
    /// continue those runs that no other node has claimed in the meantime.
    pub fn lapse(&self) {
        self.set_alive(false);
    }

    /// Renews the node's leases.
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

/// Locks the state of the journal in memory. If a thread panics while it holds the lock, no append is half written:
/// `State::append` makes all checks before it writes.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
