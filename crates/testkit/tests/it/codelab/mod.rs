//! Tests of the `CodeLab` edge over the real binary, with an independent client (cases 24 to 32).

mod away;
mod bad;
mod bubbles;
mod calls;
mod changes;
mod clients;
mod docs;
mod example;
mod handoffs;
mod hands;
pub(crate) mod ide;
mod measured;
mod plans;
mod reader;
mod reads;
mod talk;
mod voting;

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

pub(crate) const WORKFLOW: &str = include_str!("../../../../../workflows/codelab_ide/workflow.yaml");

/// Starts a server with the `CodeLab` edge and a scripted model. Each test adds the model's replies.
async fn served() -> (ScriptedModel, TestServer) {
    let model = ScriptedModel::start().await;
    let server = TestServer::setup().model(&model).start().await;
    (model, server)
}

/// Starts a server as [`served`] does, with a variant of the shipped workflow.
async fn served_with(workflow: &str) -> (ScriptedModel, TestServer) {
    let model = ScriptedModel::start().await;
    let server = TestServer::setup().workflow("codelab_ide", workflow).model(&model).start().await;
    (model, server)
}

pub(crate) fn subtask(id: &str, agent: &str, needs: &[&str]) -> Value {
    json!({ "id": id, "description": format!("do {id}"), "agent": agent, "depends_on": needs })
}

pub(crate) fn plans(subtasks: &[Value]) -> Scripted {
    Scripted::call("create_plan", json!({ "subtasks": subtasks }))
}

pub(crate) fn user(content: &str) -> Value {
    json!({ "type": "user_message", "content": content, "role": "user" })
}

pub(crate) fn on_plan(plan: &Value, decision: &str) -> Value {
    json!({ "type": "plan_decision", "plan_id": plan["metadata"]["plan_id"], "decision": decision })
}

fn on_call(call: &Value, decision: &str) -> Value {
    json!({ "type": "hitl_decision", "call_id": call["call_id"], "decision": decision })
}

pub(crate) fn result(call: &Value, text: &str) -> Value {
    json!({ "type": "tool_result", "call_id": call["call_id"], "result": text })
}

fn done(frame: &Value) -> &str {
    assert_eq!(frame["type"], "done", "{frame}");
    frame["status"].as_str().unwrap()
}

/// Returns the messages of the model's last request, without the system message.
fn conversation(model: &ScriptedModel) -> Vec<Value> {
    let request = model.requests().pop().unwrap();
    request.body["messages"].as_array().unwrap().iter().skip(1).cloned().collect()
}

/// Asserts the rule of strict providers: a reply with calls is directly followed by the result of each call, exactly
/// once.
fn assert_paired(model: &ScriptedModel) {
    for request in model.requests() {
        let messages = request.body["messages"].as_array().unwrap();
        let mut owed: Vec<&str> = Vec::new();
        for message in messages {
            if message["role"] == "tool" {
                let id = message["tool_call_id"].as_str().unwrap();
                let at = owed.iter().position(|owed| *owed == id);
                owed.remove(at.unwrap_or_else(|| panic!("nobody called {id}: {messages:#?}")));
                continue;
            }
            assert!(owed.is_empty(), "no result of {owed:?}: {messages:#?}");
            let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
            owed.extend(calls.iter().filter_map(|call| call["id"].as_str()));
        }
        assert!(owed.is_empty(), "no result of {owed:?}: {messages:#?}");
    }
}
