//! Steps that a person skips, and steps whose result a person supplies.

use super::draft::Draft;
use super::{Run, StepEnd, StepRole};
use crate::interrupt::{About, Decision, Effect, Interrupt, Offer};
use crate::plan::{self, Plan};
use crate::schema::Problem;

impl Draft<'_> {
    /// Skips a step without a result. The person's reason is added to the requests of later steps. If the step must
    /// produce a plan, the phase fails (contract A8).
    pub(super) fn skip_step(&mut self, interrupt: &Interrupt, step: &str, text: &str, why: &str) {
        if self.run.must_plan(step) {
            let text = format!("`{step}` was skipped, so there is no plan{why}");
            return self.fail_phase(&self.run.phase_of_step(step), "no_plan", text);
        }
        self.close_step(step, StepEnd::Skipped, text);
        // Requests of later steps contain the outcome of each subtask in any case, so no note is needed.
        let is_subtask = self.run.steps.get(step).is_some_and(|step| step.role == StepRole::Subtask);
        if !is_subtask && !text.trim().is_empty() {
            self.guide(interrupt, step, &format!("It was skipped: {}", text.trim()));
        }
    }

    /// Accepts a person's text as the result of a step. The result of a planner is a plan, and the same checks apply as
    /// for every plan that a person writes.
    pub(super) fn give_result(&mut self, step: &str, text: &str) {
        let planner = self.run.steps.get(step).filter(|step| step.role == StepRole::Planner);
        let Some(phase) = planner.map(|step| step.phase.clone()) else {
            return self.close_step(step, StepEnd::Completed, text);
        };
        let must_plan = self.run.must_plan(step);
        // An answer in prose may contain a list that looks like a plan.
        let may_be_one = must_plan || text.trim_start().starts_with(['{', '[']);
        match self.run.plan_in(&phase, text) {
            Ok(plan) if may_be_one => {
                self.draft_plan(&phase, None, &plan);
                if self.run.asks_about_plans() {
                    self.ask_about_plan(&phase, Some(step));
                } else {
                    self.settle_plan(&phase);
                }
            }
            // Texts from a person were checked earlier. This branch is therefore reached only if the interrupt expired
            // without a text.
            Err(_) if must_plan => {
                let text = format!("`{step}` failed, and nobody gave a plan");
                self.fail_phase(&phase, "no_plan", text);
            }
            Ok(_) | Err(_) => self.close_step(step, StepEnd::Completed, text),
        }
    }
}

impl Run {
    /// Checks that the result that a person supplies for a planner contains a plan. The plan can be in any form in
    /// which a planner may write plans.
    pub(super) fn check_given(&self, interrupt: &Interrupt, offer: &Offer, given: &Decision) -> Vec<Problem> {
        let About::Failure(id) = &interrupt.opened.about else { return Vec::new() };
        let must = offer.effect == Effect::Respond && self.must_plan(id);
        let Some(step) = self.steps.get(id).filter(|_| must) else { return Vec::new() };
        self.plan_in(&step.phase, given.text.as_deref().unwrap_or_default()).err().unwrap_or_default()
    }

    pub(super) fn must_plan(&self, step: &str) -> bool {
        let planner = self.steps.get(step).filter(|step| step.role == StepRole::Planner);
        planner.and_then(|step| self.planning(&step.phase)).is_some_and(|planning| !planning.optional)
    }

    fn plan_in(&self, phase: &str, text: &str) -> Result<Plan, Vec<Problem>> {
        let mut problems = None;
        for candidate in plan::candidates(text).iter().rev() {
            match self.check_plan(phase, candidate, "/text") {
                Ok(plan) => return Ok(plan),
                Err(found) => problems = problems.or(Some(found)),
            }
        }
        Err(problems.unwrap_or_else(|| vec![Problem::new("/text", "contains no readable plan")]))
    }
}
