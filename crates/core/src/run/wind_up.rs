//! End of a run. Open calls and interrupts are ended before the run. The error text of a failed run includes the
//! results and the usage so far.

use super::draft::Draft;
use super::{Call, CallEnd, CallState, Fact};
use crate::envelope::Content;
use crate::interrupt::{Cause, Outcome};

impl Draft<'_> {
    /// Ends all open tool calls and interrupts of the run. Called immediately before the run itself ends.
    pub(super) fn wind_up(&mut self) {
        let may_have_run = |call: &Call| match call.state {
            CallState::Ended(_) => None,
            // A call that waits for another start may have taken effect in its last start.
            CallState::Proposed | CallState::Gated(_) | CallState::Authorised => {
                Some(call.lost == Some(call.attempt))
            }
            CallState::Started { .. } | CallState::WithClient(_) | CallState::Doubted(_) => Some(true),
        };
        let open: Vec<(String, CallEnd)> = self
            .run
            .calls
            .open()
            .filter_map(|(id, call)| {
                let is_unknown = may_have_run(call)? && self.run.writes(&call.tool);
                Some((id.clone(), if is_unknown { CallEnd::Unknown } else { CallEnd::Cancelled }))
            })
            .collect();
        for (call, end) in open {
            self.emit(Fact::ToolFinished { call, end, code: Some("run_ended".to_owned()) }, Content::none());
        }
        let open: Vec<_> = self.run.open_interrupts().map(|(id, _)| id.clone()).collect();
        for interrupt in open {
            self.resolve(&interrupt, Outcome::Cancelled, None, Cause::RunEnded);
        }
    }

    /// Fails the run. All failures of runs go through this function, so that every error text ends with the results and
    /// the usage so far.
    pub(super) fn fail_run(&mut self, reason: &str, text: impl Into<String>) {
        if self.is_over() {
            return;
        }
        self.wind_up();
        let mut text = text.into();
        // The usage of an agent that runs in another system is unknown.
        if !self.run.definition.phases.is_empty() {
            let (_, spent) = self.run.spent_so_far(self.now());
            text = format!("{text}\n{spent}");
        }
        self.emit(Fact::RunFailed { reason: reason.to_owned() }, Content::text(text));
    }
}
