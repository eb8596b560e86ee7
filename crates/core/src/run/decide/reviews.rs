//! What a review releases: the text of a call, or a whole run that a service holds.

use serde_json::{Value, json};

use super::words::{sentence, why};
use super::{AppliedDecision, By};
use crate::event::Content;
use crate::id::InterruptId;
use crate::interrupt::{Effect, Interrupt};
use crate::run::draft::Draft;
use crate::run::{Call, CallEnd, Fact, StepEnd};

impl Draft<'_> {
    pub(super) fn review_effect(&mut self, id: &str, call: &Call, taken: &AppliedDecision<'_>) {
        if taken.offer.effect != Effect::Release {
            self.fail_run("rejected", format!("the output was not released{}", why(taken)));
            return;
        }
        let edited = !taken.edit.is_null();
        let content = if edited { taken.edit.clone() } else { json!(call.argument("content")) };
        let output = Self::readable(&content);
        let released = json!({ "title": call.argument("title"), "content": content });
        self.emit(Fact::OutputReleased { call: id.to_owned(), edited }, Content::data(released));
        let how = if edited { "Released with changes by the reviewer" } else { "Released" };
        self.finish_call(id, CallEnd::Done, Some("released"), sentence(how, taken));
        // What was released is what the agent brought: nobody says anything else after that (contract D3).
        if self.run.definition.gates.release_ends_step {
            self.tell_run(taken.text);
            self.close_step(&call.step, StepEnd::Completed, &output);
        }
    }

    /// Reviews are switched off: what this one would show is released as it is (contract E20).
    pub(in super::super) fn release_unreviewed(&mut self, interrupt: &InterruptId, id: &str, call: &Call) {
        let offer = self.let_through(interrupt);
        let taken = AppliedDecision { offer: &offer, text: "", edit: &Value::Null, by: By::Person };
        self.review_effect(id, call, &taken);
    }

    /// Released: it goes on where it was, and its agents hear of the decision. Anything else ends it.
    pub(super) fn hold_effect(&mut self, interrupt: &Interrupt, taken: &AppliedDecision<'_>) {
        if taken.offer.effect == Effect::Release {
            self.tell_run(&sentence("A reviewer has approved this task", taken));
        } else {
            let title = interrupt.content_text("title");
            self.fail_run("rejected", format!("`{title}` was rejected{}", why(taken)));
        }
    }
}
