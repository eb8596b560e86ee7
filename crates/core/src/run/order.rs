//! Order in which the calls of one reply are executed. A call may depend on earlier calls of the same reply.
//!
//! A writing call starts when all calls before it have ended. A reading call starts when all writing calls before it
//! have ended. Reading calls therefore run in parallel. A call that waits for a person delays all later calls. Because
//! a call waits only for earlier calls, no two calls wait for each other. Calls to tools that ask people, hand-offs,
//! and calls that a client executes are ordered elsewhere.

use serde_json::{Value, json};

use super::draft::Draft;
use super::fact::ReturnReason;
use super::{Call, CallState, Entry, Fact, Run, gating};
use crate::envelope::Content;
use crate::interrupt::{Cause, Outcome};
use crate::tool::Runs;

/// Path that a tool call needs but that does not exist in the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingPath {
    /// Path that a tool call needs, relative to the workspace.
    pub path: String,
    pub mended_by: Remedy,
}

/// Kind of earlier tool call that could create the path that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// A file tool that writes exactly the missing file. A command that writes may also create the file.
    WritingIt,
    /// A file tool that writes the missing path or a file below it. A command that writes may also create the path.
    WritingBelow,
    /// Only a command that writes can create the missing path.
    Command,
}

impl Draft<'_> {
    /// Postpones a tool call that cannot be executed yet. The call is inspected again after the calls before it have
    /// ended.
    pub(super) fn defer(&mut self, id: &str, call: &Call) {
        if let CallState::Gated(interrupt) = &call.state {
            self.resolve(interrupt, Outcome::Superseded, None, Cause::Superseded);
            self.give_back(id, ReturnReason::Changed, Vec::new());
        }
        self.emit(Fact::ToolDeferred { call: id.to_owned() }, Content::none());
    }
}

impl Run {
    /// Returns true if the tool call must wait for an earlier call of the same reply to end.
    pub fn waits_its_turn(&self, id: &str, call: &Call) -> bool {
        if self.is_client_call(call) {
            return false;
        }
        let writes = self.writes(&call.tool);
        self.earlier(id, call).any(|(_, other)| !other.is_ended() && (writes || self.writes(&other.tool)))
    }

    /// Returns true if an earlier tool call of the same reply has not ended and could create the path that this call
    /// needs.
    pub fn may_be_provided(&self, id: &str, call: &Call, lack: &MissingPath) -> bool {
        let lacked = names(&lack.path);
        self.earlier(id, call).filter(|(_, other)| !other.is_ended() && self.writes(&other.tool)).any(
            |(_, other)| {
                if let Some(line) = other.argument("command") {
                    return !holdshort_command::parse(line).is_read_only();
                }
                let Some(path) = other.argument("path") else { return true };
                match lack.mended_by {
                    Remedy::WritingIt => names(path) == lacked,
                    Remedy::WritingBelow => names(path).starts_with(&lacked),
                    Remedy::Command => false,
                }
            },
        )
    }

    /// Returns true if an inspection found that the tool call must wait for earlier calls. The call is not inspected
    /// again before the earlier calls have ended.
    pub(super) fn is_deferred(&self, id: &str, call: &Call) -> bool {
        call.deferred && self.waits_its_turn(id, call)
    }

    /// Returns the earlier tool calls of the same reply that the server executes, in the order of the reply.
    fn earlier<'r>(&'r self, id: &'r str, call: &Call) -> impl Iterator<Item = (&'r str, &'r Call)> {
        let entries = self.steps.get(&call.step).map(|step| step.entries.iter().rev());
        let reply = entries.into_iter().flatten().find_map(|entry| match entry {
            Entry::Turn { calls, .. } => Some(calls).filter(|calls| calls.iter().any(|each| each == id)),
            Entry::Note { .. } => None,
        });
        let before = reply.into_iter().flatten().take_while(move |each| *each != id);
        let calls = before.filter_map(|each| Some((each.as_str(), &**self.calls.get(each)?)));
        calls.filter(|(_, each)| {
            matches!(self.spec(&each.tool).map(|spec| &spec.runs), Some(Runs::Here { .. }))
        })
    }

    /// Returns the writing tool calls that come before the call `id` in its reply. The approval card shows each of
    /// these calls as `{call_id, title, became?}`.
    pub(super) fn after(&self, id: &str, call: &Call) -> Vec<Value> {
        let before = self.earlier(id, call).filter(|(_, other)| self.writes(&other.tool));
        let told = before.map(|(id, other)| {
            let mut told = json!({ "call_id": id, "title": gating::title(other) });
            if let CallState::Ended(end) = other.state {
                told["became"] = json!(end);
            }
            told
        });
        told.collect()
    }
}

fn names(path: &str) -> Vec<&str> {
    path.split('/').filter(|name| !matches!(*name, "" | ".")).collect()
}
