//! Undo, over the real binary. The changes of a run are shown, approved and reverted, except in files that have changed
//! since.

use std::collections::BTreeMap;
use std::fs;

use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::{TestServer, aborting};
use reqwest::{Method, Url};
use serde_json::{Value, json};

use crate::halves::{ABORT_IN_CHANGESET, LINE, WORKFLOW, fill, tree};
use crate::play::{command, done, one, write};

type Tree = BTreeMap<String, String>;

/// A run that created a file in a directory, edited a file, and ran a command with forty changes.
struct Played {
    server: TestServer,
    _model: ScriptedModel,
    run: String,
    before: Tree,
    after: Tree,
}

async fn played() -> Played {
    let model = ScriptedModel::start().await;
    let edit = ("edit_file", json!({ "path": "kept1", "old": "old", "new": "edited" }));
    let calls = [write("deep/made/note.txt", "a note\n"), edit, command(LINE)];
    model.script("solo", [calls.map(one).to_vec(), vec![done()]].concat());
    let setup = TestServer::setup().program(aborting()).workflow("solo", WORKFLOW).model(&model);
    let server = setup.env(ABORT_IN_CHANGESET, "0").start().await;
    fill(&server.workspace());
    let before = tree(&server.workspace());
    let run = server.start_run("solo", "Do it.").await;
    for _ in 0..3 {
        let asked = server.wait_one(&run).await;
        server.choose(&asked, "approve").await;
    }
    server.wait_status(&run, &["completed"]).await;
    let after = tree(&server.workspace());
    assert_ne!(before, after);
    Played { server, _model: model, run, before, after }
}

impl Played {
    fn tree(&self) -> Tree {
        tree(&self.server.workspace())
    }

    /// Begins to undo a run. Returns the run of the undo, and the undo's interrupt.
    async fn undo(&self, run: &str, body: &Value) -> (String, Value) {
        let begun = self.server.post(&format!("/v1/runs/{run}/undo"), body).await.ok();
        let id = begun["id"].as_str().unwrap().to_owned();
        let asked = self.server.wait_one(&id).await;
        (id, asked)
    }

    async fn release(&self, (undo, asked): (String, Value)) -> String {
        self.server.choose(&asked, "approve").await;
        self.server.wait_status(&undo, &["completed"]).await;
        undo
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_undo_gives_the_tree_before_and_can_be_undone() {
    let played = played().await;
    let undo = played.undo(&played.run, &json!({})).await;
    assert_eq!(played.tree(), played.after, "nothing happens before the release");
    let options: Vec<_> = undo.1["options"].as_array().unwrap().iter().map(|each| &each["id"]).collect();
    assert_eq!(options, ["approve", "keep_some", "reject"]);
    assert_eq!(undo.1["payload"]["trial"]["not_undone"], 0);
    let undone = played.release(undo).await;
    assert_eq!(played.tree(), played.before);

    let again = played.undo(&undone, &json!({})).await;
    played.release(again).await;
    assert_eq!(played.tree(), played.after);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_undo_back_to_an_event_leaves_what_was_done_until_then() {
    let played = played().await;
    let first = played.server.events_of(&played.run, "tool_finished").await.remove(0);
    let undo = played.undo(&played.run, &json!({ "to": first["seq"] })).await;
    played.release(undo).await;
    let mut expected = played.before.clone();
    for (path, entry) in &played.after {
        if path.starts_with("deep") {
            expected.insert(path.clone(), entry.clone());
        }
    }
    assert_eq!(played.tree(), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_somebody_changed_since_is_left_and_told() {
    let played = played().await;
    let at = |path: &str| played.server.workspace().join(path);
    fs::write(at("kept2"), "mine\n").unwrap();
    fs::write(at("made/mine.txt"), "mine\n").unwrap();
    fs::remove_file(at("made/7")).unwrap();
    let undo = played.undo(&played.run, &json!({})).await;
    let left = undo.1["payload"]["trial"]["left"].as_array().unwrap();
    let left: Vec<_> =
        left.iter().map(|each| (each["path"].as_str().unwrap(), each["why"].as_str().unwrap())).collect();
    assert_eq!(left, [("kept2", "changed_since"), ("made/7", "as_before"), ("made/mine.txt", "not_empty")]);
    let undone = played.release(undo).await;
    let mut expected = played.before.clone();
    expected.insert("kept2".to_owned(), "644 mine\n".to_owned());
    expected.insert("made/mine.txt".to_owned(), "644 mine\n".to_owned());
    expected.insert("made".to_owned(), played.after["made"].clone());
    assert_eq!(played.tree(), expected);
    let told = played.server.run(&undone).await["result"]["text"].as_str().unwrap().to_owned();
    assert!(told.ends_with("Left unchanged: kept2, made/7, made/mine.txt."), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_changes_between_the_card_and_the_release_is_asked_about_anew() {
    let played = played().await;
    let (undo, asked) = played.undo(&played.run, &json!({})).await;
    fs::write(played.server.workspace().join("kept3"), "mine\n").unwrap();
    played.server.choose(&asked, "approve").await;
    let anew = played.server.wait_one(&undo).await;
    assert_ne!(anew["id"], asked["id"]);
    assert_eq!(anew["payload"]["trial"]["left"][0]["path"], "kept3");
    assert_eq!(played.tree().len(), played.after.len(), "nothing has happened yet");
    played.release((undo, anew)).await;
    let mut expected = played.before.clone();
    expected.insert("kept3".to_owned(), "644 mine\n".to_owned());
    assert_eq!(played.tree(), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn some_of_it_is_undone_and_no_more_is_claimed() {
    let played = played().await;
    let (undo, asked) = played.undo(&played.run, &json!({})).await;
    let some = json!({ "option": "keep_some", "edit": ["kept2", "gone/1"] });
    played.server.decide(&asked, &some).await.ok();
    let ended = played.server.wait_status(&undo, &["completed"]).await;
    let told = ended["result"]["text"].as_str().unwrap().to_owned();
    assert!(told.starts_with("2 files are in their earlier state again."), "{told}");
    let mut expected = played.after.clone();
    for path in ["kept2", "gone", "gone/1"] {
        expected.insert(path.to_owned(), played.before[path].clone());
    }
    assert_eq!(played.tree(), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_not_be_undone_is_refused_and_a_key_begins_one_undo() {
    let played = played().await;
    let server = &played.server;
    let path = format!("/v1/runs/{}/undo", played.run);
    let beyond = server.post(&path, &json!({ "to": 100_000 })).await;
    assert_eq!(beyond.refusal(), (422, "invalid_request"));
    assert_eq!(beyond.body["errors"][0]["pointer"], "/to");
    assert_eq!(server.post(&path, &json!({ "since": 1 })).await.refusal(), (422, "invalid_request"));
    let seq = server.run(&played.run).await["seq"].clone();
    assert_eq!(server.post(&path, &json!({ "to": seq })).await.refusal(), (409, "nothing_to_undo"));

    let keyed = || server.request(Method::POST, &path).header("idempotency-key", "once").json(&json!({}));
    let begun = server.send(keyed()).await.ok();
    assert_eq!(server.send(keyed()).await.ok()["id"], begun["id"]);

    // A rejected undo changes nothing. An undo with nothing left to revert also changes nothing.
    let undo = begun["id"].as_str().unwrap();
    let asked = server.wait_one(undo).await;
    server.choose(&asked, "reject").await;
    server.wait_status(undo, &["completed"]).await;
    assert_eq!(played.tree(), played.after);
    // If a person restores the files while the undo waits, nothing is left to revert, but the undo still completes.
    let (undo, asked) = played.undo(&played.run, &json!({})).await;
    for entry in fs::read_dir(server.workspace()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
    }
    fill(&server.workspace());
    server.choose(&asked, "approve").await;
    let ended = server.wait_status(&undo, &["completed"]).await;
    assert!(ended["result"]["text"].as_str().unwrap().starts_with("None of the changes of"), "{ended:#}");
}

/// While an undo waits for its decision, another undo of the run is refused and opens no interrupt. A repeated request
/// with the same key gets the first response.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_has_one_open_undo() {
    let mut played = played().await;
    let path = format!("/v1/runs/{}/undo", played.run);
    let keyed = |played: &Played, key: &str| {
        played.server.request(Method::POST, &path).header("idempotency-key", key).json(&json!({}))
    };
    // Of many simultaneous requests with different keys, one starts an undo.
    let keys: Vec<String> = (0..8).map(|n| format!("key{n}")).collect();
    let sent = keys.iter().map(|key| played.server.send(keyed(&played, key)));
    let responses = futures::future::join_all(sent).await;
    let first = responses.iter().position(|response| response.status == 201).unwrap();
    let undo = responses[first].body["id"].as_str().unwrap().to_owned();
    for (n, response) in responses.iter().enumerate().filter(|(n, _)| *n != first) {
        assert_eq!(response.refusal(), (409, "undo_open"), "{n}");
    }
    let asked = played.server.wait_one(&undo).await;
    let interrupts = async |played: &Played| {
        played.server.get("/v1/interrupts?limit=200").await.ok()["items"].as_array().unwrap().len()
    };
    let before = interrupts(&played).await;
    for is_restarted in [false, true] {
        if is_restarted {
            played.server.restart().await;
        }
        let refused = played.server.post(&path, &json!({ "to": 1 })).await;
        assert_eq!(refused.refusal(), (409, "undo_open"));
        let detail = refused.body["detail"].as_str().unwrap();
        assert!(detail.starts_with(&format!("the undo {undo} of this run is still open")), "{detail}");
        assert_eq!(played.server.send(keyed(&played, &keys[first])).await.ok()["id"], undo);
    }
    assert_eq!(interrupts(&played).await, before);

    // After a rejection, the run can be undone again. The key still gets the first response.
    played.server.choose(&asked, "reject").await;
    played.server.wait_status(&undo, &["completed"]).await;
    assert_eq!(played.server.send(keyed(&played, &keys[first])).await.ok()["id"], undo);
    let again = played.undo(&played.run, &json!({})).await;
    played.release(again).await;
    assert_eq!(played.tree(), played.before);
}

/// Undos of a closed session's runs share one session, where the open undo is known.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_of_a_closed_session_has_one_open_undo() {
    let played = played().await;
    let server = &played.server;
    let path = format!("/v1/runs/{}/undo", played.run);
    let close = async |run: &str| {
        let session = server.run(run).await["session"].as_str().unwrap().to_owned();
        server.post(&format!("/v1/sessions/{session}/close"), &json!({})).await.ok();
        session
    };
    let own = close(&played.run).await;
    let (first, _) = played.undo(&played.run, &json!({})).await;
    assert_eq!(server.post(&path, &json!({})).await.refusal(), (409, "undo_open"));
    // Closing that session cancels the undo, so that another undo can start in the next session.
    let next = close(&first).await;
    let second = played.undo(&played.run, &json!({})).await;
    let last = server.run(&second.0).await["session"].as_str().unwrap().to_owned();
    assert!(own != next && next != last && own != last);
    played.release(second).await;
    assert_eq!(played.tree(), played.before);
    assert_eq!(server.post(&path, &json!({})).await.refusal(), (409, "nothing_to_undo"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_taken_back_already_is_refused_and_begins_no_run() {
    let mut played = played().await;
    let path = format!("/v1/runs/{}/undo", played.run);
    let some = played.undo(&played.run, &json!({})).await;
    let decision = json!({ "option": "keep_some", "edit": ["kept2", "gone/1"] });
    played.server.decide(&some.1, &decision).await.ok();
    played.server.wait_status(&some.0, &["completed"]).await;
    // The remaining changes can still be undone.
    let rest = played.undo(&played.run, &json!({})).await;
    let rest = played.release(rest).await;
    assert_eq!(played.tree(), played.before);

    let runs = |page: Value| page["items"].as_array().unwrap().len();
    let before = runs(played.server.get("/v1/runs?limit=200").await.ok());
    let refused = played.server.post(&path, &json!({})).await;
    assert_eq!(refused.refusal(), (409, "nothing_to_undo"));
    assert!(refused.body["detail"].as_str().unwrap().contains("already undone"), "{:#}", refused.body);
    assert_eq!(runs(played.server.get("/v1/runs?limit=200").await.ok()), before, "no run was made");
    // After a restart the server still knows the undo, because the undo is in the journal.
    played.server.restart().await;
    assert_eq!(played.server.post(&path, &json!({})).await.refusal(), (409, "nothing_to_undo"));

    // After an undo was itself undone, the original run can be undone again.
    let again = played.undo(&rest, &json!({})).await;
    played.release(again).await;
    let undo = played.undo(&played.run, &json!({})).await;
    played.release(undo).await;
    assert_eq!(played.tree(), played.before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_undo_that_an_abort_cuts_off_is_carried_on() {
    for paths in [1, 9, 30] {
        let mut played = played().await;
        played.server.change(|setup| setup.env(ABORT_IN_CHANGESET, &paths.to_string()));
        played.server.restart().await;
        let (undo, asked) = played.undo(&played.run, &json!({})).await;
        let path = format!("/v1/interrupts/{}/decisions", asked["id"].as_str().unwrap());
        let decide = played.server.request(Method::POST, &path).json(&json!({ "option": "approve" }));
        drop(played.server.try_send(decide).await);
        played.server.wait_until_ended().await;
        let stands = played.tree();
        assert!(stands != played.before && stands != played.after, "{paths}: no abort in the middle");
        played.server.change(|setup| setup.env(ABORT_IN_CHANGESET, "0"));
        played.server.start().await;
        played.server.wait_status(&undo, &["completed"]).await;
        assert_eq!(played.tree(), played.before, "{paths}");
        assert_eq!(played.server.events_of(&undo, "tool_doubted").await.len(), 0);
    }
}

/// Deletes the stored content of all files, as happens after a month without use.
async fn forget_bodies(server: &mut TestServer) {
    server.stop().await;
    let file = rusqlite::Connection::open(server.data().join("holdshort.db")).unwrap();
    assert!(file.execute("DELETE FROM bodies", []).unwrap() > 0);
    drop(file);
    server.start().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_journal_has_no_more_is_left_and_told() {
    let mut played = played().await;
    forget_bodies(&mut played.server).await;
    let undo = played.undo(&played.run, &json!({})).await;
    let left = undo.1["payload"]["trial"]["left"].as_array().unwrap();
    // The content of 12 changed files and 4 deleted files is gone. Removing new files and restoring a mode needs no
    // stored content.
    let not_kept = left.iter().filter(|each| each["why"] == "not_kept").count();
    assert_eq!((left.len(), not_kept), (12 + 4, 12 + 4), "{left:#?}");
    played.release(undo).await;
    let mut expected = played.before.clone();
    for (path, entry) in &played.after {
        if path.starts_with("kept") && path != "kept13" {
            expected.insert(path.clone(), entry.clone());
        }
    }
    expected.retain(|path, _| !path.starts_with("gone"));
    assert_eq!(played.tree(), expected);
    assert_eq!(played.server.client_command().args(["audit", "verify"]).status().unwrap().code(), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_whose_bytes_are_gone_is_worked_out_again_before_it_is_committed() {
    let model = ScriptedModel::start().await;
    model.script("solo", vec![one(write("a.txt", "new\n")), one(command("echo 1 > b.txt")), done()]);
    let mut server = TestServer::setup().workflow("solo", WORKFLOW).model(&model).start().await;
    let run = server.start_run("solo", "Do it.").await;
    for (file, content) in [("a.txt", "new\n"), ("b.txt", "1\n")] {
        let asked = server.wait_one(&run).await;
        forget_bodies(&mut server).await;
        server.choose(&asked, "approve").await;
        let anew = server.wait_one(&run).await;
        assert_ne!(anew["id"], asked["id"], "nothing was released that could not be committed");
        assert!(!server.workspace().join(file).exists());
        server.choose(&anew, "approve").await;
        holdshort_testkit::server::eventually("the file", async || {
            fs::read_to_string(server.workspace().join(file)).ok().filter(|found| found == content)
        })
        .await;
    }
    server.wait_status(&run, &["completed"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_done_in_a_closed_session_is_undone_in_another() {
    let played = played().await;
    let session = played.server.run(&played.run).await["session"].as_str().unwrap().to_owned();
    played.server.post(&format!("/v1/sessions/{session}/close"), &json!({})).await.ok();
    let undo = played.undo(&played.run, &json!({})).await;
    let other = played.server.run(&undo.0).await["session"].as_str().unwrap().to_owned();
    assert_ne!(other, session);
    played.release(undo).await;
    assert_eq!(played.tree(), played.before);
}

/// The decision page without scripts shows the changes of an undo and the files that the undo leaves unchanged, and
/// accepts the decision.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_without_scripts_shows_what_is_undone_and_what_is_left() {
    let played = played().await;
    let server = &played.server;
    let at = |path: &str| server.workspace().join(path);
    fs::write(at("kept2"), "mine\n").unwrap();
    fs::write(at("made/mine.txt"), "mine\n").unwrap();
    fs::remove_file(at("made/7")).unwrap();
    let (undo, asked) = played.undo(&played.run, &json!({})).await;
    let path = format!("/v1/interrupts/{}/links", asked["id"].as_str().unwrap());
    let link = server.post(&path, &json!({})).await.ok();
    let link = link["url"].as_str().unwrap().strip_prefix(server.base()).unwrap().to_owned();
    let page =
        server.request(Method::GET, &link).send().await.unwrap().text().await.unwrap().replace("&#x2f;", "/");
    for part in [
        "Undo: Do it.",
        "<h3>Undo: ",
        "gone/1  created",
        "<h3>What is not undone</h3>",
        "<li><bdi>left unchanged: kept2 (it was changed since)</bdi></li>",
        "<li><bdi>left unchanged: made/7 (it is already in its earlier state)</bdi></li>",
        "<li><bdi>left unchanged: made/mine.txt (the run did not create or change it)</bdi></li>",
        "Nothing has happened yet. You approve exactly the changes that are shown, and you can undo them later.",
        "<summary>Undo only some of the changes</summary>",
        "Delete the paths that should stay as they are",
        "undoes the paths above",
        "<bdi>Undo the changes</bdi>",
        "<bdi>Undo some of them</bdi>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for other in ["Tried", "are kept", "you keep"] {
        assert!(!page.contains(other), "{other}: {page}");
    }
    let list = page.split("name=\"keep\"").nth(1).unwrap().split("</textarea>").next().unwrap();
    assert!(list.contains("gone/1") && !list.contains("kept2\n"), "what is left is no part: {list}");

    let send = async |form: &[(&str, &str)]| {
        let typed = Url::parse_with_params("http://form", form).unwrap();
        let request = server
            .request(Method::POST, &link)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(typed.query().unwrap_or_default().to_owned());
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    let some = |keep| [("option", "keep_some"), ("keep", keep), ("confirm", "yes")];
    let (status, page) = send(&some("kept2")).await;
    assert!(
        status == 422
            && page.contains("The list of paths to undo")
            && page.contains("<code>kept2</code> is not one of the parts"),
        "{page}"
    );
    assert_eq!(played.tree()["kept2"], "644 mine\n", "nothing has happened yet");
    let (status, page) = send(&some("gone/1\r\nkept3\r\n")).await;
    assert_eq!(status, 200, "{page}");
    server.wait_status(&undo, &["completed"]).await;
    let mut expected = played.after.clone();
    for path in ["kept3", "gone", "gone/1"] {
        expected.insert(path.to_owned(), played.before[path].clone());
    }
    expected.insert("kept2".to_owned(), "644 mine\n".to_owned());
    expected.insert("made/mine.txt".to_owned(), "644 mine\n".to_owned());
    expected.remove("made/7");
    assert_eq!(played.tree(), expected);
}

/// If a client sends a trace when it requests an undo, the run of the undo joins that trace.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_undo_joins_the_trace_of_who_asked_for_it() {
    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let played = played().await;
    let path = format!("/v1/runs/{}/undo", played.run);
    let request = played.server.request(Method::POST, &path).json(&json!({})).header("traceparent", PARENT);
    let undo = played.server.send(request).await.ok()["id"].as_str().unwrap().to_owned();
    let started = played.server.events_of(&undo, "run_started").await;
    assert_eq!(started[0]["data"]["trace"], PARENT);
    let first = played.server.events_of(&played.run, "run_started").await;
    assert_eq!(first[0]["data"]["trace"], Value::Null);
}
