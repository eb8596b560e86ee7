//! A simulated model that replies at once, with the part of the streamed chat-completions API that a turn needs.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::Does;

/// Server that simulates the model of a conversation. Dropping it stops the server.
pub(super) struct Model {
    address: SocketAddr,
    played: Arc<Played>,
    server: JoinHandle<()>,
}

struct Played {
    does: Does,
    /// Total bytes of all requests to the simulated model.
    sent: AtomicU64,
    answers: AtomicU64,
}

impl Model {
    pub(super) async fn start(does: Does) -> Result<Self> {
        let played = Arc::new(Played { does, sent: AtomicU64::new(0), answers: AtomicU64::new(0) });
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let router = Router::new()
            .route("/v1/chat/completions", post(answer))
            .layer(axum::extract::DefaultBodyLimit::disable())
            .with_state(Arc::clone(&played));
        let server = tokio::spawn(async move {
            // If serving fails, the connections of clients are refused.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, played, server })
    }

    pub(super) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(super) fn sent(&self) -> u64 {
        self.played.sent.load(Ordering::Relaxed)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(State(played): State<Arc<Played>>, request: Bytes) -> Response {
    played.sent.fetch_add(request.len() as u64, Ordering::Relaxed);
    let n = played.answers.fetch_add(1, Ordering::Relaxed);
    let request: Value = serde_json::from_slice(&request).unwrap_or_default();
    let has_result = request.pointer("/messages").and_then(Value::as_array).is_some_and(|messages| {
        messages.last().is_some_and(|last| last.get("role").and_then(Value::as_str) == Some("tool"))
    });
    let call = match played.does {
        _ if has_result => None,
        Does::Answers => None,
        Does::Reads => Some(("read_file", json!({ "path": "notes.txt" }))),
        Does::Changes => Some(("write_file", json!({ "path": "out.txt", "content": format!("{n}\n") }))),
    };
    let (delta, reason) = match call {
        None => {
            (json!({ "role": "assistant", "content": "The task is done. These are the results." }), "stop")
        }
        Some((name, arguments)) => {
            let function = json!({ "name": name, "arguments": arguments.to_string() });
            let call =
                json!({ "index": 0, "id": format!("call_{n}"), "type": "function", "function": function });
            (json!({ "role": "assistant", "tool_calls": [call] }), "tool_calls")
        }
    };
    let chunk = |choices: Value, usage: Value| {
        let chunk = json!({
            "id": "bench", "object": "chat.completion.chunk", "created": 0, "model": "bench",
            "choices": choices, "usage": usage,
        });
        format!("data: {chunk}\n\n")
    };
    let usage = json!({ "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 });
    let frames = [
        chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }]), Value::Null),
        chunk(json!([{ "index": 0, "delta": {}, "finish_reason": reason }]), Value::Null),
        chunk(json!([]), usage),
        "data: [DONE]\n\n".to_owned(),
    ];
    ([(CONTENT_TYPE, "text/event-stream")], frames.concat()).into_response()
}
