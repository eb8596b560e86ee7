//! File changes of calls in the MARS protocol: in the request, after the commit, and after an undo.

use std::fs;

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use super::tabs::get;
use super::{Mars, check_invariants, options, reader};
use crate::play::{command, done, one, write};

/// Workflow that the MARS edge runs. The tests modify it so that commands are tried first.
const BASE: &str = include_str!("../../../../edges/src/mars/base.yaml");

pub(super) async fn tried(calls: &[(&'static str, Value)]) -> (ScriptedModel, TestServer) {
    let model = ScriptedModel::start().await;
    let calls = calls.iter().cloned().map(one).chain([done()]);
    model.script("engineer", calls.collect::<Vec<Scripted>>());
    let workflow = BASE.replace("gates:\n", "gates:\n  trial: on\n");
    let server = TestServer::setup().workflow("mars", &workflow).model(&model).start().await;
    for file in ["old.txt", "kept.txt"] {
        fs::write(server.workspace().join(file), "old\n").unwrap();
    }
    (model, server)
}

pub(super) const LINE: &str =
    "rm old.txt && mkdir -p made && echo b > made/b.txt && echo a > a.txt && echo new >> kept.txt";

/// Returns the event type and the path of each frame about a file.
fn names(frames: &[Value]) -> Vec<(&str, &str)> {
    let files = frames.iter().filter(|frame| frame["data"]["file_path"].is_string());
    files
        .map(|frame| (frame["event_type"].as_str().unwrap(), frame["data"]["file_path"].as_str().unwrap()))
        .collect()
}

/// Returns the listed files, by their paths in the workspace, with their sizes.
fn listed(server: &TestServer, files: &Value) -> Vec<(String, u64)> {
    let folder = format!("{}/", server.workspace().display());
    let inner = |file: &Value| file["file_path"].as_str().unwrap().strip_prefix(&folder).unwrap().to_owned();
    let files = files["files"].as_array().unwrap().iter();
    files.map(|file| (inner(file), file["size_bytes"].as_u64().unwrap())).collect()
}

fn sizes<const N: usize>(expected: [(&str, u64); N]) -> Vec<(String, u64)> {
    expected.map(|(path, bytes)| (path.to_owned(), bytes)).into()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_is_told_with_the_request_and_its_files_after_the_commit() {
    let (_model, server) =
        tried(&[command(LINE), write("made/b.txt", "more\n"), command("rm a.txt && echo > made/c")]).await;
    let mut mars = Mars::start(&server, "t1", "Change it.", json!({"tool_approval": "prompt"})).await;
    let asked = mars.wait_for_request().await;
    let change = &asked["context"]["change"];
    let summary = change["summary"].as_str().unwrap();
    assert!(summary.starts_with("Tried: 3 files changed, 1 deleted; exit code 0 after "), "{summary}");
    let files = change["files"].as_array().unwrap();
    let does: Vec<_> = files
        .iter()
        .map(|file| (file["file_path"].as_str().unwrap(), file["does"].as_str().unwrap()))
        .collect();
    assert_eq!(
        does,
        [
            ("old.txt", "deleted"),
            ("a.txt", "created"),
            ("kept.txt", "changed"),
            ("made", "created"),
            ("made/b.txt", "created"),
        ]
    );
    assert_eq!(files[2]["diff"], "@@ -1,1 +1,2 @@\n old\n+new");
    let description = asked["description"].as_str().unwrap();
    for part in [LINE, "old.txt: deleted", "kept.txt: changed, 8 bytes\n@@ -1,1 +1,2 @@\n old\n+new"] {
        assert!(description.contains(part), "{part} in {description}");
    }
    assert!(server.workspace().join("old.txt").exists() && !server.workspace().join("a.txt").exists());
    assert_eq!(names(&mars.frames), [], "nothing is told before it has happened");
    mars.resolve(&asked, "allow", json!({})).await;

    let asked = mars.wait_for_request().await;
    assert_eq!(
        names(&mars.frames),
        [("file_created", "a.txt"), ("file_updated", "kept.txt"), ("file_created", "made/b.txt")]
    );
    let updated = |mars: &Mars| {
        let last = mars.frames.iter().rfind(|frame| frame["event_type"] == "files_updated");
        let data = &last.unwrap()["data"];
        (data["files_tracked"].clone(), data["files_deleted"].clone())
    };
    assert_eq!(updated(&mars), (json!(4), json!(["old.txt"])));
    // A tool that writes one file reports its change in the same form as a tried command.
    assert_eq!(asked["context"]["change"]["files"][0]["file_path"], "made/b.txt");
    assert!(asked["context"]["change"]["files"][0]["diff"].as_str().unwrap().ends_with("-b\n+more"));
    mars.resolve(&asked, "allow", json!({})).await;
    let asked = mars.wait_for_request().await;
    assert_eq!((names(&mars.frames)[3], updated(&mars).0), (("file_updated", "made/b.txt"), json!(1)));
    let run = mars.run();
    let files = get(&server, &format!("runs/{run}/files")).await;
    assert_eq!(listed(&server, &files), sizes([("a.txt", 2), ("kept.txt", 8), ("made/b.txt", 5)]));
    mars.resolve(&asked, "allow", json!({})).await;
    mars.wait("workflow_completed").await;
    assert_eq!(updated(&mars), (json!(2), json!(["a.txt"])));
    let files = get(&server, &format!("runs/{run}/files")).await;
    assert_eq!(listed(&server, &files), sizes([("kept.txt", 8), ("made/b.txt", 5), ("made/c", 1)]));
    assert_eq!(files.get("not_told"), None);
    check_invariants(&server, &mars).await;
    // A client that reconnects receives equal frames.
    let mut again = Mars::connect(&server, "t1").await;
    again.say(&json!({ "type": "request_state", "since": 0 })).await;
    while again.journal_frames().len() < mars.journal_frames().len() {
        again.next().await;
    }
    assert_eq!(again.journal_frames(), mars.journal_frames());
}

/// A rejected change sends no frame about a file. If many files changed, frames are sent for the first files, and the
/// remaining files are counted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_refused_is_not_told_and_many_files_are_counted() {
    let many = "mkdir many && for i in $(seq 100 349); do echo $i > many/$i; done";
    let (_model, server) = tried(&[command(LINE), command(many)]).await;
    let mut mars = Mars::start(&server, "t1", "Change it.", json!({"tool_approval": "prompt"})).await;
    let asked = mars.wait_for_request().await;
    mars.resolve(&asked, "deny", json!({})).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(names(&mars.frames), []);
    mars.resolve(&asked, "allow", json!({})).await;
    let updated = mars.wait("files_updated").await;
    assert_eq!([&updated["files_tracked"], &updated["files_not_told"]], [&json!(250), &json!(50)]);
    assert_eq!(updated.get("files_deleted"), None);
    let told = names(&mars.frames);
    assert_eq!(
        (told.len(), told[0], told[199]),
        (200, ("file_created", "many/100"), ("file_created", "many/299"))
    );
    mars.wait("workflow_completed").await;
    let files = get(&server, "runs/t1/files").await;
    assert_eq!((listed(&server, &files).len(), &files["not_told"]), (200, &json!(50)));
    check_invariants(&server, &mars).await;
}

/// In the shipped workflow, a person is asked before a command runs, so the request cannot show any changes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_it_ships_nothing_runs_before_a_person_lets_it() {
    let model = ScriptedModel::start().await;
    model.script("engineer", [one(command("echo a > a.txt")), done()]);
    let server = TestServer::setup().model(&model).start().await;
    let mut mars = Mars::start(&server, "t1", "Change it.", json!({"tool_approval": "prompt"})).await;
    let asked = mars.wait_for_request().await;
    assert_eq!((&asked["context"]["trial"], asked["context"].get("change")), (&Value::Null, None));
    assert_eq!(server.events_of(&mars.run(), "trial_started").await.len(), 0);
    mars.resolve(&asked, "allow", json!({})).await;
    mars.wait("workflow_completed").await;
    assert_eq!((names(&mars.frames), server.lines("a.txt")), (Vec::new(), 1));
}

/// An undo is a separate run. Clients of the task receive no frame of the undo. A client can follow and decide the undo
/// under the id of its run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_undo_is_a_run_of_the_session_that_a_client_may_follow() {
    let (model, server) = tried(&[command(LINE)]).await;
    let mut mars = Mars::start(&server, "t1", "Change it.", json!({})).await;
    mars.wait("workflow_completed").await;
    let (run, session) = (mars.run(), mars.frames[0]["session_id"].as_str().unwrap().to_owned());
    let undo = server.post(&format!("/v1/runs/{run}/undo"), &json!({})).await.ok();
    let undo = undo["id"].as_str().unwrap();
    server.wait_one(undo).await;

    mars.say(&json!({ "type": "ping" })).await;
    assert_eq!(mars.next().await["event_type"], "pong");
    mars.say(&json!({ "type": "request_state" })).await;
    let status = mars.wait("status").await;
    assert_eq!((&status["status"], &status["open_approvals"]), (&json!("completed"), &json!([])));
    model.script("engineer", [done()]);
    let mut next = Mars::start(&server, "t2", "Say it.", json!({"session_id": session})).await;
    next.wait("workflow_completed").await;

    let runs = get(&server, &format!("sessions/{session}/runs")).await["runs"].clone();
    let kinds: Vec<_> = runs.as_array().unwrap().iter().map(|run| run["mode"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["one-shot", "undo", "one-shot"]);
    assert_eq!([&runs[1]["id"], &runs[1]["status"]], [&json!(undo), &json!("waiting_approval")]);

    // A client follows and decides the undo under the id of its run. A task cannot begin under that id.
    let mut client = Mars::connect(&server, undo).await;
    let refused = client.refused(&json!({ "task": "Another one." })).await;
    assert_eq!(refused["error_type"], "idempotency_key_reused");
    client.say(&json!({ "type": "request_state", "since": 0 })).await;
    let asked = client.wait_for_request().await;
    assert_eq!((options(&asked), &asked["action"]), (vec!["allow", "deny"], &json!("tool_approval")));
    let description = asked["description"].as_str().unwrap();
    assert!(description.starts_with("Undo: Change it."), "{description}");
    assert!(description.contains("old.txt: created, 4 bytes\n@@ -1,0 +1,1 @@\n+old"), "{description}");
    assert!(!description.contains("changes: "), "its arguments say nothing to a person: {description}");
    client.resolve(&asked, "allow", json!({})).await;
    client.wait("workflow_completed").await;
    assert_eq!(names(&client.frames), [("file_updated", "kept.txt"), ("file_created", "old.txt")]);
    let updated =
        client.journal_frames().into_iter().find(|frame| frame["event_type"] == "files_updated").unwrap();
    assert_eq!(updated["data"]["files_deleted"], json!(["a.txt", "made/b.txt"]));
    assert_eq!(server.lines("old.txt"), 1);
    check_invariants(&server, &client).await;
    for tab in ["dag", "history", "files", "costs", "console-log"] {
        let path = format!("/edges/mars/api/runs/{undo}/{tab}");
        reader::answer(&path, &server.get(&path).await.ok());
    }
    let files = get(&server, &format!("runs/{undo}/files")).await;
    assert_eq!(listed(&server, &files), sizes([("kept.txt", 4), ("old.txt", 4)]));
    // This edge does not serve sessions of other surfaces.
    let elsewhere = server.post("/v1/sessions", &json!({})).await.ok();
    assert_eq!(
        server
            .get(&format!("/edges/mars/api/sessions/{}/runs", elsewhere["id"].as_str().unwrap()))
            .await
            .status,
        404
    );
}
