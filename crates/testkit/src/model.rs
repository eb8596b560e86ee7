//! A scripted model: a real server on this machine with the chat-completions API, with and without streaming. The
//! server records all requests.
//!
//! Each agent has scripted responses of its own. The server finds out which agent sends a request from the first line
//! of the system message: `Agent: NAME`. There are three ways to script a response: it is the next in a queue
//! ([`ScriptedModel::push`]), or it is chosen by the last message ([`ScriptedModel::when`]) or by the number of replies
//! in the request ([`ScriptedModel::script`]). In the last two ways, a request that is repeated after a crash gets the
//! same response. If no response is scripted for a request, the response is status 500 with an explanation. The server
//! does not check the requests, because each test does this.

mod chat_completions;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::post;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Response of the scripted model server to one request.
#[derive(Clone, Debug)]
pub enum Scripted {
    /// A reply of the model that is a text without tool calls.
    Text(String),
    /// A reply of the model with tool calls. `text` precedes the tool calls and may be empty.
    Calls { text: String, calls: Vec<(String, Value)> },
    /// A reply of the model with tool calls in exactly this form. They may contain invalid JSON or duplicate ids.
    RawCalls(Vec<RawCall>),
    /// An HTTP response that is not a reply of a model.
    Status { status: u16, headers: Vec<(String, String)>, body: String },
    /// The first half of this text, after which the model server closes the connection. The rest of the text is not
    /// sent.
    Cut(String),
    /// A streamed reply of this text that has neither a finish reason nor an end marker. The HTTP response ends
    /// normally.
    Unfinished(String),
    /// A reply of the model whose finish reason is, for example, `length` or `content_filter`.
    Stopped { text: String, reason: String },
    /// The boxed response, which is sent only after [`ScriptedModel::release`] is called.
    Hang(Box<Scripted>),
    /// A streamed reply of this text, which ends only after [`ScriptedModel::release`] is called.
    Held(String),
    /// A reply that contains neither a text nor tool calls.
    Empty,
    /// A response that this request and all later ones of the agent get.
    Repeat(Box<Scripted>),
}

/// A tool call in the format of the chat-completions API.
#[derive(Clone, Debug)]
pub struct RawCall {
    pub id: String,
    pub tool: String,
    pub arguments: String,
}

impl Scripted {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub fn stopped(text: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Stopped { text: text.into(), reason: reason.into() }
    }

    /// Returns a reply with one tool call and no text.
    pub fn call(tool: impl Into<String>, arguments: Value) -> Self {
        Self::Calls { text: String::new(), calls: vec![(tool.into(), arguments)] }
    }

    /// Returns a reply with several tool calls and no text.
    pub fn calls<T: Into<String>>(calls: impl IntoIterator<Item = (T, Value)>) -> Self {
        let calls = calls.into_iter().map(|(tool, arguments)| (tool.into(), arguments)).collect();
        Self::Calls { text: String::new(), calls }
    }

    pub fn raw_call(id: impl Into<String>, tool: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self::RawCalls(vec![RawCall { id: id.into(), tool: tool.into(), arguments: arguments.into() }])
    }

    /// Returns an HTTP error with this status, in the format that model providers use.
    pub fn status(status: u16) -> Self {
        let body = serde_json::json!({"error": {"message": "scripted failure", "type": "scripted"}});
        Self::Status { status, headers: Vec::new(), body: body.to_string() }
    }

    /// Returns a model response that is not sent before [`ScriptedModel::release`] is called, and then contains the
    /// text `released`.
    pub fn hang() -> Self {
        Self::Hang(Box::new(Self::text("released")))
    }

    /// Returns this model response as one that is also used for all later requests of the agent.
    pub fn repeat(self) -> Self {
        Self::Repeat(Box::new(self))
    }
}

/// Request that the scripted model server received.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedRequest {
    /// Name of the agent that made the request, from the system message. Empty if the system message contains no name.
    pub agent: String,
    /// Value of the request's `authorization` header.
    pub authorization: Option<String>,
    pub body: Value,
}

impl RecordedRequest {
    /// Returns the texts of all messages in the request to the model, in order.
    pub fn texts(&self) -> Vec<String> {
        chat_completions::messages(&self.body).iter().map(chat_completions::text).collect()
    }

    /// Returns the names of the tools that the request offers to the model.
    pub fn tools(&self) -> Vec<String> {
        let tools = self.body["tools"].as_array().into_iter().flatten();
        tools.filter_map(|tool| tool["function"]["name"].as_str()).map(str::to_owned).collect()
    }
}

/// Scripted model server. When it is dropped, the server stops and refuses further connections.
#[derive(Debug)]
pub struct ScriptedModel {
    base_url: String,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    plays: Mutex<BTreeMap<String, AgentScript>>,
    requests: Mutex<Vec<RecordedRequest>>,
    /// Number of requests that the model server has received.
    came: watch::Sender<usize>,
    /// Number of clients of the model server that closed the connection before they got a response.
    left: watch::Sender<usize>,
    gate: watch::Sender<Gate>,
}

/// State of the gate behind which the responses [`Scripted::Hang`] wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gate {
    Shut,
    Open,
    Over,
}

#[derive(Debug)]
enum AgentScript {
    /// Each model request of the agent gets the next response in the queue.
    Queue(VecDeque<Scripted>),
    /// A model request that contains `n` replies gets the response with the index `n`.
    ByPosition(Vec<Scripted>),
    /// The last message of a model request determines the response.
    ByWords(Vec<(&'static str, Scripted)>),
}

const PATIENCE: Duration = Duration::from_secs(20);

impl ScriptedModel {
    pub async fn start() -> Self {
        let shared = Arc::new(Shared {
            plays: Mutex::default(),
            requests: Mutex::default(),
            came: watch::Sender::new(0),
            left: watch::Sender::new(0),
            gate: watch::Sender::new(Gate::Shut),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port on loopback is free");
        let address = listener.local_addr().expect("a bound socket has an address");
        let router = Router::new()
            .route("/v1/chat/completions", post(complete))
            .with_state(Arc::clone(&shared))
            .layer(axum::extract::DefaultBodyLimit::disable());
        let server = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("the scripted model serves");
        });
        Self { base_url: format!("http://{address}/v1"), shared, server }
    }

    /// Returns the base URL of the scripted model server, which ends in `/v1`.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Appends a response to the queue of model responses for the agent.
    pub fn push(&self, agent: &str, scripted: Scripted) {
        match locked(&self.shared.plays)
            .entry(agent.to_owned())
            .or_insert_with(|| AgentScript::Queue(VecDeque::new()))
        {
            AgentScript::Queue(queue) => queue.push_back(scripted),
            AgentScript::ByPosition(steps) => steps.push(scripted),
            AgentScript::ByWords(answers) => answers.push(("", scripted)),
        }
    }

    /// Sets the model's responses for the agent by position: `steps[n]` is the response to a request that contains `n`
    /// replies. If the last step is a [`Scripted::Repeat`], all later requests get it too.
    pub fn script(&self, agent: &str, steps: impl Into<Vec<Scripted>>) {
        locked(&self.shared.plays).insert(agent.to_owned(), AgentScript::ByPosition(steps.into()));
    }

    /// Sets the model's responses for the agent by text. The response is the first entry whose text the last message of
    /// the request contains.
    pub fn when(&self, agent: &str, answers: impl IntoIterator<Item = (&'static str, Scripted)>) {
        let answers = answers.into_iter().collect();
        locked(&self.shared.plays).insert(agent.to_owned(), AgentScript::ByWords(answers));
    }

    /// Lets the model server answer all hanging requests. Until [`ScriptedModel::hold`] is called, later requests do
    /// not wait either.
    pub fn release(&self) {
        self.shared.gate.send_replace(Gate::Open);
    }

    /// Makes all later responses [`Scripted::Hang`] wait until [`ScriptedModel::release`] is called again.
    pub fn hold(&self) {
        self.shared.gate.send_replace(Gate::Shut);
    }

    /// Returns all requests that the model server has received so far, in the order of arrival.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        locked(&self.shared.requests).clone()
    }

    pub fn requests_of(&self, agent: &str) -> Vec<RecordedRequest> {
        self.requests().into_iter().filter(|request| request.agent == agent).collect()
    }

    /// Waits until the model server has received `n` requests. Panics after 20 seconds.
    pub async fn wait_for_requests(&self, n: usize) -> Vec<RecordedRequest> {
        wait_for(&self.shared.came, n, "requests").await;
        self.requests()
    }

    /// Waits until `n` clients of the model server have closed the connection while their request was waiting. Panics
    /// after 20 seconds.
    pub async fn wait_for_hang_ups(&self, n: usize) {
        wait_for(&self.shared.left, n, "hang-ups").await;
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.server.abort();
        self.shared.gate.send_replace(Gate::Over);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn wait_for(count: &watch::Sender<usize>, n: usize, what: &str) {
    let mut count = count.subscribe();
    let reached = tokio::time::timeout(PATIENCE, count.wait_for(|&count| count >= n)).await.is_ok();
    assert!(reached, "waited for {n} {what}, but there were {}", *count.borrow());
}

async fn complete(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let Ok(body) = serde_json::from_slice::<Value>(&body) else {
        return chat_completions::problem(StatusCode::BAD_REQUEST, "the body is not JSON");
    };
    let agent = chat_completions::agent(&body);
    let authorization = headers.get("authorization").and_then(|value| value.to_str().ok()).map(str::to_owned);
    locked(&shared.requests).push(RecordedRequest {
        agent: agent.clone(),
        authorization,
        body: body.clone(),
    });
    let next = next(&shared, &agent, &body);
    shared.came.send_modify(|count| *count += 1);
    let mut scripted = match next {
        Ok(scripted) => scripted,
        Err(message) => return chat_completions::problem(StatusCode::INTERNAL_SERVER_ERROR, &message),
    };
    loop {
        scripted = match scripted {
            Scripted::Hang(then) => {
                if released(Arc::clone(&shared)).await == Gate::Over {
                    return chat_completions::problem(
                        StatusCode::SERVICE_UNAVAILABLE,
                        "the scripted model is gone",
                    );
                }
                *then
            }
            Scripted::Repeat(this) => *this,
            Scripted::Held(text) => {
                let held = async move {
                    released(shared).await;
                };
                return chat_completions::stream_until(&text, &body, held);
            }
            play => return chat_completions::answer(&play, &body),
        };
    }
}

/// Waits until [`ScriptedModel::release`] is called or the server stops.
async fn released(shared: Arc<Shared>) -> Gate {
    let mut gate = shared.gate.subscribe();
    let mut waiting = Waiting { shared, has_left: true };
    let opened = gate.wait_for(|&gate| gate != Gate::Shut).await.map_or(Gate::Over, |gate| *gate);
    waiting.has_left = false;
    opened
}

/// Guard of a model request that has no response yet. If the guard is dropped before the response, the client has
/// closed the connection.
struct Waiting {
    shared: Arc<Shared>,
    has_left: bool,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.has_left {
            self.shared.left.send_modify(|count| *count += 1);
        }
    }
}

fn next(shared: &Shared, agent: &str, body: &Value) -> Result<Scripted, String> {
    match locked(&shared.plays).get_mut(agent) {
        None => Err(format!("nothing is scripted for the agent `{agent}`")),
        Some(AgentScript::Queue(queue)) => match queue.pop_front() {
            Some(Scripted::Repeat(this)) => {
                queue.push_front(Scripted::Repeat(this.clone()));
                Ok(*this)
            }
            Some(scripted) => Ok(scripted),
            None => Err(format!("the queue of the agent `{agent}` is empty")),
        },
        Some(AgentScript::ByWords(answers)) => {
            let last =
                chat_completions::messages(body).last().map(chat_completions::text).unwrap_or_default();
            let answer = answers.iter().find(|(words, _)| last.contains(words));
            answer.map(|(_, scripted)| scripted.clone()).ok_or_else(|| {
                format!("no scripted answer of the agent `{agent}` matches the last message: {last}")
            })
        }
        Some(AgentScript::ByPosition(steps)) => {
            let at = chat_completions::replies(body);
            match (steps.get(at), steps.last()) {
                (Some(scripted), _) | (None, Some(scripted @ Scripted::Repeat(_))) => Ok(scripted.clone()),
                (None, _) => Err(format!(
                    "the script of the agent `{agent}` has {} steps, but the request needs step {}",
                    steps.len(),
                    at + 1
                )),
            }
        }
    }
}
