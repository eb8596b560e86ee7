//! Consequences of a decision on a plan, a step or a phase: work continues, is repeated, or ends.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each function must list the effects that let work continue; any effect that is not listed \
        must stop the work"
)]

use serde_json::Value;

use super::AppliedDecision;
use super::messages::{limit_of, nonempty, unanswered, why};
use crate::envelope::Content;
use crate::interrupt::{Effect, Interrupt};
use crate::plan;
use crate::run::draft::Draft;
use crate::run::{Fact, StepEnd, StepRole, another_plan};
use crate::text::readable;

impl Draft<'_> {
    /// Applies the decision on the plan of a planning phase. The plan is the first one, or a new version of a plan that
    /// agents are already carrying out.
    pub(super) fn planned_effect(&mut self, phase: &str, taken: &AppliedDecision<'_>) {
        let planned = self.run.plans.get(phase).cloned().unwrap_or_default();
        match taken.offer.effect {
            Effect::Proceed => {
                self.settle_plan(phase);
                self.tell_run(taken.text);
            }
            Effect::ProceedWithEdit => {
                // The edit was checked before the decision was recorded.
                let Ok(plan) = self.run.check_new_plan(phase, taken.edit, "/edit") else {
                    self.fail_run("internal", "the plan in the edit is not valid");
                    return;
                };
                self.withdraw_held(phase, &plan);
                self.draft_plan(phase, None, &plan);
                self.settle_plan(phase);
                self.tell_run(taken.text);
            }
            Effect::Replan => {
                if self.run.may_replan(phase, planned.iterations) {
                    self.tell_run(&another_plan(taken.text));
                } else {
                    let limit = self.run.planning(phase).map_or(0, |planning| planning.iterations);
                    let text = format!("no plan was approved in {limit} iterations{}", why(taken));
                    self.fail_phase(phase, "plan_iterations", text);
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
            _ => self.fail_phase(phase, "rejected", format!("the plan was rejected{}", why(taken))),
        }
    }

    pub(super) fn before_step_effect(
        &mut self,
        interrupt: &Interrupt,
        step: &str,
        taken: &AppliedDecision<'_>,
    ) {
        match taken.offer.effect {
            Effect::Proceed => self.guide(interrupt, step, taken.text),
            Effect::ProceedWithEdit => {
                self.emit(
                    Fact::StepInputReplaced { step: step.to_owned() },
                    Content::text(readable(taken.edit)),
                );
                self.guide(interrupt, step, taken.text);
            }
            Effect::Skip => self.skip_step(interrupt, step, taken.text, &why(taken)),
            _ => self.fail_run("rejected", format!("step `{step}` was rejected{}", why(taken))),
        }
    }

    pub(super) fn after_step_effect(
        &mut self,
        interrupt: &Interrupt,
        step: &str,
        taken: &AppliedDecision<'_>,
    ) {
        match taken.offer.effect {
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

    pub(super) fn phase_effect(&mut self, phase: &str, taken: &AppliedDecision<'_>) {
        match taken.offer.effect {
            Effect::Proceed => {
                self.end_phase(phase, StepEnd::Completed);
                self.tell_run(taken.text);
            }
            Effect::ProceedWithEdit => {
                self.end_phase(phase, StepEnd::Completed);
                // Fields of an edit besides the plan are sent to later steps as text. An edit without a plan is also
                // sent as text.
                let said = if self.replace_plan(phase, taken.edit) {
                    plan::fields_without_plan(taken.edit)
                } else {
                    Some(taken.edit.clone())
                };
                match said {
                    Some(changes) => {
                        let changes = readable(&changes);
                        self.tell_run(&format!(
                            "A person wants this to be different{}:\n{changes}",
                            why(taken)
                        ));
                    }
                    None => self.tell_run(taken.text),
                }
            }
            _ => {
                let text = format!("checkpoint `{phase}` was rejected{}", why(taken));
                self.fail_phase(phase, "rejected", text);
            }
        }
    }

    pub(super) fn failure_effect(&mut self, interrupt: &Interrupt, step: &str, taken: &AppliedDecision<'_>) {
        match taken.offer.effect {
            Effect::Retry => {
                self.emit(Fact::StepRetried { step: step.to_owned() }, Content::none());
                self.guide(interrupt, step, taken.text);
            }
            Effect::Skip => self.skip_step(interrupt, step, taken.text, &why(taken)),
            Effect::Respond => self.give_result(step, taken.text),
            _ => self.fail_run("aborted", format!("step `{step}` failed and was aborted{}", why(taken))),
        }
    }

    pub(super) fn limit_effect(&mut self, interrupt: &Interrupt, step: &str, taken: &AppliedDecision<'_>) {
        if taken.offer.effect == Effect::Proceed {
            self.emit(Fact::LimitLifted { step: step.to_owned(), unasked: false }, Content::none());
            self.guide(interrupt, step, taken.text);
            return;
        }
        let stopped = format!("Stopped at its limit of {}.", limit_of(interrupt));
        self.end_as_it_is(step, &stopped);
        self.tell_run(taken.text);
    }

    /// Applies the decision on a step whose agent replied in a way that does not end the step. `Continue`: the agent
    /// continues, and gets the person's text. `Finish`: the agent's last reply becomes the output of the step.
    pub(super) fn ending_effect(&mut self, interrupt: &Interrupt, step: &str, taken: &AppliedDecision<'_>) {
        if taken.offer.effect == Effect::Proceed {
            let text = nonempty(taken.text).unwrap_or_else(|| "Go on with your work.".to_owned());
            self.note(interrupt, step, &text);
            return;
        }
        let why = interrupt.content_text("message");
        self.end_as_it_is(step, &format!("A person accepted this result unchanged. {why}"));
        self.tell_run(taken.text);
    }

    /// Ends a step, with the last reply of its agent as its output. `why` is the reason, which is added to the output.
    pub(in super::super) fn end_as_it_is(&mut self, step: &str, why: &str) {
        let found = self.run.steps.get(step);
        let last = found.and_then(|step| self.run.last_turn(step)).map(|(text, _)| text);
        // An unfinished rewording or judgement is discarded. The task keeps its wording, and no judgement is recorded.
        let is_of_use = !found.is_some_and(|step| {
            matches!(step.role, StepRole::Improver | StepRole::Judge) || step.role.is_aside()
        });
        let output = match last.and_then(nonempty) {
            _ if !is_of_use => String::new(),
            Some(said) => as_it_is(&said, why),
            None => why.to_owned(),
        };
        self.close_step(step, StepEnd::Completed, &output);
    }

    pub(super) fn printed_effect(&mut self, interrupt: &Interrupt, step: &str, taken: &AppliedDecision<'_>) {
        // The agent continues with an answer, and also without an answer.
        if taken.offer.effect == Effect::Respond {
            self.note(interrupt, step, taken.text);
        } else {
            self.note(interrupt, step, &unanswered(taken, self.run.records_assumptions()));
        }
    }
}

pub(in super::super) fn as_it_is(said: &str, why: &str) -> String {
    format!("{said}\n\n{why}")
}
