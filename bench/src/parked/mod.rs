//! `parked`: the cost of waiting runs. Fills a data folder through the real server, restarts the server on the folder,
//! and measures the disk, the memory, and the times of the first requests. Repeats this with ten times as many runs.
//!
//! `fill.rs` creates the runs. `split.rs` divides the bytes of the database by purpose. `start.rs` measures one start
//! of the server. `report.rs` writes the table, and `plot.rs` draws the picture.

mod fill;
mod plot;
mod report;
mod split;
mod start;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::facts::Facts;
use crate::results::{self, Part};
use crate::server::Server;
use split::Split;
use start::Start;

pub(crate) use report::thousands;

/// Number of measured starts of the server for each number of waiting runs. Each starts without the database in the
/// page cache, as after a reboot.
const STARTS: usize = 5;
/// Number of opened interrupts that are only in the write-ahead log when the server is killed.
const UNFINISHED: u64 = 500;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Largest number of waiting runs. Smaller numbers are measured too: 1,000 runs, 10,000 runs and so on.
    #[arg(long, default_value_t = 100_000)]
    runs: u64,
    /// Also write the table and the plot to bench/.
    #[arg(long)]
    save: bool,
}

/// Figures for one number of waiting runs.
struct Rung {
    runs: u64,
    /// Interrupts per second that agents opened while the waiting runs were created.
    asks_per_second: f64,
    split: Split,
    starts: Vec<Start>,
    /// Time until the server is ready after a kill, including the recovery of the write-ahead log.
    after_a_kill: Duration,
}

pub(crate) fn parked(options: &Options, binary: &Path, folder: &Path) -> Result<String> {
    let mut rungs: Vec<Rung> = Vec::new();
    let mut asked: Vec<String> = Vec::new();
    for runs in counts(options.runs) {
        // Runs that were decided in earlier measurements no longer wait, so they are not counted.
        let server = Server::ours(binary, folder)?;
        let (before, began) = (open(&rungs), Instant::now());
        asked.extend(fill::fill(&server.target, runs - before)?);
        let asks_per_second = crate::load::count(runs - before) / began.elapsed().as_secs_f64();
        server.stop()?;
        let split = Split::measure(&folder.join("ours"))?;
        eprintln!(
            "{runs} runs wait and use {:.0} bytes of disk each; {asks_per_second:.0} of them were created \
            per second",
            split.each(runs)
        );
        let starts = (0..STARTS).map(|_| start::start(binary, folder, &mut asked)).collect::<Result<_>>()?;
        let after_a_kill = killed(binary, folder)?;
        rungs.push(Rung { runs, asks_per_second, split, starts, after_a_kill });
    }
    let text = report::report(&Facts::collect(binary), options.runs, &rungs);
    if options.save {
        std::fs::write(results::folder().join("parked.svg"), plot::plot(&rungs))?;
        results::save(Part::Parked, &text)?;
    }
    Ok(text)
}

/// Returns the numbers of waiting runs to measure: the powers of ten from 1,000 that are smaller than `last`, then
/// `last`.
fn counts(last: u64) -> Vec<u64> {
    let powers = std::iter::successors(Some(1_000_u64), |runs| runs.checked_mul(10));
    powers.take_while(|runs| *runs < last).chain([last]).collect()
}

/// Returns the number of waiting runs after the last measurement.
fn open(rungs: &[Rung]) -> u64 {
    let Some(last) = rungs.last() else { return 0 };
    last.runs - STARTS as u64 + UNFINISHED
}

fn killed(binary: &Path, folder: &Path) -> Result<Duration> {
    let server = Server::ours(binary, folder)?;
    fill::fill(&server.target, UNFINISHED)?;
    // Dropping the server kills its process.
    drop(server);
    start::evict(&folder.join("ours"))?;
    let server = Server::ours(binary, folder)?;
    let ready_after = server.ready_after;
    server.stop()?;
    Ok(ready_after)
}
