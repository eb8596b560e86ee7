//! The demo's run, for crash tests: its sample, a reviewer that decides over REST, and the conditions that every play
//! must meet at the end.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use holdshort_testkit::rehearsal::hurried;
use holdshort_testkit::server::{TestServer, aborting, eventually};
use reqwest::Method;
use serde_json::{Value, json};

use crate::aborts::StoryProgress;

const PAIR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workflows/pair");
/// Environment variable with the number of the commit, counted from 1, after which `holdshort-aborting` aborts.
pub(crate) const ABORT_AFTER: &str = "HOLDSHORT_ABORT_AFTER";
/// File to which each run of the demo sample's test suite appends a line.
const RUNS: &str = "runs.log";

/// Returns a server without a model, whose workspace contains the sample of `pair`.
pub(crate) fn stage(abort_after: Option<usize>) -> TestServer {
    let read = |name: &str| fs::read_to_string(format!("{PAIR}/{name}")).unwrap();
    let script = hurried(&read("rehearsal.yaml"));
    let mut setup =
        TestServer::setup().program(aborting()).rehearsed("pair", &read("workflow.yaml"), &script);
    // The system's Python is used directly, because the shims of version managers take longer than the sample's test
    // suite.
    if Path::new("/usr/bin/python3").exists() {
        setup = setup.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    }
    if let Some(n) = abort_after {
        setup = setup.env(ABORT_AFTER, &n.to_string());
    }
    let server = setup.stopped();
    let copied =
        Command::new("cp").arg("-r").arg(format!("{PAIR}/sample/.")).arg(server.workspace()).status();
    assert!(copied.unwrap().success());
    let count = format!("open('{RUNS}', 'a').write('run\\n')\n");
    fs::write(server.workspace().join("tests/__init__.py"), count).unwrap();
    server
}

/// Starts the demo's run. If the server already started the run before it was aborted, returns that run.
pub(crate) async fn start(server: &TestServer) -> Option<String> {
    let input: Value =
        serde_json::from_str(&fs::read_to_string(format!("{PAIR}/input.json")).unwrap()).unwrap();
    let config = json!({"workspace": server.workspace(), "model": "rehearsal"});
    let body = json!({"workflow": "pair", "input": input, "config": config});
    let request = server.request(Method::POST, "/v1/runs").header("idempotency-key", "the run").json(&body);
    Some(server.try_send(request).await?.ok()["id"].as_str().unwrap().to_owned())
}

/// Performs one step of the reviewer: reads the demo's run, and decides its open interrupts.
pub(crate) async fn review(server: &TestServer, run: &str) -> StoryProgress {
    let Some(at) = server.try_send(server.request(Method::GET, &format!("/v1/runs/{run}"))).await else {
        return StoryProgress::Gone;
    };
    let at = at.ok();
    if ["completed", "failed", "cancelled"].iter().any(|status| at["status"] == **status) {
        return StoryProgress::Over;
    }
    for id in at["open_interrupts"].as_array().unwrap() {
        let path = format!("/v1/interrupts/{}", id.as_str().unwrap());
        let Some(interrupt) = server.try_send(server.request(Method::GET, &path)).await else {
            return StoryProgress::Gone;
        };
        let decision = decision(server, run, &interrupt.ok()).await;
        let Some(decision) = decision else { return StoryProgress::Gone };
        let request = server.request(Method::POST, &format!("{path}/decisions")).json(&decision);
        match server.try_send(request).await {
            Some(answer) => assert!(matches!(answer.status, 200 | 409), "{answer:#?}"),
            None => return StoryProgress::Gone,
        }
    }
    StoryProgress::Goes
}

async fn decision(server: &TestServer, run: &str, interrupt: &Value) -> Option<Value> {
    Some(match interrupt["kind"].as_str().unwrap() {
        "question" => json!({"option": "answer", "text": "the period that begins"}),
        "unknown_outcome" => {
            // Only a command can have an unknown outcome. The log file shows whether the command ran.
            assert_eq!(interrupt["payload"]["tool"], "run_command", "{interrupt:#}");
            let path = format!("/v1/runs/{run}/events?limit=200");
            let events = server.try_send(server.request(Method::GET, &path)).await?.ok();
            let events = events["items"].as_array().unwrap().clone();
            let ran = |event: &&Value| event["type"] == "tool_finished" && is_command(&events, event);
            if server.lines(RUNS) > events.iter().filter(ran).count() {
                json!({"option": "happened", "text": "exit code 0, as its log shows"})
            } else {
                json!({"option": "rerun"})
            }
        }
        _ => json!({"option": "approve"}),
    })
}

fn is_command(events: &[Value], finished: &Value) -> bool {
    events.iter().filter(|event| event["type"] == "model_replied").any(|replied| {
        let calls = replied["data"]["calls"].as_array().unwrap();
        calls.iter().any(|call| call["call"] == finished["data"]["call"] && call["tool"] == "run_command")
    })
}

/// Returns each file below a folder with its content, except Python's cache files.
pub(crate) fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                if !path.ends_with("__pycache__") {
                    walk(root, &path, found);
                }
            } else {
                let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, folder, &mut found);
    found
}

/// Checks the conditions that every play of the demo must meet at the end.
pub(crate) async fn check(
    server: &TestServer,
    run: &str,
    undisturbed: &BTreeMap<String, Vec<u8>>,
    what: &str,
) {
    let at = server.run(run).await;
    assert_eq!(at["status"], "completed", "{what}: {at:#}");
    let found = tree(&server.workspace());
    let names = |tree: &BTreeMap<String, Vec<u8>>| tree.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(undisturbed), "{what}");
    for (name, bytes) in undisturbed {
        let (found, wanted) = (String::from_utf8_lossy(&found[name]), String::from_utf8_lossy(bytes));
        assert_eq!(found, wanted, "{what}: {name}");
    }
    accounted(server, run, what).await;
}

/// Checks that each started call of the run has ended, and that the audit finds no error.
pub(crate) async fn accounted(server: &TestServer, run: &str, what: &str) {
    let events = server.events(run).await;
    let of = |kind: &str, call: &Value| {
        events.iter().filter(|event| event["type"] == kind && event["data"]["call"] == *call).count()
    };
    for started in events.iter().filter(|event| event["type"] == "tool_started") {
        let call = &started["data"]["call"];
        let accounted = 1 + of("tool_lost", call) + of("tool_returned", call);
        assert!(of("tool_started", call) <= accounted, "{what}: {call} was started twice");
        assert_eq!(of("tool_finished", call), 1, "{what}: {call}");
    }
    let verified = server.get("/v1/audit/verify").await.ok();
    assert_eq!(verified["intact"], true, "{what}: {verified:#}");
}

pub(crate) async fn undisturbed() -> BTreeMap<String, Vec<u8>> {
    let mut server = stage(None);
    server.start().await;
    let run = start(&server).await.unwrap();
    eventually("the end", async || match review(&server, &run).await {
        StoryProgress::Over => Some(()),
        StoryProgress::Goes => None,
        StoryProgress::Gone => panic!("the server is gone"),
    })
    .await;
    let tree = tree(&server.workspace());
    assert!(String::from_utf8_lossy(&tree["boxrent/money.py"]).contains("(2 * cents * part + whole)"));
    check(&server, &run, &tree, "undisturbed").await;
    tree
}
