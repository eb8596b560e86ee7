//! Responses of the chat-completions API as imprecise servers send them.

use holdshort_core::message::{Arguments, FailureKind, RequestedCall, Usage};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::{at, call, call_collecting_text, request};

/// Starts a model server that responds to one request with this body and closes the connection. Returns the server's
/// address.
pub(super) async fn server(body: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut read = Vec::new();
        while !whole(&read) {
            let mut buffer = [0; 4096];
            let n = socket.read(&mut buffer).await.unwrap();
            read.extend_from_slice(&buffer[..n]);
        }
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        socket.write_all(head.as_bytes()).await.unwrap();
        // The pieces can end anywhere, even within a character.
        for piece in body.as_bytes().chunks(11) {
            socket.write_all(piece).await.unwrap();
            socket.flush().await.unwrap();
            tokio::task::yield_now().await;
        }
        socket.shutdown().await.unwrap();
    });
    format!("http://{address}")
}

fn whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

fn deltas(deltas: &[Value], tail: &str) -> String {
    let frame = |delta: &Value| format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}));
    deltas.iter().map(frame).collect::<String>() + tail
}

const FINISHED: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n";
const DONE: &str = "data: [DONE]\n\n";

fn piece(index: Option<u64>, id: Option<&str>, name: Option<&str>, arguments: &Value) -> Value {
    let mut function = json!({"arguments": arguments});
    if let Some(name) = name {
        function["name"] = name.into();
    }
    let mut call = json!({"function": function});
    if let Some(index) = index {
        call["index"] = index.into();
    }
    if let Some(id) = id {
        call["id"] = id.into();
    }
    json!({"tool_calls": [call]})
}

fn requested(tool: &str, arguments: Value) -> RequestedCall {
    RequestedCall { tool: tool.into(), arguments: Arguments::Json(arguments) }
}

#[tokio::test]
async fn every_call_is_exactly_what_was_sent() {
    let two = [requested("a", json!({"n": 1})), requested("b", json!({"n": 2}))];
    let one = [requested("a", json!({"n": 1}))];
    let n = |n: u64| json!(format!("{{\"n\":{n}}}"));
    let table: Vec<(&str, Vec<Value>, &[RequestedCall])> = vec![
        (
            "all calls have the index 0",
            vec![piece(Some(0), Some("x"), Some("a"), &n(1)), piece(Some(0), Some("y"), Some("b"), &n(2))],
            &two,
        ),
        (
            "no call has an index",
            vec![
                piece(None, Some("x"), Some("a"), &json!("{\"n\"")),
                piece(None, None, None, &json!(":1}")),
                piece(None, Some("y"), Some("b"), &n(2)),
            ],
            &two,
        ),
        (
            "neither index nor id",
            vec![piece(None, None, Some("a"), &n(1)), piece(None, None, Some("b"), &n(2))],
            &two,
        ),
        (
            "the first index is 1: no copy fills the gap",
            vec![piece(Some(1), Some("x"), Some("a"), &n(1))],
            &one,
        ),
        ("an index beyond all memory", vec![piece(Some(u64::MAX), Some("x"), Some("a"), &n(1))], &one),
        (
            "name and id with every piece",
            vec![
                piece(Some(0), Some("x"), Some("a"), &json!("{\"n\":")),
                piece(Some(0), Some("x"), Some("a"), &json!("1}")),
            ],
            &one,
        ),
        ("arguments as an object", vec![piece(Some(0), Some("x"), Some("a"), &json!({"n": 1}))], &one),
        (
            "two pieces in one frame",
            vec![json!({"tool_calls": [
                {"index": 0, "id": "x", "function": {"name": "a", "arguments": "{\"n\":1}"}},
                {"index": 1, "id": "x", "function": {"name": "b", "arguments": "{\"n\":2}"}},
            ]})],
            &two,
        ),
    ];
    for (what, pieces, expected) in table {
        let body = deltas(&pieces, &format!("{FINISHED}{DONE}"));
        let reply = call(at(&server(body).await).as_ref()).await.unwrap_or_else(|e| panic!("{what}: {e:?}"));
        assert_eq!(reply.calls, expected, "{what}");
    }
}

#[tokio::test]
async fn no_arguments_are_an_empty_object() {
    let body = deltas(&[piece(Some(0), Some("x"), Some("a"), &json!(""))], &format!("{FINISHED}{DONE}"));
    assert_eq!(call(at(&server(body).await).as_ref()).await.unwrap().calls, [requested("a", json!({}))]);
}

#[tokio::test]
async fn a_finish_reason_or_done_ends_a_reply() {
    let text = [json!({"content": "Grüße "}), json!({"content": "€"})];
    let finished = FINISHED.replace("tool_calls", "stop");
    let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5000000000,\"completion_tokens\":2}}\n\n";
    for tail in
        [DONE.to_owned(), finished.clone(), format!("{finished}{usage}{DONE}"), format!(": hm\n\n{finished}")]
    {
        let (result, pieces) =
            call_collecting_text(at(&server(deltas(&text, &tail)).await).as_ref(), &request()).await;
        assert_eq!(result.unwrap().text, "Grüße €", "{tail}");
        assert_eq!(pieces.concat(), "Grüße €");
    }
    let body = deltas(&text, &format!("{finished}{usage}{DONE}"));
    let reply = call(at(&server(body).await).as_ref()).await.unwrap();
    assert_eq!(reply.usage, Usage { input_tokens: 5_000_000_000, output_tokens: 2 });
}

#[tokio::test]
async fn what_is_no_whole_reply_fails() {
    let error = "data: {\"error\":{\"message\":\"busy\",\"type\":\"server_error\"}}\n\n";
    let half = [piece(Some(0), Some("x"), Some("a"), &json!("{\"n\":"))];
    for (body, kind) in [
        (deltas(&half, ""), FailureKind::Cut),
        (String::new(), FailureKind::Unusable),
        ("data: {nonsense\n\n".to_owned(), FailureKind::Unusable),
        (deltas(&half, error), FailureKind::Unavailable),
        (deltas(&[], &format!("{FINISHED}{DONE}")), FailureKind::Unusable),
    ] {
        let failure = call(at(&server(body.clone()).await).as_ref()).await.unwrap_err();
        assert_eq!(failure.kind, kind, "{body}: {failure:?}");
    }
}

#[tokio::test]
async fn a_reply_without_measure_is_refused() {
    let many: Vec<Value> = (0..200).map(|n| piece(Some(n), Some("x"), Some("a"), &json!("{}"))).collect();
    let failure = call(at(&server(deltas(&many, DONE)).await).as_ref()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unusable);
    assert_eq!(failure.message, "the reply contains more than 128 tool calls");
}
