//! A model played by a script: a real server on loopback that speaks the chat-completions API, streamed
//! and whole, and keeps every request.
//!
//! What it plays is chosen per agent, by the first line `Agent: NAME` of the system message: from a queue
//! ([`ScriptedModel::push`]), by the words of the last message ([`ScriptedModel::when`]), or by position
//! ([`ScriptedModel::script`]), where the number of replies in the request picks the step. By words and by position
//! a request repeated after a crash gets the same answer. What was not foreseen
//! is answered with 500 and a text that says so. Never checks requests: the test does.

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

/// What the server answers.
#[derive(Clone, Debug)]
pub enum Scripted {
    /// A text and nothing else.
    Text(String),
    /// Tool calls, with a text before them unless it is empty.
    Calls { text: String, calls: Vec<(String, Value)> },
    /// Tool calls exactly as given: arguments that are no JSON, ids that are equal.
    RawCalls(Vec<RawCall>),
    /// An answer that is no reply.
    Status { status: u16, headers: Vec<(String, String)>, body: String },
    /// The connection breaks after half of this text.
    Cut(String),
    /// The answer ends properly after this text, but the reply was not whole.
    Unfinished(String),
    /// A text that ends with a finish reason of its own: `length`, `content_filter`.
    Stopped { text: String, reason: String },
    /// Nothing, until [`ScriptedModel::release`]; then this.
    Hang(Box<Scripted>),
    /// This text as it is streamed, and then nothing until [`ScriptedModel::release`], which ends it.
    Held(String),
    /// A reply with neither text nor call.
    Empty,
    /// This, now and for every request after it.
    Repeat(Box<Scripted>),
}

/// A tool call on the wire.
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

    /// One call without text.
    pub fn call(tool: impl Into<String>, arguments: Value) -> Self {
        Self::Calls { text: String::new(), calls: vec![(tool.into(), arguments)] }
    }

    /// Several calls in one reply.
    pub fn calls<T: Into<String>>(calls: impl IntoIterator<Item = (T, Value)>) -> Self {
        let calls = calls.into_iter().map(|(tool, arguments)| (tool.into(), arguments)).collect();
        Self::Calls { text: String::new(), calls }
    }

    pub fn raw_call(id: impl Into<String>, tool: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self::RawCalls(vec![RawCall { id: id.into(), tool: tool.into(), arguments: arguments.into() }])
    }

    /// An error in the form in which providers send it.
    pub fn status(status: u16) -> Self {
        let body = serde_json::json!({"error": {"message": "scripted failure", "type": "scripted"}});
        Self::Status { status, headers: Vec::new(), body: body.to_string() }
    }

    /// Hangs until released, then says so.
    pub fn hang() -> Self {
        Self::Hang(Box::new(Self::text("released")))
    }

    /// This for ever.
    pub fn repeat(self) -> Self {
        Self::Repeat(Box::new(self))
    }
}

/// A request as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// From the system message; empty where it names none.
    pub agent: String,
    /// The `authorization` header.
    pub authorization: Option<String>,
    pub body: Value,
}

impl Recorded {
    /// The texts of all messages, in order: what the model was told.
    pub fn texts(&self) -> Vec<String> {
        chat_completions::messages(&self.body).iter().map(chat_completions::text).collect()
    }

    /// The names of the tools on offer.
    pub fn tools(&self) -> Vec<String> {
        let tools = self.body["tools"].as_array().into_iter().flatten();
        tools.filter_map(|tool| tool["function"]["name"].as_str()).map(str::to_owned).collect()
    }
}

/// The server. It stops when this is dropped: whoever calls then is refused.
#[derive(Debug)]
pub struct ScriptedModel {
    base_url: String,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    plays: Mutex<BTreeMap<String, Plays>>,
    requests: Mutex<Vec<Recorded>>,
    /// How many requests came.
    came: watch::Sender<usize>,
    /// How many callers left before they had their answer.
    left: watch::Sender<usize>,
    gate: watch::Sender<Gate>,
}

/// What keeps the hanging requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gate {
    Shut,
    Open,
    /// The server is gone.
    Over,
}

#[derive(Debug)]
enum Plays {
    /// Each request takes the next.
    Queue(VecDeque<Scripted>),
    /// The number of replies in the request is the position.
    ByPosition(Vec<Scripted>),
    /// The last message picks the answer.
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

    /// Ends in `/v1`.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Appends to the agent's queue.
    pub fn push(&self, agent: &str, scripted: Scripted) {
        match locked(&self.shared.plays)
            .entry(agent.to_owned())
            .or_insert_with(|| Plays::Queue(VecDeque::new()))
        {
            Plays::Queue(queue) => queue.push_back(scripted),
            Plays::ByPosition(steps) => steps.push(scripted),
            Plays::ByWords(answers) => answers.push(("", scripted)),
        }
    }

    /// From now on the agent's answer to a request with `n` replies in it is `steps[n]`; a
    /// [`Scripted::Repeat`] at the end answers all that follow.
    pub fn script(&self, agent: &str, steps: impl Into<Vec<Scripted>>) {
        locked(&self.shared.plays).insert(agent.to_owned(), Plays::ByPosition(steps.into()));
    }

    /// From now on the agent's answer is the first one whose words the last message of the request holds.
    pub fn when(&self, agent: &str, answers: impl IntoIterator<Item = (&'static str, Scripted)>) {
        let answers = answers.into_iter().collect();
        locked(&self.shared.plays).insert(agent.to_owned(), Plays::ByWords(answers));
    }

    /// Lets go of everything that hangs, now and later.
    pub fn release(&self) {
        self.shared.gate.send_replace(Gate::Open);
    }

    /// Lets what hangs from now on wait for another release.
    pub fn hold(&self) {
        self.shared.gate.send_replace(Gate::Shut);
    }

    /// All requests so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Recorded> {
        locked(&self.shared.requests).clone()
    }

    /// The requests of one agent.
    pub fn requests_of(&self, agent: &str) -> Vec<Recorded> {
        self.requests().into_iter().filter(|request| request.agent == agent).collect()
    }

    /// Waits until `n` requests have come; panics after 20 seconds.
    pub async fn wait_for_requests(&self, n: usize) -> Vec<Recorded> {
        wait_for(&self.shared.came, n, "requests").await;
        self.requests()
    }

    /// Waits until `n` callers have hung up on a request that hangs; panics after 20 seconds.
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
    locked(&shared.requests).push(Recorded { agent: agent.clone(), authorization, body: body.clone() });
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
                return chat_completions::held(&text, &body, held);
            }
            play => return chat_completions::answer(&play, &body),
        };
    }
}

/// Waits for [`ScriptedModel::release`], or for the end of the server.
async fn released(shared: Arc<Shared>) -> Gate {
    let mut gate = shared.gate.subscribe();
    let mut waiting = Waiting { shared, has_left: true };
    let opened = gate.wait_for(|&gate| gate != Gate::Shut).await.map_or(Gate::Over, |gate| *gate);
    waiting.has_left = false;
    opened
}

/// Dropped in the middle when the caller hangs up.
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
        Some(Plays::Queue(queue)) => match queue.pop_front() {
            Some(Scripted::Repeat(this)) => {
                queue.push_front(Scripted::Repeat(this.clone()));
                Ok(*this)
            }
            Some(scripted) => Ok(scripted),
            None => Err(format!("the queue of the agent `{agent}` is empty")),
        },
        Some(Plays::ByWords(answers)) => {
            let last =
                chat_completions::messages(body).last().map(chat_completions::text).unwrap_or_default();
            let answer = answers.iter().find(|(words, _)| last.contains(words));
            answer
                .map(|(_, scripted)| scripted.clone())
                .ok_or_else(|| format!("the agent `{agent}` has no answer for the words: {last}"))
        }
        Some(Plays::ByPosition(steps)) => {
            let at = chat_completions::replies(body);
            match (steps.get(at), steps.last()) {
                (Some(scripted), _) | (None, Some(scripted @ Scripted::Repeat(_))) => Ok(scripted.clone()),
                (None, _) => Err(format!(
                    "the script of the agent `{agent}` has {} steps, and step {} was asked for",
                    steps.len(),
                    at + 1
                )),
            }
        }
    }
}
