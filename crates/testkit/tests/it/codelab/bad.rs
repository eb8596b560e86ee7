//! Invalid messages return an error and change nothing (case 28).

use holdshort_testkit::model::Scripted;
use reqwest::Method;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::ide::{Ide, find_only_frame, post, post_refused, post_request};
use super::{on_plan, plans, served, subtask, user};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_message_is_an_error_frame_and_the_socket_stays() {
    let (model, server) = served().await;
    model.script("orchestrator", [plans(&[subtask("a", "coder", &[])])]);
    model.script("coder", [Scripted::text("Done.")]);
    let mut ide = Ide::connect(&server, "s").await;
    ide.say(&user("Build it.")).await;
    let plan = ide.find("plan_notification").await;
    ide.next().await;
    let run = server.get("/v1/runs").await.ok()["items"][0]["id"].as_str().unwrap().to_owned();
    let events = server.events(&run).await.len();

    let plan_id = &plan["metadata"]["plan_id"];
    let decision =
        |decision: &str| json!({ "type": "plan_decision", "plan_id": plan_id, "decision": decision });
    let table = [
        (json!({ "type": "shout" }), "invalid_request"),
        (json!({ "content": "no type" }), "invalid_request"),
        (json!(["not", "an", "object"]), "invalid_request"),
        (json!({ "type": "user_message" }), "invalid_request"),
        (decision("maybe"), "invalid_request"),
        (decision("edit"), "invalid_request"),
        (json!({ "type": "plan_decision", "plan_id": "plan_00000000", "decision": "approve" }), "not_found"),
        (json!({ "type": "hitl_decision", "call_id": "nothing", "decision": "approve" }), "not_found"),
        (json!({ "type": "tool_result", "call_id": "nothing", "result": "x" }), "not_found"),
        (json!({ "type": "switch_agent", "agent_type": "poet", "content": "x" }), "invalid_request"),
    ];
    for (message, code) in &table {
        let refused = ide.refused(message).await;
        assert_eq!(refused["code"], *code, "{message}: {refused}");
        assert_eq!(refused["error"], refused["content"], "both forms of the source system");
    }
    for broken in ["{", "", "{\"type\": \"user_message\", \"type\": \"x\"}"] {
        ide.send(Message::text(broken)).await;
        assert_eq!(ide.next().await["code"], "malformed_json", "{broken}");
    }
    ide.send(Message::binary(vec![1, 2, 3])).await;
    assert_eq!(ide.next().await["code"], "malformed_json");
    assert_eq!(server.events(&run).await.len(), events, "nothing was written");

    // Over HTTP, each message returns an error with the same code as over the socket.
    for (message, code) in &table {
        let refused = post_refused(&server, &json!({ "session_id": "s", "message": message })).await;
        assert_eq!(refused["code"], *code, "{message}");
    }
    let on_nothing = json!({ "message": decision("approve") });
    for body in [json!({}), json!({ "session_id": "s" }), on_nothing, json!([])] {
        assert_eq!(post_refused(&server, &body).await["code"], "invalid_request", "{body}");
    }
    let broken = server.request(Method::POST, "/edges/codelab/agent/message/stream");
    let broken = post_request(broken.header("content-type", "application/json").body("{")).await;
    assert_eq!(find_only_frame(&broken, "error")["code"], "malformed_json");
    assert_eq!(server.events(&run).await.len(), events, "nothing was written");

    ide.say(&on_plan(&plan, "approve")).await;
    assert_eq!(ide.find("plan_completed").await["completed"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_not_the_operator_does_not_get_in() {
    let (model, server) = served().await;
    model.script("orchestrator", [Scripted::text("Hello.")]);
    let path = "/edges/codelab/ws/s";
    let token = server.token().to_owned();
    let bearer = |token: &str| ("authorization", format!("Bearer {token}"));
    let internal = ("x-internal-auth", token.clone());
    let with_token = format!("{path}?token={token}");
    let table = [
        (path, vec![bearer(&token)], None),
        (path, vec![internal.clone()], None),
        (&with_token, vec![], None),
        (path, vec![], Some(401)),
        (path, vec![bearer("wrong")], Some(401)),
        (path, vec![bearer(server.agent_token())], Some(403)),
        (&with_token, vec![internal.clone()], Some(401)),
        (path, vec![bearer(&token), ("origin", "https://evil.example".to_owned())], Some(403)),
    ];
    for path in ["/edges/codelab/ws/%FF", "/edges/mars/ws/%FF"] {
        assert_eq!(Ide::try_open(&server, path, &[bearer(&token)]).await.err(), Some(404), "{path}");
    }
    for (path, headers, refused) in table {
        assert_eq!(Ide::try_open(&server, path, &headers).await.err(), refused, "{path} {headers:?}");
    }
    let agent = server.agent_request(Method::POST, "/edges/codelab/agent/message/stream");
    let answer = server.send(agent.json(&json!({ "session_id": "s", "message": user("x") }))).await;
    assert_eq!(answer.refusal(), (403, "forbidden_role"));
    assert_eq!(server.get("/v1/runs").await.ok()["items"], json!([]), "nothing was started");
    assert_eq!(
        find_only_frame(&post(&server, "s", &user("Hi")).await, "assistant_message")["content"],
        "Hello."
    );
}

/// A session has at most one run at a time, even if many clients send messages at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_never_has_two_runs() {
    let (model, server) = served().await;
    model.script("orchestrator", [Scripted::hang(), Scripted::text("You said more.").repeat()]);
    let mut ides = Vec::new();
    for _ in 0..5 {
        ides.push(Ide::connect(&server, "s").await);
    }
    for (n, ide) in ides.iter_mut().enumerate() {
        ide.say(&user(&format!("word {n}"))).await;
    }
    model.wait_for_requests(1).await;
    // No message was lost: the first message started the run, and the run received all other messages.
    let run = holdshort_testkit::server::eventually("five words", async || {
        let runs = server.get("/v1/runs").await.ok()["items"].as_array().cloned()?;
        assert_eq!(runs.len(), 1, "{runs:#?}");
        let run = runs[0]["id"].as_str()?.to_owned();
        (server.events_of(&run, "message_added").await.len() == 4).then_some(run)
    });
    let run = run.await;
    model.release();
    server.wait_status(&run, &["completed"]).await;
    let told = model.requests().pop().unwrap().texts().join("\n");
    for n in 0..5 {
        assert!(told.contains(&format!("word {n}")), "{told}");
    }
    let _: Vec<Value> = ides[0].until("done").await;
}
