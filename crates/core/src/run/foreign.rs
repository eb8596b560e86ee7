//! Calls that agents which run elsewhere put before the gates: what a rule or a grant says of one is journalled as the end
//! of its interrupt, and nobody is asked; else a person decides.

use serde_json::{Value, json};

use super::draft::Draft;
use super::{Fact, Run};
use crate::actor::{Actor, Whose};
use crate::envelope::Content;
use crate::gate::foreign::{ForeignCall, ForeignInputs, Gated};
use crate::gate::{Release, Verdict};
use crate::id::InterruptId;
use crate::interrupt::{Assignment, Cause, Decision, Effect, Interrupt, Kind, Offer, Outcome, option};
use crate::schema::Problem;
use crate::session::{self, Granters, Session};
use crate::system::System;
use crate::time::Timestamp;

impl ForeignCall {
    /// The vote of the gates on it now. `assignment`: who would decide on it. `asked_at`: when it was put before a person,
    /// if it was.
    pub fn gated(
        &self,
        agent: &str,
        assignment: &Assignment,
        session: &Session,
        system: &System,
        now: Timestamp,
        asked_at: Option<Timestamp>,
    ) -> Gated {
        let granters = Granters { assignment, people: &system.people, starter: Some(Whose::alone(agent)) };
        let grants = assignment.takes_one().then(|| session.grants_by(granters, asked_at, now));
        let refusals = session.standing_refusals().collect();
        self.vote(agent, &ForeignInputs { rules: &system.rules, grants, refusals })
    }
}

impl Run {
    /// The vote of the gates on the call of an interrupt now. `edit`: arguments that a person gave the call. `asked_at`:
    /// a grant that was given since then does not cover it.
    pub(super) fn gate_foreign(
        &self,
        interrupt: &Interrupt,
        edit: &Value,
        session: &Session,
        system: &System,
        now: Timestamp,
        asked_at: Option<Timestamp>,
    ) -> Option<Gated> {
        let call = interrupt.foreign_call()?;
        let call = if edit.is_null() { call } else { call.edited(edit.clone()) };
        let agent = self.starter().unwrap_or_default();
        Some(call.gated(agent, &interrupt.assignment, session, system, now, asked_at))
    }
}

/// What a card shows of a call beside what the agent says.
pub(super) fn card(
    call: &ForeignCall,
    gated: &Gated,
    session: &Session,
    payload: &Value,
    diff: Option<&Value>,
) -> Value {
    let mut fields = payload.as_object().cloned().unwrap_or_default();
    let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    set("tool", json!(call.tool));
    set("arguments", call.arguments.clone());
    set("category", json!(gated.category));
    if let Some(workspace) = &call.workspace {
        set("workspace", json!(workspace));
    }
    if let Some(cwd) = &call.cwd {
        set("cwd", json!(cwd));
    }
    if let Some(diff) = diff {
        set("diff", diff.clone());
    }
    if let Some(grant) = &gated.grant {
        set("grant", session.grant_card(grant));
    }
    Value::Object(fields)
}

/// The option that allows it for the session.
pub(super) fn grant_offer() -> Option<Offer> {
    option(Kind::ToolApproval, "approve_session").map(Offer::of)
}

impl Draft<'_> {
    /// Ends an interrupt that needs nobody. `false`: a person decides.
    pub(super) fn settle_foreign(&mut self, id: &InterruptId, verdict: &Verdict) -> bool {
        // Nothing is released to an agent that runs elsewhere while it is frozen: it goes on as soon as it is told.
        if matches!(verdict, Verdict::Allow(_)) && self.run.freeze(self.cx.system).is_some() {
            return false;
        }
        let (outcome, effect, cause) = match verdict {
            Verdict::Ask { .. } | Verdict::Allow(Release::OpensInterrupt) => return false,
            Verdict::Allow(Release::Grant { grant }) => {
                (Outcome::Approved, Effect::Proceed, Cause::Grant(grant.clone()))
            }
            Verdict::Allow(Release::Rule { source, rule }) => {
                (Outcome::Approved, Effect::Proceed, Cause::Rule { source: *source, rule: *rule })
            }
            Verdict::Forbid(reason) => {
                let rule = reason.rule.unwrap_or_default();
                (Outcome::Rejected, Effect::Refuse, Cause::Rule { source: reason.source, rule })
            }
        };
        let option = if outcome == Outcome::Approved { "approve" } else { "reject" };
        let text = match verdict {
            Verdict::Forbid(reason) => Content::text(reason.text.clone()),
            Verdict::Ask { .. } | Verdict::Allow(_) => Content::none(),
        };
        let resolved = Fact::InterruptResolved {
            interrupt: id.clone(),
            outcome,
            option: Some(option.to_owned()),
            effect: Some(effect),
            cause,
            decision: None,
        };
        // A grant or a rule that stood already is no word of the one who asks.
        self.emit_by(Actor::engine(), resolved, text);
        if let Ok(interrupt) = self.interrupt(id) {
            self.external_resolved(&interrupt);
        }
        true
    }

    /// Why a person can not release the call of an agent that runs elsewhere as they want it: a rule forbids it by now, or
    /// as they edited it.
    pub(super) fn check_foreign(
        &self,
        interrupt: &Interrupt,
        offer: &Offer,
        decision: &Decision,
    ) -> Vec<Problem> {
        if !offer.effect.lets_go_on() || interrupt.content.get("call").is_none() {
            return Vec::new();
        }
        let at = if decision.edit.is_null() { "/option" } else { "/edit" };
        if !decision.edit.is_null() && !decision.edit.is_object() {
            return vec![Problem::new(at, "is no object: it replaces the arguments of the call")];
        }
        let gated = self.gated_foreign(interrupt, &decision.edit);
        match gated.map(|gated| gated.verdict) {
            Some(Verdict::Forbid(reason)) => {
                vec![Problem::new(at, format!("a rule of the installation forbids it: {}", reason.text))]
            }
            Some(Verdict::Allow(_) | Verdict::Ask { .. }) => Vec::new(),
            None => vec![Problem::new(at, "the call can not be read, so no rule was asked about it")],
        }
    }

    fn gated_foreign(&self, interrupt: &Interrupt, edit: &Value) -> Option<Gated> {
        let asked_at = Some(interrupt.opened_at);
        self.run.gate_foreign(interrupt, edit, &self.session, self.cx.system, self.now(), asked_at)
    }

    /// Remembers for the session that such calls are allowed.
    pub(super) fn grant_foreign(&mut self, interrupt: &Interrupt) {
        let gated = self.gated_foreign(interrupt, &Value::Null);
        let Some(matcher) = gated.and_then(|gated| gated.grant) else { return };
        let (grant, run) = (self.id(), self.run.id.clone());
        let id = interrupt.opened.interrupt.clone();
        self.emit_session(session::Fact::GrantAdded { grant, matcher, run, interrupt: id, expires_at: None });
        self.revoke_refusals(interrupt);
    }

    /// Counts the votes again on what is open.
    pub(super) fn revote_foreign(&mut self) {
        let open: Vec<Interrupt> = self
            .run
            .open_interrupts()
            .filter(|(_, interrupt)| interrupt.content.get("call").is_some())
            .map(|(_, interrupt)| interrupt.clone())
            .collect();
        for interrupt in open {
            if self.is_over() {
                return;
            }
            if let Some(gated) = self.gated_foreign(&interrupt, &Value::Null) {
                self.settle_foreign(&interrupt.opened.interrupt, &gated.verdict);
            }
        }
    }
}
