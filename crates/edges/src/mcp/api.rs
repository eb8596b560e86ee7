//! Requests of the MCP server to the agent API, with retries while the server is absent or busy.

use std::time::Duration;

use axum::http::{Method, StatusCode};
use futures::future::BoxFuture;
use holdshort_core::digest::Digest;
use holdshort_protocol::{Ask, Code, Interrupt, Problem, UseApproval, UsedApproval};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::limits::MCP_PATIENCE;

/// Shortest and longest pause before a request is repeated.
pub(super) const PAUSE: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));

/// Access to the agent API with the credentials of one agent.
pub trait AgentApi: Send + Sync + 'static {
    /// Sends one request. An error is a sentence that says why no response arrived.
    fn send(&self, request: ApiRequest) -> BoxFuture<'_, Result<ApiResponse, String>>;

    /// Returns the page on which a person decides. It contains no token.
    fn inbox_url(&self, interrupt: &str) -> String;
}

#[derive(Clone, Debug)]
pub struct ApiRequest {
    pub method: Method,
    /// Path and query.
    pub path: String,
    pub idempotency_key: Option<String>,
    pub body: Option<Value>,
    /// Time for which the server may hold the request until an interrupt is resolved.
    pub wait: Duration,
}

#[derive(Clone, Debug)]
pub struct ApiResponse {
    pub status: StatusCode,
    pub retry_after: Option<Duration>,
    pub body: Vec<u8>,
}

/// Reason why a request got no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// A later request may succeed.
    #[error("{why} [server_unreachable]")]
    Passing { why: String, after: Option<Duration> },
    #[error("{} [{}]", describe(.0), .0.code.as_str())]
    Refused(Box<Problem>),
    #[error("the server sent a response that this version cannot read: {0} [other_version]")]
    Foreign(String),
    #[error("{0} [invalid_request]")]
    Arguments(String),
}

/// Returns the explanation of a problem, with the first invalid field.
fn describe(problem: &Problem) -> String {
    match problem.errors.first() {
        Some(field) => format!("{}: {} {}", problem.title, field.pointer, field.message),
        None => problem.detail.clone(),
    }
}

pub(super) async fn ask(api: &dyn AgentApi, ask: &Ask, key: &str) -> Result<Interrupt, Failure> {
    let request = post("/v1/interrupts".to_owned(), Some(key.to_owned()), Some(json!(ask)));
    persist(Instant::now() + MCP_PATIENCE, api, &request).await
}

/// Reads an interrupt. With `wait`, the server responds when the interrupt is resolved.
pub(super) async fn read(api: &dyn AgentApi, interrupt: &str, wait: Duration) -> Result<Interrupt, Failure> {
    let path = format!("/v1/interrupts/{}?wait={}", segment(interrupt), wait.as_secs());
    send(api, ApiRequest { method: Method::GET, path, idempotency_key: None, body: None, wait }).await
}

/// Uses an approval. A repeat with the same `key` gets the same response.
pub(super) async fn consume(
    api: &dyn AgentApi,
    interrupt: &str,
    digest: Digest,
    key: &str,
) -> Result<UsedApproval, Failure> {
    let body = UseApproval { digest: digest.to_string(), exec: None };
    let path = format!("/v1/interrupts/{}/consume", segment(interrupt));
    let request = post(path, Some(key.to_owned()), Some(json!(body)));
    let used: UsedApproval = persist(Instant::now() + MCP_PATIENCE, api, &request).await?;
    if used.digest == body.digest {
        Ok(used)
    } else {
        Err(Failure::Foreign("the server released a different action".to_owned()))
    }
}

/// Withdraws a request. Returns true if no decision was made before.
pub(super) async fn withdraw(api: &dyn AgentApi, interrupt: &str, why: &str) -> Result<bool, Failure> {
    let path = format!("/v1/interrupts/{}/cancel", segment(interrupt));
    let request = post(path, None, Some(json!({ "text": why })));
    match persist::<Value>(Instant::now() + MCP_PATIENCE, api, &request).await {
        Ok(_) => Ok(true),
        Err(Failure::Refused(problem)) if matches!(problem.code, Code::AlreadyResolved | Code::Expired) => {
            Ok(false)
        }
        Err(failure) => Err(failure),
    }
}

fn post<B: Serialize>(path: String, key: Option<String>, body: Option<B>) -> ApiRequest {
    let body = body.map(|body| json!(body));
    ApiRequest { method: Method::POST, path, idempotency_key: key, body, wait: Duration::ZERO }
}

/// Percent-encodes a text so that it is one segment of a path. The ids come from a model.
fn segment(text: &str) -> String {
    let encoded = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(encoded).collect()
}

/// Repeats a request until it has a result, or until `end`.
async fn persist<T: DeserializeOwned>(
    end: Instant,
    api: &dyn AgentApi,
    request: &ApiRequest,
) -> Result<T, Failure> {
    let mut pause = PAUSE.0;
    loop {
        match send(api, request.clone()).await {
            Err(Failure::Passing { why, after }) => {
                let wait = after.unwrap_or(pause).max(pause);
                if Instant::now() + wait >= end {
                    return Err(Failure::Passing { why, after });
                }
                tokio::time::sleep(wait).await;
                pause = (pause * 2).min(PAUSE.1);
            }
            result => return result,
        }
    }
}

async fn send<T: DeserializeOwned>(api: &dyn AgentApi, request: ApiRequest) -> Result<T, Failure> {
    let response = api.send(request).await.map_err(|why| Failure::Passing { why, after: None })?;
    let ApiResponse { status, retry_after: after, body } = response;
    if status.is_success() {
        return serde_json::from_slice(&body).map_err(|error| Failure::Foreign(error.to_string()));
    }
    let problem: Option<Problem> = serde_json::from_slice(&body).ok();
    if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
        let detail = problem.map_or_else(String::new, |problem| format!(": {}", problem.detail));
        return Err(Failure::Passing { why: format!("the server responded with {status}{detail}"), after });
    }
    Err(match problem {
        Some(problem) => Failure::Refused(Box::new(problem)),
        None => Failure::Foreign(format!("status {status} without a problem document")),
    })
}
