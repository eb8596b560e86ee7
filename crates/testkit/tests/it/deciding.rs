//! Decisions over REST. Each decision takes effect once, is made by one person, and wakes the clients that wait for it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::play::{command, count, done, one, solo, write};

#[tokio::test]
async fn approved_twice_runs_once() {
    let (_model, server) = solo([one(count("one")), done()]).await;
    let run = server.start_run("solo", "count").await;
    let shown = server.wait_one(&run).await;
    let first = server.choose(&shown, "approve").await;
    let again = server.choose(&shown, "approve").await;
    assert_eq!(first["resolution"], again["resolution"]);
    server.wait_status(&run, &["completed"]).await;
    let late = server.choose(&shown, "approve").await;
    assert_eq!((&late["resolution"], server.lines("count.txt")), (&first["resolution"], 1));
    let other = server.decide(&shown, &json!({"option": "reject"})).await;
    assert_eq!(other.refusal(), (409, "already_resolved"));
    assert_eq!(server.events_of(&run, "decision_made").await.len(), 1);
}

#[tokio::test]
async fn of_ten_deciders_exactly_one_wins() {
    let (_model, server) = solo([one(count("one")), done()]).await;
    let run = server.start_run("solo", "count").await;
    let shown = server.wait_one(&run).await;
    let (server, shown) = (Arc::new(server), Arc::new(shown));
    let deciders: Vec<_> = (0..10)
        .map(|n| {
            let (server, shown) = (server.clone(), shown.clone());
            tokio::spawn(async move {
                let decision = if n % 2 == 0 {
                    json!({"option": "approve", "text": format!("yes {n}")})
                } else {
                    json!({"option": "reject", "text": format!("no {n}")})
                };
                server.decide(&shown, &decision).await
            })
        })
        .collect();
    let mut won = Vec::new();
    for decider in deciders {
        let answer = decider.await.unwrap();
        match answer.status {
            200 => won.push(answer.body),
            _ => assert_eq!(answer.refusal(), (409, "already_resolved")),
        }
    }
    assert_eq!(won.len(), 1, "{won:#?}");
    server.wait_status(&run, &["completed"]).await;
    let standing = server.interrupt(shown["id"].as_str().unwrap()).await;
    assert_eq!(standing["resolution"], won[0]["resolution"]);
    let approved = standing["resolution"]["outcome"] == "approved";
    assert_eq!(server.lines("count.txt"), usize::from(approved));
    assert_eq!(server.events_of(&run, "decision_made").await.len(), 1);
}

#[tokio::test]
async fn a_long_poll_wakes_with_the_decision() {
    let (_model, server) = solo([one(count("one")), done()]).await;
    let run = server.start_run("solo", "count").await;
    let shown = server.wait_one(&run).await;
    let path = format!("/v1/interrupts/{}?wait=60", shown["id"].as_str().unwrap());
    let poll = server.get(&path);
    let decide = async {
        // The poll runs before the decision, because it was started first and both share one thread.
        tokio::task::yield_now().await;
        server.choose(&shown, "approve").await
    };
    let started = tokio::time::Instant::now();
    let (polled, decided) = tokio::join!(poll, decide);
    assert_eq!(polled.ok()["resolution"], decided["resolution"]);
    assert!(started.elapsed() < Duration::from_secs(30), "it waited to its end");
}

#[tokio::test]
async fn refusals_come_in_their_order_and_leave_it_open() {
    let (_model, server) = solo([one(count("one")), done()]).await;
    let run = server.start_run("solo", "count").await;
    let shown = server.wait_one(&run).await;
    for (decision, refusal) in [
        (json!({"option": "maybe"}), (422, "invalid_request")),
        (json!({"option": "approve", "version": 9}), (409, "stale")),
        (json!({"option": "respond"}), (422, "invalid_request")),
        (json!({"option": "edit"}), (422, "invalid_request")),
        (json!({"option": "edit", "edit": {"path": "x"}}), (422, "invalid_request")),
        (json!({"option": "edit", "edit": {"command": 7}}), (422, "invalid_request")),
        (json!({"option": "approve", "edit": {"command": "x"}}), (422, "invalid_request")),
        (json!({"option": "approve", "force": true}), (422, "invalid_request")),
    ] {
        assert_eq!(server.decide(&shown, &decision).await.refusal(), refusal, "{decision}");
    }
    let unknown = json!({"id": "int_00000000000000000000000000"});
    assert_eq!(server.decide(&unknown, &json!({"option": "approve"})).await.refusal().0, 404);
    assert_eq!(server.wait_one(&run).await, shown);
    assert_eq!(server.lines("count.txt"), 0);
}

#[tokio::test]
async fn some_are_answered_while_others_wait() {
    let calls = [count("a"), write("b.txt", "beta"), command("touch c")];
    let (model, server) = solo([holdshort_testkit::model::Scripted::calls(calls), done()]).await;
    let run = server.start_run("solo", "work").await;
    let open = server.wait_open(&run, 3).await;
    // Calls of one reply run in their order. The first call may run while a person still decides on the next calls.
    server.choose(&open[0], "approve").await;
    let left = server.wait_open(&run, 2).await;
    assert_eq!((&left[0]["id"], &left[1]["id"]), (&open[1]["id"], &open[2]["id"]));
    assert_eq!((server.lines("b.txt"), server.lines("count.txt"), model.requests().len()), (0, 1, 1));
    server.choose(&left[1], "reject").await;
    server.choose(&left[0], "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!((server.lines("b.txt"), server.workspace().join("c").exists()), (1, false));
    server.events(&run).await;
}
