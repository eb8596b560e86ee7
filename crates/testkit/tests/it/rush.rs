//! Thousands of decisions on one interrupt at the same time. One decision takes effect, every other request receives
//! the resolution, and no request hangs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use crate::play::{SOLO, count, done, one};

/// Number of simultaneous connections to the server. Each connection sends one decision after another.
const CONNECTIONS: usize = 200;
/// Timeout of the test that is far longer than needed, even on a busy machine.
const PATIENCE: Duration = Duration::from_mins(3);

/// Returns decision number `n` on the interrupt. All decisions differ, because a repeated decision would get the status
/// 200.
fn decision(n: usize) -> Value {
    match n % 4 {
        0 => json!({"option": "approve", "text": format!("yes {n}")}),
        1 => json!({"option": "reject", "text": format!("no {n}")}),
        2 => json!({"option": "approve_session", "text": format!("always {n}")}),
        _ => json!({"option": "respond", "text": format!("rather {n}")}),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_thousand_decisions_at_once_one_wins() {
    one_wins(1_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a campaign: cargo xtask verify --long"]
async fn campaign_of_ten_thousand_decisions_at_once() {
    one_wins(10_000).await;
}

async fn one_wins(decisions: usize) {
    // One person sends all decisions, so the rate limit is raised.
    let model = ScriptedModel::start().await;
    model.script("solo", [one(count("one")), done()]);
    let setup = TestServer::setup().workflow("solo", SOLO).model(&model).decision_rate(1_000_000);
    let server = setup.start().await;
    let run = server.start_run("solo", "count").await;
    let shown = server.wait_one(&run).await;
    let other = server.start_run("solo", "count").await;
    let other_shown = server.wait_one(&other).await;
    let (server, shown, next) = (Arc::new(server), Arc::new(shown), Arc::new(AtomicUsize::new(0)));
    let deciders: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let (server, shown, next) = (server.clone(), shown.clone(), next.clone());
            tokio::spawn(async move {
                let mut answers = Vec::new();
                loop {
                    let n = next.fetch_add(1, Ordering::SeqCst);
                    if n >= decisions {
                        return answers;
                    }
                    answers.push((n, server.decide(&shown, &decision(n)).await));
                }
            })
        })
        .collect();
    // At the same time, decisions on a second interrupt still work.
    let meanwhile = tokio::time::timeout(PATIENCE, server.choose(&other_shown, "reject")).await;
    assert_eq!(meanwhile.expect("it is answered")["resolution"]["outcome"], "rejected");

    let mut told: BTreeMap<(u16, String), usize> = BTreeMap::new();
    let (mut won, mut standing) = (Vec::new(), Vec::new());
    for decider in deciders {
        let answers = tokio::time::timeout(PATIENCE, decider).await.expect("nothing hangs").unwrap();
        for (n, answer) in answers {
            let (status, code) = answer.refusal();
            *told.entry((status, code.to_owned())).or_default() += 1;
            standing.push(answer.body["resolution"].clone());
            if answer.status == 200 {
                won.push((n, answer.body["resolution"].clone()));
            }
        }
    }
    let wanted = [((200, String::new()), 1), ((409, "already_resolved".to_owned()), decisions - 1)];
    assert_eq!(told, BTreeMap::from(wanted));
    let (n, resolution) = won.pop().unwrap();
    assert_eq!((&resolution["option"], &resolution["text"]), (&decision(n)["option"], &decision(n)["text"]));
    // The response to each refused decision contained the resolution.
    assert!(standing.iter().all(|told| *told == resolution), "{resolution:#}");

    server.wait_status(&run, &["completed"]).await;
    for kind in ["decision_made", "interrupt_resolved"] {
        assert_eq!(server.events_of(&run, kind).await.len(), 1, "{kind}");
    }
    let approved = resolution["outcome"] == "approved";
    assert_eq!(server.lines("count.txt"), usize::from(approved));
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
}
