//! Connections that have not authenticated share a quota of descriptors; a new one beyond it evicts the oldest. So a flood
//! of them locks nobody out: a client that authenticates with its first request has only to be faster than the flood takes
//! to fill the quota.
//!
//! The connection that a request came over is task-local while the request is served, so that whoever checks
//! credentials can tell it (`auth.rs`).

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Resource, getrlimit};
use tokio::sync::Notify;

use crate::limits::STRANGERS;

tokio::task_local! {
    static CONNECTION: Arc<Connection>;
}

pub(crate) struct Strangers {
    most: usize,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    next: u64,
    /// The oldest first.
    waiting: BTreeMap<u64, Arc<Notify>>,
}

/// One connection. It is a stranger's until `known`, and forgotten when it is dropped.
pub(crate) struct Connection {
    number: u64,
    strangers: Arc<Strangers>,
    gives_way: Arc<Notify>,
}

impl Strangers {
    /// At most a quarter of what this process may open: the rest is for those who are signed in, and for files.
    pub(crate) fn new(most: Option<usize>) -> Arc<Self> {
        let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let share = usize::try_from(descriptors / 4).unwrap_or(usize::MAX);
        let most = most.unwrap_or_else(|| STRANGERS.min(share));
        Arc::new(Self { most, seen: Mutex::default() })
    }

    pub(crate) fn connection(self: &Arc<Self>) -> Arc<Connection> {
        let gives_way = Arc::new(Notify::new());
        let mut seen = self.seen();
        let number = seen.next;
        seen.next += 1;
        seen.waiting.insert(number, gives_way.clone());
        if seen.waiting.len() > self.most
            && let Some((_, oldest)) = seen.waiting.pop_first()
        {
            oldest.notify_one();
        }
        drop(seen);
        Arc::new(Connection { number, strangers: self.clone(), gives_way })
    }

    /// A poisoned lock guards a plain map: what it holds is still right.
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Its client has said who it is.
    pub(crate) fn known(&self) {
        self.strangers.seen().waiting.remove(&self.number);
    }

    /// Resolves when it has to end for a newer one.
    pub(crate) async fn gives_way(&self) {
        self.gives_way.notified().await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.known();
    }
}

/// Serves a request of this connection.
pub(crate) fn serving<F: Future>(connection: Arc<Connection>, request: F) -> impl Future<Output = F::Output> {
    CONNECTION.scope(connection, request)
}

/// The connection of the request that is being served.
pub(crate) fn current() -> Option<Arc<Connection>> {
    CONNECTION.try_with(Arc::clone).ok()
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn the_oldest_stranger_gives_way_and_who_is_known_does_not() {
        let strangers = Strangers::new(Some(2));
        let [first, second, third] = [(); 3].map(|()| strangers.connection());
        let ends = |connection: &Connection| connection.gives_way().now_or_never().is_some();
        assert_eq!([&first, &second, &third].map(|each| ends(each)), [true, false, false]);
        second.known();
        let fourth = strangers.connection();
        assert_eq!([&second, &third, &fourth].map(|each| ends(each)), [false; 3]);
        // One that is gone takes no place.
        drop(third);
        let fifth = strangers.connection();
        assert_eq!([&second, &fourth, &fifth].map(|each| ends(each)), [false; 3]);
    }
}
