//! Questions of the model and of MCP servers, answered in the inbox.

use serde_json::{Value, json};

use super::{Installed, served};

#[tokio::test]
async fn answers_return_in_the_form_of_the_coding_agent() {
    let (server, _rules) = served().await;
    let hook = Installed::new(&server, "claude").await;
    let color = json!({"question": "Which color?", "header": "Color", "multiSelect": false,
        "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]});
    let sizes = json!({"question": "Which sizes?", "header": "Size", "multiSelect": true,
        "options": [{"label": "S", "description": ""}, {"label": "L", "description": ""}]});
    let ask =
        |questions: Value, id: &str| hook.payload("AskUserQuestion", json!({ "questions": questions }), id);

    let decision = json!({"option": "answer", "text": "Blue"});
    let (card, answered) = hook.decided(&ask(json!([color]), "t1"), &decision).await;
    assert_eq!((card["kind"].as_str(), card["title"].as_str()), (Some("question"), Some("Which color?")));
    let output = answered.json()["hookSpecificOutput"].clone();
    assert_eq!(output["permissionDecision"], "allow");
    assert_eq!(output["updatedInput"]["answers"], json!({"Which color?": "Blue"}));
    assert_eq!(output["updatedInput"]["questions"], json!([color]));

    let decision = json!({"option": "answer", "edit": {"q1": "Red", "q2": ["S", "L"]}});
    let (_, answered) = hook.decided(&ask(json!([color, sizes]), "t2"), &decision).await;
    let answers = answered.json()["hookSpecificOutput"]["updatedInput"]["answers"].clone();
    assert_eq!(answers, json!({"Which color?": "Red", "Which sizes?": "S, L"}));

    let (_, answered) = hook.decided(&ask(json!([color]), "t3"), &json!({"option": "skip"})).await;
    assert_eq!(answered.decision().0, "deny");
}

#[tokio::test]
async fn a_form_of_an_mcp_server_is_answered_or_declined() {
    let (server, _rules) = served().await;
    let hook = Installed::new(&server, "claude").await;
    let schema = json!({"type": "object", "properties": {"env": {"type": "string"}}, "required": ["env"]});
    let elicitation = |id: &str| {
        json!({"session_id": "s-1", "cwd": hook.root, "hook_event_name": "Elicitation", "mcp_server_name": "deploy",
            "message": "Where to?", "mode": "form", "elicitation_id": id, "requested_schema": schema})
    };
    let decision = json!({"option": "answer", "edit": {"env": "staging"}});
    let (card, answered) = hook.decided(&elicitation("e1"), &decision).await;
    assert_eq!((card["title"].as_str(), card["message"].as_str()), (Some("deploy asks"), Some("Where to?")));
    let action = json!({"hookEventName": "Elicitation", "action": "accept", "content": {"env": "staging"}});
    assert_eq!(answered.json()["hookSpecificOutput"], action);
    let (_, answered) = hook.decided(&elicitation("e2"), &json!({"option": "skip"})).await;
    assert_eq!(answered.json()["hookSpecificOutput"]["action"], "decline");
    let mut page = elicitation("e3");
    page["mode"] = "url".into();
    page["requested_schema"] = Value::Null;
    let nothing = hook.run(&page).await;
    assert_eq!((nothing.code, nothing.out.as_str(), nothing.err.as_str()), (0, "", ""));
}
