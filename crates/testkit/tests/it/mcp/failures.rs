//! Wrong keys, large arguments, and servers that stop.

use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Person, Wire, approve, asked, only_open, post, text};

/// Ends `holdshort mcp` with this key at once, and returns its error.
fn refused(server: &TestServer, key: &str) -> String {
    let mut command = server.client_command();
    let output = command.arg("mcp").env("HOLDSHORT_TOKEN", key).output().unwrap();
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[tokio::test]
async fn only_the_key_of_an_agent_is_accepted() {
    let server = TestServer::setup().start().await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    assert_eq!(post(&server, "hs_key_wrong", &list).await.refusal(), (401, "unauthenticated"));
    assert_eq!(post(&server, server.token(), &list).await.refusal(), (403, "forbidden_role"));
    let tools = post(&server, server.agent_token(), &list).await.ok();
    assert_eq!(tools["result"]["tools"].as_array().map(Vec::len), Some(4), "{tools}");

    assert!(refused(&server, server.token()).contains("more than an agent"));
    let wrong = refused(&server, "hs_key_wrong");
    assert!(!wrong.is_empty() && !wrong.contains("hs_key_wrong"), "{wrong}");
}

#[tokio::test]
async fn a_foreign_page_is_refused() {
    let server = TestServer::setup().start().await;
    let http = holdshort_http::plain().no_proxy().build().unwrap();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    for (name, value, status) in [("origin", "https://evil.example", 403), ("host", "evil.example", 421)] {
        let request = http.post(format!("{}/mcp", server.base())).bearer_auth(server.agent_token());
        let answer = server.send(request.header(name, value).json(&list)).await;
        assert_eq!(answer.status, status, "{name}");
    }
    let get = http.get(format!("{}/mcp", server.base())).bearer_auth(server.agent_token());
    assert_eq!(server.send(get).await.status, 405);
}

#[tokio::test]
async fn ten_megabytes_of_arguments_are_an_error() {
    let server = TestServer::setup().start().await;
    let large = json!({"title": "Deploy", "arguments": {"text": "x".repeat(10_000_000)}});
    let client = Wire::Stdio2025.connect(&server, Person::default(), &[]).await;
    let result = client.call("request_approval", &large).await;
    assert_eq!(result.is_error, Some(true));
    assert!(text(&result).contains("[body_too_large]"), "{}", text(&result));
    // The server responds before the end of the body, so the response is read while the body is sent.
    let (base, token) = (server.base(), server.agent_token());
    let host = base.strip_prefix("http://").unwrap();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "request_approval", "arguments": large}})
    .to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let (mut responses, mut requests) = TcpStream::connect(host).await.unwrap().into_split();
    tokio::spawn(async move {
        requests.write_all(head.as_bytes()).await.unwrap();
        // The server closes the connection within the body.
        let _ = requests.write_all(body.as_bytes()).await;
    });
    let mut status = [0; 12];
    responses.read_exact(&mut status).await.unwrap();
    assert_eq!(&status, b"HTTP/1.1 413");
    // Both servers still work.
    for client in [client, Wire::Http2025.connect(&server, Person::default(), &[]).await] {
        let unknown =
            client.call("get_decision", &json!({"request": "int_01k6f0000000000000000000cc"})).await;
        assert!(text(&unknown).contains("[not_found]"), "{}", text(&unknown));
    }
}

#[tokio::test]
async fn wrong_arguments_are_named() {
    let server = TestServer::setup().start().await;
    let client = Wire::Http2026.connect(&server, Person::default(), &[]).await;
    for (tool, arguments, expected) in [
        ("request_approval", json!({}), "missing field `title`"),
        ("request_approval", json!({"title": " "}), "`title` is blank"),
        ("request_approval", json!({"title": "a", "amount": 1}), "unknown field `amount`"),
        ("ask_human", json!({"question": "a", "choices": ["b"], "schema": {}}), "exclude each other"),
        ("ask_human", json!({"question": "a", "schema": {"type": "wrong"}}), "/response_schema"),
        ("get_decision", json!({"request": "int_1", "wait_seconds": 51}), "`wait_seconds`"),
        ("get_decision", json!({"request": "../runs"}), "[not_found]"),
    ] {
        let result = client.call(tool, &arguments).await;
        assert_eq!(result.is_error, Some(true), "{tool} {arguments}");
        assert!(text(&result).contains(expected), "{}", text(&result));
    }
    assert_eq!(asked(&server).await, 0);
    let unknown = client.service.call_tool(super::params("decide", &json!({}))).await;
    assert!(unknown.is_err(), "{unknown:?}");
}

#[tokio::test]
async fn a_wait_survives_a_restart_of_the_server() {
    let mut server = TestServer::setup().start().await;
    let client = Wire::Stdio2025.connect(&server, Person::default(), &[]).await;
    let call =
        tokio::spawn(async move { client.decision("request_approval", &json!({"title": "Deploy"})).await });
    let interrupt = only_open(&server).await;
    server.restart().await;
    server.decide(&interrupt, &approve()).await.ok();
    let decision: Value = call.await.unwrap();
    assert_eq!((&decision["request"], &decision["may_proceed"]), (&interrupt["id"], &json!(true)));
}

#[tokio::test]
async fn an_absent_server_is_an_error_until_it_answers() {
    let mut server = TestServer::setup().start().await;
    server.kill();
    let client = Wire::Stdio2025.connect(&server, Person::default(), &["--pending-after", "1s"]).await;
    let deploy = json!({"title": "Deploy"});
    let result = client.call("request_approval", &deploy).await;
    assert_eq!(result.is_error, Some(true));
    assert!(text(&result).contains("[server_unreachable]"), "{}", text(&result));
    server.start().await;
    assert_eq!(client.decision("request_approval", &deploy).await["status"], "pending");
}

#[tokio::test]
async fn no_log_has_the_key() {
    let server = TestServer::setup().env("HOLDSHORT_LOG", "trace,rmcp::service=trace").start().await;
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "get_decision", "arguments": {"request": "int_01k6f0000000000000000000cc"}}});
    let answer = post(&server, server.agent_token(), &call).await.ok();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    server.wait_for_log("/mcp").await;
    assert!(!server.stderr().contains(server.agent_token()), "the log has the key");
}
