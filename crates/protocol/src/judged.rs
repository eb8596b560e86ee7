//! The card of a call that an agent makes where it runs, and that the installation's gates have read.

use serde_json::{Map, Value};

use crate::interrupt::{Interrupt, Origin};

/// What stands on the card of the call as the gates read it. The core refuses these beside a call in a payload
/// (`OF_CALLS` of `core/src/run/external.rs`), so the agent says them once, in the call. Of them `category` and `grant` are
/// Holdshort's own.
pub const OF_CALLS: [&str; 7] = ["tool", "arguments", "category", "workspace", "cwd", "diff", "grant"];

/// The payload of such a card, in parts.
#[derive(Debug, PartialEq)]
pub struct JudgedCall {
    /// As the card of a call that runs here has it.
    pub call: Value,
    /// What of the call such a card does not show. What the agent runs are all of its arguments, whatever change it
    /// draws beside them.
    pub more: Value,
    /// What the agent says beside the call.
    pub beside: Value,
}

impl JudgedCall {
    /// Where it runs, on every such card.
    pub const RUNS: &str =
        "where the agent is, in no sandbox of Holdshort; its folder and its change are what the agent says";

    /// `None`: the interrupt is not about such a call, and all of its payload is the agent's word.
    pub fn of(interrupt: &Interrupt) -> Option<Self> {
        if interrupt.origin != Origin::External || interrupt.policy.is_none() {
            return None;
        }
        let payload = interrupt.payload.as_object()?;
        let is_of_call = |name: &str| OF_CALLS.contains(&name);
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
}

/// The workspace, and the arguments but for a command that is drawn. Without a command and a change the card shows them.
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
