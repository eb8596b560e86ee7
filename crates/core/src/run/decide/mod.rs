//! Decisions on interrupts, the expiry of interrupts, and the consequences of both. For each part of a run about which
//! people decide (a call, a step, a plan, the run), `calls.rs` or `steps.rs` has a function.

mod answers;
mod calls;
mod messages;
mod reviews;
mod steps;
mod unchanged;

use serde_json::Value;

use super::draft::Draft;
use super::input::Rejection;
use super::{Fact, Run};
use crate::envelope::Content;
use crate::id::InterruptId;
use crate::interrupt::{
    self, About, AnswerContent, Cause, Checked, Decision, Effect, Interrupt, Kind, Offer, Outcome, Refusal,
    Seat, Settlement,
};
use crate::limits;
use crate::schema::{self, Problem};
use messages::nonempty;
pub(super) use steps::as_it_is;

/// End reason of a run that ended because nobody decided in time.
pub(super) const EXPIRED: &str = "expired";

/// Decision on an interrupt that a person made or that the expiry of the interrupt implies, while its effect is
/// applied.
struct AppliedDecision<'d> {
    offer: &'d Offer,
    text: &'d str,
    edit: &'d Value,
    by: DecisionSource,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DecisionSource {
    Person,
    Expiry,
}

impl Draft<'_> {
    pub(super) fn decide(&mut self, id: &InterruptId, decision: &Decision) -> Result<(), Rejection> {
        self.decide_for(id, decision, false)
    }

    /// Applies the decision of a person on an interrupt. `implied` is true if the person did not decide explicitly, but
    /// did something that implies the decision.
    pub(super) fn decide_for(
        &mut self,
        id: &InterruptId,
        decision: &Decision,
        implied: bool,
    ) -> Result<(), Rejection> {
        let interrupt = self.interrupt(id)?;
        let restored = interrupt.restored(&self.voter(), decision);
        let whole = restored.as_ref().ok().cloned().flatten();
        let whole = whole.map(|edit| Decision { edit, ..decision.clone() });
        let decision = &unchanged::as_it_counts(&interrupt, whole.as_ref().unwrap_or(decision));
        // Votes of people who have left are withdrawn before the new vote is counted. The votes of a resolved interrupt
        // do not change.
        if interrupt.is_open() {
            self.unseat(id)?;
            if decision.from_page {
                // If the person may not view the interrupt, the checks below reject the decision for the same reason
                // and report the reason.
                let _ = self.view(id);
            }
        }
        let interrupt = self.interrupt(id)?;
        let (offer, seat) = match interrupt::check(&interrupt, &self.voter(), decision, self.run.seq + 1)? {
            Checked::Repeat => return Ok(()),
            Checked::New(offer, seat) => (offer, seat),
        };
        restored.map_err(Refusal::Withheld)?;
        // An external agent continues as soon as it receives the answer. A freeze can stop the agent only before it
        // receives the answer, so a decision during a freeze is rejected here.
        let stops = matches!(offer.effect.outcome(), Outcome::Rejected | Outcome::Cancelled);
        let goes_on = !stops && self.run.definition.is_external();
        if goes_on && self.run.freeze(self.cx.system).is_some() {
            return Err(Rejection::Frozen);
        }
        let mut problems = self.check_edit(&interrupt, &offer, decision);
        problems.extend(self.check_foreign(&interrupt, &offer, decision));
        problems.extend(self.check_also(&interrupt, &offer, decision));
        problems.extend(self.run.check_given(&interrupt, &offer, decision));
        problems.extend(Run::check_turn(&interrupt, &offer, decision.text.as_deref().unwrap_or_default()));
        if !problems.is_empty() {
            return Err(Rejection::Refused(Refusal::Invalid(problems)));
        }
        self.emit_decision(&interrupt, &offer, decision, implied, seat);
        let voted = self.interrupt(id)?;
        let Some(Settlement { vote, offer, .. }) = voted.settles() else { return Ok(()) };
        let (offer, seq) = (offer.clone(), vote.seq);
        self.resolve_by(id, offer.effect.outcome(), Some(&offer), Cause::Decision, Some(seq));
        self.remember_refusal(&interrupt, &offer);
        // Several people may have voted. The texts of all votes take effect.
        let AnswerContent { text, edit } = self.interrupt(id)?.answer_from_votes();
        let text = text.as_deref().unwrap_or_default();
        self.effect(
            &interrupt,
            &AppliedDecision { offer: &offer, text, edit: &edit, by: DecisionSource::Person },
        );
        if offer.effect == Effect::Grant {
            self.release_also(&interrupt, &decision.also, seq);
        }
        Ok(())
    }

    fn emit_decision(
        &mut self,
        interrupt: &Interrupt,
        offer: &Offer,
        decision: &Decision,
        implied: bool,
        seat: Seat,
    ) {
        let edit_of = interrupt.edit_of(&decision.edit, self.run.seq + 1);
        let (id, option) = (interrupt.opened.interrupt.clone(), offer.id.clone());
        let from = decision.from.clone();
        let is_plain = interrupt.assignment.as_simple().is_some() && seat.in_place_of.is_none();
        let seat = (!is_plain).then_some(seat);
        let viewed_ms = decision.viewed_ms.map(|ms| ms.min(limits::VIEWED_MS));
        let on_behalf_of = decision.on_behalf_of.clone();
        let also = decision.also.clone();
        // A client may omit the list of the interrupts that it showed. The client certainly showed the interrupts in
        // `also`.
        let shown = decision.also_shown.iter().filter(|id| !also.contains(id));
        let also_shown = also.iter().chain(shown).cloned().collect();
        self.emit(
            Fact::DecisionMade {
                interrupt: id,
                option,
                implied,
                edit_of,
                from,
                seat,
                viewed_ms,
                on_behalf_of,
                also,
                also_shown,
            },
            Content { text: decision.text.clone(), data: decision.edit.clone() },
        );
    }

    /// Ends every interrupt of the run whose deadline has passed. If the interrupt has `on_expiry`, the option with
    /// this id is applied. During a freeze of the run or of the asking agent, interrupts do not expire.
    pub(super) fn expire(&mut self) {
        // During a freeze no interrupt expires. Overdue interrupts expire when the freeze is lifted.
        if self.run.freeze(self.cx.system).is_some() {
            return;
        }
        let now = self.now();
        let due: Vec<Interrupt> = self
            .run
            .open_interrupts()
            .filter(|(_, interrupt)| interrupt.opened.expires_at.is_some_and(|at| at <= now))
            .filter(|(_, interrupt)| !self.is_held(interrupt))
            .map(|(_, interrupt)| interrupt.clone())
            .collect();
        for interrupt in due {
            // An expiry earlier in this loop may have closed this interrupt.
            let still_open =
                self.run.interrupts.get(&interrupt.opened.interrupt).is_some_and(|each| each.is_open());
            if !still_open {
                continue;
            }
            let offer = interrupt.opened.taken_on_expiry().cloned();
            self.resolve(&interrupt.opened.interrupt, Outcome::Expired, offer.as_ref(), Cause::Expiry);
            let offer = offer.unwrap_or_else(|| fallback(interrupt.opened.kind));
            let taken =
                AppliedDecision { offer: &offer, text: "", edit: &Value::Null, by: DecisionSource::Expiry };
            self.effect(&interrupt, &taken);
        }
    }

    /// Returns the problems of a decision's edit. The edit is checked against the schema of the tool, the rules for
    /// plans, the paths of the trial, or the response schema of the interrupt.
    fn check_edit(&self, interrupt: &Interrupt, offer: &Offer, decision: &Decision) -> Vec<Problem> {
        let edit = &decision.edit;
        if offer.effect == Effect::ProceedWithSome {
            return self.run.check_kept(interrupt, edit);
        }
        if edit.is_null() || offer.id != "edit" {
            return check_response(interrupt, offer, decision);
        }
        match (&interrupt.opened.about, interrupt.opened.kind) {
            (About::Call(call), Kind::ToolApproval) => {
                match self.run.calls.get(call).and_then(|call| self.run.spec(&call.tool)) {
                    Some(spec) => schema::check(&spec.parameters, edit, "/edit"),
                    None => vec![Problem::new("/edit", "the workflow has no tool with this name")],
                }
            }
            (About::Call(call), Kind::PlanApproval) => {
                let step = self.run.calls.get(call).map_or("", |call| call.step.as_str());
                self.run.check_own_plan(step, edit, "/edit").err().unwrap_or_default()
            }
            (About::Plan(phase), Kind::PlanApproval) => {
                self.run.check_new_plan(phase, edit, "/edit").err().unwrap_or_default()
            }
            (About::Phase(phase), Kind::Checkpoint) => match self.run.plan_at(phase, edit) {
                Some((planning, plan)) => {
                    self.run.check_plan(planning, &plan, "/edit").err().unwrap_or_default()
                }
                None => check_response(interrupt, offer, decision),
            },
            _ => check_response(interrupt, offer, decision),
        }
    }

    fn effect(&mut self, interrupt: &Interrupt, taken: &AppliedDecision<'_>) {
        let about = interrupt.opened.about.clone();
        let unheard = (taken.by == DecisionSource::Expiry).then(|| self.unheard_of(interrupt));
        match (taken.offer.effect, unheard) {
            (Effect::CancelRun, unheard) => {
                self.wind_up();
                let reason = if unheard.is_some() { EXPIRED } else { "cancelled" }.to_owned();
                let text = unheard.or_else(|| nonempty(taken.text));
                self.emit(Fact::RunCancelled { reason }, Content::maybe_text(text));
                return;
            }
            // An expiry is not a rejection by a person, so the run ends with the reason `expired` (contract E9).
            (Effect::FailRun, Some(unheard)) if about != About::External => {
                // If a call began the phase, only the phase fails and the run continues.
                if let About::Phase(phase) | About::Plan(phase) = &about {
                    self.fail_phase(phase, EXPIRED, unheard);
                } else {
                    self.fail_run(EXPIRED, unheard);
                }
                return;
            }
            _ => {}
        }
        match &about {
            About::External => {
                if taken.offer.effect == Effect::Grant {
                    self.grant_foreign(interrupt);
                }
                self.external_resolved(interrupt);
            }
            About::Call(call) => match self.run.calls.get(call).map(|call| (**call).clone()) {
                Some(found) => self.call_effect(interrupt, call, &found, taken),
                None => self.fail_run("internal", "an interrupt is about a call that does not exist"),
            },
            About::BeforeStep(step) => self.before_step_effect(interrupt, step, taken),
            About::AfterStep(step) => self.after_step_effect(interrupt, step, taken),
            About::Phase(phase) => self.phase_effect(phase, taken),
            About::Plan(phase) => self.planned_effect(phase, taken),
            About::Failure(step) => self.failure_effect(interrupt, step, taken),
            About::Limit(step) => self.limit_effect(interrupt, step, taken),
            About::Round(phase) => {
                let is_expired = taken.by == DecisionSource::Expiry;
                self.round_effect(phase, interrupt.opened.kind, taken.offer, taken.text, is_expired);
            }
            About::Hold => self.hold_effect(interrupt, taken),
            About::Interruption => {
                let is_expired = taken.by == DecisionSource::Expiry;
                self.interruption_effect(taken.offer.effect, taken.text, is_expired);
            }
            About::Printed(step) => self.printed_effect(interrupt, step, taken),
            About::Ending(step) => self.ending_effect(interrupt, step, taken),
        }
    }
}

impl AppliedDecision<'_> {
    fn code(&self) -> &'static str {
        match self.by {
            DecisionSource::Person => "refused",
            DecisionSource::Expiry => "expired",
        }
    }
}

/// Checks the edit or answer of a decision against the response schema of the interrupt.
fn check_response(interrupt: &Interrupt, offer: &Offer, decision: &Decision) -> Vec<Problem> {
    let Decision { edit, text, .. } = decision;
    match interrupt.content.get("response_schema") {
        Some(schema) if offer.id == "edit" || offer.needs_edit => schema::check(schema, edit, "/edit"),
        Some(schema) if interrupt.is_answered_by(offer) && schema::is_of_text(schema) => {
            schema::check(schema, &Value::from(text.as_deref().unwrap_or_default()), "/text")
        }
        None if offer.needs_edit && replaces_an_object(interrupt) && !edit.is_object() => {
            vec![Problem::new("/edit", "must be an object, like the value that it replaces")]
        }
        Some(_) | None => Vec::new(),
    }
}

/// Returns true if the edit of a decision on this interrupt replaces an object that an external agent sent. In
/// Holdshort's own runs, other checks apply: an edit of a tool call must match the schema of its tool, and an edit of a
/// plan must be a valid plan.
fn replaces_an_object(interrupt: &Interrupt) -> bool {
    interrupt.opened.about == About::External && interrupt.replaced().is_some_and(Value::is_object)
}

/// Returns the option that is applied when an interrupt of this kind expires without `on_expiry`: the default option of
/// the kind, or else its first option. If this option would approve work, the run fails instead.
fn fallback(kind: Kind) -> Offer {
    let usual = kind.row().on_expiry.and_then(|id| interrupt::option(kind, id));
    let row = usual.unwrap_or(&kind.row().options[0]);
    let mut offer = Offer::from_row(row);
    if offer.effect.outcome() == Outcome::Approved {
        offer.effect = Effect::FailRun;
    }
    offer
}
