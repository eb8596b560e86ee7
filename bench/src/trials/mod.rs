//! `trials`: the cost of trying a command (running it in isolation) before it is approved. Measures the tools in this
//! process, without a server: runs and tries `true` in workspaces of two sizes, commits many files, and counts the
//! bytes that an edit adds to the journal.
//!
//! `report.rs` writes the table. `oops.rs` measures another program with the same purpose.

mod oops;
mod report;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use holdshort_core::digest::Digest;
use holdshort_core::time::Timestamp;
use holdshort_core::tool::{CommandEffect, Outcome};
use holdshort_store::{Blob, Bodies, Sqlite};
use holdshort_tools::{Call, CommandTrialOutcome, Committed, Settings, Tools, Workspace};
use serde_json::json;

use self::oops::{Measured, Oops};
use crate::disk;
use crate::facts::Facts;
use crate::load::count;
use crate::results::{self, Part};

/// Number of files per folder of a measured workspace.
const FOLDER: usize = 100;
/// Number of files that are committed in one round.
const COMMITTED: usize = 1_000;
/// Size in bytes of the file that is edited in a round, before and after the edit.
const EDITED: usize = 4_096;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Number of files in the large workspace. The small workspace has 100.
    #[arg(long, default_value_t = 50_000)]
    files: usize,
    /// Number of rounds of each measurement.
    #[arg(long, default_value_t = 30)]
    rounds: usize,
    /// Path of the program `oops` (`cargo install oops-sh`), to measure it in the same rounds.
    #[arg(long, value_name = "PATH")]
    oops: Option<PathBuf>,
    /// Also write the table to bench/.
    #[arg(long)]
    save: bool,
}

/// Durations of the command `true` in a workspace of one size: as a command that only reads, as one that may write, and
/// in a trial.
struct Rung {
    files: usize,
    /// Durations of the command `true` as one that only reads, for which the workspace is not scanned.
    read: Vec<Duration>,
    /// Durations of the command `true` after an approval, with write access to the workspace.
    written: Vec<Duration>,
    tried: Vec<Duration>,
    /// Peak resident memory during a trial minus the resident memory before it, in bytes.
    memory: u64,
}

struct Commits {
    took: Vec<Duration>,
    syncs_per_second: f64,
}

/// Cost of storing the contents of an edited file in a journal, without the events of the edit.
struct JournalCost {
    took: Vec<Duration>,
    /// Bytes of the journal's database and its write-ahead log, per edit.
    bytes: f64,
}

pub(crate) fn trials(options: &Options, binary: &Path, folder: &Path) -> Result<String> {
    ensure!(
        options.rounds > 0 && options.files >= FOLDER,
        "--rounds must be at least 1, and --files at least {FOLDER}"
    );
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let peer = options.oops.as_deref().map(|program| Oops::new(program, folder)).transpose()?;
    let mut beside = Vec::new();
    let mut rungs = Vec::new();
    for files in [FOLDER, options.files] {
        let place = TrialWorkspace::new(folder, &format!("files-{files}"), binary)?;
        place.fill(files)?;
        rungs.push(runtime.block_on(rung(&place, files, options.rounds))?);
        if let Some(peer) = &peer {
            let tried = (0..options.rounds).map(|_| peer.tried(&place.workspace));
            beside.push(tried.collect::<Result<Vec<_>>>()?);
        }
        eprintln!("{files} files: measured");
    }
    let commits = runtime.block_on(commits(folder, binary, options.rounds.min(5)))?;
    let kept = runtime.block_on(measure_journal_cost(folder, options.rounds))?;
    let beside = peer
        .map(|peer| {
            let commits = 0..options.rounds.min(5);
            let committed = commits.map(|n| peer.committed(&folder.join(format!("oops-commit-{n}"))));
            let committed = committed.collect::<Result<Vec<_>>>()?;
            anyhow::Ok(Measured { version: peer.version()?, tried: beside, committed })
        })
        .transpose()?;
    let text = report::report(&Facts::collect(binary), options, &rungs, &commits, &kept, beside.as_ref());
    if options.save {
        results::save(Part::Trials, &text)?;
    }
    Ok(text)
}

/// A measured workspace with the tools that work in it.
struct TrialWorkspace {
    workspace: PathBuf,
    tools: Tools,
}

impl TrialWorkspace {
    fn new(folder: &Path, name: &str, binary: &Path) -> Result<Self> {
        let root = folder.join(name);
        let [workspace, data, home] = ["workspace", "data", "home"].map(|each| root.join(each));
        for each in [&workspace, &data, &home] {
            fs::create_dir_all(each)?;
        }
        let mut settings = Settings::new(fs::canonicalize(binary)?, data.clone());
        settings.home = Some(home);
        let tools = Tools::new(Workspace::open(&workspace, &data)?, settings);
        Ok(Self { workspace, tools })
    }

    /// Creates small files in the workspace, 100 per folder.
    fn fill(&self, files: usize) -> Result<()> {
        for file in 0..files {
            let folder = self.workspace.join(format!("folder-{}", file / FOLDER));
            if file % FOLDER == 0 {
                fs::create_dir(&folder)?;
            }
            fs::write(folder.join(format!("file-{file}")), format!("{file}\n"))?;
        }
        Ok(())
    }

    async fn run(&self, effect: &CommandEffect) -> Result<Duration> {
        let began = Instant::now();
        match self.tools.run(&command("true"), &[], Some(effect), |_| {}).await {
            Outcome::Done { .. } => Ok(began.elapsed()),
            other => bail!("`true` did not run: {other:?}"),
        }
    }

    async fn tried(&self, line: &str) -> Result<(Duration, Box<holdshort_tools::Trial>)> {
        let began = Instant::now();
        match self.tools.try_command(&command(line), &[], |_| {}).await {
            CommandTrialOutcome::Yielded(trial) => Ok((began.elapsed(), Box::new(trial))),
            other => bail!("the trial of `{line}` failed: {other:?}"),
        }
    }
}

fn command(line: &str) -> Call {
    Call { tool: "run_command".to_owned(), arguments: json!({ "command": line }) }
}

async fn rung(place: &TrialWorkspace, files: usize, rounds: usize) -> Result<Rung> {
    let (mut read, mut written, mut tried) = (Vec::new(), Vec::new(), Vec::new());
    place.run(&CommandEffect::Reads).await?;
    drop(place.tried("true").await?);
    let mut memory = 0;
    for _ in 0..rounds {
        read.push(place.run(&CommandEffect::Reads).await?);
        written.push(place.run(&CommandEffect::Workspace).await?);
        // Resets the peak of this process's memory that the kernel records.
        fs::write("/proc/self/clear_refs", "5")?;
        let before = resident("VmRSS:")?;
        let (took, trial) = place.tried("true").await?;
        memory = memory.max(resident("VmHWM:")?.saturating_sub(before));
        tried.push(took);
        ensure!(trial.changeset.changes().is_empty(), "`true` changed something");
    }
    Ok(Rung { files, read, written, tried, memory })
}

/// Returns a memory figure of the bench's process in bytes, by its field in `/proc/self/status`.
fn resident(field: &str) -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kb = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    Ok(kb.context("the kernel does not report this process's memory")? * 1024)
}

/// Commits a thousand new files per round, in a new workspace. Every file is synced and renamed.
async fn commits(folder: &Path, binary: &Path, rounds: usize) -> Result<Commits> {
    let mut took = Vec::new();
    for round in 0..rounds {
        let place = TrialWorkspace::new(folder, &format!("commit-{round}"), binary)?;
        let line = format!("for n in $(seq {COMMITTED}); do echo $n > file-$n; done");
        let (_, trial) = place.tried(&line).await?;
        let bodies: BTreeMap<Digest, Vec<u8>> = trial.bodies().collect::<io::Result<_>>()?;
        let body =
            |digest: Digest| bodies.get(&digest).cloned().ok_or_else(|| io::ErrorKind::NotFound.into());
        let began = Instant::now();
        let committed = place.tools.commit(&trial.changeset, body, false);
        took.push(began.elapsed());
        ensure!(committed == Committed::Done, "not committed: {committed:?}");
    }
    Ok(Commits { took, syncs_per_second: disk::syncs_per_second(folder, Duration::from_secs(1))? })
}

/// Stores the contents of a file before and after an edit in a journal, as the executor does before the event
/// `changes_proposed`.
async fn measure_journal_cost(folder: &Path, rounds: usize) -> Result<JournalCost> {
    let data = folder.join("journal");
    fs::create_dir_all(&data)?;
    let store = Sqlite::open(&data)?;
    let size = || -> Result<u64> {
        fs::read_dir(&data)?.map(|entry| Ok(entry?.metadata()?.len())).sum::<Result<u64>>()
    };
    let (before, mut took) = (size()?, Vec::new());
    for round in 0..rounds {
        let body = |side: &str| Blob::new(format!("{side} {round}\n").repeat(EDITED / 8).into_bytes());
        let began = Instant::now();
        store.put_bodies(vec![body("old"), body("new")], Timestamp::from_millis(1)).await?;
        took.push(began.elapsed());
    }
    Ok(JournalCost { took, bytes: count(size()? - before) / count(rounds as u64) })
}
