//! OpenAI-compatible servers: requests, replies and failures.

use std::time::Duration;

use holdshort_core::message::{
    Arguments, Call, FailureKind, Message, Reply, Request, RequestedCall, Stop, Usage,
};
use holdshort_models::{Model, Settings, answers};
use holdshort_testkit::model::{RawCall, Scripted, ScriptedModel};
use serde_json::json;

use super::{at, call, call_collecting_text, model, request, system, user};

const USAGE: Usage = Usage { input_tokens: 100, output_tokens: 10 };

async fn playing(scripted: Scripted) -> (ScriptedModel, std::sync::Arc<dyn Model>) {
    let server = ScriptedModel::start().await;
    server.push("pair", scripted);
    let model = at(server.base_url());
    (server, model)
}

fn requested(tool: &str, arguments: serde_json::Value) -> RequestedCall {
    RequestedCall { tool: tool.into(), arguments: Arguments::Json(arguments) }
}

fn malformed(tool: &str, raw: &str) -> RequestedCall {
    RequestedCall { tool: tool.into(), arguments: Arguments::Malformed(raw.into()) }
}

#[tokio::test]
async fn a_text_is_streamed() {
    let (_server, model) =
        playing(Scripted::text("Hello, this is a reply — with more than one piece.")).await;
    let (result, pieces) = call_collecting_text(model.as_ref(), &request()).await;
    let text = "Hello, this is a reply — with more than one piece.".to_owned();
    assert!(pieces.len() > 3, "{pieces:?}");
    assert_eq!(pieces.concat(), text);
    let model = "test-model".into();
    assert_eq!(result, Ok(Reply { text, calls: vec![], usage: USAGE, model, stop: Stop::Whole }));
}

/// The reply of a model contains the provider's stop reason. A reply with an unknown stop reason is never treated as
/// complete.
#[tokio::test]
async fn why_a_reply_stopped_is_told() {
    for (reason, stop) in [
        ("stop", Stop::Whole),
        ("length", Stop::Cut),
        ("content_filter", Stop::Filtered),
        ("insufficient_system_resource", Stop::Unclear),
        // The stop reason announces tool calls, but the calls were lost.
        ("tool_calls", Stop::Unclear),
        ("function_call", Stop::Unclear),
    ] {
        let (_server, model) = playing(Scripted::stopped("Half of a", reason)).await;
        assert_eq!(
            call(model.as_ref()).await.map(|reply| (reply.text, reply.stop)),
            Ok(("Half of a".into(), stop))
        );
    }
}

#[tokio::test]
async fn the_request_is_a_standard_one() {
    let (server, model) = playing(Scripted::text("ok")).await;
    let request = Request {
        messages: vec![
            system(),
            user("Fix it"),
            Message::Assistant {
                agent: "pair".into(),
                text: "Looking.".into(),
                calls: vec![
                    Call { id: "run_1.1".into(), tool: "read_file".into(), arguments: json!({"path": "a"}) },
                    Call { id: "run_1.2".into(), tool: "read_file".into(), arguments: json!("{\"pa") },
                ],
            },
            Message::Tool { call: "run_1.1".into(), name: "read_file".into(), text: "A".into() },
            Message::Tool { call: "run_1.2".into(), name: "read_file".into(), text: "refused".into() },
            user("Go on"),
        ],
        ..request()
    };
    model.call(&request, &|_| {}).await.unwrap();

    let sent = server.requests().remove(0);
    assert_eq!(
        (sent.agent.as_str(), sent.authorization.as_deref()),
        ("pair", Some("Bearer sk-test-0123456789"))
    );
    assert_eq!(
        sent.body,
        json!({
            "model": "test-model",
            "stream": true,
            "stream_options": {"include_usage": true},
            "tools": [{"type": "function", "function": {
                "name": "read_file", "description": "Reads a file", "strict": false,
                "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": false},
            }}],
            "messages": [
                {"role": "system", "content": "Agent: pair\nYou help."},
                {"role": "user", "content": "Fix it"},
                {"role": "assistant", "content": "Looking.", "tool_calls": [
                    {"type": "function", "id": "run_1.1", "function": {"name": "read_file", "arguments": "{\"path\":\"a\"}"}},
                    {"type": "function", "id": "run_1.2", "function": {"name": "read_file", "arguments": "{\"malformed\":\"{\\\"pa\"}"}},
                ]},
                {"role": "tool", "tool_call_id": "run_1.1", "content": "A"},
                {"role": "tool", "tool_call_id": "run_1.2", "content": "refused"},
                {"role": "user", "content": "Go on"},
            ],
        })
    );
}

/// The schema that a request states for the reply is sent to the server, so that the server can make the model follow
/// the schema.
#[tokio::test]
async fn a_form_of_the_answer_goes_out() {
    let (server, model) = playing(Scripted::text("{\"escalate\": false}")).await;
    let schema = json!({
        "type": "object", "properties": {"escalate": {"type": "boolean"}},
        "required": ["escalate"], "additionalProperties": false,
    });
    let request = Request { tools: Vec::new(), response_schema: Some(schema.clone()), ..request() };
    model.call(&request, &|_| {}).await.unwrap();
    let format = server.requests().remove(0).body["response_format"].clone();
    assert_eq!(
        (format["type"].as_str(), &format["json_schema"]["schema"]),
        (Some("json_schema"), &schema),
        "{format}"
    );
}

/// The name of the model is sent unchanged. Without a precaution, the library would remove a namespace from the name
/// and derive an effort from the end of the name.
#[tokio::test]
async fn a_models_name_goes_out_as_it_is() {
    let server = ScriptedModel::start().await;
    server.push("pair", Scripted::text("ok").repeat());
    for name in ["qwen3-max", "org/model:free", "ollama::x", "claude-3-high", "gpt-5-mini"] {
        let settings = Settings {
            model: Some(name.into()),
            base_url: Some(server.base_url().into()),
            ..Settings::default()
        };
        call(model(&settings, &[]).as_ref()).await.unwrap();
        let sent = server.requests().pop().unwrap();
        assert_eq!(sent.body["model"], name);
        assert_eq!(sent.body.get("reasoning_effort"), None, "{name}");
        assert_eq!(sent.authorization.as_deref(), Some("Bearer none"));
    }
}

#[tokio::test]
async fn a_requests_own_model_goes_before() {
    let (server, model) = playing(Scripted::text("ok")).await;
    let reply = model.call(&Request { model: Some("small".into()), ..request() }, &|_| {}).await.unwrap();
    assert_eq!(reply.model, "small");
    assert_eq!(server.requests()[0].body["model"], "small");
}

#[tokio::test]
async fn parallel_calls_stay_apart() {
    let (_server, model) = playing(Scripted::Calls {
        text: "Both.".into(),
        calls: vec![
            ("read_file".into(), json!({"path": "a/rather/long/path.rs"})),
            ("read_file".into(), json!({"path": "b"})),
            ("list_directory".into(), json!({})),
        ],
    })
    .await;
    assert_eq!(
        call(model.as_ref()).await,
        Ok(Reply {
            text: "Both.".into(),
            calls: vec![
                requested("read_file", json!({"path": "a/rather/long/path.rs"})),
                requested("read_file", json!({"path": "b"})),
                requested("list_directory", json!({})),
            ],
            usage: USAGE,
            model: "test-model".into(),
            stop: Stop::Whole,
        })
    );
}

#[tokio::test]
async fn calls_with_one_id_are_two_calls() {
    let raw = |arguments: &str| RawCall { id: "same".into(), tool: "t".into(), arguments: arguments.into() };
    let (_server, model) = playing(Scripted::RawCalls(vec![raw(r#"{"n":1}"#), raw(r#"{"n":2}"#)])).await;
    let reply = call(model.as_ref()).await.unwrap();
    assert_eq!(reply.calls, [requested("t", json!({"n": 1})), requested("t", json!({"n": 2}))]);
}

#[tokio::test]
async fn malformed_arguments_are_kept_as_they_are() {
    for raw in [
        "{\"path\": \"a",
        "not json at all",
        "[1, 2]",
        "\"{}\"",
        "{\"a\":1,\"a\":2}",
        "{\"n\":9007199254740993}",
    ] {
        let (_server, model) = playing(Scripted::raw_call("c1", "read_file", raw)).await;
        let reply = call(model.as_ref()).await.unwrap();
        assert_eq!(reply.calls, [malformed("read_file", raw)]);
    }
}

#[tokio::test]
async fn failures_have_kinds() {
    for (scripted, kind) in [
        (Scripted::status(400), FailureKind::Rejected),
        (Scripted::status(401), FailureKind::Rejected),
        (Scripted::status(429), FailureKind::RateLimited),
        (Scripted::status(500), FailureKind::Unavailable),
        (Scripted::status(503), FailureKind::Unavailable),
        (Scripted::Empty, FailureKind::Unusable),
        (Scripted::text(" \n "), FailureKind::Unusable),
        (Scripted::Cut("This never comes to its end.".into()), FailureKind::Cut),
        (Scripted::Unfinished("This just stops".into()), FailureKind::Cut),
        (html(), FailureKind::Unusable),
    ] {
        let told = format!("{scripted:?}");
        let (server, model) = playing(scripted).await;
        let failure = call(model.as_ref()).await.unwrap_err();
        assert_eq!(failure.kind, kind, "{told}: {failure:?}");
        assert_eq!(server.requests().len(), 1, "{told}: nothing is retried here");
    }
}

fn html() -> Scripted {
    Scripted::Status { status: 200, headers: vec![], body: "<html>Welcome</html>".into() }
}

#[tokio::test]
async fn retry_after_is_passed_on() {
    for (value, least, most) in [("7", 7_000, 7_000), (later(), 50_000, 61_000)] {
        let (_server, model) = playing(Scripted::Status {
            status: 429,
            headers: vec![("retry-after".into(), value.into())],
            body: json!({"error": {"message": "slow down"}}).to_string(),
        })
        .await;
        let failure = call(model.as_ref()).await.unwrap_err();
        assert_eq!(failure.message, "the provider answered 429 Too Many Requests: slow down");
        let ms = failure.retry_after_ms.unwrap();
        assert!((least..=most).contains(&ms), "{value}: {ms}");
    }
}

fn later() -> &'static str {
    let at = std::time::SystemTime::now() + Duration::from_mins(1);
    Box::leak(httpdate::fmt_http_date(at).into_boxed_str())
}

#[tokio::test]
async fn no_key_gets_into_a_failure() {
    let body = format!("bad key sk-test-0123456789 \u{7} {}", "x".repeat(10_000));
    let (_server, model) = playing(Scripted::Status { status: 401, headers: vec![], body }).await;
    let failure = call(model.as_ref()).await.unwrap_err();
    assert!(failure.message.starts_with("the provider answered 401 Unauthorized: bad key [key]   xxx"));
    assert!(failure.message.len() <= 2048, "{}", failure.message.len());
    assert!(!format!("{:?}", model.describe()).contains("sk-test"));
}

#[tokio::test]
async fn nobody_there_is_unavailable() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let failure = call(at(&format!("http://{free}/v1?key=secret")).as_ref()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unavailable, "{failure:?}");
    let said = format!("the provider openai-compatible cannot be reached at http://{free}: ");
    assert!(failure.message.starts_with(&said), "{failure:?}");
    assert!(!failure.message.contains("secret"), "{failure:?}");
    answers(&format!("http://{free}/v1")).await.unwrap_err();
}

#[tokio::test]
async fn a_server_that_refuses_answers_all_the_same() {
    let server = ScriptedModel::start().await;
    assert_eq!(answers(server.base_url()).await, Ok(()));
}

#[tokio::test]
async fn a_server_that_goes_away_is_unavailable() {
    let (server, model) = playing(Scripted::text("ok").repeat()).await;
    call(model.as_ref()).await.unwrap();
    drop(server);
    let failure = call(model.as_ref()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unavailable, "{failure:?}");
}

#[tokio::test]
async fn silence_times_out() {
    for settings in [
        Settings { timeout_ms: 100, ..Settings::default() },
        Settings { idle_timeout_ms: 100, ..Settings::default() },
    ] {
        let server = ScriptedModel::start().await;
        server.push("pair", Scripted::hang());
        let settings =
            Settings { model: Some("m".into()), base_url: Some(server.base_url().into()), ..settings };
        let failure = call(model(&settings, &[]).as_ref()).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::TimedOut, "{failure:?}");
        server.wait_for_hang_ups(1).await;
    }
}

#[tokio::test]
async fn a_dropped_call_hangs_up() {
    let (server, model) = playing(Scripted::hang()).await;
    let calling = tokio::spawn(async move { call(model.as_ref()).await });
    server.wait_for_requests(1).await;
    calling.abort();
    server.wait_for_hang_ups(1).await;
}

#[tokio::test]
async fn a_released_call_gets_its_answer() {
    let (server, model) = playing(Scripted::hang()).await;
    let calling = tokio::spawn(async move { call(model.as_ref()).await });
    server.wait_for_requests(1).await;
    server.release();
    assert_eq!(calling.await.unwrap().unwrap().text, "released");
}

#[test]
fn a_description_names_the_server() {
    let described = at("http://127.0.0.1:9/v1/?key=secret").describe();
    assert_eq!(described.base_url.as_deref(), Some("http://127.0.0.1:9/v1"));
    assert_eq!((described.provider, described.name.as_str()), ("openai-compatible", "test-model"));
}
