//! A crew whose server is aborted after each commit, one commit per play. Each play has one task, one review, one
//! decision, and one end (case 44).

use std::cell::RefCell;

use holdshort_testkit::server::{TestServer, aborting};
use reqwest::Method;
use serde_json::{Value, json};

use super::{BASE, model, request_counts, setup};
use crate::aborts::{StoryProgress, play_each, play_until_over};
use crate::demo::ABORT_AFTER;

/// Performs one step of the scenario: starts the crew's task or decides its review. Returns true if the scenario is
/// over.
async fn look(server: &TestServer, task: &RefCell<Option<String>>) -> Option<bool> {
    let body = json!({"crew_name": "fraud", "inputs": {"case": 1}, "async_execution": true});
    let known = task.borrow().clone();
    let Some(id) = known else {
        // If the client gets no response, it repeats the request with the same idempotency key.
        let asked = server
            .request(Method::POST, &format!("{BASE}/crew/run"))
            .header("idempotency-key", "k")
            .json(&body);
        let begun = server.try_send(asked).await?;
        let id = begun.body["task_id"].as_str().map(str::to_owned);
        assert!(id.is_some() || begun.status >= 500, "{begun:?}");
        *task.borrow_mut() = id;
        return Some(false);
    };
    let status = server.try_send(server.request(Method::GET, &format!("{BASE}/crew/status/{id}"))).await?;
    if status.status >= 500 {
        return Some(false);
    }
    match status.body["status"].as_str() {
        Some("PAUSED") => {
            let decision = json!({"status": "approved", "comments": "good"});
            let decide = server.request(Method::POST, &format!("{BASE}/crew/resume/{id}")).json(&decision);
            let decided = server.try_send(decide).await?;
            assert!(decided.status == 200 || decided.status >= 500, "{decided:?}");
            Some(false)
        }
        Some("COMPLETED") => Some(true),
        Some("PENDING" | "RUNNING") => Some(false),
        other => panic!("{other:?}: {:#}", status.body),
    }
}

async fn play(n: u64) -> bool {
    let model = model().await;
    let started = setup(&model).program(aborting()).env("CREW_RESUMES_PER_MINUTE", "1000");
    let mut server = started.env(ABORT_AFTER, &n.to_string()).stopped();
    // The server may be aborted before it listens.
    let mut aborted = false;
    if server.try_start().await.is_err() {
        aborted = true;
        server.change(|setup| setup.env(ABORT_AFTER, "0"));
        server.start().await;
    }
    let task = RefCell::new(None);
    let what = format!("after commit {n}");
    let ended = play_until_over(&mut server, ABORT_AFTER, &what, async |server| {
        StoryProgress::from_answer(look(server, &task).await)
    })
    .await;
    let id = task.borrow().clone().unwrap();
    let runs = server.get("/v1/runs").await.ok();
    assert_eq!(runs["items"].as_array().unwrap().len(), 1, "{what}: one task");
    let story = server.story(&id).await;
    let count = |kind: &str| story.iter().filter(|each| *each == kind).count();
    let counts =
        ["interrupt_opened", "decision_made", "interrupt_resolved", "output_released", "run_completed"];
    assert_eq!(counts.map(count), [1; 5], "{what}: {story:?}");
    let status: Value = server.get(&format!("{BASE}/crew/status/{id}")).await.ok();
    assert_eq!(status["result"], json!({"report": "done", "cases": 1}), "{what}");
    // Only the one reply that was lost may be requested again.
    let replies: usize = request_counts(&model).into_iter().sum();
    assert!((5..=6).contains(&replies), "{what}: {replies} requests");
    aborted || ended
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wherever_the_server_ends_the_task_comes_to_its_one_end() {
    let played = play_each(1_u64.., play).await;
    assert!(played >= 6, "there are places to end at: {played}");
}
