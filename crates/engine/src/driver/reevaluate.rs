//! Evaluates open interrupts again after people or rules have changed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use holdshort_core::actor::Actor;
use holdshort_core::event::{self, Event};
use holdshort_core::id::RunId;
use holdshort_core::interrupt::{Kind, assignee_index};
use holdshort_core::projection::InterruptRow;
use holdshort_core::run::Input;
use holdshort_core::system::{Fact, System};
use holdshort_store::{InterruptFilter, Journal};

use super::Driver;
use crate::{Clock, Error, Executor};

/// Number of rows of interrupts that are read at a time.
const AT_ONCE: usize = 500;

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    /// Requests that the background task `keep_up` checks all open approvals against the current rules.
    pub(super) fn revote_later(&self) {
        self.rules_changed.store(true, Ordering::Release);
    }

    /// Checks all open approvals against the current rules, if this was requested. After the check, no person can
    /// approve a call that a rule now forbids.
    pub async fn run_pending_revotes(self: &Arc<Self>) -> Result<(), Error> {
        if !self.rules_changed.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let filter = InterruptFilter { kind: Some(Kind::ToolApproval), ..InterruptFilter::default() };
        let voted = match self.runs_asking(filter, |_| true).await {
            Ok(runs) => self.send_to_each(&runs, &Input::Revote).await,
            Err(error) => Err(error),
        };
        if voted.is_err() {
            self.revote_later();
        }
        voted
    }

    /// Requests that the background task `keep_up` checks all assignments that name people or groups.
    pub(super) fn reevaluate_later(&self) {
        self.relook.store(true, Ordering::Release);
    }

    /// Checks the open interrupts that a change of the list of people may affect. A change may affect interrupts that
    /// are assigned to or claimed by a changed person, or that already have votes. The change takes effect even if a
    /// check fails: `keep_up` repeats failed checks later.
    pub(super) async fn people_changed(self: &Arc<Self>, events: &[Event], before: &System) {
        if let Err(error) = self.reevaluate_changed_people(events, before).await {
            tracing::warn!(%error, "assignments cannot be checked");
            self.reevaluate_later();
        }
    }

    async fn reevaluate_changed_people(
        self: &Arc<Self>,
        events: &[Event],
        before: &System,
    ) -> Result<(), Error> {
        let changed = events.iter().filter_map(|event| match &event.fact {
            event::Fact::System(Fact::PersonSet { person, .. } | Fact::PersonLeft { person }) => Some(person),
            event::Fact::System(Fact::KeyRevoked { key }) => before.keys.get(key).map(|key| &key.name),
            event::Fact::System(_) | event::Fact::Run(_) | event::Fact::Session(_) => None,
        });
        let of = |id: &String| assignee_index::of_person(id, &before.people, self.clock.now());
        let marks: BTreeSet<String> = changed.flat_map(of).collect();
        if marks.is_empty() {
            return Ok(());
        }
        self.reevaluate_assignments(marks.into_iter().chain([assignee_index::INVOLVED.to_owned()]).collect())
            .await
    }

    /// Checks all assignments that name people or groups, if this was requested.
    pub async fn run_pending_reevaluations(self: &Arc<Self>) -> Result<(), Error> {
        // The read of the system detects keys that have expired since the last read.
        self.glance_system().await?;
        if !self.relook.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let marks = [assignee_index::ANY_PERSON, assignee_index::ANY_GROUP, assignee_index::INVOLVED]
            .map(str::to_owned);
        let looked = self.reevaluate_assignments(marks.to_vec()).await;
        if looked.is_err() {
            self.reevaluate_later();
        }
        looked
    }

    /// Checks the interrupts whose database rows contain one of `marks`, and the interrupts that a removed person has
    /// claimed. A mark is the text by which a row identifies an approver.
    async fn reevaluate_assignments(self: &Arc<Self>, marks: Vec<String>) -> Result<(), Error> {
        let filter = InterruptFilter { marks: Some(marks), ..InterruptFilter::default() };
        let mut runs = self.runs_asking(filter, |_| true).await?;
        let system = self.glance_system().await?;
        let is_gone =
            |row: &InterruptRow| row.claimed_by.as_deref().is_some_and(|by| system.people.is_barred(by));
        runs.extend(self.runs_asking(InterruptFilter::default(), is_gone).await?);
        self.send_to_each(&runs, &Input::PeopleChanged).await
    }

    /// Returns the runs with an open interrupt that matches the filter and for which `wanted` returns true.
    async fn runs_asking(
        &self,
        filter: InterruptFilter,
        wanted: impl Fn(&InterruptRow) -> bool,
    ) -> Result<BTreeSet<RunId>, Error> {
        let filter = InterruptFilter { open: Some(true), ..filter };
        let (mut runs, mut after) = (BTreeSet::new(), None);
        loop {
            let page = self.journal.interrupts(&filter, after.as_ref(), AT_ONCE).await?;
            runs.extend(page.items.into_iter().filter(&wanted).map(|row| row.run));
            after = page.next;
            if after.is_none() {
                return Ok(runs);
            }
        }
    }

    async fn send_to_each(self: &Arc<Self>, runs: &BTreeSet<RunId>, input: &Input) -> Result<(), Error> {
        let mut failed = None;
        for run in runs {
            match self.send(run, input.clone(), Actor::engine()).await {
                Ok(_) => {}
                Err(Error::Store(error)) => failed = Some(error),
                // The run has ended or is unreadable. The other runs are still checked.
                Err(error) => tracing::debug!(%run, %error, "open interrupts of a run were not checked \
                    again"),
            }
        }
        failed.map_or(Ok(()), |error| Err(error.into()))
    }
}
