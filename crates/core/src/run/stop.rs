//! Stops one command while it runs, in a trial or in the workspace. The run continues, and the agent that called the
//! command gets a message.
//!
//! `tool_stopped` is committed before any process of the command is ended. The driver then ends the processes of the
//! command. The outcome of the ended processes ends the call. After a crash, or if another call has written files on
//! which the command depends, there is no outcome. The call then ends without an outcome. A stopped call never starts
//! again.

use serde_json::Value;

use super::draft::Draft;
use super::input::Rejection;
use super::interruption::INTERRUPTED;
use super::{Action, ActionId, Call, CallEnd, CallState, Fact, Run};
use crate::envelope::Content;

/// Result code of a tool call that a person stopped.
pub(super) const STOPPED: &str = "stopped";

const TRIED: &str = "It ran only in a trial, so nothing has changed.";
const STARTED: &str = "It ran in the workspace, and may have done a part of its work.";

impl Run {
    /// Returns the commands of the run that a person can stop now, in the order in which they were proposed.
    pub fn stoppable_calls(&self) -> impl Iterator<Item = &str> {
        let may = |call: &Call| call.stopped.is_none() && self.stoppable(call).is_ok();
        self.open_calls().into_iter().filter(move |(_, call)| may(call)).map(|(id, _)| id.as_str())
    }

    /// Returns the running tool calls and model calls of the run that a person has stopped.
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

    /// Checks that a person can stop the tool call now. The error value is the reason why the call cannot be stopped.
    fn stoppable(&self, call: &Call) -> Result<(), &'static str> {
        match call.state {
            CallState::Ended(_) => Err("it has ended"),
            CallState::WithClient(_) => Err("the client runs it"),
            CallState::Doubted(_) => Err("it is unknown whether the call is still running"),
            _ if self.command(call).is_none() => Err("it is not a command"),
            CallState::Started { .. } if call.committing().is_some() => {
                Err("its changes are being written as a whole; undo them afterwards")
            }
            CallState::Started { .. } => Ok(()),
            CallState::Proposed | CallState::Gated(_) | CallState::Authorised => {
                call.trial.running.map(|_| ()).ok_or("it is not running")
            }
        }
    }
}

impl Draft<'_> {
    /// Stops a tool call on behalf of a person. A second stop of the same call changes nothing. If the call is already
    /// ending because the run was interrupted, the text becomes a message to the run.
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

    /// Ends a stopped tool call that had no effect, because the call ran only in a trial or had not started.
    pub(super) fn end_stopped(&mut self, id: &str, call: &Call, printed: Option<String>) {
        self.supersede(call);
        let text = describe_stop(call, printed, TRIED);
        self.finish_call(id, CallEnd::Refused, Some(code(call)), text);
    }

    /// Ends a tool call that a person stopped while the call ran in the workspace.
    pub(super) fn finish_stopped(&mut self, id: &str, call: &Call, printed: Option<String>, data: Value) {
        let fact = Fact::ToolFinished {
            call: id.to_owned(),
            end: CallEnd::Failed,
            code: Some(code(call).to_owned()),
        };
        self.emit(fact, Content { text: Some(describe_stop(call, printed, STARTED)), data });
    }

    /// Ends a stopped tool call whose command cannot continue, because the process crashed or because another call has
    /// written files on which the call depends. Returns true if a call was ended.
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

fn describe_stop(call: &Call, printed: Option<String>, happened: &str) -> String {
    let printed = printed.unwrap_or_else(|| "Its output is lost.".to_owned());
    let words = match call.stopped.as_deref() {
        _ if call.interrupted => "Run it again only if it is still wanted.".to_owned(),
        Some("") | None => "Do not run the same command again unless a person requests it.".to_owned(),
        Some(words) => format!("The person says: {words}"),
    };
    format!("{}\nA person stopped this command. {happened} {words}", printed.trim_end())
}

/// Returns the message that the agent gets about a tool call that had already ended when a person stopped the call.
pub(super) fn told_late(call: &Call, printed: String) -> String {
    match call.stopped.as_deref() {
        None => printed,
        Some("") => format!("{printed}\nA person wanted to stop this command, but it had already ended."),
        Some(words) => {
            format!(
                "{printed}\nA person wanted to stop this command, but it had already ended. The person \
                says: {words}"
            )
        }
    }
}
