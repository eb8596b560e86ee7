//! What is done with an interrupt that resolves nothing, and whose hands a call is in that a client runs.

use super::Fact;
use super::draft::Draft;
use super::input::Rejection;
use crate::event::Content;
use crate::id::InterruptId;
use crate::interrupt::{Decision, Holder};

impl Draft<'_> {
    pub(super) fn claim(
        &mut self,
        id: &InterruptId,
        holder: Option<Holder>,
        over: Option<u64>,
    ) -> Result<(), Rejection> {
        let actor = &self.cx.actor;
        if self.interrupt(id)?.check_claim(actor, holder.as_ref(), over)? {
            let by = actor.id.clone();
            self.emit(Fact::InterruptClaimed { interrupt: id.clone(), by, holder }, Content::none());
        }
        Ok(())
    }

    pub(super) fn let_go(&mut self, id: &InterruptId, holder: Option<&Holder>) -> Result<(), Rejection> {
        if self.interrupt(id)?.check_release(&self.cx.actor, holder)? {
            self.emit(Fact::InterruptReleased { interrupt: id.clone() }, Content::none());
        }
        Ok(())
    }

    pub(super) fn comment(&mut self, id: &InterruptId, text: String) -> Result<(), Rejection> {
        self.interrupt(id)?.check_comment(&self.cx.actor, &text)?;
        self.emit(Fact::CommentAdded { interrupt: id.clone() }, Content::text(text));
        Ok(())
    }

    /// The same as `decide`; what a client is to run with that is the deciding client's.
    pub(super) fn decide_as(
        &mut self,
        id: &InterruptId,
        decision: &Decision,
        holder: Option<Holder>,
    ) -> Result<(), Rejection> {
        let written = self.written();
        self.decide(id, decision)?;
        let is_news = self.written() > written;
        if let Some(holder) = holder.filter(|_| is_news) {
            let by = self.cx.actor.id.clone();
            self.emit(
                Fact::InterruptClaimed { interrupt: id.clone(), by, holder: Some(holder) },
                Content::none(),
            );
        }
        Ok(())
    }

    /// Who approved a call with a client of theirs has it from the moment that it is handed out.
    pub(super) fn inherit_claim(&mut self, handed_out: &InterruptId, approved: &InterruptId) {
        let claim = self.run.interrupts.get(approved).and_then(|approved| approved.claim.clone());
        let Some(claim) = claim.filter(|claim| claim.holder.is_some()) else { return };
        let (by, holder) = (claim.by, claim.holder);
        self.emit(Fact::InterruptClaimed { interrupt: handed_out.clone(), by, holder }, Content::none());
    }
}
