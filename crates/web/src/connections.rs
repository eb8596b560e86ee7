//! Quotas of connections for three groups: unauthenticated clients, agents, people. If one group opens very many
//! connections, the other groups can still connect.
//!
//! All unauthenticated connections share one quota. A new unauthenticated connection beyond the quota closes the oldest
//! unauthenticated connection. A client keeps its connection if it authenticates in time. Connections of agents share a
//! second quota. When the quota of agents is used up, further requests of agents are rejected, and their connections
//! stay unauthenticated. The remaining connections are available to people.
//!
//! A connection is counted until its socket is closed, because the TCP stream owns the [`Connection`]. While a request
//! is served, its connection is stored in a task-local variable, where `auth.rs` finds it.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Resource, getrlimit};
use tokio::sync::Notify;

use crate::limits::{AGENT_CONNECTIONS, UNAUTHENTICATED_CONNECTIONS};

tokio::task_local! {
    static CONNECTION: Arc<Connection>;
}

/// Maximum number of open connections of unauthenticated clients, and of agents.
#[derive(Clone, Copy, Debug)]
pub struct Quotas {
    pub unauthenticated: usize,
    pub agents: usize,
}

impl Quotas {
    /// Computes the connection quotas from the number of files that this process may open. Unauthenticated clients get
    /// at most a quarter of this number, and agents at most half. The rest is for the connections of people and for
    /// files.
    pub fn of_this_process() -> Self {
        let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let share = |part: u64| usize::try_from(descriptors / part).unwrap_or(usize::MAX);
        Self {
            unauthenticated: UNAUTHENTICATED_CONNECTIONS.min(share(4)),
            agents: AGENT_CONNECTIONS.min(share(2)),
        }
    }
}

pub struct Connections {
    quotas: Quotas,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    /// Unauthenticated connections by their number. The lowest number is the oldest connection.
    unauthenticated: BTreeMap<u64, Arc<Notify>>,
    agents: BTreeSet<u64>,
}

/// Addresses of the two ends of a network connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    pub peer: SocketAddr,
    pub local: SocketAddr,
}

/// Open connection to the server. It is unauthenticated until its client authenticates. When the value is dropped, the
/// connection is no longer counted.
pub struct Connection {
    number: u64,
    /// Addresses of the two ends of the connection. The peer is either a client or a proxy.
    pub ends: Ends,
    all: Arc<Connections>,
    evicted: Arc<Notify>,
}

impl Connections {
    pub fn new(quotas: Quotas) -> Arc<Self> {
        Arc::new(Self { quotas, open: Mutex::default() })
    }

    pub fn accept(self: &Arc<Self>, ends: Ends) -> Arc<Connection> {
        let evicted = Arc::new(Notify::new());
        let mut open = self.open();
        let number = open.next;
        open.next += 1;
        open.unauthenticated.insert(number, evicted.clone());
        if open.unauthenticated.len() > self.quotas.unauthenticated
            && let Some((_, oldest)) = open.unauthenticated.pop_first()
        {
            oldest.notify_one();
        }
        drop(open);
        Arc::new(Connection { number, ends, all: self.clone(), evicted })
    }

    /// Locks the maps of connections. A poisoned lock is used as well, because the maps are still valid after a panic.
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Marks the connection as the connection of a person.
    pub fn mark_as_person(&self) {
        self.forget();
    }

    /// Marks the connection as the connection of an agent. Returns false if the connection quota of agents is used up.
    pub fn try_mark_as_agent(&self) -> bool {
        let mut open = self.all.open();
        if !open.agents.contains(&self.number) && open.agents.len() >= self.all.quotas.agents {
            return false;
        }
        open.unauthenticated.remove(&self.number);
        open.agents.insert(self.number);
        true
    }

    fn forget(&self) {
        let mut open = self.all.open();
        open.unauthenticated.remove(&self.number);
        open.agents.remove(&self.number);
    }

    /// Resolves when a newer connection needs the place of this connection in the quota, so that this connection must
    /// be closed.
    pub async fn evicted(&self) {
        self.evicted.notified().await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.forget();
    }
}

/// Serves a request that arrived over this connection, so that [`current`] returns the connection.
pub fn serving<F: Future>(connection: Arc<Connection>, request: F) -> impl Future<Output = F::Output> {
    CONNECTION.scope(connection, request)
}

/// Returns the connection of the request that the current task serves.
pub fn current() -> Option<Arc<Connection>> {
    CONNECTION.try_with(Arc::clone).ok()
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use futures::FutureExt;

    use super::*;

    const PEER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7349);
    const ENDS: Ends = Ends { peer: PEER, local: PEER };

    #[test]
    fn the_oldest_unauthenticated_connection_is_evicted_and_no_other() {
        let all = Connections::new(Quotas { unauthenticated: 2, agents: 1 });
        let [first, second, third] = [(); 3].map(|()| all.accept(ENDS));
        let ends = |connection: &Connection| connection.evicted().now_or_never().is_some();
        assert_eq!([&first, &second, &third].map(|each| ends(each)), [true, false, false]);
        second.mark_as_person();
        let fourth = all.accept(ENDS);
        assert_eq!([&second, &third, &fourth].map(|each| ends(each)), [false; 3]);
        // A closed connection is no longer counted.
        drop(third);
        let fifth = all.accept(ENDS);
        assert_eq!([&second, &fourth, &fifth].map(|each| ends(each)), [false; 3]);
    }

    #[test]
    fn agents_have_their_share_and_no_more() {
        let all = Connections::new(Quotas { unauthenticated: 9, agents: 1 });
        let [first, second] = [(); 2].map(|()| all.accept(ENDS));
        assert_eq!([&first, &first, &second].map(|each| each.try_mark_as_agent()), [true, true, false]);
        second.mark_as_person();
        drop(first);
        assert!(all.accept(ENDS).try_mark_as_agent());
    }
}
