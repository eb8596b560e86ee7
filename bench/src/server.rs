//! The two servers as processes: started, found, measured, ended.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::cycle::WORKFLOW_FILE;

/// The name of the hidden verb that starts the loop.
pub(crate) const LOOP_VERB: &str = "serve-loop";

/// Where a server listens and how it lets one in.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) operator: String,
    pub(crate) agent: String,
}

/// A server that runs until this is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) target: Target,
    /// Where its database is.
    pub(crate) data: PathBuf,
}

/// The line that both print once they listen.
#[derive(Deserialize)]
struct Ready {
    listening: String,
    token: String,
    agent_token: String,
}

impl Server {
    /// Ours: the release binary.
    pub(crate) fn ours(binary: &Path, folder: &Path) -> Result<Self> {
        let (data, workflows) = (folder.join("ours"), folder.join("workflows"));
        fs::create_dir_all(&workflows)?;
        fs::write(workflows.join("one-checkpoint.yaml"), WORKFLOW_FILE)?;
        let mut command = Command::new(binary);
        command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--data"]).arg(&data);
        command.arg("--workflows").arg(&workflows);
        Self::start(command, data)
    }

    /// The hand-written loop: this program once more.
    pub(crate) fn hand_written(folder: &Path, commits: u32) -> Result<Self> {
        let data = folder.join("loop");
        fs::create_dir_all(&data)?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(LOOP_VERB).arg("--data").arg(&data).args(["--commits", &commits.to_string()]);
        Self::start(command, data)
    }

    fn start(mut command: Command, data: PathBuf) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{} does not start", command.get_program().display()))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        // From here on it ends with us, whatever happens.
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let target = Target { address: nowhere, operator: String::new(), agent: String::new() };
        let mut server = Self { child, target, data };
        let ready: Ready = serde_json::from_str(&line)
            .with_context(|| format!("{} said `{}`", command.get_program().display(), line.trim()))?;
        let address = ready.listening.strip_prefix("http://").unwrap_or(&ready.listening).parse()?;
        server.target = Target { address, operator: ready.token, agent: ready.agent_token };
        Ok(server)
    }

    /// Resident memory now, and at its highest, in bytes.
    pub(crate) fn memory(&self) -> Result<(u64, u64)> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<u64>().ok().map(|kb| kb * 1024)
        };
        field("VmRSS:").zip(field("VmHWM:")).context("the kernel says nothing of the server's memory")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; its data is thrown away in any case.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
