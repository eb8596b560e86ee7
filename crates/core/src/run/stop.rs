//! A person stops one command while it is tried or runs. The run goes on, and its agent is told.
//!
//! `tool_stopped` is committed before anything is ended; the driver ends the processes of whatever is at work of a call that
//! holds it, and what comes back of them ends the call. Where nothing comes back, since a crash or another's write took it,
//! the call ends all the same: it never begins again.

use serde_json::Value;

use super::draft::Draft;
use super::input::Rejection;
use super::interruption::INTERRUPTED;
use super::{Action, ActionId, Call, CallEnd, CallState, Fact, Run};
use crate::envelope::Content;

/// The code of a call that a person stopped.
pub(super) const STOPPED: &str = "stopped";

const TRIED: &str = "It was only tried: nothing has changed.";
const STARTED: &str = "It ran in the workspace, and may have done a part of its work.";

impl Run {
    /// The commands that a person can stop now, in the order in which they were proposed.
    pub fn stoppable_calls(&self) -> impl Iterator<Item = &str> {
        let may = |call: &Call| call.stopped.is_none() && self.stoppable(call).is_ok();
        self.open_calls().into_iter().filter(move |(_, call)| may(call)).map(|(id, _)| id.as_str())
    }

    /// What is at work of calls, of tools and of models, that a person has stopped.
    pub fn stopping(&self) -> impl Iterator<Item = ActionId> {
        let calls =
            self.calls.open().filter(|(_, call)| call.stopped.is_some()).filter_map(|(id, call)| match call
                .state
            {
                CallState::Ended(_) => None,
                CallState::Started { .. } => Some(Action::tool_id(id, call.attempt)),
                CallState::Proposed
                | CallState::Gated(_)
                | CallState::Authorised
                | CallState::WithClient(_)
                | CallState::Doubted(_) => {
                    call.trial.running.map(|_| Action::trial_id(id, call.trial.attempt))
                }
            });
        calls.chain(self.models_stopping())
    }

    /// Whether a person can stop a call now, or why not.
    fn stoppable(&self, call: &Call) -> Result<(), &'static str> {
        match call.state {
            CallState::Ended(_) => Err("it has ended"),
            CallState::WithClient(_) => Err("the client runs it"),
            CallState::Doubted(_) => Err("nobody knows whether it still runs"),
            _ if self.command(call).is_none() => Err("it is no command"),
            CallState::Started { .. } if call.committing().is_some() => {
                Err("its changes are being written, all of them or none; undo them once they are")
            }
            CallState::Started { .. } => Ok(()),
            CallState::Proposed | CallState::Gated(_) | CallState::Authorised => {
                call.trial.running.map(|_| ()).ok_or("it does not run")
            }
        }
    }
}

impl Draft<'_> {
    /// Stopping twice is stopping once. Words with the stop of a call that an interruption is ending go to the run.
    pub(super) fn stop_call(&mut self, id: &str, text: Option<String>) -> Result<(), Rejection> {
        let call = self.call(id).map_err(|_| Rejection::UnknownCall)?;
        let text = text.filter(|text| !text.trim().is_empty());
        if call.stopped.is_some() {
            let words = text.filter(|_| call.interrupted && !call.is_ended());
            return words.map_or(Ok(()), |words| self.message(words));
        }
        self.run.stoppable(&call).map_err(Rejection::NotStoppable)?;
        self.emit(Fact::ToolStopped { call: id.to_owned(), interrupted: false }, Content::maybe_text(text));
        Ok(())
    }

    /// Ends a stopped call of which nothing has happened: it was only tried, or did not begin.
    pub(super) fn end_stopped(&mut self, id: &str, call: &Call, printed: Option<String>) {
        self.supersede(call);
        let text = told(call, printed, TRIED);
        self.finish_call(id, CallEnd::Refused, Some(code(call)), text);
    }

    /// Ends a call that was stopped while it ran in the workspace.
    pub(super) fn finish_stopped(&mut self, id: &str, call: &Call, printed: Option<String>, data: Value) {
        let fact = Fact::ToolFinished {
            call: id.to_owned(),
            end: CallEnd::Failed,
            code: Some(code(call).to_owned()),
        };
        self.emit(fact, Content { text: Some(told(call, printed, STARTED)), data });
    }

    /// Ends what was stopped and is not at work any more, as behind a crash or where another call has written what it read.
    /// Whether there was something.
    pub(super) fn end_what_stopped(&mut self) -> bool {
        let is_idle = |call: &Call| {
            let waits =
                matches!(call.state, CallState::Proposed | CallState::Gated(_) | CallState::Authorised);
            call.stopped.is_some() && waits && call.trial.running.is_none()
        };
        let idle = self.run.open_calls().into_iter().find(|(_, call)| is_idle(call));
        let Some((id, call)) = idle.map(|(id, call)| (id.clone(), call.clone())) else { return false };
        self.end_stopped(&id, &call, None);
        true
    }
}

fn code(call: &Call) -> &'static str {
    if call.interrupted { INTERRUPTED } else { STOPPED }
}

/// What the agent is told.
fn told(call: &Call, printed: Option<String>, happened: &str) -> String {
    let printed = printed.unwrap_or_else(|| "What it printed is lost.".to_owned());
    let words = match call.stopped.as_deref() {
        _ if call.interrupted => "Run it again only if it is still wanted.".to_owned(),
        Some("") | None => "Do not run the same command again unless a person wants it.".to_owned(),
        Some(words) => format!("The person says: {words}"),
    };
    format!("{}\nA person stopped it. {happened} {words}", printed.trim_end())
}

/// The same of one that had come to its end before it was stopped.
pub(super) fn told_late(call: &Call, printed: String) -> String {
    match call.stopped.as_deref() {
        None => printed,
        Some("") => format!("{printed}\nA person wanted to stop it; it had ended by itself."),
        Some(words) => {
            format!("{printed}\nA person wanted to stop it; it had ended by itself. The person says: {words}")
        }
    }
}
