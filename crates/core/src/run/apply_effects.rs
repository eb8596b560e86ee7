//! Changes that an event causes in other parts of the state: in other calls, in the rounds of a copilot, and in work
//! that waits for an interrupt.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::fact::{Authority, StepRole};
use super::state::{CallState, HeldResult, ModelCall, Rounds};
use super::{Action, ActionId, Call, Erasure, ErasureReason, LegalHold, Run};
use crate::definition::PhaseKind;
use crate::digest::Digest;
use crate::envelope::Content;
use crate::event::Event;
use crate::gate::Reason;
use crate::id::InterruptId;
use crate::interrupt::{About, Kind, Outcome};
use crate::message::Usage;
use crate::tool::Runs;

impl Run {
    pub(super) fn adopted(&mut self, epoch: u64, kept: &BTreeSet<ActionId>) {
        self.epoch = epoch;
        let runs = |call: &Call| matches!(call.state, CallState::Started { .. });
        self.calls.change_open(
            |id, call| runs(call) && kept.contains(&Action::tool_id(id, call.attempt)),
            |call| call.state = CallState::Started { epoch },
        );
        self.calls.change_open(
            |id, call| {
                call.trial.running.is_some() && kept.contains(&Action::trial_id(id, call.trial.attempt))
            },
            |call| call.trial.running = Some(epoch),
        );
        self.steps.change_open(
            |id, step| match step.model {
                ModelCall::Running { attempt, .. } => {
                    kept.contains(&Action::model_id(id, step.turn, attempt))
                }
                ModelCall::Idle => false,
            },
            |step| {
                if let ModelCall::Running { epoch: of, .. } = &mut step.model {
                    *of = epoch;
                }
            },
        );
    }

    pub(super) fn crashed(&mut self, call: &str) {
        if let Some(step) = self.calls.get(call).map(|call| call.step.clone()) {
            self.step(&step, |step| step.crashes += 1);
        }
    }

    /// Returns the last interrupt about a tool call, and the reasons to ask that were shown to the person who approved
    /// the call.
    pub(super) fn released_from(&self, call: &str) -> Option<(InterruptId, Vec<Reason>)> {
        let call = self.calls.get(call)?;
        let last = call.interrupt.clone()?;
        let asked = match &call.authority {
            Some(Authority::Interrupt(approved)) => self.interrupts.get(approved)?,
            Some(Authority::Gate(_)) | None => self.interrupts.get(&last)?,
        };
        let mut reasons = asked.opened.risk.reasons.clone();
        // A question about an unknown outcome has no reasons. A call that runs again after such a question keeps the
        // reasons of its first approval.
        if asked.opened.kind == Kind::UnknownOutcome {
            reasons.extend(call.cleared.iter().flat_map(|(_, cleared)| cleared.clone()));
        }
        Some((last, reasons))
    }

    /// Marks other tool calls for a new inspection, because the call `writer` has written to the workspace. The write
    /// may have changed files that the other calls depend on, or the targets of links. The result of a running
    /// inspection is rejected, because the inspection may have read files before the write.
    pub(super) fn look_again(&mut self, writer: &str) {
        let definition = self.definition.clone();
        let runs_here = |call: &Call| {
            definition.tools.get(&call.tool).is_some_and(|spec| matches!(spec.runs, Runs::Here { .. }))
        };
        self.calls.change_open(
            |id, call| id != writer && runs_here(call) && call.trial.commits == 0,
            |call| {
                call.revision += 1;
                call.look_again = call.look.is_some();
                // A trial in progress has used files as they were before the write.
                call.trial.running = None;
                call.trial.is_stale = call.trial.found.is_some();
            },
        );
    }

    /// Resets the number of replies that were not allowed to end a step, because a person has given the step's agent
    /// new information. An approval of a tool call contains no new information, so an approval does not reset the
    /// number.
    pub(super) fn reset_refused_ends(&mut self, interrupt: &InterruptId, outcome: Outcome) {
        let Some(opened) = self.interrupts.get(interrupt).map(|interrupt| &interrupt.opened) else { return };
        let is_word = !matches!(opened.about, About::Call(_)) || outcome != Outcome::Approved;
        if let Some(step) = opened.step.clone().filter(|_| is_word) {
            self.step(&step, |step| step.refused_ends = 0);
        }
    }

    pub(super) fn rounds(&mut self, phase: &str, change: impl FnOnce(&mut Rounds)) {
        let mut rounds = self.rounds.get(phase).cloned().unwrap_or_default();
        change(Arc::make_mut(&mut rounds));
        self.rounds.insert_mut(phase.to_owned(), rounds);
    }

    /// Begins a new round of a copilot phase if a step with the role `role` starts a round. Returns the number of the
    /// new round.
    pub(super) fn begin_round(&mut self, phase: &str, role: StepRole) -> Option<u32> {
        let found = self.phase(phase)?;
        if role != StepRole::Worker || !matches!(found.kind, PhaseKind::Copilot(_)) {
            return None;
        }
        self.rounds(phase, Rounds::begin);
        Some(self.rounds_of(phase).begun)
    }

    pub(super) fn end_round(&mut self, step: &str) {
        let Some((phase, round)) =
            self.steps.get(step).and_then(|step| Some((step.phase.clone(), step.round?)))
        else {
            return;
        };
        let heard = self.messages.len();
        self.rounds(&phase, |rounds| {
            rounds.heard.insert_mut(round, heard);
        });
    }

    /// Marks all running model calls of the run as stopped by a person.
    pub(super) fn stop_models(&mut self) {
        self.steps.change_open(|_, step| step.model != ModelCall::Idle, |step| step.stopped = true);
    }

    /// Stores the result of a tool call that a person must review. A later approval applies to exactly this result.
    pub(super) fn keep_held(&mut self, call: &str, digest: Digest, content: &Content) {
        let title = content.data.get("title").and_then(Value::as_str).unwrap_or_default().to_owned();
        let data = content.data.get("data").cloned().unwrap_or_default();
        let content = content.text.as_deref().map(Arc::from).unwrap_or_default();
        self.call(call, |call| call.held = Some(Arc::new(HeldResult { title, content, digest, data })));
    }

    /// Stops the whole run until the interrupt is resolved. If an earlier interrupt already stops the run, the earlier
    /// interrupt continues to stop the run.
    pub(super) fn rest_for(&mut self, interrupt: &InterruptId) {
        self.interrupted.get_or_insert_with(|| interrupt.clone());
    }

    pub(super) fn unblock(&mut self, interrupt: &InterruptId) {
        if self.interrupted.as_ref() == Some(interrupt) {
            self.interrupted = self.held_by_another(interrupt);
        }
        let asked = self.rounds.iter().filter(|(_, rounds)| rounds.asked.as_ref() == Some(interrupt));
        for phase in asked.map(|(phase, _)| phase.clone()).collect::<Vec<_>>() {
            self.rounds(&phase, |rounds| rounds.asked = None);
        }
        self.steps
            .change_open(|_, step| step.blocked.as_ref() == Some(interrupt), |step| step.blocked = None);
    }
    /// Records that the contents of the run's events from `from` to `to` are erased. If `from` is 1, the erasure of the
    /// whole run is complete, because the first event of a run is erased last. The event that records the erasure has
    /// no content.
    pub(super) fn content_erased(&mut self, event: &Event, from: u64, to: u64, because: ErasureReason) {
        if from == 1 {
            self.erased = Some(Erasure { by: event.actor.id.clone(), at: event.at, because });
        }
        self.erased_to = self.erased_to.max(to);
        if self.erased_to + 1 == self.seq {
            self.erased_to = self.seq;
        }
    }

    pub(super) fn legal_hold_placed(&mut self, event: &Event) {
        let reason = event.content.text.clone();
        self.held = Some(LegalHold { by: event.actor.id.clone(), at: event.at, reason });
    }

    /// Adds the tokens and the cost of a model reply to the usage of the step and of the run. The tokens of a summary
    /// are added to the step whose turns were summarised.
    pub(super) fn spend(&mut self, id: &str, answered: &str, usage: Usage) {
        let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
        let price =
            self.terms(self.model_of(id).as_deref(), Some(answered)).and_then(|terms| terms.price.as_ref());
        let cost = price.map(|price| price.cost(usage));
        let most = self.prices().map(|price| price.cost(usage)).max();
        let spent = &mut self.spent;
        spent.requests += 1;
        spent.tokens = spent.tokens.saturating_add(tokens);
        spent.input_tokens = spent.input_tokens.saturating_add(usage.input_tokens);
        spent.cost = spent.cost.plus(cost.unwrap_or_default());
        spent.unpriced += u64::from(cost.is_none());
        let payer =
            self.steps.get(id).and_then(|step| step.summarises.clone()).unwrap_or_else(|| id.to_owned());
        self.step(&payer, |step| {
            step.used.tokens = step.used.tokens.saturating_add(tokens);
            step.used.cost = step.used.cost.plus(cost.or(most).unwrap_or_default());
        });
    }
}
