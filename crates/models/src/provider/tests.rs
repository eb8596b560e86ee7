//! Recorded replies of Anthropic, Gemini, Ollama and the Responses API. Each reply is tested complete and cut off.

use holdshort_core::message::{Arguments, Message};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::*;

const KEY: &str = "secret-key-1";

fn anthropic() -> (Route, &'static str) {
    (Route::Anthropic { key: KEY.into() }, "claude-sonnet-4-5")
}

fn gemini() -> (Route, &'static str) {
    (Route::Gemini { key: KEY.into() }, "gemini-2.5-flash")
}

fn ollama() -> (Route, &'static str) {
    (Route::Ollama, "llama3")
}

fn responses() -> (Route, &'static str) {
    (Route::OpenAi { key: KEY.into() }, "gpt-5-mini")
}

fn sse(frames: &[Value]) -> Vec<String> {
    frames
        .iter()
        .map(|frame| format!("event: {}\ndata: {frame}\n\n", frame["type"].as_str().unwrap_or("message")))
        .collect()
}

fn anthropic_frames() -> Vec<String> {
    sse(&[
        json!({"type": "message_start", "message": {"model": "claude-that-answered", "usage": {"input_tokens": 11, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "ping"}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Let me "}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "look."}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"path\":"}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": " \"a\"}"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "toolu_2", "name": "list_directory", "input": {}}}),
        json!({"type": "content_block_stop", "index": 2}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}}),
        json!({"type": "message_stop"}),
    ])
}

fn gemini_frames() -> Vec<String> {
    let part = |parts: Value| json!({"content": {"role": "model", "parts": parts}});
    let mut last = part(json!([
        {"functionCall": {"name": "read_file", "args": {"path": "a"}}},
        {"functionCall": {"name": "list_directory", "args": {}}},
    ]));
    last["finishReason"] = "STOP".into();
    sse(&[
        json!({"candidates": [part(json!([{"text": "Let me "}]))], "modelVersion": "gemini-that-answered"}),
        json!({"candidates": [part(json!([{"text": "look."}]))]}),
        json!({"candidates": [last], "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}}),
    ])
}

fn ollama_frames() -> Vec<String> {
    [
        json!({"model": "llama-that-answered", "message": {"role": "assistant", "content": "Let me "}, "done": false}),
        json!({"message": {"role": "assistant", "content": "look."}, "done": false}),
        json!({"message": {"role": "assistant", "content": "", "tool_calls": [
            {"function": {"name": "read_file", "arguments": {"path": "a"}}},
            {"function": {"name": "list_directory", "arguments": {}}},
        ]}, "done": false}),
        json!({"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop", "prompt_eval_count": 11, "eval_count": 7}),
    ]
    .iter()
    .map(|line| format!("{line}\n"))
    .collect()
}

fn responses_frames() -> Vec<String> {
    let call = |at: u64, name: &str, arguments: &str| {
        json!({"type": "response.output_item.added", "output_index": at, "item":
            {"type": "function_call", "call_id": format!("c{at}"), "name": name, "arguments": arguments}})
    };
    let done = |at: u64, name: &str, arguments: &str| {
        json!({"type": "response.output_item.done", "output_index": at, "item":
            {"type": "function_call", "call_id": format!("c{at}"), "name": name, "arguments": arguments}})
    };
    sse(&[
        json!({"type": "response.created", "response": {"id": "r", "status": "in_progress", "model": "gpt-that-answered", "output": []}}),
        json!({"type": "response.output_text.delta", "delta": "Let me "}),
        json!({"type": "response.output_text.delta", "delta": "look."}),
        call(1, "read_file", ""),
        json!({"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{\"path\":\"a\"}"}),
        done(1, "read_file", "{\"path\":\"a\"}"),
        call(2, "list_directory", ""),
        done(2, "list_directory", "{}"),
        json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "model": "gpt-that-answered", "output": [],
            "usage": {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}}}),
    ])
}

fn request() -> Request {
    Request {
        agent: "pair".into(),
        model: None,
        messages: vec![
            Message::System { text: "Agent: pair".into() },
            Message::User { text: "Look".into() },
            Message::Assistant {
                agent: "pair".into(),
                text: String::new(),
                calls: vec![holdshort_core::message::Call {
                    id: "call.1".into(),
                    tool: "read_file".into(),
                    arguments: json!({"path": "x"}),
                }],
            },
            Message::Tool { call: "call.1".into(), name: "read_file".into(), text: "X".into() },
        ],
        tools: vec![],
        response_schema: None,
    }
}

/// Starts a model server that responds to one request with these frames. Returns the server's address, and a task that
/// returns the request.
async fn server(frames: &[String]) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let body = frames.concat();
    let serving = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut read = String::new();
        while !whole(&read) {
            let mut buffer = [0; 4096];
            let n = socket.read(&mut buffer).await.unwrap();
            read.push_str(&String::from_utf8_lossy(&buffer[..n]));
        }
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        socket.write_all(head.as_bytes()).await.unwrap();
        socket.write_all(body.as_bytes()).await.unwrap();
        socket.shutdown().await.unwrap();
        read
    });
    (format!("http://{address}/"), serving)
}

fn whole(request: &str) -> bool {
    let Some((head, body)) = request.split_once("\r\n\r\n") else { return false };
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

async fn call((route, model): (Route, &str), frames: &[String]) -> (Result<Reply, Failure>, String) {
    let (address, serving) = server(frames).await;
    let provider =
        Provider::at(Some(Endpoint::from_owned(address)), route, model.into(), &Settings::default()).unwrap();
    (provider.call(&request(), &|_| {}).await, serving.await.unwrap())
}

fn wires() -> Vec<((Route, &'static str), Vec<String>, &'static str)> {
    vec![
        (anthropic(), anthropic_frames(), "claude-that-answered"),
        (gemini(), gemini_frames(), "gemini-that-answered"),
        (ollama(), ollama_frames(), "llama-that-answered"),
        (responses(), responses_frames(), "gpt-that-answered"),
    ]
}

#[tokio::test]
async fn every_wire_gives_the_same_reply() {
    for (wire, frames, answered) in wires() {
        let json = |value: Value| Arguments::Json(value);
        let expected = Reply {
            text: "Let me look.".into(),
            calls: vec![
                RequestedCall { tool: "read_file".into(), arguments: json(json!({"path": "a"})) },
                RequestedCall { tool: "list_directory".into(), arguments: json(json!({})) },
            ],
            usage: Usage { input_tokens: 11, output_tokens: 7 },
            model: answered.into(),
            stop: Stop::Whole,
        };
        let (reply, sent) = call(wire, &frames).await;
        assert_eq!(reply, Ok(expected));
        assert!(sent.contains("read_file"), "{answered}: the history goes out\n{sent}");
    }
}

#[tokio::test]
async fn a_cut_is_never_taken_for_an_end() {
    let count = wires().len();
    for at in 0..count {
        let frames = wires().remove(at).1;
        for length in 1..frames.len() {
            let (wire, _, answered) = wires().remove(at);
            let (reply, _) = call(wire, &frames[..length]).await;
            let failure = reply.unwrap_err();
            assert_eq!(failure.kind, FailureKind::Cut, "{answered} after {length} frames: {failure:?}");
        }
    }
}

#[tokio::test]
async fn a_truncated_call_is_malformed() {
    let mut frames = anthropic_frames();
    frames.remove(8);
    let (reply, _) = call(anthropic(), &frames).await;
    assert_eq!(reply.unwrap().calls[0].arguments, Arguments::Malformed("{\"path\":".into()));
}

#[tokio::test]
async fn an_error_in_the_stream_is_a_failure() {
    let mut frames = anthropic_frames();
    frames.truncate(3);
    let error =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": format!("busy {KEY}")}});
    frames.extend(sse(&[error]));
    let (reply, _) = call(anthropic(), &frames).await;
    let failure = reply.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unavailable);
    assert_eq!(failure.message, "the provider ended its reply with an error: busy [key]");
}

#[test]
fn debug_shows_no_key() {
    for (route, model) in [anthropic(), gemini(), responses()] {
        let provider = Provider::new(route, model.into(), &Settings::default()).unwrap();
        assert!(!format!("{provider:?}").contains(KEY));
    }
}
