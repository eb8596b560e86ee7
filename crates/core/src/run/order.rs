//! The order of the calls of one reply: they depend on each other as the agent wrote them.
//!
//! A call that writes starts when every call before it has ended; one that reads, when those that write have. So reads
//! go side by side, and a person who is asked about one call holds up what comes after it. A call waits only for calls
//! before it, so nothing waits in a circle. Tools that ask, hand-offs, and calls that the client runs have an order of
//! their own.

use serde_json::{Value, json};

use super::draft::Draft;
use super::fact::Returned;
use super::{Call, CallState, Entry, Fact, Run, gating};
use crate::envelope::Content;
use crate::interrupt::{Cause, Outcome};
use crate::tool::Runs;

/// What a call needs of the workspace and does not find there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// Where, from the workspace.
    pub path: String,
    pub mended_by: Mending,
}

/// What another call would have to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mending {
    /// To write that file; a command that writes could do it as well.
    WritingIt,
    /// To write that file, or one below it; a command that writes could do it as well.
    WritingBelow,
    /// Only a command that writes could do it.
    Command,
}

impl Draft<'_> {
    /// What can not be done yet may be possible when the calls before it have ended: it is looked at again then.
    pub(super) fn defer(&mut self, id: &str, call: &Call) {
        if let CallState::Gated(interrupt) = &call.state {
            self.resolve(interrupt, Outcome::Superseded, None, Cause::Superseded);
            self.give_back(id, Returned::Changed, Vec::new());
        }
        self.emit(Fact::ToolDeferred { call: id.to_owned() }, Content::none());
    }
}

impl Run {
    /// Whether a call of the same reply has to end before this one starts.
    pub fn waits_its_turn(&self, id: &str, call: &Call) -> bool {
        if self.is_client_call(call) {
            return false;
        }
        let writes = self.writes(&call.tool);
        self.earlier(id, call).any(|(_, other)| !other.is_ended() && (writes || self.writes(&other.tool)))
    }

    /// Whether a call of the same reply that has to end before this one may mend what this one lacks.
    pub fn may_be_mended(&self, id: &str, call: &Call, lack: &Lack) -> bool {
        let lacked = names(&lack.path);
        self.earlier(id, call).filter(|(_, other)| !other.is_ended() && self.writes(&other.tool)).any(
            |(_, other)| {
                if let Some(line) = other.argument("command") {
                    return !holdshort_command::parse(line).is_read_only();
                }
                let Some(path) = other.argument("path") else { return true };
                match lack.mended_by {
                    Mending::WritingIt => names(path) == lacked,
                    Mending::WritingBelow => names(path).starts_with(&lacked),
                    Mending::Command => false,
                }
            },
        )
    }

    /// Whether it is not looked at before that: a look found that it can not be done yet.
    pub(super) fn is_deferred(&self, id: &str, call: &Call) -> bool {
        call.deferred && self.waits_its_turn(id, call)
    }

    /// Returns the calls of the same reply that come before this one and run here, in their order.
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

    /// What runs before it, for its card: `[{call_id, title, became?}]` of the calls that write, in their order.
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

/// The names of a path, from the workspace.
fn names(path: &str) -> Vec<&str> {
    path.split('/').filter(|name| !matches!(*name, "" | ".")).collect()
}
