//! Limits of approved commands: what the sandbox still prevents.

use std::time::Instant;

use holdshort_testkit::model::Scripted;
use holdshort_testkit::server::{PATIENCE, TestServer, eventually};
use serde_json::json;

use crate::play::{command, done, last_told, one, solo};

async fn approve_all(server: &TestServer, run: &str) {
    loop {
        let at = server.wait_status(run, &["waiting", "completed", "failed"]).await;
        if at["status"] != "waiting" {
            assert_eq!(at["status"], "completed", "{at:#}");
            return;
        }
        for interrupt in server.open(run).await {
            server.choose(&interrupt, "approve").await;
        }
    }
}

#[tokio::test]
async fn it_reads_no_token_and_reaches_no_server() {
    let (model, server) = solo(Vec::new()).await;
    let address = server.base().trim_start_matches("http://").replace(':', "', ");
    let connect =
        format!("python3 -c \"import socket; socket.create_connection(('{address})); print('connected')\"");
    let tokens = server.data().join("tokens.json");
    model.script(
        "solo",
        [
            one(command(&format!("cat {}", tokens.display()))),
            one(command(&format!("cp {} stolen; ls -la", tokens.display()))),
            one(command(&connect)),
            one(command(&format!("echo x > {}/x", server.data().display()))),
            done(),
        ],
    );
    let run = server.start_run("solo", "escape").await;
    approve_all(&server, &run).await;
    let told = last_told(&model);
    assert!(!told.contains(server.token()) && !told.contains("connected"), "{told}");
    assert!(!server.workspace().join("stolen").exists() && !server.data().join("x").exists());
    let ran = server.events_of(&run, "tool_started").await;
    assert!(ran.iter().all(|event| event["data"]["sandbox"] == "full"), "{ran:#?}");
}

#[tokio::test]
async fn it_ends_in_time_and_says_no_more_than_it_may() {
    let forever = ("run_command", json!({"command": "sleep 600", "timeout_s": 1}));
    let flood = command("yes holdshort | head -c 40000000");
    let (model, server) = solo([Scripted::calls([forever, flood]), done()]).await;
    let run = server.start_run("solo", "flood").await;
    let started = Instant::now();
    approve_all(&server, &run).await;
    assert!(started.elapsed() < PATIENCE);
    assert!(last_told(&model).len() < 200_000, "{}", last_told(&model).len());
    server.events(&run).await;
}

/// Returns a call of a command that starts a background process, which appends a line every 20 ms.
fn ticking() -> Scripted {
    one(command("(while true; do echo x >> ticks.txt; sleep 0.02; done) & wait"))
}

/// Waits until no background process has appended a line for 500 ms, which is many times the usual pause.
async fn wait_for_silence(server: &TestServer) {
    let mut last = server.lines("ticks.txt");
    let mut since = Instant::now();
    let looking = Instant::now();
    while since.elapsed().as_millis() < 500 {
        let now = server.lines("ticks.txt");
        if now != last {
            (last, since) = (now, Instant::now());
        }
        assert!(looking.elapsed() < PATIENCE, "it goes on and on");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn it_ends_with_the_run_that_is_cancelled() {
    let (_model, server) = solo([ticking(), done()]).await;
    let run = server.start_run("solo", "tick").await;
    let shown = server.wait_one(&run).await;
    server.choose(&shown, "approve").await;
    eventually("it ticks", async || (server.lines("ticks.txt") > 2).then_some(())).await;
    server.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await.ok();
    wait_for_silence(&server).await;
    // The event says that the command had started.
    let finished = server.events_of(&run, "tool_finished").await;
    assert_eq!((finished.len(), &finished[0]["data"]["end"]), (1, &json!("unknown")));
}

#[tokio::test]
async fn it_ends_with_the_server_that_is_killed() {
    let (_model, mut server) = solo([ticking(), done()]).await;
    let run = server.start_run("solo", "tick").await;
    let shown = server.wait_one(&run).await;
    server.choose(&shown, "approve").await;
    eventually("it ticks", async || (server.lines("ticks.txt") > 2).then_some(())).await;
    server.kill();
    wait_for_silence(&server).await;
    server.start().await;
    assert_eq!(server.wait_one(&run).await["kind"], "unknown_outcome");
}
