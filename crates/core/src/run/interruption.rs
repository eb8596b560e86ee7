//! A person interrupts a run: what is at work stops now, and the run waits for words.
//!
//! One append holds `run_interrupted`, the end of every call that has not begun, `tool_stopped` for each command that runs,
//! and the person's turn. The driver ends what is out after that. A model's call comes back as `model_stopped` with what
//! had been streamed; where its process is gone nothing comes back, and that text is lost. Changes that are being written
//! are written to their end, all of them. What a client runs, and a call of which nobody knows whether it happened, are
//! left as they are.

use super::decide::{EXPIRED, as_it_is};
use super::draft::{Draft, Opening};
use super::input::{Rejection, check_text};
use super::{Action, Call, CallEnd, CallState, Entry, Fact, ModelCall, Origin, Run, Step, StepEnd, StepRole};
use crate::envelope::Content;
use crate::id::InterruptId;
use crate::interrupt::{About, Cause, Decision, Effect, Interrupt, Kind, Outcome};
use crate::message::Stop;
use crate::schema::Problem;

/// The code of a call that an interruption ended.
pub(super) const INTERRUPTED: &str = "interrupted";

const NOT_RUN: &str =
    "Not run: a person interrupted before it began. Call it again only if it is still wanted.";
const NO_RESULT: &str =
    "A person interrupted it: there is no result. Call it again only if it is still wanted.";
const GO_ON: &str = "A person interrupted your last reply, and now lets you go on: go on where it stopped.";
const ENDED: &str = "Ended by a person who had interrupted it.";
const NOBODY: &str = "It was interrupted, and nobody said in time how to go on.";

impl Draft<'_> {
    /// Takes what a person says to the run. A person who has the turn takes it with that.
    pub(super) fn message(&mut self, text: String) -> Result<(), Rejection> {
        if text.trim().is_empty() {
            return Err(Rejection::Invalid(vec![Problem::new("/text", "is empty")]));
        }
        check_text(&text)?;
        // A text is the decision of an open turn. The text of a person who may not decide is heard as a message.
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

    /// Interrupting what is interrupted, or waits for its person's turn, is no event. `text`: the words, where they are
    /// known already.
    pub(super) fn interrupt_run(&mut self, text: Option<String>) -> Result<(), Rejection> {
        self.run.interruptible().map_err(Rejection::NotInterruptible)?;
        let text = text.filter(|text| !text.trim().is_empty());
        let has_turn = self.run.open_turn().is_some() && !self.run.is_busy();
        if self.run.interrupted.is_none() && !has_turn {
            self.emit(Fact::RunInterrupted, Content::none());
            self.stop_calls();
            match &text {
                // Everybody who was interrupted hears them.
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
                Stopped::Untouched => {}
                Stopped::WhenItsProcessEnds => {
                    self.emit(Fact::ToolStopped { call: id, interrupted: true }, Content::none());
                }
                Stopped::Skipped => {
                    self.supersede(&call);
                    self.skip_interrupted(&id);
                }
                Stopped::Abandoned => {
                    self.finish_call(&id, CallEnd::Skipped, Some(INTERRUPTED), NO_RESULT);
                }
            }
        }
    }

    /// Of a reply that came while it was being stopped.
    pub(super) fn skip_interrupted(&mut self, call: &str) {
        self.finish_call(call, CallEnd::Skipped, Some(INTERRUPTED), NOT_RUN);
    }

    fn open_interruption(&mut self) {
        let mut opening = Opening::new(Kind::Turn, About::Interruption, "Interrupted: your turn");
        opening.only = &["submit", "continue", "done"];
        opening.on_expiry = Some("done");
        // What stands there is shown as an agent's words, and none of it is.
        opening.payload = serde_json::json!({});
        self.open(opening);
    }

    /// A model's call that was stopped has come back. `text`: what it had said by then.
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

    /// What a person said in their turn after an interruption. Nobody in time: the run fails, and nothing goes on.
    pub(super) fn interruption_effect(&mut self, effect: Effect, text: &str, is_expired: bool) {
        // What would start next must not start because nobody answered.
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

    /// What a person says in the place of what they interrupted. What was asked about a task that has not begun does not
    /// stand any more: the words take the place of its answer.
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

    /// Closes what was asked before a round, where the person may decide on it; the phases of these.
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

    /// Ends what was at work with what its agents said last. Phases that calls began end with the calls.
    fn end_interrupted(&mut self) {
        // Whoever ends it before its first round needs no answer any more.
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
                    // Who ends a round like this need not be asked whether it was done well.
                    if self.run.ends_without_turn(&step) {
                        self.emit(Fact::RoundsOver { phase: step.phase }, Content::none());
                    }
                }
                StepRole::Router => {
                    self.close_step(&id, StepEnd::Skipped, "");
                    self.emit(Fact::RoundsOver { phase: step.phase }, Content::none());
                }
                // They end with the step that they help.
                StepRole::Overseer | StepRole::Summariser => {}
            }
        }
    }
}

/// What an interruption does to a call.
enum Stopped {
    Untouched,
    WhenItsProcessEnds,
    Skipped,
    /// It only reads, and what it has read so far is nothing.
    Abandoned,
}

impl Step {
    /// Whether its agent's last reply was stopped, or is being stopped.
    fn has_cut_reply(&self) -> bool {
        let was_cut = matches!(self.entries.last(), Some(Entry::Turn { stop: Stop::Cut, .. }));
        !self.role.is_aside() && (self.stopped || was_cut)
    }
}

impl Run {
    /// Whether a person can interrupt it, or why not.
    fn interruptible(&self) -> Result<(), &'static str> {
        if self.started.as_ref().is_none_or(|started| started.origin != Origin::Native) {
            return Err("its agent runs elsewhere, and only that place can stop it");
        }
        if self.definition.agents.is_empty() {
            return Err("no agent works on it who could hear what is said then");
        }
        Ok(())
    }

    /// Whether the last words of a step are those of the reply that was interrupted. They were noted as said when it was.
    pub(super) fn ends_with_what_was_cut(step: &Step, text: &str) -> bool {
        let last = step.entries.iter().rev().find(|entry| matches!(entry, Entry::Turn { .. }));
        matches!(last, Some(Entry::Turn { text: said, stop: Stop::Cut, .. }) if as_it_is(said.trim(), ENDED) == text)
    }

    fn is_stopping(&self, step: &str) -> bool {
        self.steps.get(step).is_some_and(|step| step.stopped)
    }

    /// Model calls that a person has stopped and that have not come back.
    pub(super) fn models_stopping(&self) -> impl Iterator<Item = super::ActionId> {
        self.steps.open().filter(|(_, step)| step.stopped).filter_map(|(id, step)| match step.model {
            ModelCall::Running { attempt, .. } => Some(Action::model_id(id, step.turn, attempt)),
            ModelCall::Idle => None,
        })
    }

    /// Whether an action goes on while the run is interrupted: changes that are half written.
    pub(super) fn goes_on_interrupted(&self, action: &Action) -> bool {
        match action {
            Action::CallTool { call, .. } => self.calls.get(call).is_some_and(|call| call.trial.commits > 0),
            Action::Inspect { .. } | Action::Try { .. } | Action::CallModel { .. } => false,
        }
    }

    /// Whether a step is a round after which a person has no turn of their own.
    fn ends_without_turn(&self, step: &Step) -> bool {
        let copilot = self.phase(&step.phase).and_then(|phase| phase.kind.copilot());
        step.round.is_some() && copilot.is_some_and(|copilot| !copilot.conversational)
    }

    fn stopped_by_interruption(&self, id: &str, call: &Call) -> Stopped {
        let is_command = self.command(call).is_some();
        match call.state {
            _ if call.stopped.is_some() || self.begins_open_phase(id) => Stopped::Untouched,
            CallState::Ended(_) | CallState::WithClient(_) | CallState::Doubted(_) => Stopped::Untouched,
            CallState::Started { .. } if call.committing().is_some() => Stopped::Untouched,
            CallState::Started { .. } if is_command => Stopped::WhenItsProcessEnds,
            CallState::Started { .. } if self.writes(&call.tool) => Stopped::Untouched,
            CallState::Started { .. } => Stopped::Abandoned,
            // Half of its changes may be written.
            CallState::Authorised if call.trial.commits > 0 => Stopped::Untouched,
            CallState::Proposed | CallState::Gated(_) | CallState::Authorised => {
                if call.trial.running.is_some() { Stopped::WhenItsProcessEnds } else { Stopped::Skipped }
            }
        }
    }
}

/// Whether the work that was interrupted was ended in the person's turn.
pub(super) fn ended_by_person(interrupt: &Interrupt) -> bool {
    let chosen = interrupt.resolution.as_ref().and_then(|resolution| resolution.option.as_deref());
    interrupt.opened.about == About::Interruption && chosen == Some("done")
}
