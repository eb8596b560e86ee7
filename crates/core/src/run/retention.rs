//! Retention of a run's content: legal holds, and the erasure of the content after the run has ended.

use super::draft::Draft;
use super::{ErasureReason, Fact, Rejection};
use crate::envelope::Content;
use crate::id::InterruptId;
use crate::limits::ERASED_AT_ONCE;
use crate::system::freeze;

impl Draft<'_> {
    /// Erases the next part of the content of an ended run. First erases answers of people, including answers that are
    /// stored per subject. Then erases the content of events. Emits no event if no content is left. The emitted fact
    /// lists the contents that the driver erases after the commit.
    pub(super) fn erase_content(&mut self, because: ErasureReason) -> Result<(), Rejection> {
        if self.run.ended.is_none() {
            return Err(Rejection::NotEnded);
        }
        if self.run.held.is_some() {
            return Err(Rejection::Held);
        }
        let is_kept = |id: &InterruptId| {
            self.run.interrupts.get(id).is_some_and(|interrupt| interrupt.answer().is_some())
        };
        let answered: Vec<InterruptId> =
            self.run.interrupts.keys().filter(|id| is_kept(id)).cloned().collect();
        if answered.is_empty() {
            let from = self.run.erased_to.max(1) + 1;
            let to = self.run.seq.min(from + ERASED_AT_ONCE - 1);
            if from <= to {
                let is_last = to == self.run.seq;
                self.emit(Fact::ContentErased { from, to, because }, Content::none());
                // The first event contains the task of the run, by which people identify the run. The content of the
                // first event is therefore erased last.
                if is_last {
                    self.emit(Fact::ContentErased { from: 1, to: 1, because }, Content::none());
                }
            }
        }
        for interrupt in answered {
            self.emit(Fact::AnswerErased { interrupt, events: Vec::new() }, Content::none());
        }
        Ok(())
    }

    /// Places a legal hold on the run. Changes nothing if the run is already on legal hold for the same reason. Rejects
    /// the hold if the run is already on legal hold for another reason.
    pub(super) fn place_legal_hold(&mut self, reason: String) -> Result<(), Rejection> {
        let problems = freeze::check_reason(&reason);
        if !problems.is_empty() {
            return Err(Rejection::Invalid(problems));
        }
        match &self.run.held {
            Some(stands) if stands.reason.as_deref() != Some(&*reason) => {
                return Err(Rejection::HeldAlready(stands.clone()));
            }
            Some(_) => {}
            None => self.emit(Fact::LegalHoldPlaced, Content::text(reason)),
        }
        Ok(())
    }

    pub(super) fn lift_legal_hold(&mut self) {
        if self.run.held.is_some() {
            self.emit(Fact::LegalHoldLifted, Content::none());
        }
    }
}
