//! Messages of the revision 2026-07-28 over HTTP: each is complete in itself, and no session exists.

use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use super::{approve, asked, only_open, post};

fn message(method: &str, mut params: Value, capabilities: &Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

fn call(capabilities: &Value) -> Value {
    let params = json!({"name": "request_approval", "arguments": {"title": "Deploy"}});
    message("tools/call", params, capabilities)
}

#[tokio::test]
async fn a_task_is_read_after_a_restart() {
    let mut server = TestServer::setup().start().await;
    let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let created = post(&server, server.agent_token(), &call(&tasks)).await.ok();
    let interrupt = only_open(&server).await;
    let id = interrupt["id"].as_str().unwrap().to_owned();
    assert_eq!(
        (&created["result"]["resultType"], &created["result"]["status"]),
        (&json!("task"), &json!("working")),
        "{created}"
    );
    let task = created["result"]["taskId"].as_str().unwrap();
    assert!(task.starts_with(&format!("{id}.")), "{created}");
    server.restart().await;
    let get = message("tasks/get", json!({ "taskId": task }), &tasks);
    let read =
        async |server: &TestServer| post(server, server.agent_token(), &get).await.ok()["result"].clone();
    assert_eq!(read(&server).await["status"], "working");
    server.decide(&interrupt, &approve()).await.ok();
    let done = read(&server).await;
    assert_eq!(done["status"], "completed", "{done}");
    assert_eq!(done["result"]["structuredContent"]["may_proceed"], true, "{done}");
    // A task has one result, however often it is read. The approval is used.
    assert_eq!(read(&server).await["result"], done["result"]);
    let used = server.interrupt(&id).await;
    assert!(used["approval"]["used"].is_object(), "{used}");

    // A client that did not declare tasks gets the error for a missing capability.
    let undeclared = message("tasks/get", json!({ "taskId": task }), &json!({}));
    let refused = post(&server, server.agent_token(), &undeclared).await.body;
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
}

#[tokio::test]
async fn calls_that_share_a_request_do_not_share_its_approval() {
    let server = TestServer::setup().start().await;
    let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let mut created = Vec::new();
    for _ in 0..2 {
        created
            .push(post(&server, server.agent_token(), &call(&tasks)).await.ok()["result"]["taskId"].clone());
    }
    assert_ne!(created[0], created[1]);
    let interrupt = only_open(&server).await;
    server.decide(&interrupt, &approve()).await.ok();
    let mut proceeds = Vec::new();
    for task in &created {
        let get = message("tasks/get", json!({ "taskId": task }), &tasks);
        let read = post(&server, server.agent_token(), &get).await.ok();
        proceeds.push(read["result"]["result"]["structuredContent"]["may_proceed"].clone());
    }
    assert_eq!(proceeds, [true, false]);
    let get = message("tasks/get", json!({ "taskId": interrupt["id"] }), &tasks);
    assert!(post(&server, server.agent_token(), &get).await.body["error"].is_object());
}

#[tokio::test]
async fn titles_that_differ_at_their_end_are_different_requests() {
    let server = TestServer::setup().start().await;
    let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    for end in ["staging", "production"] {
        let mut call = call(&tasks);
        call["params"]["arguments"]["title"] = format!("{}to {end}", "Deploy ".repeat(40)).into();
        post(&server, server.agent_token(), &call).await.ok();
    }
    assert_eq!(asked(&server).await, 2);
}

#[tokio::test]
async fn a_cancelled_task_is_withdrawn() {
    let server = TestServer::setup().start().await;
    let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let created = post(&server, server.agent_token(), &call(&tasks)).await.ok();
    let id = only_open(&server).await["id"].as_str().unwrap().to_owned();
    let task = created["result"]["taskId"].as_str().unwrap();
    let cancel = message("tasks/cancel", json!({ "taskId": task }), &tasks);
    post(&server, server.agent_token(), &cancel).await.ok();
    let get = message("tasks/get", json!({ "taskId": task }), &tasks);
    assert_eq!(post(&server, server.agent_token(), &get).await.ok()["result"]["status"], "cancelled");
    assert_eq!(server.interrupt(&id).await["resolution"]["cause"], "withdrawn");
}

#[tokio::test]
async fn a_repeat_with_input_finds_the_request_after_a_restart() {
    let mut server = TestServer::setup().start().await;
    let elicits = json!({"elicitation": {"url": {}}});
    let asked_for = post(&server, server.agent_token(), &call(&elicits)).await.ok()["result"].clone();
    assert_eq!(asked_for["resultType"], "input_required", "{asked_for}");
    let interrupt = only_open(&server).await;
    let link = format!("{}/inbox/{}", server.base(), interrupt["id"].as_str().unwrap());
    assert_eq!(asked_for["inputRequests"]["inbox"]["params"]["url"], link, "{asked_for}");
    server.restart().await;
    server.decide(&interrupt, &approve()).await.ok();
    let mut again = call(&elicits);
    again["params"]["requestState"] = asked_for["requestState"].clone();
    again["params"]["inputResponses"] = json!({"inbox": {"action": "accept"}});
    let decision =
        post(&server, server.agent_token(), &again).await.ok()["result"]["structuredContent"].clone();
    assert_eq!((&decision["request"], &decision["may_proceed"]), (&interrupt["id"], &json!(true)));

    // The state of this call approves no other call, and no approval twice.
    let repeated = post(&server, server.agent_token(), &again).await.ok()["result"].clone();
    assert_eq!(repeated["structuredContent"]["may_proceed"], false, "{repeated}");
    let mut other = again.clone();
    other["params"]["arguments"]["title"] = "Delete".into();
    let refused = post(&server, server.agent_token(), &other).await.ok()["result"].clone();
    assert_eq!(refused["isError"], true, "{refused}");
    for state in ["int_1", "mcp-../x", ""] {
        other["params"]["requestState"] = state.into();
        let refused = post(&server, server.agent_token(), &other).await.ok()["result"].clone();
        assert_eq!(refused["isError"], true, "{state}: {refused}");
    }
    assert_eq!(asked(&server).await, 1);
}
