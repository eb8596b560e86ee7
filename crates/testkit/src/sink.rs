//! Webhook receiver on loopback. It records all requests. The test determines its responses.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::server::eventually;

/// Request that the webhook receiver got.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    pub path: String,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    pub at: Instant,
}

impl ReceivedRequest {
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).unwrap_or_else(|| panic!("no {name} in {:?}", self.headers));
        value.to_str().expect("text")
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

#[derive(Debug)]
pub struct WebhookSink {
    base: String,
    state: Arc<SinkState>,
}

#[derive(Debug)]
struct SinkState {
    received: Mutex<Vec<ReceivedRequest>>,
    /// Responses of the webhook receiver to the next requests, in order. If there is none, the response has the status
    /// 200.
    answers: Mutex<VecDeque<Scripted>>,
    /// True if the body of each response of the webhook receiver is the body of the request.
    repeats: AtomicBool,
    gate: Semaphore,
}

/// HTTP status of a response of the webhook receiver, and a header if the response has one.
type Scripted = (u16, Option<(&'static str, String)>);

/// Number of permits of the semaphore while the webhook receiver does not delay responses. The number is larger than
/// the number of requests that any test sends.
const OPEN: usize = 1 << 20;

impl WebhookSink {
    pub async fn start() -> Self {
        let state = Arc::new(SinkState {
            received: Mutex::default(),
            answers: Mutex::default(),
            repeats: AtomicBool::new(false),
            gate: Semaphore::new(OPEN),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let router = Router::new().fallback(receive).with_state(state.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { base, state }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// Sets the HTTP statuses of the next responses of the webhook receiver: one status for each request.
    pub fn answer(&self, statuses: impl IntoIterator<Item = u16>) {
        lock(&self.state.answers).extend(statuses.into_iter().map(|status| (status, None)));
    }

    /// Adds a response with this status and this header to the queue of the webhook receiver.
    pub fn answer_with(&self, status: u16, name: &'static str, value: &str) {
        lock(&self.state.answers).push_back((status, Some((name, value.to_owned()))));
    }

    /// Makes the webhook receiver answer all later requests with the body of the request.
    pub fn repeat(&self) {
        self.state.repeats.store(true, Ordering::Relaxed);
    }

    /// Makes the webhook receiver send no response until [`release`](Self::release) is called.
    pub fn hold(&self) {
        self.state.gate.forget_permits(OPEN);
    }

    pub fn release(&self) {
        self.state.gate.add_permits(OPEN);
    }

    /// Returns all requests that the webhook receiver got so far, in the order of arrival.
    pub fn received(&self) -> Vec<ReceivedRequest> {
        lock(&self.state.received).clone()
    }

    pub fn count(&self) -> usize {
        lock(&self.state.received).len()
    }

    /// Waits until the webhook receiver got at least `n` requests.
    pub async fn wait_for(&self, n: usize) -> Vec<ReceivedRequest> {
        eventually(&format!("{n} requests"), async || {
            let received = self.received();
            (received.len() >= n).then_some(received)
        })
        .await
    }
}

async fn receive(State(kept): State<Arc<SinkState>>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let received =
        ReceivedRequest { path: uri.path().to_owned(), headers, body: body.to_vec(), at: Instant::now() };
    lock(&kept.received).push(received);
    let _open = kept.gate.acquire().await;
    let (status, more) = lock(&kept.answers).pop_front().unwrap_or((200, None));
    let mut response = StatusCode::from_u16(status).expect("a status").into_response();
    if kept.repeats.load(Ordering::Relaxed) {
        *response.body_mut() = body.into();
    }
    if let Some((name, value)) = more {
        response.headers_mut().insert(name, value.parse().expect("a value"));
    }
    response
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
