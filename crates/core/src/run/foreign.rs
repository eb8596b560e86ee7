//! Gates for calls of external agents, which run in other frameworks. Each such call opens an interrupt, so that the
//! journal contains it. If a rule or a grant decides the call, the interrupt is resolved without asking a person. In
//! all other cases, a person decides.

use serde_json::{Value, json};

use super::draft::Draft;
use super::{Fact, Run};
use crate::actor::{Actor, ResponsiblePeople};
use crate::envelope::Content;
use crate::gate::foreign::{ForeignCall, ForeignInputs, Gated};
use crate::gate::foreign_trial::{AskedTrial, Evidence, ForeignTrial};
use crate::gate::{Release, Verdict};
use crate::id::InterruptId;
use crate::interrupt::{
    Assignment, Cause, Decision, Effect, Interrupt, KEEP_SOME, Kind, Offer, Outcome, option,
};
use crate::kept_changes::choice;
use crate::schema::Problem;
use crate::session::{self, Granters, Session};
use crate::system::System;
use crate::time::Timestamp;

/// Data for the approval gates' vote on a tool call of an external agent, in addition to the call itself.
#[derive(Clone, Copy, Debug)]
pub struct GateContext<'a> {
    pub agent: &'a str,
    /// Assignment that determines the approvers of the external agent's tool call.
    pub assignment: &'a Assignment,
    pub session: &'a Session,
    pub system: &'a System,
    pub now: Timestamp,
    /// Time at which a person was asked about the external agent's tool call. `None` if no person was asked. Grants
    /// that were given after this time do not apply to the call.
    pub asked_at: Option<Timestamp>,
    pub evidence: Evidence<'a>,
}

impl ForeignCall {
    /// Lets the approval gates vote on an external agent's tool call with the current rules and grants.
    pub fn gated(&self, context: GateContext<'_>) -> Gated {
        let GateContext { agent, assignment, session, system, now, asked_at, evidence } = context;
        let granters = Granters {
            assignment,
            people: &system.people,
            starter: Some(ResponsiblePeople::for_person(agent)),
        };
        let grants = assignment.takes_one().then(|| session.grants_by(granters, asked_at, now));
        let refusals = session.standing_refusals().collect();
        self.vote(agent, &ForeignInputs { rules: &system.rules, grants, refusals, evidence })
    }
}

impl Run {
    /// Lets the approval gates vote, with the current rules and grants, on the external agent's tool call that an
    /// interrupt asks about. `edit`: the arguments as a person edited them, or the paths whose changes a person
    /// approved. `asked_at`: grants that were given after this time do not apply to the call.
    pub(super) fn gate_foreign(
        &self,
        interrupt: &Interrupt,
        edit: &Value,
        session: &Session,
        system: &System,
        now: Timestamp,
        asked_at: Option<Timestamp>,
    ) -> Option<Gated> {
        let (call, trial) = interrupt.decided_call(edit)?;
        let untried = interrupt.content.get("untried").and_then(Value::as_str);
        Some(call.gated(GateContext {
            agent: self.starter().unwrap_or_default(),
            assignment: &interrupt.assignment,
            session,
            system,
            now,
            asked_at,
            evidence: Evidence { trial: trial.as_ref(), untried },
        }))
    }
}

/// Note on the approval card of an external agent's command that ran in a trial.
const NOTE: &str = "The command ran on a copy of the workspace, and nothing has happened yet. \
    You approve exactly the changes and \
    the output that are shown; the command does not run again.";

/// Returns the approval card of an external agent's tool call: the agent's payload, plus fields that are computed from
/// the call.
pub(super) fn card(
    call: &ForeignCall,
    gated: &Gated,
    session: &Session,
    payload: &Value,
    diff: Option<&Value>,
    trial: Option<&AskedTrial>,
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
    match trial {
        Some(AskedTrial::Tried(tried)) => {
            let mut card = tried.card.clone();
            if let Some(choice) = choice(&tried.trial.changeset) {
                card["keep"] = choice;
            }
            set("trial", card);
            set("changeset", json!(tried.trial.changeset.digest()));
            set("note", json!(NOTE));
        }
        Some(AskedTrial::Untried(why)) => {
            set("untried", json!(why));
        }
        None => {}
    }
    Value::Object(fields)
}

/// Returns the option with which a person allows a tool call and also similar calls for the rest of the session.
pub(super) fn grant_offer() -> Option<Offer> {
    option(Kind::ToolApproval, "approve_session").map(Offer::from_row)
}

/// Returns the options for an external agent's tool call that ran in a trial. A person can approve some of the changes.
/// There is no option to edit the command, because the edited command would not have run in the trial.
pub(super) fn tried_offers(mut offers: Vec<Offer>, trial: &ForeignTrial) -> Vec<Offer> {
    offers.retain(|offer| offer.effect != Effect::ProceedWithEdit);
    let at = offers.iter().position(|offer| offer.effect == Effect::Proceed);
    if let Some(at) = at.filter(|_| choice(&trial.changeset).is_some()) {
        let keeps = option(Kind::ToolApproval, KEEP_SOME).map(Offer::from_row);
        let after = at + 1;
        offers.splice(after..after, keeps);
    }
    offers
}

impl Draft<'_> {
    /// Resolves the interrupt of an external agent's tool call if the approval gates allow or forbid the call, so that
    /// no person needs to decide. Returns false if a person must decide.
    pub(super) fn settle_foreign(&mut self, id: &InterruptId, verdict: &Verdict) -> bool {
        // During a freeze the call is not released, because the external agent would continue at once after a release.
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
        // The event names the engine as its actor, because a rule or an existing grant decided, not the asking agent.
        self.emit_by(Actor::engine(), resolved, text);
        if let Ok(interrupt) = self.interrupt(id) {
            self.external_resolved(&interrupt);
        }
        true
    }

    /// Checks if rules forbid a person to approve an external agent's tool call, and returns the problems. A rule may
    /// forbid the original call, or the call as the person edited it.
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
        let keeps_some = offer.effect == Effect::ProceedWithSome;
        if !decision.edit.is_null() && !decision.edit.is_object() && !keeps_some {
            return vec![Problem::new(at, "is not an object: it replaces the arguments of the call")];
        }
        let gated = self.gated_foreign(interrupt, &decision.edit);
        match gated.map(|gated| gated.verdict) {
            Some(Verdict::Forbid(reason)) => {
                vec![Problem::new(
                    at,
                    format!("a rule of the installation forbids the call: {}", reason.text),
                )]
            }
            Some(Verdict::Allow(_) | Verdict::Ask { .. }) => Vec::new(),
            None => vec![Problem::new(at, "the call cannot be read, so no rule could be evaluated")],
        }
    }

    fn gated_foreign(&self, interrupt: &Interrupt, edit: &Value) -> Option<Gated> {
        let asked_at = Some(interrupt.opened_at);
        self.run.gate_foreign(interrupt, edit, &self.session, self.cx.system, self.now(), asked_at)
    }

    /// Adds a grant to the session that allows calls like the external agent's tool call of this interrupt.
    pub(super) fn grant_foreign(&mut self, interrupt: &Interrupt) {
        let gated = self.gated_foreign(interrupt, &Value::Null);
        let Some(matcher) = gated.and_then(|gated| gated.grant) else { return };
        let (grant, run) = (self.id(), self.run.id.clone());
        let id = interrupt.opened.interrupt.clone();
        self.emit_session(session::Fact::GrantAdded { grant, matcher, run, interrupt: id, expires_at: None });
        self.revoke_refusals(interrupt);
    }

    /// Lets the approval gates vote again on open tool calls of external agents.
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
