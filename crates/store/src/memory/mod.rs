//! The journal in memory, for tests and the simulator. It answers like a database with several nodes, and is lost with
//! the process.
//!
//! Never the store of a server. `log`, `tables`, `leases`, `bodies` and `outbox` implement the traits. `state` is the
//! data that an append changes, `list` the rows.

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

    /// Returns a journal that several nodes may [`join`](Self::join).
    pub fn shared() -> Self {
        let memory = Self::new();
        lock(&memory.state).shared = true;
        memory
    }

    /// Returns the journal as a restarted process finds it. The epoch is the next one, and the handles of the dead
    /// processes are permanently closed.
    pub fn reopen(&self) -> Self {
        {
            let mut state = lock(&self.state);
            state.nodes.clear();
            state.position = watch::Sender::new(state.last());
        }
        self.open()
    }

    /// Adds another node.
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

    /// Ends the node's leases, as if it had not renewed them. It can continue, and take runs that no other node took.
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

/// Locks the state. A panic under the lock leaves no append half done: `State::append` checks before it writes.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
