//! `audit`: the cost of verifying a journal. Fills a journal through the real server, stops the server, and runs `audit
//! verify` in a separate process. Reports events per second and memory. Repeats this with ten times as many events.
//!
//! `verify.rs` runs one audit. `chain.rs` measures what the hash chain adds to an append. `report.rs` writes the table.

mod chain;
mod report;
mod verify;

use std::path::Path;
use std::time::Instant;

use anyhow::{Result, ensure};

use crate::cycle::Row;
use crate::facts::Facts;
use crate::load::{self, Until, count};
use crate::plan::CROWD;
use crate::results::{self, Part};
use crate::server::Server;
use chain::Chain;
use verify::Audit;

/// Number of measured audits per journal.
const AUDITS: usize = 3;
/// Estimated number of events in one cycle of [`Row::External`], with which the journal is filled. The audit itself
/// reports the exact number.
const EVENTS_OF_CYCLE: u64 = 5;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Approximate number of events in the largest journal. Smaller journals are measured too: 10,000 events, 100,000
    /// events and so on.
    #[arg(long, default_value_t = 100_000)]
    events: u64,
    /// Also write the table to bench/.
    #[arg(long)]
    save: bool,
}

/// Measurements of a journal of one size in one database.
struct Rung {
    store: &'static str,
    audits: Vec<Audit>,
    /// Events per second that the server wrote while the journal grew to this size.
    written_per_second: f64,
}

pub(crate) fn audit(options: &Options, binary: &Path, folder: &Path) -> Result<String> {
    let database = holdshort_testpg::Server::start()?;
    let url = database.database();
    let mut rungs = Vec::new();
    for (store, url) in [("SQLite", None), ("PostgreSQL", Some(url.as_str()))] {
        let folder = folder.join(store);
        std::fs::create_dir_all(&folder)?;
        let mut written = 0;
        for events in sizes(options.events) {
            let written_per_second = fill(binary, &folder, url, events - written)?;
            let audits = (0..AUDITS)
                .map(|_| verify::verify(binary, &folder.join("ours"), url))
                .collect::<Result<Vec<_>>>()?;
            written = audits.first().map_or(events, |audit| audit.events);
            let fastest = audits.iter().map(Audit::per_second).fold(0.0, f64::max);
            eprintln!("{store}: {written} events; the fastest audit checked {fastest:.0} events per second");
            rungs.push(Rung { store, audits, written_per_second });
        }
    }
    let text = report::report(&Facts::collect(binary), options.events, &rungs, &Chain::measure());
    if options.save {
        results::save(Part::Audit, &text)?;
    }
    Ok(text)
}

/// Returns the journal sizes to measure, in events: the powers of ten from 10,000 that are smaller than `last`, then
/// `last`.
fn sizes(last: u64) -> Vec<u64> {
    let powers = std::iter::successors(Some(10_000_u64), |events| events.checked_mul(10));
    powers.take_while(|events| *events < last).chain([last]).collect()
}

/// Runs cycles on a server until its journal has grown by about `events`, then stops the server. Returns the events
/// written per second.
fn fill(binary: &Path, folder: &Path, url: Option<&str>, events: u64) -> Result<f64> {
    let server = match url {
        Some(url) => Server::ours_on(binary, folder, url)?,
        None => Server::ours(binary, folder)?,
    };
    let cycles = events.div_ceil(EVENTS_OF_CYCLE).div_ceil(CROWD as u64);
    ensure!(cycles > 0, "--events is too small: no cycle would run");
    let began = Instant::now();
    let sample = load::run(&server.target, Row::External, CROWD, Until::Cycles(cycles))?;
    let written = count(sample.latencies.len()) * count(EVENTS_OF_CYCLE);
    let per_second = written / began.elapsed().as_secs_f64();
    server.stop()?;
    Ok(per_second)
}
