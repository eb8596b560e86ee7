//! Frames that keep a connection to a client of the crew edge alive (contract D10). The time limits are shorter than in
//! use.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use holdshort_server::Pace;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::harness::{SOON, Served, ok, text};

const LOOK: &str = "name: look\n\
                    description: A person looks\n\
                    phases:\n  - id: look\n    kind: checkpoint\n    message: Is it good?\n";

/// WebSocket client that follows one task of the crew edge.
struct Client(WebSocketStream<TcpStream>);

impl Client {
    async fn follow(served: &Served, task: &str) -> Self {
        let url =
            format!("ws://{}/edges/crew/api/v1/ws/tasks/{task}?token={}", served.address(), served.token());
        let stream = TcpStream::connect(served.address()).await.unwrap();
        let (socket, _) = client_async(url.into_client_request().unwrap(), stream).await.unwrap();
        Self(socket)
    }

    async fn next(&mut self) -> Value {
        loop {
            match timeout(SOON, self.0.next()).await.expect("a socket that says nothing") {
                Some(Ok(Message::Text(text))) => return serde_json::from_str(&text).unwrap(),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    async fn say(&mut self, text: &str) {
        self.0.send(Message::text(text)).await.unwrap();
    }
}

async fn task(served: &Served) -> String {
    let run = json!({"crew_name": "look", "async_execution": true});
    let run = ok(served.operator().post("/edges/crew/crew/run", &run).await);
    let task = text(&run, "task_id").to_owned();
    served.next_of(&task).await;
    task
}

/// Asserts that a keep-alive frame has the members that the hook of crew clients reads. It must have no members of a
/// task, which the hook would take for the task's state.
fn assert_keep_alive(frame: &Value, kind: &str) {
    let members: BTreeSet<&str> = frame.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        (frame["type"].as_str(), members),
        (Some(kind), BTreeSet::from(["timestamp", "type"])),
        "{frame}"
    );
    assert!(frame["timestamp"].as_f64().unwrap() > 1_700_000_000.0, "{frame}");
}

#[tokio::test]
async fn a_client_is_sent_heartbeats_also_after_the_end_of_its_task() {
    let pace = Pace { heartbeat: Duration::from_millis(50), ..Pace::default() };
    let served = Served::paced_with_workflow(pace, LOOK).await;
    let task = task(&served).await;
    let mut client = Client::follow(&served, &task).await;
    assert_eq!(client.next().await["task_id"], json!(task), "the state comes first");
    let mut beats = 0;
    while beats < 2 {
        let frame = client.next().await;
        if frame["type"] == "heartbeat" {
            assert_keep_alive(&frame, "heartbeat");
            client.say(r#"{"type": "pong", "timestamp": 1}"#).await;
            beats += 1;
        }
    }
    ok(served.operator().post(&format!("/v1/runs/{task}/cancel"), &json!({})).await);
    while client.next().await["type"] != "task_failed" {}
    assert_keep_alive(&client.next().await, "heartbeat");
}

#[tokio::test]
async fn a_ping_is_answered_and_nothing_else_is() {
    let pace = Pace { heartbeat: Duration::from_mins(10), ..Pace::default() };
    let served = Served::paced_with_workflow(pace, LOOK).await;
    let task = task(&served).await;
    let mut client = Client::follow(&served, &task).await;
    let paused = client.next().await;
    assert_eq!((&paused["task_id"], &paused["state"]), (&json!(task), &json!("paused")));
    assert_keep_alive(&client.next().await, "heartbeat");
    // Near misses of a ping have no answer, and do not close the socket.
    for text in [
        "ping",
        "{",
        "[]",
        r#"{"type": "pong"}"#,
        r#"{"type": "PING"}"#,
        r#"{"ping": true}"#,
        r#"{"type": ["ping"]}"#,
    ] {
        client.say(text).await;
    }
    client.say(r#"{"type": "ping", "timestamp": 1780000000000}"#).await;
    assert_keep_alive(&client.next().await, "pong");
}

/// The default heartbeat interval is the one that clients of the crew edge expect.
#[test]
fn users_get_a_heartbeat_every_thirty_seconds() {
    assert_eq!(Pace::default().heartbeat, Duration::from_secs(30));
}
