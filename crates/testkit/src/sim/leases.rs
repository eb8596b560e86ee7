//! The leases of all nodes, in the time of the simulation. For each lease there are two ends: when it expires in the
//! store, and until when its node believes that it is valid. As long as a node renews its lease, the lease does not
//! expire. If the node no longer renews it, the store treats the node as alive until the lease expires. The node itself
//! stops believing in the lease a little earlier. But if its clock has stopped too, it goes on believing.

use std::collections::BTreeMap;
use std::sync::Arc;

use holdshort_store::Leases as _;

use super::node::NodeId;
use super::store::Store;

/// Milliseconds after a renewal for which the lease of a simulated node is valid in the store.
pub(super) const LEASE_MS: u64 = 6_000;
/// Milliseconds after a renewal for which the simulated node believes that its lease is valid.
const BELIEVED_MS: u64 = 5_000;

/// Number, from 0, of a period in which the lease of a node was valid without interruption.
pub(super) type Term = u32;

#[derive(Default)]
pub(super) struct Leases(BTreeMap<NodeId, LeaseState>);

struct LeaseState {
    store: Arc<Store>,
    term: Term,
    /// True if the lease of the simulated node is valid in the store.
    stands: bool,
    renews: bool,
    renewed_at: u64,
    believed_until: u64,
    /// True if the clock of the simulated node has stopped. The node then goes on believing in a lease that has
    /// expired.
    clock_stands: bool,
}

impl Leases {
    pub(super) fn open(&mut self, node: NodeId, store: Arc<Store>, now: u64) {
        let standing = LeaseState {
            store,
            term: 0,
            stands: true,
            renews: true,
            renewed_at: now,
            believed_until: now + BELIEVED_MS,
            clock_stands: false,
        };
        self.0.insert(node, standing);
    }

    /// Makes a simulated node stop renewing its lease.
    pub(super) fn stop(&mut self, node: NodeId, clock_stands: bool) {
        if let Some(standing) = self.0.get_mut(&node) {
            standing.renews = false;
            standing.clock_stands = clock_stands;
        }
    }

    /// Makes a simulated node renew its lease again. If the lease had expired, the node believes in it only after
    /// another renewal. Therefore work that began before the expiry finds that the lease has expired.
    pub(super) fn renew(&mut self, node: NodeId, now: u64) {
        let Some(standing) = self.0.get_mut(&node).filter(|standing| !standing.renews) else { return };
        standing.store.renew();
        standing.renews = true;
        standing.clock_stands = false;
        if now < standing.believed_until {
            standing.believed_until = now + BELIEVED_MS;
        }
        standing.stands = true;
        standing.renewed_at = now;
    }

    pub(super) fn renews(&self, node: NodeId) -> bool {
        self.0.get(&node).is_some_and(|standing| standing.renews)
    }

    pub(super) fn end(&mut self, node: NodeId) {
        if let Some(standing) = self.0.get_mut(&node) {
            standing.renews = false;
            standing.lapse();
        }
    }

    /// Moves the time of the simulation to `now`, and ends leases that expire by then.
    pub(super) fn pass(&mut self, now: u64) {
        for standing in self.0.values_mut() {
            if standing.renews {
                standing.renewed_at = now;
                standing.believed_until = now + BELIEVED_MS;
            } else if now >= standing.renewed_at + LEASE_MS {
                standing.lapse();
            }
        }
    }

    pub(super) fn is_believed_valid(&self, node: NodeId, now: u64) -> bool {
        self.0.get(&node).is_some_and(|standing| match standing.store.poll() {
            Some(_) => standing.clock_stands || now < standing.believed_until,
            // A store for one node: its node has the lease until it loses access to the store.
            None => standing.store.has_valid_leases(),
        })
    }

    /// Returns the number of the present period of the simulated node's lease. Returns `None` if the lease is not valid
    /// in the store.
    pub(super) fn term(&self, node: NodeId) -> Option<Term> {
        self.0.get(&node).filter(|standing| standing.stands).map(|standing| standing.term)
    }
}

impl LeaseState {
    fn lapse(&mut self) {
        if std::mem::replace(&mut self.stands, false) {
            self.store.lapse();
            self.term += 1;
        }
    }
}
