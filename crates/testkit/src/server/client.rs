//! Client of the native API for tests: sends requests, waits with a deadline, and checks invariants of events.

use std::fmt::Debug;
use std::future::Future;
use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{PATIENCE, TestServer};

/// Pause between two polls of a condition.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Calls `look` repeatedly until it returns a value. After one minute without a value, panics with the text `what`.
pub async fn eventually<T, F: Future<Output = Option<T>>>(what: &str, look: impl FnMut() -> F) -> T {
    eventually_for(PATIENCE, what, look).await
}

/// Calls `look` repeatedly until it returns a value. After `patience` without a value, panics with the text `what`.
pub async fn eventually_for<T, F: Future<Output = Option<T>>>(
    patience: Duration,
    what: &str,
    mut look: impl FnMut() -> F,
) -> T {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < deadline, "timed out while waiting for: {what}");
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Status and JSON body of an HTTP response.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub status: u16,
    /// JSON body of the HTTP response. Null if the body is not JSON.
    pub body: Value,
}

impl Answer {
    /// Returns the body of a successful HTTP response. Panics if the status is an error.
    pub fn ok(self) -> Value {
        assert!((200..300).contains(&self.status), "{self:#?}");
        self.body
    }

    /// Returns the status of an HTTP response that refuses a request, and the code of its problem.
    pub fn refusal(&self) -> (u16, &str) {
        (self.status, self.body["code"].as_str().unwrap_or_default())
    }
}

impl TestServer {
    /// Builds a request to the server with the operator token.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base())).bearer_auth(self.token())
    }

    /// Builds a request to the server with the agent token.
    pub fn agent_request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base())).bearer_auth(self.agent_token())
    }

    /// Sends a request to the server. Returns `None` if no response was received, because the server may have been
    /// stopped.
    pub async fn try_send(&self, request: RequestBuilder) -> Option<Answer> {
        let response = request.send().await.ok()?;
        let status = response.status().as_u16();
        let bytes = response.bytes().await.ok()?;
        Some(Answer { status, body: serde_json::from_slice(&bytes).unwrap_or_default() })
    }

    pub async fn send(&self, request: RequestBuilder) -> Answer {
        self.try_send(request).await.unwrap_or_else(|| panic!("no answer\n{}", self.stderr()))
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    /// Starts a run that uses the server's workspace.
    pub async fn start_run(&self, workflow: &str, task: &str) -> String {
        let run = self.post("/v1/runs", &self.run_body(workflow, task)).await.ok();
        run["id"].as_str().expect("a run has an id").to_owned()
    }

    pub fn run_body(&self, workflow: &str, task: &str) -> Value {
        json!({"workflow": workflow, "input": {"task": task}, "config": {"workspace": self.workspace()}})
    }

    pub async fn run(&self, run: &str) -> Value {
        self.get(&format!("/v1/runs/{run}")).await.ok()
    }

    pub async fn wait_status(&self, run: &str, wanted: &[&str]) -> Value {
        let what = format!("run {run} is one of {wanted:?}");
        let look = async || {
            let run = self.run(run).await;
            wanted.iter().any(|status| run["status"] == **status).then_some(run)
        };
        eventually(&what, look).await
    }

    /// Waits until exactly `n` interrupts of the run are open. Returns them in the order of [`Self::open`].
    pub async fn wait_open(&self, run: &str, n: usize) -> Vec<Value> {
        let what = format!("run {run} waits with {n} open interrupts");
        let look = async || {
            let at = self.run(run).await;
            let open = at["open_interrupts"].as_array().map_or(0, Vec::len);
            assert!(!matches!(at["status"].as_str(), Some("failed" | "cancelled")), "{at:#}");
            (at["status"] == "waiting" && open == n).then_some(())
        };
        eventually(&what, look).await;
        self.open(run).await
    }

    /// Waits until exactly one interrupt of the run is open, and returns it.
    pub async fn wait_one(&self, run: &str) -> Value {
        self.wait_open(run, 1).await.remove(0)
    }

    /// Returns the open interrupts of the run, in the order of the tool calls.
    pub async fn open(&self, run: &str) -> Vec<Value> {
        let list = self.get(&format!("/v1/interrupts?status=open&run={run}&limit=200")).await.ok();
        let mut open = list["items"].as_array().cloned().expect("a list");
        let call = |interrupt: &Value| {
            let call = interrupt.pointer("/payload/call_id").and_then(Value::as_str).unwrap_or_default();
            (call.len(), call.to_owned(), interrupt["created_at"].to_string())
        };
        open.sort_by_key(call);
        open
    }

    pub async fn interrupt(&self, id: &str) -> Value {
        self.get(&format!("/v1/interrupts/{id}")).await.ok()
    }

    pub async fn decide(&self, interrupt: &Value, decision: &Value) -> Answer {
        let id = interrupt["id"].as_str().expect("an interrupt has an id");
        self.post(&format!("/v1/interrupts/{id}/decisions"), decision).await
    }

    /// Decides an interrupt with this option and nothing else.
    pub async fn choose(&self, interrupt: &Value, option: &str) -> Value {
        self.decide(interrupt, &json!({ "option": option })).await.ok()
    }

    /// Returns all events of the run in the server's journal. Panics if a sequence number is missing, or if an event
    /// lacks an actor, a timestamp or a type.
    pub async fn events(&self, run: &str) -> Vec<Value> {
        let mut events: Vec<Value> = Vec::new();
        loop {
            let path = format!("/v1/runs/{run}/events?since={}&limit=200", events.len());
            let page = self.get(&path).await.ok();
            let items = page["items"].as_array().cloned().expect("a list");
            if items.is_empty() {
                break;
            }
            events.extend(items);
        }
        check(run, &events);
        events
    }

    /// Reads the server-sent events of a run after the sequence number `last`. Returns the id and the data of each.
    /// Stops when `n` events were read or the stream ends.
    pub async fn stream(&self, run: &str, last: Option<u64>, n: usize) -> Vec<(u64, Value)> {
        let mut request = self
            .request(Method::GET, &format!("/v1/runs/{run}/events"))
            .header("accept", "text/event-stream");
        if let Some(last) = last {
            request = request.header("last-event-id", last.to_string());
        }
        let read = async {
            let mut response = request.send().await.expect("a stream");
            let (mut buffer, mut events) = (Vec::new(), Vec::new());
            while events.len() < n {
                let Ok(Some(chunk)) = response.chunk().await else { break };
                buffer.extend_from_slice(&chunk);
                while let Some(end) = buffer.windows(2).position(|two| two == b"\n\n") {
                    let frame: Vec<u8> = buffer.drain(..end + 2).collect();
                    events.extend(frame_of(&String::from_utf8_lossy(&frame)));
                }
            }
            events
        };
        tokio::time::timeout(PATIENCE, read).await.expect("the stream sends its events in time")
    }

    /// Returns the types of all events of the run in the journal, in order.
    pub async fn story(&self, run: &str) -> Vec<String> {
        self.events(run)
            .await
            .iter()
            .map(|event| event["type"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    pub async fn events_of(&self, run: &str, kind: &str) -> Vec<Value> {
        self.events(run).await.into_iter().filter(|event| event["type"] == kind).collect()
    }

    /// Returns how many lines a file of the workspace has. Returns 0 if the file does not exist.
    pub fn lines(&self, file: &str) -> usize {
        std::fs::read_to_string(self.workspace().join(file)).map_or(0, |text| text.lines().count())
    }
}

/// Asserts that no sequence number is missing in the events of a run or session, and that every event has an actor, a
/// timestamp and a type.
fn check<T: Debug + AsRef<str> + ?Sized>(run: &T, events: &[Value]) {
    assert!(!events.is_empty(), "{run:?} has no events");
    let mut last = String::new();
    for (event, seq) in events.iter().zip(1_u64..) {
        assert_eq!(event["seq"], seq, "a gap in {run:?}: {event:#}");
        assert_eq!(event["stream"], run.as_ref(), "{event:#}");
        let at = event["at"].as_str().unwrap_or_default();
        assert!(at.ends_with('Z') && at >= last.as_str(), "{event:#}");
        at.clone_into(&mut last);
        let actor = &event["actor"];
        assert!(!actor["id"].as_str().unwrap_or_default().is_empty(), "{event:#}");
        let role = actor["role"].as_str().unwrap_or_default();
        assert!(["operator", "reviewer", "admin", "agent", "engine"].contains(&role), "{event:#}");
        assert!(role == "engine" || actor["via"].is_string(), "{event:#}");
        assert!(!event["type"].as_str().unwrap_or_default().is_empty(), "{event:#}");
    }
}

/// Returns the id and the data that a server-sent event contains. Returns `None` for a preview and for a keep-alive
/// message, because they have no id.
fn frame_of(frame: &str) -> Option<(u64, Value)> {
    let field = |name: &str| {
        frame.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim_start)
    };
    Some((field("id")?.parse().ok()?, serde_json::from_str(field("data")?).ok()?))
}
