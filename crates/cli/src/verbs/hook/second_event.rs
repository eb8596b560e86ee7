//! Decision on a call, which is stored for the second event of the coding agent about the same call.

use std::time::{Duration, Instant};

use holdshort_core::digest::Digest;
use holdshort_edges::hooks::{Cli, EventKind, Verdict};
use holdshort_protocol::Resolution;

use super::open_request::Asked;
use super::session::Session;
use super::state::{SessionState, Settled, Written, now};

/// Time for which the second event of a call waits until the first one has recorded its use of the approval.
const RECORD_TIME: Duration = Duration::from_secs(3);

impl Session<'_> {
    /// Records the decision for the second event about the same call, and forgets the request.
    pub(super) fn settle(
        &self,
        same: &Digest,
        asked: &Asked,
        resolved: &Resolution,
        denied: Option<&str>,
        written: Option<Written>,
    ) -> anyhow::Result<()> {
        let settled = Settled {
            call: *same,
            interrupt: asked.interrupt.clone(),
            event: self.event.name.clone(),
            turn: self.event.turn.clone(),
            denied: denied.map(str::to_owned),
            by_person: resolved.cause == "decision",
            is_released: asked.secret.is_some() && denied.is_none(),
            at: now(),
        };
        // Gemini CLI has one event. The prompt of Claude Code and of Codex follows only an approval.
        let has_second = match self.cli {
            Cli::Claude | Cli::Codex => denied.is_none() && matches!(self.event.kind, EventKind::Call(_)),
            Cli::Gemini => false,
            Cli::Cursor => true,
        };
        self.state.update(|state| {
            state.pending.retain(|pending| pending.interrupt != asked.interrupt);
            let before = state.settled.len();
            state
                .settled
                .retain(|other| other.interrupt != asked.interrupt || other.event == self.event.name);
            let is_second = state.settled.len() < before;
            if self.cli != Cli::Cursor {
                state.settled.retain(|other| other.call != *same);
            }
            if has_second && !is_second {
                state.settled.push(settled);
            }
            state.written.extend(written);
        })
    }

    /// Returns the decision that the other event about the same call has led to, once. A new call of the same tool makes
    /// the decisions about earlier equal calls invalid.
    pub(super) fn take_settled(
        &self,
        state: &mut SessionState,
        same: &Digest,
        is_permission: bool,
    ) -> Option<Settled> {
        let is_second = is_permission || self.cli == Cli::Cursor;
        if !is_second {
            state.settled.retain(|settled| settled.call != *same);
            return None;
        }
        let fits = |settled: &Settled| {
            settled.event != self.event.name
                && !settled.is_released
                && settled.call == *same
                && settled.turn == self.event.turn
        };
        let at = state.settled.iter().position(fits)?;
        Some(state.settled.remove(at))
    }

    /// Returns the answer to the prompt of the coding agent about a command line that this hook has just printed. Such a
    /// line passes once.
    pub(super) fn take_released(&self, same: &Digest) -> anyhow::Result<Option<Verdict>> {
        let settled = self.state.update(|state| {
            let is_it = |settled: &Settled| {
                settled.is_released && settled.call == *same && settled.turn == self.event.turn
            };
            let at = state.settled.iter().position(is_it)?;
            Some(state.settled.remove(at))
        })?;
        Ok(settled.map(|settled| {
            if settled.by_person {
                return Verdict::Allow { input: None };
            }
            let title = self.cli.title();
            Verdict::Deny { reason: format!("{title} itself asks about a command that a rule has released.") }
        }))
    }

    /// Waits shortly for the record of the other event, which has used the approval of this request.
    pub(super) async fn settled_by_other_event(
        &self,
        same: &Digest,
        asked: &Asked,
    ) -> anyhow::Result<Option<Verdict>> {
        let end = Instant::now() + RECORD_TIME;
        while self.cli == Cli::Cursor && Instant::now() < end {
            let settled = self.state.update(|state| {
                let is_ours = |settled: &Settled| {
                    settled.interrupt == asked.interrupt && settled.event != self.event.name
                };
                state.settled.iter().any(is_ours).then(|| self.take_settled(state, same, false)).flatten()
            })?;
            if let Some(settled) = settled {
                return Ok(Some(match settled.denied {
                    Some(reason) => Verdict::Deny { reason },
                    None => Verdict::Allow { input: None },
                }));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(None)
    }
}
