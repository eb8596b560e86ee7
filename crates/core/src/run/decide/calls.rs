//! Consequences of a decision on a call: the call is executed, edited, answered or refused.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function must list the effects that let work continue; any effect that is not listed \
        must stop the work"
)]

use serde_json::json;

use super::messages::{answer, nonempty, refused, sentence, unanswered, why};
use super::{AppliedDecision, DecisionSource};
use crate::envelope::Content;
use crate::id::InterruptId;
use crate::interrupt::{Effect, Interrupt, Kind};
use crate::run::draft::Draft;
use crate::run::fact::{Authority, ReturnReason};
use crate::run::state::HeldResult;
use crate::run::{Call, CallEnd, CallState, Fact, StepEnd};
use crate::session;
use crate::text::readable;

impl Draft<'_> {
    pub(super) fn call_effect(
        &mut self,
        interrupt: &Interrupt,
        id: &str,
        call: &Call,
        taken: &AppliedDecision<'_>,
    ) {
        match interrupt.opened.kind {
            Kind::ToolApproval => self.tool_effect(interrupt, id, call, taken),
            Kind::PlanApproval => self.plan_effect(id, taken),
            Kind::Question if taken.offer.effect == Effect::Respond => {
                self.finish_call(id, CallEnd::Answered, None, answer(taken));
            }
            Kind::Question => {
                let code = if taken.by == DecisionSource::Person { "skipped" } else { taken.code() };
                let records = self.run.records_assumptions();
                self.finish_call(id, CallEnd::Skipped, Some(code), unanswered(taken, records));
            }
            Kind::Review => match call.held.clone() {
                Some(held) => self.held_effect(interrupt, id, call, &held, taken),
                None => self.review_effect(&interrupt.opened.interrupt, id, call, taken),
            },
            Kind::ClientCall => self.client_effect(id, call, taken),
            Kind::UnknownOutcome => match taken.offer.effect {
                Effect::Respond => self.finish_call(id, CallEnd::Done, Some("happened"), taken.text),
                Effect::Retry => {
                    self.give_back(id, ReturnReason::Rerun, Vec::new());
                    self.note(interrupt, &call.step, taken.text);
                }
                Effect::Skip => {
                    let text = format!("not run again; it is unknown whether it took effect{}", why(taken));
                    self.finish_call(id, CallEnd::Skipped, Some("unknown_outcome"), text);
                }
                _ => self.fail_run("aborted", format!("the outcome of a call is unknown{}", why(taken))),
            },
            Kind::Escalation => self.escalation_effect(interrupt, id, call, taken),
            Kind::Checkpoint | Kind::Error | Kind::Choice | Kind::Turn | Kind::Continuation => {
                self.fail_run(
                    "internal",
                    "the interrupt is about a call, but calls cannot open an \
                    interrupt of this kind",
                );
            }
        }
    }

    pub(super) fn tool_effect(
        &mut self,
        interrupt: &Interrupt,
        id: &str,
        call: &Call,
        taken: &AppliedDecision<'_>,
    ) {
        let opened = &interrupt.opened;
        // Only the call that the interrupt shows is released, and only if the call still waits for this interrupt.
        if call.state != CallState::Gated(opened.interrupt.clone()) {
            return;
        }
        let by = Authority::Interrupt(opened.interrupt.clone());
        match taken.offer.effect {
            Effect::Proceed | Effect::Grant => {
                let Some(digest) = opened.action_digest else {
                    self.fail_run("internal", "the approved call has no digest");
                    return;
                };
                self.authorise(id, digest, by);
                if taken.offer.effect == Effect::Grant {
                    self.grant(interrupt, call);
                }
                self.note(interrupt, &call.step, taken.text);
            }
            Effect::ProceedWithSome => self.keep_some(interrupt, id, call, taken),
            Effect::ProceedWithEdit => {
                self.emit(
                    Fact::ToolReturned { call: id.to_owned(), why: ReturnReason::Edited, paths: Vec::new() },
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

    /// Commits only those changes of a tool call's trial that the person selected, and tells the agent which paths were
    /// dropped.
    fn keep_some(&mut self, interrupt: &Interrupt, id: &str, call: &Call, taken: &AppliedDecision<'_>) {
        // `check_edit` has rejected paths that are not part of the changes.
        let Ok((kept, dropped)) = call.select_changes(taken.edit) else {
            self.fail_run("internal", "the edit names a path that the call did not change");
            return;
        };
        let fact = Fact::ChangesKept {
            call: id.to_owned(),
            changeset: kept.digest(),
            changed: kept.changes().len(),
            deleted: kept.deletions().count(),
        };
        self.emit(fact, Content::data(json!({ "changes": kept })));
        let Ok(call) = self.call(id) else { return };
        let Some(look) = &call.look else { return };
        let digest = self.run.approval_digest(&call, look);
        self.authorise(id, digest, Authority::Interrupt(interrupt.opened.interrupt.clone()));
        let told = if dropped.is_empty() {
            taken.text.to_owned()
        } else {
            sentence(
                &format!(
                    "A person kept only some of the changes of this call. Dropped: \
                {dropped}"
                ),
                taken,
            )
        };
        self.note(interrupt, &call.step, &told);
    }

    /// Applies the decision on an escalation, with which an agent wants to hand its work to a person. `Continue`: the
    /// hand-off takes place. `Instruct`: the hand-off does not take place, and the same agent gets the person's
    /// instruction.
    pub(super) fn escalation_effect(
        &mut self,
        interrupt: &Interrupt,
        id: &str,
        call: &Call,
        taken: &AppliedDecision<'_>,
    ) {
        match taken.offer.effect {
            Effect::Proceed => {
                if self.run.begins_phase(&call.tool) {
                    self.release_called(id, call);
                } else {
                    self.release_handoff(id, call);
                }
                self.note(interrupt, &call.step, taken.text);
            }
            Effect::Respond => self.finish_call(id, CallEnd::Answered, Some("instructed"), taken.text),
            _ => self.fail_run("aborted", format!("`{}` was aborted{}", call.tool, why(taken))),
        }
    }

    /// Adds a grant to the session that allows tool calls like the call `call`.
    pub(super) fn grant(&mut self, interrupt: &Interrupt, call: &Call) {
        let Some(matcher) = self.run.grant_for(call) else { return };
        let grant = self.id();
        let after = self.run.definition.gates.grants.expires_after_ms;
        let expires_at = after.map(|ms| self.now().plus_ms(ms));
        self.emit_session(session::Fact::GrantAdded {
            grant,
            matcher,
            run: self.run.id.clone(),
            interrupt: interrupt.opened.interrupt.clone(),
            expires_at,
        });
        self.revoke_refusals(interrupt);
    }

    pub(super) fn plan_effect(&mut self, id: &str, taken: &AppliedDecision<'_>) {
        match taken.offer.effect {
            Effect::Proceed => {
                let note = nonempty(taken.text).map(|note| format!(" Note from the person: {note}"));
                let text = format!("The plan is approved. Carry it out.{}", note.unwrap_or_default());
                self.finish_call(id, CallEnd::Answered, Some("approved"), text);
            }
            Effect::ProceedWithEdit => {
                let plan = readable(taken.edit);
                let text = format!(
                    "The plan is approved with changes. Carry out this plan instead:\n{plan}{}",
                    why(taken)
                );
                self.finish_call(id, CallEnd::Answered, Some("edited"), text);
            }
            Effect::Replan => {
                let text =
                    format!("The plan is not approved yet. Propose another plan. Feedback: {}", taken.text);
                self.finish_call(id, CallEnd::Answered, Some("revise"), text);
            }
            Effect::FailRun => self.fail_run("rejected", format!("the plan was rejected{}", why(taken))),
            _ => {
                let text = match taken.by {
                    DecisionSource::Person => {
                        format!("The plan was rejected{}. Do not carry it out.", why(taken))
                    }
                    DecisionSource::Expiry => {
                        "The plan was not decided on in time. Do not carry it out.".to_owned()
                    }
                };
                self.finish_call(id, CallEnd::Refused, Some(taken.code()), text);
            }
        }
    }

    pub(super) fn review_effect(
        &mut self,
        interrupt: &InterruptId,
        id: &str,
        call: &Call,
        taken: &AppliedDecision<'_>,
    ) {
        if taken.offer.effect != Effect::Release {
            self.fail_run("rejected", format!("the output was not released{}", why(taken)));
            return;
        }
        let edited = !taken.edit.is_null();
        let content = if edited { taken.edit.clone() } else { json!(call.argument("content")) };
        let released = json!({ "title": call.argument("title"), "content": content });
        let fact = Fact::OutputReleased { call: id.to_owned(), edited, digest: None };
        self.emit(fact, Content::data(released));
        let how = if edited { "Released with changes by the reviewer" } else { "Released" };
        self.finish_call(id, CallEnd::Done, Some("released"), sentence(how, taken));
        self.end_released(interrupt, call, taken);
    }

    pub(super) fn held_effect(
        &mut self,
        interrupt: &Interrupt,
        id: &str,
        call: &Call,
        held: &HeldResult,
        taken: &AppliedDecision<'_>,
    ) {
        if taken.offer.effect != Effect::Release {
            self.fail_run("rejected", format!("`{}` was not released{}", held.title, why(taken)));
            return;
        }
        self.release_held(id, held, taken.edit.as_str());
        // Later steps also receive the reviewer's text. In a crew, later agents also receive the names of the
        // reviewers.
        if self.run.definition.gates.release_ends_step {
            let told = self.describe_approval(&interrupt.opened.interrupt, taken);
            self.guide(interrupt, &call.step, &told);
        } else {
            self.guide(interrupt, &call.step, taken.text);
        }
    }

    /// Ends a tool call that a client executes, with the result that the client reported. If no result arrived in time,
    /// the call fails. A person decides instead if the call may have changed something.
    pub(super) fn client_effect(&mut self, id: &str, call: &Call, taken: &AppliedDecision<'_>) {
        match (taken.offer.effect, taken.by) {
            (Effect::FailRun, _) => {
                self.fail_run("client_failed", format!("`{}` failed in the client{}", call.tool, why(taken)));
            }
            // The call may have taken effect, so a person decides before the call runs again.
            (_, DecisionSource::Expiry) if self.run.writes(&call.tool) => {
                self.doubt(id, "the client did not report the result in time");
            }
            (_, DecisionSource::Expiry) => {
                let text = "the client did not report the result in time";
                self.finish_call(id, CallEnd::Failed, Some(taken.code()), text);
            }
            _ if taken.offer.id == "result" => self.finish_call(id, CallEnd::Done, None, taken.text),
            _ => self.finish_call(id, CallEnd::Failed, Some("tool_failed"), taken.text),
        }
    }
}
