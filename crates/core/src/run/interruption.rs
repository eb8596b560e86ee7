//! Interruption of a run by a person, while agents are working. All running work stops at once, and the run waits for
//! the person's message.
//!
//! One append contains `run_interrupted`, the ends of all calls that have not started, `tool_stopped` for each running
//! command, and the interrupt in which the person writes the message. The driver then stops the running actions. A
//! stopped model call reports `model_stopped`, with the text that it has received so far. If the process of the model
//! call does not exist any more, this text is lost. A commit that has begun is completed. Calls that a client executes,
//! and calls with an unknown outcome, do not change.

use super::decide::{EXPIRED, as_it_is};
use super::draft::{Draft, Opening};
use super::input::{Rejection, check_text};
use super::{Action, Call, CallEnd, CallState, Entry, Fact, ModelCall, Origin, Run, Step, StepEnd, StepRole};
use crate::envelope::Content;
use crate::id::InterruptId;
use crate::interrupt::{About, Cause, Decision, Effect, Interrupt, Kind, Outcome};
use crate::message::Stop;
use crate::schema::Problem;

/// Result code of tool calls that an interruption of the run ended early.
pub(super) const INTERRUPTED: &str = "interrupted";

const NOT_RUN: &str = "Not run: a person interrupted the run before this call began. Make the call again only if it is still \
    needed.";
const NO_RESULT: &str =
    "A person interrupted this call, so there is no result. Make the call again only if it is still needed.";
const GO_ON: &str = "A person interrupted your last reply and now lets you continue. Continue where the \
    reply stopped.";
const ENDED: &str = "A person interrupted this step and then ended it.";
const NOBODY: &str = "The run was interrupted, and nobody decided in time how to continue.";

impl Draft<'_> {
    /// Handles a person's message to the run. If an open interrupt asks for a message and the person may decide the
    /// interrupt, the message is the decision on that interrupt.
    pub(super) fn message(&mut self, text: String) -> Result<(), Rejection> {
        if text.trim().is_empty() {
            return Err(Rejection::Invalid(vec![Problem::new("/text", "is empty")]));
        }
        check_text(&text)?;
        // If the person may decide the open turn, the message is the decision. Otherwise the message is added to the
        // run.
        if let Some(turn) = self.run.open_turn() {
            let decision =
                Decision { option: "submit".to_owned(), text: Some(text.clone()), ..Decision::default() };
            if self.decide(&turn, &decision).is_ok() {
                return Ok(());
            }
        }
        self.emit(Fact::MessageAdded, Content::text(text));
        Ok(())
    }

    /// Interrupts the run. Does nothing if the run is already interrupted, or if the run only waits for a person's
    /// message. `text`: the message, if the person has already written the message.
    pub(super) fn interrupt_run(&mut self, text: Option<String>) -> Result<(), Rejection> {
        self.run.interruptible().map_err(Rejection::NotInterruptible)?;
        let text = text.filter(|text| !text.trim().is_empty());
        let has_turn = self.run.open_turn().is_some() && !self.run.is_busy();
        if self.run.interrupted.is_none() && !has_turn {
            self.emit(Fact::RunInterrupted, Content::none());
            self.stop_calls();
            match &text {
                // Every interrupted agent gets the person's message.
                Some(text) => self.say_instead(text),
                None => self.open_interruption(),
            }
            return Ok(());
        }
        match text {
            Some(text) => self.message(text),
            None => Ok(()),
        }
    }

    fn stop_calls(&mut self) {
        let calls = self.run.open_calls();
        let calls: Vec<(String, Call)> =
            calls.into_iter().map(|(id, call)| (id.clone(), call.clone())).collect();
        for (id, call) in calls {
            match self.run.stopped_by_interruption(&id, &call) {
                StopEffect::Untouched => {}
                StopEffect::WhenItsProcessEnds => {
                    self.emit(Fact::ToolStopped { call: id, interrupted: true }, Content::none());
                }
                StopEffect::Skipped => {
                    self.supersede(&call);
                    self.skip_interrupted(&id);
                }
                StopEffect::Abandoned => {
                    self.finish_call(&id, CallEnd::Skipped, Some(INTERRUPTED), NO_RESULT);
                }
            }
        }
    }

    /// Skips a tool call in a reply that arrived while its model call was being stopped.
    pub(super) fn skip_interrupted(&mut self, call: &str) {
        self.finish_call(call, CallEnd::Skipped, Some(INTERRUPTED), NOT_RUN);
    }

    fn open_interruption(&mut self) {
        let mut opening = Opening::new(Kind::Turn, About::Interruption, "Interrupted: your turn");
        opening.only = &["submit", "continue", "done"];
        opening.on_expiry = Some("done");
        // The interruption concerns the whole run, not a single agent, so the card has no payload.
        opening.payload = serde_json::json!({});
        self.open(opening);
    }

    /// Handles the end of a model call that a person stopped. `text`: the part of the reply that had arrived.
    pub(super) fn model_stopped(&mut self, step: &str, turn: u32, text: &str) -> Result<(), Rejection> {
        let attempt = self.awaited(step, turn)?;
        if !self.run.is_stopping(step) {
            return Err(Rejection::Outdated);
        }
        let text = Some(text).filter(|text| !text.trim().is_empty()).map(str::to_owned);
        let fact = Fact::ModelStopped { step: step.to_owned(), turn, attempt, said: text.is_some() };
        self.emit(fact, Content::maybe_text(text));
        Ok(())
    }

    /// Applies a person's decision after an interruption of the run. If nobody decides in time, the run fails.
    pub(super) fn interruption_effect(&mut self, effect: Effect, text: &str, is_expired: bool) {
        // An expiry is not a person's decision, so it must not start further work.
        if is_expired {
            self.fail_run(EXPIRED, NOBODY);
            return;
        }
        let goes_on = matches!(effect, Effect::Respond | Effect::Proceed);
        if !goes_on {
            self.end_interrupted();
        } else if text.trim().is_empty() {
            let cut = self.run.steps.open().filter(|(_, step)| step.has_cut_reply());
            let cut: Vec<String> = cut.map(|(id, _)| id.clone()).collect();
            for step in cut {
                self.emit(Fact::ReplyResumed { step }, Content::text(GO_ON));
            }
        }
        if goes_on {
            self.say_instead(text);
        } else {
            self.tell_run(text);
        }
    }

    /// Sends a person's message to the interrupted agents. If a question about a task is open before work on the task
    /// has begun, the message also answers the question.
    fn say_instead(&mut self, text: &str) {
        self.tell_run(text);
        if text.trim().is_empty() {
            return;
        }
        let mut told = true;
        for phase in self.withdraw_asked_first() {
            self.emit(Fact::TaskExtended { phase, told }, Content::text(text));
            told = false;
        }
    }

    /// Closes the questions that a copilot asked before a round, if the person is allowed to decide these questions.
    /// Returns the phases of the closed questions.
    fn withdraw_asked_first(&mut self) -> Vec<String> {
        let voter = self.voter();
        let asked = self.run.open_interrupts().filter(|(_, each)| each.may_take_part(&voter).is_ok());
        let asked: Vec<(InterruptId, String)> = asked
            .filter(|(_, each)| matches!(each.opened.kind, Kind::Question | Kind::Choice))
            .filter_map(|(id, each)| {
                let About::Round(phase) = &each.opened.about else { return None };
                Some((id.clone(), phase.clone()))
            })
            .collect();
        let withdraw = |(id, phase): (InterruptId, String)| {
            self.resolve(&id, Outcome::Superseded, None, Cause::Superseded);
            phase
        };
        asked.into_iter().map(withdraw).collect()
    }

    /// Ends each open step of the interrupted run with the last reply of the step's agent. A phase that was begun by a
    /// tool call ends together with the call.
    fn end_interrupted(&mut self) {
        // The person ends the work before its first round, so the questions before the first round need no answer.
        for phase in self.withdraw_asked_first() {
            self.emit(Fact::RoundsOver { phase }, Content::none());
        }
        let open = |step: &Step| step.closing.is_none() && !self.run.called.contains_key(&step.phase);
        let open: Vec<(String, Step)> = self
            .run
            .steps
            .open()
            .filter(|(_, step)| open(step))
            .map(|(id, step)| (id.clone(), step.clone()))
            .collect();
        for (id, step) in open {
            match step.role {
                StepRole::Worker
                | StepRole::Improver
                | StepRole::Planner
                | StepRole::Judge
                | StepRole::Maker
                | StepRole::Subtask => {
                    self.end_as_it_is(&id, ENDED);
                    // The person has already ended the round, so the question whether the person is satisfied is left
                    // out.
                    if self.run.ends_without_turn(&step) {
                        self.emit(Fact::RoundsOver { phase: step.phase }, Content::none());
                    }
                }
                StepRole::Router => {
                    self.close_step(&id, StepEnd::Skipped, "");
                    self.emit(Fact::RoundsOver { phase: step.phase }, Content::none());
                }
                // These steps end together with the step that they assist.
                StepRole::Overseer | StepRole::Summariser => {}
            }
        }
    }
}

enum StopEffect {
    Untouched,
    WhenItsProcessEnds,
    Skipped,
    /// The tool call only reads, so its partial result is discarded.
    Abandoned,
}

impl Step {
    /// Returns true if the last reply of the step's agent was stopped or is being stopped.
    fn has_cut_reply(&self) -> bool {
        let was_cut = matches!(self.entries.last(), Some(Entry::Turn { stop: Stop::Cut, .. }));
        !self.role.is_aside() && (self.stopped || was_cut)
    }
}

impl Run {
    /// Checks that a person can interrupt the run. The error value is the reason why the run cannot be interrupted.
    fn interruptible(&self) -> Result<(), &'static str> {
        if self.started.as_ref().is_none_or(|started| started.origin != Origin::Native) {
            return Err("its agent runs in another system, and only that system can stop it");
        }
        if self.definition.agents.is_empty() {
            return Err("no agent is working on the run, so no agent could receive a message");
        }
        Ok(())
    }

    /// Returns true if the final text of a step is a reply that a person interrupted. Such a reply is already part of
    /// the conversation.
    pub(super) fn ends_with_what_was_cut(step: &Step, text: &str) -> bool {
        let last = step.entries.iter().rev().find(|entry| matches!(entry, Entry::Turn { .. }));
        matches!(last, Some(Entry::Turn { text: said, stop: Stop::Cut, .. }) if as_it_is(said.trim(), ENDED) == text)
    }

    fn is_stopping(&self, step: &str) -> bool {
        self.steps.get(step).is_some_and(|step| step.stopped)
    }

    /// Returns the model calls of the run that a person has stopped but that have not yet returned.
    pub(super) fn models_stopping(&self) -> impl Iterator<Item = super::ActionId> {
        self.steps.open().filter(|(_, step)| step.stopped).filter_map(|(id, step)| match step.model {
            ModelCall::Running { attempt, .. } => Some(Action::model_id(id, step.turn, attempt)),
            ModelCall::Idle => None,
        })
    }

    /// Returns true if the action continues after a person interrupted the run. Only a commit that has begun continues.
    pub(super) fn goes_on_interrupted(&self, action: &Action) -> bool {
        match action {
            Action::CallTool { call, .. } => self.calls.get(call).is_some_and(|call| call.trial.commits > 0),
            Action::Inspect { .. } | Action::Try { .. } | Action::CallModel { .. } => false,
        }
    }

    /// Returns true if the step is a round of a copilot whose phase does not ask the person after each round.
    fn ends_without_turn(&self, step: &Step) -> bool {
        let copilot = self.phase(&step.phase).and_then(|phase| phase.kind.copilot());
        step.round.is_some() && copilot.is_some_and(|copilot| !copilot.conversational)
    }

    fn stopped_by_interruption(&self, id: &str, call: &Call) -> StopEffect {
        let is_command = self.command(call).is_some();
        match call.state {
            _ if call.stopped.is_some() || self.begins_open_phase(id) => StopEffect::Untouched,
            CallState::Ended(_) | CallState::WithClient(_) | CallState::Doubted(_) => StopEffect::Untouched,
            CallState::Started { .. } if call.committing().is_some() => StopEffect::Untouched,
            CallState::Started { .. } if is_command => StopEffect::WhenItsProcessEnds,
            CallState::Started { .. } if self.writes(&call.tool) => StopEffect::Untouched,
            CallState::Started { .. } => StopEffect::Abandoned,
            // The commit may already have written some of the changes.
            CallState::Authorised if call.trial.commits > 0 => StopEffect::Untouched,
            CallState::Proposed | CallState::Gated(_) | CallState::Authorised => {
                if call.trial.running.is_some() {
                    StopEffect::WhenItsProcessEnds
                } else {
                    StopEffect::Skipped
                }
            }
        }
    }
}

/// Returns true if a person resolved an interruption of the run with the option `done`, which ends the interrupted
/// work.
pub(super) fn ended_by_person(interrupt: &Interrupt) -> bool {
    let chosen = interrupt.resolution.as_ref().and_then(|resolution| resolution.option.as_deref());
    interrupt.opened.about == About::Interruption && chosen == Some("done")
}
