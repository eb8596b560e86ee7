//! Starts the server once on a full data folder, and measures the times of its first requests.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::fs::{Advice, fadvise};
use serde::Deserialize;

use crate::client::Client;
use crate::cycle::{Pair, Row};
use crate::server::{Server, Target};

/// Number of further reads of the inbox's first page after the first read.
const LOOKS: usize = 20;
/// Maximum number of inbox pages, with 200 interrupts each, that are read to reach a deep page.
const DEPTH: usize = 250;

pub(super) struct Start {
    /// Time from the start of the server's process until the server listens.
    pub(super) ready_after: Duration,
    /// Resident memory of the server in bytes: directly after the start, and after the inbox pages were read.
    pub(super) memory: u64,
    pub(super) memory_later: u64,
    /// Time from sending the first decision until the agent that asked has the outcome.
    pub(super) decision: Duration,
    /// Time of the first read of the inbox's first page, and the median time of further reads.
    pub(super) first_look: Duration,
    pub(super) look: Duration,
    /// Time to read the deepest page of the inbox, and the number of interrupts before it.
    pub(super) deep_look: Duration,
    pub(super) depth: u64,
}

#[derive(Deserialize)]
struct Items {
    items: Vec<serde::de::IgnoredAny>,
    next_cursor: Option<String>,
}

/// Starts the measured server, decides on one of the interrupts in `asked`, and reads the inbox.
pub(super) fn start(binary: &Path, folder: &Path, asked: &mut Vec<String>) -> Result<Start> {
    evict(&folder.join("ours"))?;
    let server = Server::ours(binary, folder)?;
    let (memory, _) = server.memory()?;
    // An interrupt from the middle is neither on the first nor on the last page.
    let interrupt = asked.swap_remove(asked.len() / 2);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let start = runtime.block_on(async {
        let decision = Pair::connect(&server.target, Row::External).await?.decide(&interrupt, None).await?;
        let mut looks = looks(&server.target).await?;
        let first_look = looks.remove(0);
        let look = crate::stats::percentile(&mut looks, 50);
        let (memory_later, _) = server.memory()?;
        let (deep_look, depth) = deep(&server.target).await?;
        let ready_after = server.ready_after;
        anyhow::Ok(Start { ready_after, memory, memory_later, decision, first_look, look, deep_look, depth })
    })?;
    server.stop()?;
    Ok(start)
}

async fn looks(target: &Target) -> Result<Vec<Duration>> {
    let mut client = Client::connect(target, &target.operator).await?;
    let mut looks = Vec::new();
    for _ in 0..=LOOKS {
        let sent = Instant::now();
        let _: Items = client.get("/v1/interrupts?status=open").await?;
        looks.push(sent.elapsed());
    }
    Ok(looks)
}

/// Follows the cursor to a deep page of the inbox, and measures a page of the default size there.
async fn deep(target: &Target) -> Result<(Duration, u64)> {
    let mut client = Client::connect(target, &target.operator).await?;
    let (mut cursor, mut depth) = (None::<String>, 0);
    for _ in 0..DEPTH {
        let at = cursor.as_ref().map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let page: Items = client.get(&format!("/v1/interrupts?status=open&limit=200{at}")).await?;
        let Some(next) = page.next_cursor else { break };
        depth += page.items.len() as u64;
        cursor = Some(next);
    }
    let cursor = cursor.context("the inbox has only one page, so no deep page can be read")?;
    let sent = Instant::now();
    let _: Items = client.get(&format!("/v1/interrupts?status=open&cursor={cursor}")).await?;
    Ok((sent.elapsed(), depth))
}

/// Evicts the database from the kernel's page cache, as after a reboot.
pub(super) fn evict(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() {
            let file = File::open(&path)?;
            // The kernel does not evict pages that are not on the disk yet.
            file.sync_all()?;
            fadvise(&file, 0, None, Advice::DontNeed)?;
        }
    }
    Ok(())
}

/// Returns the path of the only database in a folder.
pub(super) fn database(folder: &Path) -> Result<PathBuf> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "db") {
            return Ok(path);
        }
    }
    anyhow::bail!("no database in {}", folder.display())
}
