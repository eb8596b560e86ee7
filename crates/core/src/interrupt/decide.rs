//! Checks if a decision of a person is acceptable. Part 4 of the design defines the order of the checks.

use super::{Carry, Decision, Effect, Interrupt, Kind, Offer, Outcome, Refusal, Seat, Voter, option};
use crate::json;
use crate::limits;
use crate::schema::Problem;

/// Result of a successful check of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checked {
    /// The decision is acceptable and new. Contains the chosen option, and the stage and groups for which the vote
    /// counts.
    New(Offer, Seat),
    /// The person has already made exactly this decision. The interrupt does not change, and the person gets the
    /// current result.
    Repeat,
}

/// Checks a decision in this order: role, repeat, expired, resolved, version, option, stage, text and edit. `seq` is
/// the sequence number of the event that will record the decision. The edit is compared with its schema later, by the
/// run. The schema depends on the value that the edit replaces.
pub fn check(
    interrupt: &Interrupt,
    voter: &Voter<'_>,
    decision: &Decision,
    seq: u64,
) -> Result<Checked, Refusal> {
    let Voter { actor, now, .. } = *voter;
    interrupt.may_take_part(voter)?;
    let same = |made: &super::Vote| {
        made.by == actor.id
            && made.hand() == actor.hand()
            && made.option == decision.option
            && made.text.as_deref().unwrap_or_default() == decision.text.as_deref().unwrap_or_default()
            && made.edit == decision.edit
            && made.also == decision.also
            // A decision that names another represented person is a new decision, not a repetition.
            && (decision.on_behalf_of.is_none() || made.on_behalf_of == decision.on_behalf_of)
    };
    if let Some(made) = interrupt.votes.iter().find(|made| same(made)) {
        // A person who may vote in several stages sends the same decision once for each stage.
        let sits_in_another = || {
            let offer = interrupt.offers(&decision.option)?;
            interrupt.seat(voter, offer, made.edit_of).ok().filter(|seat| seat.stage != made.seat.stage)
        };
        if !interrupt.is_open() || interrupt.assignment.distinct || sits_in_another().is_none() {
            return Ok(Checked::Repeat);
        }
    }
    match &interrupt.resolution {
        Some(resolution) if resolution.outcome == Outcome::Expired => return Err(Refusal::Expired),
        Some(_) => return Err(Refusal::AlreadyResolved),
        // A decision after the deadline is refused, even if the driver has not yet recorded the expiry.
        None if interrupt.opened.expires_at.is_some_and(|at| at <= now) => return Err(Refusal::Expired),
        None => {}
    }
    if decision.version.is_some_and(|version| version != interrupt.version) {
        return Err(Refusal::Stale { current: interrupt.version });
    }
    let Some(offer) = interrupt.offers(&decision.option) else {
        let offered: Vec<&str> = interrupt.opened.options.iter().map(|offer| offer.id.as_str()).collect();
        let message = format!("is not offered here; choose one of: {}", offered.join(", "));
        return Err(Refusal::Invalid(vec![Problem::new("/option", message)]));
    };
    let problems = carried(interrupt, offer, decision);
    let seat = interrupt.seat(voter, offer, interrupt.edit_of(&decision.edit, seq))?;
    if offer.effect == Effect::Grant && seat.in_place_of.is_some() {
        let message = "is available only to approvers, because you decide as a delegate and a delegate \
            cannot grant further calls; approve only this call";
        return Err(Refusal::Invalid(vec![Problem::new("/option", message)]));
    }
    if problems.is_empty() { Ok(Checked::New(offer.clone(), seat)) } else { Err(Refusal::Invalid(problems)) }
}

/// Returns the problems of the decision's fields, such as its text and its edit. Does not compare the edit with its
/// schema.
pub(crate) fn carried(interrupt: &Interrupt, offer: &Offer, decision: &Decision) -> Vec<Problem> {
    let mut problems = Vec::new();
    let text = decision.text.as_deref().unwrap_or_default();
    if offer.needs_text && text.trim().is_empty() {
        problems.push(Problem::new("/text", format!("`{}` ({}) needs a text", offer.id, offer.label)));
    }
    if text.len() > limits::TEXT_BYTES {
        problems.push(Problem::new("/text", format!("is longer than {} bytes", limits::TEXT_BYTES)));
    }
    let is_blank = decision.edit.as_str().is_some_and(|text| text.trim().is_empty());
    if offer.needs_edit && (decision.edit.is_null() || is_blank) {
        let form = if interrupt.opened.kind == Kind::Question {
            " that fits `response_schema`: send the answer as JSON in `edit`, not as `text`"
        } else {
            ""
        };
        problems.push(Problem::new("/edit", format!("`{}` ({}) needs an edit{form}", offer.id, offer.label)));
    }
    if decision.from.is_some() && !interrupt.is_answered_by(offer) {
        problems.push(Problem::new(
            "/from",
            format!("the option `{}` does not accept an earlier answer: leave `from` out", offer.id),
        ));
    }
    if decision.on_behalf_of.as_ref().is_some_and(|name| name.len() > limits::ON_BEHALF_BYTES) {
        let message = format!("is longer than {} bytes", limits::ON_BEHALF_BYTES);
        problems.push(Problem::new("/on_behalf_of", message));
    }
    if let Some(problem) = json::unsafe_part(&decision.edit) {
        problems.push(Problem::new("/edit", format!("holds a value that cannot be stored: {problem}")));
    }
    if serde_json::to_string(&decision.edit).map_or(0, |edit| edit.len()) > limits::PAYLOAD_BYTES {
        problems.push(Problem::new("/edit", format!("is larger than {} bytes", limits::PAYLOAD_BYTES)));
    }
    // The agent that asks defines the options of a `choice`. These options take no edit.
    let takes_edit = match option(interrupt.opened.kind, &offer.id).map(|row| row.edit) {
        Some(Carry::Must) => true,
        // An edit is permitted only if this interrupt says which form the edit must have.
        Some(Carry::May) => offer.needs_edit,
        Some(Carry::Never) | None => false,
    };
    if !takes_edit && !decision.edit.is_null() {
        problems.push(Problem::new(
            "/edit",
            format!("the option `{}` accepts no edit: leave it out, or choose another option", offer.id),
        ));
    }
    problems
}
