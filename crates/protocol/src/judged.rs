//! The card of a call that an agent makes where it runs, and that the installation's gates have judged.

use serde_json::{Map, Value};

use crate::interrupt::{Interrupt, Origin};

/// What Holdshort wrote on the card of the call. An agent can not put these into its payload beside a call.
const OURS: [&str; 7] = ["tool", "arguments", "category", "workspace", "cwd", "diff", "grant"];

/// The payload of such a card, in two parts.
#[derive(Debug, PartialEq)]
pub struct JudgedCall {
    /// As the card of a call that runs here has it.
    pub call: Value,
    /// What the agent says beside it; an empty object where it says nothing.
    pub beside: Value,
}

impl JudgedCall {
    /// Where it runs, on every such card.
    pub const RUNS: &str = "where the agent is, in no sandbox of Holdshort";

    /// `None`: the interrupt is not about such a call, and all of its payload is the agent's word.
    pub fn of(interrupt: &Interrupt) -> Option<Self> {
        if interrupt.origin != Origin::External || interrupt.policy.is_none() {
            return None;
        }
        let payload = interrupt.payload.as_object()?;
        let is_ours = |name: &str| OURS.contains(&name);
        let part = |ours: bool| payload.iter().filter(move |(name, _)| is_ours(name) == ours);
        let owned = |(name, value): (&String, &Value)| (name.clone(), value.clone());
        let mut call: Map<String, Value> = part(true).map(owned).collect();
        if let Some(path) = payload.get("arguments").and_then(|arguments| arguments.get("path")) {
            call.insert("path".to_owned(), path.clone());
        }
        let beside = part(false).map(owned).collect();
        Some(Self { call: Value::Object(call), beside: Value::Object(beside) })
    }
}
