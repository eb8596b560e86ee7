//! Consequences of an approved review: the step that requested the review ends, or the whole run continues.

use serde_json::Value;

use super::messages::{sentence, why};
use super::{AppliedDecision, DecisionSource};
use crate::id::InterruptId;
use crate::interrupt::{Effect, Interrupt, Vote};
use crate::run::draft::Draft;
use crate::run::{Call, StepEnd};
use crate::text::readable;

impl Draft<'_> {
    /// Ends the step that requested the review of its output, if the workflow sets `release_ends_step`. The approved
    /// output becomes the result of the step. The agent adds no further text (contract D3).
    pub(super) fn end_released(&mut self, interrupt: &InterruptId, call: &Call, taken: &AppliedDecision<'_>) {
        if !self.run.definition.gates.release_ends_step {
            return;
        }
        let released = self.run.released.last().and_then(|released| released.get("content"));
        let output = readable(released.unwrap_or(&Value::Null));
        let told = self.describe_approval(interrupt, taken);
        self.tell_run(&told);
        self.close_step(&call.step, StepEnd::Completed, &output);
    }

    /// Returns a text that tells the next agents about a decision on a review: the status, the reviewers and their
    /// comments (contract D3). If reviews are switched off and nobody decided, the text has only the comments.
    pub(super) fn describe_approval(&self, interrupt: &InterruptId, taken: &AppliedDecision<'_>) -> String {
        let decided = self.run.interrupts.get(interrupt);
        let votes = decided.map(|interrupt| interrupt.agreed()).unwrap_or_default();
        let reviewer = |vote: &&Vote| match &vote.on_behalf_of {
            Some(named) => format!("{} on behalf of {named}", vote.by),
            None => vote.by.clone(),
        };
        let reviewers: Vec<String> = votes.iter().map(reviewer).collect();
        if reviewers.is_empty() {
            return taken.text.to_owned();
        }
        sentence(&format!("The review was approved by {}", reviewers.join(", ")), taken)
    }

    /// Approves an output without a review, in a run in which reviews are switched off (contract E20).
    pub(in super::super) fn release_unreviewed(&mut self, interrupt: &InterruptId, id: &str, call: &Call) {
        let offer = self.let_through(interrupt);
        let taken =
            AppliedDecision { offer: &offer, text: "", edit: &Value::Null, by: DecisionSource::Person };
        self.review_effect(interrupt, id, call, &taken);
    }

    /// Applies the decision on a run that a service has stopped for a review. After an approval, the run continues, and
    /// its agents get the reviewer's text. After any other decision, the run ends.
    pub(super) fn hold_effect(&mut self, interrupt: &Interrupt, taken: &AppliedDecision<'_>) {
        if taken.offer.effect == Effect::Release {
            // The run advances first, so that an agent that finished during the hold ends its step. Otherwise the
            // message below would make the finished agent continue.
            self.advance();
            if !self.is_over() {
                let told = self.describe_approval(&interrupt.opened.interrupt, taken);
                self.tell_run(&told);
            }
        } else {
            let title = interrupt.content_text("title");
            self.fail_run("rejected", format!("`{title}` was rejected{}", why(taken)));
        }
    }
}
