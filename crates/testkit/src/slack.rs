//! A simulated Slack on this machine: the API methods that a bot calls, and the URLs to which the bot sends responses.
//! `webhooks/slack.py` signs requests and validates messages with Slack's own SDK.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::server::eventually;

/// A call that the simulated Slack received: its path, its token and its body.
#[derive(Clone, Debug, PartialEq)]
pub struct SlackCall {
    pub path: String,
    pub token: Option<String>,
    pub body: Value,
}

#[derive(Debug)]
pub struct Slack {
    base: String,
    kept: Arc<SlackState>,
}

#[derive(Debug, Default)]
struct SlackState {
    called: Mutex<Vec<SlackCall>>,
    /// Error codes with which the simulated Slack answers the next calls of API methods, one code for each call.
    errors: Mutex<VecDeque<String>>,
}

impl Slack {
    pub async fn start() -> Self {
        let kept = Arc::new(SlackState::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let router = Router::new().fallback(answer).with_state(kept.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { base, kept }
    }

    /// Returns the base URL of the simulated Slack's API methods.
    pub fn api(&self) -> String {
        format!("{}/api/", self.base)
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    pub fn fail(&self, error: &str) {
        lock(&self.kept.errors).push_back(error.to_owned());
    }

    /// Returns the calls of this path that the simulated Slack received, in the order of arrival.
    pub fn called(&self, path: &str) -> Vec<SlackCall> {
        lock(&self.kept.called).iter().filter(|called| called.path == path).cloned().collect()
    }

    /// Waits until the simulated Slack has received at least `n` calls of this path.
    pub async fn wait_for(&self, path: &str, n: usize) -> Vec<SlackCall> {
        eventually(&format!("{n} calls of {path}"), async || {
            let called = self.called(path);
            (called.len() >= n).then_some(called)
        })
        .await
    }
}

async fn answer(
    State(kept): State<Arc<SlackState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Json<Value> {
    let token = headers.get("authorization").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let body: Value = serde_json::from_slice(&body).expect("JSON");
    let path = uri.path().to_owned();
    let n = {
        let mut called = lock(&kept.called);
        called.push(SlackCall { path: path.clone(), token, body: body.clone() });
        called.len()
    };
    let error = if path.starts_with("/api/") { lock(&kept.errors).pop_front() } else { None };
    if let Some(error) = error {
        return Json(json!({"ok": false, "error": error}));
    }
    let ts = body.get("ts").cloned().unwrap_or_else(|| json!(format!("1700000000.{n:06}")));
    Json(json!({"ok": true, "channel": body.get("channel"), "ts": ts, "message": body}))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
