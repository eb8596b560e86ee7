//! What a resolution does: one function per thing an interrupt can be about.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function names the effects that release work; every other one stops it, also a new one"
)]

use serde_json::{Value, json};

use super::draft::Draft;
use super::fact::{Authority, Returned};
use super::input::Rejection;
use super::{Call, CallEnd, CallState, Fact, Role, StepEnd};
use crate::event::Content;
use crate::id::InterruptId;
use crate::interrupt::{
    self, About, Cause, Choice, Decision, Effect, Interrupt, Kind, Outcome, Refusal, Standing,
};
use crate::plan;
use crate::schema::{self, Problem};
use crate::session;

/// Why a run ends that waited for somebody in vain.
const EXPIRED: &str = "expired";

/// A resolution on its way into effect.
struct Taken<'d> {
    choice: &'d Choice,
    text: &'d str,
    edit: &'d Value,
    by: By,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Person,
    Expiry,
}

impl Draft<'_> {
    pub(super) fn decide(&mut self, id: &InterruptId, decision: &Decision) -> Result<(), Rejection> {
        self.decide_for(id, decision, false)
    }

    /// `implied`: nobody said so; it follows from what the person did.
    pub(super) fn decide_for(
        &mut self,
        id: &InterruptId,
        decision: &Decision,
        implied: bool,
    ) -> Result<(), Rejection> {
        let interrupt = self.interrupt(id)?;
        let choice = match interrupt::check(&interrupt, &self.cx.actor, decision, self.now())? {
            Standing::Repeat => return Ok(()),
            Standing::New(choice) => choice,
        };
        let mut problems = self.check_edit(&interrupt, &choice, &decision.edit);
        problems.extend(self.run.check_given(&interrupt, &choice, decision));
        if !problems.is_empty() {
            return Err(Rejection::Refused(Refusal::Invalid(problems)));
        }
        self.emit(
            Fact::DecisionMade { interrupt: id.clone(), option: choice.id.clone(), implied },
            Content { text: decision.text.clone(), data: decision.edit.clone() },
        );
        self.resolve(id, choice.effect.outcome(), Some(&choice), Cause::Decision);
        let text = decision.text.as_deref().unwrap_or_default();
        self.effect(&interrupt, &Taken { choice: &choice, text, edit: &decision.edit, by: By::Person });
        Ok(())
    }

    /// Resolves every interrupt whose time is over with the option that its `on_expiry` names.
    pub(super) fn expire(&mut self) {
        let now = self.now();
        let due: Vec<Interrupt> = self
            .run
            .open_interrupts()
            .filter(|(_, interrupt)| interrupt.opened.expires_at.is_some_and(|at| at <= now))
            .map(|(_, interrupt)| interrupt.clone())
            .collect();
        for interrupt in due {
            // One that an earlier one in this sweep has closed needs nothing.
            let still_open =
                self.run.interrupts.get(&interrupt.opened.interrupt).is_some_and(|each| each.is_open());
            if !still_open {
                continue;
            }
            let choice = interrupt
                .offers(&interrupt.opened.on_expiry)
                .filter(|choice| choice.applies_alone())
                .cloned();
            self.resolve(&interrupt.opened.interrupt, Outcome::Expired, choice.as_ref(), Cause::Expiry);
            let choice = choice.unwrap_or_else(|| fallback(interrupt.opened.kind));
            let text = if choice.needs_text { "No response" } else { "" };
            self.effect(&interrupt, &Taken { choice: &choice, text, edit: &Value::Null, by: By::Expiry });
        }
    }

    /// Checks the edit against what it replaces.
    fn check_edit(&self, interrupt: &Interrupt, choice: &Choice, edit: &Value) -> Vec<Problem> {
        if edit.is_null() || choice.id != "edit" {
            return check_response(interrupt, choice, edit);
        }
        match (&interrupt.opened.about, interrupt.opened.kind) {
            (About::Call(call), Kind::ToolApproval) => {
                match self.run.calls.get(call).and_then(|call| self.run.spec(&call.tool)) {
                    Some(spec) => schema::check(&spec.parameters, edit, "/edit"),
                    None => vec![Problem::new("/edit", "the tool is not known")],
                }
            }
            (About::Call(call), Kind::PlanApproval) => {
                let step = self.run.calls.get(call).map_or("", |call| call.step.as_str());
                self.run.check_own_plan(step, edit, "/edit").err().unwrap_or_default()
            }
            (About::Plan(phase), Kind::PlanApproval) => {
                self.run.check_new_plan(phase, edit, "/edit").err().unwrap_or_default()
            }
            (About::Phase(phase), Kind::Checkpoint) => match self.run.plan_at(phase, edit) {
                Some((planning, plan)) => {
                    self.run.check_plan(planning, &plan, "/edit").err().unwrap_or_default()
                }
                None => check_response(interrupt, choice, edit),
            },
            _ => check_response(interrupt, choice, edit),
        }
    }

    fn effect(&mut self, interrupt: &Interrupt, taken: &Taken<'_>) {
        let about = interrupt.opened.about.clone();
        let unheard = (taken.by == By::Expiry).then(|| self.unheard_of(interrupt));
        match (taken.choice.effect, unheard) {
            (Effect::CancelRun, unheard) => {
                self.wind_up();
                let reason = if unheard.is_some() { EXPIRED } else { "cancelled" }.to_owned();
                let text = unheard.or_else(|| nonempty(taken.text));
                self.emit(Fact::RunCancelled { reason }, Content::maybe_text(text));
                return;
            }
            // Nobody said no: that is no rejection (contract E9).
            (Effect::FailRun, Some(unheard)) if about != About::External => {
                return self.fail_run(EXPIRED, unheard);
            }
            _ => {}
        }
        match &about {
            About::External => self.external_resolved(interrupt),
            About::Call(call) => match self.run.calls.get(call).map(|call| (**call).clone()) {
                Some(found) => self.call_effect(interrupt, call, &found, taken),
                None => self.fail_run("internal", "an interrupt speaks of a call that is not there"),
            },
            About::BeforeStep(step) => self.before_step_effect(interrupt, step, taken),
            About::AfterStep(step) => self.after_step_effect(interrupt, step, taken),
            About::Phase(phase) => self.phase_effect(phase, taken),
            About::Plan(phase) => self.planned_effect(phase, taken),
            About::Failure(step) => self.failure_effect(interrupt, step, taken),
            About::Limit(step) => self.limit_effect(interrupt, step, taken),
            About::Printed(step) => self.printed_effect(interrupt, step, taken),
        }
    }

    fn call_effect(&mut self, interrupt: &Interrupt, id: &str, call: &Call, taken: &Taken<'_>) {
        match interrupt.opened.kind {
            Kind::ToolApproval => self.tool_effect(interrupt, id, call, taken),
            Kind::PlanApproval => self.plan_effect(id, taken),
            Kind::Question if taken.choice.effect == Effect::Respond => {
                self.finish_call(id, CallEnd::Answered, None, taken.text);
            }
            Kind::Question => {
                let code = if taken.by == By::Person { "skipped" } else { taken.code() };
                self.finish_call(id, CallEnd::Skipped, Some(code), unanswered(taken));
            }
            Kind::Review => self.review_effect(id, call, taken),
            Kind::ClientCall => self.client_effect(id, call, taken),
            Kind::UnknownOutcome => match taken.choice.effect {
                Effect::Respond => self.finish_call(id, CallEnd::Done, Some("happened"), taken.text),
                Effect::Retry => {
                    self.give_back(id, Returned::Rerun, Vec::new());
                    self.note(interrupt, &call.step, taken.text);
                }
                Effect::Skip => {
                    let text = format!("not run again; nobody knows whether it took effect{}", why(taken));
                    self.finish_call(id, CallEnd::Skipped, Some("unknown_outcome"), text);
                }
                _ => self.fail_run("aborted", format!("a call was left in doubt{}", why(taken))),
            },
            Kind::Escalation => self.escalation_effect(interrupt, id, call, taken),
            Kind::Checkpoint | Kind::Error | Kind::Choice | Kind::Turn | Kind::Continuation => {
                self.fail_run("internal", "no call asks this kind of interrupt");
            }
        }
    }

    fn tool_effect(&mut self, interrupt: &Interrupt, id: &str, call: &Call, taken: &Taken<'_>) {
        let opened = &interrupt.opened;
        // Only the call that was shown is released, and only while it still waits for this interrupt.
        if call.state != CallState::Gated(opened.interrupt.clone()) {
            return;
        }
        let by = Authority::Interrupt(opened.interrupt.clone());
        match taken.choice.effect {
            Effect::Proceed | Effect::Grant => {
                let Some(digest) = opened.action_digest else {
                    self.fail_run("internal", "an approval without a digest");
                    return;
                };
                self.emit(Fact::ToolAuthorised { call: id.to_owned(), digest, by }, Content::none());
                if taken.choice.effect == Effect::Grant {
                    self.grant(interrupt, call);
                }
                self.note(interrupt, &call.step, taken.text);
            }
            Effect::ProceedWithEdit => {
                self.emit(
                    Fact::ToolReturned { call: id.to_owned(), why: Returned::Edited, paths: Vec::new() },
                    Content::data(json!({ "arguments": taken.edit })),
                );
                let told = sentence("A person edited this call before it ran", taken);
                self.note(interrupt, &call.step, &told);
            }
            Effect::Respond => self.finish_call(id, CallEnd::Answered, Some("responded"), taken.text),
            Effect::FailRun => {
                self.fail_run("rejected", format!("`{}` was refused{}", call.tool, why(taken)));
            }
            Effect::EndTurn => {
                self.finish_call(id, CallEnd::Refused, Some(taken.code()), refused(taken));
                self.close_step(&call.step, StepEnd::Completed, &refused(taken));
            }
            _ => self.finish_call(id, CallEnd::Refused, Some(taken.code()), refused(taken)),
        }
    }

    /// Continue: the hand-off takes effect. Instruct: it does not, and the same agent reads why.
    fn escalation_effect(&mut self, interrupt: &Interrupt, id: &str, call: &Call, taken: &Taken<'_>) {
        match taken.choice.effect {
            Effect::Proceed => {
                self.release_handoff(id, call);
                self.note(interrupt, &call.step, taken.text);
            }
            Effect::Respond => self.finish_call(id, CallEnd::Answered, Some("instructed"), taken.text),
            _ => self.fail_run("aborted", format!("`{}` was aborted{}", call.tool, why(taken))),
        }
    }

    /// Remembers the decision for the session, and lets it resolve the other open asks that it covers.
    fn grant(&mut self, interrupt: &Interrupt, call: &Call) {
        let Some(matcher) = self.run.grant_for(call) else { return };
        let grant = self.id();
        self.emit_session(session::Fact::GrantAdded {
            grant,
            matcher,
            run: self.run.id.clone(),
            interrupt: interrupt.opened.interrupt.clone(),
        });
        self.revote();
    }

    fn plan_effect(&mut self, id: &str, taken: &Taken<'_>) {
        match taken.choice.effect {
            Effect::Proceed => {
                let note = nonempty(taken.text).map(|note| format!(" Note from the person: {note}"));
                let text = format!("The plan is approved. Carry it out.{}", note.unwrap_or_default());
                self.finish_call(id, CallEnd::Answered, Some("approved"), text);
            }
            Effect::ProceedWithEdit => {
                let plan = Self::readable(taken.edit);
                let text = format!(
                    "The plan is approved with changes. Carry out this one instead:\n{plan}{}",
                    why(taken)
                );
                self.finish_call(id, CallEnd::Answered, Some("edited"), text);
            }
            Effect::Replan => {
                let text =
                    format!("The plan is not approved yet. Propose another one. Feedback: {}", taken.text);
                self.finish_call(id, CallEnd::Answered, Some("revise"), text);
            }
            Effect::FailRun => self.fail_run("rejected", format!("the plan was rejected{}", why(taken))),
            _ => {
                let text = match taken.by {
                    By::Person => format!("The plan was rejected{}. Do not carry it out.", why(taken)),
                    By::Expiry => "Nobody decided on the plan in time. Do not carry it out.".to_owned(),
                };
                self.finish_call(id, CallEnd::Refused, Some(taken.code()), text);
            }
        }
    }

    /// The plan of a planning phase, or a newer version of one that is carried out already.
    fn planned_effect(&mut self, phase: &str, taken: &Taken<'_>) {
        let planned = self.run.plans.get(phase).cloned().unwrap_or_default();
        match taken.choice.effect {
            Effect::Proceed => {
                self.settle_plan(phase);
                self.tell_run(taken.text);
            }
            Effect::ProceedWithEdit => {
                // It was checked before it was taken.
                let Ok(plan) = self.run.check_new_plan(phase, taken.edit, "/edit") else {
                    self.fail_run("internal", "a plan that can not be carried out");
                    return;
                };
                self.draft_plan(phase, None, &plan);
                self.settle_plan(phase);
                self.tell_run(taken.text);
            }
            Effect::Replan => {
                let limit = self.run.planning(phase).map_or(0, |planning| planning.iterations);
                if planned.iterations >= limit && !self.run.settles(phase) {
                    let text = format!("no plan was approved in {limit} iterations{}", why(taken));
                    self.fail_run("plan_iterations", text);
                } else {
                    self.tell_run(&format!("A person wants another plan: {}", taken.text));
                }
            }
            _ if planned.held => {
                let version = planned.version();
                self.emit(Fact::PlanDropped { phase: phase.to_owned(), version }, Content::none());
                self.tell_run(taken.text);
            }
            Effect::DropPlan => {
                self.end_planner(phase, StepEnd::Skipped);
                self.tell_run(taken.text);
            }
            _ => self.fail_run("rejected", format!("the plan was rejected{}", why(taken))),
        }
    }

    fn review_effect(&mut self, id: &str, call: &Call, taken: &Taken<'_>) {
        if taken.choice.effect != Effect::Release {
            self.fail_run("rejected", format!("the output was not released{}", why(taken)));
            return;
        }
        let edited = !taken.edit.is_null();
        let content = if edited { taken.edit.clone() } else { json!(call.argument("content")) };
        let released = json!({ "title": call.argument("title"), "content": content });
        self.emit(Fact::OutputReleased { call: id.to_owned(), edited }, Content::data(released));
        let how = if edited { "Released with changes by the reviewer" } else { "Released" };
        self.finish_call(id, CallEnd::Done, Some("released"), sentence(how, taken));
    }

    /// What the client says is the call's result.
    fn client_effect(&mut self, id: &str, call: &Call, taken: &Taken<'_>) {
        match (taken.choice.effect, taken.by) {
            (Effect::FailRun, _) => {
                self.fail_run("client_failed", format!("`{}` failed in the client{}", call.tool, why(taken)));
            }
            // Nobody knows whether it took effect: a person says, before anything is tried again.
            (_, By::Expiry) if self.run.writes(&call.tool) => {
                self.doubt(id, "the client did not tell in time what came of it");
            }
            (_, By::Expiry) => {
                let text = "the client did not tell in time what came of it";
                self.finish_call(id, CallEnd::Failed, Some(taken.code()), text);
            }
            _ if taken.choice.id == "result" => self.finish_call(id, CallEnd::Done, None, taken.text),
            _ => self.finish_call(id, CallEnd::Failed, Some("tool_failed"), taken.text),
        }
    }

    fn before_step_effect(&mut self, interrupt: &Interrupt, step: &str, taken: &Taken<'_>) {
        match taken.choice.effect {
            Effect::Proceed => self.guide(interrupt, step, taken.text),
            Effect::ProceedWithEdit => {
                self.emit(
                    Fact::StepInputReplaced { step: step.to_owned() },
                    Content::text(Self::readable(taken.edit)),
                );
                self.guide(interrupt, step, taken.text);
            }
            Effect::Skip => self.skip_step(interrupt, step, taken.text, &why(taken)),
            _ => self.fail_run("rejected", format!("step `{step}` was rejected{}", why(taken))),
        }
    }

    fn after_step_effect(&mut self, interrupt: &Interrupt, step: &str, taken: &Taken<'_>) {
        match taken.choice.effect {
            Effect::Proceed => {
                let output = interrupt.content.pointer("/payload/output").and_then(Value::as_str);
                let output = output.unwrap_or_default().to_owned();
                self.close_step(step, StepEnd::Completed, &output);
                self.tell_run(taken.text);
            }
            Effect::Redo => {
                self.emit(Fact::StepRedone { step: step.to_owned() }, Content::none());
                match nonempty(taken.text) {
                    Some(feedback) => self.guide(interrupt, step, &format!("Do it again: {feedback}")),
                    None => self.note(interrupt, step, "Do it again."),
                }
            }
            _ => self.fail_run("aborted", format!("step `{step}` was not accepted{}", why(taken))),
        }
    }

    fn phase_effect(&mut self, phase: &str, taken: &Taken<'_>) {
        match taken.choice.effect {
            Effect::Proceed => {
                self.emit(
                    Fact::PhaseEnded { phase: phase.to_owned(), end: StepEnd::Completed },
                    Content::none(),
                );
                self.tell_run(taken.text);
            }
            Effect::ProceedWithEdit => {
                self.emit(
                    Fact::PhaseEnded { phase: phase.to_owned(), end: StepEnd::Completed },
                    Content::none(),
                );
                // What stands beside a plan is said to whoever works later, as anything is that is no plan.
                let said = if self.replace_plan(phase, taken.edit) {
                    plan::beside(taken.edit)
                } else {
                    Some(taken.edit.clone())
                };
                match said {
                    Some(changes) => {
                        let changes = Self::readable(&changes);
                        self.tell_run(&format!(
                            "A person wants this to be different{}:\n{changes}",
                            why(taken)
                        ));
                    }
                    None => self.tell_run(taken.text),
                }
            }
            _ => self.fail_run("rejected", format!("checkpoint `{phase}` was rejected{}", why(taken))),
        }
    }

    fn failure_effect(&mut self, interrupt: &Interrupt, step: &str, taken: &Taken<'_>) {
        match taken.choice.effect {
            Effect::Retry => {
                self.emit(Fact::StepRetried { step: step.to_owned() }, Content::none());
                self.guide(interrupt, step, taken.text);
            }
            Effect::Skip => self.skip_step(interrupt, step, taken.text, &why(taken)),
            Effect::Respond => self.give_result(step, taken.text),
            _ => self.fail_run("aborted", format!("step `{step}` failed and was aborted{}", why(taken))),
        }
    }

    fn limit_effect(&mut self, interrupt: &Interrupt, step: &str, taken: &Taken<'_>) {
        if taken.choice.effect == Effect::Proceed {
            self.emit(Fact::LimitLifted { step: step.to_owned() }, Content::none());
            self.guide(interrupt, step, taken.text);
            return;
        }
        let stopped = format!("Stopped at its limit of {}.", limit_of(interrupt));
        let found = self.run.steps.get(step);
        let last = found.and_then(|step| self.run.last_turn(step)).map(|(text, _)| text);
        // Half of a better task is none, nor is half a judgement: the task stays as it was, and nobody has judged.
        let is_of_use =
            !found.is_some_and(|step| matches!(step.role, Role::Improver | Role::Judge | Role::Overseer));
        let output = match last.and_then(nonempty) {
            _ if !is_of_use => String::new(),
            Some(said) => format!("{said}\n\n{stopped}"),
            None => stopped,
        };
        self.close_step(step, StepEnd::Completed, &output);
        self.tell_run(taken.text);
    }

    fn printed_effect(&mut self, interrupt: &Interrupt, step: &str, taken: &Taken<'_>) {
        // Either way the agent goes on: answered, or with what it assumes.
        if taken.choice.effect == Effect::Respond {
            self.note(interrupt, step, taken.text);
        } else {
            self.note(interrupt, step, &unanswered(taken));
        }
    }

    /// What nobody decided in time.
    fn unheard_of(&self, interrupt: &Interrupt) -> String {
        let tool = |call: &str| self.run.calls.get(call).map(|call| call.tool.clone()).unwrap_or_default();
        match (&interrupt.opened.about, interrupt.opened.kind) {
            (About::Call(_), Kind::PlanApproval) | (About::Plan(_), _) => {
                "nobody decided on the plan in time".to_owned()
            }
            (About::Call(_), Kind::Review) => "nobody released the output in time".to_owned(),
            (About::Call(_), Kind::Question) | (About::Printed(_), _) => "nobody answered in time".to_owned(),
            (About::Call(call), Kind::ClientCall) => {
                format!("the client did not tell in time what came of `{}`", tool(call))
            }
            (About::Call(call), Kind::UnknownOutcome) => {
                format!("nobody said in time whether `{}` took effect", tool(call))
            }
            (About::Call(call), _) => format!("nobody decided on `{}` in time", tool(call)),
            (About::BeforeStep(step), _) => format!("nobody let step `{step}` start in time"),
            (About::AfterStep(step), _) => format!("nobody accepted step `{step}` in time"),
            (About::Failure(step), _) => {
                let error = interrupt.content_text("message");
                format!("step `{step}` failed, and nobody decided in time: {error}")
            }
            (About::Limit(step), _) => {
                let limit = limit_of(interrupt);
                format!("step `{step}` has reached its limit of {limit}, and nobody decided in time")
            }
            (About::Phase(phase), _) => format!("nobody decided on checkpoint `{phase}` in time"),
            (About::External, _) => "nobody decided in time".to_owned(),
        }
    }

    /// Guidance that came with the end of a step or phase reaches what is at work, and what starts later.
    fn tell_run(&mut self, text: &str) {
        if let Some(text) = nonempty(text) {
            self.emit(Fact::MessageAdded, Content::text(text));
        }
    }

    /// What came with a decision about a call reaches the step's next model request.
    fn note(&mut self, interrupt: &Interrupt, step: &str, text: &str) {
        if let Some(text) = nonempty(text) {
            let (step, interrupt) = (step.to_owned(), interrupt.opened.interrupt.clone());
            self.emit(Fact::NoteAdded { step, interrupt, later: false }, Content::text(text));
        }
    }

    /// What came with a decision about a step reaches its next model request, and those of later steps (contract A15).
    pub(super) fn guide(&mut self, interrupt: &Interrupt, step: &str, text: &str) {
        if let Some(text) = nonempty(text) {
            let (step, interrupt) = (step.to_owned(), interrupt.opened.interrupt.clone());
            self.emit(Fact::NoteAdded { step, interrupt, later: true }, Content::text(text));
        }
    }
}

impl Taken<'_> {
    fn code(&self) -> &'static str {
        match self.by {
            By::Person => "refused",
            By::Expiry => "expired",
        }
    }
}

fn check_response(interrupt: &Interrupt, choice: &Choice, edit: &Value) -> Vec<Problem> {
    match interrupt.content.get("response_schema") {
        Some(schema) if choice.id == "edit" => schema::check(schema, edit, "/edit"),
        Some(_) | None => Vec::new(),
    }
}

/// `50 rounds`, as the interrupt shows it.
fn limit_of(interrupt: &Interrupt) -> String {
    let shown = |field: &str| interrupt.content.pointer(&format!("/payload/{field}"));
    let limit = shown("limit").and_then(Value::as_str).unwrap_or_default().replace('_', " ");
    format!("{} {limit}", shown("value").unwrap_or(&Value::Null))
}

/// An option that is not offered can not be applied; this stops work instead of releasing it.
fn fallback(kind: Kind) -> Choice {
    let row =
        interrupt::option(kind, interrupt::default_on_expiry(kind)).unwrap_or(&interrupt::options(kind)[0]);
    let mut choice = Choice::of(row);
    if choice.effect.outcome() == Outcome::Approved {
        choice.effect = Effect::FailRun;
    }
    choice
}

fn nonempty(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn why(taken: &Taken<'_>) -> String {
    match (nonempty(taken.text), taken.by) {
        (Some(text), _) => format!(": {text}"),
        (None, By::Person) => String::new(),
        (None, By::Expiry) => ": nobody decided in time".to_owned(),
    }
}

fn sentence(text: &str, taken: &Taken<'_>) -> String {
    match why(taken) {
        why if why.is_empty() => format!("{text}."),
        why => format!("{text}{why}"),
    }
}

fn refused(taken: &Taken<'_>) -> String {
    match taken.by {
        By::Person => format!("a person refused this call{}", why(taken)),
        By::Expiry => "not run: nobody decided in time".to_owned(),
    }
}

fn unanswered(taken: &Taken<'_>) -> String {
    match (taken.by, nonempty(taken.text)) {
        (By::Expiry, _) => {
            "No response in time. Go on with your best assumption, and say what you assumed.".to_owned()
        }
        (By::Person, Some(text)) => format!("The person skipped the question: {text}"),
        (By::Person, None) => {
            "The person skipped the question. Go on with your best assumption, and say what you assumed."
                .to_owned()
        }
    }
}
