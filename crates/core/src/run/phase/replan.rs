//! Edits of a plan after its approval. While agents carry out the plan, subtasks that have started cannot change. At a
//! checkpoint before the first subtask starts, a person can replace the whole plan.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::draft::Draft;
use super::super::input::Rejection;
use super::super::{Fact, Planned, Run, Step, StepEnd};
use crate::definition::{Control, Phase};
use crate::envelope::Content;
use crate::id::InterruptId;
use crate::interrupt::{About, Cause, Outcome};
use crate::plan::{self, Plan, Subtask};
use crate::schema::Problem;

impl Draft<'_> {
    /// Replaces the subtasks of a phase's plan that have not started. The new version is approved in the same way as
    /// the first version.
    pub(in super::super) fn replan(
        &mut self,
        phase: &str,
        version: Option<usize>,
        plan: &Value,
    ) -> Result<(), Rejection> {
        let Some(planned) = self.run.plans.get(phase) else { return Err(Rejection::NoPlan) };
        if planned.held || self.run.is_asked_about(phase) {
            return Err(Rejection::PlanHeld { version: planned.version() });
        }
        if planned.settled.is_none() || !self.run.is_carried_out(phase) {
            return Err(Rejection::NoPlan);
        }
        if let Some(found) = planned.settled.filter(|settled| version.is_some_and(|of| of != *settled)) {
            return Err(Rejection::StalePlan { found });
        }
        let plan = self.run.check_new_plan(phase, plan, "/plan").map_err(Rejection::Invalid)?;
        self.withdraw_held(phase, &plan);
        self.draft_plan(phase, None, &plan);
        if self.run.asks_about_plans() {
            self.ask_about_plan(phase, None);
        } else {
            self.settle_plan(phase);
        }
        Ok(())
    }

    /// Withdraws the steps of subtasks that the new plan of a phase drops or changes, if the steps have not begun. When
    /// the new plan is final, changed subtasks get new steps, and a person is asked about these steps.
    pub(in super::super) fn withdraw_held(&mut self, phase: &str, plan: &Plan) {
        let held: Vec<(String, InterruptId)> = self
            .run
            .changed_steps(phase, plan)
            .filter_map(|(_, id, step)| Some((id.to_owned(), self.run.held_before(id, step)?.clone())))
            .collect();
        for (step, interrupt) in held {
            self.resolve(&interrupt, Outcome::Superseded, None, Cause::Superseded);
            self.emit(Fact::StepWithdrawn { step }, Content::none());
        }
    }

    /// Replaces the plan with a person's edit at a checkpoint before the plan is carried out. Returns true if the edit
    /// is a plan.
    pub(in super::super) fn replace_plan(&mut self, checkpoint: &str, edit: &Value) -> bool {
        let found = self.run.plan_at(checkpoint, edit);
        let Some((phase, plan)) = found.map(|(phase, plan)| (phase.to_owned(), plan)) else { return false };
        // The edit was checked before the decision was recorded.
        match self.run.check_plan(&phase, &plan, "/edit") {
            Ok(plan) => {
                self.draft_plan(&phase, None, &plan);
                self.settle_plan(&phase);
            }
            Err(_) => self.fail_run("internal", "the plan in the edit is not valid"),
        }
        true
    }
}

impl Run {
    /// Returns the plan that a person wrote as the edit of a checkpoint, and the planning phase whose plan the edit
    /// replaces. An edit can only replace a plan that was approved before the checkpoint and that no phase has begun to
    /// carry out. There must be exactly one such plan. A plan in the usual JSON format is returned unchanged, so that
    /// problems are reported at the places where the person wrote them. `None` if the edit is not a plan. Such an edit
    /// is a message to later agents.
    pub(in super::super) fn plan_at(&self, checkpoint: &str, edit: &Value) -> Option<(&str, Value)> {
        let is_native = edit.get("subtasks").is_some_and(Value::is_array);
        let plan = if is_native { edit.clone() } else { plan::sent(edit)? };
        let before = self.before(checkpoint);
        let mut ahead = self.plans.iter().filter(|(phase, planned)| {
            let mut carriers = self.carriers(phase).map(|(carrier, _)| carrier).peekable();
            planned.settled.is_some()
                && before.contains(phase.as_str())
                && carriers.peek().is_some()
                && carriers.all(|carrier| !self.phases.contains_key(&carrier.id))
        });
        let (phase, _) = ahead.next()?;
        ahead.next().is_none().then_some((phase, plan))
    }

    /// Returns the phases that must end before the phase `phase` can start.
    fn before(&self, phase: &str) -> BTreeSet<&str> {
        let needs = |id: &str| self.phase(id).into_iter().flat_map(|phase| &phase.needs).map(String::as_str);
        let (mut found, mut next) = (BTreeSet::new(), needs(phase).collect::<Vec<_>>());
        while let Some(id) = next.pop() {
            if found.insert(id) {
                next.extend(needs(id));
            }
        }
        found
    }

    /// Returns the phases that carry out the plan of a planning phase.
    pub(super) fn carriers(&self, planning: &str) -> impl Iterator<Item = (&Phase, &Control)> {
        self.all_phases()
            .filter_map(|phase| Some((phase, phase.kind.control()?)))
            .filter(move |(_, control)| control.plan == planning)
    }

    fn is_asked_about(&self, planning: &str) -> bool {
        let about = About::Plan(planning.to_owned());
        self.open_interrupts().any(|(_, interrupt)| interrupt.opened.about == about)
    }

    /// Returns the steps of subtasks that a new plan of the phase drops or changes.
    fn changed_steps<'a>(
        &'a self,
        phase: &'a str,
        plan: &'a Plan,
    ) -> impl Iterator<Item = (&'a Subtask, &'a str, &'a Step)> {
        let settled = self.plans.get(phase).and_then(Planned::settled);
        let subtasks = settled.map(|plan| plan.subtasks.as_slice()).unwrap_or_default();
        self.carriers(phase).flat_map(move |(carrier, control)| {
            subtasks.iter().filter_map(move |old| {
                let (id, step) = self.step_with_id(carrier, &old.id)?;
                let stays = plan.subtask(&old.id).is_some_and(|new| is_same(old, new, &control.agent));
                (!stays).then_some((old, id, step))
            })
        })
    }

    /// Returns the open interrupt that asks a person if the step can begin.
    fn held_before<'a>(&'a self, id: &str, step: &'a Step) -> Option<&'a InterruptId> {
        let held = step.blocked.as_ref()?;
        let interrupt = self.interrupts.get(held).filter(|interrupt| interrupt.is_open())?;
        (interrupt.opened.about == About::BeforeStep(id.to_owned())).then_some(held)
    }

    fn is_carried_out(&self, planning: &str) -> bool {
        self.carriers(planning).any(|(phase, _)| self.is_open(phase))
    }

    /// Checks a new version of a phase's plan like the first version ([`Run::check_plan`]). Also checks that subtasks
    /// that have started do not change.
    pub(in super::super) fn check_new_plan(
        &self,
        phase: &str,
        edit: &Value,
        base: &str,
    ) -> Result<Plan, Vec<Problem>> {
        let plan = self.check_plan(phase, edit, base)?;
        if self.plans.get(phase).and_then(Planned::settled).is_none() {
            return Ok(plan);
        }
        let mut problems: Vec<String> = self
            .carriers(phase)
            .filter_map(|(carrier, control)| {
                let only = control.only?;
                Some(format!(
                    "`{}` carries out only subtask {only}, so the plan cannot be \
                    changed",
                    carrier.id
                ))
            })
            .collect();
        for (old, id, step) in self.changed_steps(phase, &plan) {
            match step.end {
                Some(StepEnd::Skipped) => {
                    problems.push(format!("`{}` was skipped; to plan it again, give it another id", old.id));
                }
                None if self.held_before(id, step).is_some() => {}
                Some(StepEnd::Completed | StepEnd::Failed) | None => {
                    problems.push(format!("`{}` has started and cannot be changed", old.id));
                }
            }
        }
        problems.dedup();
        if problems.is_empty() {
            return Ok(plan);
        }
        let at = format!("{base}/subtasks");
        Err(problems.into_iter().map(|message| Problem::new(&at, message)).collect())
    }
}

/// Returns true if both subtasks describe the same work for the same agent. A subtask without an agent is equal to a
/// subtask that names the default agent.
fn is_same(old: &Subtask, new: &Subtask, usual: &String) -> bool {
    old.description == new.description
        && old.depends_on == new.depends_on
        && old.agent.as_ref().unwrap_or(usual) == new.agent.as_ref().unwrap_or(usual)
}
