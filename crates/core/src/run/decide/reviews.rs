//! Effects of a released review: the end of a step, or of the hold of a whole run.

use serde_json::Value;

use super::messages::{sentence, why};
use super::{AppliedDecision, DecisionSource};
use crate::id::InterruptId;
use crate::interrupt::{Effect, Interrupt};
use crate::run::draft::Draft;
use crate::run::{Call, StepEnd};
use crate::text::readable;

impl Draft<'_> {
    /// Ends the step with the released output, if the workflow is configured so. The agent adds no further text
    /// (contract D3).
    pub(super) fn end_released(&mut self, call: &Call, taken: &AppliedDecision<'_>) {
        if !self.run.definition.gates.release_ends_step {
            return;
        }
        let released = self.run.released.last().and_then(|released| released.get("content"));
        let output = readable(released.unwrap_or(&Value::Null));
        self.tell_run(taken.text);
        self.close_step(&call.step, StepEnd::Completed, &output);
    }

    /// Releases the output without a review, because reviews are switched off (contract E20).
    pub(in super::super) fn release_unreviewed(&mut self, interrupt: &InterruptId, id: &str, call: &Call) {
        let offer = self.let_through(interrupt);
        let taken =
            AppliedDecision { offer: &offer, text: "", edit: &Value::Null, by: DecisionSource::Person };
        self.review_effect(id, call, &taken);
    }

    /// Applies a decision on a hold. A release resumes the run and tells its agents; any other effect ends the run.
    pub(super) fn hold_effect(&mut self, interrupt: &Interrupt, taken: &AppliedDecision<'_>) {
        if taken.offer.effect == Effect::Release {
            // Advances first. Otherwise an agent that finished during the hold would be asked again because of the
            // message.
            self.advance();
            if !self.is_over() {
                self.tell_run(&sentence("A reviewer has approved this task", taken));
            }
        } else {
            let title = interrupt.content_text("title");
            self.fail_run("rejected", format!("`{title}` was rejected{}", why(taken)));
        }
    }
}
