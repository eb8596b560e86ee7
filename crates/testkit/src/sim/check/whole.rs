//! Checks the whole journal, with an audit and with a rebuild of the rows. This includes hash chains, the replay of all
//! runs, and the rows.
//!
//! The rows are compared by two implementations that have nothing in common. With a single implementation, an audit
//! that overlooks a wrong row and a rebuild that makes the same wrong row would agree.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::FutureExt;
use holdshort_core::gate::Grant;
use holdshort_core::id::SessionId;
use holdshort_core::projection::{GrantRow, SessionRow};
use holdshort_engine::{Driver, Idle, audit, rebuild};
use holdshort_store::{GrantFilter, InterruptFilter, Leases, RunFilter, SessionFilter, Tables};

use super::Witness;
use crate::clock::SimClock;
use crate::sim::history::short;
use crate::sim::store::Store;

const ALL: usize = usize::MAX >> 1;

impl Witness {
    /// Checks the whole journal of the simulation. No other task may run while this function checks the journal.
    pub(in crate::sim) fn check_all(&mut self, store: &Arc<Store>, clock: &SimClock) {
        let checked = self.everything(store, clock);
        self.note(checked);
    }

    fn everything(&self, store: &Arc<Store>, clock: &SimClock) -> Result<(), String> {
        let report = now(audit::verify(&**store))?;
        if let Some(problem) = report.problems.first() {
            return Err(format!("audit: {}: {}", short(&problem.stream), problem.message));
        }
        if report.events != self.events {
            return Err(format!(
                "the journal contains {} events, but {} were written",
                report.events, self.events
            ));
        }
        let driver = Driver::new(store.clone(), clock.clone(), Idle);
        for written in self.runs() {
            let replayed = now(driver.load(&written.id))?;
            if *replayed != *written {
                return Err(format!(
                    "{}: the replayed state differs from the state in memory",
                    short(written.id.as_str())
                ));
            }
        }
        let (rebuilt, _) = now(rebuild::rows(&driver))?;
        let mut runs: Vec<_> = rebuilt.iter().filter_map(|rows| rows.run.clone()).collect();
        let mut sessions: BTreeMap<SessionId, SessionRow> = BTreeMap::new();
        for row in rebuilt.iter().filter_map(|rows| rows.session.clone()) {
            let merged = match sessions.remove(&row.session) {
                Some(there) => there.with(row),
                None => row,
            };
            sessions.insert(merged.session.clone(), merged);
        }
        let mut interrupts: Vec<_> = rebuilt.iter().flat_map(|rows| rows.interrupts.clone()).collect();
        let mut grants: Vec<_> = rebuilt.iter().flat_map(|rows| rows.grants.clone()).collect();
        let mut kept_runs = now(store.runs(&RunFilter::default(), None, ALL))?.items;
        let kept_sessions = now(store.sessions(&SessionFilter::default(), None, ALL))?.items;
        let mut kept_interrupts = now(store.interrupts(&InterruptFilter::default(), None, ALL))?.items;
        let mut kept_grants = now(store.grants(&GrantFilter::default(), None, ALL))?.items;
        runs.sort_by(|a, b| a.run.cmp(&b.run));
        kept_runs.sort_by(|a, b| a.run.cmp(&b.run));
        interrupts.sort_by(|a, b| a.interrupt.cmp(&b.interrupt));
        kept_interrupts.sort_by(|a, b| a.interrupt.cmp(&b.interrupt));
        grants.sort_by(|a, b| a.grant.cmp(&b.grant));
        kept_grants.sort_by(|a, b| a.grant.cmp(&b.grant));
        if !sessions.into_values().rev().eq(kept_sessions) {
            return Err("the rows of sessions differ from the rows of a rebuild".to_owned());
        }
        if (runs, interrupts, grants) != (kept_runs, kept_interrupts, kept_grants) {
            return Err("the rows differ from the rows of a rebuild".to_owned());
        }
        let leased = now(store.leases(None, ALL))?.into_iter().map(|lease| lease.run);
        let runnable = self.runs().filter(|run| run.row().is_some_and(|row| row.runnable));
        if !leased.eq(runnable.map(|run| run.id.clone())) {
            return Err("the leases do not match the runnable runs".to_owned());
        }
        Ok(())
    }

    /// Checks that every runnable run has a lease of a living node. The check is made after a period in which nothing
    /// has failed.
    pub(in crate::sim) fn check_leases(&mut self, store: &Arc<Store>) {
        let checked = now(store.nodes()).and_then(|nodes| {
            let is_alive = |id| nodes.iter().any(|node| node.alive && node.node == id);
            let leases = now(store.leases(None, ALL))?;
            match leases.iter().find(|lease| !lease.node.is_some_and(is_alive)) {
                Some(lease) => Err(format!("nobody drives {}", short(lease.run.as_str()))),
                None => Ok(()),
            }
        });
        self.note(checked);
    }
}

/// Returns the response of the simulated store, which responds at once: the first poll of the future completes it.
fn now<T, E: std::fmt::Display>(future: impl Future<Output = Result<T, E>>) -> Result<T, String> {
    future.now_or_never().ok_or("the journal did not answer at once")?.map_err(|error| error.to_string())
}

pub(super) fn grant_row(session: &SessionId, grant: &Grant) -> GrantRow {
    GrantRow {
        grant: grant.id.clone(),
        session: session.clone(),
        added_seq: grant.added_seq,
        revoked: grant.revoked_at.is_some(),
    }
}
