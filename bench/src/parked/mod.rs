//! `parked`: the cost of waiting runs. Fills a data folder through the real server, ten times as many runs each
//! time, and restarts the server on it. Measures disk, memory, and the times of the first requests.
//!
//! `fill.rs` makes the runs, `split.rs` divides their bytes by use, `start.rs` measures one start of the server.
//! `report.rs` and `plot.rs` write the table and the picture.

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

/// Number of starts at each count. Before each, the pages of the database are evicted from the cache, as after a
/// reboot.
const STARTS: usize = 5;
/// Number of interrupts that only the write-ahead log holds when the server is killed.
const UNFINISHED: u64 = 500;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Number of waiting runs in the end; every smaller power of ten from 1,000 on is measured too.
    #[arg(long, default_value_t = 100_000)]
    runs: u64,
    /// Write the table and the plot to bench/ too.
    #[arg(long)]
    save: bool,
}

/// Figures with a given number of parked runs.
struct Rung {
    runs: u64,
    /// Interrupts opened per second while the last of the runs were made.
    asks_per_second: f64,
    split: Split,
    starts: Vec<Start>,
    /// Time until ready after the server was killed. The start must recover the log.
    after_a_kill: Duration,
}

/// Returns the table.
pub(crate) fn parked(options: &Options, binary: &Path, folder: &Path) -> Result<String> {
    let mut rungs: Vec<Rung> = Vec::new();
    let mut asked: Vec<String> = Vec::new();
    for runs in counts(options.runs) {
        // Runs decided during the previous starts no longer wait, so they are not counted.
        let server = Server::ours(binary, folder)?;
        let (before, began) = (open(&rungs), Instant::now());
        asked.extend(fill::fill(&server.target, runs - before)?);
        let asks_per_second = crate::load::count(runs - before) / began.elapsed().as_secs_f64();
        server.stop()?;
        let split = Split::measure(&folder.join("ours"))?;
        eprintln!(
            "{runs} runs are parked, {:.0} B each; {asks_per_second:.0} asks a second",
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

/// Returns 1,000, 10,000 and so on, then the last count.
fn counts(last: u64) -> Vec<u64> {
    let powers = std::iter::successors(Some(1_000_u64), |runs| runs.checked_mul(10));
    powers.take_while(|runs| *runs < last).chain([last]).collect()
}

/// Returns the number of waiting runs after the last rung was measured.
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
