//! Scripted model of a coding agent. The model is a server on this machine that offers the three streaming APIs which
//! the agents use. The model records all requests, and all attempts to reach another host.
//!
//! If the conversation in a request contains `n` replies with tool calls, the response is reply `n` of the script.
//! Therefore a repeated request, for example after a resume, gets the same response. The response to a request without
//! tools, such as one for a title, is a short text. The formats of the APIs are in `wire`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use super::wire::Api;

/// A tool call in a reply of the scripted model of a coding agent.
#[derive(Clone, Debug)]
pub struct ScriptedCall {
    pub tool: String,
    pub input: CallInput,
}

/// Input of a tool call.
#[derive(Clone, Debug)]
pub enum CallInput {
    Json(Value),
    /// Free text, which is the form that Codex' `apply_patch` needs.
    Text(String),
}

impl ScriptedCall {
    pub fn new(tool: &str, input: Value) -> Self {
        Self { tool: tool.to_owned(), input: CallInput::Json(input) }
    }

    pub fn with_text(tool: &str, input: &str) -> Self {
        Self { tool: tool.to_owned(), input: CallInput::Text(input.to_owned()) }
    }
}

/// Scripted model of a coding agent, as a running server. The server stops on drop.
#[derive(Debug)]
pub struct AgentModel {
    base: String,
    shared: Arc<Shared>,
    /// Runtime of the model server. The server stops when this runtime is dropped.
    _runtime: Runtime,
}

#[derive(Debug, Default)]
struct Shared {
    replies: Mutex<Vec<Vec<ScriptedCall>>>,
    requests: Mutex<Vec<(Api, Value)>>,
    strays: Mutex<Vec<String>>,
}

impl AgentModel {
    /// Starts a model server that replies according to this script. After the last reply of the script, the model says
    /// that it is done.
    pub fn start(replies: Vec<Vec<ScriptedCall>>) -> Self {
        let shared = Arc::new(Shared { replies: Mutex::new(replies), ..Shared::default() });
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime starts");
        let listener =
            runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port on loopback is free");
        let address = listener.local_addr().expect("a bound socket has an address");
        let router = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&shared))
            .layer(axum::extract::DefaultBodyLimit::disable());
        runtime.spawn(async move { axum::serve(listener, router).await.expect("the scripted model serves") });
        Self { base: format!("http://{address}"), shared, _runtime: runtime }
    }

    /// Returns the base URL of the model server, without a path.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Returns as text the results of tool calls, in order, from the longest conversation that a coding agent has sent
    /// to the model.
    pub fn results(&self) -> Vec<String> {
        let requests = locked(&self.shared.requests);
        let results = requests.iter().map(|(api, body)| api.results(body));
        results.max_by_key(Vec::len).unwrap_or_default()
    }

    /// Returns those received requests that were not for a model, such as `CONNECT example.org:443`.
    pub fn strays(&self) -> Vec<String> {
        locked(&self.shared.strays).clone()
    }
}

async fn answer(State(shared): State<Arc<Shared>>, method: Method, uri: Uri, body: Bytes) -> Response {
    let Some(api) = Api::from_path(uri.path()).filter(|_| method == Method::POST) else {
        // Claude Code looks whether the server is there.
        if method != Method::HEAD || uri.authority().is_some() {
            locked(&shared.strays).push(format!("{method} {uri}"));
        }
        return (StatusCode::NOT_FOUND, "{}").into_response();
    };
    let Ok(body) = serde_json::from_slice::<Value>(&body) else {
        return (StatusCode::BAD_REQUEST, "the body is not JSON").into_response();
    };
    let calls = if api.has_tools(&body) {
        let round = api.rounds(&body);
        locked(&shared.replies).get(round).cloned().unwrap_or_default()
    } else {
        Vec::new()
    };
    let (content_type, text) = api.reply(&body, &calls);
    locked(&shared.requests).push((api, body));
    ([(header::CONTENT_TYPE, content_type), (header::CONNECTION, "close")], text).into_response()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
