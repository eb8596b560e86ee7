//! The progress of a task as it happens (lesson 60).

use futures::StreamExt;
use serde_json::{Value, json};
use tokio_tungstenite::connect_async;

use super::{paused, post, server};

async fn frames(server: &holdshort_testkit::server::TestServer, task: &str, until: &str) -> Vec<Value> {
    let base = server.base().replacen("http", "ws", 1);
    let url = format!("{base}/edges/crew/ws/tasks/{task}?token={}", server.token());
    let (mut socket, _) = connect_async(url).await.unwrap();
    let mut frames: Vec<Value> = Vec::new();
    while let Some(message) = socket.next().await {
        let message = message.unwrap();
        let Ok(text) = message.to_text() else { continue };
        let Ok(frame) = serde_json::from_str::<Value>(text) else { continue };
        let is_last = frame["type"] == until;
        frames.push(frame);
        if is_last {
            break;
        }
    }
    frames
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_socket_tells_a_task_to_its_end() {
    let (_model, server) = server().await;
    let (task, review) = paused(&server).await;
    let following = frames(&server, &task, "task_completed");
    let deciding = async {
        post(&server, &format!("/crew/resume/{task}"), &json!({"status": "approved"})).await;
    };
    let (told, ()) = tokio::join!(following, deciding);
    let kinds: Vec<&str> = told.iter().map(|frame| frame["type"].as_str().unwrap()).collect();
    let expected = [
        "status",
        "review_approved",
        "agent_completed",
        "agent_started",
        "agent_completed",
        "task_completed",
    ];
    // The decision may come before the socket is there.
    assert!(expected.ends_with(&kinds[1..]), "{kinds:?}");
    let last = told.last().unwrap();
    let words =
        json!([last["task_id"], last["status"], last["state"], last["review_id"], last["result"]["report"]]);
    assert_eq!(words, json!([task, "COMPLETED", "completed", review, "done"]));
    assert_eq!(frames(&server, &task, "status").await[0]["status"], "COMPLETED", "also long after");

    let base = server.base().replacen("http", "ws", 1);
    for (url, status) in [
        (format!("{base}/edges/crew/ws/tasks/none?token={}", server.token()), 404),
        (format!("{base}/edges/crew/ws/tasks/{task}?token=x"), 401),
        (format!("{base}/edges/crew/ws/tasks/{task}?token={}", server.agent_token()), 403),
    ] {
        let refused = connect_async(&url).await.unwrap_err();
        let tokio_tungstenite::tungstenite::Error::Http(answer) = refused else { panic!("{refused}") };
        assert_eq!(answer.status(), status, "{url}");
    }
}
