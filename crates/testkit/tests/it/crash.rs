//! Case 44: SIGKILL during each kind of operation. No request and no decision is lost. A side effect happens at most
//! once, or a person is asked about its outcome.

use holdshort_testkit::model::Scripted;
use holdshort_testkit::server::{TestServer, aborting, eventually, real};
use serde_json::{Value, json};

use crate::play::{command, count, done, one, solo, write};

/// Kills the server during a request, ignores the response to the request, and starts the server again.
async fn kill_during(server: &mut TestServer, path: &str, body: &Value) {
    let request = server.request(reqwest::Method::POST, path).json(body);
    let sent = tokio::spawn(request.send());
    tokio::task::yield_now().await;
    server.kill();
    drop(sent.await.unwrap());
    server.start().await;
}

#[tokio::test]
async fn case_44_in_the_middle_of_a_model_call() {
    let (model, mut server) = solo([Scripted::Hang(Box::new(one(count("one")))), done()]).await;
    let run = server.start_run("solo", "count").await;
    model.wait_for_requests(1).await;
    server.kill();
    model.release();
    server.start().await;
    let shown = server.wait_one(&run).await;
    server.choose(&shown, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    // The first reply was lost, so the model is asked again. The second reply is used once.
    assert_eq!((model.requests().len(), server.lines("count.txt")), (3, 1));
    assert_eq!(server.events_of(&run, "model_replied").await.len(), 2);
    assert_eq!(server.events_of(&run, "model_lost").await.len(), 1);
}

#[tokio::test]
async fn case_44_in_the_middle_of_a_command() {
    let (_model, mut server) = solo([one(command("echo one >> count.txt; sleep 60")), done()]).await;
    let run = server.start_run("solo", "count").await;
    let shown = server.wait_one(&run).await;
    server.choose(&shown, "approve").await;
    eventually("the command runs", async || (server.lines("count.txt") == 1).then_some(())).await;
    server.restart().await;
    let doubt = server.wait_one(&run).await;
    assert_eq!(
        (&doubt["kind"], &doubt["payload"]["tool"]),
        (&json!("unknown_outcome"), &json!("run_command"))
    );
    // The command ended together with the server, and was not run again.
    server.restart().await;
    assert_eq!((server.wait_one(&run).await, server.lines("count.txt")), (doubt.clone(), 1));
    server.decide(&doubt, &json!({"option": "happened", "text": "exit code 0"})).await.ok();
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(server.lines("count.txt"), 1);
    assert_eq!(server.events_of(&run, "tool_started").await.len(), 1);
}

#[tokio::test]
async fn case_44_a_doubt_may_be_answered_with_rerun() {
    let twice = "if [ -e once ]; then echo again >> count.txt; else touch once; sleep 60; fi";
    let (_model, mut server) = solo([one(command(twice)), done()]).await;
    let run = server.start_run("solo", "count").await;
    let shown = server.wait_one(&run).await;
    server.choose(&shown, "approve").await;
    let once = server.workspace().join("once");
    eventually("the command runs", async || once.exists().then_some(())).await;
    server.restart().await;
    let doubt = server.wait_one(&run).await;
    server.choose(&doubt, "rerun").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(server.lines("count.txt"), 1);
    // The approved command runs again without a second question. The journal contains both starts.
    assert_eq!(server.events_of(&run, "interrupt_opened").await.len(), 2);
    assert_eq!(server.events_of(&run, "tool_started").await.len(), 2);
}

#[tokio::test]
async fn case_44_around_a_decision() {
    let calls = Scripted::calls([count("one"), write("b.txt", "beta\n")]);
    let (_model, mut server) = solo([calls, done()]).await;
    let run = server.start_run("solo", "count").await;
    let open = server.wait_open(&run, 2).await;
    server.restart().await;
    assert_eq!(server.wait_open(&run, 2).await, open);
    for shown in &open {
        let path = format!("/v1/interrupts/{}/decisions", shown["id"].as_str().unwrap());
        kill_during(&mut server, &path, &json!({"option": "approve"})).await;
        // Repeating a decision is safe, whether or not the first request was recorded.
        server.choose(shown, "approve").await;
        server.restart().await;
    }
    loop {
        let run = server.wait_status(&run, &["completed", "waiting"]).await;
        if run["status"] == "completed" {
            break;
        }
        let Some(doubt) = server.open(run["id"].as_str().unwrap()).await.into_iter().next() else { continue };
        assert_eq!(doubt["kind"], "unknown_outcome");
        let decision = match server.lines("count.txt") {
            0 => json!({"option": "rerun"}),
            _ => json!({"option": "happened", "text": "it is there"}),
        };
        server.decide(&doubt, &decision).await.ok();
    }
    assert_eq!((server.lines("count.txt"), server.lines("b.txt")), (1, 1));
    server.events(&run).await;
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
}

#[tokio::test]
async fn case_44_around_a_start() {
    let (model, mut server) = solo([one(count("one")), done()]).await;
    let body = server.run_body("solo", "count");
    let start = |server: &TestServer| {
        server.request(reqwest::Method::POST, "/v1/runs").header("idempotency-key", "k1").json(&body)
    };
    let sent = tokio::spawn(start(&server).send());
    tokio::task::yield_now().await;
    server.kill();
    drop(sent.await.unwrap());
    server.start().await;
    let run = server.send(start(&server)).await.ok()["id"].as_str().unwrap().to_owned();
    server.restart().await;
    let shown = server.wait_one(&run).await;
    server.choose(&shown, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(
        (server.lines("count.txt"), server.get("/v1/runs").await.ok()["items"].as_array().unwrap().len()),
        (1, 1)
    );
    assert!(model.requests().len() <= 5, "{}", model.requests().len());
    server.events(&run).await;
}

/// If the thread that commits dies, the server reports that it is not ready, and ends. Otherwise the server would
/// appear healthy but accept no decisions.
#[tokio::test]
async fn a_server_whose_writer_dies_says_that_it_is_not_ready_and_ends_with_the_reason() {
    let (_model, mut server) = solo([one(count("one")), done()]).await;
    let run = server.start_run("solo", "count").await;
    let shown = server.wait_one(&run).await;
    server.stop().await;
    server.change(|setup| setup.program(aborting()).env("HOLDSHORT_PANIC_AFTER", "1"));
    server.start().await;
    assert_eq!(server.get("/readyz").await.status, 200);
    // The decision is committed, but the decision's request gets an error.
    let answer = server.decide(&shown, &json!({"option": "approve"})).await;
    assert_eq!((answer.status, &answer.body["code"]), (503, &json!("store_failed")));
    let ready = server.get("/readyz").await;
    assert_eq!((ready.status, &ready.body["code"]), (503, &json!("store_failed")));
    assert_eq!(server.wait_until_ended().await.code(), Some(1));
    let said = server.stderr();
    assert!(
        said.contains("the writer of the journal stopped unexpectedly (commit 1 was the last one)"),
        "{said}"
    );
    assert_eq!(server.lines("count.txt"), 0);
    // The decision is valid. The command had not started before the crash, so it runs now without a question.
    server.change(|setup| setup.program(real()));
    server.start().await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(server.lines("count.txt"), 1);
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
}

/// A killed server cannot remove the scratch directory of its command. The next start removes that directory, and keeps
/// directories that belong to other programs.
#[tokio::test]
async fn the_scratch_folder_of_a_killed_command_goes_at_the_next_start() {
    let line = "echo one >> count.txt; echo half > \"$TMPDIR/half\"; sleep 60";
    let (_model, mut server) = solo([one(command(line)), done()]).await;
    let temporary = server.workspace().parent().unwrap().join("tmp");
    let foreign = temporary.join("holdshort-of-somebody");
    std::fs::create_dir(&foreign).unwrap();
    let scratch = || -> Vec<_> {
        let entries = std::fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.join("lock").exists()).collect()
    };
    let run = server.start_run("solo", "count").await;
    server.choose(&server.wait_one(&run).await, "approve").await;
    eventually("the command runs", async || (server.lines("count.txt") == 1).then_some(())).await;
    let left = scratch();
    assert_eq!(left.len(), 1, "{left:?}");
    server.kill();
    assert_eq!(scratch(), left, "nobody was there to take it away");
    server.start().await;
    assert_eq!(server.wait_one(&run).await["kind"], "unknown_outcome");
    assert!(!left[0].exists(), "taken away before anything else began");
    assert!(foreign.exists(), "a folder without a lock is another's");
}
