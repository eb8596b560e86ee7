//! Processes of Holdshort and of the hand-written loop: their start, figures and end.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;

use crate::cycle::WORKFLOW_FILE;
use crate::hand::Database;

/// Name of the hidden command that starts the hand-written loop.
pub(crate) const LOOP_VERB: &str = "serve-loop";

#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) operator: String,
    pub(crate) agent: String,
}

/// A measured server process. Dropping it kills the process.
pub(crate) struct Server {
    child: Child,
    pub(crate) target: Target,
    pub(crate) data: PathBuf,
    /// Time from the start of the server's process until the server printed its address.
    pub(crate) ready_after: Duration,
}

/// JSON line that a server prints when it listens.
#[derive(Deserialize)]
struct Ready {
    listening: String,
    token: String,
    agent_token: String,
}

impl Server {
    /// Starts the release binary of Holdshort, with its journal in SQLite.
    pub(crate) fn ours(binary: &Path, folder: &Path) -> Result<Self> {
        let (command, data) = ours(binary, folder)?;
        Self::start(command, data)
    }

    pub(crate) fn with_model(binary: &Path, folder: &Path, base_url: &str) -> Result<Self> {
        let (mut command, data) = ours(binary, folder)?;
        command.args(["--model", "bench", "--base-url", base_url]);
        Self::start(command, data)
    }

    pub(crate) fn ours_on(binary: &Path, folder: &Path, database: &str) -> Result<Self> {
        let (mut command, data) = ours(binary, folder)?;
        command.args(["--store", database]);
        Self::start(command, data)
    }

    pub(crate) fn hand_written(folder: &Path, database: &Database) -> Result<Self> {
        let data = folder.join("loop");
        fs::create_dir_all(&data)?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(LOOP_VERB);
        match database {
            Database::Folder { folder, commits } => {
                command.arg("--data").arg(folder).args(["--commits", &commits.to_string()])
            }
            Database::Url { url, connections } => {
                command.args(["--store", url, "--connections", &connections.to_string()])
            }
        };
        Self::start(command, data)
    }

    fn start(mut command: Command, data: PathBuf) -> Result<Self> {
        let began = Instant::now();
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} does not start", command.get_program().display()))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        // `server` is created now: from here on, dropping it kills the process, even after an error.
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let target = Target { address: nowhere, operator: String::new(), agent: String::new() };
        let mut server = Self { child, target, data, ready_after: began.elapsed() };
        let ready: Ready = serde_json::from_str(&line)
            .with_context(|| format!("{} said `{}`", command.get_program().display(), line.trim()))?;
        let address = ready.listening.strip_prefix("http://").unwrap_or(&ready.listening).parse()?;
        server.target = Target { address, operator: ready.token, agent: ready.agent_token };
        Ok(server)
    }

    /// Sends SIGTERM to the measured server and waits until the process has ended. The write-ahead log is then empty.
    pub(crate) fn stop(mut self) -> Result<()> {
        kill_process(Pid::from_child(&self.child), Signal::TERM)?;
        let status = self.child.wait()?;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }

    /// Returns the current and the peak resident memory of the server process, in bytes.
    pub(crate) fn memory(&self) -> Result<(u64, u64)> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<u64>().ok().map(|kb| kb * 1024)
        };
        field("VmRSS:").zip(field("VmHWM:")).context("the kernel does not report the server's memory")
    }

    pub(crate) fn processor(&self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The process name, in parentheses, precedes these fields. It may contain any character.
        let (_, fields) =
            stat.rsplit_once(") ").context("the kernel does not report the server's processor time")?;
        let ticks =
            fields.split(' ').skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum::<u64>();
        Ok(Duration::from_secs(ticks) / u32::try_from(rustix::param::clock_ticks_per_second())?)
    }

    /// Waits until the server process has at most `most` connections. Returns false if it has more after `longest`.
    pub(crate) async fn connections_fall_to(&self, most: usize, longest: Duration) -> Result<bool> {
        let began = Instant::now();
        while self.connections()? > most {
            if began.elapsed() > longest {
                return Ok(false);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(true)
    }

    /// Returns the number of open sockets of the server process, a few of which are not connections of clients.
    pub(crate) fn connections(&self) -> Result<usize> {
        let files = fs::read_dir(format!("/proc/{}/fd", self.child.id()))?;
        let links = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
        Ok(links.filter(|link| link.to_string_lossy().starts_with("socket:")).count())
    }
}

fn ours(binary: &Path, folder: &Path) -> Result<(Command, PathBuf)> {
    let (data, workflows) = (folder.join("ours"), folder.join("workflows"));
    fs::create_dir_all(&workflows)?;
    fs::write(workflows.join("one-checkpoint.yaml"), WORKFLOW_FILE)?;
    let mut command = Command::new(binary);
    command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--data"]).arg(&data);
    command.arg("--workflows").arg(&workflows);
    // The rate limits are high, so that the bench does not measure them.
    command.args(["--agent-requests", "1000000", "--decision-rate", "1000000"]);
    Ok((command, data))
}

impl Drop for Server {
    fn drop(&mut self) {
        // If the process has already ended, the kill fails. This is harmless, because its data is deleted anyway.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
