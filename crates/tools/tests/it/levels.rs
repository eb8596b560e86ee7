//! The guarantees of each sandbox level. The tests talk to the stages of the sandbox directly, as the server does.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use holdshort_core::tool::{InspectionOutcome, SandboxLevel};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::bench::{Bench, PROGRAM, call, is_running, until};

struct Stages {
    scratch: TempDir,
    level: &'static str,
}

impl Stages {
    fn new(level: &'static str) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        for folder in ["view", "private", "private/home", "workspace"] {
            fs::create_dir(scratch.path().join(folder)).unwrap();
        }
        fs::write(scratch.path().join("secret"), "reached").unwrap();
        Self { scratch, level }
    }

    /// Starts a command line in the sandbox. Returns the first stage of the sandbox, and the server's end of the
    /// connection to this stage.
    fn start(&self, line: &str) -> (Child, UnixStream) {
        let at = |folder: &str| self.scratch.path().join(folder);
        let plan = json!({
            "command": line, "cwd": at("workspace"), "level": self.level, "network": false,
            "workspace": at("workspace"), "scratch": at(""), "tool_folders": [], "hidden": [],
            "environment": {"PATH": "/usr/bin:/bin"}, "cpu_s": 100,
            "effect": "workspace", "identities": [], "write_bytes": 1_u64 << 40,
        });
        let (ours, theirs) = UnixStream::pair().unwrap();
        let child = Command::new(PROGRAM)
            .args(["sandbox-exec", "start", &plan.to_string()])
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        ours.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        (child, ours)
    }

    /// Runs a command line in the sandbox until it ends. Returns the report of the sandbox.
    fn run(&self, line: &str) -> Value {
        let (mut child, mut ours) = self.start(line);
        let mut report = String::new();
        ours.read_to_string(&mut report).unwrap();
        child.wait().unwrap();
        let mut said = report.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        said.find(|said| *said != "begins" && said.get("left").is_none()).unwrap_or_default()
    }
}

fn exited(code: i32) -> Value {
    json!({"exited": {"code": code}})
}

#[test]
fn files_and_connections_are_confined_without_namespaces() {
    let stages = Stages::new("partial");
    let secret = stages.scratch.path().join("secret");
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let cases = [
        (
            "echo x > here && echo y > $TMPDIR/x && echo z > $HOME/x && cat /etc/passwd /usr/bin/env"
                .to_owned(),
            0,
        ),
        (format!("cat {}", secret.display()), 1),
        (format!("echo x > {}", secret.display()), 2),
        ("echo x > /usr/x-holdshort".to_owned(), 2),
        ("ls / || ls /root || ls /proc || cat /proc/1/environ || cat /etc/shadow".to_owned(), 1),
        (format!("bash -c 'echo knock > /dev/tcp/127.0.0.1/{port}'"), 1),
        (format!("kill -0 {}", std::process::id()), 1),
    ];
    for (line, code) in cases {
        assert_eq!(stages.run(&line), exited(code), "{line}");
    }
    assert_eq!(fs::read_to_string(&secret).unwrap(), "reached");
}

#[test]
fn what_stays_behind_is_gone_at_every_level() {
    for (n, level) in ["full", "partial", "none"].into_iter().enumerate() {
        let marker = format!("{}.3{n}", 400_000 + std::process::id());
        let line = format!(
            "setsid sh -c 'setsid sleep {marker} & touch up' & while ! [ -e up ]; do :; done; exit 6"
        );
        assert_eq!(Stages::new(level).run(&line), exited(6), "{level}");
        assert!(!is_running(&marker), "{level}");
    }
}

#[test]
fn a_server_that_is_gone_stops_everything_at_every_level() {
    for (n, level) in ["full", "partial", "none"].into_iter().enumerate() {
        let marker = format!("{}.6{n}", 200_000 + std::process::id());
        let stages = Stages::new(level);
        let (mut child, line) = stages.start(&format!("setsid sleep {marker} & wait"));
        until("the command starts", || is_running(&marker));
        // Closes the connection, as the kernel does when the server is killed.
        drop(line);
        child.wait().unwrap();
        assert!(!is_running(&marker), "{level}");
    }
}

#[test]
fn what_forks_wildly_is_stopped_at_every_level() {
    for (n, level) in ["full", "partial", "none"].into_iter().enumerate() {
        let marker = format!("{}.4{n}", 300_000 + std::process::id());
        // Each process starts two more, at ten levels: at most 2047 processes if the sandbox does not stop them.
        let line = format!(
            "grow() {{ [ $1 = 0 ] || {{ grow $(($1-1)) & grow $(($1-1)) & sleep {marker}; }}; }}; grow 10"
        );
        assert_eq!(Stages::new(level).run(&line), json!("too_many_processes"), "{level}");
        assert!(!is_running(&marker), "{level}");
    }
}

#[test]
fn a_plan_that_cannot_be_carried_out_runs_nothing() {
    let stages = Stages::new("full");
    fs::remove_dir(stages.scratch.path().join("view")).unwrap();
    let report = stages.run("touch here");
    assert!(
        report["failed"]["why"].as_str().unwrap().starts_with("the sandbox's view of the file system"),
        "{report}"
    );
    assert!(!stages.scratch.path().join("workspace/here").exists());
}

/// Makes a sandbox program that fails at its first start, as on a busy host, and records each start.
fn busy_program(folder: &Path) -> PathBuf {
    let program = folder.join("program");
    let script = format!(
        "#!/bin/sh\necho x >> {log}\n[ $(wc -l < {log}) = 1 ] && exit 1\nexec {PROGRAM} \"$@\"\n",
        log = folder.join("starts").display(),
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

#[tokio::test]
async fn the_level_is_found_once_per_process_and_survives_a_probe_that_fails() {
    let folder = tempfile::tempdir().unwrap();
    let program = busy_program(folder.path());
    let starts = || fs::read_to_string(folder.path().join("starts")).unwrap().lines().count();
    let bench = Bench::with(|settings| settings.sandbox_program.clone_from(&program));
    let shown = bench.ready("run_command", json!({"command": "true"})).await.sandbox;
    assert_eq!(shown, Some(SandboxLevel::Full));
    let probes = starts();
    let others = bench.tools_with(|settings| settings.sandbox_program.clone_from(&program));
    let call = call("run_command", json!({"command": "true"}));
    assert!(matches!(others.inspect(&call).await.inspected, InspectionOutcome::Ready(_)));
    assert_eq!(starts(), probes, "another run probed the host again");
}
