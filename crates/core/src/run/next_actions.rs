//! Actions that the driver must perform for a run in its current state.

use std::collections::BTreeSet;

use super::{Action, ActionId, Call, CallState, Run};

impl Run {
    /// Returns the actions that the driver must perform for the run, in a fixed order: inspections, trials, tool calls,
    /// model calls.
    pub fn actions(&self) -> Vec<Action> {
        if self.is_paused() || self.ended.is_some() {
            return Vec::new();
        }
        let mut actions = Vec::new();
        let open = self.open_calls();
        for (id, call) in open.iter().copied() {
            let here = self.runs_here(&call.tool);
            match call.state {
                CallState::Proposed if here && call.look.is_none() && !self.is_deferred(id, call) => {
                    actions.push(Action::Inspect { call: id.clone(), revision: call.revision });
                }
                CallState::Gated(_) if call.awaits_another_look() => {
                    actions.push(Action::Inspect { call: id.clone(), revision: call.revision });
                }
                CallState::Proposed
                | CallState::Gated(_)
                | CallState::Authorised
                | CallState::Started { .. }
                | CallState::WithClient(_)
                | CallState::Doubted(_)
                | CallState::Ended(_) => {}
            }
        }
        for (id, call) in open.iter().copied().filter(|(id, call)| self.wants_trial(id, call)) {
            actions.push(Action::Try { call: id.clone(), attempt: call.trial.attempt + 1 });
        }
        let mut taken = self.writer().is_some();
        for (id, call) in open {
            let is_due = call.state == CallState::Authorised && !self.waits_its_turn(id, call);
            // The trial of a call is a separate action that comes before the call itself.
            if !is_due || self.is_held(call) || (call.trial.is_stale && !call.look_again) {
                continue;
            }
            let writes = self.writes(&call.tool);
            if writes && taken {
                continue;
            }
            taken |= writes;
            // Files that the release depends on may have changed while the call waited for earlier calls.
            actions.push(if call.look_again {
                Action::Inspect { call: id.clone(), revision: call.revision }
            } else {
                Action::CallTool { call: id.clone(), attempt: call.attempt + 1 }
            });
        }
        for (id, step) in self.steps.open() {
            if self.wants_model(id) {
                actions.push(Action::CallModel {
                    step: id.clone(),
                    turn: step.turn,
                    attempt: step.failures + step.crashes + 1,
                    not_before: step.retry_at,
                });
            }
        }
        if self.interrupted.is_some() {
            actions.retain(|action| self.goes_on_interrupted(action));
        }
        actions
    }

    /// Returns the actions for whose results the run waits. The driver can drop all other actions.
    pub fn awaited(&self) -> BTreeSet<ActionId> {
        if self.ended.is_some() {
            return BTreeSet::new();
        }
        let mut awaited: BTreeSet<ActionId> = self.actions().iter().map(Action::id).collect();
        awaited.extend(self.started().map(|(action, _)| action));
        awaited
    }

    /// Returns true if a tool call may start now. The call must not wait for an earlier call of its reply, nor for a
    /// person. If the call writes, no other call may be writing to the workspace.
    pub(super) fn may_start(&self, id: &str) -> bool {
        let Some(call) = self.calls.get(id) else { return false };
        !self.is_paused()
            && (self.interrupted.is_none() || call.trial.commits > 0)
            && self.ended.is_none()
            && !self.is_held(call)
            && !self.waits_its_turn(id, call)
            && (!self.writes(&call.tool) || self.writer().is_none())
    }

    /// Returns true if an approved tool call must wait, because a question is open or its step is blocked.
    pub(super) fn is_held(&self, call: &Call) -> bool {
        // A commit that has begun is completed even while a question is open.
        let waits = call.trial.commits == 0 && self.is_held_by_a_question(&call.step);
        waits || self.is_blocked(&call.step)
    }

    fn is_blocked(&self, step: &str) -> bool {
        self.steps
            .get(step)
            .is_none_or(|step| step.blocked.is_some() || step.closing.is_some() || step.end.is_some())
    }

    fn writer(&self) -> Option<&String> {
        self.calls
            .open()
            .find(|(_, call)| matches!(call.state, CallState::Started { .. }) && self.writes(&call.tool))
            .map(|(id, _)| id)
    }

    /// Returns the run's tool calls in the order in which they were proposed: `call_2` before `call_10`.
    pub(super) fn calls_in_order(&self) -> Vec<(&String, &Call)> {
        in_order(self.calls.iter().map(|(id, call)| (id, &**call)))
    }

    /// Returns the tool calls that have not ended, in the order in which they were proposed.
    pub(super) fn open_calls(&self) -> Vec<(&String, &Call)> {
        in_order(self.calls.open())
    }
}

fn in_order<'r>(calls: impl Iterator<Item = (&'r String, &'r Call)>) -> Vec<(&'r String, &'r Call)> {
    let mut calls: Vec<_> = calls.collect();
    calls.sort_by_key(|(id, _)| (id.len(), id.as_str()));
    calls
}
