//! Finds open calls that a new grant would allow. A decision that gives the grant also approves such calls. Such a
//! decision approves only calls that the client showed and that the person left selected.

use serde_json::Value;

use super::draft::Draft;
use super::fact::Authority;
use super::{Call, CallState, Run};
use crate::envelope::Content;
use crate::gate::foreign::ForeignCall;
use crate::gate::{Grant, Matcher, Refusal, RefusalRecord, Release, Verdict, refusal};
use crate::id::{GrantId, Id, InterruptId};
use crate::interrupt::{
    self, About, Cause, Checked, Decision, Effect, Interrupt, Kind, Offer, Outcome, Voter,
};
use crate::limits;
use crate::schema::Problem;
use crate::session::{self, Session};
use crate::system::System;
use crate::text::clip;
use crate::time::Timestamp;

enum AskedCall<'r> {
    /// Tool call of one of the run's own agents, with the id of the call.
    Own(&'r str, &'r Call),
    /// Tool call of an external agent.
    Foreign(Box<ForeignCall>),
}

impl AskedCall<'_> {
    /// Returns true if the grant is for the tool of the call that an interrupt asks about, or for a category of calls.
    fn matches_tool(&self, grant: &Matcher) -> bool {
        let tool = match self {
            Self::Own(_, call) => &call.tool,
            Self::Foreign(call) => &call.tool,
        };
        grant.category.is_some() || grant.tool == *tool
    }
}

/// Id of the option with which open tool calls are approved that a new grant allows.
const APPROVE: &str = "approve";

impl Run {
    /// Returns the open interrupts about tool calls that the grant of the interrupt `interrupt` would allow, and that
    /// the voter may approve. The oldest come first. There are at most [`limits::ALSO`]. Empty if the interrupt offers
    /// no grant.
    pub fn also_covered(
        &self,
        interrupt: &Interrupt,
        voter: &Voter<'_>,
        session: &Session,
        system: &System,
    ) -> Vec<InterruptId> {
        let is_offered = interrupt.opened.options.iter().any(|offer| offer.effect == Effect::Grant);
        let takes_one = interrupt.is_open() && interrupt.assignment.takes_one();
        let grant = self.grant_of(interrupt, session, system, voter.now);
        let Some(grant) = grant.filter(|_| is_offered && takes_one) else { return Vec::new() };
        let others = self.open_interrupts().filter(|(id, other)| {
            **id != interrupt.opened.interrupt
                && self.asked_call(other).is_some_and(|call| call.matches_tool(&grant))
        });
        let others: Vec<_> = others.take(limits::ALSO_COMPARED).collect();
        let session = self.with_grant(interrupt, grant, voter, session);
        let covered =
            others.into_iter().filter(|(_, other)| self.is_also_covered(other, voter, &session, system));
        covered.take(limits::ALSO).map(|(id, _)| id.clone()).collect()
    }

    fn grant_of(
        &self,
        interrupt: &Interrupt,
        session: &Session,
        system: &System,
        now: Timestamp,
    ) -> Option<Matcher> {
        match self.asked_call(interrupt)? {
            AskedCall::Own(_, call) => self.grant_for(call),
            AskedCall::Foreign(_) => {
                self.gate_foreign(interrupt, &Value::Null, session, system, now, Some(interrupt.opened_at))?
                    .grant
            }
        }
    }

    /// Returns a copy of the session that has only one grant: the grant that the voter would give.
    fn with_grant(
        &self,
        interrupt: &Interrupt,
        matcher: Matcher,
        voter: &Voter<'_>,
        session: &Session,
    ) -> Session {
        let mut session = session.clone();
        let id = GrantId::from_text(format!("{}{}", GrantId::PREFIX, "0".repeat(26)));
        let grant = Grant {
            id: id.clone(),
            matcher,
            owner: voter.actor.id.clone(),
            let_in_by: voter.actor.let_in_by.clone(),
            run: self.id.clone(),
            interrupt: interrupt.opened.interrupt.clone(),
            added_at: voter.now,
            added_seq: session.seq + 1,
            expires_at: None,
            revoked_at: None,
        };
        session.grants = [(id, grant)].into_iter().collect();
        session
    }

    /// Returns true if the only grant of the session allows the tool call of the interrupt `other`, and the voter is
    /// allowed to approve this interrupt.
    fn is_also_covered(
        &self,
        other: &Interrupt,
        voter: &Voter<'_>,
        session: &Session,
        system: &System,
    ) -> bool {
        if other.opened.kind != Kind::ToolApproval || !other.assignment.takes_one() {
            return false;
        }
        let decision = Decision { option: APPROVE.to_owned(), ..Decision::default() };
        let may = match interrupt::check(other, voter, &decision, self.seq + 1) {
            Ok(Checked::New(_, seat)) => seat.in_place_of.is_none(),
            Ok(Checked::Repeat) | Err(_) => false,
        };
        let verdict = self.asked_call(other).and_then(|asked| match asked {
            AskedCall::Own(_, call) => {
                let waits = call.state == CallState::Gated(other.opened.interrupt.clone());
                let is_known = waits && call.look.is_some() && call.held.is_none();
                is_known.then(|| self.vote_asked(call, session, system, voter.now, None))
            }
            AskedCall::Foreign(_) => {
                let gated = self.gate_foreign(other, &Value::Null, session, system, voter.now, None);
                gated.map(|gated| gated.verdict)
            }
        });
        may && matches!(verdict, Some(Verdict::Allow(Release::Grant { .. })))
    }

    /// Returns the time at which a person was first asked about the tool call. `None` if no person was asked, or if the
    /// last interrupt about the call was already decided.
    pub(super) fn asked_at(&self, call: &Call) -> Option<Timestamp> {
        let mut asked_at = None;
        let mut next = call.interrupt.as_ref();
        while let Some(interrupt) = next.and_then(|id| self.interrupts.get(id)) {
            let outcome = interrupt.resolution.as_ref().map(|resolution| resolution.outcome);
            let waits = matches!(outcome, None | Some(Outcome::Superseded));
            if interrupt.opened.kind != Kind::ToolApproval || !waits {
                break;
            }
            asked_at = Some(interrupt.opened_at);
            next = interrupt.opened.supersedes.as_ref();
        }
        asked_at
    }

    /// Returns the tool call that a `tool_approval` asks about, in the form that is compared with refused calls.
    fn refusable(&self, interrupt: &Interrupt) -> Option<RefusalRecord> {
        match self.asked_call(interrupt)? {
            AskedCall::Own(_, call) => Some(RefusalRecord::for_call(&self.subject(call), &call.arguments)),
            AskedCall::Foreign(call) => Some(call.to_refuse(self.starter().unwrap_or_default())),
        }
    }

    /// Returns the tool call that a `tool_approval` asks about. `None` if the interrupt does not ask about a call, or
    /// if the content of the call was erased.
    fn asked_call(&self, interrupt: &Interrupt) -> Option<AskedCall<'_>> {
        if interrupt.opened.kind != Kind::ToolApproval {
            return None;
        }
        match &interrupt.opened.about {
            About::Call(id) => self.calls.get_key_value(id).map(|(id, call)| AskedCall::Own(id, call)),
            About::External => interrupt.foreign_call().map(|call| AskedCall::Foreign(Box::new(call))),
            About::BeforeStep(_)
            | About::AfterStep(_)
            | About::Phase(_)
            | About::Plan(_)
            | About::Failure(_)
            | About::Limit(_)
            | About::Printed(_)
            | About::Ending(_)
            | About::Round(_)
            | About::Interruption
            | About::Hold => None,
        }
    }
}

impl Draft<'_> {
    /// Checks the further interrupts that a decision approves with the same grant, in the decision's list `also`.
    /// Returns the problems of the list.
    pub(super) fn check_also(
        &self,
        interrupt: &Interrupt,
        offer: &Offer,
        decision: &Decision,
    ) -> Vec<Problem> {
        let Decision { also, also_shown, .. } = decision;
        if also.is_empty() && also_shown.is_empty() {
            return Vec::new();
        }
        if offer.effect != Effect::Grant {
            let message = format!("`{}` gives no grant: it approves only this interrupt", offer.id);
            return vec![Problem::new(if also.is_empty() { "/also_shown" } else { "/also" }, message)];
        }
        if also_shown.len() > limits::ALSO {
            let message = format!("has more than {} interrupts", limits::ALSO);
            return vec![Problem::new("/also_shown", message)];
        }
        let covered = self.run.also_covered(interrupt, &self.voter(), &self.session, self.cx.system);
        let mut problems = Vec::new();
        for (at, id) in also.iter().enumerate() {
            if also[..at].contains(id) {
                problems.push(Problem::new(format!("/also/{at}"), format!("`{id}` appears twice")));
            } else if !covered.contains(id) {
                let message = format!(
                    "`{id}` is not an open interrupt of this run that the grant covers and that you may approve; \
                     read the interrupt again and use only ids from its `also_covers`"
                );
                problems.push(Problem::new(format!("/also/{at}"), message));
            }
        }
        problems
    }

    /// Approves the open tool calls that the new grant allows and that the person left selected. `decision` is the
    /// sequence number of the decision that gave the grant.
    pub(super) fn release_also(&mut self, interrupt: &Interrupt, also: &[InterruptId], decision: u64) {
        let of = &interrupt.opened.interrupt;
        let given = self.session.grants.values().find(|grant| grant.interrupt == *of);
        let Some(grant) = given.map(|grant| grant.id.clone()) else { return };
        for id in also {
            let Ok(other) = self.interrupt(id) else { continue };
            // An earlier release in this loop may have ended the run. The end of the run closes the remaining
            // interrupts.
            if !other.is_open() {
                continue;
            }
            let Some(offer) = other.offers(APPROVE).cloned() else { continue };
            let cause = Cause::Grant(grant.clone());
            let own = match self.run.asked_call(&other) {
                Some(AskedCall::Own(call, _)) => Some(call.to_owned()),
                Some(AskedCall::Foreign(_)) | None => None,
            };
            self.resolve_by(id, Outcome::Approved, Some(&offer), cause, Some(decision));
            match (own, other.opened.action_digest) {
                (Some(call), Some(digest)) => {
                    self.authorise(&call, digest, Authority::Interrupt(id.clone()));
                }
                (Some(_), None) => self.fail_run("internal", "the approved call has no digest"),
                (None, _) => self.external_resolved(&other),
            }
        }
    }

    /// Records in the session that a person refused a tool call, so that later calls can be compared with the refused
    /// call.
    pub(super) fn remember_refusal(&mut self, interrupt: &Interrupt, offer: &Offer) {
        if offer.effect.outcome() != Outcome::Rejected {
            return;
        }
        let Some(RefusalRecord { call, words }) = self.run.refusable(interrupt) else { return };
        let (interrupt, run) = (interrupt.opened.interrupt.clone(), self.run.id.clone());
        let words = Content::text(clip(&words, limits::TITLE_BYTES));
        self.emit_session_with(session::Fact::RefusalAdded { interrupt, run, call }, words);
    }

    /// Revokes the refusals of an identical tool call, if the approval card showed the person that the call was refused
    /// before.
    pub(super) fn revoke_refusals(&mut self, interrupt: &Interrupt) {
        let is_told = interrupt.opened.risk.reasons.iter().any(|reason| reason.code == refusal::CODE);
        let Some(RefusalRecord { call, .. }) = self.run.refusable(interrupt).filter(|_| is_told) else {
            return;
        };
        let is_same = |refusal: &&Refusal| {
            refusal.at <= interrupt.opened_at
                && refusal.call.repeated_by(&call) == Some(refusal::Repeat::Same)
        };
        let revoked: Vec<InterruptId> = self
            .session
            .standing_refusals()
            .filter(is_same)
            .map(|refusal| refusal.interrupt.clone())
            .collect();
        for interrupt in revoked {
            self.emit_session(session::Fact::RefusalRevoked { interrupt });
        }
    }
}
