//! The hook of coding agents: the real program `holdshort hook run`, a real server, and payloads on standard input.

mod absent;
mod after;
mod calls;
mod give_ups;
mod guarded;
mod proxy;
mod questions;
mod tried;
mod unreadable;

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use holdshort_testkit::server::{TestServer, eventually, real};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

/// Time-out that no test reaches.
const LONG_MS: u64 = 600_000;

/// Hook that is installed for one coding agent.
pub(crate) struct Installed<'a> {
    server: &'a TestServer,
    folder: TempDir,
    /// Folder of the configuration and the key.
    hooks: PathBuf,
    cli: &'static str,
    root: PathBuf,
    config: Value,
    flags: Vec<&'static str>,
    env: Vec<(&'static str, &'static str)>,
}

/// Output of the hook.
#[derive(Debug)]
pub(crate) struct Answered {
    code: i32,
    out: String,
    err: String,
}

impl<'a> Installed<'a> {
    /// Installs the hook with a new agent key. Commands are not tried.
    pub(crate) async fn new(server: &'a TestServer, cli: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let hooks = folder.path().to_owned();
        Self::in_folder(server, cli, folder, hooks, false).await
    }

    /// Installs the hook as `hook install` does. Commands are tried.
    pub(crate) async fn tried(server: &'a TestServer, cli: &'static str) -> Self {
        let hooks = server.data().canonicalize().unwrap().join("hooks");
        fs::create_dir_all(&hooks).unwrap();
        Self::in_folder(server, cli, tempfile::tempdir().unwrap(), hooks, true).await
    }

    async fn in_folder(
        server: &'a TestServer,
        cli: &'static str,
        folder: TempDir,
        hooks: PathBuf,
        tries: bool,
    ) -> Self {
        let root = server.workspace().canonicalize().unwrap();
        let mut key = json!({"name": format!("{cli}-agent"), "role": "agent"});
        if tries {
            key["folder"] = json!(root);
        }
        let made = server.post("/v1/keys", &key).await;
        let found = fs::metadata(&root).unwrap();
        private(&hooks.join(format!("{cli}.key")), made.ok()["secret"].as_str().unwrap());
        let settings = root.join(".claude/settings.json");
        fs::create_dir_all(settings.parent().unwrap()).unwrap();
        fs::write(&settings, "{}").unwrap();
        let config = json!({
            "cli": cli,
            "server": server.base(),
            "key_file": hooks.join(format!("{cli}.key")),
            "root": root,
            "root_identity": {"device": found.dev(), "inode": found.ino()},
            "timeout_ms": LONG_MS,
            "program": real(),
            "protected": [server.data(), settings],
            "tries": tries,
        });
        let installed = Self { server, folder, hooks, cli, root, config, flags: Vec::new(), env: Vec::new() };
        installed.write();
        installed
    }

    /// Changes one member of the configuration.
    pub(crate) fn with(mut self, name: &str, value: Value) -> Self {
        self.config[name] = value;
        self.write();
        self
    }

    fn write(&self) {
        private(&self.config_file(), &self.config.to_string());
    }

    pub(crate) fn config_file(&self) -> PathBuf {
        self.hooks.join(format!("{}.json", self.cli))
    }

    /// Returns the home folder of the person.
    pub(crate) fn home(&self) -> PathBuf {
        self.server.data().with_file_name("home")
    }

    /// Returns the payload of a call in this agent's form.
    pub(crate) fn payload(&self, tool: &str, input: Value, id: &str) -> Value {
        let mut payload = match self.cli {
            "gemini" => json!({
                "session_id": "g-1", "transcript_path": "/t", "cwd": self.root, "hook_event_name": "BeforeTool",
                "timestamp": "2026-11-30T09:00:00Z", "tool_name": tool,
            }),
            "cursor" => json!({
                "conversation_id": "c-1", "generation_id": id, "hook_event_name": "preToolUse",
                "workspace_roots": [self.root], "cwd": self.root, "tool_name": tool,
            }),
            _ => json!({
                "session_id": "s-1", "turn_id": "t-1", "transcript_path": "/home/u/t.jsonl", "cwd": self.root,
                "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": tool,
                "tool_use_id": id,
            }),
        };
        payload["tool_input"] = input;
        payload
    }

    /// Returns the payload of a command line.
    pub(crate) fn line(&self, line: &str, id: &str) -> Value {
        let tool = match self.cli {
            "gemini" => "run_shell_command",
            "cursor" => "Shell",
            _ => "Bash",
        };
        self.payload(tool, json!({ "command": line }), id)
    }

    /// Starts the hook and sends the payload.
    pub(crate) async fn start(&self, payload: impl AsRef<[u8]>) -> Child {
        let mut command = Command::from(self.server.client_command());
        command.args(["hook", "run", self.cli, "--config"]).arg(self.config_file()).args(&self.flags);
        command.envs(self.env.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        // A hook that refuses its payload may end before it has read everything.
        let _ = input.write_all(payload.as_ref()).await;
        child
    }

    /// Runs the hook to its end.
    pub(crate) async fn run(&self, payload: &Value) -> Answered {
        ended(self.start(payload.to_string()).await).await
    }

    /// Runs the hook for a call about which a person decides.
    pub(crate) async fn decided(&self, payload: &Value, decision: &Value) -> (Value, Answered) {
        let child = self.start(payload.to_string()).await;
        let interrupt = self.open().await;
        self.server.decide(&interrupt, decision).await.ok();
        (interrupt, ended(child).await)
    }

    /// Waits for the one open interrupt.
    pub(crate) async fn open(&self) -> Value {
        eventually("one open interrupt", async || {
            let list = self.server.get("/v1/interrupts?status=open").await.ok();
            match list["items"].as_array().unwrap().as_slice() {
                [only] => Some(only.clone()),
                _ => None,
            }
        })
        .await
    }

    /// Returns all interrupts, the oldest first.
    pub(crate) async fn interrupts(&self) -> Vec<Value> {
        let list = self.server.get("/v1/interrupts?limit=200").await.ok();
        let mut items = list["items"].as_array().unwrap().clone();
        items.sort_by_key(|item| item["id"].to_string());
        items
    }
}

pub(crate) async fn ended(child: Child) -> Answered {
    let output = child.wait_with_output().await.unwrap();
    Answered {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Answered {
    /// Returns the one JSON document on standard output.
    pub(crate) fn json(&self) -> Value {
        assert_eq!((self.code, self.err.as_str(), self.out.lines().count()), (0, "", 1), "{self:?}");
        serde_json::from_str(&self.out).expect(&self.out)
    }

    /// Returns the decision of `PreToolUse` with its reason.
    pub(crate) fn decision(&self) -> (String, String) {
        let output = self.json()["hookSpecificOutput"].clone();
        let text = |name: &str| output[name].as_str().unwrap_or_default().to_owned();
        (text("permissionDecision"), text("permissionDecisionReason"))
    }

    /// Returns true if every coding agent stops its tool after this answer.
    pub(crate) fn stops(&self) -> bool {
        if self.code == 2 {
            return self.out.is_empty() && !self.err.trim().is_empty();
        }
        let Ok(output) = serde_json::from_str::<Value>(&self.out) else { return false };
        let specific = &output["hookSpecificOutput"];
        let denies = |value: &Value| *value == "deny";
        let has_reason = |value: &Value| value.as_str().is_some_and(|text| !text.trim().is_empty());
        self.code == 0
            && self.err.is_empty()
            && ((denies(&specific["permissionDecision"])
                && has_reason(&specific["permissionDecisionReason"]))
                || (denies(&specific["decision"]["behavior"])
                    && has_reason(&specific["decision"]["message"]))
                || (denies(&output["decision"]) && has_reason(&output["reason"]))
                || (denies(&output["permission"]) && has_reason(&output["agent_message"])))
    }
}

/// Writes a file that only its owner may read.
pub(crate) fn private(path: &Path, text: &str) {
    let mut file =
        fs::File::options().write(true).create(true).truncate(true).mode(0o600).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// Starts a server with the shipped starter rules.
pub(crate) async fn served() -> (TestServer, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("rules.yaml");
    let written = std::process::Command::new(real()).args(["hook", "rules"]).arg(&rules).output().unwrap();
    assert!(written.status.success() && written.stdout.is_empty(), "{written:?}");
    let setup = TestServer::setup().argument("--rules").argument(rules.to_str().unwrap());
    (setup.start().await, folder)
}
