//! Ctrl-C in a conversation: the first Ctrl-C interrupts running work, the second Ctrl-C leaves the conversation.

use holdshort_protocol::{Code, Run, Status};
use serde_json::json;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::turn::GUIDE;
use super::{Chat, Next};
use crate::client;

impl Chat<'_> {
    pub(super) async fn handle_ctrl_c(&mut self) -> anyhow::Result<Next> {
        if std::mem::replace(&mut self.struck, true) {
            return Ok(Next::Over);
        }
        let mut stopped = false;
        for id in self.live() {
            match self.interrupt(&id).await {
                Ok(now) => stopped |= now,
                // No agent of the run is running, so there is nothing to interrupt. An open question stays open.
                Err(error) if client::code(&error) == Some(Code::NotInterruptible) => {}
                Err(error) => self.refused(&error),
            }
        }
        self.is_settled = None;
        self.note(&if stopped {
            format!("Interrupted. {GUIDE} Ctrl-C again leaves.")
        } else {
            "No task is running. Ctrl-C again leaves.".to_owned()
        });
        Ok(Next::On)
    }

    /// Interrupts a run. Returns true if work of the run was stopped.
    async fn interrupt(&mut self, id: &str) -> anyhow::Result<bool> {
        let path = format!("/v1/runs/{id}");
        let before: Run = self.client.get(&path).await?;
        if before.status == Status::Paused || before.status.is_terminal() {
            return Ok(false);
        }
        let now: Run = self.client.post(&format!("{path}/interrupt"), &json!({})).await?;
        let has_stopped = now.seq > before.seq && !now.open_interrupts.is_empty();
        // Input after the interruption belongs to the next turn, even if the event of this turn has not arrived yet.
        if has_stopped && self.runs.get(id).is_some_and(|known| known.seen < now.seq) {
            self.interrupting.insert(id.to_owned(), now.seq);
        }
        if has_stopped {
            self.put_away();
        }
        Ok(has_stopped)
    }
}

/// Returns a new listener for the Ctrl-C signal. A signal that arrived at the old listener is discarded, because it was
/// meant for the program that used the terminal then.
pub(super) fn renewed(old: Signal) -> anyhow::Result<Signal> {
    drop(old);
    Ok(signal(SignalKind::interrupt())?)
}
