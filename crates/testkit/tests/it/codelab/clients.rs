//! Behavior that clients of the source system rely on, and that its document does not mention (contract B15). One test
//! per behavior.

use holdshort_testkit::model::Scripted;
use reqwest::Method;
use serde_json::{Value, json};

use super::ide::{Ide, find_only_frame, get, kinds, post, post_body, post_refused, post_request};
use super::{on_call, on_plan, plans, result, served, subtask, user};

fn read(path: &str) -> (&'static str, Value) {
    ("read_file", json!({ "path": path }))
}

fn write(path: &str) -> (&'static str, Value) {
    ("write_file", json!({ "path": path, "content": "x" }))
}

/// A gateway receives a refusal, but its connection to the IDE stays open, and its next message is accepted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_is_heard_and_the_next_message_is_taken() {
    let (model, server) = served().await;
    model.push("orchestrator", Scripted::text("Hello."));
    let body = |message: Value| json!({ "session_id": "s", "message": message });
    for (message, code) in [
        (json!({ "type": "shout" }), "invalid_request"),
        (json!({ "type": "hitl_decision", "call_id": "nothing", "decision": "approve" }), "not_found"),
        (json!({ "type": "tool_result", "call_id": "nothing", "result": {} }), "not_found"),
        (json!({ "type": "plan_decision", "approval_request_id": "x", "decision": "approve" }), "not_found"),
        (user(&"x".repeat(70_000)), "invalid_request"),
    ] {
        assert_eq!(post_refused(&server, &body(message)).await["code"], code);
    }
    let huge = server.request(Method::POST, "/edges/codelab/agent/message/stream");
    let huge = post_request(huge.json(&body(user(&"x".repeat(2_000_000))))).await;
    assert_eq!(find_only_frame(&huge, "error")["code"], "body_too_large");
    assert_eq!(
        find_only_frame(&post(&server, "s", &user("Hi.")).await, "assistant_message")["content"],
        "Hello."
    );
}

/// A message without a session begins a session. Only the response to this message names the session.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_without_a_session_begins_one() {
    let (model, server) = served().await;
    model.push("orchestrator", Scripted::text("Hello."));
    model.push("orchestrator", Scripted::text("You said hi."));
    let frames = post_body(&server, &json!({ "message": user("Hi.") })).await;
    assert_eq!(kinds(&frames), ["session_info", "assistant_message", "done"]);
    let session = frames[0]["session_id"].as_str().unwrap().to_owned();
    let frames = post(&server, &session, &user("What did I say?")).await;
    assert_eq!(kinds(&frames), ["assistant_message", "done"]);
    let told = super::conversation(&model)[0]["content"].as_str().unwrap().to_owned();
    assert!(told.contains("Hi."), "it is the same conversation: {told}");
    let listed = get(&server, "sessions").await;
    assert_eq!((&listed["total"], &listed["sessions"][0]["id"]), (&json!(1), &json!(session)));
    // Only a text message can begin a session.
    for message in [json!({ "type": "tool_result", "call_id": "c", "result": "x" }), json!({ "type": "x" })] {
        post_refused(&server, &json!({ "message": message })).await;
    }
    assert_eq!(get(&server, "sessions").await["total"], 1);
    // The refusal of a message without a session names the new session, so that the next message can continue there.
    let poet = json!({ "type": "switch_agent", "agent_type": "poet", "content": "Sing." });
    let frames = post_body(&server, &json!({ "message": poet })).await;
    assert_eq!(kinds(&frames), ["session_info", "error", "done"]);
    model.push("orchestrator", Scripted::text("Here I am."));
    let session = frames[0]["session_id"].as_str().unwrap();
    let frames = post(&server, session, &user("Who is there?")).await;
    assert_eq!(find_only_frame(&frames, "assistant_message")["content"], "Here I am.");
    assert_eq!(get(&server, "sessions").await["total"], 2);
}

/// If the IDE disconnects while it holds a call, the call is listed, and is handed out again with the next message.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_call_is_found_and_handed_out_again() {
    let (model, server) = served().await;
    model.push("orchestrator", Scripted::calls([read("a"), read("b")]));
    model.push("orchestrator", Scripted::text("Read."));
    let frames = post(&server, "s", &user("Read them.")).await;
    let calls: Vec<&Value> = frames.iter().filter(|frame| frame["type"] == "tool_call").collect();
    let ids = |calls: &[Value]| calls.iter().map(|call| call["call_id"].clone()).collect::<Vec<_>>();
    let pending = get(&server, "sessions/s/pending-approvals").await;
    let found = pending["pending_approvals"].as_array().unwrap();
    assert_eq!(ids(found), [calls[0]["call_id"].clone(), calls[1]["call_id"].clone()]);
    assert_eq!(
        (&found[0]["tool_name"], &found[0]["arguments"], &found[0]["requires_approval"]),
        (&json!("read_file"), &json!({ "path": "a" }), &json!(false))
    );
    // The result of one call does not cause the other call to be handed out.
    let frames = post(&server, "s", &result(calls[0], "text")).await;
    assert_eq!(kinds(&frames), ["status", "done"], "{frames:#?}");
    let frames = post(&server, "s", &user("Are you there?")).await;
    let again: Vec<Value> = frames.iter().filter(|frame| frame["type"] == "tool_call").cloned().collect();
    assert_eq!(ids(&again), [calls[1]["call_id"].clone()], "{frames:#?}");
    assert_eq!(again[0]["metadata"], json!({ "redelivered": true }));
    let frames = post(&server, "s", &result(calls[1], "text")).await;
    assert_eq!(find_only_frame(&frames, "assistant_message")["content"], "Read.");
    assert_eq!(get(&server, "sessions/s/pending-approvals").await["count"], 0);
}

/// If the IDE itself asks its user, it reports a rejection as an error of the call. The server records a rejection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rejection_in_the_ide_is_one_here() {
    let (model, server) = served().await;
    model.push("coder", Scripted::calls([write("a"), read("b")]));
    model.push("coder", Scripted::text("Then not."));
    let code = json!({ "type": "switch_agent", "agent_type": "code", "content": "Write it." });
    let frames = post(&server, "s", &code).await;
    assert_eq!(find_only_frame(&frames, "agent_switched")["to_agent"], "code");
    let call = |tool: &str| frames.iter().find(|frame| frame["tool_name"] == tool).unwrap().clone();
    let no = |call: &Value, why: &str| {
        json!({ "type": "tool_result", "call_id": call["call_id"], "result": null,
            "error": format!("User rejected: {why}") })
    };
    let (asked, free) = (call("write_file"), call("read_file"));
    let rejected = no(&asked, "not in this folder");
    post(&server, "s", &rejected).await;
    // A repeated rejection changes nothing.
    post(&server, "s", &rejected).await;
    // The server had not asked for approval of this call.
    let frames = post(&server, "s", &no(&free, "it is private")).await;
    assert_eq!(find_only_frame(&frames, "assistant_message")["content"], "Then not.");
    let told = super::conversation(&model).iter().map(Value::to_string).collect::<String>();
    assert!(told.contains("a person refused this call: not in this folder"), "{told}");
    let log = get(&server, "events/audit-log?session_id=s").await;
    let entries: Vec<[&Value; 4]> = log["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| ["call_id", "event_type", "decision", "feedback"].map(|field| &entry[field]))
        .collect();
    let kind = json!("hitl_decision");
    let reject = json!("reject");
    assert_eq!(
        entries,
        [
            [&free["call_id"], &kind, &reject, &json!("it is private")],
            [&asked["call_id"], &kind, &reject, &json!("not in this folder")],
        ]
    );
    // If an approved call fails in the IDE, this is not a rejection.
    model.push("coder", Scripted::calls([write("c")]));
    model.push("coder", Scripted::text("It failed."));
    let call = find_only_frame(&post(&server, "s", &user("Again.")).await, "tool_call").clone();
    post(&server, "s", &on_call(&call, "approve")).await;
    post(&server, "s", &no(&call, "late")).await;
    let log = get(&server, "events/audit-log?session_id=s&limit=1").await;
    assert_eq!(
        (&log["events"][0]["call_id"], &log["events"][0]["decision"]),
        (&call["call_id"], &json!("approve"))
    );
}

/// A waiting plan does not hide open calls, and open calls do not hide the plan.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiting_plan_hides_no_approval() {
    let (model, server) = served().await;
    let graph = [subtask("a", "coder", &[]), subtask("b", "ask", &[])];
    model.push("orchestrator", plans(&graph));
    model.push("coder", Scripted::calls([write("x")]));
    let plan = find_only_frame(&post(&server, "s", &user("Build it.")).await, "plan_notification").clone();
    assert_eq!(
        (&plan["metadata"]["original_task"], &plan["plan_id"]),
        (&json!("Build it."), &plan["metadata"]["plan_id"])
    );
    let pending = get(&server, "sessions/s/pending-approvals").await;
    assert_eq!((&pending["count"], pending["pending_plans"].as_array().unwrap().len()), (&json!(0), 1));
    let frames = post(&server, "s", &on_plan(&plan, "approve")).await;
    let call = find_only_frame(&frames, "tool_call").clone();
    let run = server.get("/v1/runs").await.ok()["items"][0]["id"].as_str().unwrap().to_owned();
    let other = json!({ "plan": { "subtasks": [graph[0].clone(), subtask("c", "ask", &[])] } });
    let put = server.request(Method::PUT, &format!("/v1/runs/{run}/plans/work")).json(&other);
    server.send(put).await.ok();
    let pending = get(&server, "sessions/s/pending-approvals").await;
    assert_eq!(pending["pending_approvals"][0]["call_id"], call["call_id"]);
    assert_eq!((&pending["count"], pending["pending_plans"].as_array().unwrap().len()), (&json!(1), 1));
}

/// Sessions can be begun, listed and restored. Agents have the names that the IDE uses.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_are_begun_listed_and_restored() {
    let (model, server) = served().await;
    let begin = async |body: Option<Value>| {
        let request = server.request(Method::POST, "/edges/codelab/sessions");
        let answer = server.send(if let Some(body) = body { request.json(&body) } else { request }).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        super::reader::rest("sessions", &answer.body);
        answer.body
    };
    let unnamed = begin(None).await;
    let named = begin(Some(json!({ "session_id": "my session" }))).await;
    assert_eq!(begin(Some(json!({ "session_id": "my session" }))).await, named, "it is there already");
    assert_eq!((&named["id"], &named["session_id"]), (&json!("my session"), &json!("my session")));
    let id = unnamed["id"].as_str().unwrap();
    let history = get(&server, &format!("sessions/{id}/history")).await;
    assert_eq!((&history["messages"], &history["current_agent"]), (&json!([]), &json!("orchestrator")));

    model.push("orchestrator", Scripted::call("handoff_to_coder", json!({ "message": "code" })));
    model.push("coder", Scripted::text("It is written."));
    model.push("orchestrator", Scripted::text("Anything else?"));
    post(&server, "my session", &user("Write it.")).await;
    post(&server, "my session", &user("Thanks.")).await;
    let history = get(&server, "sessions/my session/history").await;
    let said: Vec<(&str, &str)> = history["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|said| (said["role"].as_str().unwrap(), said["content"].as_str().unwrap()))
        .collect();
    assert_eq!(
        said,
        [
            ("user", "Write it."),
            ("assistant", "It is written."),
            ("user", "Thanks."),
            ("assistant", "Anything else?")
        ]
    );
    let current = get(&server, "agents/my session/current").await;
    let switch = &current["agent_history"][0];
    assert_eq!(
        (&current["current_agent"], &current["switch_count"], &switch["from"], &switch["to"]),
        (&json!("orchestrator"), &json!(1), &json!("code"), &json!("orchestrator"))
    );
    // The list also contains the session of a WebSocket client with its messages.
    model.push("orchestrator", Scripted::text("Hello."));
    let mut ide = Ide::connect(&server, "third").await;
    ide.say(&user("Hi.")).await;
    ide.find("done").await;
    let listed = get(&server, "sessions").await;
    let mut ids: Vec<(&str, u64)> = listed["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|session| (session["id"].as_str().unwrap(), session["message_count"].as_u64().unwrap()))
        .collect();
    ids.sort_unstable();
    let mut expected = [("my session", 4), (id, 0), ("third", 2)];
    expected.sort_unstable();
    assert_eq!(ids, expected);
    let page = get(&server, "sessions?limit=1&offset=2").await;
    assert_eq!((page["sessions"].as_array().unwrap().len(), &page["total"]), (1, &json!(3)));
    for path in ["sessions/nobody/history", "agents/nobody/current"] {
        assert_eq!(
            server.get(&format!("/edges/codelab/{path}")).await.refusal(),
            (404, "not_found"),
            "{path}"
        );
    }

    let agents = get(&server, "agents").await;
    let agents: Vec<(&str, bool)> = agents
        .as_array()
        .unwrap()
        .iter()
        .map(|agent| (agent["type"].as_str().unwrap(), agent["has_file_restrictions"].as_bool().unwrap()))
        .collect();
    assert_eq!(
        agents,
        [("architect", true), ("ask", false), ("code", false), ("debug", false), ("orchestrator", false)]
    );
    let stats = get(&server, "events/stats").await;
    let verified = server.get("/v1/audit/verify").await.ok();
    assert_eq!((&stats["total_published"], &stats["failed_handlers"]), (&verified["events"], &json!(0)));
    // This edge does not show questions of agents in other workflows.
    let asks = json!({ "kind": "question", "title": "Which one?" });
    server.post("/v1/interrupts", &asks).await.ok();
    let metrics = get(&server, "events/metrics").await["metrics"].clone();
    assert_eq!(metrics, json!({ "runs": { "completed": 3 }, "requests": {} }));
    assert_eq!(get(&server, "health").await["status"], "healthy");
}

/// The server accepts both names of a tool or an agent, and sends the name that the IDE uses.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_and_agents_have_the_names_that_the_ide_has() {
    let (model, server) = served().await;
    model.push(
        "coder",
        Scripted::calls([("search_files", json!({ "pattern": "todo" })), ("list_files", json!({}))]),
    );
    model.push("coder", Scripted::text("Found."));
    for (n, name) in ["code", "coder"].into_iter().enumerate() {
        let session = format!("s{n}");
        let switch = json!({ "type": "switch_agent", "agent_type": name, "content": "Look." });
        let frames = post(&server, &session, &switch).await;
        let switched = find_only_frame(&frames, "agent_switched");
        assert_eq!(
            (&switched["to_agent"], &switched["metadata"]["to_agent"]),
            (&json!("code"), &json!("code"))
        );
        if n == 0 {
            let calls: Vec<(&Value, &Value)> = frames
                .iter()
                .filter(|frame| frame["type"] == "tool_call")
                .map(|call| (&call["tool_name"], &call["arguments"]))
                .collect();
            let (search, list) = (json!({ "query": "todo" }), json!({ "path": "." }));
            assert_eq!(calls, [(&json!("search_in_code"), &search), (&json!("list_files"), &list)]);
        }
        model.push("coder", Scripted::text("Again."));
    }
    model.push("orchestrator", plans(&[subtask("a", "debug", &[])]));
    model.push("coder", Scripted::text("Written."));
    let plan =
        find_only_frame(&post(&server, "planned", &user("Plan it.")).await, "plan_notification").clone();
    let mut edit = on_plan(&plan, "edit");
    edit["modified_subtasks"] = json!([
        { "id": "a", "description": "write", "agent": "code" }, { "id": "b", "description": "more", "agent": "coder" }
    ]);
    let frames = post(&server, "planned", &edit).await;
    let started: Vec<&Value> = frames
        .iter()
        .filter(|frame| frame["type"] == "subtask_started")
        .map(|frame| &frame["agent"])
        .collect();
    assert_eq!(started, ["code", "code"]);
}

/// Each route of the edge accepts only the tokens that it should. An IDE decides on behalf of its person, so the agent
/// token is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_route_lets_in_whom_it_should() {
    let (_model, server) = served().await;
    let routes = [
        (Method::POST, "agent/message/stream", false),
        (Method::GET, "sessions", false),
        (Method::POST, "sessions", false),
        (Method::GET, "sessions/s/history", false),
        (Method::GET, "sessions/s/pending-approvals", false),
        (Method::GET, "sessions/s/pending-plans", false),
        (Method::GET, "sessions/s/plans", false),
        (Method::POST, "sessions/s/plans/p/pause", false),
        (Method::POST, "sessions/s/plans/p/resume", false),
        (Method::GET, "agents", false),
        (Method::GET, "agents/s/current", false),
        (Method::GET, "events/stats", false),
        (Method::GET, "events/metrics", false),
        (Method::GET, "events/metrics/sessions", false),
        (Method::GET, "events/metrics/session/s", false),
        (Method::GET, "events/audit-log", false),
        (Method::GET, "health", true),
    ];
    for (method, path, is_open) in routes {
        let path = format!("/edges/codelab/{path}");
        let agent = server.send(server.agent_request(method.clone(), &path)).await;
        let nobody = server.send(server.request(method.clone(), &path).bearer_auth("wrong")).await;
        let operator = server.send(server.request(method.clone(), &path)).await;
        let expected = if is_open { (200, 200) } else { (403, 401) };
        assert_eq!((agent.status, nobody.status), expected, "{method} {path}");
        assert!(![401, 403].contains(&operator.status), "{method} {path}: {operator:?}");
    }
}

/// If a client sends a trace with its connection or its message, each run that the client begins joins that trace.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_joins_the_trace_of_its_message() {
    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let (model, server) = served().await;
    model.script("orchestrator", [Scripted::text("Hello.").repeat()]);
    let traces = async || {
        let runs = server.get("/v1/runs").await.ok();
        let mut traces = Vec::new();
        for run in runs["items"].as_array().unwrap() {
            let started = server.events_of(run["id"].as_str().unwrap(), "run_started").await;
            traces.push(started[0]["data"]["trace"].clone());
        }
        traces
    };
    let headers =
        [("authorization", format!("Bearer {}", server.token())), ("traceparent", PARENT.to_owned())];
    let mut ide = Ide::try_open(&server, "/edges/codelab/ws/socket", &headers).await.unwrap();
    for words in ["Hi.", "Hi again."] {
        ide.say(&user(words)).await;
        ide.find("assistant_message").await;
        ide.find("done").await;
    }
    let message = json!({ "session_id": "posted", "message": user("Hi.") });
    let request = server.request(Method::POST, "/edges/codelab/agent/message/stream").json(&message);
    post_request(request.header("traceparent", PARENT)).await;
    assert_eq!(traces().await, [PARENT; 3], "two of the connection, and one that was posted");

    post(&server, "other", &user("Hi.")).await;
    assert_eq!(traces().await.iter().filter(|trace| trace.is_null()).count(), 1);
}
