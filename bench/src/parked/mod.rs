//! `parked`: what runs that wait cost. Fills a data folder through the real server, ten times as many each time,
//! and starts the server on it again: disk, memory, and how long the first things take.
//!
//! `fill.rs` makes the runs, `split.rs` says where their bytes are, `start.rs` is one start of the server, and
//! `report.rs` with `plot.rs` the table and the picture.

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

/// Starts at each count. The pages of the database are thrown out of the cache before each, as after a reboot.
const STARTS: usize = 5;
/// Asks that are in the log alone when the server is killed.
const UNFINISHED: u64 = 500;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How many runs wait in the end; every power of ten on the way is measured too.
    #[arg(long, default_value_t = 100_000)]
    runs: u64,
    /// Write the table and the plot to bench/ too.
    #[arg(long)]
    save: bool,
}

/// What was measured with so many runs parked.
struct Rung {
    runs: u64,
    /// While the last of them were made.
    asks_per_second: f64,
    split: Split,
    starts: Vec<Start>,
    /// The start after the server was killed: its log has to be recovered.
    after_a_kill: Duration,
}

/// Gives the table.
pub(crate) fn parked(options: &Options, binary: &Path, folder: &Path) -> Result<String> {
    let mut rungs: Vec<Rung> = Vec::new();
    let mut asked: Vec<String> = Vec::new();
    for runs in counts(options.runs) {
        // Those that the starts before decided on wait no longer, and count no longer.
        let server = Server::ours(binary, folder)?;
        let (before, began) = (open(&rungs), Instant::now());
        asked.extend(fill::fill(&server.target, runs - before)?);
        let asks_per_second = crate::load::count(runs - before) / began.elapsed().as_secs_f64();
        server.stop()?;
        let split = Split::of(&folder.join("ours"))?;
        eprintln!(
            "{runs} runs are parked, {:.0} B each; {asks_per_second:.0} asks a second",
            split.each(runs)
        );
        let starts = (0..STARTS).map(|_| start::start(binary, folder, &mut asked)).collect::<Result<_>>()?;
        let after_a_kill = killed(binary, folder)?;
        rungs.push(Rung { runs, asks_per_second, split, starts, after_a_kill });
    }
    let text = report::report(&Facts::of(binary), options.runs, &rungs);
    if options.save {
        std::fs::write(results::folder().join("parked.svg"), plot::plot(&rungs))?;
        results::save(Part::Parked, &text)?;
    }
    Ok(text)
}

/// 1,000, 10,000 … and the last one.
fn counts(last: u64) -> Vec<u64> {
    let powers = std::iter::successors(Some(1_000_u64), |runs| runs.checked_mul(10));
    powers.take_while(|runs| *runs < last).chain([last]).collect()
}

/// How many wait after the last rung was measured.
fn open(rungs: &[Rung]) -> u64 {
    let Some(last) = rungs.last() else { return 0 };
    last.runs - STARTS as u64 + UNFINISHED
}

fn killed(binary: &Path, folder: &Path) -> Result<Duration> {
    let server = Server::ours(binary, folder)?;
    fill::fill(&server.target, UNFINISHED)?;
    // Dropping it kills it.
    drop(server);
    start::evict(&folder.join("ours"))?;
    let server = Server::ours(binary, folder)?;
    let ready_after = server.ready_after;
    server.stop()?;
    Ok(ready_after)
}
