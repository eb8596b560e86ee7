//! A temporary home directory for a coding agent, with settings, hooks and a project. The agent cannot read the home
//! directory of the developer.
//!
//! The agent can reach no host but this machine. The HTTP proxy of the agent is the scripted model, which refuses and
//! records all requests to other hosts.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::CodingAgent;
use super::model::{AgentModel, ScriptedCall};

/// Maximum time that one run of a coding agent may take.
const PATIENCE: Duration = Duration::from_mins(2);

/// A hook in the settings of a coding agent.
#[derive(Clone, Debug)]
pub struct AgentHook {
    /// Name that the coding agent's settings use for the event of the hook.
    pub event: &'static str,
    /// Command line that the coding agent starts as the hook.
    pub command: String,
    /// Seconds after which the coding agent stops waiting for the hook. `None` means the default of the agent.
    pub timeout: Option<u64>,
}

/// Protection of a coding agent against a tool call that the hook does not stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecondLine {
    /// The coding agent runs every tool without asking. Only the hook can stop a tool.
    Off,
    /// The coding agent asks a person or uses its sandbox, as it does for its users.
    On,
}

/// A temporary home directory for a coding agent, and the settings with which the agent is started.
pub struct AgentHome {
    agent: CodingAgent,
    folder: TempDir,
    hooks: Vec<AgentHook>,
    second_line: SecondLine,
    settings: Map<String, Value>,
    arguments: Vec<String>,
    environment: BTreeMap<String, OsString>,
    /// True if Codex also runs hooks that nobody has marked as trusted in `/hooks`.
    trusted: bool,
}

/// Result of one run of a coding agent.
#[derive(Debug)]
pub struct AgentRun {
    /// Exit code of the coding agent. `None` if a signal ended it.
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
    pub took: Duration,
    /// Results of the tool calls, as the coding agent sends them to the model.
    pub results: Vec<String>,
    /// Requests of the coding agent to other hosts, and requests for paths that are not part of a model API.
    pub strays: Vec<String>,
}

impl AgentHome {
    pub fn new(agent: CodingAgent) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["home", "project", "tmp"] {
            fs::create_dir(folder.path().join(name)).expect("a folder can be made");
        }
        Self {
            agent,
            folder,
            hooks: Vec::new(),
            second_line: SecondLine::Off,
            settings: Map::new(),
            arguments: Vec::new(),
            environment: BTreeMap::new(),
            trusted: true,
        }
    }

    /// Makes Codex skip hooks that nobody has marked as trusted, as it does for its users.
    pub fn untrusted(mut self) -> Self {
        self.trusted = false;
        self
    }

    pub fn hook(mut self, hook: AgentHook) -> Self {
        self.hooks.push(hook);
        self
    }

    /// Adds a hook that runs this command before each tool of the coding agent.
    pub fn gate(self, command: impl Into<String>) -> Self {
        let event = self.agent.before_tool();
        self.hook(AgentHook { event, command: command.into(), timeout: None })
    }

    pub fn second_line(mut self, second_line: SecondLine) -> Self {
        self.second_line = second_line;
        self
    }

    /// Sets a member in the settings file of Claude Code or Gemini CLI.
    pub fn setting(mut self, name: &str, value: Value) -> Self {
        self.settings.insert(name.to_owned(), value);
        self
    }

    pub fn argument(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    pub fn variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.to_owned(), value.into());
        self
    }

    /// Replaces all hooks in the settings of the coding agent, as a user does who edits the settings between two runs.
    pub fn replace_hooks(&mut self, hooks: Vec<AgentHook>) {
        self.hooks = hooks;
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the agent's `HOME`.
    pub fn home(&self) -> PathBuf {
        self.folder().join("home")
    }

    pub fn project(&self) -> PathBuf {
        self.folder().join("project")
    }

    /// Returns true if the project folder of the coding agent has this file.
    pub fn has(&self, file: &str) -> bool {
        self.project().join(file).exists()
    }

    /// Writes an executable script into the agent's home directory, and returns its path.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.folder().join(name);
        fs::write(&path, text).expect("a script can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be made executable");
        path
    }

    /// Runs the coding agent without a terminal. The model of the agent replies according to this script.
    pub fn run(&self, replies: Vec<Vec<ScriptedCall>>) -> AgentRun {
        self.start(&AgentModel::start(replies), &["do the task"])
    }

    /// Continues a session of Claude Code. The model replies according to this script.
    pub fn resume(&self, session: &str, replies: Vec<Vec<ScriptedCall>>) -> AgentRun {
        self.start(&AgentModel::start(replies), &["--resume", session])
    }

    fn start(&self, model: &AgentModel, prompt: &[&str]) -> AgentRun {
        self.write_settings(model.base());
        let (out, err) = (self.folder().join("out"), self.folder().join("err"));
        let mut command = Command::new(self.agent.program());
        command
            .args(self.agent_arguments())
            .args(&self.arguments)
            .args(prompt)
            .current_dir(self.project())
            .env_clear()
            .envs(self.agent_environment(model.base()))
            .envs(&self.environment)
            .stdin(Stdio::null())
            .stdout(File::create(&out).expect("a file for the output"))
            .stderr(File::create(&err).expect("a file for the errors"))
            .process_group(0);
        let begun = Instant::now();
        let mut child = command.spawn().expect("the agent starts");
        let group = Pid::from_child(&child);
        let status = loop {
            if let Some(status) = child.try_wait().expect("a process that was started") {
                break Some(status);
            }
            if begun.elapsed() > PATIENCE {
                break None;
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        // Hooks and tools that still run are ended together with the agent. The process group may be empty already.
        let _ = kill_process_group(group, Signal::KILL);
        let _ = child.wait();
        let read = |path: &Path| String::from_utf8_lossy(&fs::read(path).expect("its output")).into_owned();
        let (out, err) = (read(&out), read(&err));
        assert!(status.is_some(), "the agent does not end\n{out}\n{err}");
        AgentRun {
            code: status.and_then(|status| status.code()),
            out,
            err,
            took: begun.elapsed(),
            results: model.results(),
            strays: model.strays(),
        }
    }

    fn agent_arguments(&self) -> Vec<String> {
        let open = self.second_line == SecondLine::Off;
        let arguments: Vec<&str> = match (self.agent, open) {
            (CodingAgent::Claude, _) => {
                vec!["-p", "--model", "claude-sonnet-4-5", "--output-format", "json"]
            }
            (CodingAgent::Codex, open) => {
                let sandbox = if open { "danger-full-access" } else { "read-only" };
                let mut arguments = vec!["exec", "--skip-git-repo-check", "--json", "--sandbox", sandbox];
                // These features load lists from other hosts.
                for feature in ["apps", "plugins", "remote_plugin"] {
                    arguments.extend(["--disable", feature]);
                }
                if self.trusted {
                    arguments.push("--dangerously-bypass-hook-trust");
                }
                arguments
            }
            (CodingAgent::Gemini, open) => {
                let mode = if open { "yolo" } else { "default" };
                vec!["--model", "gemini-2.5-flash", "--output-format", "json", "--approval-mode", mode, "-p"]
            }
        };
        arguments.into_iter().map(str::to_owned).collect()
    }

    fn agent_environment(&self, model: &str) -> Vec<(&'static str, OsString)> {
        let mut environment: Vec<(&str, OsString)> = vec![
            ("PATH", std::env::var_os("PATH").unwrap_or_default()),
            ("HOME", self.home().into()),
            ("TMPDIR", self.folder().join("tmp").into()),
            ("LANG", "C.UTF-8".into()),
            ("TERM", "dumb".into()),
            ("NO_COLOR", "1".into()),
            ("HTTPS_PROXY", model.into()),
            ("HTTP_PROXY", model.into()),
            ("NO_PROXY", "127.0.0.1,localhost".into()),
        ];
        let own: &[(&str, &str)] = match self.agent {
            CodingAgent::Claude => &[
                ("ANTHROPIC_BASE_URL", model),
                ("ANTHROPIC_API_KEY", "scripted"),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
                ("DISABLE_AUTOUPDATER", "1"),
                ("DISABLE_ERROR_REPORTING", "1"),
                ("DISABLE_TELEMETRY", "1"),
            ],
            CodingAgent::Codex => &[("SCRIPTED_KEY", "scripted")],
            CodingAgent::Gemini => &[
                ("GEMINI_API_KEY", "scripted"),
                ("GOOGLE_GEMINI_BASE_URL", model),
                ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
            ],
        };
        environment.extend(own.iter().map(|(name, value)| (*name, value.into())));
        environment
    }

    fn write_settings(&self, model: &str) {
        let write = |path: &str, text: String| {
            let path = self.home().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for the settings");
            fs::write(path, text).expect("the settings can be written");
        };
        let mut hooks = Map::new();
        for hook in &self.hooks {
            let mut handler = json!({"type": "command", "command": hook.command});
            if let Some(seconds) = hook.timeout {
                handler["timeout"] = self.agent.timeout(seconds).into();
            }
            let groups = hooks.entry(hook.event).or_insert_with(|| json!([]));
            groups.as_array_mut().expect("a list").push(json!({"hooks": [handler]}));
        }
        match self.agent {
            CodingAgent::Claude => {
                let mut settings = json!({ "hooks": hooks });
                if self.second_line == SecondLine::Off {
                    settings["permissions"] =
                        json!({"allow": ["Bash", "Edit", "Write", "NotebookEdit", "WebFetch"]});
                }
                self.add_settings(&mut settings);
                write(".claude/settings.json", settings.to_string());
            }
            CodingAgent::Codex => {
                let provider = format!(
                    "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\napproval_policy = \"never\"\n\
                     check_for_update_on_startup = false\n\
                     [analytics]\nenabled = false\n[feedback]\nenabled = false\n\
                     [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{model}/v1\"\n\
                     wire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\nrequest_max_retries = 0\n\
                     stream_max_retries = 0\n"
                );
                write(".codex/config.toml", provider);
                write(".codex/hooks.json", json!({ "hooks": hooks }).to_string());
            }
            CodingAgent::Gemini => {
                let mut settings = json!({
                    "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
                    "privacy": {"usageStatisticsEnabled": false},
                    "security": {"auth": {"selectedType": "gemini-api-key"}},
                    "telemetry": {"enabled": false},
                    "hooks": hooks,
                });
                self.add_settings(&mut settings);
                write(".gemini/settings.json", settings.to_string());
            }
        }
    }

    fn add_settings(&self, settings: &mut Value) {
        for (name, value) in &self.settings {
            settings[name] = value.clone();
        }
    }
}
