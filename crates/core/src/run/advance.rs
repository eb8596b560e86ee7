//! Events that follow from an input without any further input. After each input, the run emits such follow-up events
//! until no follow-up event is left. Examples:
//!
//! A phase starts when all phases that it needs have ended. A call to a tool that asks a person opens an interrupt. A
//! step ends when its last reply has arrived. If a limit is reached, a person is asked. A run completes when no work is
//! left. Follow-up events are stored in the same append as the events of the input itself.

use serde_json::{Value, json};

use super::draft::{Draft, Opening};
use super::{Call, CallEnd, CallState, Fact, Origin, StepRole};
use crate::asking::Deliver;
use crate::envelope::Content;
use crate::gate::Verdict;
use crate::interrupt::{About, Effect, Kind};
use crate::level::Level;
use crate::limits;
use crate::plan;
use crate::text::clip;
use crate::tool::{Opens, Runs};

impl Draft<'_> {
    /// Emits the follow-up events of the run until none is left. The loop always ends, because each round emits at
    /// least one event and a run can emit each kind of follow-up event only a limited number of times.
    pub(super) fn advance(&mut self) {
        if self.run.seq >= limits::EVENTS {
            let text = format!("the run has reached its limit of {} events", self.run.seq);
            self.fail_run("limit_events", text);
        }
        while !self.is_over() && !self.run.is_paused() && self.advance_once() {}
    }

    fn advance_once(&mut self) -> bool {
        if self.run.started.as_ref().is_none_or(|started| started.origin != Origin::Native) {
            return false;
        }
        if self.run.interrupted.is_some() {
            return self.end_what_stopped();
        }
        self.end_what_stopped()
            || self.record_assumptions()
            || self.open_asking_calls()
            || self.gate_client_calls()
            || self.advance_handoffs()
            || self.advance_called()
            || self.end_called_phases()
            || self.advance_steps()
            || self.advance_phases()
            || self.open_gathered_questions()
    }

    /// Opens the interrupt of the next tool call whose tool asks a person. Such calls need no inspection, so their
    /// interrupts open at once. Questions that the workflow holds back open later. A rule can refuse the call instead.
    /// Returns true if events were emitted.
    fn open_asking_calls(&mut self) -> bool {
        let kept_back = self.run.definition.asking.deliver == Deliver::PerStage;
        let due = self.run.calls.open().filter_map(|(id, call)| {
            let open = call.state == CallState::Proposed;
            match self.run.spec(&call.tool).map(|spec| &spec.runs) {
                Some(Runs::Opens(Opens::Question)) if kept_back => None,
                Some(Runs::Opens(opens)) if open => Some((id, call, *opens)),
                Some(
                    Runs::Opens(_)
                    | Runs::Here { .. }
                    | Runs::Client { .. }
                    | Runs::HandsOver(_)
                    | Runs::Begins(_)
                    | Runs::Records,
                )
                | None => None,
            }
        });
        // Interrupts open in the order in which their calls were proposed: `call_2` before `call_10`.
        let next = due.min_by_key(|(id, ..)| (id.len(), id.as_str()));
        let next = next.map(|(id, call, opens)| (id.clone(), call.clone(), opens));
        let Some((id, call, opens)) = next else { return false };
        self.ask_or_refuse(&id, &call, opens);
        true
    }

    pub(super) fn ask_or_refuse(&mut self, id: &str, call: &Call, opens: Opens) {
        if let Verdict::Forbid(reason) = self.run.vote(call, &self.session, self.cx.system, self.now()) {
            let text = format!("refused by policy: {}", reason.text);
            self.finish_call(id, CallEnd::Refused, Some("forbidden"), text);
            return;
        }
        match opens {
            Opens::Question => self.open_question(id, call),
            Opens::Plan => self.open_plan(id, call),
            Opens::Review => self.open_review(id, call),
        }
    }

    fn open_plan(&mut self, id: &str, call: &Call) {
        let Some(step) = self.run.steps.get(&call.step) else { return };
        // The plan may have any of the accepted forms. `check_own_plan` reports an invalid plan.
        let sent = plan::sent(&call.arguments).unwrap_or_else(|| call.arguments.clone());
        match step.role {
            StepRole::Planner => {
                let phase = step.phase.clone();
                self.plan_called(id, call, &phase, &sent);
                return;
            }
            // No agent would carry out a plan that a subtask makes. People are therefore not asked about such a plan.
            StepRole::Subtask => {
                let text = "You carry out one part of a plan, and cannot make a plan for this part. Do the \
                    part yourself, or say what is missing.";
                self.finish_call(id, CallEnd::Refused, Some("no_plan_here"), text);
                return;
            }
            StepRole::Improver
            | StepRole::Judge
            | StepRole::Maker
            | StepRole::Overseer
            | StepRole::Router
            | StepRole::Summariser => {
                let text = "You cannot make a plan in this step. Answer the request.";
                self.finish_call(id, CallEnd::Refused, Some("no_plan_here"), text);
                return;
            }
            StepRole::Worker => {}
        }
        let plan = match self.run.check_own_plan(&call.step, &sent, "") {
            Ok(plan) => plan,
            Err(problems) => {
                self.finish_call(
                    id,
                    CallEnd::Failed,
                    Some("invalid_plan"),
                    super::model::describe_problems(&problems),
                );
                return;
            }
        };
        let iteration = self.run.steps.get(&call.step).map_or(1, |step| step.plans + 1);
        self.emit(
            Fact::PlanProposed {
                call: id.to_owned(),
                step: call.step.clone(),
                iteration,
                subtasks: plan.subtasks.len(),
            },
            Content::data(json!(plan)),
        );
        if !self.run.asks_about_plans() {
            self.finish_call(id, CallEnd::Done, None, "The plan is recorded. Continue with it.");
            return;
        }
        let title = format!("Plan of {}", plan.subtask_count());
        let mut opening = Opening::new(Kind::PlanApproval, About::Call(id.to_owned()), title);
        opening.step = Some(call.step.clone());
        opening.message = clip(&self.said_with(call), 2_000);
        opening.risk = Level::Low;
        opening.reasons = self.run.reasons_about_plans();
        // At a mandatory checkpoint, a rejection fails the run unless the workflow sets a different effect
        // (contracts A3, A6).
        opening.reject = (!opening.reasons.is_empty()).then_some(Effect::FailRun);
        opening.payload = json!({ "plan": plan, "iteration": iteration, "call_id": id });
        opening.response_schema = self.run.spec(&call.tool).map(|spec| spec.parameters.clone());
        opening.supersedes.clone_from(&call.interrupt);
        self.open(opening);
    }

    fn open_review(&mut self, id: &str, call: &Call) {
        let title = call.argument("title").unwrap_or_default();
        let mut opening = Opening::new(Kind::Review, About::Call(id.to_owned()), format!("Release: {title}"));
        opening.step = Some(call.step.clone());
        opening.risk = match call.argument("risk_level") {
            Some("critical") => Level::Critical,
            Some("high") => Level::High,
            // An agent can raise the risk above medium, but not lower it.
            Some(_) | None => Level::Medium,
        };
        let mut payload = call.arguments.clone();
        payload["call_id"] = Value::String(id.to_owned());
        opening.payload = payload;
        opening.response_schema = Some(json!({ "type": "string", "minLength": 1 }));
        let interrupt = self.open(opening);
        if self.run.is_unreviewed() {
            self.release_unreviewed(&interrupt, id, call);
        }
    }
}
