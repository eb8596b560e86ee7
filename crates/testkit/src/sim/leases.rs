//! Every node's lease in virtual time: what the store knows of it, and what the node itself believes.
//!
//! A node that renews never lapses. One that does not is alive for the store until its lease is over; it stops
//! believing in it a little sooner, unless its clock stands still too.

use std::collections::BTreeMap;
use std::sync::Arc;

use holdshort_store::Leases as _;

use super::node::NodeId;
use super::store::Store;

/// How long a lease stands in the store without a renewal.
pub(super) const LEASE_MS: u64 = 6_000;
/// How long the node counts on it.
const BELIEVED_MS: u64 = 5_000;

/// One unbroken time in which a node's lease stands, counted from 0.
pub(super) type Term = u32;

#[derive(Default)]
pub(super) struct Leases(BTreeMap<NodeId, Standing>);

struct Standing {
    store: Arc<Store>,
    term: Term,
    /// In the store.
    stands: bool,
    renews: bool,
    renewed_at: u64,
    believed_until: u64,
    /// Its own clock stands still: it does not see its lease end.
    clock_stands: bool,
}

impl Leases {
    pub(super) fn open(&mut self, node: NodeId, store: Arc<Store>, now: u64) {
        let standing = Standing {
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

    /// The node renews no more.
    pub(super) fn stop(&mut self, node: NodeId, clock_stands: bool) {
        if let Some(standing) = self.0.get_mut(&node) {
            standing.renews = false;
            standing.clock_stands = clock_stands;
        }
    }

    /// The node renews again. Where its lease was over this renewal does not count for the node itself, only the
    /// next one does: what it began before must find it over.
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

    /// The node is shut out for good.
    pub(super) fn end(&mut self, node: NodeId) {
        if let Some(standing) = self.0.get_mut(&node) {
            standing.renews = false;
            standing.lapse();
        }
    }

    /// Time has passed until `now`.
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

    /// What the node believes.
    pub(super) fn holds(&self, node: NodeId, now: u64) -> bool {
        self.0.get(&node).is_some_and(|standing| match standing.store.poll() {
            Some(_) => standing.clock_stands || now < standing.believed_until,
            // The only node of a store never loses it, until it is shut out.
            None => standing.store.holds(),
        })
    }

    /// The term in which the node's lease stands, if it does.
    pub(super) fn term(&self, node: NodeId) -> Option<Term> {
        self.0.get(&node).filter(|standing| standing.stands).map(|standing| standing.term)
    }
}

impl Standing {
    fn lapse(&mut self) {
        if std::mem::replace(&mut self.stands, false) {
            self.store.lapse();
            self.term += 1;
        }
    }
}
