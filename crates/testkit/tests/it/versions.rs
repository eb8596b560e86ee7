//! This version opens the data folder and the database of an earlier version, and their runs continue.
//!
//! Each directory in `tests/versions` contains the data of one version in both stores, and the responses of that
//! version's API. An existing directory is never changed. Before the schema changes, a person runs `record` with the
//! binary of the last version, and `record` writes the next directory:
//! `cargo test -p holdshort-testkit --test it versions::record -- --ignored`.

use std::path::{Path, PathBuf};

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{Setup, TestServer};
use reqwest::Method;
use serde_json::{Value, json};

use crate::cluster::database;
use crate::codelab::ide::{Ide, find_only_frame, post};
use crate::codelab::{self, plans, result, subtask, user};
use crate::play::{SOLO, ask, done, one};

/// Version number of the directory that `record` writes.
const NEXT: &str = "3";

/// Files of the recorded data folder, without the lock and the tokens, which are not part of the journal.
const FILES: [&str; 2] = ["holdshort.db", "holdshort.head"];

fn folder(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/versions").join(version)
}

fn versions() -> Vec<String> {
    let found = std::fs::read_dir(folder("")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut versions: Vec<String> = found.map(|name| name.into_string().unwrap()).collect();
    versions.sort();
    assert!(!versions.is_empty());
    versions
}

/// Returns a setup in which no deadline passes between the recording and a later test.
fn setup(model: &ScriptedModel) -> Setup {
    let lasting = codelab::WORKFLOW.replace(", expires_in: 300s, on_expiry: reject", "");
    assert!(!lasting.contains("expires_in"));
    TestServer::setup().workflow("solo", SOLO).workflow("codelab_ide", &lasting).model(model)
}

/// Returns those fields of a list of the API that every version must return unchanged.
async fn list(server: &TestServer, path: &str, fields: &[&str]) -> Vec<Value> {
    let page = server.get(path).await.ok();
    let of = |item: &Value| -> Value {
        fields.iter().map(|field| ((*field).to_owned(), item[*field].clone())).collect()
    };
    page["items"].as_array().unwrap().iter().map(of).collect()
}

/// Returns the API's responses about all recorded data.
async fn read_all_data(server: &TestServer) -> Value {
    let mut told = json!({
        "runs": list(server, "/v1/runs?limit=200", &["id", "workflow", "status", "session", "task"]).await,
        "sessions": list(server, "/v1/sessions?limit=200", &["id", "status"]).await,
        "interrupts": list(
            server,
            "/v1/interrupts?limit=200",
            &["id", "run", "kind", "status", "title", "agent", "created_at"],
        )
        .await,
        "grants": list(server, "/v1/grants?limit=200", &["id", "session", "tool", "status"]).await,
    });
    for session in ["talk", "hand", "plan"] {
        told["frames"][session] = json!(frames(server, session, "start").await);
    }
    told
}

/// Returns the frames that a client of the `CodeLab` protocol receives when it reconnects after the frame `since`. The
/// last frame is left out, because it describes the present.
async fn frames(server: &TestServer, session: &str, since: &str) -> Vec<Value> {
    let mut ide = Ide::come_back(server, session, since).await;
    let mut frames = ide.until("done").await;
    frames.pop();
    frames
}

/// Creates everything that may be pending at an upgrade of the server, and some work that has ended.
async fn play(server: &TestServer, model: &ScriptedModel) -> Value {
    // Create a run that ended and gave a grant, a waiting run, and a waiting run in a suspended session.
    let calls = Scripted::calls([("write_file", json!({ "path": "a.txt", "content": "a" })), ask("Which?")]);
    model.script("solo", [calls, done()]);
    let run = server.start_run("solo", "end").await;
    let open = server.wait_open(&run, 2).await;
    let (write, question) =
        if open[0]["kind"] == "question" { (&open[1], &open[0]) } else { (&open[0], &open[1]) };
    server.choose(write, "approve_session").await;
    server.decide(question, &json!({ "option": "answer", "text": "This one." })).await.ok();
    server.wait_status(&run, &["completed"]).await;
    model.script("solo", [one(ask("Which?")), done()]);
    let waiting = server.start_run("solo", "wait").await;
    let suspended = server.start_run("solo", "be suspended").await;
    for run in [&waiting, &suspended] {
        server.wait_one(run).await;
    }
    let session = server.run(&suspended).await["session"].as_str().unwrap().to_owned();
    server.post(&format!("/v1/sessions/{session}/suspend"), &json!({})).await.ok();

    // An external agent asks two questions: one question stays open, and one is decided.
    for title in ["Which runway?", "Which gate?"] {
        let body = json!({ "kind": "question", "title": title, "message": "", "payload": {} });
        let asked = server.send(server.agent_request(Method::POST, "/v1/interrupts").json(&body)).await.ok();
        if title == "Which gate?" {
            server.decide(&asked, &json!({ "option": "answer", "text": "B4" })).await.ok();
        }
    }

    // Create a conversation of three runs whose last run asks, a call at a client, and a plan.
    model.push("orchestrator", Scripted::text("Hello."));
    model.push("orchestrator", Scripted::text("Two files."));
    model.push("orchestrator", Scripted::call("ask_human", json!({ "question": "Light or dark?" })));
    for words in ["Hi.", "What is there?", "Style it."] {
        post(server, "talk", &user(words)).await;
    }
    model.push("orchestrator", Scripted::call("handoff_to_coder", json!({ "message": "read" })));
    model.push("coder", Scripted::call("read_file", json!({ "path": "a" })));
    post(server, "hand", &user("Read it.")).await;
    model.push("orchestrator", plans(&[subtask("a", "coder", &[])]));
    post(server, "plan", &user("Build it.")).await;

    let mut told = read_all_data(server).await;
    told["solo"] = json!({ "waiting": waiting, "suspended": suspended });
    let mut ide = Ide::come_back(server, "talk", "start").await;
    ide.find("assistant_message").await;
    told["place"] = json!(ide.place);
    told["head"] = server.get("/v1/audit/head").await.ok()["head"].clone();
    told
}

/// Returns those fields of `CodeLab` frames that every version must send unchanged: types, ids, texts of agents, and
/// calls to run.
fn lasting(frames: &Value) -> Vec<Value> {
    let of = |frame: &Value| {
        let is_said = frame["type"] == "assistant_message";
        let top =
            ["call_id", "tool_name", "arguments", "requires_approval", "approval_request_id", "is_final"];
        let beside = ["plan_id", "request_id", "question", "redelivered", "subtask_count"];
        json!({
            "type": frame["type"],
            "said": is_said.then(|| &frame["content"]),
            "top": top.map(|field| frame.get(field)),
            "metadata": beside.map(|field| frame["metadata"].get(field)),
        })
    };
    frames.as_array().unwrap().iter().map(of).collect()
}

/// Checks that the server returns the recorded data unchanged, that the audit finds no error, and that the recorded
/// runs continue.
async fn goes_on(server: &TestServer, model: &ScriptedModel, told: &Value) {
    let now = read_all_data(server).await;
    for part in ["runs", "sessions", "interrupts", "grants"] {
        assert_eq!(now[part], told[part], "{part}");
    }
    for (session, frames) in told["frames"].as_object().unwrap() {
        assert_eq!(lasting(&now["frames"][session]), lasting(frames), "{session}");
    }
    let after = lasting(&told["frames"]["talk"]);
    let first = after.iter().position(|frame| frame["type"] == "assistant_message").unwrap();
    assert_eq!(
        lasting(&json!(frames(server, "talk", told["place"].as_str().unwrap()).await)),
        after[first + 1..],
        "a place of that version is one of this"
    );
    let audit = server.request(Method::GET, "/v1/audit/verify");
    let report = server.send(audit.query(&[("against", told["head"].as_str().unwrap())])).await.ok();
    assert_eq!((&report["intact"], &report["against"][0]["holds"]), (&json!(true), &json!(true)), "{report}");

    model.script("solo", [one(ask("Which?")), done()]);
    let [waiting, suspended] =
        ["waiting", "suspended"].map(|name| told["solo"][name].as_str().unwrap().to_owned());
    let session = server.run(&suspended).await["session"].as_str().unwrap().to_owned();
    server.post(&format!("/v1/sessions/{session}/resume"), &json!({})).await.ok();
    for run in [waiting, suspended] {
        let question = server.open(&run).await.remove(0);
        server.decide(&question, &json!({ "option": "answer", "text": "That one." })).await.ok();
        server.wait_status(&run, &["completed"]).await;
    }

    let open = |title: &str| {
        let is_it = |it: &&Value| it["title"] == title && it["status"] == "open";
        told["interrupts"].as_array().unwrap().iter().find(is_it).unwrap()
    };
    let answer = json!({ "option": "answer", "text": "27" });
    assert_eq!(server.decide(open("Which runway?"), &answer).await.ok()["status"], "resolved");

    model.push("orchestrator", Scripted::text("Then it is dark."));
    let run = open("Light or dark?")["run"].as_str().unwrap();
    let dark = json!({ "option": "answer", "text": "dark" });
    server.decide(open("Light or dark?"), &dark).await.ok();
    server.wait_status(run, &["completed"]).await;
    // The next message begins a run, whose agent knows the whole conversation.
    model.push("orchestrator", Scripted::text("A page."));
    let heard = post(server, "talk", &user("What did I ask for?")).await;
    assert_eq!(find_only_frame(&heard, "assistant_message")["content"], "A page.");
    let known = model.requests().pop().unwrap().texts().join("\n");
    for said in ["Hi.", "Hello.", "Two files.", "Style it.", "Light or dark?", "dark", "Then it is dark."] {
        assert!(known.contains(said), "{said} in {known}");
    }

    // A client that connects receives the open call, and the server accepts the call's result.
    let mut ide = Ide::connect(server, "hand").await;
    let call = ide.find("tool_call").await;
    model.push("coder", Scripted::text("It says so."));
    ide.say(&result(&call, "the text")).await;
    assert_eq!(ide.find("assistant_message").await["content"], "It says so.");

    model.push("coder", Scripted::text("Built."));
    model.push("orchestrator", Scripted::text("It is built."));
    let mut ide = Ide::connect(server, "plan").await;
    let plan = ide.find("plan_notification").await;
    ide.say(&codelab::on_plan(&plan, "approve")).await;
    ide.find("plan_completed").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_data_folder_of_an_earlier_version_goes_on() {
    for version in versions() {
        let from = folder(&version).join("sqlite");
        let told = serde_json::from_slice(&std::fs::read(from.join("told.json")).unwrap()).unwrap();
        let model = ScriptedModel::start().await;
        let mut server = setup(&model).stopped();
        for file in FILES {
            std::fs::copy(from.join(file), server.data().join(file)).unwrap();
        }
        server.start().await;
        goes_on(&server, &model, &told).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_of_an_earlier_version_goes_on() {
    for version in versions() {
        let from = folder(&version).join("postgres");
        let told = serde_json::from_slice(&std::fs::read(from.join("told.json")).unwrap()).unwrap();
        let (model, url) = (ScriptedModel::start().await, database().await);
        let file = from.join("dump.sql").to_string_lossy().into_owned();
        psql(&["--quiet", "--set=ON_ERROR_STOP=1", "--file", &file, &url]).await;
        let server = setup(&model).database(&url, "one").start().await;
        goes_on(&server, &model, &told).await;
    }
}

pub(crate) async fn psql(arguments: &[&str]) {
    let arguments: Vec<String> = arguments.iter().map(|it| (*it).to_owned()).collect();
    let run = move || {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        holdshort_testpg::shared().run("psql", &arguments)
    };
    tokio::task::spawn_blocking(run).await.unwrap().unwrap();
}

/// Returns false for lines of a database dump that a different version of PostgreSQL may not know. These lines only
/// protect the dump itself.
fn is_plain(line: &str) -> bool {
    !line.starts_with("\\restrict")
        && !line.starts_with("\\unrestrict")
        && !line.starts_with("SET transaction_timeout")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "writes tests/versions with the binary that is there"]
async fn record() {
    let to = folder(NEXT);
    assert!(!to.exists(), "a version is recorded once");
    let write = |name: &str, file: &str, bytes: &[u8]| {
        std::fs::create_dir_all(to.join(name)).unwrap();
        std::fs::write(to.join(name).join(file), bytes).unwrap();
    };
    let pretty = |told: &Value| serde_json::to_vec_pretty(told).unwrap();

    let model = ScriptedModel::start().await;
    let mut server = setup(&model).start().await;
    let told = play(&server, &model).await;
    server.stop().await;
    write("sqlite", "told.json", &pretty(&told));
    for file in FILES {
        write("sqlite", file, &std::fs::read(server.data().join(file)).unwrap());
    }

    let (model, url) = (ScriptedModel::start().await, database().await);
    let mut server = setup(&model).database(&url, "one").start().await;
    let told = play(&server, &model).await;
    server.stop().await;
    write("postgres", "told.json", &pretty(&told));
    let dump = move || holdshort_testpg::shared().run("pg_dump", &["--no-owner", &url]).unwrap();
    let dump = tokio::task::spawn_blocking(dump).await.unwrap();
    let lines: Vec<&str> = dump.lines().filter(|line| is_plain(line)).collect();
    write("postgres", "dump.sql", lines.join("\n").as_bytes());
}
