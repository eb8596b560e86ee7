//! A temporary home directory for one test. The program `holdshort` writes all its files into this directory.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::server::real;

/// Environment variables that child processes of a test do not inherit. Therefore the configuration of the developer
/// has no effect on tests.
const FOREIGN: [&str; 23] = [
    "CREDENTIALS_DIRECTORY",
    "OPENAI_API_KEY_FILE",
    "ANTHROPIC_API_KEY_FILE",
    "GEMINI_API_KEY_FILE",
    "GOOGLE_API_KEY_FILE",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "HOLDSHORT_MODEL",
    "HOLDSHORT_SERVER",
    "HOLDSHORT_TOKEN",
    "HOLDSHORT_DATA",
    "HOLDSHORT_STORE",
    "HOLDSHORT_LOG",
    "HOLDSHORT_LOG_FORMAT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "VISUAL",
    "EDITOR",
    "CLICOLOR_FORCE",
    "XDG_DATA_HOME",
];

pub struct Home {
    folder: TempDir,
}

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}

impl Home {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn data(&self) -> PathBuf {
        self.path().join(".local/share/holdshort")
    }

    /// Returns the environment variables that a child process of the test gets.
    pub fn environment(&self) -> Vec<(String, String)> {
        let home = self.path().to_str().unwrap().to_owned();
        let temporary = self.path().join("tmp");
        std::fs::create_dir_all(&temporary).unwrap();
        let temporary = temporary.to_str().unwrap().to_owned();
        // The directory of the binary is on PATH, as after an installation. Therefore messages of the binary name the
        // program without a path.
        let installed = real().parent().unwrap().display().to_string();
        let path = format!("{installed}:{}", std::env::var("PATH").unwrap_or_default());
        let (no_color, term) = ("1".to_owned(), "xterm".to_owned());
        [("HOME", home), ("TMPDIR", temporary), ("PATH", path), ("NO_COLOR", no_color), ("TERM", term)]
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec()
    }

    pub fn without() -> &'static [&'static str] {
        &FOREIGN
    }

    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        for name in FOREIGN {
            command.env_remove(name);
        }
        command.envs(self.environment()).stdin(Stdio::null());
        command
    }

    /// Runs the program `holdshort` without a terminal, until it ends.
    pub fn run(&self, arguments: &[&str]) -> CommandOutput {
        CommandOutput::from_output(self.command(real()).args(arguments).output().unwrap())
    }

    /// Runs the program `holdshort` with `--json`, expects that it succeeds, and returns the JSON document.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.run(&[arguments, &["--json"]].concat());
        assert_eq!((ran.code, &*ran.err), (0, ""), "{arguments:?}");
        serde_json::from_str(&ran.out).unwrap()
    }

    /// Returns the only open interrupt of the server. Panics unless exactly one interrupt is open.
    pub fn open_interrupt(&self) -> Value {
        let inbox = self.json(&["inbox"]);
        let [interrupt] = inbox.as_array().unwrap().as_slice() else { panic!("not one: {inbox}") };
        interrupt.clone()
    }

    /// Starts a server that uses the data folder of this temporary home directory.
    pub fn serve(&self, arguments: &[&str]) -> Serving {
        self.serve_at("127.0.0.1:0", arguments)
    }

    pub fn serve_at(&self, address: &str, arguments: &[&str]) -> Serving {
        let mut command = self.command(real());
        command.args(["serve", "--listen", address, "--json"]).args(arguments);
        Self::start(command)
    }

    /// Starts a server that writes a log of the level `debug` to a file.
    pub fn serve_logging(&self, log: &Path, address: &str, arguments: &[&str]) -> Serving {
        let mut command = self.command(real());
        command.args(["serve", "--listen", address, "--json"]).args(arguments);
        command.env("HOLDSHORT_LOG", "debug").stderr(std::fs::File::create(log).unwrap());
        Self::start(command)
    }

    fn start(mut command: Command) -> Serving {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut out, &mut line).unwrap();
        Serving { child, started: serde_json::from_str(&line).expect(&line), out }
    }
}

pub struct Serving {
    child: Child,
    pub started: Value,
    out: std::io::BufReader<std::process::ChildStdout>,
}

impl Serving {
    /// Sends SIGTERM to the server. Returns its exit code, and its whole output except the first line.
    pub fn stop(mut self) -> (i32, String) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let code = self.child.wait().unwrap().code().unwrap();
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.out, &mut rest).unwrap();
        (code, rest)
    }

    /// Kills the server with SIGKILL. For its data, this is like a power failure.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // If the process has already ended, as in most tests, the kill fails harmlessly.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Debug)]
pub struct CommandOutput {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl CommandOutput {
    pub fn from_output(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Waits until `is_so` returns true. After one minute, panics with the text `what`.
pub fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_mins(1);
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        sleep(Duration::from_millis(100));
    }
}
