//! Times at which each event arrives at each client.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

/// Times at which events arrive at each client, shared by all clients. Events are numbered from 0, in the order of
/// their commits.
pub(super) struct Board {
    clients: usize,
    arrivals: Mutex<Vec<Vec<Instant>>>,
    complete: Notify,
}

impl Board {
    pub(super) fn new(clients: usize) -> Self {
        Self { clients, arrivals: Mutex::default(), complete: Notify::new() }
    }

    pub(super) fn arrived(&self, event: usize) {
        let now = Instant::now();
        let mut arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        if arrivals.len() <= event {
            arrivals.resize_with(event + 1, Vec::new);
        }
        arrivals[event].push(now);
        if arrivals[event].len() == self.clients {
            self.complete.notify_one();
        }
    }

    /// Waits until all clients have received an event. Returns the arrival times in ascending order.
    pub(super) async fn reached(&self, event: usize) -> Vec<Instant> {
        loop {
            if let Some(all) = self.all(event) {
                return all;
            }
            self.complete.notified().await;
        }
    }

    fn all(&self, event: usize) -> Option<Vec<Instant>> {
        let arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        arrivals.get(event).filter(|all| all.len() == self.clients).cloned()
    }
}
