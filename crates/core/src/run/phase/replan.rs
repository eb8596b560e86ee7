//! A plan that is edited while it is carried out: what has started stays as it is.

use serde_json::Value;

use super::super::draft::Draft;
use super::super::input::Rejection;
use super::super::{Planned, Run};
use crate::definition::Phase;
use crate::plan::Plan;
use crate::schema::Problem;

impl Draft<'_> {
    /// A person writes the part anew that has not started. It is decided on as the first one was.
    pub(in super::super) fn replan(
        &mut self,
        phase: &str,
        version: Option<usize>,
        plan: &Value,
    ) -> Result<(), Rejection> {
        let planned = self.run.plans.get(phase).filter(|planned| planned.settled.is_some());
        let Some(planned) = planned.filter(|_| self.run.carrying_out(phase).is_some()) else {
            return Err(Rejection::NoPlan);
        };
        if planned.held || version.is_some_and(|version| planned.settled != Some(version)) {
            return Err(Rejection::StalePlan { found: planned.version() });
        }
        let plan = self.run.check_new_plan(phase, plan).map_err(Rejection::Invalid)?;
        self.draft_plan(phase, None, &plan);
        if self.run.asks_about_plans() {
            self.ask_about_plan(phase, None);
        } else {
            self.settle_plan(phase);
        }
        Ok(())
    }
}

impl Run {
    /// The phase at work that carries out the plan of another one.
    fn carrying_out(&self, planning: &str) -> Option<&Phase> {
        self.definition.phases.iter().find(|phase| {
            phase.kind.control().is_some_and(|control| control.plan == planning)
                && !matches!(self.phases.get(&phase.id), Some(Some(_)))
        })
    }

    /// As [`Run::check_plan`]; and what is carried out already stays as it is.
    pub(in super::super) fn check_new_plan(&self, phase: &str, edit: &Value) -> Result<Plan, Vec<Problem>> {
        let plan = self.check_plan(phase, edit, "/edit")?;
        let Some(settled) = self.plans.get(phase).and_then(Planned::settled) else { return Ok(plan) };
        let Some(control) = self.carrying_out(phase) else { return Ok(plan) };
        let changed: Vec<Problem> = settled
            .subtasks
            .iter()
            .filter(|old| self.subtask_step(control, &old.id).is_some())
            .filter(|old| plan.subtask(&old.id) != Some(old))
            .map(|old| {
                let message = format!("`{}` has started: it stays as it is", old.id);
                Problem::new("/edit/subtasks", message)
            })
            .collect();
        if changed.is_empty() { Ok(plan) } else { Err(changed) }
    }
}
