//! Commands of external agents that the server tries before a person is asked, over the real binary and a real sandbox.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use data_encoding::BASE64;
use holdshort_core::changeset::{Changeset, Entry};
use holdshort_core::digest::Digest;
use holdshort_testkit::server::{Answer, Setup, TestServer};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;

const SECRET: &str = "one secret of a call";

/// An agent with a key for one folder, and its server.
pub(crate) struct Coder {
    pub(crate) server: TestServer,
    pub(crate) key: String,
    pub(crate) folder: PathBuf,
    _holder: TempDir,
}

impl Coder {
    pub(crate) async fn new(rules: &str) -> Self {
        Self::with(TestServer::setup(), rules).await
    }

    pub(crate) async fn with(setup: Setup, rules: &str) -> Self {
        let holder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(holder.path()).expect("it exists");
        let folder = root.join("project");
        fs::create_dir(&folder).expect("it is new");
        let file = root.join("rules.yaml");
        fs::write(&file, rules).expect("it can be written");
        let setup = setup.argument("--rules").argument(file.to_str().expect("UTF-8"));
        let server = setup.start().await;
        let body = json!({"name": "coder", "folder": folder});
        let made = server.post("/v1/keys", &body).await.ok();
        let key = made["secret"].as_str().expect("a secret").to_owned();
        Self { server, key, folder, _holder: holder }
    }

    async fn send(&self, method: Method, path: &str, key: Option<&str>, body: &Value) -> Answer {
        let client = holdshort_http::plain().build().expect("a client");
        let request = client.request(method, format!("{}{path}", self.server.base())).bearer_auth(&self.key);
        let request = match key {
            Some(key) => request.header("idempotency-key", key),
            None => request,
        };
        self.server.send(if body.is_null() { request } else { request.json(body) }).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::POST, path, None, body).await
    }

    pub(crate) fn request(&self, command: &str, secret: &str) -> Value {
        json!({
            "kind": "tool_approval", "title": format!("run_command: {command}"),
            "call": {"tool": "run_command", "arguments": {"command": command}, "workspace": self.folder},
            "trial": {"exec_digest": Digest::of_bytes(secret.as_bytes()).to_string(), "timeout_ms": 60_000},
        })
    }

    pub(crate) async fn ask(&self, command: &str) -> Value {
        self.post("/v1/interrupts", &self.request(command, SECRET)).await.ok()
    }

    async fn consume(&self, interrupt: &Value, digest: &Value, secret: Option<&str>) -> Answer {
        let body = match secret {
            Some(secret) => json!({"digest": digest, "exec": secret}),
            None => json!({"digest": digest}),
        };
        self.post(&format!("{}/consume", path(interrupt)), &body).await
    }

    async fn body(&self, interrupt: &Value, digest: Digest) -> (StatusCode, Vec<u8>) {
        let url = format!("{}{}/bodies/{digest}", self.server.base(), path(interrupt));
        let client = holdshort_http::plain().build().expect("a client");
        let answer = client.get(url).bearer_auth(&self.key).send().await.expect("an answer");
        (answer.status(), answer.bytes().await.expect("a body").to_vec())
    }

    pub(crate) fn put(&self, name: &str, content: &str) {
        fs::write(self.folder.join(name), content).expect("it can be written");
    }

    /// Returns the files of the folder with their contents.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        let entries = fs::read_dir(&self.folder).expect("it exists").flatten();
        let read = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
        entries.map(|it| (it.file_name().to_string_lossy().into_owned(), read(it.path()))).collect()
    }
}

fn path(interrupt: &Value) -> String {
    format!("/v1/interrupts/{}", interrupt["id"].as_str().expect("an id"))
}

fn reasons(interrupt: &Value) -> Vec<&str> {
    let reasons = interrupt["risk"]["reasons"].as_array().expect("reasons");
    reasons.iter().filter_map(|reason| reason["code"].as_str()).collect()
}

fn decoded(value: &Value) -> String {
    let bytes = BASE64.decode(value.as_str().expect("a text").as_bytes()).expect("base64");
    String::from_utf8(bytes).expect("UTF-8")
}

fn paths(changeset: &Changeset) -> Vec<&str> {
    changeset.changes().iter().map(|change| change.path.as_str()).collect()
}

const ASKING: &str = "rules: []\n";

const READING: &str = "rules:\n  - {tools: [run_command], changes: none, do: allow}\n";

async fn the_changes_are_shown_and_released(setup: Setup) {
    let coder = Coder::with(setup, ASKING).await;
    coder.put("a.txt", "one\n");
    let before = coder.files();
    let open = coder.ask("echo two >> a.txt; echo new > b.txt; echo done; echo oops >&2; exit 3").await;
    assert_eq!(coder.files(), before, "a trial changes nothing");
    let card = &open["payload"]["trial"];
    assert_eq!((&card["files"], &card["exit_code"], &open["status"]), (&json!(2), &json!(3), &json!("open")));
    let shown: Vec<_> = card["changes"].as_array().expect("changes").iter().map(|it| &it["path"]).collect();
    assert_eq!(shown, ["a.txt", "b.txt"]);
    let options: Vec<_> = open["options"].as_array().expect("options").iter().map(|it| &it["id"]).collect();
    assert_eq!(options, ["approve", "approve_session", "keep_some", "respond", "reject"]);

    let digest = &open["action_digest"];
    assert_eq!(coder.consume(&open, digest, Some(SECRET)).await.refusal(), (409, "not_approved"));
    coder.server.choose(&open, "approve").await;
    for secret in [None, Some(""), Some("another")] {
        assert_eq!(coder.consume(&open, digest, secret).await.refusal(), (403, "exec_denied"), "{secret:?}");
    }
    let content = Digest::of_bytes(b"one\ntwo\n");
    assert_eq!(coder.body(&open, content).await.0, StatusCode::CONFLICT, "it was not used yet");

    let used = coder.consume(&open, digest, Some(SECRET)).await.ok();
    let trial = &used["trial"];
    assert_eq!(
        (decoded(&trial["stdout"]), decoded(&trial["stderr"])),
        ("done\n".to_owned(), "oops\n".to_owned())
    );
    assert_eq!((&trial["exit_code"], &trial["folder"]), (&json!(3), &json!(coder.folder)));
    let changeset: Changeset = serde_json::from_value(trial["changeset"].clone()).expect("a changeset");
    assert_eq!(paths(&changeset), ["a.txt", "b.txt"]);
    for change in changeset.changes() {
        let Some(Entry::File { digest, .. }) = change.after else { panic!("{change:?}") };
        let (status, bytes) = coder.body(&open, digest).await;
        assert_eq!((status, Digest::of_bytes(&bytes)), (StatusCode::OK, digest));
    }
    // The content before the change is stored too, but it is not released.
    assert_eq!(coder.body(&open, Digest::of_bytes(b"one\n")).await.0, StatusCode::NOT_FOUND);
    assert_eq!(coder.files(), before, "the agent writes the changes itself");
    assert_eq!(coder.consume(&open, digest, Some(SECRET)).await.refusal(), (409, "approval_used"));

    let shown = coder.server.get(&path(&open)).await.ok();
    assert_eq!(shown["approval"]["exec"], json!({"outcome": "unknown"}));
    coder.post(&format!("{}/exec", path(&open)), &json!({"outcome": "done"})).await.ok();
    let shown = coder.server.get(&path(&open)).await.ok();
    assert_eq!(shown["approval"]["exec"], json!({"outcome": "done"}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_changes_of_a_command_are_shown_and_released_once() {
    the_changes_are_shown_and_released(TestServer::setup()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_changes_of_a_command_are_shown_and_released_once_in_postgres() {
    let url = holdshort_testpg::shared().database();
    the_changes_are_shown_and_released(TestServer::setup().database(&url, "one")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_changes_nothing_is_released_by_a_rule_with_its_output() {
    let coder = Coder::new(READING).await;
    coder.put("a.txt", "one\n");
    for command in ["cat a.txt", "sh -c 'cat a.txt'", "echo one"] {
        let settled = coder.ask(command).await;
        assert_eq!(settled["resolution"]["cause"], "rule", "{command}: {settled}");
        let used = coder.consume(&settled, &settled["action_digest"], Some(SECRET)).await.ok();
        assert_eq!(decoded(&used["trial"]["stdout"]), "one\n", "{command}");
        assert_eq!(used["trial"]["changeset"], json!([]));
    }
    let open = coder.ask("cat a.txt > b.txt").await;
    assert_eq!(open["status"], "open");
    // Guarded paths ask, whatever the command line says.
    let open = coder.ask("sh -c 'mkdir -p .git/hooks; echo x > .git/hooks/post-commit'").await;
    assert!(reasons(&open).contains(&"guarded_path"), "{open}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_whose_trial_shows_something_else_asks_untried() {
    let coder = Coder::new(READING).await;
    let table = [
        ("curl http://127.0.0.1:1/", "it may use the network, and a trial has none"),
        (
            "python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 80))'",
            "it may need the network",
        ),
        ("sleep 600 &", "it left a process running"),
        ("echo x > /tmp/holdshort-left", "it wrote outside the folder: `/tmp/holdshort-left`"),
        ("touch /usr/x", "the sandbox may have denied it something"),
        ("cd sub && ls", "it changes the shell in which later commands run"),
        ("cat /var/log", "it names `/var/log`, which a trial does not show"),
    ];
    for (command, why) in table {
        let open = coder.ask(command).await;
        let said = open["payload"]["untried"].as_str().unwrap_or_default();
        assert!(said.starts_with(why), "{command}: {open}");
        assert!(open["status"] == "open" && reasons(&open).contains(&"untried"), "{open}");
    }
    let mut slow = coder.request("sleep 600", SECRET);
    slow["trial"]["timeout_ms"] = json!(300);
    let open = coder.post("/v1/interrupts", &slow).await.ok();
    let said = open["payload"]["untried"].as_str().unwrap_or_default();
    assert!(said.starts_with("it did not end"), "{open}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_has_changed_since_makes_the_trial_void() {
    let coder = Coder::new(ASKING).await;
    let table: [(&str, &str); 3] = [("a.txt", "other"), ("b.txt", "in between"), ("unrelated.txt", "fine")];
    for (touched, content) in table {
        coder.put("a.txt", "one\n");
        let _ = fs::remove_file(coder.folder.join("b.txt"));
        let open = coder.ask("echo two >> a.txt; echo new > b.txt").await;
        coder.server.choose(&open, "approve").await;
        coder.put(touched, content);
        let answer = coder.consume(&open, &open["action_digest"], Some(SECRET)).await;
        if touched == "unrelated.txt" {
            answer.ok();
        } else {
            assert_eq!(answer.refusal(), (409, "trial_void"), "{touched}");
            let shown = coder.server.get(&path(&open)).await.ok();
            assert_eq!(shown["approval"].get("used"), None, "a void trial uses no approval");
        }
    }
    // Another folder takes the place of the root.
    let open = coder.ask("echo x > c.txt").await;
    coder.server.choose(&open, "approve").await;
    fs::rename(&coder.folder, coder.folder.with_extension("moved")).expect("it can be renamed");
    fs::create_dir(&coder.folder).expect("it is new");
    let answer = coder.consume(&open, &open["action_digest"], Some(SECRET)).await;
    assert_eq!(answer.refusal(), (409, "trial_void"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_cannot_be_opened_makes_the_trial_void() {
    let coder = Coder::new(ASKING).await;
    let open = coder.ask("echo x > a.txt").await;
    coder.server.choose(&open, "approve").await;
    let moved = coder.folder.with_extension("moved");
    fs::rename(&coder.folder, &moved).expect("it can be renamed");
    let void = async |why: &str| {
        let answer = coder.consume(&open, &open["action_digest"], Some(SECRET)).await;
        assert_eq!(answer.refusal(), (409, "trial_void"), "{why}");
    };
    void("it does not exist").await;
    fs::write(&coder.folder, "").expect("it is new");
    void("it is a file").await;
    fs::remove_file(&coder.folder).expect("it exists");
    std::os::unix::fs::symlink(&moved, &coder.folder).expect("it is new");
    void("it is a link").await;
    fs::remove_file(&coder.folder).expect("it exists");
    fs::rename(&moved, &coder.folder).expect("it can be renamed");
    coder.consume(&open, &open["action_digest"], Some(SECRET)).await.ok();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn some_of_the_changes_are_released_and_the_rest_is_named() {
    let coder = Coder::new(ASKING).await;
    let open = coder.ask("echo 1 > a; echo 2 > b; echo 3 > c").await;
    let decision = json!({"option": "keep_some", "edit": ["a", "c"]});
    let decided = coder.server.decide(&open, &decision).await.ok();
    let digest = &decided["approval"]["digest"];
    assert_ne!(digest, &open["action_digest"]);
    let whole = coder.consume(&open, &open["action_digest"], Some(SECRET)).await;
    assert_eq!(whole.refusal(), (409, "approval_differs"));
    let used = coder.consume(&open, digest, Some(SECRET)).await.ok();
    let changeset: Changeset =
        serde_json::from_value(used["trial"]["changeset"].clone()).expect("a changeset");
    assert_eq!((paths(&changeset), &used["trial"]["dropped"]), (vec!["a", "c"], &json!(["b"])));
    assert_eq!(coder.body(&open, Digest::of_bytes(b"2\n")).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeated_request_is_not_tried_again() {
    let coder = Coder::new(ASKING).await;
    let body = coder.request("date +%s%N > time.txt", SECRET);
    let send = || coder.send(Method::POST, "/v1/interrupts", Some("same"), &body);
    let first = send().await.ok();
    let again = send().await.ok();
    assert_eq!((&again["id"], &again["payload"]), (&first["id"], &first["payload"]));
    let other = coder.send(Method::POST, "/v1/interrupts", Some("other"), &body).await.ok();
    assert_ne!(other["payload"]["changeset"], first["payload"]["changeset"]);
}

/// A trial survives a kill of the server. An erasure removes its output and its approval.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trial_survives_a_restart_and_not_an_erasure() {
    let mut coder = Coder::new(ASKING).await;
    let first = coder.ask("echo secret-output; echo 1 > a").await;
    let second = coder.ask("echo secret-output; echo 2 > b").await;
    coder.server.choose(&first, "approve").await;
    coder.server.choose(&second, "approve").await;
    coder.server.kill();
    coder.server.start().await;
    let used = coder.consume(&first, &first["action_digest"], Some(SECRET)).await.ok();
    assert_eq!(decoded(&used["trial"]["stdout"]), "secret-output\n");

    let run = second["run"].as_str().expect("a run");
    coder.server.post("/v1/erasures", &json!({"run": run})).await.ok();
    let answer = coder.consume(&second, &second["action_digest"], Some(SECRET)).await;
    assert_eq!(answer.refusal(), (409, "not_approved"));
    let events = coder.server.get(&format!("/v1/runs/{run}/events")).await.ok();
    let kept = BASE64.encode(b"secret-output\n");
    assert!(!events.to_string().contains(&kept) && !events.to_string().contains("secret-output"), "{events}");
}
