//! A server that is absent, slow, busy, strange or of somebody else: the tool does not run.

use std::sync::{Arc, Mutex};

use holdshort_testkit::server::TestServer;
use serde_json::json;

use super::proxy::{Fault, Step, start};
use super::{Installed, private, served};

/// Time-out of the hooks in this file. The hook answers within a second.
const SHORT_MS: u64 = 2_000;

const FAULTS: [Fault; 15] = [
    Fault::Silence,
    Fault::Close,
    Fault::Bytes("HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n"),
    Fault::Bytes("HTTP/1.1 403 Forbidden\r\ncontent-length: 4\r\n\r\nnone"),
    Fault::Bytes("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"),
    Fault::Bytes("HTTP/1.1 429 Too Many Requests\r\nretry-after: 3600\r\ncontent-length: 0\r\n\r\n"),
    Fault::Bytes("HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n"),
    Fault::Bytes("HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n"),
    Fault::Bytes(
        "HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/html\r\ncontent-length: 13\r\n\r\n<html></html>",
    ),
    Fault::Bytes("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 15\r\n\r\n<html>ok</html>"),
    Fault::Bytes(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{\"id\": \"int_01",
    ),
    Fault::Bytes("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"),
    Fault::Bytes("HTTP/1.1 204 No Content\r\n\r\n"),
    Fault::Bytes("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"),
    Fault::Bytes("SSH-2.0-OpenSSH_9.6\r\n"),
];

/// Plays 60 cases: each fault of the server, at each request that a hook sends for a call. The tool runs in none of
/// them.
#[tokio::test]
async fn no_fault_of_the_server_at_any_step_runs_the_tool() {
    let (server, _rules) = served().await;
    let target = Arc::new(Mutex::new(server.base().trim_start_matches("http://").to_owned()));
    let hook = Installed::new(&server, "claude").await.with("timeout_ms", json!(SHORT_MS));
    let mut cases = 0;
    for step in Step::ALL {
        for (at, fault) in FAULTS.into_iter().enumerate() {
            let proxy = start(&target, Some((step, fault))).await;
            let folder = tempfile::tempdir().unwrap();
            let hook = Installed {
                server: &server,
                hooks: folder.path().to_owned(),
                folder,
                cli: "claude",
                root: hook.root.clone(),
                config: hook.config.clone(),
                flags: Vec::new(),
                env: Vec::new(),
            }
            .with("server", json!(proxy));
            // A rule allows the first line at once. About the second line a person is asked, who is not there.
            let line = if step == Step::Wait { "touch a" } else { "ls" };
            let mut payload = hook.line(line, &format!("{step:?}-{at}"));
            payload["session_id"] = format!("{step:?}-{at}").into();
            let answered = hook.run(&payload).await;
            assert!(answered.stops(), "{step:?} {fault:?}: {answered:?}");
            cases += 1;
        }
    }
    assert_eq!(cases, 60);
    let asked = hook.interrupts().await;
    assert_eq!(asked.len(), 2 * FAULTS.len(), "the calls of the last two steps were asked about");
    assert!(asked.iter().all(|card| card["approval"]["used"].is_null()), "no approval was used");
}

#[tokio::test]
async fn a_server_that_is_not_there_or_does_not_know_the_key_stops_every_coding_agent() {
    let (server, _rules) = served().await;
    for cli in ["claude", "codex", "gemini", "cursor"] {
        let hook = Installed::new(&server, cli).await.with("timeout_ms", json!(SHORT_MS));
        let payload = hook.line("ls", "t1");
        private(&hook.config_file().with_extension("key"), "hs_key_0000");
        let answered = hook.run(&payload).await;
        assert!(answered.stops() && answered.err.contains("[unauthenticated]"), "{cli}: {answered:?}");
        assert!(!answered.err.contains("hs_key_"), "{answered:?}");
        let hook = hook.with("server", json!("http://127.0.0.1:1"));
        let answered = hook.run(&payload).await;
        assert!(answered.stops() && answered.err.contains("no server answers"), "{cli}: {answered:?}");
        std::fs::remove_file(hook.config_file().with_extension("key")).unwrap();
        assert!(hook.run(&payload).await.stops());
    }
}

#[tokio::test]
async fn a_revoked_key_and_an_ended_session_stop_the_call() {
    let (server, _rules) = served().await;
    let hook = Installed::new(&server, "claude").await;
    assert_eq!(hook.run(&hook.line("ls", "t1")).await.decision().0, "allow");
    let run = hook.interrupts().await[0]["run"].clone();
    server.post(&format!("/v1/runs/{}/cancel", run.as_str().unwrap()), &json!({})).await.ok();
    let answered = hook.run(&hook.line("ls", "t2")).await;
    assert!(answered.stops() && answered.err.contains("ended this session"), "{answered:?}");

    let child = hook.start({
        let mut payload = hook.line("touch a", "t3");
        payload["session_id"] = "s-2".into();
        payload.to_string()
    });
    let child = child.await;
    hook.open().await;
    let keys = server.get("/v1/keys").await.ok();
    let id = keys["items"][0]["id"].as_str().unwrap().to_owned();
    server.send(server.request(reqwest::Method::DELETE, &format!("/v1/keys/{id}"))).await.ok();
    let answered = super::ended(child).await;
    assert!(answered.stops(), "{answered:?}");
}

/// A journal that was replaced has no run of the session: the hook starts another one.
#[tokio::test]
async fn a_new_journal_gets_a_new_run() {
    let (server, _rules) = served().await;
    let (other, _other_rules): (TestServer, _) = served().await;
    let hook = Installed::new(&server, "claude").await;
    assert_eq!(hook.run(&hook.line("ls", "t1")).await.decision().0, "allow");
    let there = Installed::new(&other, "claude").await;
    let key = std::fs::read_to_string(there.config_file().with_extension("key")).unwrap();
    private(&hook.config_file().with_extension("key"), &key);
    let hook = hook.with("server", json!(other.base()));
    assert_eq!(hook.run(&hook.line("ls", "t2")).await.decision().0, "allow");
}
