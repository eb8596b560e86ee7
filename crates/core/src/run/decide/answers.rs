//! Changes to stored answers: their correction, their erasure, and their reuse for a later question without asking a
//! person.

use serde_json::Value;

use super::{AppliedDecision, DecisionSource, Draft, Effect, Fact, Interrupt, Rejection, check_response};
use crate::envelope::Content;
use crate::id::InterruptId;
use crate::interrupt::{About, AnswerContent, Cause, Decision, Offer, Refusal, Seat, carried};
use crate::schema::Problem;

impl Draft<'_> {
    pub(in crate::run) fn correct_answer(
        &mut self,
        id: &InterruptId,
        given: AnswerContent,
    ) -> Result<(), Rejection> {
        let interrupt = self.interrupt(id)?;
        let offer = answered(&interrupt)?;
        let decision = given.decision(&offer.id, None);
        let problems = problems(&interrupt, offer, &decision);
        if !problems.is_empty() {
            return Err(Rejection::Refused(Refusal::Invalid(problems)));
        }
        let given = AnswerContent { text: decision.text, edit: decision.edit };
        if interrupt.answer().as_ref() != Some(&given) {
            let content = Content { text: given.text, data: given.edit };
            self.emit(Fact::AnswerCorrected { interrupt: id.clone() }, content);
        }
        Ok(())
    }

    /// Erases the answer of a person to the interrupt `id`. Emits no event if the answer was already erased. The
    /// emitted fact lists the events that contain the answer, and the driver then erases the content of these events.
    pub(in crate::run) fn erase_answer(&mut self, id: &InterruptId) -> Result<(), Rejection> {
        let interrupt = self.interrupt(id)?;
        if interrupt.kept.erased {
            return Ok(());
        }
        answered(&interrupt)?;
        if self.run.held.is_some() {
            return Err(Rejection::Held);
        }
        let mut events: Vec<u64> = interrupt.kept.copies.clone();
        // The result text that the agent received from the call holds a copy of the answer.
        if let About::Call(call) = &interrupt.opened.about {
            events.extend(self.run.calls.get(call).and_then(|call| call.ended_at));
        }
        // The result of the run also holds a copy of the answer. The new event gets a copy of the result without the
        // answer.
        let mut content = Content::none();
        if let Some(ended) = &self.run.ended
            && let Some(data) = without_answer(&ended.result, id)
        {
            events.push(ended.told);
            content = Content { text: ended.text.clone(), data };
        }
        events.sort_unstable();
        self.emit(Fact::AnswerErased { interrupt: id.clone(), events }, content);
        Ok(())
    }

    /// Answers a new question with an earlier answer. The question remains open if the earlier answer does not fit, or
    /// if the author of the earlier answer is not allowed to decide on the question.
    pub(in crate::run) fn reuse_answer(
        &mut self,
        id: &InterruptId,
        source: InterruptId,
        by: &str,
        given: AnswerContent,
    ) -> Result<(), Rejection> {
        let interrupt = self.interrupt(id)?;
        let counts = interrupt.is_open() && interrupt.assignment.trusts(by, &self.cx.system.people, None);
        let Some(offer) = interrupt.answering().filter(|_| counts).cloned() else {
            return Err(Rejection::Outdated);
        };
        let decision = given.decision(&offer.id, Some(source.clone()));
        if !problems(&interrupt, &offer, &decision).is_empty() {
            return Err(Rejection::Outdated);
        }
        self.emit_decision(&interrupt, &offer, &decision, false, Seat::default());
        let settled = Some(self.run.seq);
        self.resolve_by(id, Effect::Respond.outcome(), Some(&offer), Cause::Reused(source), settled);
        let text = decision.text.as_deref().unwrap_or_default();
        self.effect(
            &interrupt,
            &AppliedDecision { offer: &offer, text, edit: &decision.edit, by: DecisionSource::Person },
        );
        Ok(())
    }
}

/// Returns the option with which a person answered a question. Returns an error if the interrupt has no answer, or if
/// its answer was erased.
fn answered(interrupt: &Interrupt) -> Result<&Offer, Rejection> {
    if interrupt.kept.erased {
        return Err(Rejection::NoAnswer("it was erased"));
    }
    let offer = interrupt.answering().filter(|_| interrupt.was_answered());
    offer.ok_or(Rejection::NoAnswer("it is not a question that a person has answered"))
}

fn problems(interrupt: &Interrupt, offer: &Offer, decision: &Decision) -> Vec<Problem> {
    let mut problems = carried(interrupt, offer, decision);
    problems.extend(check_response(interrupt, offer, decision));
    problems
}

/// Returns the result of a run without the answer to the question `id`. `None` if the result does not contain this
/// answer.
fn without_answer(result: &Value, id: &InterruptId) -> Option<Value> {
    let mut result = result.clone();
    let questions = result.get_mut("questions")?.as_array_mut()?;
    let of_it = |asked: &&mut Value| asked.get("interrupt").and_then(Value::as_str) == Some(id.as_str());
    let asked = questions.iter_mut().find(of_it)?.as_object_mut()?;
    asked.remove("answer")?;
    asked.remove("text");
    asked.remove("answers");
    asked.insert("erased".to_owned(), Value::Bool(true));
    Some(result)
}
