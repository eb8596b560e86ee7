//! Actions on an interrupt that do not resolve it. This module also chooses the client that executes an approved call.

use serde_json::json;

use super::Fact;
use super::draft::Draft;
use super::input::Rejection;
use crate::envelope::Content;
use crate::id::InterruptId;
use crate::interrupt::{About, ClaimHolder, Decision, Outcome};

impl Draft<'_> {
    pub(super) fn claim(
        &mut self,
        id: &InterruptId,
        holder: Option<ClaimHolder>,
        over: Option<u64>,
    ) -> Result<(), Rejection> {
        if self.interrupt(id)?.check_claim(&self.voter(), holder.as_ref(), over)? {
            let by = self.cx.actor.id.clone();
            self.emit(Fact::InterruptClaimed { interrupt: id.clone(), by, holder }, Content::none());
        }
        Ok(())
    }

    pub(super) fn release_claim(
        &mut self,
        id: &InterruptId,
        holder: Option<&ClaimHolder>,
    ) -> Result<(), Rejection> {
        if self.interrupt(id)?.check_release(&self.voter(), holder)? {
            self.emit(Fact::InterruptReleased { interrupt: id.clone() }, Content::none());
        }
        Ok(())
    }

    pub(super) fn comment(&mut self, id: &InterruptId, text: String) -> Result<(), Rejection> {
        self.interrupt(id)?.check_comment(&self.voter(), &text)?;
        self.emit(Fact::CommentAdded { interrupt: id.clone() }, Content::text(text));
        Ok(())
    }

    pub(super) fn view(&mut self, id: &InterruptId) -> Result<(), Rejection> {
        let interrupt = self.interrupt(id)?;
        if interrupt.check_view(&self.voter())? {
            // The digest is salted and is erased with the run. Without the salt, the digest would reveal which of a
            // few possible cards was shown.
            let content = json!({ "digest": interrupt.digest_shown(&self.voter()) });
            self.emit(Fact::InterruptViewed { interrupt: id.clone() }, Content::data(content));
        }
        Ok(())
    }

    /// Records a decision, as `decide` does. If a client will execute the tool call that the decision approves, the
    /// client that sent the decision gets the call.
    pub(super) fn decide_as(
        &mut self,
        id: &InterruptId,
        decision: &Decision,
        holder: Option<ClaimHolder>,
    ) -> Result<(), Rejection> {
        let written = self.written();
        self.decide(id, decision)?;
        let lets_a_client_run = self.written() > written && self.lets_a_client_run(id);
        if let Some(holder) = holder.filter(|_| lets_a_client_run) {
            let by = self.cx.actor.id.clone();
            self.emit(
                Fact::InterruptClaimed { interrupt: id.clone(), by, holder: Some(holder) },
                Content::none(),
            );
        }
        Ok(())
    }

    fn lets_a_client_run(&self, id: &InterruptId) -> bool {
        let Some(decided) = self.run.interrupts.get(id).filter(|_| !self.is_over()) else { return false };
        let is_approved =
            decided.resolution.as_ref().is_some_and(|resolution| resolution.outcome == Outcome::Approved);
        let About::Call(call) = &decided.opened.about else { return false };
        is_approved && self.run.calls.get(call).is_some_and(|call| self.run.is_client_call(call))
    }

    /// Assigns a tool call that is now offered to clients to the client that had claimed the approval of the call. Does
    /// nothing if no client had claimed the approval.
    pub(super) fn inherit_claim(&mut self, handed_out: &InterruptId, approved: &InterruptId) {
        let claim = self.run.interrupts.get(approved).and_then(|approved| approved.claim.clone());
        let Some(claim) = claim.filter(|claim| claim.holder.is_some()) else { return };
        let (by, holder) = (claim.by, claim.holder);
        self.emit(Fact::InterruptClaimed { interrupt: handed_out.clone(), by, holder }, Content::none());
    }
}
