//! The clients in `examples/crew`. The JavaScript client is used like the clients of the source system (contract D9),
//! and the Python client runs on a command line.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use holdshort_testkit::sink::{ReceivedRequest, WebhookSink};
use serde_json::{Value, json};

use super::{key, model, request_counts, setup};

const SECRET: &str = "any text will do";
/// Workflow of a crew whose model does not respond.
const BROKEN: &str = "name: broken
agents:
  lost: {instructions: You fail.}
phases:
  - {id: fail, kind: one_shot, agent: lost}
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_clients_of_the_source_system_find_what_they_know() {
    let (model, sink) = (model().await, WebhookSink::start().await);
    model.script("lost", (0..6).map(|_| Scripted::status(400)).collect::<Vec<_>>());
    let server =
        setup(&model).workflow("broken", BROKEN).env("WEBHOOK_ALLOW_NETWORKS", "127.0.0.0/8").start().await;
    let service = key(&server, "watcher", "agent").await;
    let root = env!("CARGO_MANIFEST_DIR");
    let mut node = Command::new("node");
    node.arg(format!("{root}/tests/it/crew/story.mjs"))
        .env("CLIENT", format!("{root}/../../examples/crew/client.mjs"))
        .env("HOLDSHORT_URL", server.base())
        .env("HOLDSHORT_TOKEN", server.token())
        .env("SERVICE_TOKEN", service)
        .env("SINK", sink.url("/hook"))
        .stdin(Stdio::null());
    let story = tokio::task::spawn_blocking(move || node.output()).await.unwrap().expect("node is there");
    let (out, err) = (String::from_utf8_lossy(&story.stdout), String::from_utf8_lossy(&story.stderr));
    assert!(story.status.success() && out.contains("\"ok\":true"), "{out}\n{err}");
}

/// Runs the example `client.py` for crews with the address of a server.
struct Python<'s> {
    base: &'s str,
    token: &'s str,
}

impl<'s> Python<'s> {
    fn at(server: &'s TestServer) -> Self {
        Self { base: server.base(), token: server.token() }
    }

    async fn ran(&self, arguments: &[&str]) -> (bool, String) {
        let mut python = Command::new("python3");
        python
            .arg("-B")
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/crew/client.py"))
            .args(arguments)
            .env("HOLDSHORT_URL", self.base)
            .env("HOLDSHORT_TOKEN", self.token)
            .env("WEBHOOK_SECRET", SECRET)
            .env("no_proxy", "127.0.0.1")
            .stdin(Stdio::null());
        let ended = tokio::task::spawn_blocking(move || python.output()).await.unwrap().unwrap();
        let told = if ended.status.success() { ended.stdout } else { ended.stderr };
        (ended.status.success(), String::from_utf8(told).unwrap())
    }

    async fn ok(&self, arguments: &[&str]) -> Value {
        let (is_good, told) = self.ran(arguments).await;
        assert!(is_good, "{arguments:?}: {told}");
        serde_json::from_str(&told).unwrap()
    }

    async fn refused(&self, arguments: &[&str]) -> String {
        let (is_good, told) = self.ran(arguments).await;
        assert!(!is_good, "{arguments:?}: {told}");
        told
    }
}

/// Saves a received webhook as a receiver would, with the headers and the body in two files.
fn save_webhook(folder: &Path, received: &ReceivedRequest, body: &[u8]) -> [String; 2] {
    let headers: BTreeMap<&str, &str> =
        received.headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
    let paths = ["headers.json", "body"].map(|name| folder.join(name));
    fs::write(&paths[0], json!(headers).to_string()).unwrap();
    fs::write(&paths[1], body).unwrap();
    paths.map(|path| path.to_str().unwrap().to_owned())
}

async fn python_server() -> (ScriptedModel, WebhookSink, TestServer) {
    let (model, sink) = (model().await, WebhookSink::start().await);
    let server = setup(&model).env("WEBHOOK_ALLOW_NETWORKS", "127.0.0.0/8").start().await;
    (model, sink, server)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crew_is_started_decided_and_followed_in_python() {
    let (model, sink, server) = python_server().await;
    let python = Python::at(&server);
    let hook = python.ok(&["register", "aml", &sink.url("/hook"), SECRET]).await;
    let listed = python.ok(&["webhooks"]).await.to_string();
    assert!(listed.contains(hook["webhook_id"].as_str().unwrap()) && !listed.contains(SECRET), "{listed}");

    let run = python.ok(&["run", "fraud", r#"{"case": "T123"}"#]).await;
    assert_eq!((&run["success"], &run["result"]["status"]), (&json!(true), &json!("paused")), "{run}");
    let task = run["task_id"].as_str().unwrap();
    let review = python.ok(&["review", task]).await;
    assert_eq!((&review["risk_level"], &review["status"]), (&json!("high"), &json!("pending")), "{review}");
    assert!(python.ok(&["reviews"]).await.to_string().contains(review["review_id"].as_str().unwrap()));

    // The webhook is verified over its exact bytes, and the secret is sufficient for the verification.
    let told = sink.wait_for(1).await.remove(0);
    let folder = tempfile::tempdir().unwrap();
    let [headers, body] = save_webhook(folder.path(), &told, &told.body);
    assert_eq!(python.ok(&["verify", &headers, &body]).await["review_id"], review["review_id"]);
    let changed = String::from_utf8(told.body.clone()).unwrap().replace("high", "low");
    let [headers, body] = save_webhook(folder.path(), &told, changed.as_bytes());
    assert!(python.refused(&["verify", &headers, &body]).await.contains("not of this secret"));

    let seen = review["review_id"].as_str().unwrap();
    assert_eq!(python.ok(&["approve", task, "Looks good", seen]).await["status"], "resuming");
    let done = python.ok(&["wait", task]).await;
    assert_eq!((&done["state"], &done["result"]["report"]), (&json!("completed"), &json!("done")), "{done}");
    assert_eq!(request_counts(&model), [1; 5], "nobody is asked again");
    assert!(python.refused(&["reject", task, "Too late"]).await.starts_with("409: "));

    let other = python.ok(&["run", "fraud"]).await["task_id"].as_str().unwrap().to_owned();
    assert_eq!(python.ok(&["reject", &other, "The rows are wrong."]).await["status"], "rejected");
    let failed = python.ok(&["wait", &other]).await;
    assert_eq!(failed["state"], "failed");
    assert!(failed["error"].as_str().unwrap().contains("The rows are wrong."), "{failed}");
    assert!(python.refused(&["status", "none"]).await.starts_with("404: "));
    assert!(python.refused(&["tea"]).await.contains("client.py run compliance"));
    python.ok(&["unregister", hook["webhook_id"].as_str().unwrap()]).await;
}

/// If an address does not respond, or does not belong to this API, the client prints one line without a traceback.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_goes_wrong_on_the_way_is_one_line_in_python() {
    let sink = WebhookSink::start().await;
    let other = sink.url("");
    let nobody = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", free.local_addr().unwrap())
    };
    for (base, arguments, told) in [
        (&*nobody, &["status", "t"][..], "failed: "),
        (&*other, &["status", "t"], "refused: "),
        ("no address", &["status", "t"], "refused: "),
        ("", &["status", "t"], "refused: HOLDSHORT_URL is not set"),
        (&*nobody, &["status"], "refused: status: "),
        (&*nobody, &["run", "fraud", "{"], "refused: "),
        (&*nobody, &["verify", "none.json", "none"], "failed: "),
    ] {
        let python = Python { base, token: "any" };
        let said = python.refused(arguments).await;
        assert!(said.starts_with(told), "{base} {arguments:?}: {said}");
        assert_eq!(said.trim_end().lines().count(), 1, "{base} {arguments:?}: {said}");
    }
}
