//! A dump of a database in use, restored into a new database. The restored journal is complete, and frozen until a
//! person lifts the freeze.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use super::{database, setup, sql};
use crate::play::{count, one};

const AGENTS: usize = 8;

/// Agents that ask one question after another until the test stops them.
struct Load {
    is_over: Arc<AtomicBool>,
    answered: Arc<AtomicU64>,
    agents: Vec<tokio::task::JoinHandle<()>>,
}

impl Load {
    fn on(server: &TestServer) -> Self {
        let (is_over, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let body = json!({ "kind": "tool_approval", "title": "Delete it" });
        let request = server.agent_request(reqwest::Method::POST, "/v1/interrupts").json(&body);
        let agent = |_| {
            let (is_over, answered) = (is_over.clone(), answered.clone());
            let request = request.try_clone().unwrap();
            tokio::spawn(async move {
                while !is_over.load(Ordering::Acquire) {
                    let response = request.try_clone().unwrap().send().await.unwrap();
                    assert_eq!(response.status(), 201);
                    answered.fetch_add(1, Ordering::AcqRel);
                }
            })
        };
        let agents = (0..AGENTS).map(agent).collect();
        Self { is_over, answered, agents }
    }

    fn answered(&self) -> u64 {
        self.answered.load(Ordering::Acquire)
    }

    async fn reaches(&self, count: u64) {
        while self.answered() < count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn end(self) -> u64 {
        self.is_over.store(true, Ordering::Release);
        for agent in self.agents {
            agent.await.expect("it was answered");
        }
        self.answered.load(Ordering::Acquire)
    }
}

async fn program(name: &'static str, arguments: Vec<String>) {
    let run = move || {
        holdshort_testpg::shared().run(name, &arguments.iter().map(|word| &**word).collect::<Vec<_>>())
    };
    tokio::task::spawn_blocking(run).await.unwrap().unwrap();
}

/// Runs a command of the binary `holdshort` on this database, without a server.
fn verb(server: &TestServer, url: &str, arguments: &[&str]) -> Value {
    let mut command = server.client_command();
    let output = command.arg("--json").args(arguments).env("HOLDSHORT_STORE", url).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dump_under_load_is_whole_and_starts_frozen() {
    let model = ScriptedModel::start().await;
    let url = database().await;
    // At the time of the dump, one agent is about to run a command, and a second agent waits for its model.
    model.script("solo", [Scripted::Hang(Box::new(one(count("once"))))]);
    let server = setup(&model).database(&url, "served").start().await;
    let at_work = server.start_run("solo", "count").await;
    model.wait_for_requests(1).await;
    let head = server.get("/v1/audit/head").await.ok()["head"].as_str().unwrap().to_owned();
    let load = Load::on(&server);
    load.reaches(100).await;
    let before = load.answered();
    let file = server.workspace().join("dump");
    let file = file.to_str().unwrap().to_owned();
    program("pg_dump", vec!["--format=custom".into(), format!("--file={file}"), url.clone()]).await;
    let after = load.answered();
    load.reaches(after + 20).await;
    let all = load.end().await;

    let copy = database().await;
    program("pg_restore", vec!["--exit-on-error".into(), format!("--dbname={copy}"), file]).await;
    let restored = setup(&model).database(&copy, "restored").stopped();
    let report = verb(&restored, &copy, &["audit", "verify", "--against", &head]);
    assert_eq!((&report["intact"], &report["against"][0]["holds"]), (&json!(true), &json!(true)), "{report}");
    let there: u64 = sql(&copy, "SELECT count(*) FROM interrupts").await.parse().unwrap();
    assert!(
        (before..=after + AGENTS as u64).contains(&there) && there < all,
        "{before} {there} {after} {all}"
    );

    // No run starts in the restored database before a person has lifted the freeze, even if several servers start.
    let asked = model.requests().len();
    let mut restored = restored;
    restored.start().await;
    let second = setup(&model).database(&copy, "second").start().await;
    for server in [&restored, &second] {
        let system = server.get("/v1/system").await.ok();
        let reason = system["freezes"][0]["reason"].as_str().unwrap();
        assert_eq!(
            (&system["frozen"], system["freezes"].as_array().unwrap().len()),
            (&json!(true), 1),
            "{system}"
        );
        assert!(reason.starts_with("restored from a dump of a database"), "{reason}");
    }
    assert_eq!(restored.run(&at_work).await["status"], "running");
    let report = restored.get("/v1/audit/verify").await.ok();
    assert_eq!(report["intact"], true, "{report}");
    assert_eq!(model.requests().len(), asked, "no model is asked");
    assert_eq!(server.get("/v1/system").await.ok()["frozen"], false, "the old one goes on");

    // Once lifted, the freeze does not return at the next start, because the journal now belongs to the restored
    // database.
    second.post("/v1/system/unfreeze", &json!({})).await.ok();
    restored.stop().await;
    restored.start().await;
    assert_eq!(restored.get("/v1/system").await.ok()["frozen"], false);
    model.release();
}

/// A database that was already frozen at the time of the dump stays frozen with its original reason.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dump_of_what_was_frozen_starts_too() {
    let model = ScriptedModel::start().await;
    let (url, copy) = (database().await, database().await);
    let mut server = setup(&model).database(&url, "served").start().await;
    server.post("/v1/system/freeze", &json!({ "reason": "an incident" })).await.ok();
    let file = server.workspace().join("dump");
    let file = file.to_str().unwrap().to_owned();
    program("pg_dump", vec!["--format=custom".into(), format!("--file={file}"), url.clone()]).await;
    server.stop().await;
    program("pg_restore", vec!["--exit-on-error".into(), format!("--dbname={copy}"), file]).await;
    let restored = setup(&model).database(&copy, "restored").start().await;
    let system = restored.get("/v1/system").await.ok();
    assert_eq!((&system["frozen"], &system["freezes"][0]["reason"]), (&json!(true), &json!("an incident")));
}
