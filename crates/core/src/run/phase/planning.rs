//! `planning`: a phase that rewords the task and drafts a plan. An agent judges the plan, and a person decides on it
//! (contracts A6, A8, A9, A13).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::draft::{Draft, Opening};
use super::super::{Call, CallEnd, Fact, Node, Run, Step, StepEnd, StepRole};
use crate::definition::{PlanGate, Planning};
use crate::envelope::Content;
use crate::gate::{Reason, checkpoint};
use crate::interrupt::{About, Effect, Kind};
use crate::level::Level;
use crate::plan::{self, Plan};
use crate::policy::Checkpoint;
use crate::schema::Problem;
use crate::text::clip;

fn planner(phase: &str) -> String {
    format!("{phase}/plan")
}

pub(in super::super) fn improver(phase: &str) -> String {
    format!("{phase}/improve")
}

impl Draft<'_> {
    pub(super) fn advance_planning(&mut self, phase: &str, planning: &Planning) -> bool {
        if let Some(agent) = &planning.improver {
            let improver = improver(phase);
            match self.run.steps.get(&improver).map(|step| step.end) {
                None => {
                    self.start_step(phase, &improver, agent, StepRole::Improver);
                    return true;
                }
                Some(None) => return false,
                Some(Some(_)) => {}
            }
        }
        let planner = planner(phase);
        match self.run.steps.get(&planner).map(|step| step.end) {
            None => self.start_step(phase, &planner, &planning.planner, StepRole::Planner),
            Some(None) => return false,
            Some(Some(end)) => self.end_planning(phase, planning, end),
        }
        true
    }

    /// Ends a planning phase after its planner has ended. The phase fails if it has no approved plan, because later
    /// phases then have no work (contracts A8, E22). The phase does not fail if the plan is optional, or if a person
    /// dropped the plan.
    fn end_planning(&mut self, phase: &str, planning: &Planning, end: StepEnd) {
        let has_plan = self.run.plans.get(phase).is_some_and(|plan| plan.settled.is_some());
        if has_plan || planning.optional || end == StepEnd::Skipped {
            self.end_phase(phase, end);
        } else {
            self.fail_phase(phase, "no_plan", format!("`{phase}` ended without a plan"));
        }
    }

    /// Handles a planner's reply, which may contain a plan. Returns true if events were emitted.
    pub(in super::super) fn plan_proposed(&mut self, id: &str, step: &Step) -> bool {
        let Some(planning) = self.run.planning(&step.phase).cloned() else { return false };
        let turn = self.run.plans.get(&step.phase).and_then(|plan| plan.turn);
        if turn != Some(step.turn) {
            if planning.optional {
                self.answered_instead(id, step);
            } else {
                self.read_plan(id, step);
            }
            return true;
        }
        if let Some(agent) = &planning.reviewer
            && let Some(more) = self.judged(id, agent, planning.reviews)
        {
            return more;
        }
        let shown = self.run.plans.get(&step.phase).map_or(0, |plan| plan.iterations);
        let asked_enough = self.run.settles(&step.phase) && shown >= planning.iterations;
        let asks = planning.always_asks
            || self.run.asks_about_plans()
            || !self.run.worries_about_plan(&step.phase).is_empty();
        if asks && !asked_enough {
            self.ask_about_plan(&step.phase, Some(id));
        } else {
            self.settle_plan(&step.phase);
        }
        true
    }

    /// Accepts an answer that the planner wrote instead of a plan as the output of the phase, if the plan is optional.
    fn answered_instead(&mut self, id: &str, step: &Step) {
        let text = self.run.final_word(step).unwrap_or_default();
        self.close_step(id, StepEnd::Completed, &text);
    }

    fn read_plan(&mut self, id: &str, step: &Step) {
        let text = self.run.final_word(step).unwrap_or_default();
        let candidates = plan::candidates(&text);
        let mut problem = None;
        for candidate in candidates.iter().rev() {
            match self.run.check_plan(&step.phase, candidate, "") {
                Ok(plan) => return self.draft_plan(&step.phase, Some(id), &plan),
                Err(problems) => problem = problem.or(Some(problems)),
            }
        }
        let problem = match problem {
            Some(problems) => format!("The plan cannot be carried out: {}.", join_problems(&problems)),
            None => "The reply contains no readable plan.".to_owned(),
        };
        let text = format!("{problem} {}", self.run.plan_form(&step.phase));
        self.plan_unusable(id, &step.phase, text, problem);
    }

    /// Tells the planner the reason why its plan is unusable. After too many unusable plans in a row, the step fails.
    fn plan_unusable(&mut self, step: &str, phase: &str, text: String, problem: String) {
        let fact = Fact::PlanUnusable { phase: phase.to_owned(), step: step.to_owned() };
        self.emit(fact, Content::text(text));
        let unusable = self.run.plans.get(phase).map_or(0, |plan| plan.unusable);
        if unusable >= self.run.limits(step).attempts {
            self.failed_for(step, "no_plan", problem, unusable);
        }
    }

    /// Handles a plan that a planner sends as a tool call instead of in its reply.
    pub(in super::super) fn plan_called(&mut self, id: &str, call: &Call, phase: &str, sent: &Value) {
        match self.run.check_plan(phase, sent, "") {
            Ok(plan) => {
                self.finish_call(id, CallEnd::Done, None, "The plan is proposed.");
                self.draft_plan(phase, Some(&call.step), &plan);
            }
            Err(problems) => {
                let text = super::super::model::describe_problems(&problems);
                self.finish_call(id, CallEnd::Failed, Some("invalid_plan"), text);
                let form = self.run.plan_form(phase);
                self.plan_unusable(&call.step, phase, form, join_problems(&problems));
            }
        }
    }

    pub(in super::super) fn draft_plan(&mut self, phase: &str, step: Option<&str>, plan: &Plan) {
        let node = |subtask: &plan::Subtask| Node {
            id: subtask.id.clone(),
            agent: subtask.agent.clone(),
            depends_on: subtask.depends_on.clone(),
        };
        let fact = Fact::PlanDrafted {
            phase: phase.to_owned(),
            version: self.run.plans.get(phase).map_or(0, super::super::Planned::version) + 1,
            step: step.map(str::to_owned),
            subtasks: plan.subtasks.iter().map(node).collect(),
        };
        self.emit(fact, Content::data(json!(plan)));
    }

    /// Asks a person about the last version of a phase's plan. `step` is `None` if agents already carry out an earlier
    /// version of the plan.
    pub(in super::super) fn ask_about_plan(&mut self, phase: &str, step: Option<&str>) {
        let Some(planned) = self.run.plans.get(phase).cloned() else { return };
        let Some(plan) = planned.versions.last() else { return };
        let title = format!("Plan of {}", plan.subtask_count());
        let mut opening = Opening::new(Kind::PlanApproval, About::Plan(phase.to_owned()), title);
        let said = step.and_then(|step| self.run.steps.get(step)).and_then(|step| self.run.last_turn(step));
        opening.message = clip(&plan::around(said.map_or("", |(text, _)| text)), 2_000);
        opening.step = step.map(str::to_owned);
        let worries = self.run.worries_about_plan(phase);
        opening.risk = if worries.is_empty() { Level::Low } else { Level::Medium };
        opening.reasons = self.run.reasons_about_plans();
        opening.reasons.extend(worries);
        opening.payload = json!({
            "plan": plan,
            "phase": phase,
            "version": planned.version(),
            "iteration": planned.iterations + 1,
        });
        opening.response_schema = Some(plan::schema());
        if step.is_none() {
            // A person wrote this version, and the step of the planner has ended. No planner can therefore revise the
            // plan.
            opening.only = &["approve", "edit", "reject"];
            // After a rejection, agents continue with the current plan.
            opening.always_rejects = Some(Effect::DropPlan);
        } else {
            opening.payload["iterations"] =
                json!(self.run.planning(phase).map(|planning| planning.iterations));
            // Without a plan no work can continue, so a rejection fails the run unless the workflow sets a different
            // effect. If a call began the phase, the run continues and the calling model gets the rejection.
            let is_called = self.run.called.contains_key(phase);
            opening.reject = Some(if is_called { Effect::DropPlan } else { Effect::FailRun });
        }
        self.open(opening);
    }

    /// Marks the last version of a phase's plan as final. Agents then carry out this version.
    pub(in super::super) fn settle_plan(&mut self, phase: &str) {
        let Some(planned) = self.run.plans.get(phase) else { return };
        let version = planned.version();
        self.emit(Fact::PlanSettled { phase: phase.to_owned(), version }, Content::none());
        self.end_planner(phase, StepEnd::Completed);
    }

    pub(in super::super) fn end_planner(&mut self, phase: &str, end: StepEnd) {
        let planner = planner(phase);
        if self.run.steps.get(&planner).is_some_and(|step| step.end.is_none()) {
            let text = self.run.plans.get(phase).and_then(|plan| plan.settled()).map(|plan| plan.text());
            self.close_step(&planner, end, &text.unwrap_or_default());
        }
    }
}

impl Run {
    /// Returns the answer that the planner of a phase wrote instead of a plan. `None` if the planner made a plan.
    pub(super) fn answer(&self, phase: &str) -> Option<String> {
        let step = self.steps.get(&planner(phase)).filter(|step| step.end == Some(StepEnd::Completed))?;
        step.output.as_deref().map(str::to_owned)
    }

    pub(in super::super) fn planning(&self, phase: &str) -> Option<&Planning> {
        self.phase(phase)?.kind.planning()
    }

    /// Returns true if a person who has seen `iterations` plans of a phase may ask for another plan.
    pub(in super::super) fn may_replan(&self, phase: &str, iterations: u32) -> bool {
        self.settles(phase) || self.planning(phase).is_some_and(|planning| iterations < planning.iterations)
    }

    /// Returns true if the next plan of a phase is carried out without an approval after a person has seen the maximum
    /// number of plans. False if the run, a mandatory checkpoint (contract A13) or smart approval requires that a
    /// person decides.
    pub(in super::super) fn settles(&self, phase: &str) -> bool {
        let must =
            self.config().is_some_and(|config| config.gates.plan) || !self.reasons_about_plans().is_empty();
        let must = must || !self.worries_about_plan(phase).is_empty();
        !must && self.planning(phase).is_some_and(|planning| planning.settles)
    }

    /// Returns true if a person must decide on each plan. The workflow, the run, and a mandatory checkpoint can each
    /// require the decision. One interrupt per plan is enough, even if several of them require it.
    pub(in super::super) fn asks_about_plans(&self) -> bool {
        self.config().is_some_and(|config| config.gates.plan)
            || self.definition.gates.plan == PlanGate::Ask
            || !self.reasons_about_plans().is_empty()
    }

    pub(in super::super) fn reasons_about_plans(&self) -> Vec<Reason> {
        let must = self.mandatory().contains(&Checkpoint::AfterPlanning);
        must.then(|| checkpoint::reason(Checkpoint::AfterPlanning)).into_iter().collect()
    }

    /// Checks the agents and the size of a plan for the planning phase `phase`. Subtasks without an agent get the
    /// default agent, so that the person who decides on the plan sees the agent of each subtask.
    pub(in super::super) fn check_plan(
        &self,
        phase: &str,
        value: &Value,
        base: &str,
    ) -> Result<Plan, Vec<Problem>> {
        let planning = self.planning(phase);
        let limit = self.phase(phase).map_or(0, |phase| phase.limits.plan_steps);
        let named = planning.into_iter().flat_map(|planning| &planning.agents);
        // A plan may also name the default agents of the phases that carry out the plan.
        let usual: BTreeSet<&String> = self.carriers(phase).map(|(_, control)| &control.agent).collect();
        let agents: BTreeSet<&str> = named.chain(usual.iter().copied()).map(String::as_str).collect();
        let mut plan = Plan::check(value, &agents, limit, base)?;
        // If several phases with different default agents carry out the plan, subtasks without an agent get no default
        // agent.
        if usual.len() == 1 {
            for subtask in &mut plan.subtasks {
                subtask.agent = subtask.agent.take().or_else(|| usual.first().map(|agent| (*agent).clone()));
            }
        }
        Ok(plan)
    }

    /// Checks a plan that an agent makes for its current step. The plan can name only agents to which the step can be
    /// handed over.
    pub(in super::super) fn check_own_plan(
        &self,
        step: &str,
        value: &Value,
        base: &str,
    ) -> Result<Plan, Vec<Problem>> {
        let agents = self.definition.reached_by(self.steps.get(step).map(|step| step.agent.as_str()));
        Plan::check(value, &agents, self.limits(step).plan_steps, base)
    }

    /// Returns the text that explains the format of a plan to an agent that makes a plan.
    pub(in super::super) fn plan_form(&self, phase: &str) -> String {
        let agents = self.planning(phase).map(|planning| planning.agents.join(", ")).unwrap_or_default();
        let limit = self.phase(phase).map_or(0, |phase| phase.limits.plan_steps);
        format!(
            "Answer with a plan as JSON: {{\"subtasks\": [{{\"id\": \"s1\", \"description\": \"…\", \
             \"agent\": \"…\", \"depends_on\": []}}]}}. At most {limit} subtasks. Agents: {agents}."
        )
    }
}

fn join_problems(problems: &[Problem]) -> String {
    problems
        .iter()
        .map(|problem| format!("{} {}", problem.pointer, problem.message))
        .collect::<Vec<_>>()
        .join("; ")
}
