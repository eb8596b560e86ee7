//! Requests to try a call in isolation before a person is asked. The server of these tests has no sandbox, so no
//! command runs; the tests of `holdshort-testkit` try real commands.

use std::path::PathBuf;

use holdshort_core::digest::Digest;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Api, Served, created, ok, refusal, text};

/// A server, and an agent whose access key names a folder for trials.
struct Asking {
    served: Served,
    agent: Api,
    folder: PathBuf,
    _holder: TempDir,
}

impl Asking {
    async fn new() -> Self {
        let served = Served::new().await;
        let holder = tempfile::tempdir().unwrap();
        let folder = std::fs::canonicalize(holder.path()).unwrap();
        let body = json!({"name": "coder", "folder": folder});
        let made = created(served.operator().post("/v1/keys", &body).await);
        let agent = served.api(Some(text(&made, "secret")));
        Self { served, agent, folder, _holder: holder }
    }

    fn body(&self, command: &str) -> Value {
        json!({
            "kind": "tool_approval", "title": "t",
            "call": {"tool": "run_command", "arguments": {"command": command}, "workspace": self.folder},
            "trial": {"exec_digest": Digest::of_bytes(b"secret").to_string(), "timeout_ms": 10_000},
        })
    }
}

#[tokio::test]
async fn what_can_never_be_tried_is_refused_at_its_field() {
    let asking = Asking::new().await;
    let edited = |pointer: &str, value: Value| {
        let mut body = asking.body("ls");
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        body.pointer_mut(parent).unwrap()[name] = value;
        body
    };
    let without = |name: &str| {
        let mut body = asking.body("ls");
        body.as_object_mut().unwrap().remove(name);
        body
    };
    let table = [
        (edited("/trial/exec_digest", json!("secret")), "/trial/exec_digest"),
        (edited("/trial/exec_digest", json!("g".repeat(64))), "/trial/exec_digest"),
        (edited("/trial/timeout_ms", json!(0)), "/trial/timeout_ms"),
        (edited("/trial/timeout_ms", json!(150_001)), "/trial/timeout_ms"),
        (edited("/trial/folder", json!("/")), "/trial/folder"),
        (edited("/call/workspace", json!("/")), "/call/workspace"),
        (edited("/call/workspace", json!("/home")), "/call/workspace"),
        (edited("/call/workspace", Value::Null), "/call/workspace"),
        (edited("/call/cwd", json!("sub")), "/call/cwd"),
        (edited("/call/arguments", json!({"path": "a"})), "/trial"),
        (edited("/call/arguments", json!({"command": ["ls"]})), "/trial"),
        (edited("/call/trial", json!({"changeset": "x"})), "/call/trial"),
        (edited("/withhold", json!([{"from": ["reviewer"], "fields": ["/x"]}])), "/withhold"),
        (without("call"), "/trial"),
    ];
    for (body, pointer) in table {
        let answer = asking.agent.post("/v1/interrupts", &body).await;
        assert_eq!(refusal(&answer), (422, "invalid_request", vec![pointer]), "{body}: {answer:?}");
    }
    // The agent token, a key without a folder, and a person have no folder.
    let plain = created(asking.served.operator().post("/v1/keys", &json!({"name": "plain"})).await);
    let plain = asking.served.api(Some(text(&plain, "secret")));
    for caller in [&asking.served.agent(), &plain, &asking.served.operator()] {
        let answer = caller.post("/v1/interrupts", &asking.body("ls")).await;
        assert_eq!(refusal(&answer), (422, "invalid_request", vec!["/trial"]), "{answer:?}");
    }
    assert_eq!(ok(asking.served.operator().get("/v1/interrupts").await)["items"], json!([]));
}

#[tokio::test]
async fn a_call_that_is_not_tried_asks_with_the_reason() {
    let asking = Asking::new().await;
    let table = [
        ("ls", "this machine cannot confine commands fully"),
        ("cd sub", "it changes the shell in which later commands run"),
        ("git push", "it may use the network, and a trial has none"),
        ("cat /proc/1/cmdline", "it names `/proc/1/cmdline`, which a trial does not show"),
    ];
    for (command, why) in table {
        let open = created(asking.agent.post("/v1/interrupts", &asking.body(command)).await);
        assert_eq!((&open["payload"]["untried"], &open["status"]), (&json!(why), &json!("open")), "{open}");
        let reasons = open["risk"]["reasons"].as_array().unwrap();
        assert!(reasons.iter().any(|reason| reason["code"] == "untried"), "{open}");
        assert_eq!(open["payload"].get("trial"), None);
    }
    let mut outside = asking.body("ls");
    outside["call"]["cwd"] = json!("/usr");
    let open = created(asking.agent.post("/v1/interrupts", &outside).await);
    assert_eq!(open["payload"]["untried"], "its working directory is outside the folder of the key");
}

/// A call that an agent requests through a proxy is shown as untried, because the process behind the proxy is unknown.
#[tokio::test]
async fn a_call_from_behind_a_proxy_is_not_tried() {
    let asking = Asking::new().await;
    let request = asking.agent.request(reqwest::Method::POST, "/v1/interrupts");
    let request = request.header("x-forwarded-for", "192.0.2.1").json(&asking.body("ls"));
    let open = created(crate::harness::send_request(request).await);
    assert_eq!(open["payload"]["untried"], "the request came through a proxy");
}

#[tokio::test]
async fn an_untried_call_has_no_secret_and_no_contents() {
    let asking = Asking::new().await;
    let open = created(asking.agent.post("/v1/interrupts", &asking.body("git push")).await);
    let path = format!("/v1/interrupts/{}", text(&open, "id"));
    ok(asking.served.operator().decide(&open, &json!({"option": "approve"})).await);
    let digest = &open["action_digest"];
    let consume = format!("{path}/consume");
    let answer = asking.agent.post(&consume, &json!({"digest": digest, "exec": "secret"})).await;
    assert_eq!(refusal(&answer), (422, "invalid_request", vec!["/exec"]));

    let body = format!("{path}/bodies/{}", Digest::ZERO);
    assert_eq!(refusal(&asking.agent.get(&body).await), (409, "not_approved", vec![]));
    let report = format!("{path}/exec");
    let early = asking.agent.post(&report, &json!({"outcome": "done"})).await;
    assert_eq!(refusal(&early), (409, "not_approved", vec![]));

    let used = ok(asking.agent.post(&consume, &json!({"digest": digest})).await);
    assert_eq!(used.get("trial"), None);
    assert_eq!(refusal(&asking.agent.get(&body).await), (404, "not_found", vec![]));
    assert_eq!(refusal(&asking.agent.get(&format!("{path}/bodies/x")).await), (404, "not_found", vec![]));
    // Another agent reaches neither the interrupt nor its contents.
    let other = created(asking.served.operator().post("/v1/keys", &json!({"name": "other"})).await);
    let other = asking.served.api(Some(text(&other, "secret")));
    assert_eq!(other.get(&body).await.0, 403);
    assert_eq!(other.post(&report, &json!({"outcome": "done"})).await.0, 403);
    for outcome in ["unknown", "finished"] {
        let answer = asking.agent.post(&report, &json!({"outcome": outcome})).await;
        assert_eq!(refusal(&answer), (422, "invalid_request", vec!["/outcome"]), "{outcome}");
    }
}
