//! Lifecycle of a step: the turns of one agent, the gates before and after the step, and the end of the step.

use serde_json::json;

use super::draft::{Draft, Opening};
use super::{Call, CallEnd, CallState, Entry, Fact, ModelCall, Run, Step, StepEnd, StepRole};
use crate::definition::{Limits, PhaseKind, StepGates};
use crate::envelope::Content;
use crate::interrupt::{About, Cause, Kind, Outcome};
use crate::json;
use crate::level::Level;
use crate::limits;
use crate::text::clip;

/// Failure because of which a step cannot continue without help.
struct Failure {
    reason: &'static str,
    text: String,
    /// Number of failures that the failure of the step reports: consecutive failed model calls, consecutive unusable
    /// plans, or the failed calls of one reply.
    failures: u32,
}

impl Draft<'_> {
    pub(super) fn start_step(&mut self, phase: &str, step: &str, agent: &str, role: StepRole) {
        self.emit(
            Fact::StepStarted {
                step: step.to_owned(),
                phase: phase.to_owned(),
                agent: agent.to_owned(),
                role,
                subtask: self.run.part_to_carry_out(phase, step),
            },
            Content::none(),
        );
        let is_one_call = self.run.steps.get(step).is_some_and(|step| self.run.is_one_call(step));
        if self.run.gates(step).before_step && !is_one_call {
            let title = format!("About to start step `{step}` with agent `{agent}`");
            let mut opening = Opening::new(Kind::Checkpoint, About::BeforeStep(step.to_owned()), title);
            opening.payload =
                json!({ "position": "before_step", "agent": agent, "input": self.run.work_of(step) });
            opening.step = Some(step.to_owned());
            opening.only = &["approve", "edit", "skip", "reject"];
            opening.response_schema = Some(json!({ "type": "string", "minLength": 1 }));
            self.open(opening);
        }
    }

    pub(super) fn advance_steps(&mut self) -> bool {
        let open: Vec<String> = self
            .run
            .steps
            .open()
            .filter(|(_, step)| step.blocked.is_none())
            .map(|(id, _)| id.clone())
            .collect();
        open.iter().any(|id| self.advance_step(id))
    }

    fn advance_step(&mut self, id: &str) -> bool {
        let Some(step) = self.run.steps.get(id).cloned() else { return false };
        if let Some(end) = step.closing {
            return self.advance_closing(id, &step, end);
        }
        if step.role == StepRole::Overseer {
            return self.advance_overseer(id, &step);
        }
        if step.role == StepRole::Router {
            return self.advance_router(id, &step);
        }
        if step.role == StepRole::Summariser {
            return self.advance_summariser(id, &step);
        }
        if step.crashes >= limits::CRASHES {
            self.step_failed(id);
            return true;
        }
        if self.run.is_one_call(&step) {
            return self.advance_call(id);
        }
        if let Some(failure) = self.run.failed_call(id, &step) {
            self.ask_about_failure(id, failure);
            return true;
        }
        if self.run.rests(&step) {
            return self.step_rests(id, &step);
        }
        if self.run.wants_model(id)
            && let Some((limit, value)) = self.run.limit_reached(id, &step)
        {
            self.limit(id, limit, value);
            return true;
        }
        self.run.wants_model(id) && self.make_room(id)
    }

    /// Continues to end a step that was closed while work was running. If this work ends without a result, the work is
    /// not started again. Returns true if events were emitted.
    fn advance_closing(&mut self, id: &str, step: &Step, end: StepEnd) -> bool {
        let before = self.written();
        if self.settle(id) {
            self.end_step(id, end, step.output.as_deref().unwrap_or_default());
        }
        self.written() > before
    }

    /// Handles the final text of a step's agent. A person decides on the text if there is a gate after the step, or if
    /// the agent says that it is uncertain. In all other cases, the text ends the step.
    fn step_answered(&mut self, id: &str, step: &Step, text: &str) {
        let worry = self.run.worry_about_result(step, text);
        if self.run.asks_after(id, step) || worry.is_some() {
            let may_redo = step.redos < self.run.limits(id).redos;
            let title = format!("Step `{id}` is done");
            let mut opening = Opening::new(Kind::Checkpoint, About::AfterStep(id.to_owned()), title);
            opening.step = Some(id.to_owned());
            opening.only = if may_redo { &["continue", "redo", "abort"] } else { &["continue", "abort"] };
            opening.payload = json!({ "position": "after_step", "output": text, "redos": step.redos });
            opening.risk = if worry.is_some() { Level::Medium } else { Level::Low };
            opening.reasons = worry.into_iter().collect();
            self.open(opening);
        } else {
            self.close_step(id, StepEnd::Completed, text);
        }
    }

    /// Closes a step. If no work of the step is running, the step ends at once. If work is running, the step ends after
    /// this work, because the outcome of a started tool call must become known first.
    pub(super) fn close_step(&mut self, id: &str, end: StepEnd, text: &str) {
        if self.settle(id) {
            self.end_step(id, end, text);
        } else {
            self.emit(Fact::StepClosed { step: id.to_owned(), end }, Content::text(text));
        }
    }

    /// Skips the step's tool calls that have not started, and withdraws the interrupts of these calls. Returns true if
    /// no work of the step is running.
    fn settle(&mut self, id: &str) -> bool {
        let calls: Vec<(String, CallState)> = self
            .run
            .calls
            .open()
            .filter(|(_, call)| call.step == id)
            .map(|(id, call)| (id.clone(), call.state.clone()))
            .collect();
        let mut settled = true;
        for (call, state) in calls {
            match state {
                CallState::Gated(interrupt) => {
                    self.resolve(&interrupt, Outcome::Superseded, None, Cause::Superseded);
                    self.skip_rest(&call);
                }
                CallState::Proposed | CallState::Authorised => self.skip_rest(&call),
                CallState::Started { .. } | CallState::WithClient(_) | CallState::Doubted(_) => {
                    settled = false;
                }
                CallState::Ended(_) => {}
            }
        }
        if let Some(blocker) = self.run.steps.get(id).and_then(|step| step.blocked.clone()) {
            self.resolve(&blocker, Outcome::Superseded, None, Cause::Superseded);
        }
        settled
    }

    fn skip_rest(&mut self, call: &str) {
        self.finish_call(call, CallEnd::Skipped, Some("step_ended"), "not run: the step has ended");
    }

    fn end_step(&mut self, id: &str, end: StepEnd, text: &str) {
        self.emit(Fact::StepEnded { step: id.to_owned(), end }, Content::text(text));
        // A copilot phase does not end with a step, because the next round or the person's turn follows the step.
        let only =
            self.run.steps.get(id).filter(|step| step.role == StepRole::Worker && step.round.is_none());
        if let Some(phase) = only.map(|step| step.phase.clone()) {
            self.end_phase(&phase, end);
        }
    }

    /// Handles a limit that a step has reached. For the limits on rounds and tool calls, up to `continues` new budgets
    /// are given without asking. After that, a person is asked for a new budget. If agents are not allowed to ask
    /// people, the phase fails with the name of the limit as the reason.
    fn limit(&mut self, id: &str, limit: &str, value: u64) {
        self.emit(
            Fact::LimitReached { step: id.to_owned(), limit: limit.to_owned(), value },
            Content::none(),
        );
        let is_budget = ["rounds", "tool_calls"].contains(&limit);
        let (before, unasked) =
            self.run.steps.get(id).map_or((0, 0), |step| (step.continued, step.continued_unasked));
        if is_budget && unasked < self.run.limits(id).continues {
            self.emit(Fact::LimitLifted { step: id.to_owned(), unasked: true }, Content::none());
            return;
        }
        let amount = self.run.limit_amount(limit, value);
        if !self.run.definition.asking.enabled {
            let text = format!("the limit `{limit}` of {amount} is reached");
            self.fail_phase(&self.run.phase_of_step(id), &format!("limit_{limit}"), text);
            return;
        }
        let counted = limit.replace('_', " ");
        let counted = if value == 1 { counted.trim_end_matches('s') } else { &counted };
        let title = format!("Step `{id}` has reached its limit of {amount} {counted}");
        let mut opening = Opening::new(Kind::Continuation, About::Limit(id.to_owned()), title);
        opening.step = Some(id.to_owned());
        let (spent, words) = self.run.spent_so_far(self.now());
        opening.message = words;
        opening.payload = json!({ "limit": limit, "value": value, "spent": spent, "continuations": before });
        self.open(opening);
    }

    /// Handles a step whose model cannot be reached, or during which the server process crashed repeatedly. A person is
    /// asked, or the step fails.
    pub(super) fn step_failed(&mut self, id: &str) {
        let Some(step) = self.run.steps.get(id).cloned() else { return };
        let (reason, text) = match &step.last_failure {
            Some((_, text)) if step.failures > 0 => ("model_failed", text.to_string()),
            Some(_) | None => ("crashes", format!("the process stopped {} times in this step", step.crashes)),
        };
        self.failed_for(id, reason, text, step.failures);
    }

    /// Handles a step that cannot continue. A step that only helps another step is replaced: a person or rules decide,
    /// or the other step continues without a summary. For any other step, a person is asked if `on_error` is set. If
    /// `on_error` is not set, a subtask fails alone, and any other step fails its phase.
    pub(super) fn failed_for(&mut self, id: &str, reason: &'static str, text: String, failures: u32) {
        let is = |role: StepRole| self.run.steps.get(id).is_some_and(|step| step.role == role);
        if is(StepRole::Overseer) {
            self.unheard(id, &text);
            return;
        }
        if is(StepRole::Router) {
            self.router_unheard(id, &text);
            return;
        }
        if is(StepRole::Summariser) {
            self.unsummarised(id, &text);
            return;
        }
        let is_subtask = is(StepRole::Subtask);
        if self.run.gates(id).on_error {
            self.ask_about_failure(id, Failure { reason, text, failures });
        } else if is_subtask {
            self.close_step(id, StepEnd::Failed, &text);
        } else {
            self.fail_phase(&self.run.phase_of_step(id), reason, text);
        }
    }

    fn ask_about_failure(&mut self, id: &str, failure: Failure) {
        let Failure { reason, text, failures } = failure;
        let Some(step) = self.run.steps.get(id) else { return };
        let kind = step.last_failure.as_ref().map(|(kind, _)| *kind);
        let attempts = step.retries + 1;
        let title = format!("Step `{id}` failed");
        let mut opening = Opening::new(Kind::Error, About::Failure(id.to_owned()), title);
        opening.step = Some(id.to_owned());
        let (spent, words) = self.run.spent_so_far(self.now());
        opening.message = format!("{text}\n\n{words}");
        opening.risk = Level::Medium;
        opening.payload = json!({
            "reason": reason,
            "error": text,
            "kind": kind.filter(|_| reason == "model_failed" || reason == "crashes"),
            "attempts": attempts,
            "failures": failures,
            "spent": spent,
        });
        if attempts >= self.run.limits(id).attempts {
            opening.only = &["skip", "hand_over", "abort"];
        }
        self.open(opening);
    }

    /// Handles the final text of a step's agent, or its plan. A person decides on a plan, and another agent judges
    /// ideas. Other texts are the output of the step.
    fn step_rests(&mut self, id: &str, step: &Step) -> bool {
        if let Some((flaw, about)) = self.run.flaw(id, step)
            && self.end_refused(id, step, flaw, &about)
        {
            return true;
        }
        match step.role {
            StepRole::Planner => self.plan_proposed(id, step),
            StepRole::Maker => self.ideas_made(id, step),
            StepRole::Worker
            | StepRole::Improver
            | StepRole::Judge
            | StepRole::Subtask
            | StepRole::Overseer
            | StepRole::Router
            | StepRole::Summariser => {
                let text = self.run.final_word(step).unwrap_or_default();
                self.step_answered(id, step, &text);
                true
            }
        }
    }
}

impl Run {
    pub(super) fn phase_of_step(&self, step: &str) -> String {
        self.steps.get(step).map(|step| step.phase.clone()).unwrap_or_default()
    }

    /// Returns the limits of the phase to which the step `step` belongs.
    pub(super) fn limits(&self, step: &str) -> Limits {
        self.steps
            .get(step)
            .and_then(|step| self.phase(&step.phase))
            .map_or(self.definition.limits, |phase| phase.limits)
    }

    /// Returns the gates before and after the step, from the workflow and the run. A step that makes plans or ideas has
    /// only the gate for errors, because plans and ideas are reviewed in other ways.
    pub(super) fn gates(&self, step: &str) -> StepGates {
        let Some(step) = self.steps.get(step) else { return StepGates::default() };
        let works = match step.role {
            StepRole::Worker | StepRole::Subtask => true,
            StepRole::Improver
            | StepRole::Planner
            | StepRole::Judge
            | StepRole::Maker
            | StepRole::Overseer
            | StepRole::Router
            | StepRole::Summariser => false,
        };
        let works = works && !self.is_simple(step);
        let own = self.phase(&step.phase).map(|phase| phase.gates).unwrap_or_default();
        let added = self.config().map(|config| config.gates.clone()).unwrap_or_default();
        StepGates {
            before_step: works && (own.before_step || added.before_step),
            after_step: works && (own.after_step || added.after_step),
            unless_clean: own.unless_clean && !added.after_step,
            // Helper steps have no gate for errors. If a helper step fails, the run continues without its result: a
            // person judges instead of an overseer, rules replace a router, and requests are shortened without a
            // summary.
            on_error: !step.role.is_aside() && (own.on_error || added.on_error),
        }
    }

    /// Returns true if a person must review the output of the step. If the gate after the step sets `unless_clean`, a
    /// review is needed only if the step was repeated, or if one of its calls failed or was refused.
    fn asks_after(&self, id: &str, step: &Step) -> bool {
        let gates = self.gates(id);
        let refused = |call: &Call| call.state == CallState::Ended(CallEnd::Refused);
        let mut calls = self.calls.values().filter(|call| call.step == id);
        gates.after_step
            && (!gates.unless_clean
                || step.retries + step.redos > 0
                || calls.any(|call| has_failed(call) || refused(call)))
    }

    /// Returns true if a model call is the next action of the step.
    pub(super) fn wants_model(&self, id: &str) -> bool {
        if self.is_paused() || self.interrupted.is_some() || self.ended.is_some() {
            return false;
        }
        let Some(step) = self.steps.get(id) else { return false };
        step.end.is_none()
            && step.closing.is_none()
            && step.blocked.is_none()
            && step.model == ModelCall::Idle
            && self.last_turn(step).is_none_or(|(_, calls)| calls.iter().all(|call| call.is_ended()))
            && !self.rests(step)
            && !self.is_one_call(step)
            && self.failed_call(id, step).is_none()
            && !self.is_being_judged(step)
            && !self.is_being_summarised(id)
            && !self.is_held_by_a_question(id)
    }

    /// Returns true if the step consists of a single tool call that no model made.
    fn is_one_call(&self, step: &Step) -> bool {
        self.phase(&step.phase).is_some_and(|phase| matches!(phase.kind, PhaseKind::Call { .. }))
    }

    /// Returns true if another agent is judging the output of the step. The step then continues after the judgement.
    fn is_being_judged(&self, step: &Step) -> bool {
        matches!(step.role, StepRole::Planner | StepRole::Maker)
            && self.steps.open().any(|(_, other)| other.role == StepRole::Judge && other.phase == step.phase)
    }

    fn limit_reached(&self, id: &str, step: &Step) -> Option<(&'static str, u64)> {
        let limits = self.limits(id);
        if step.used.rounds >= limits.rounds {
            return Some(("rounds", limits.rounds.into()));
        }
        if step.used.calls >= limits.tool_calls {
            return Some(("tool_calls", limits.tool_calls.into()));
        }
        if let Some(budget) = limits.budget_tokens.filter(|budget| step.used.tokens >= *budget) {
            return Some(("budget_tokens", budget.min(json::MAX_INTEGER)));
        }
        if let Some(budget) = limits.budget_money.filter(|budget| step.used.cost.reaches(*budget)) {
            return Some(("budget_money", budget.min(json::MAX_INTEGER)));
        }
        if step.used.identical >= limits::IDENTICAL_CALLS {
            return Some(("identical_calls", limits::IDENTICAL_CALLS.into()));
        }
        (self.failed_in_a_row(step) >= limits::FAILED_CALLS)
            .then_some(("failed_calls", limits::FAILED_CALLS.into()))
    }

    /// Returns the number of the step's last consecutive replies in which tool calls failed and no call succeeded.
    /// Counts from the last new budget. Ignores calls that a person refused or answered.
    fn failed_in_a_row(&self, step: &Step) -> u32 {
        let turns = step.entries.iter().rev().filter_map(|entry| match entry {
            Entry::Turn { calls, .. } => Some(calls),
            Entry::Note { .. } => None,
        });
        let mut failed = 0;
        for calls in turns.take(step.used.rounds as usize) {
            let mut ended = calls.iter().filter_map(|id| went_wrong(self.calls.get(id)?)).peekable();
            failed += u32::from(ended.peek().is_some());
            if !ended.all(|failed| failed) {
                return failed - 1;
            }
        }
        failed
    }

    /// Returns the failed tool calls of a subtask's last turn. `None` if the workflow does not ask people about
    /// failures, or if a person has already decided on these failures.
    fn failed_call(&self, id: &str, step: &Step) -> Option<Failure> {
        let asked = step.role == StepRole::Subtask
            && step.excused != step.turn
            && step.model == ModelCall::Idle
            && self.gates(id).on_error;
        let (_, calls) = self.last_turn(step).filter(|_| asked)?;
        let all_ended = calls.iter().all(|call| call.is_ended());
        let failed: Vec<&Call> = calls.into_iter().filter(|call| has_failed(call) && all_ended).collect();
        let room = limits::FAILURES_BYTES.checked_div(failed.len())?;
        let told: Vec<String> = failed
            .iter()
            .map(|call| {
                format!("`{}` failed: {}", call.tool, clip(call.result.as_deref().unwrap_or_default(), room))
            })
            .collect();
        let failures = u32::try_from(failed.len()).unwrap_or(u32::MAX);
        Some(Failure { reason: "tool_failed", text: told.join("\n"), failures })
    }

    /// Returns true if the agent of the step has written its final text, or a plan that other steps use.
    fn rests(&self, step: &Step) -> bool {
        if step.model != ModelCall::Idle {
            return false;
        }
        match step.entries.last() {
            Some(Entry::Turn { calls, .. }) => {
                let planned = self.plans.get(&step.phase).filter(|_| step.role == StepRole::Planner);
                self.final_word(step).is_some()
                    || planned.is_some_and(|plan| plan.turn == Some(step.turn))
                        && calls.iter().all(|id| self.calls.get(id).is_none_or(|call| call.is_ended()))
            }
            Some(Entry::Note { .. }) | None => false,
        }
    }
}

/// Returns true if a tool call failed, and false if the call succeeded. `None` if the result of the call does not show
/// the difference. A command has failed if its exit code is not 0.
pub(super) fn went_wrong(call: &Call) -> Option<bool> {
    match call.state {
        // A person stopped the call, so its result does not show whether the call would have succeeded.
        _ if call.stopped.is_some() => None,
        CallState::Ended(CallEnd::Failed) => Some(true),
        CallState::Ended(CallEnd::Done) => {
            Some(call.outcome.get("exit_code").is_some_and(|code| code.as_i64() != Some(0)))
        }
        CallState::Ended(
            CallEnd::Refused | CallEnd::Answered | CallEnd::Skipped | CallEnd::Cancelled | CallEnd::Unknown,
        )
        | CallState::Proposed
        | CallState::Gated(_)
        | CallState::Authorised
        | CallState::Started { .. }
        | CallState::WithClient(_)
        | CallState::Doubted(_) => None,
    }
}

fn has_failed(call: &Call) -> bool {
    went_wrong(call) == Some(true)
}
