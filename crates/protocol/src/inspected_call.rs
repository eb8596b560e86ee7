//! Card of a call that an agent runs outside Holdshort and that the gates of the installation have checked.

use serde_json::{Map, Value};

use crate::interrupt::{Interrupt, Origin};

/// Fields of a card that describe an external agent's call. The core rejects these fields in the payload of a request
/// with a call, so that an agent can set them only through the call itself. Holdshort sets the fields after `cwd`.
pub const OF_CALLS: [&str; 11] = [
    "tool",
    "arguments",
    "workspace",
    "cwd",
    "category",
    "diff",
    "grant",
    "new_file",
    "trial",
    "changeset",
    "untried",
];

/// Field with a note that Holdshort adds to the card of a call with a trial.
const NOTE: &str = "note";

/// Payload of a card about an external agent's call, split into parts.
#[derive(Debug, PartialEq)]
pub struct InspectedCall {
    /// Fields of the external agent's call that the card shows in the same way as for a call that Holdshort runs
    /// itself.
    pub call: Value,
    /// Further fields of the external agent's call. They include all arguments, even if the card shows a diff, because
    /// the agent runs the call with all arguments.
    pub more: Value,
    /// Fields of the payload that do not belong to the external agent's call.
    pub beside: Value,
}

impl InspectedCall {
    /// Note on the card of an external agent's call that says where the call runs.
    const RUNS: &str = "on the agent's machine, outside the sandbox of Holdshort; Holdshort does not \
        check any directory or change that the agent reports";

    /// Note on the card of an external agent's call that Holdshort has tried.
    const RUNS_CHANGES: &str = "the agent writes the approved changes on its machine";

    /// Splits the payload of an interrupt about an external agent's call into parts. Returns `None` if no gate checked
    /// a call; the whole payload is then an unverified statement of the agent.
    pub fn from_interrupt(interrupt: &Interrupt) -> Option<Self> {
        if interrupt.origin != Origin::External || interrupt.policy.is_none() {
            return None;
        }
        let payload = interrupt.payload.as_object()?;
        let has_trial = payload.contains_key("trial");
        let is_of_call = |name: &str| OF_CALLS.contains(&name) || (has_trial && name == NOTE);
        let part = |of_call: bool| payload.iter().filter(move |(name, _)| is_of_call(name) == of_call);
        let owned = |(name, value): (&String, &Value)| (name.clone(), value.clone());
        let mut call: Map<String, Value> = part(true).map(owned).collect();
        let arguments = payload.get("arguments");
        if let Some(path) = arguments.and_then(|arguments| arguments.get("path")) {
            call.insert("path".to_owned(), path.clone());
        }
        let beside = part(false).map(owned).collect();
        let more = Value::Object(more(payload));
        Some(Self { call: Value::Object(call), more, beside: Value::Object(beside) })
    }

    /// Returns the note that says where the call runs.
    pub fn runs_at(&self) -> &'static str {
        if self.call.get("trial").is_some() { Self::RUNS_CHANGES } else { Self::RUNS }
    }
}

/// Returns the workspace of an external agent's call, and its arguments without the command, which the card shows
/// separately. Omits the arguments of a call without a command and a diff, because the card already shows them.
fn more(payload: &Map<String, Value>) -> Map<String, Value> {
    let mut more = Map::new();
    more.extend(payload.get("workspace").map(|workspace| ("workspace".to_owned(), workspace.clone())));
    let arguments = payload.get("arguments").and_then(Value::as_object);
    let has_command =
        arguments.is_some_and(|arguments| arguments.get("command").is_some_and(Value::is_string));
    if has_command || payload.contains_key("diff") {
        let mut arguments = arguments.cloned().unwrap_or_default();
        if has_command {
            arguments.remove("command");
        }
        if !arguments.is_empty() {
            more.insert("arguments".to_owned(), Value::Object(arguments));
        }
    }
    more
}
