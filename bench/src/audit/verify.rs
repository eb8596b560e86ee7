//! Runs `audit verify` once, in a separate process without a server, and measures time and memory.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::load::count;

/// Interval between two reads of the audit process's memory. Each read returns the peak so far, so only memory that is
/// allocated after the last read is missed.
const LOOK: Duration = Duration::from_millis(2);

pub(super) struct Audit {
    pub(super) events: u64,
    pub(super) streams: u64,
    pub(super) took: Duration,
    /// Peak resident memory of the audit process, in bytes.
    pub(super) memory: u64,
}

impl Audit {
    pub(super) fn per_second(&self) -> f64 {
        count(self.events) / self.took.as_secs_f64()
    }
}

#[derive(Deserialize)]
struct Report {
    intact: bool,
    events: u64,
    streams: u64,
}

pub(super) fn verify(binary: &Path, data: &Path, url: Option<&str>) -> Result<Audit> {
    let mut command = Command::new(binary);
    command.args(["--json", "--data"]).arg(data).args(["audit", "verify"]);
    if let Some(url) = url {
        command.args(["--store", url]);
    }
    let began = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let (mut memory, mut took) = (0, Duration::ZERO);
    while child.try_wait()?.is_none() {
        memory = highest(&status).unwrap_or(0).max(memory);
        std::thread::sleep(LOOK);
        took = began.elapsed();
    }
    let mut printed = String::new();
    child.stdout.take().context("its output is piped")?.read_to_string(&mut printed)?;
    let report: Report = serde_json::from_str(&printed)
        .with_context(|| format!("`audit verify` printed `{printed}`, which is not the expected JSON"))?;
    ensure!(report.intact, "the journal is not intact: {printed}");
    Ok(Audit { events: report.events, streams: report.streams, took, memory })
}

fn highest(status: &str) -> Option<u64> {
    let status = fs::read_to_string(status).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kb| kb * 1024)
}
