//! The tool `permission`: answers of Claude Code's `--permission-prompt-tool`.

use holdshort_protocol::{Interrupt, Outcome, Resolution};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

use super::decision;
use crate::hooks::HookCall;

/// Returns the answer that lets the call run. Older versions of Claude Code need `updatedInput` in each answer.
pub(super) fn allow(input: &Value) -> CallToolResult {
    written(&json!({"behavior": "allow", "updatedInput": input}))
}

/// Returns the answer that stops the call.
pub(super) fn deny(message: &str) -> CallToolResult {
    written(&json!({"behavior": "deny", "message": message}))
}

fn written(answer: &Value) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(answer.to_string())])
}

/// Returns the arguments that a person approved, in the form of Claude Code. `None`: Claude Code cannot use the
/// changed arguments.
pub(super) fn approved_input(call: &HookCall, resolution: &Resolution) -> Option<Value> {
    if resolution.edit.is_null() {
        return Some(call.original.clone());
    }
    call.edited(&resolution.edit).filter(|_| call.can_edit).map(|edited| edited.original)
}

/// Returns the reason to deny a call that was not approved.
pub(super) fn reason(interrupt: &Interrupt, link: &str) -> String {
    match &interrupt.resolution {
        Some(resolution) if resolution.outcome == Outcome::Rejected && resolution.cause == "rule" => {
            let rule = interrupt.risk.reasons.first().map_or("A rule forbids it.", |reason| &reason.text);
            format!("Rejected by a rule: {rule}")
        }
        Some(resolution) => decision::refusal(resolution),
        None => format!(
            "Nobody has decided yet. A person can decide at {link}. After an approval, repeat exactly the same call, \
             and it runs once. Do not try another way."
        ),
    }
}
