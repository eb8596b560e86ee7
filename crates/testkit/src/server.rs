//! Runs the real program as a server with directories, a port and tokens of its own. A test can kill and restart it.
//!
//! A test server ends only processes that it has started itself. `client.rs` sends requests, and `program.rs` finds the
//! binary.

mod client;
mod program;

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tokio::time::Instant;

pub use client::{Answer, eventually, eventually_for};
pub use program::{aborting, other_version, real};

use crate::model::ScriptedModel;

/// Maximum time that a test waits for the server before it fails.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// Configuration of a test server that was not started yet.
#[derive(Clone, Debug)]
pub struct Setup {
    program: PathBuf,
    /// Files in the server's directory of workflows: relative paths and contents.
    workflows: Vec<(String, String)>,
    base_url: Option<String>,
    env: Vec<(String, String)>,
    arguments: Vec<String>,
    channels: Option<String>,
    people: Option<String>,
    data: Option<PathBuf>,
    leads_group: bool,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            program: real(),
            workflows: Vec::new(),
            base_url: None,
            env: Vec::new(),
            arguments: Vec::new(),
            channels: None,
            people: None,
            data: None,
            leads_group: false,
        }
    }
}

impl Setup {
    /// Makes the test start this program as the server instead of `holdshort`. The program must accept the arguments of
    /// `holdshort`.
    pub fn program(self, program: PathBuf) -> Self {
        Self { program, ..self }
    }

    /// Adds a workflow to the server. If no workflow is added, the server has the shipped workflows.
    pub fn workflow(mut self, name: &str, yaml: &str) -> Self {
        self.workflows.push((format!("{name}.yaml"), yaml.to_owned()));
        self
    }

    /// Adds a workflow to the server, in which agents act according to this rehearsal script.
    pub fn rehearsed(mut self, name: &str, yaml: &str, script: &str) -> Self {
        self.workflows.push((format!("{name}/workflow.yaml"), yaml.to_owned()));
        self.workflows.push((format!("{name}/rehearsal.yaml"), script.to_owned()));
        self
    }

    /// Sets the model that the server uses. If no model is set, agents act according to rehearsal scripts.
    pub fn model(self, model: &ScriptedModel) -> Self {
        Self { base_url: Some(model.base_url().to_owned()), ..self }
    }

    pub fn without_model(self) -> Self {
        Self { base_url: None, ..self }
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the content of the server's channels file.
    pub fn channels(self, yaml: &str) -> Self {
        Self { channels: Some(yaml.to_owned()), ..self }
    }

    /// Sets the content of the server's people file.
    pub fn people(self, yaml: &str) -> Self {
        Self { people: Some(yaml.to_owned()), ..self }
    }

    /// Makes the server use this database for the journal. `node` is the name of the server as a node.
    pub fn database(mut self, url: &str, node: &str) -> Self {
        self.arguments.extend(["--store", url, "--node", node].map(str::to_owned));
        self
    }

    /// Sets how many decisions a person may make per minute on the server.
    pub fn decision_rate(mut self, rate: u32) -> Self {
        self.arguments.extend(["--decision-rate".to_owned(), rate.to_string()]);
        self
    }

    /// Makes the server allow callbacks to addresses in a network that is not public.
    pub fn callback_allow_networks(mut self, range: &str) -> Self {
        self.arguments.extend(["--callback-allow-networks", range].map(str::to_owned));
        self
    }

    /// Sets to which addresses the server sends callbacks: `public`, `allowed` or `off`.
    pub fn callbacks(mut self, reach: &str) -> Self {
        self.arguments.extend(["--callbacks", reach].map(str::to_owned));
        self
    }

    /// Sets the interval at which the server publishes checkpoints, rounded down to seconds.
    pub fn checkpoint_every(mut self, every: Duration) -> Self {
        self.arguments.extend(["--checkpoint-every".to_owned(), format!("{}s", every.as_secs())]);
        self
    }

    /// Sets for how long a lease of the server is valid, rounded down to seconds. If a node does not renew its lease
    /// within this time, other nodes take over its runs.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.arguments.extend(["--lease".to_owned(), format!("{}s", lease.as_secs())]);
        self
    }

    /// Adds an argument to the command `serve`.
    pub fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Makes the server use this folder as the data folder, instead of a temporary one.
    pub fn data(self, data: &Path) -> Self {
        Self { data: Some(data.to_owned()), ..self }
    }

    /// Makes the test server the leader of a process group. A shell does the same for a program in a terminal.
    pub fn in_a_terminal(self) -> Self {
        Self { leads_group: true, ..self }
    }

    /// Starts the server. If the server does not start, panics with its standard error.
    pub async fn start(self) -> TestServer {
        let mut server = self.stopped();
        server.start().await;
        server
    }

    /// Creates the directories of the server, but starts no process.
    pub fn stopped(self) -> TestServer {
        let folder =
            tempfile::Builder::new().prefix("holdshort-test-").tempdir().expect("a temporary folder");
        for name in ["data", "home", "tmp", "workspace", "workflows"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        for (name, text) in &self.workflows {
            let path = folder.path().join("workflows").join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file of a workflow");
        }
        let http = holdshort_http::plain().no_proxy().build().expect("a client");
        TestServer { setup: self, folder, http, running: None, stderr: Arc::default() }
    }
}

/// Server under test: the process of a real program, with its directories.
#[derive(Debug)]
pub struct TestServer {
    setup: Setup,
    folder: TempDir,
    http: reqwest::Client,
    running: Option<Running>,
    /// The text that all processes of this server have written to standard error.
    stderr: Arc<Mutex<String>>,
}

#[derive(Debug)]
struct Running {
    child: Child,
    base: String,
    token: String,
    agent_token: String,
}

impl TestServer {
    pub fn setup() -> Setup {
        Setup::default()
    }

    /// Returns the directory that runs of the server use as their workspace.
    pub fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    pub fn data(&self) -> PathBuf {
        self.setup.data.clone().unwrap_or_else(|| self.folder.path().join("data"))
    }

    /// Returns the base URL of the server, `http://127.0.0.1:PORT`. Each start of the server uses another port.
    pub fn base(&self) -> &str {
        &self.running().base
    }

    pub fn pid(&self) -> u32 {
        self.running().child.id()
    }

    pub fn token(&self) -> &str {
        &self.running().token
    }

    pub fn agent_token(&self) -> &str {
        &self.running().agent_token
    }

    /// Waits until the server has written this text to standard error. A thread reads standard error, so a line may
    /// arrive later than the HTTP response that it belongs to.
    pub async fn wait_for_log(&self, text: &str) {
        eventually(&format!("the log says {text:?}"), async || self.stderr().contains(text).then_some(()))
            .await;
    }

    /// Returns the text that all processes of the server have written to standard error so far.
    pub fn stderr(&self) -> String {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Starts a process that uses the directories of this server. If the process does not start, panics with its
    /// standard error.
    pub async fn start(&mut self) {
        if let Err(status) = self.try_start().await {
            panic!("the server did not start: {status}\n{}", self.stderr());
        }
    }

    /// Starts a process that uses the directories of this server. If the process ends before it accepts connections,
    /// returns its exit status as the error.
    pub async fn try_start(&mut self) -> Result<(), ExitStatus> {
        assert!(self.running.is_none(), "it runs already");
        let mut child = self.command().spawn().expect("the program starts");
        let stdout = child.stdout.take().expect("a pipe");
        let stderr = child.stderr.take().expect("a pipe");
        let kept = self.stderr.clone();
        let keeping = thread::spawn(move || keep(stderr, &kept));
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                // Only the first line has a receiver. The thread reads all other lines too, so that the process never
                // blocks on a full pipe.
                let _ = sender.send(line);
            }
        });
        let line = tokio::task::spawn_blocking(move || lines.recv_timeout(PATIENCE)).await.expect("no panic");
        let Ok(line) = line else {
            drop(child.kill());
            let ended = child.wait().expect("a process that was started");
            // The last lines of standard error contain the reason, so the test waits for them.
            keeping.join().expect("no panic");
            return Err(ended);
        };
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        let field =
            |name: &str| told[name].as_str().unwrap_or_else(|| panic!("no {name}: {line}")).to_owned();
        let (base, token, agent_token) = (field("listening"), field("token"), field("agent_token"));
        self.running = Some(Running { child, base, token, agent_token });
        Ok(())
    }

    fn command(&self) -> Command {
        let mut command = self.client_command();
        command.args(["serve", "--json", "--listen", "127.0.0.1:0"]);
        if !self.setup.workflows.is_empty() {
            command.arg("--workflows").arg(self.folder.path().join("workflows"));
        }
        if let Some(base_url) = &self.setup.base_url {
            command.args(["--model", "scripted", "--base-url", base_url]);
        }
        if let Some(yaml) = &self.setup.channels {
            let path = self.folder.path().join("channels.yaml");
            std::fs::write(&path, yaml).expect("a channels file");
            command.arg("--channels").arg(path);
        }
        if let Some(yaml) = &self.setup.people {
            let path = self.folder.path().join("people.yaml");
            std::fs::write(&path, yaml).expect("a people file");
            command.arg("--people").arg(path);
        }
        command.args(&self.setup.arguments);
        command.envs(self.setup.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if self.setup.leads_group {
            command.process_group(0);
        }
        command
    }

    /// Returns a command that runs the program with the data folder of this server. The configuration of the developer
    /// has no effect on the command.
    pub fn client_command(&self) -> Command {
        let mut command = Command::new(&self.setup.program);
        let foreign = [
            "OPENAI_",
            "ANTHROPIC_",
            "GEMINI_",
            "GOOGLE_",
            "HOLDSHORT_",
            "OTEL_",
            "HTTP",
            "http",
            "ALL_",
            "all_",
        ];
        for (name, _) in std::env::vars_os() {
            if foreign.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        command.env("HOME", self.folder.path().join("home")).env("HOLDSHORT_DATA", self.data());
        // The temporary files of a killed server are removed together with the directory of the test.
        command.env("TMPDIR", self.folder.path().join("tmp"));
        command.current_dir(self.folder.path());
        command
    }

    /// Sends SIGKILL to the server. For its data, this is like a power failure.
    pub fn kill(&mut self) {
        if let Some(mut running) = self.running.take() {
            drop(running.child.kill());
            running.child.wait().expect("a process that was started");
        }
    }

    /// Sends SIGKILL to the server, and then starts it again with the same directories.
    pub async fn restart(&mut self) {
        self.kill();
        self.start().await;
    }

    /// Sends a signal to the server. `name` is the name of the signal without `SIG`, for example `STOP` or `CONT`.
    pub fn signal(&self, name: &str) {
        Self::kill_with(name, &self.running().child.id().to_string());
    }

    /// Sends SIGINT to the process group of the server, as a terminal does when a person presses Ctrl-C.
    pub fn press_ctrl_c(&self) {
        assert!(self.setup.leads_group, "it is in no terminal");
        Self::kill_with("INT", &format!("-{}", self.running().child.id()));
    }

    fn kill_with(name: &str, process: &str) {
        let told = Command::new("kill").args([&format!("-{name}"), "--", process]).status();
        assert!(told.is_ok_and(|status| status.success()), "the server can be told {name}");
    }

    /// Sends SIGTERM to the server and waits until the process ends.
    pub async fn stop(&mut self) -> ExitStatus {
        self.signal("TERM");
        let Running { mut child, .. } = self.running.take().expect("a server that runs");
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = child.try_wait().expect("a process that was started") {
                return status;
            }
            if Instant::now() > deadline {
                drop(child.kill());
                panic!("the server does not stop\n{}", self.stderr());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until the process of the server ends by itself. After that, the server can be started again.
    pub async fn wait_until_ended(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let running = self.running.as_mut().expect("a server that runs");
            if let Some(status) = running.child.try_wait().expect("a process that was started") {
                self.running = None;
                return status;
            }
            assert!(Instant::now() < deadline, "the server does not end");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub fn change(&mut self, change: impl FnOnce(Setup) -> Setup) {
        self.setup = change(self.setup.clone());
    }

    fn running(&self) -> &Running {
        self.running.as_ref().unwrap_or_else(|| panic!("the server does not run\n{}", self.stderr()))
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.kill();
        if thread::panicking() {
            eprintln!("--- the server's standard error ---\n{}", self.stderr());
        }
    }
}

fn keep(mut from: impl Read, to: &Mutex<String>) {
    let mut buffer = [0; 4096];
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        to.lock().unwrap_or_else(PoisonError::into_inner).push_str(&String::from_utf8_lossy(&buffer[..n]));
    }
}
