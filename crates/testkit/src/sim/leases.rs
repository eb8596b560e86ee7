//! Leases of all nodes in virtual time. Each lease has a validity in the store, and a validity that its node assumes.
//! As long as a node renews its lease, the lease does not expire. Without renewals, the node is alive for the store
//! until the lease expires. The node itself stops trusting the lease a little earlier, except if its clock has stopped
//! too.

use std::collections::BTreeMap;
use std::sync::Arc;

use holdshort_store::Leases as _;

use super::node::NodeId;
use super::store::Store;

/// Milliseconds for which a lease is valid in the store after a renewal.
pub(super) const LEASE_MS: u64 = 6_000;
/// Milliseconds for which the node trusts its lease after a renewal.
const BELIEVED_MS: u64 = 5_000;

/// Number of a period in which a node's lease is valid without interruption, counted from 0.
pub(super) type Term = u32;

#[derive(Default)]
pub(super) struct Leases(BTreeMap<NodeId, LeaseState>);

struct LeaseState {
    store: Arc<Store>,
    term: Term,
    /// True if the lease is valid in the store.
    stands: bool,
    renews: bool,
    renewed_at: u64,
    believed_until: u64,
    /// True if the clock of the node has stopped. The node then does not notice that its lease has expired.
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

    /// Stops the renewals of a node.
    pub(super) fn stop(&mut self, node: NodeId, clock_stands: bool) {
        if let Some(standing) = self.0.get_mut(&node) {
            standing.renews = false;
            standing.clock_stands = clock_stands;
        }
    }

    /// Resumes the renewals of a node. If the lease had expired, the node trusts only its next renewal. Therefore work
    /// that began earlier finds the lease expired.
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

    /// Ends the lease of a node that has lost access to the store.
    pub(super) fn end(&mut self, node: NodeId) {
        if let Some(standing) = self.0.get_mut(&node) {
            standing.renews = false;
            standing.lapse();
        }
    }

    /// Moves the virtual time to `now`, and expires leases.
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

    /// Returns true if the node assumes that its lease is valid.
    pub(super) fn is_believed_valid(&self, node: NodeId, now: u64) -> bool {
        self.0.get(&node).is_some_and(|standing| match standing.store.poll() {
            Some(_) => standing.clock_stands || now < standing.believed_until,
            // A store for one node: its node has the lease until it loses access to the store.
            None => standing.store.has_valid_leases(),
        })
    }

    /// Returns the term of the node's lease. Returns `None` if the lease is not valid in the store.
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
