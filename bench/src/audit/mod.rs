//! `audit`: what proof costs. Fills a journal through the real server, ten times as many events each time, stops it,
//! and runs `audit verify` on it as a process of its own: events a second, and memory.
//!
//! `verify.rs` is one audit; `chain.rs` what the one chain over all events adds to an append; `report.rs` the table.

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

/// Audits of each journal.
const AUDITS: usize = 3;
/// Of a cycle of [`Row::External`]; more or fewer are counted by the audit.
const EVENTS_OF_CYCLE: u64 = 5;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How many events the journal has in the end, about; every power of ten from 10,000 on is measured too.
    #[arg(long, default_value_t = 100_000)]
    events: u64,
    /// Write the table to bench/ too.
    #[arg(long)]
    save: bool,
}

/// A journal of one size in one database.
struct Rung {
    store: &'static str,
    audits: Vec<Audit>,
    /// Events a second while the last of them were written.
    written_per_second: f64,
}

/// Gives the table.
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
            eprintln!("{store}: {written} events, {fastest:.0} audited a second");
            rungs.push(Rung { store, audits, written_per_second });
        }
    }
    let text = report::report(&Facts::of(binary), options.events, &rungs, &Chain::measure());
    if options.save {
        results::save(Part::Audit, &text)?;
    }
    Ok(text)
}

/// 10,000, 100,000 … and the last one.
fn sizes(last: u64) -> Vec<u64> {
    let powers = std::iter::successors(Some(10_000_u64), |events| events.checked_mul(10));
    powers.take_while(|events| *events < last).chain([last]).collect()
}

/// Lets agents ask and a person decide until about so many events more are in the journal, and stops the server. Events
/// a second.
fn fill(binary: &Path, folder: &Path, url: Option<&str>, events: u64) -> Result<f64> {
    let server = match url {
        Some(url) => Server::ours_on(binary, folder, url)?,
        None => Server::ours(binary, folder)?,
    };
    let cycles = events.div_ceil(EVENTS_OF_CYCLE).div_ceil(CROWD as u64);
    ensure!(cycles > 0, "nothing is to be written");
    let began = Instant::now();
    let sample = load::run(&server.target, Row::External, CROWD, Until::Cycles(cycles))?;
    let written = count(sample.latencies.len()) * count(EVENTS_OF_CYCLE);
    let per_second = written / began.elapsed().as_secs_f64();
    server.stop()?;
    Ok(per_second)
}
