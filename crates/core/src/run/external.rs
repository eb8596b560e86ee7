//! External agents, which run in other frameworks. An external agent asks people with the same interrupts as
//! Holdshort's own agents. Holdshort executes nothing for such an agent. The server may have run the agent's command in
//! a trial before the agent asks (`gate/foreign_trial.rs`).

use serde_json::{Value, json};

use super::draft::Draft;
use super::foreign::GateContext;
use super::input::{Ask, Rejection};
use super::{Fact, Origin, foreign};
use crate::actor::Role;
use crate::digest::Digest;
use crate::envelope::Content;
use crate::gate::foreign::ForeignCall;
use crate::gate::foreign_trial::{AskedTrial, ForeignTrial};
use crate::interrupt::{
    About, EXPIRED, Effect, Interrupt, Kind, LABELS, Offer, Opened, Outcome, Risk, STREAMS, on_expiry,
    option, withhold,
};
use crate::json;
use crate::level::Level;
use crate::limits;
use crate::name::is_name;
use crate::schema::{self, Problem};

impl Draft<'_> {
    pub(super) fn ask(&mut self, ask: Ask) -> Result<(), Rejection> {
        self.require_external()?;
        if self.run.open_interrupts().count() >= limits::OPEN_INTERRUPTS {
            let limit = limits::OPEN_INTERRUPTS as u64;
            return Err(Rejection::Limit { name: "open_interrupts", limit });
        }
        let (mut offered, mut problems) = offered(&ask);
        problems.extend(check(&ask));
        problems.extend(self.check_assignment(&ask.assignment, "/assignment"));
        problems.extend(self.check_timing(&ask));
        problems.extend(withhold::check(&ask.withhold, "/withhold"));
        let on_expiry = on_expiry(ask.kind, ask.on_expiry.as_deref(), &offered);
        let applies = |id: &String| offered.iter().any(|offer| offer.id == *id && offer.applies_alone());
        if let Some(wanted) = ask.on_expiry.as_ref().filter(|wanted| !applies(wanted)) {
            let message = format!(
                "`{wanted}` is not one of the options, or needs a text, an edit or a person, which an \
                 expiry cannot provide"
            );
            problems.push(Problem::new("/on_expiry", message));
        }
        // An agent must not be able to approve its own question by letting the question expire.
        let releases =
            offered.iter().any(|offer| offer.id == on_expiry && offer.effect.outcome() == Outcome::Approved);
        if releases && self.cx.actor.role == Role::Agent {
            problems.push(Problem::new(
                "/on_expiry",
                format!("`{on_expiry}` releases work, so an agent cannot choose it for the expiry"),
            ));
        }
        if !problems.is_empty() {
            return Err(Rejection::Invalid(problems));
        }
        let starter = self.run.starter().unwrap_or_default().to_owned();
        let (assignment, timing) = (ask.assignment.started_by(&starter), ask.timing.started_by(&starter));
        let evidence = ask.trial.as_ref().map(AskedTrial::evidence).unwrap_or_default();
        let gated = ask.call.as_ref().map(|(call, _)| {
            call.gated(GateContext {
                agent: &starter,
                assignment: &assignment,
                session: &self.session,
                system: self.cx.system,
                now: self.now(),
                asked_at: None,
                evidence,
            })
        });
        if let Some(trial) = evidence.trial {
            offered = foreign::tried_offers(offered, trial);
        }
        match gated.as_ref().and_then(|gated| gated.grant.as_ref()) {
            Some(_) if ask.options.is_empty() => {
                let after = offered.iter().position(|offer| offer.id == "approve").map_or(0, |at| at + 1);
                offered.splice(after..after, foreign::grant_offer());
            }
            Some(_) => {}
            None => offered.retain(|offer| offer.effect != Effect::Grant),
        }
        let (level, reasons) = match &gated {
            Some(gated) => (gated.level, gated.reasons()),
            None => (Level::Medium, Vec::new()),
        };
        // An approval of the call applies to the changes and the output of the trial.
        let bound_call = ask.call.as_ref().map(|(call, _)| ForeignCall {
            trial: evidence.trial.map(ForeignTrial::digests),
            ..call.clone()
        });
        let (payload, bound) = match (&ask.call, &gated) {
            (Some((call, diff)), Some(gated)) => (
                foreign::card(call, gated, &self.session, &ask.payload, diff.as_ref(), ask.trial.as_ref()),
                Digest::of_json(&bound_call),
            ),
            _ => (ask.payload.clone(), Digest::of_json(&ask.payload)),
        };
        let (now, people, stage) = (self.now(), &self.cx.system.people, assignment.stages.first());
        let opened = Opened {
            callback: ask.callback.is_some(),
            interrupt: ask.callback.unwrap_or_else(|| self.id()),
            kind: ask.kind,
            about: About::External,
            step: None,
            agent: Some(self.cx.actor.id.clone()),
            options: offered,
            risk: Risk { level, reasons },
            action_digest: ask.kind.row().edits.map(|_| bound),
            policy_version: self.cx.system.policy_version,
            expires_at: ask.expires_in_ms.map(|ms| timing.later(now, ms, stage, people)),
            on_expiry,
            remind_at: timing.first_reminder(now, stage, people),
            escalate_at: timing.step_at(0, now, stage, people),
            timing,
            assignment,
            supersedes: None,
            usable_ms: ask.usable_ms.or(evidence.trial.map(|_| limits::TRIAL_USABLE_MS)),
            withhold: ask.withhold,
        };
        let mut content = json!({ "title": ask.title, "message": ask.message, "payload": payload });
        if let Some(schema) = ask.response_schema {
            content["response_schema"] = schema;
        }
        if let Some(call) = &bound_call {
            content["call"] = json!(call);
        }
        match &ask.trial {
            Some(AskedTrial::Tried(tried)) => {
                content["trial"] = json!(tried.trial);
                content[STREAMS] = json!(tried.streams);
            }
            Some(AskedTrial::Untried(why)) => content["untried"] = json!(why),
            None => {}
        }
        let labels = ask.options.into_iter().filter_map(|(id, label)| Some((id, Value::String(label?))));
        let labels: serde_json::Map<String, Value> = labels.collect();
        if !labels.is_empty() {
            content[LABELS] = labels.into();
        }
        let id = self.opened(opened, content);
        if let Some(gated) = gated {
            self.settle_foreign(&id, &gated.verdict);
        }
        Ok(())
    }

    pub(super) fn finish_external(&mut self, result: Value) -> Result<(), Rejection> {
        self.require_external()?;
        if let Some(problem) = unkeepable(&result, "/result") {
            return Err(Rejection::Invalid(vec![problem]));
        }
        self.wind_up();
        self.emit(Fact::RunCompleted { reason: "finished".to_owned() }, Content::data(result));
        Ok(())
    }

    /// Completes the run of an external agent that asks a single question, after the question is resolved.
    pub(super) fn external_resolved(&mut self, interrupt: &Interrupt) {
        let once = self.run.started.as_ref().is_some_and(|started| started.origin == Origin::ExternalOnce);
        if !once || self.is_over() {
            return;
        }
        let Ok(standing) = self.interrupt(&interrupt.opened.interrupt) else { return };
        let Some(resolution) = &standing.resolution else { return };
        let given = standing.answer_from_votes();
        let result = json!({
            "outcome": resolution.outcome,
            "option": resolution.option,
            "text": given.text,
            "edit": given.edit,
        });
        let reason = if resolution.outcome == Outcome::Expired { "expired" } else { "resolved" };
        self.wind_up();
        self.emit(Fact::RunCompleted { reason: reason.to_owned() }, Content::data(result));
    }

    fn require_external(&self) -> Result<(), Rejection> {
        match self.run.started.as_ref().map(|started| started.origin) {
            Some(Origin::External | Origin::ExternalOnce) => Ok(()),
            Some(Origin::Native) | None => Err(Rejection::NotExternal),
        }
    }
}

/// Fields of an external agent's approval card that Holdshort itself sets from the tool call about which the interrupt
/// asks.
const OF_CALLS: [&str; 11] = [
    "tool",
    "arguments",
    "category",
    "workspace",
    "cwd",
    "diff",
    "grant",
    "new_file",
    "trial",
    "changeset",
    "untried",
];

/// Id of the option of a `choice` interrupt that lets the approver write a text.
const CUSTOM: &str = "custom";

/// Returns true if an option does not allow the action that the interrupt asks about. For an escalation, returns false
/// for an instruction, because the run continues with the instruction.
fn holds_back(kind: Kind, offer: &Offer) -> bool {
    match kind {
        Kind::Escalation => offer.stops(),
        Kind::ToolApproval
        | Kind::PlanApproval
        | Kind::Checkpoint
        | Kind::Error
        | Kind::Question
        | Kind::Choice
        | Kind::Turn
        | Kind::Review
        | Kind::Continuation
        | Kind::ClientCall
        | Kind::UnknownOutcome => !offer.releases(),
    }
}

/// Returns the options that an external agent's interrupt offers, and the problems of the options that the agent listed.
/// The agent selects options from the table of the interrupt's kind. If the agent lists none, the interrupt offers the
/// options of the table. Only for a `choice`, the agent can also define options, and the option `custom` is added.
fn offered(ask: &Ask) -> (Vec<Offer>, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut offers: Vec<Offer> = Vec::new();
    for (i, (id, _)) in ask.options.iter().enumerate() {
        let offer = match option(ask.kind, id) {
            Some(row) => Some(Offer::from_row(row)),
            None if ask.kind == Kind::Choice && is_name(id, limits::OPTION_BYTES) => Some(Offer {
                id: id.clone(),
                label: id.clone(),
                effect: Effect::Respond,
                needs_text: false,
                needs_edit: false,
                ends_run: None,
            }),
            None => None,
        };
        match offer {
            Some(_) if id == EXPIRED => {
                let why =
                    "is reserved for the outcome of an expired interrupt: choose another id for the option";
                problems.push(Problem::new(format!("/options/{i}/id"), format!("`{id}` {why}")));
            }
            Some(_) if offers.iter().any(|other| other.id == *id) => {
                problems.push(Problem::new(format!("/options/{i}/id"), format!("`{id}` appears twice")));
            }
            Some(offer) if !offer.effect.is_of_own_calls() => offers.push(offer),
            // The option stays on the card only if the gates find a grant for the call.
            Some(offer) if offer.effect == Effect::Grant && ask.call.is_some() => offers.push(offer),
            None if ask.kind == Kind::Choice => {
                let message = format!(
                    "is not a valid option id: use one line of 1 to {} bytes, with printable characters and \
                     no spaces around them",
                    limits::OPTION_BYTES
                );
                problems.push(Problem::new(format!("/options/{i}/id"), message));
            }
            Some(_) | None => {
                let known: Vec<&str> = ask
                    .kind
                    .row()
                    .options
                    .iter()
                    .filter(|row| !row.effects[0].is_of_own_calls())
                    .map(|row| row.id)
                    .collect();
                let message = format!(
                    "`{}` has no option `{id}` here; choose one of: {}",
                    ask.kind.as_str(),
                    known.join(", ")
                );
                problems.push(Problem::new(format!("/options/{i}/id"), message));
            }
        }
    }
    if problems.is_empty() && !offers.is_empty() && !offers.iter().any(|offer| holds_back(ask.kind, offer)) {
        let holding =
            ask.kind.row().options.iter().map(Offer::from_row).filter(|offer| holds_back(ask.kind, offer));
        let ids: Vec<String> = holding.map(|offer| offer.id).collect();
        let message = format!(
            "the approver could only agree; offer at least one of these options: \
            {}",
            ids.join(", ")
        );
        problems.push(Problem::new("/options", message));
    }
    // The approver can always answer a `choice` with a free text.
    if ask.kind == Kind::Choice && problems.is_empty() && !offers.is_empty() {
        let own = offers.iter().position(|offer| offer.id == CUSTOM).map(|at| offers.remove(at));
        offers.extend(own.or_else(|| option(ask.kind, CUSTOM).map(Offer::from_row)));
    }
    if ask.options.is_empty() {
        let all = ask.kind.row().options.iter().map(Offer::from_row);
        let only: &[&str] = if ask.kind == Kind::Checkpoint { &["approve", "edit", "reject"] } else { &[] };
        offers = all
            .filter(|offer| {
                !offer.effect.is_of_own_calls() && (only.is_empty() || only.contains(&offer.id.as_str()))
            })
            .collect();
    }
    let schema = ask.response_schema.as_ref();
    let offers = offers.into_iter().map(|offer| offer.answered_by(ask.kind, schema)).collect();
    (offers, problems)
}

fn check(ask: &Ask) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !ask.kind.row().from_outside {
        let message = format!("`{}` is only for work that Holdshort runs itself", ask.kind.as_str());
        problems.push(Problem::new("/kind", message));
    }
    if ask.title.trim().is_empty() {
        problems.push(Problem::new("/title", "is empty"));
    }
    if ask.title.len() > limits::TITLE_BYTES {
        problems.push(Problem::new("/title", format!("is longer than {} bytes", limits::TITLE_BYTES)));
    }
    if ask.message.len() > limits::TEXT_BYTES {
        problems.push(Problem::new("/message", format!("is longer than {} bytes", limits::TEXT_BYTES)));
    }
    problems.extend(unkeepable(&ask.payload, "/payload"));
    if ask.trial.is_some() && ask.call.is_none() {
        problems.push(Problem::new("/trial", "needs a `call`: only a call can be tried"));
    }
    if let Some((call, _)) = &ask.call {
        problems.extend(call.problems("/call"));
        problems.extend(unkeepable(&json!(call), "/call"));
        if ask.kind != Kind::ToolApproval {
            problems.push(Problem::new(
                "/call",
                format!("is only for a `tool_approval`, not for a `{}`", ask.kind.as_str()),
            ));
        }
        match &ask.payload {
            Value::Null => {}
            Value::Object(fields) => {
                let said = OF_CALLS.iter().filter(|name| fields.contains_key(**name));
                problems.extend(said.map(|name| {
                    Problem::new(format!("/payload/{name}"), "is already given by `call`: leave it out here")
                }));
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                problems.push(Problem::new(
                    "/payload",
                    "is not an object; if the request has a `call`, the payload must be an object",
                ));
            }
        }
    }
    if ask.options.len() > limits::OPTIONS {
        problems.push(Problem::new("/options", format!("has more than {} options", limits::OPTIONS)));
    }
    for (i, (_, label)) in ask.options.iter().enumerate() {
        if label.as_ref().is_some_and(|label| label.len() > limits::TITLE_BYTES) {
            let message = format!("is longer than {} bytes", limits::TITLE_BYTES);
            problems.push(Problem::new(format!("/options/{i}/label"), message));
        }
    }
    problems.extend(ask.response_schema.as_ref().and_then(|schema| unkeepable(schema, "/response_schema")));
    problems.extend(
        ask.response_schema.iter().flat_map(|schema| schema::refuse_foreign(schema, "/response_schema")),
    );
    if ask.response_schema.is_some() && matches!(ask.kind, Kind::Choice | Kind::Escalation) {
        let message = format!("no option of `{}` accepts data: leave out this field", ask.kind.as_str());
        problems.push(Problem::new("/response_schema", message));
    }
    for (pointer, ms) in [("/expires_in_ms", ask.expires_in_ms), ("/usable_ms", ask.usable_ms)] {
        if ms == Some(0) {
            problems.push(Problem::new(pointer, "must be at least 1"));
        }
    }
    if ask.usable_ms.is_some() && ask.kind.row().edits.is_none() {
        let message = format!(
            "has no effect, because no option of `{}` approves an action: leave out this field",
            ask.kind.as_str()
        );
        problems.push(Problem::new("/usable_ms", message));
    }
    problems
}

/// Returns a problem if the journal cannot store a value that an external agent sent. `pointer` is the JSON pointer of
/// the value in the request.
pub fn unkeepable(value: &Value, pointer: &str) -> Option<Problem> {
    if let Some(problem) = json::unsafe_part(value) {
        return Some(Problem::new(pointer, format!("holds a value that cannot be stored: {problem}")));
    }
    (serde_json::to_string(value).map_or(0, |text| text.len()) > limits::PAYLOAD_BYTES)
        .then(|| Problem::new(pointer, format!("is larger than {} bytes", limits::PAYLOAD_BYTES)))
}
