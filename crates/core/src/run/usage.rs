//! Inputs of an external agent about its earlier questions. The agent uses an approval, reports the outcome of writing
//! approved changes, or withdraws a question.

use super::draft::Draft;
use super::input::{Rejection, check_text};
use super::{Fact, Origin};
use crate::digest::Digest;
use crate::envelope::Content;
use crate::gate::Verdict;
use crate::id::InterruptId;
use crate::interrupt::{About, Cause, ExecOutcome, Interrupt, Outcome, Refusal, Unusable};
use crate::projection::Status;

impl Draft<'_> {
    /// Marks the approval of an external agent's action as used. An approval can be used only once. After the emitted
    /// event, the agent performs the approved action.
    pub(super) fn use_approval(&mut self, id: &InterruptId, digest: Digest) -> Result<(), Rejection> {
        let asked = self.require_asked_elsewhere(id)?;
        asked.check_use(digest, self.now())?;
        // The gates vote according to the current rules, on the arguments as a person may have edited them. If a rule
        // now forbids the call, the rule overrides the approval.
        let edit = asked.answer_from_votes().edit;
        let gated = self.run.gate_foreign(&asked, &edit, &self.session, self.cx.system, self.now(), None);
        let verdict = gated.map(|gated| gated.verdict);
        if matches!(verdict, Some(Verdict::Forbid(_))) {
            return Err(Unusable::NotApproved("a rule of the installation forbids it").into());
        }
        // No person released the call. Only a rule or a grant released it, and that rule or grant no longer applies.
        let resolution = asked.resolution.as_ref();
        let cause = resolution.filter(|each| each.decision.is_none()).map(|each| &each.cause);
        let by_itself = matches!(cause, Some(Cause::Rule { .. } | Cause::Grant(_)));
        if by_itself && !matches!(verdict, Some(Verdict::Allow(_))) {
            return Err(Unusable::NotApproved("the rule or grant that released it no longer exists").into());
        }
        if self.run.ended.as_ref().is_some_and(|ended| ended.status != Status::Completed) {
            return Err(Unusable::NotApproved("its run was cancelled, or has failed").into());
        }
        if self.run.is_paused() {
            return Err(Unusable::NotApproved("its run is paused, or its session is suspended").into());
        }
        if self.run.freeze(self.cx.system).is_some() {
            return Err(Rejection::Frozen);
        }
        self.emit(Fact::ApprovalUsed { interrupt: id.clone(), digest }, Content::none());
        Ok(())
    }

    /// Records whether an external agent wrote the approved changes. Only the first report is recorded, and later reports
    /// change nothing.
    pub(super) fn report_exec(
        &mut self,
        id: &InterruptId,
        outcome: ExecOutcome,
        text: Option<String>,
    ) -> Result<(), Rejection> {
        let asked = self.require_asked_elsewhere(id)?;
        check_text(text.as_deref().unwrap_or_default())?;
        if asked.used.is_none() {
            return Err(Unusable::NotApproved("it was not used yet").into());
        }
        if asked.exec.is_none() {
            let text = Content::maybe_text(text.filter(|text| !text.trim().is_empty()));
            self.emit(Fact::ExecReported { interrupt: id.clone(), outcome }, text);
        }
        Ok(())
    }

    /// Withdraws the question of an external agent that no longer needs a decision. Emits no event if the question is
    /// already withdrawn.
    pub(super) fn withdraw_question(
        &mut self,
        id: &InterruptId,
        text: Option<String>,
    ) -> Result<(), Rejection> {
        let asked = self.require_asked_elsewhere(id)?;
        check_text(text.as_deref().unwrap_or_default())?;
        match &asked.resolution {
            Some(resolution) if resolution.cause == Cause::Withdrawn => return Ok(()),
            Some(_) => return Err(Rejection::Refused(Refusal::AlreadyResolved)),
            None => {}
        }
        let text = Content::maybe_text(text.filter(|text| !text.trim().is_empty()));
        let (outcome, cause) = (Outcome::Cancelled, Cause::Withdrawn);
        let (option, effect, decision) = (None, None, None);
        let interrupt = id.clone();
        let resolved = Fact::InterruptResolved { interrupt, outcome, option, effect, cause, decision };
        self.emit(resolved, text.clone());
        let once = self.run.started.as_ref().is_some_and(|started| started.origin == Origin::ExternalOnce);
        if once {
            self.wind_up();
            self.emit(Fact::RunCancelled { reason: "withdrawn".to_owned() }, text);
        }
        Ok(())
    }

    fn require_asked_elsewhere(&self, id: &InterruptId) -> Result<Interrupt, Rejection> {
        let asked = self.interrupt(id)?;
        if asked.opened.about == About::External { Ok(asked) } else { Err(Rejection::NotExternal) }
    }
}
