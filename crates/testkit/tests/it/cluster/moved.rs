//! A journal that moves from SQLite to PostgreSQL and back, without a change of its hashes.

use std::path::Path;
use std::process::Output;

use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use super::{database, setup};
use crate::play::{count, done, one};

/// Runs a command of the binary `holdshort` without a server. Returns the command's JSON, or its exit code and output
/// if it fails.
fn verb(server: &TestServer, arguments: &[&str]) -> Result<Value, (i32, String)> {
    let output: Output = server.client_command().arg("--json").args(arguments).output().unwrap();
    if output.status.success() {
        return Ok(serde_json::from_slice(&output.stdout).unwrap());
    }
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    Err((output.status.code().unwrap(), said.into_owned()))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_journal_moves_to_postgres_and_back() {
    let model = ScriptedModel::start().await;
    model.script("solo", [one(count("one")), done()]);
    let mut old = setup(&model).start().await;
    let ended = old.start_run("solo", "count").await;
    let shown = old.wait_one(&ended).await;
    old.choose(&shown, "approve_session").await;
    old.wait_status(&ended, &["completed"]).await;
    let waiting = old.start_run("solo", "count again").await;
    let shown = old.wait_one(&waiting).await;
    let ask = json!({"kind": "question", "title": "May I?"});
    let asked = |server: &TestServer| {
        server
            .agent_request(reqwest::Method::POST, "/v1/interrupts")
            .header("idempotency-key", "k1")
            .json(&ask)
    };
    let question = old.send(asked(&old)).await.ok()["id"].clone();
    let told = (old.events(&ended).await, old.events(&waiting).await);
    let file = old.workspace().join("journal.jsonl");
    assert_eq!(verb(&old, &["export", text(&file)]).unwrap_err().0, 2, "a server uses it");
    old.stop().await;

    let exported = verb(&old, &["export", text(&file)]).unwrap();
    assert_eq!(exported["from"], old.data().to_str().unwrap());
    let exported = &exported["moved"];
    assert_eq!((&exported["keys"], &exported["blobs"]), (&json!(1), &json!(2)));
    assert!(verb(&old, &["export", text(&file)]).is_err(), "the file is there already");

    // A changed or truncated export file is refused before anything is written.
    let whole = std::fs::read_to_string(&file).unwrap();
    let url = database().await;
    let broken = old.workspace().join("broken.jsonl");
    for damage in [whole.replace("count again", "count agaim"), whole[..whole.len() - 3].to_owned()] {
        std::fs::write(&broken, damage).unwrap();
        let (code, said) = verb(&old, &["import", text(&broken), "--store", &url]).unwrap_err();
        assert_eq!((code, said.contains("nothing was written")), (2, true), "{said}");
    }

    let imported = verb(&old, &["import", text(&file), "--store", &url]).unwrap();
    let database = format!("the database {}", url.rsplit('@').next().unwrap());
    assert_eq!(imported, json!({"into": database, "moved": exported}));
    let again = verb(&old, &["import", text(&file), "--store", &url]).unwrap();
    assert_eq!(again["moved"], json!({"streams": 0, "events": 0, "keys": 0, "blobs": 0}));
    // If imported content differs from existing content, the import reports the difference and does not advise to
    // repeat the import.
    let other = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line.get("key").is_some() {
            line["key"]["reference"] = json!("run_other");
        }
        format!("{line}\n")
    };
    std::fs::write(&broken, whole.lines().map(other).collect::<String>()).unwrap();
    let (_, said) = verb(&old, &["import", text(&broken), "--store", &url]).unwrap_err();
    assert_eq!((said.contains("nothing was imported"), said.contains("repeated")), (true, false), "{said}");
    let mut new = setup(&model).database(&url, "new").start().await;
    assert_eq!((new.events(&ended).await, new.events(&waiting).await), told);
    assert_eq!(new.get("/v1/audit/verify").await.ok()["intact"], true);
    // The new store knows the idempotency key, and the waiting run continues there.
    assert_eq!(new.send(asked(&new)).await.ok()["id"], question);
    new.choose(&shown, "approve").await;
    new.wait_status(&waiting, &["completed"]).await;
    let told = new.events(&waiting).await;
    assert!(verb(&new, &["export", text(&broken), "--store", &url]).is_err(), "a server uses it");
    new.stop().await;

    // Move one run back to SQLite.
    let part = new.workspace().join("part.jsonl");
    let exported = verb(&new, &["export", text(&part), "--run", &waiting, "--store", &url]).unwrap();
    assert_eq!(exported["from"], database);
    let moved = &exported["moved"];
    assert_eq!((&moved["streams"], &moved["keys"]), (&json!(1), &json!(0)));
    let mut back = setup(&model).stopped();
    assert_eq!(verb(&back, &["import", text(&part)]).unwrap()["moved"], *moved);
    back.start().await;
    assert_eq!(back.events(&waiting).await, told);
    assert_eq!(back.run(&waiting).await["status"], "completed");
    assert_eq!(back.get("/v1/audit/verify").await.ok()["intact"], true);
}
