//! Live progress of a task (lesson 60).

use futures::StreamExt;
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::{paused, post, server};

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

pub(super) async fn connected(server: &TestServer, token: &str, task: &str) -> Result<Socket, u16> {
    let base = server.base().replacen("http", "ws", 1);
    match connect_async(format!("{base}/edges/crew/ws/tasks/{task}?token={token}")).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(answer)) => Err(answer.status().as_u16()),
        Err(other) => panic!("{other}"),
    }
}

/// Returns the frames about a crew's task up to and including the first frame of this type, without heartbeats.
pub(super) async fn frames(socket: &mut Socket, until: &str) -> Vec<Value> {
    let mut frames: Vec<Value> = Vec::new();
    while let Some(frame) = next(socket).await {
        if frame["type"] == "heartbeat" {
            continue;
        }
        let is_last = frame["type"] == until;
        frames.push(frame);
        if is_last {
            break;
        }
    }
    frames
}

async fn next(socket: &mut Socket) -> Option<Value> {
    loop {
        let message = socket.next().await?.unwrap();
        if let Ok(frame) = serde_json::from_str(message.to_text().unwrap_or_default()) {
            return Some(frame);
        }
    }
}

/// The demo client of existing crews reconnects within five seconds if it has received no heartbeat.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_heartbeat_follows_the_first_frame() {
    let (_model, server) = server().await;
    let (task, _) = paused(&server).await;
    let mut socket = connected(&server, server.token(), &task).await.unwrap();
    assert_eq!(next(&mut socket).await.unwrap()["type"], "hitl_review_requested");
    let beat = next(&mut socket).await.unwrap();
    assert_eq!(beat["type"], "heartbeat");
    assert!(beat["timestamp"].is_f64() && beat.as_object().unwrap().len() == 2, "{beat}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_socket_tells_a_task_to_its_end() {
    let (_model, server) = server().await;
    let (task, review) = paused(&server).await;
    let mut socket = connected(&server, server.token(), &task).await.unwrap();
    let mut told = frames(&mut socket, "hitl_review_requested").await;
    post(&server, &format!("/crew/resume/{task}"), &json!({"status": "approved"})).await;
    told.extend(frames(&mut socket, "task_completed").await);
    let kinds: Vec<&str> = told.iter().map(|frame| frame["type"].as_str().unwrap()).collect();
    // A client of the source system derives the status of the task from these frames.
    let expected = [
        "hitl_review_requested",
        "hitl_review_approved",
        "task_started",
        "agent_completed",
        "agent_started",
        "agent_completed",
        "task_completed",
    ];
    assert_eq!(kinds, expected);
    let events: Vec<&str> = told.iter().map(|frame| frame["event"].as_str().unwrap()).collect();
    assert_eq!(events[..3], ["status", "review_approved", "task_resumed"]);
    for frame in &told {
        assert!(frame["timestamp"].is_f64() && frame["timestamp_iso"].is_string(), "{frame}");
        assert!(frame["id"].is_string(), "{frame}");
    }
    assert_eq!(
        (&told[4]["agent_id"], &told[5]["agent_id"]),
        (&json!("report_writer"), &json!("report_writer"))
    );
    let last = told.last().unwrap();
    let words =
        json!([last["task_id"], last["status"], last["state"], last["review_id"], last["result"]["report"]]);
    assert_eq!(words, json!([task, "COMPLETED", "completed", review, "done"]));
    let mut later = connected(&server, server.token(), &task).await.unwrap();
    assert_eq!(frames(&mut later, "task_completed").await[0]["status"], "COMPLETED", "also long after");

    for (task, token, status) in
        [("none", server.token(), 404), (&*task, "x", 401), (&*task, server.agent_token(), 403)]
    {
        assert_eq!(connected(&server, token, task).await.err(), Some(status), "{task} {token}");
    }
}
