//! The chat-completions API: reads requests, and writes responses in its format.
//!
//! A stream consists of small chunks. If there are several tool calls, their chunks alternate. Therefore a client must
//! put the calls together by their index. The caller of this module chooses the response.

use std::io;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::response::Response;
use futures::StreamExt;
use futures::stream;
use serde_json::{Value, json};

use super::{RawCall, Scripted};

/// Numbers of input and output tokens that all replies of the scripted model state.
const USAGE: (u64, u64) = (100, 10);
/// Number of characters in one chunk of a streamed reply.
const PIECE: usize = 7;
/// Approximate maximum number of chunks in one streamed reply. If its text is longer, its chunks are longer.
const MOST_PIECES: usize = 1_000;

pub(super) fn messages(body: &Value) -> &[Value] {
    body["messages"].as_array().map_or(&[], Vec::as_slice)
}

/// Returns the text of a chat message, whose content is a string or a list of parts.
pub(super) fn text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// Returns `NAME` if the first line of a system message in the request is `Agent: NAME`.
pub(super) fn agent(body: &Value) -> String {
    messages(body)
        .iter()
        .filter(|message| message["role"] == "system")
        .find_map(|message| Some(text(message).lines().next()?.strip_prefix("Agent:")?.trim().to_owned()))
        .unwrap_or_default()
}

pub(super) fn replies(body: &Value) -> usize {
    messages(body).iter().filter(|message| message["role"] == "assistant").count()
}

pub(super) fn problem(status: StatusCode, message: &str) -> Response {
    respond(status, "application/json", json!({"error": {"message": message}}).to_string().into())
}

pub(super) fn answer(play: &Scripted, request: &Value) -> Response {
    let reply = match play {
        Scripted::Text(text) => CompleteReply { text, calls: Vec::new(), stop: None },
        Scripted::Stopped { text, reason } => CompleteReply { text, calls: Vec::new(), stop: Some(reason) },
        Scripted::Calls { text, calls } => CompleteReply { text, calls: numbered(calls), stop: None },
        Scripted::RawCalls(calls) => CompleteReply { text: "", calls: calls.clone(), stop: None },
        Scripted::Empty => CompleteReply { text: "", calls: Vec::new(), stop: None },
        Scripted::Status { status, headers, body } => return plain(*status, headers, body),
        Scripted::Cut(text) => return broken(text, request, Ending::Break),
        Scripted::Unfinished(text) => return broken(text, request, Ending::Close),
        Scripted::Hang(_) | Scripted::Held(_) | Scripted::Repeat(_) => {
            return problem(StatusCode::INTERNAL_SERVER_ERROR, "this is not an answer");
        }
    };
    if request["stream"] == true {
        stream_of(reply.frames(request).into_iter().map(|frame| Ok(Bytes::from(frame))).collect())
    } else {
        respond(StatusCode::OK, "application/json", reply.json(request).to_string().into())
    }
}

/// Returns a streamed model reply that sends the text, and then stays open until the future `until` completes.
pub(super) fn stream_until(
    text: &str,
    request: &Value,
    until: impl Future<Output = ()> + Send + 'static,
) -> Response {
    let mut frames = CompleteReply { text, calls: Vec::new(), stop: None }.frames(request);
    let rest = frames.split_off(1 + pieces(text).len());
    let bytes = |frame: String| Ok::<_, io::Error>(Bytes::from(frame));
    let rest = stream::once(until).flat_map(move |()| stream::iter(rest.clone().into_iter().map(bytes)));
    let items = stream::iter(frames.into_iter().map(bytes)).chain(rest);
    respond(StatusCode::OK, "text/event-stream", Body::from_stream(items))
}

struct CompleteReply<'a> {
    text: &'a str,
    calls: Vec<RawCall>,
    /// Finish reason of the model's reply. `None` uses the default.
    stop: Option<&'a str>,
}

/// Gives ids to the calls of a model reply, numbered from 0 in each reply, as some providers do.
fn numbered(calls: &[(String, Value)]) -> Vec<RawCall> {
    calls
        .iter()
        .enumerate()
        .map(|(at, (tool, arguments))| RawCall {
            id: format!("call_{at}"),
            tool: tool.clone(),
            arguments: arguments.to_string(),
        })
        .collect()
}

impl CompleteReply<'_> {
    fn finish_reason(&self) -> &str {
        self.stop.unwrap_or(if self.calls.is_empty() { "stop" } else { "tool_calls" })
    }

    fn frames(&self, request: &Value) -> Vec<String> {
        let mut frames = vec![delta(request, &json!({"role": "assistant", "content": ""}), None)];
        frames.extend(pieces(self.text).iter().map(|piece| delta(request, &json!({"content": piece}), None)));
        for (index, call) in self.calls.iter().enumerate() {
            let head = json!({"tool_calls": [{
                "index": index, "id": call.id, "type": "function",
                "function": {"name": call.tool, "arguments": ""},
            }]});
            frames.push(delta(request, &head, None));
        }
        let arguments: Vec<Vec<String>> = self.calls.iter().map(|call| pieces(&call.arguments)).collect();
        for round in 0..arguments.iter().map(Vec::len).max().unwrap_or(0) {
            for (index, pieces) in arguments.iter().enumerate() {
                if let Some(piece) = pieces.get(round) {
                    let more = json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]});
                    frames.push(delta(request, &more, None));
                }
            }
        }
        frames.push(delta(request, &json!({}), Some(self.finish_reason())));
        if request["stream_options"]["include_usage"] == true {
            let mut last = chunk(request, json!([]));
            last["usage"] = usage();
            frames.push(frame(&last));
        }
        frames.push("data: [DONE]\n\n".to_owned());
        frames
    }

    fn json(&self, request: &Value) -> Value {
        let mut message = json!({"role": "assistant", "content": self.text});
        if !self.calls.is_empty() {
            let call = |call: &RawCall| {
                json!({"id": call.id, "type": "function",
                       "function": {"name": call.tool, "arguments": call.arguments}})
            };
            message["tool_calls"] = self.calls.iter().map(call).collect();
        }
        json!({
            "id": "chatcmpl-scripted", "object": "chat.completion", "created": 0, "model": request["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish_reason()}],
            "usage": usage(),
        })
    }
}

#[derive(Clone, Copy)]
enum Ending {
    Break,
    Close,
}

/// Returns a streamed model reply that ends although it is not complete.
fn broken(text: &str, request: &Value, ending: Ending) -> Response {
    let pieces = pieces(text);
    let half = pieces.len().div_ceil(2);
    let (pieces, end) = match ending {
        Ending::Break => (&pieces[..half], Some(Err(io::Error::other("cut by the script")))),
        Ending::Close => (&pieces[..], None),
    };
    let frames = pieces.iter().map(|piece| Ok(Bytes::from(delta(request, &json!({"content": piece}), None))));
    stream_of(frames.chain(end).collect())
}

fn plain(status: u16, headers: &[(String, String)], body: &str) -> Response {
    let status = StatusCode::from_u16(status).expect("the script holds an HTTP status");
    let mut response = respond(status, "application/json", body.to_owned().into());
    for (name, value) in headers {
        let name = name.parse::<axum::http::HeaderName>().expect("the script holds a header name");
        response.headers_mut().insert(name, value.parse().expect("the script holds a header value"));
    }
    response
}

/// Returns an HTTP response that sends each item separately, so that the text arrives in chunks.
fn stream_of(items: Vec<Result<Bytes, io::Error>>) -> Response {
    let items = stream::iter(items).then(|item| async {
        tokio::task::yield_now().await;
        item
    });
    respond(StatusCode::OK, "text/event-stream", Body::from_stream(items))
}

fn respond(status: StatusCode, content_type: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let content_type = axum::http::HeaderValue::from_static(content_type);
    response.headers_mut().insert(axum::http::header::CONTENT_TYPE, content_type);
    // A keep-alive connection would outlive the server.
    let close = axum::http::HeaderValue::from_static("close");
    response.headers_mut().insert(axum::http::header::CONNECTION, close);
    response
}

fn delta(request: &Value, delta: &Value, finish_reason: Option<&str>) -> String {
    frame(&chunk(request, json!([{"index": 0, "delta": delta, "finish_reason": finish_reason}])))
}

fn chunk(request: &Value, choices: Value) -> Value {
    let mut chunk = json!({
        "id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0, "model": request["model"],
    });
    chunk["choices"] = choices;
    chunk
}

fn frame(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn usage() -> Value {
    let (input, output) = USAGE;
    json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output})
}

fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(PIECE.max(chars.len() / MOST_PIECES)).map(|piece| piece.iter().collect()).collect()
}
