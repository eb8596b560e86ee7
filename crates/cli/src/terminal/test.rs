//! Interrupts for the tests of this module.

use holdshort_protocol::{Interrupt, Kind};
use serde_json::{Value, json};

pub(crate) fn interrupt(kind: Kind) -> Interrupt {
    let (payload, schema) = match kind {
        Kind::ToolApproval | Kind::UnknownOutcome => (
            json!({
                "call_id": "call_1", "tool": "run_command", "arguments": {"command": "ls"}, "category": "bash",
                "command": "ls", "cwd": "/work", "effect": "reads", "sandbox": "full", "network": false,
                "timeout_s": 120.0,
                "workspace": "/work",
                "grant": {"tool": "run_command", "workspace": "/work", "commands": [{"program": "ls", "writes": false}]},
            }),
            json!({"type": "object"}),
        ),
        Kind::PlanApproval => (
            json!({"plan": {"subtasks": [
                {"id": "look", "description": "Look", "agent": "pair"},
                {"id": "do", "description": "Do it", "depends_on": ["look"]},
            ]}, "iteration": 1}),
            json!({"type": "object"}),
        ),
        Kind::Question => {
            (json!({"question": "Which way?", "choices": ["left", "right"], "asker": "pair"}), Value::Null)
        }
        Kind::Review => (json!({"title": "Done", "content": "All of it."}), json!({"type": "string"})),
        _ => (json!({}), Value::Null),
    };
    let kind_name = serde_json::to_value(kind).unwrap();
    let core: holdshort_core::interrupt::Kind = serde_json::from_value(kind_name).unwrap();
    // All options except the one that keeps only some changes.
    let rows = core.row().options.iter().filter(|row| row.id != holdshort_core::interrupt::KEEP_SOME);
    let options = rows.map(holdshort_core::interrupt::Offer::from_row).map(|offer| {
        json!({
            "id": offer.id, "label": offer.label, "effect": offer.effect, "does": offer.does(core, true, false),
            "outcome": offer.effect.outcome(), "work": offer.work(), "asks_again": offer.asks_again(core),
            "needs_text": offer.needs_text, "needs_edit": offer.needs_edit,
        })
    });
    serde_json::from_value(json!({
        "id": "int_1", "run": "run_1", "session": "ses_1", "step": "work", "agent": "pair", "kind": kind,
        "origin": "native", "status": "open", "title": "run_command: ls", "message": "I look around.",
        "payload": payload, "command_effect": holdshort_protocol::CommandEffect::from_payload(&payload), "options": options.collect::<Vec<_>>(), "response_schema": schema,
        "risk": {"level": "medium", "reasons": [{"source": "workflow", "code": "rule", "rule": 1, "text": "a rule asks"}]},
        "assignment": {"approvers": [], "quorum": {"required": 1}}, "on_expiry": "reject", "version": 1,
        "created_at": "2026-01-31T09:30:00.000Z",
    }))
    .unwrap()
}
