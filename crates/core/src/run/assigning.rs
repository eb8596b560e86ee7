//! Changes of the approvers of an open interrupt: withdrawn votes, reassignments, and people who leave.

use std::collections::BTreeSet;

use super::draft::Draft;
use super::input::{Ask, Rejection, check_text};
use super::{Fact, ReassignmentReason, WithdrawalReason};
use crate::definition::Definition;
use crate::envelope::Content;
use crate::id::InterruptId;
use crate::interrupt::{
    Assignment, Claim, Delegation, HandedTo, Interrupt, Refusal, Represented, Stage, Voter,
};
use crate::people::{People, STARTER};
use crate::schema::Problem;

impl Draft<'_> {
    pub(super) fn voter(&self) -> Voter<'_> {
        Voter {
            actor: &self.cx.actor,
            people: &self.cx.system.people,
            starter: self.run.begun_by(),
            now: self.now(),
        }
    }

    pub(super) fn take_vote_back(&mut self, id: &InterruptId) -> Result<(), Rejection> {
        self.interrupt(id)?.check_take_back(&self.voter())?;
        self.withdraw(id, self.cx.actor.id.clone(), WithdrawalReason::TakenBack);
        Ok(())
    }

    pub(super) fn reassign(
        &mut self,
        id: &InterruptId,
        to: HandedTo,
        text: Option<String>,
    ) -> Result<(), Rejection> {
        check_text(text.as_deref().unwrap_or_default())?;
        let interrupt = self.interrupt(id)?;
        let assignment = interrupt.check_reassign(&self.voter(), to)?;
        let problems = self.check_assignment(&assignment, "/assignment");
        if !problems.is_empty() {
            return Err(Rejection::Refused(Refusal::Invalid(problems)));
        }
        let assignment = assignment.started_by(self.run.starter().unwrap_or_default());
        if assignment != interrupt.assignment {
            self.assign(id, assignment, ReassignmentReason::Person, Content::maybe_text(text))?;
        }
        Ok(())
    }

    /// Assigns an interrupt to new approvers. Withdraws votes that were cast under the previous assignment.
    fn assign(
        &mut self,
        id: &InterruptId,
        assignment: Assignment,
        cause: ReassignmentReason,
        why: Content,
    ) -> Result<(), Rejection> {
        let assignment = Box::new(assignment);
        self.emit(Fact::InterruptReassigned { interrupt: id.clone(), assignment, cause }, why);
        let voted: BTreeSet<String> = self.interrupt(id)?.votes.into_iter().map(|vote| vote.by).collect();
        for by in voted {
            self.withdraw(id, by, WithdrawalReason::Reassigned);
        }
        Ok(())
    }

    pub(super) fn delegate(&mut self, id: &InterruptId, delegation: Delegation) -> Result<(), Rejection> {
        let interrupt = self.interrupt(id)?;
        interrupt.check_delegate(&self.voter(), &delegation)?;
        if !interrupt.delegations.contains(&delegation) {
            self.emit(Fact::InterruptDelegated { interrupt: id.clone(), delegation }, Content::none());
        }
        Ok(())
    }

    /// Withdraws the votes of people who have left the installation, and releases their claims on open interrupts. If
    /// the remaining approvers of an interrupt are too few, admins and operators become its approvers.
    pub(super) fn people_changed(&mut self) {
        let open: Vec<InterruptId> = self.run.open_interrupts().map(|(id, _)| id.clone()).collect();
        for id in open {
            let Ok(interrupt) = self.interrupt(&id) else { continue };
            // If a client holds the claim, the client may be running the call. Only the client itself can release such
            // a claim.
            let is_gone =
                |claim: &Claim| claim.holder.is_none() && self.cx.system.people.is_barred(&claim.by);
            if interrupt.claim.as_ref().is_some_and(is_gone) {
                self.emit(Fact::InterruptReleased { interrupt: id.clone() }, Content::none());
            }
            let instead = self.if_emptied(&interrupt.assignment);
            // `id` comes from the list of open interrupts, so the interrupt exists.
            let _ = match instead {
                Some(assignment) => {
                    self.assign(&id, assignment, ReassignmentReason::Emptied, Content::none())
                }
                None => self.unseat(&id),
            };
        }
    }

    /// Returns a new assignment of an interrupt if too few of its approvers remain. `None` if there are enough people.
    /// Stages with too few people are assigned to admins and operators. If admins and operators are too few as well,
    /// the number of required votes is lowered, and at last one person may vote in several stages. Other stages do not
    /// change.
    pub(super) fn if_emptied(&self, assignment: &Assignment) -> Option<Assignment> {
        let mut instead = assignment.clone();
        while let Some(lack) = instead.find_shortage(&self.cx.system.people, self.run.starter()) {
            let stage = instead.stages.get_mut(lack.stage)?;
            if !stage.is_open() {
                *stage = Stage { roles: Represented::Any, ..stage.handed_to(Vec::new(), Vec::new()) };
            } else if stage.required > 1 {
                stage.required -= 1;
            } else if instead.distinct && instead.stages.len() > 1 {
                instead.distinct = false;
            } else {
                break;
            }
        }
        (instead != *assignment).then_some(instead)
    }

    /// Returns the problems of the workflow's settings for approvers that the current people cannot fulfil, because
    /// people have left since the workflow was loaded.
    pub(super) fn check_gates(&self) -> Vec<Problem> {
        let starter = &self.cx.actor.id;
        let found = undecidable(&self.run.definition, &self.cx.system.people, Some(starter));
        found.into_iter().map(|message| Problem::new("/workflow", message)).collect()
    }

    /// Withdraws votes on an interrupt that are no longer valid. These are votes of people who have left, who may no
    /// longer decide in the stage of their vote, or who are needed in a later stage.
    pub(super) fn unseat(&mut self, id: &InterruptId) -> Result<(), Rejection> {
        for by in self.interrupt(id)?.unseated(&self.cx.system.people) {
            self.withdraw(id, by, WithdrawalReason::Left);
        }
        for by in self.interrupt(id)?.out_of_reach(&self.cx.system.people, self.run.starter()) {
            self.withdraw(id, by, WithdrawalReason::NeededElsewhere);
        }
        Ok(())
    }

    /// Withdraws the votes that were cast in the stage `stage` of an interrupt, after the approvers of the stage have
    /// changed.
    pub(super) fn withdraw_those_of(&mut self, interrupt: &Interrupt, stage: usize) {
        let of = interrupt.votes.iter().filter(|vote| vote.seat.stage == stage).map(|vote| &vote.by);
        for by in of.collect::<BTreeSet<_>>() {
            self.withdraw(&interrupt.opened.interrupt, by.clone(), WithdrawalReason::Reassigned);
        }
    }

    fn withdraw(&mut self, id: &InterruptId, by: String, cause: WithdrawalReason) {
        self.emit(Fact::VoteWithdrawn { interrupt: id.clone(), by, cause }, Content::none());
    }

    /// Returns the problems of an assignment of approvers: named people who are not allowed to decide, and stages that
    /// the current people are too few to complete. The JSON pointers of the problems start with `at`.
    pub(super) fn check_assignment(&self, assignment: &Assignment, at: &str) -> Vec<Problem> {
        let starter = self.run.starter().unwrap_or(&self.cx.actor.id);
        check(assignment, &self.cx.system.people, Some(starter), at)
    }

    /// Returns the problems of the reminders, escalations and expiry that an external agent's question ([`Ask`]) sets.
    pub(super) fn check_timing(&self, ask: &Ask) -> Vec<Problem> {
        let starter = self.run.starter().unwrap_or(&self.cx.actor.id);
        let (assignment, timing) = (ask.assignment.clone().started_by(starter), ask.timing.clone());
        let people = &self.cx.system.people;
        timing.started_by(starter).check(&assignment, ask.expires_in_ms, people, Some(starter), "")
    }
}

fn check(assignment: &Assignment, people: &People, starter: Option<&str>, at: &str) -> Vec<Problem> {
    let problems = assignment.check(&people.deciders(), at);
    if !problems.is_empty() {
        return problems;
    }
    // The person who starts the run is not known yet when a workflow is loaded.
    let lack = match starter {
        Some(starter) => assignment.clone().started_by(starter).find_shortage(people, Some(starter)),
        None if assignment.people_and_groups().0.contains(STARTER) => None,
        None => assignment.find_shortage(people, None),
    };
    let told = lack.map(|lack| {
        let stage =
            if assignment.stages.len() > 1 { format!("/stages/{}", lack.stage) } else { String::new() };
        Problem::new(format!("{at}{stage}"), lack.why)
    });
    told.into_iter().collect()
}

/// Returns the settings for approvers in a workflow that these people cannot fulfil, one line for each setting.
/// `starter` is the person who starts a run.
pub fn undecidable(definition: &Definition, people: &People, starter: Option<&str>) -> Vec<String> {
    let Definition { gates, phases, .. } = definition;
    let of_workflow = gates.kinds.iter().map(|(kind, gate)| (None, kind, gate));
    let of_phases =
        phases.iter().flat_map(|phase| phase.kinds.iter().map(move |(kind, gate)| (Some(phase), kind, gate)));
    let mut told = Vec::new();
    for (phase, kind, said) in of_workflow.chain(of_phases) {
        let place = phase.map(|phase| format!("phase `{}`: ", phase.id)).unwrap_or_default();
        let mut problems =
            said.assignment.as_ref().map(|it| check(it, people, starter, "")).unwrap_or_default();
        // If the phase sets no timing, the timing of the workflow applies.
        let gate = definition.gate(phase, *kind);
        let timing = gate.timing();
        if !timing.is_plain() {
            // The person who starts the run is not known yet when a workflow is loaded.
            let (assignment, timing) = match starter {
                Some(starter) => (gate.assigned().started_by(starter), timing.started_by(starter)),
                None => (gate.assigned(), timing),
            };
            problems.extend(timing.check(&assignment, gate.expires_in_ms, people, starter, ""));
        }
        let line = |problem: Problem| format!("{place}`gates.{}` {}", kind.as_str(), problem.message);
        told.extend(problems.into_iter().map(line));
    }
    told
}
