//! Trials: a command first runs on a copy of the workspace. The gates then vote on the changes that the command made
//! there (design, part 4).
//!
//! A trial has no lasting effect, so a trial that is lost in a crash is repeated. A trial is also repeated if another
//! call writes to the workspace after the trial. If the repeated trial makes the same changes, the approval of the call
//! remains valid.

use serde_json::{Value, json};

use super::call_changes::not_tried;
use super::draft::Draft;
use super::fact::{Authority, LayerDigest, ReturnReason};
use super::input::Rejection;
use super::state::{CallChanges, Trial};
use super::{Call, CallEnd, CallState, Fact, Run, merge, undo};
use crate::changeset::{self};
use crate::envelope::Content;
use crate::gate::{Reason, stakes};
use crate::interrupt::{About, Interrupt};
use crate::kept_changes::selected;
use crate::limits;
use crate::policy::Checkpoint;
use crate::schema::Problem;
use crate::tool::{SandboxLevel, TrialOutcome, TrialResult};

/// Note on the approval card of a command that ran in a trial.
const NOTE: &str = "The command ran on a copy of the workspace, and nothing has happened yet. \
    You approve exactly the changes that are \
    shown; the command does not run again.";

/// Note on the approval card of an undo or a merge.
const UNDO_NOTE: &str =
    "Nothing has happened yet. You approve exactly the changes that are shown, and you can undo them later.";

impl Run {
    /// Returns the note on a tool call's approval card that explains the trial to the person who decides.
    pub(super) fn note_of(&self, call: &Call) -> &'static str {
        if self.is_worked_out(call) { UNDO_NOTE } else { NOTE }
    }

    /// Returns the result text of a tool call whose changes are committed.
    pub(super) fn result_text(&self, call: &Call, found: &CallChanges) -> String {
        if self.is_undo(call) { undo::describe_result(found) } else { found.text.to_string() }
    }

    fn is_undo(&self, call: &Call) -> bool {
        call.tool == undo::TOOL && self.runs_here(&call.tool)
    }

    /// Returns true if Holdshort computes the changes of a tool call without executing a command, as for an undo or a
    /// merge. Returns false for a client's tool of the same name.
    pub(super) fn is_worked_out(&self, call: &Call) -> bool {
        self.is_undo(call) || (call.tool == merge::TOOL && self.runs_here(&call.tool))
    }

    /// Returns true if the approval gates vote on the changes that a tool call makes in a trial.
    pub(super) fn is_tried(&self, call: &Call) -> bool {
        self.is_to_be_tried(call) && self.why_untried(call).is_none()
    }

    /// Returns true if the workflow requires a trial of the tool call. A call that certainly only reads needs no trial.
    fn is_to_be_tried(&self, call: &Call) -> bool {
        let may_write = self.command(call).map(holdshort_command::parse).is_some_and(|command| {
            // The command line may contain code whose effects cannot be parsed. A trial shows what the code does.
            !command.is_read_only() || command.unclear.is_some()
        });
        self.definition.gates.trial && (may_write || self.is_worked_out(call))
    }

    /// Returns the reason why a command cannot run in a trial. If a command can access the network, or if the sandbox
    /// is incomplete, the command could have effects that remain after the trial.
    fn why_untried<'c>(&self, call: &'c Call) -> Option<&'c str> {
        if self.is_worked_out(call) {
            // A trial of an undo or a merge runs no command, so such a trial is always possible.
            return None;
        }
        if self.definition.network {
            return Some("commands of this run can reach the network, and sent data cannot be taken back");
        }
        if self.asks_before_trials() {
            return Some("a person decides before anything is executed");
        }
        if call.look.as_ref().and_then(|look| look.sandbox) != Some(SandboxLevel::Full) {
            return Some("this machine cannot confine commands fully");
        }
        let Trial { attempt, running, found, impossible, .. } = &call.trial;
        if found.is_none() && running.is_none() && *attempt >= limits::TRIALS {
            return Some("other programs or people changed the workspace during each trial");
        }
        impossible.as_deref()
    }

    /// Returns true if a person must decide on a command before it runs in a trial. The run can require this even if
    /// the workflow does not.
    fn asks_before_trials(&self) -> bool {
        let gates = &self.definition.gates;
        let of_run =
            self.config().is_some_and(|it| it.gates.mandatory.contains(&Checkpoint::BeforeExecution));
        of_run || (gates.mandatory.contains(&Checkpoint::BeforeExecution) && !gates.trial_before_execution)
    }

    /// Returns the reason why a tool call has no trial although the workflow requires one. The approval card shows this
    /// reason. `None` if a trial is possible or not required.
    pub(super) fn untried_reason<'c>(&self, call: &'c Call) -> Option<&'c str> {
        self.why_untried(call).filter(|_| self.is_to_be_tried(call))
    }

    /// Returns true if a trial of the tool call must run next. After the commit of a call has begun, no further trial
    /// runs.
    pub(super) fn wants_trial(&self, id: &str, call: &Call) -> bool {
        let begins = self.interrupted.is_none() && call.trial.running.is_none() && call.stopped.is_none();
        if !begins || !self.is_tried(call) || self.is_held_by_a_question(&call.step) {
            return false;
        }
        let is_stale = call.trial.found.is_some() && call.trial.is_stale && !call.look_again;
        match call.state {
            CallState::Proposed => call.trial.found.is_none() || is_stale,
            CallState::Gated(_) => is_stale,
            CallState::Authorised => is_stale && !self.waits_its_turn(id, call) && !self.is_held(call),
            CallState::Started { .. }
            | CallState::WithClient(_)
            | CallState::Doubted(_)
            | CallState::Ended(_) => false,
        }
    }

    /// Returns the risks of the changes that the trial of a tool call made. The risks are reported even if the approval
    /// gates allow the changes.
    pub(super) fn stakes_of_changes(found: &CallChanges) -> Vec<Reason> {
        stakes::of_deletions(found.changeset.as_deref().unwrap_or(&changeset::EMPTY))
    }
}

impl Run {
    /// Checks a person's edit that selects changes of a trial for the commit, and returns the problems of the edit.
    pub(super) fn check_kept(&self, interrupt: &Interrupt, edit: &Value) -> Vec<Problem> {
        let kept = if let About::Call(id) = &interrupt.opened.about {
            self.calls.get(id).map_or_else(|| Err(not_tried()), |call| call.select_changes(edit)).map(drop)
        } else {
            let trial = interrupt.foreign_trial();
            trial.map_or_else(|| Err(not_tried()), |trial| selected(&trial.changeset, edit).map(drop))
        };
        kept.err().into_iter().collect()
    }
}

impl Draft<'_> {
    pub(super) fn begin_trial(&mut self, id: &str) {
        let Ok(call) = self.call(id) else { return };
        if self.run.is_paused() || self.is_over() || !self.run.wants_trial(id, &call) {
            return;
        }
        let attempt = call.trial.attempt + 1;
        let epoch = self.cx.epoch;
        self.emit(Fact::TrialStarted { call: id.to_owned(), attempt, epoch }, Content::none());
    }

    /// Records that the trial of a tool call was lost, because the server process crashed. After several losses,
    /// Holdshort assumes that the command crashes the process.
    pub(super) fn lose_trial(&mut self, id: &str, attempt: u32) {
        self.emit(Fact::TrialLost { call: id.to_owned(), attempt }, Content::none());
        let Ok(call) = self.call(id) else { return };
        if call.trial.lost >= limits::TRIALS_LOST {
            let why = format!("the server stopped during the command's trial, {} times", call.trial.lost);
            self.give_up_trial(id, &call, why);
        }
    }

    pub(super) fn tried(&mut self, id: &str, attempt: u32, tried: TrialOutcome) -> Result<(), Rejection> {
        let call = self.call(id)?;
        if call.trial.running.is_none() || call.trial.attempt != attempt {
            return Err(Rejection::Outdated);
        }
        if call.stopped.is_some() {
            let printed = if let TrialOutcome::Yielded(yielded) = tried { Some(yielded.text) } else { None };
            self.end_stopped(id, &call, printed);
            return Ok(());
        }
        match tried {
            TrialOutcome::Changed { paths } => {
                self.supersede(&call);
                self.give_back(id, ReturnReason::Changed, paths);
            }
            TrialOutcome::Impossible { why } => self.give_up_trial(id, &call, why),
            TrialOutcome::Yielded(yielded) => self.yielded(id, &call, yielded),
        }
        Ok(())
    }

    fn yielded(&mut self, id: &str, call: &Call, yielded: TrialResult) {
        if self.run.is_worked_out(call) && yielded.changeset.is_empty() {
            let code = if self.run.is_undo(call) { "nothing_to_undo" } else { "nothing_to_merge" };
            self.supersede(call);
            // An empty changeset is not an error. Either the files already have the wanted content, or the run changed
            // nothing that could be undone.
            self.finish_call(id, CallEnd::Done, Some(code), yielded.text);
            return;
        }
        let TrialResult { changeset, layer, ask_because, text, data, card } = yielded;
        let digest = changeset.digest();
        // The card also shows the printed output. If a person has seen the card, the output of a repeated trial must
        // also be the same.
        let was_seen = matches!(call.state, CallState::Gated(_))
            || matches!(call.authority, Some(Authority::Interrupt(_)));
        let is_as_before = call.found().is_some_and(|it| {
            it.digest == digest && it.ask_because == ask_because && (!was_seen || *it.text == *text)
        });
        let fact = Fact::ToolTried {
            call: id.to_owned(),
            attempt: call.trial.attempt,
            changeset: digest,
            changed: changeset.changes().len(),
            deleted: changeset.deletions().count(),
            ask_because,
            layer: layer.as_deref().map(LayerDigest::from_changes),
        };
        let mut data = json!({ "changes": changeset, "data": data, "card": card });
        if let Some(layer) = layer {
            data["layer"] = json!(layer);
        }
        let content = Content { text: Some(text), data };
        match &call.state {
            CallState::Proposed => {
                self.emit(fact, content);
                self.gate(id);
            }
            // The changes are the same as the changes that a person sees on the card or has released.
            CallState::Gated(_) | CallState::Authorised if is_as_before => self.emit(fact, content),
            CallState::Gated(_)
            | CallState::Authorised
            | CallState::Started { .. }
            | CallState::WithClient(_)
            | CallState::Doubted(_)
            | CallState::Ended(_) => {
                self.take_back(id, call);
                self.emit(fact, content);
                self.gate(id);
            }
        }
    }

    /// Sends a command to the approval gates without a trial. The approval card shows why there was no trial. An undo
    /// or a merge fails instead.
    fn give_up_trial(&mut self, id: &str, call: &Call, why: String) {
        if self.run.is_worked_out(call) {
            self.supersede(call);
            self.finish_call(id, CallEnd::Failed, Some("tool_failed"), why);
            return;
        }
        if call.state != CallState::Proposed {
            self.take_back(id, call);
        }
        let attempt = call.trial.attempt;
        self.emit(Fact::TrialImpossible { call: id.to_owned(), attempt }, Content::text(why));
        self.gate(id);
    }

    /// Closes the interrupt about a tool call, and sends the call back to the approval gates with its current inspection.
    fn take_back(&mut self, id: &str, call: &Call) {
        self.supersede(call);
        self.give_back(id, ReturnReason::Changed, Vec::new());
        if let Some(look) = call.look.clone() {
            self.emit(Fact::ToolInspected { call: id.to_owned(), look }, Content::data(call.card.clone()));
        }
    }
}
