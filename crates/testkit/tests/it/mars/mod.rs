//! Tests of the MARS edge over the real binary: the MARS cases at the level of phases, in MARS' own protocol.

mod bad;
mod changes;
mod console;
mod copilot;
mod copilot_bad;
mod copilot_panel;
mod copilot_reload;
mod cost;
mod docs;
mod edge_origin;
mod example;
mod gates;
mod golden;
mod killed;
mod modes;
mod page;
mod page_state;
mod panel;
mod plans;
mod reader;
mod released;
mod sessions;
mod sockets;
mod tabs;
mod ui;
mod voting;

use futures::{SinkExt, StreamExt};
use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{PATIENCE, TestServer};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::{timeout, timeout_at};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::play::{count, done, one};

/// Client that speaks the protocol of MARS.
pub(crate) struct Mars {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// All received frames, in the order of arrival.
    pub(crate) frames: Vec<Value>,
}

impl Mars {
    pub(crate) async fn connect(server: &TestServer, task: &str) -> Self {
        let path = format!("/edges/mars/ws/{task}?token={}", server.token());
        Self::open(server, &path, &[]).await.unwrap_or_else(|status| panic!("{status}"))
    }

    /// Opens a connection. Returns the HTTP status if the server refuses the connection.
    pub(crate) async fn open(
        server: &TestServer,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Self, u16> {
        let url = format!("{}{path}", server.base().replacen("http", "ws", 1));
        let mut request = url.into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        match timeout(PATIENCE, connect_async(request)).await.unwrap() {
            Ok((socket, _)) => Ok(Self { socket, frames: Vec::new() }),
            Err(Error::Http(response)) => Err(response.status().as_u16()),
            Err(other) => panic!("{other}"),
        }
    }

    /// Opens a connection and sends the first frame, which starts the task or attaches the client to it.
    pub(crate) async fn start(server: &TestServer, id: &str, task: &str, config: Value) -> Self {
        let mut mars = Self::connect(server, id).await;
        mars.say(&first(server, task, config)).await;
        mars
    }

    pub(crate) async fn say(&mut self, frame: &Value) {
        self.send(Message::text(frame.to_string())).await;
    }

    pub(crate) async fn send(&mut self, message: Message) {
        timeout(PATIENCE, self.socket.send(message)).await.unwrap().unwrap();
    }

    /// Sends a frame. Returns false if the connection is closed.
    pub(crate) async fn try_say(&mut self, frame: &Value) -> bool {
        timeout(PATIENCE, self.socket.send(Message::text(frame.to_string()))).await.unwrap().is_ok()
    }

    /// Returns the next frame. At the end of the connection, returns the close code as the error.
    pub(crate) async fn receive(&mut self) -> Result<Value, Option<u16>> {
        // Pings must not extend the deadline for the next frame.
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let so_far = || self.frames.iter().map(short).collect::<Vec<_>>().join("\n");
            match timeout_at(deadline, self.socket.next()).await {
                Ok(Some(Ok(Message::Text(text)))) => {
                    let frame = reader::frame(&text);
                    self.frames.push(frame.clone());
                    return Ok(frame);
                }
                Ok(Some(Ok(Message::Close(close)))) => return Err(close.map(|close| close.code.into())),
                Ok(Some(Ok(_))) => {}
                Ok(Some(Err(_)) | None) => return Err(None),
                Err(error) => panic!("nothing more came: {error}, after\n{}", so_far()),
            }
        }
    }

    pub(crate) async fn next(&mut self) -> Value {
        match self.receive().await {
            Ok(frame) => frame,
            Err(code) => {
                panic!(
                    "closed: {code:?}, after\n{}",
                    self.frames.iter().map(short).collect::<Vec<_>>().join("\n")
                )
            }
        }
    }

    /// Skips frames until one of this type arrives. Returns the data of that frame.
    pub(crate) async fn wait(&mut self, event_type: &str) -> Value {
        loop {
            let frame = self.next().await;
            if frame["event_type"] == event_type {
                return frame["data"].clone();
            }
        }
    }

    /// Returns the next new request. (A request that is sent again has no frame id.)
    pub(crate) async fn wait_for_request(&mut self) -> Value {
        loop {
            let frame = self.next().await;
            if frame["event_type"] == "approval_requested" && frame["id"].is_string() {
                return frame["data"].clone();
            }
        }
    }

    pub(crate) async fn resolve(&mut self, asked: &Value, resolution: &str, more: Value) -> Value {
        let mut frame = json!({
            "type": "resolve_approval", "approval_id": asked["approval_id"], "resolution": resolution,
        });
        frame.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.say(&frame).await;
        self.wait("approval_received").await
    }

    /// Sends a frame that must be refused. Returns the data of the error frame.
    pub(crate) async fn refused(&mut self, frame: &Value) -> Value {
        self.say(frame).await;
        self.wait("error_occurred").await
    }

    /// Returns the frames that belong to journal events.
    pub(crate) fn journal_frames(&self) -> Vec<Value> {
        self.frames.iter().filter(|frame| frame["id"].is_string()).cloned().collect()
    }

    pub(crate) fn types(&self) -> Vec<&str> {
        self.frames.iter().filter_map(|frame| frame["event_type"].as_str()).collect()
    }

    pub(crate) fn run(&self) -> String {
        self.frames.iter().find_map(|frame| frame["run_id"].as_str()).unwrap().to_owned()
    }
}

fn short(frame: &Value) -> String {
    let text = frame.to_string();
    text.chars().take(300).collect()
}

/// Returns a config that plans and then carries out the steps. `approval_mode` sets the gates around the steps.
pub(crate) fn around_steps(approval_mode: &str) -> Value {
    json!({"n_plan_reviews": 0, "phases": [
        {"type": "planning"}, {"type": "control", "config": {"approval_mode": approval_mode}},
    ]})
}

/// Returns the first frame of a connection, whose config contains the server's workspace.
pub(crate) fn first(server: &TestServer, task: &str, mut config: Value) -> Value {
    config["work_dir"] = json!(server.workspace());
    json!({ "task": task, "config": config })
}

/// Returns a reply with a plan in the format that the planner of MARS uses.
pub(crate) fn plan(steps: &[(&str, &str)]) -> Scripted {
    let steps: Vec<Value> = steps
        .iter()
        .map(|(task, agent)| json!({ "sub_task": task, "sub_task_agent": agent, "bullet_points": ["carefully"] }))
        .collect();
    Scripted::text(json!({ "sub_tasks": steps }).to_string())
}

/// Starts a server whose planner replies with these plans, and whose engineer writes one line per step.
pub(crate) async fn planned(plans: &[Scripted]) -> (ScriptedModel, TestServer) {
    let model = ScriptedModel::start().await;
    model.script("task_improver", [Scripted::text("Build it well.").repeat()]);
    model.script("plan_reviewer", [Scripted::text("Fine.").repeat()]);
    model.script("planner", plans);
    model.script("engineer", [one(count("step")), done()]);
    model.script("researcher", [done()]);
    let server = TestServer::setup().model(&model).start().await;
    (model, server)
}

pub(crate) fn options(asked: &Value) -> Vec<&str> {
    asked["options"].as_array().unwrap().iter().filter_map(Value::as_str).collect()
}

pub(crate) fn error_summary(value: &Value) -> (&str, &str) {
    let text = |key: &str| value[key].as_str().unwrap_or_default();
    (text("error_type"), value["errors"][0]["pointer"].as_str().unwrap_or_default())
}

/// Checks the invariants at the end of a run: the events have no gap and are complete, and each request has one end.
pub(crate) async fn check_invariants(server: &TestServer, mars: &Mars) {
    let run = mars.run();
    let events = server.events(&run).await;
    let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
    assert_eq!(of("interrupt_opened"), of("interrupt_resolved"), "{run}");
    let told = |kind: &str| mars.journal_frames().iter().filter(|frame| frame["event_type"] == kind).count();
    // An interrupt that no person needs to decide is not sent as a request.
    let unasked = events.iter().filter(|event| event["data"]["cause"] == "unasked").count();
    assert_eq!(told("approval_requested"), of("interrupt_opened") - unasked);
    assert_eq!(told("approval_received"), of("interrupt_resolved"));
    // Each call has one frame for its start and one frame for its end (contract A32).
    let of_calls = |kinds: &[&str]| {
        let frames = mars.journal_frames();
        let is_one = |frame: &&Value| kinds.contains(&frame["event_type"].as_str().unwrap());
        frames.iter().filter(is_one).map(|frame| frame["data"]["call_id"].to_string()).collect::<Vec<_>>()
    };
    for kinds in [&["agent_tool_call"][..], &["tool_call", "code_execution"]] {
        let (all, mut each) = (of_calls(kinds), of_calls(kinds));
        each.sort();
        each.dedup();
        assert_eq!(all.len(), each.len(), "{all:?}");
    }
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
}
