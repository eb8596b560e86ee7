//! Errors that the public parsers report for invalid messages of clients of other systems.

use holdshort_edges::{read_codelab, read_mars};
use serde_json::json;

#[test]
fn what_is_wrong_with_a_message_is_named_by_its_place() {
    let table = [
        (json!([]), "", "the message is not a JSON object"),
        (json!({}), "/type", "missing field `type`"),
        (json!({"type": "shout"}), "/type", "unknown type \"shout\""),
        (json!({"type": 5}), "/type", "unknown type 5"),
        (json!({"type": "user_message"}), "/content", "missing field"),
        (json!({"type": "user_message", "content": " "}), "/content", "is empty"),
        (json!({"type": "user_message", "content": "x", "role": "assistant"}), "/role", "is not `user`"),
        (json!({"type": "plan_decision", "decision": "approve"}), "/plan_id", "missing field"),
        (
            json!({"type": "plan_decision", "plan_id": "p", "decision": "maybe"}),
            "/decision",
            "unknown decision",
        ),
        (json!({"type": "plan_decision", "plan_id": "p", "decision": "edit"}), "/modified_subtasks", "needs"),
        (json!({"type": "plan_decision", "plan_id": "p", "decision": "modify"}), "/feedback", "needs"),
        (
            json!({"type": "plan_decision", "plan_id": "p", "decision": "approve", "modified_subtasks": []}),
            "/modified_subtasks",
            "are allowed only with",
        ),
        (
            json!({"type": "plan_decision", "plan_id": "plan_00000000", "decision": "approve",
                "approval_request_id": "int_01k6f0000000000000000000cc"}),
            "/approval_request_id",
            "a different plan",
        ),
        (
            json!({"type": "plan_decision", "plan_id": "plan_00000000", "decision": "approve",
                "request_id": "int_01k6f0000000000000000000cc"}),
            "/request_id",
            "a different plan",
        ),
        (
            json!({"type": "plan_decision", "decision": "approve",
                "approval_request_id": "int_01k6f0000000000000000000cc",
                "request_id": "int_01k6f0000000000000000000dd"}),
            "/request_id",
            "differs from `approval_request_id`",
        ),
        (json!({"type": "hitl_decision", "decision": "approve"}), "/call_id", "missing field"),
        (
            json!({"type": "hitl_decision", "call_id": "c", "decision": "edit"}),
            "/modified_arguments",
            "needs",
        ),
        (json!({"type": "tool_result", "call_id": "c"}), "/result", "missing field"),
        (json!({"type": "tool_result", "call_id": "c", "result": 1, "error": "e"}), "/error", "not both"),
        (json!({"type": "switch_agent", "agent_type": "coder"}), "/content", "missing field"),
    ];
    for (value, pointer, message) in table {
        let errors = read_codelab(value.to_string().as_bytes())
            .err()
            .map(|refused| refused.0.errors)
            .unwrap_or_default();
        let found: Vec<_> = errors.iter().map(|error| error.pointer.as_str()).collect();
        assert_eq!(found, [pointer], "{value}");
        assert!(errors[0].message.contains(message), "{value}: {}", errors[0].message);
    }
}

#[test]
fn what_does_not_fit_in_a_frame_is_named_by_its_place() {
    let table = [
        ("[]", ""),
        ("{}", "/task"),
        (r#"{"task": 5}"#, "/task"),
        (r#"{"task": "t", "confg": {}}"#, "/confg"),
        (r#"{"type": "stop"}"#, "/type"),
        (r#"{"type": 5}"#, "/type"),
        (r#"{"type": "ping", "x": 1}"#, "/x"),
        (r#"{"type": "resolve_approval"}"#, "/approval_id"),
        (r#"{"type": "request_state", "since": "soon"}"#, "/since"),
    ];
    for (text, pointer) in table {
        let found = read_mars(text).err().map(|refused| refused.0.errors[0].pointer.clone());
        assert_eq!(found.as_deref(), Some(pointer), "{text}");
    }
}
