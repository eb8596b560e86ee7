//! Tool calls from proposal to end: inspection, vote of the gates, start, and result (or an unknown outcome).

use std::sync::Arc;

use serde_json::{Value, json};

use super::draft::{Draft, Opening};
use super::fact::{Authority, ReturnReason};
use super::input::Rejection;
use super::state::CallChanges;
use super::{Call, CallEnd, CallState, Fact, InspectionFacts, stop};
use crate::digest::Digest;
use crate::envelope::Content;
use crate::gate::{Reason, Release, Source, Verdict};
use crate::id::InterruptId;
use crate::interrupt::{About, Cause, Effect, KEEP_SOME, Kind, Outcome};
use crate::level::Level;
use crate::text::clip;
use crate::time::lasting;
use crate::tool::{CommandEffect, InspectionOutcome, OnCrash, Outcome as Ran, Precondition, ProposedChanges};

impl Draft<'_> {
    pub(super) fn call(&self, id: &str) -> Result<Call, Rejection> {
        self.run.calls.get(id).map(|call| (**call).clone()).ok_or(Rejection::Outdated)
    }

    pub(super) fn finish_call(
        &mut self,
        id: &str,
        end: CallEnd,
        code: Option<&str>,
        text: impl Into<String>,
    ) {
        self.emit(
            Fact::ToolFinished { call: id.to_owned(), end, code: code.map(str::to_owned) },
            Content::text(text),
        );
    }

    fn finish_done(&mut self, id: &str, code: Option<&str>, content: Content) {
        let code = code.map(str::to_owned);
        self.emit(Fact::ToolFinished { call: id.to_owned(), end: CallEnd::Done, code }, content);
    }

    pub(super) fn inspected(
        &mut self,
        id: &str,
        revision: u32,
        inspected: InspectionOutcome,
    ) -> Result<(), Rejection> {
        let call = self.call(id)?;
        let awaited = match call.state {
            CallState::Proposed => call.look.is_none() && !self.run.is_deferred(id, &call),
            CallState::Gated(_) => call.awaits_another_look(),
            CallState::Authorised => call.look_again,
            CallState::Started { .. }
            | CallState::WithClient(_)
            | CallState::Doubted(_)
            | CallState::Ended(_) => false,
        };
        if !awaited || call.revision != revision {
            return Err(Rejection::Outdated);
        }
        let inspection = match inspected {
            InspectionOutcome::Impossible { .. } if self.run.waits_its_turn(id, &call) => {
                self.defer(id, &call);
                return Ok(());
            }
            InspectionOutcome::Impossible { code, message } => {
                self.supersede(&call);
                self.finish_call(id, CallEnd::Failed, Some(code), message);
                return Ok(());
            }
            InspectionOutcome::Ready(inspection) => inspection,
        };
        let proposed = inspection.proposed.clone();
        let (look, card) = self.run.look_of(&call, inspection);
        let as_shown = call.look.as_ref() == Some(&look);
        if call.state == CallState::Authorised {
            self.looked_before_start(id, &call, (look, card), proposed);
            return Ok(());
        }
        self.emit(Fact::ToolInspected { call: id.to_owned(), look }, Content::data(card));
        self.propose(id, proposed);
        if let CallState::Gated(_) = call.state {
            if as_shown {
                return Ok(());
            }
            self.supersede(&call);
            // A call must be proposed before a model can judge it or a trial can run, and a trial is valid only for one
            // inspection. The call therefore returns to the state `proposed`.
            let begins_anew = |call: &Arc<Call>| self.run.needs_judgement(call) || self.run.is_tried(call);
            if self.run.calls.get(id).is_some_and(begins_anew) {
                self.give_back(id, ReturnReason::Changed, Vec::new());
                return Ok(());
            }
        }
        self.gate(id);
        Ok(())
    }

    /// Handles the second inspection of an approved tool call, which is needed if the call waited for other calls to
    /// write. The approval is valid only for the state of files that the first inspection found. If the state is
    /// different now, the approval gates vote again on the call.
    fn looked_before_start(
        &mut self,
        id: &str,
        call: &Call,
        (look, card): (InspectionFacts, Value),
        proposed: Option<Box<ProposedChanges>>,
    ) {
        let as_released = call.look.as_ref() == Some(&look);
        let verdict = self.run.vote(call, &self.session, self.cx.system, self.now());
        let stands = as_released && self.still_releases(call, &verdict);
        if !stands {
            let why = if as_released { ReturnReason::Withdrawn } else { ReturnReason::Changed };
            self.give_back(id, why, Vec::new());
        }
        self.emit(Fact::ToolInspected { call: id.to_owned(), look }, Content::data(card));
        self.propose(id, proposed);
        if !stands {
            self.gate(id);
        }
    }

    /// Records the changes that a file tool proposes for a tool call. When the call starts, exactly these changes are
    /// committed.
    fn propose(&mut self, id: &str, proposed: Option<Box<ProposedChanges>>) {
        let Some(proposed) = proposed else { return };
        let ProposedChanges { changeset, text, data } = *proposed;
        let fact = Fact::ChangesProposed {
            call: id.to_owned(),
            changeset: changeset.digest(),
            changed: changeset.changes().len(),
            deleted: changeset.deletions().count(),
        };
        let data = json!({ "changes": changeset, "data": data });
        self.emit(fact, Content { text: Some(text), data });
    }

    /// Closes the interrupt about a tool call, because the interrupt shows an outdated state of the call. The approval
    /// gates can then open a new interrupt about the call.
    pub(super) fn supersede(&mut self, call: &Call) {
        if let CallState::Gated(interrupt) = &call.state {
            self.resolve(interrupt, Outcome::Superseded, None, Cause::Superseded);
        }
    }

    /// Lets the approval gates vote on an inspected tool call, and acts on their verdict.
    pub(super) fn gate(&mut self, id: &str) {
        let Ok(call) = self.call(id) else { return };
        let Some(look) = call.look.clone() else { return };
        let is_tried = self.run.is_tried(&call);
        let digest = self.run.approval_digest(&call, &look);
        match self.run.vote(&call, &self.session, self.cx.system, self.now()) {
            Verdict::Forbid(reason) => {
                self.finish_call(id, CallEnd::Refused, Some("forbidden"), refused_by_rule(&reason));
            }
            // The call stays proposed until its trial ends. After the trial, `gate` runs again.
            Verdict::Ask { .. } | Verdict::Allow(_) if is_tried && call.trial.found.is_none() => {}
            // The call stays proposed until its judgement arrives. After the judgement, `gate` runs again.
            Verdict::Allow(_) if self.begin_judgement(id, &call) => {}
            Verdict::Allow(release) => self.release(id, &call, release),
            Verdict::Ask { reasons, grantable } => match &call.cleared {
                // A person saw these reasons and edited the call, so no second question is asked. A call that runs as a
                // trial is an exception: the effect of the edited call is unseen, so a person is asked again.
                Some((interrupt, cleared))
                    if !is_tried
                        && call.digest.is_none_or(|before| before == digest)
                        && reasons.iter().all(|reason| cleared.contains(reason)) =>
                {
                    self.authorise(id, digest, Authority::Interrupt(interrupt.clone()));
                }
                Some(_) | None => match self.approved_before(&call, digest, &reasons) {
                    Some(interrupt) => self.authorise(id, digest, Authority::Interrupt(interrupt)),
                    None => self.ask_approval(id, &call, digest, reasons, grantable),
                },
            },
        }
    }

    /// Returns an earlier approval of an action that is identical to the tool call, if the approval is still valid. An
    /// approval becomes invalid if the action is later refused.
    fn approved_before(&self, call: &Call, digest: Digest, reasons: &[Reason]) -> Option<InterruptId> {
        let is_refused = reasons.iter().any(|reason| reason.source == Source::Refusal);
        let people = &self.cx.system.people;
        if is_refused { None } else { self.run.approved_before(call, digest, people) }
    }

    /// Authorises a tool call after a person approved its action. `digest` is the digest of the approved action.
    pub(super) fn authorise(&mut self, id: &str, digest: Digest, by: Authority) {
        let effect = self.run.calls.get(id).and_then(|call| self.run.approved_effect(call));
        self.emit(Fact::ToolAuthorised { call: id.to_owned(), digest, by, effect }, Content::none());
    }

    /// Authorises a tool call that the approval gates allow without a person. The call can then have only the effect on
    /// the workspace that the gates allow.
    fn release(&mut self, id: &str, call: &Call, release: Release) {
        let Some(look) = &call.look else { return };
        // If the sandbox could not enforce the effect, `vote` has already asked a person instead of releasing the call.
        let Ok(effect) = self.run.released_effect(call, &release, &self.session, self.cx.system) else {
            return;
        };
        let digest = self.run.action_digest(call, look, effect.as_ref());
        let why = match &release {
            Release::Rule { source, rule } => self.run.rule(*source, *rule, self.cx.system),
            Release::Grant { .. } | Release::OpensInterrupt => None,
        };
        let why = Content::maybe_text(why.and_then(|rule| rule.reason.clone()));
        let by = Authority::Gate(release);
        self.emit(Fact::ToolAuthorised { call: id.to_owned(), digest, by, effect }, why);
    }

    fn ask_approval(&mut self, id: &str, call: &Call, digest: Digest, reasons: Vec<Reason>, grantable: bool) {
        let mut opening =
            Opening::new(Kind::ToolApproval, About::Call(id.to_owned()), super::gating::title(call));
        opening.step = Some(call.step.clone());
        opening.message = clip(&self.said_with(call), 2_000);
        let reasons = [reasons, self.run.stakes_of(call)].concat();
        opening.risk = super::gating::risk(call, &reasons);
        // At a mandatory checkpoint, a rejection fails the run unless the workflow sets a different effect
        // (contract A5).
        let must = reasons.iter().any(|reason| matches!(reason.source, Source::Checkpoint | Source::Smart));
        opening.reject = must.then_some(Effect::FailRun);
        opening.reasons = reasons;
        opening.action_digest = Some(digest);
        opening.supersedes.clone_from(&call.interrupt);
        let look = call.look.as_ref();
        let mut payload = json!({
            "call_id": id,
            "tool": call.tool,
            "arguments": call.arguments,
            "category": look.map(|look| look.category),
            "workspace": look.map(|look| &look.workspace),
            "cwd": look.map(|look| &look.cwd),
            "sandbox": look.and_then(|look| look.sandbox),
            "effect": self.run.approved_effect(call),
            "preconditions": look.map(|look| &look.preconditions),
        });
        if let (Value::Object(payload), Value::Object(card)) = (&mut payload, &call.card) {
            for (key, value) in card {
                payload.entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        if payload["effect"] == json!(CommandEffect::Reads) && payload.get("network").is_some() {
            // A read-only command has no network access, even if the workflow allows network access.
            payload["network"] = json!(false);
        }
        if let Some(found) = call.found() {
            payload["trial"] = found.card.clone();
            payload["changeset"] = json!(found.digest);
            payload["note"] = json!(self.run.note_of(call));
        } else if let Some(why) = self.run.untried_reason(call) {
            payload["untried"] = json!(why);
        }
        if !call.judgement.is_null() {
            payload["judgement"] = call.judgement.clone();
        }
        let after = self.run.after(id, call);
        if !after.is_empty() {
            payload["after"] = Value::Array(after);
        }
        let grant = self.run.grant_for(call).filter(|_| grantable);
        let choice = call.found().and_then(CallChanges::choice);
        opening.without =
            [grant.is_none().then_some("approve_session"), choice.is_none().then_some(KEEP_SOME)]
                .into_iter()
                .flatten()
                .collect();
        if let Some(choice) = choice {
            payload["trial"]["keep"] = choice;
        }
        self.run.mark_outside(call, &mut payload);
        // The card shows the scope of the session grant before a person chooses the grant.
        if let Some(grant) = grant {
            payload["grant"] = json!(grant);
            let ends = self.run.definition.gates.grants.expires_after_ms;
            let ends = ends.map(|ms| format!("; it ends after {}", lasting(ms))).unwrap_or_default();
            payload["grant"]["words"] = json!(format!("{}{ends}", grant.describe()));
            payload["grant"]["past"] = json!(self.run.covered_before(id, &grant, &self.session));
            payload["grant"]["refused"] = json!(self.session.refused_of(&grant));
        }
        let granted = self.run.granted_categories(call, &self.session, &self.cx.system.people, self.now());
        if !granted.is_empty() {
            payload["granted_categories"] = json!(granted);
        }
        opening.payload = payload;
        opening.response_schema = self.run.spec(&call.tool).map(|spec| spec.parameters.clone());
        self.open(opening);
    }

    /// Returns the text of the agent's reply that contains the tool call.
    pub(super) fn said_with(&self, call: &Call) -> String {
        self.run
            .steps
            .get(&call.step)
            .and_then(|step| self.run.last_turn(step))
            .map(|(text, _)| text.to_owned())
            .unwrap_or_default()
    }

    /// Checks an authorised tool call for the last time, and records its start before the call has any effect. Only
    /// exactly the approved call is executed.
    pub(super) fn begin_tool(&mut self, id: &str, observed: &[Precondition]) {
        let Ok(call) = self.call(id) else { return };
        let is_due = !call.look_again && !call.trial.is_stale;
        if call.state != CallState::Authorised || !is_due || !self.run.may_start(id) {
            return;
        }
        let is_resumed = call.trial.commits > 0;
        let (Some(look), Some(digest)) = (call.look.clone(), call.digest) else { return };
        let changed: Vec<String> = look
            .preconditions
            .iter()
            .filter(|shown| !observed.contains(shown))
            .map(|shown| shown.path.clone())
            .collect();
        let is_as_released = self.run.action_digest(&call, &look, call.effect.as_ref()) == digest;
        // A resumed commit may itself have changed the files, but not the directories that contain the files.
        if is_resumed && changed.iter().any(|path| path.ends_with('/')) {
            self.doubt(id, "a directory was replaced while the changes of the call were written into it");
            return;
        }
        if !is_as_released || (!changed.is_empty() && !is_resumed) {
            self.give_back(id, ReturnReason::Changed, changed);
            return;
        }
        match self.run.vote(&call, &self.session, self.cx.system, self.now()) {
            _ if is_resumed => {}
            Verdict::Forbid(reason) => {
                self.finish_call(id, CallEnd::Refused, Some("forbidden"), refused_by_rule(&reason));
                return;
            }
            verdict if !self.still_releases(&call, &verdict) => {
                self.give_back(id, ReturnReason::Withdrawn, Vec::new());
                return;
            }
            Verdict::Ask { .. } | Verdict::Allow(_) => {}
        }
        let found = call.committing();
        if let Some(found) = found.filter(|found| found.changed == 0 && found.layer.is_none()) {
            // The trial changed nothing, so nothing is committed. The output of the trial is the result.
            let content = Content { text: Some(found.text.to_string()), data: found.data.clone() };
            self.finish_done(id, None, content);
            return;
        }
        let changeset = found.map(|found| found.digest);
        let started = Fact::ToolStarted {
            call: id.to_owned(),
            attempt: call.attempt + 1,
            digest,
            epoch: self.cx.epoch,
            sandbox: look.sandbox,
            changeset,
            effect: call.effect.clone(),
        };
        self.emit(started, Content::none());
        if self.run.is_client_call(&call) {
            self.open_client_call(id, &call);
        }
    }

    /// Returns true if the approval of a tool call is still valid, so that the call can start. A person's approval is
    /// valid unless a rule now forbids the call. An approval by a rule or a grant is valid only if the same rule or
    /// grant still allows the call. A call must never have more rights than the recorded rule or grant gives.
    fn still_releases(&self, call: &Call, verdict: &Verdict) -> bool {
        match (&call.authority, verdict) {
            (Some(Authority::Interrupt(_)), Verdict::Ask { .. } | Verdict::Allow(_)) => true,
            (Some(Authority::Gate(then)), Verdict::Allow(now)) => {
                then == now
                    && self
                        .run
                        .released_effect(call, now, &self.session, self.cx.system)
                        .is_ok_and(|now| now == call.effect)
            }
            (_, Verdict::Forbid(_)) | (Some(Authority::Gate(_)), Verdict::Ask { .. }) | (None, _) => false,
        }
    }

    /// Sends a tool call back to the approval gates, so that the gates vote on the call again.
    pub(super) fn give_back(&mut self, id: &str, why: ReturnReason, paths: Vec<String>) {
        self.emit(Fact::ToolReturned { call: id.to_owned(), why, paths }, Content::none());
    }

    /// Handles the result of a tool call that the server executed.
    pub(super) fn ran(&mut self, id: &str, attempt: u32, outcome: Ran) -> Result<(), Rejection> {
        let call = self.call(id)?;
        if !matches!(call.state, CallState::Started { .. }) || call.attempt != attempt {
            return Err(Rejection::Outdated);
        }
        if let Some(found) = call.committing().cloned() {
            self.committed(id, &found, outcome);
            return Ok(());
        }
        let late = |call: &Call, text, data| Content { text: Some(stop::told_late(call, text)), data };
        match outcome {
            // A person stopped the call. The failure therefore means only that the call did not complete.
            Ran::Failed { text } if call.stopped.is_some() => {
                self.finish_stopped(id, &call, Some(text), Value::Null);
            }
            Ran::Done { text, data } => self.finish_done(id, None, late(&call, text, data)),
            Ran::Confined { text, data } => {
                self.finish_done(id, Some(super::CONFINED), late(&call, text, data));
            }
            Ran::SetAside { text, data } => {
                self.finish_done(id, Some(super::SET_ASIDE), late(&call, text, data));
            }
            Ran::Failed { text } => self.finish_call(id, CallEnd::Failed, Some("tool_failed"), text),
            Ran::Changed { .. } if call.stopped.is_some() => self.end_stopped(id, &call, None),
            Ran::Changed { paths } => self.give_back(id, ReturnReason::Changed, paths),
            Ran::Halfway { text } => self.doubt(id, &text),
            Ran::Stopped { text, data } => self.finish_stopped(id, &call, Some(text), data),
            Ran::Held(held) => self.hold_result(id, &call, *held),
        }
        Ok(())
    }

    /// Handles the result of committing the changes of a tool call to the workspace. If a file had changed before the
    /// commit, the approval gates vote on the call again. If only some of the changes were written, a person decides.
    fn committed(&mut self, id: &str, found: &super::CallChanges, outcome: Ran) {
        match outcome {
            Ran::Done { .. } | Ran::Confined { .. } | Ran::SetAside { .. } => {
                let text = self
                    .call(id)
                    .map_or_else(|_| found.text.to_string(), |call| self.run.result_text(&call, found));
                self.finish_done(id, None, Content { text: Some(text), data: found.data.clone() });
            }
            Ran::Changed { paths } => self.give_back(id, ReturnReason::Changed, paths),
            Ran::Failed { text } | Ran::Stopped { text, .. } => {
                self.finish_call(id, CallEnd::Failed, Some("tool_failed"), text);
            }
            Ran::Halfway { text } => self.doubt(id, &text),
            // A commit never holds a result back for review.
            Ran::Held(_) => self.doubt(id, "its changes were held back"),
        }
    }

    /// Handles a tool call that was running when the server process stopped. The call is repeated, or a person is asked
    /// about its outcome. A call that a person had stopped ends.
    pub(super) fn adopt_call(&mut self, id: &str) {
        let Ok(call) = self.call(id) else { return };
        match self.run.on_crash(&call) {
            // A person stopped the call, and its process has ended. The effects of the call before the stop are
            // unknown.
            _ if call.stopped.is_some() => self.finish_stopped(id, &call, None, Value::Null),
            OnCrash::Rerun => self.emit(Fact::ToolLost { call: id.to_owned() }, Content::none()),
            OnCrash::Ask => self.doubt(id, "the process that ran it stopped before it reported a result"),
        }
    }

    pub(super) fn doubt(&mut self, id: &str, why: &str) {
        let Ok(call) = self.call(id) else { return };
        self.emit(Fact::ToolDoubted { call: id.to_owned() }, Content::none());
        let title = format!("Did this call take effect? {}", super::gating::title(&call));
        let mut opening = Opening::new(Kind::UnknownOutcome, About::Call(id.to_owned()), title);
        opening.step = Some(call.step.clone());
        opening.message = format!("It is unknown whether this call took effect: {why}.");
        opening.risk = Level::High;
        opening.action_digest = call.digest;
        opening.payload = json!({
            "call_id": id,
            "tool": call.tool,
            "arguments": call.arguments,
            "attempt": call.attempt,
        });
        self.open(opening);
    }

    /// Lets the approval gates vote again on the run's open tool calls after the policy has changed. If the gates now
    /// allow or forbid a call, the interrupt of the call is closed. A call that a model must judge still waits for the
    /// person, even if the gates now allow the call. Grants that were given after a person was asked about the call do
    /// not apply to the call.
    pub(super) fn revote(&mut self) {
        self.revote_foreign();
        let gated: Vec<(String, Call)> = self
            .run
            .calls
            .open()
            .filter(|(_, call)| matches!(call.state, CallState::Gated(_)) && call.look.is_some())
            // The call has already run. Only a person can release the result of the call.
            .filter(|(_, call)| call.held.is_none())
            .map(|(id, call)| (id.clone(), call.clone()))
            .collect();
        for (id, call) in gated {
            let CallState::Gated(interrupt) = &call.state else { continue };
            match self.run.vote(&call, &self.session, self.cx.system, self.now()) {
                // A person is already asked about the call. A model's judgement does not replace the decision of the
                // person.
                Verdict::Allow(_) if self.run.needs_judgement(&call) => {}
                Verdict::Allow(release) => {
                    let cause = match &release {
                        crate::gate::Release::Grant { grant } => Cause::Grant(grant.clone()),
                        crate::gate::Release::Rule { .. } | crate::gate::Release::OpensInterrupt => {
                            Cause::Superseded
                        }
                    };
                    let outcome =
                        if cause == Cause::Superseded { Outcome::Superseded } else { Outcome::Approved };
                    self.resolve(interrupt, outcome, None, cause);
                    self.release(&id, &call, release);
                }
                Verdict::Forbid(reason) => {
                    self.resolve(interrupt, Outcome::Superseded, None, Cause::Superseded);
                    self.finish_call(&id, CallEnd::Refused, Some("forbidden"), refused_by_rule(&reason));
                }
                Verdict::Ask { .. } => {}
            }
        }
    }
}

fn refused_by_rule(reason: &Reason) -> String {
    format!("refused by policy: {}. Do not try it again in another form.", reason.text)
}
