//! `cargo xtask bench`: cycles per second of Holdshort and of a hand-written loop, measured alternately on one machine.
//!
//! Starts both programs as processes, and sends them HTTP requests. Prints figures. A slow result is not an error.
//! `measure.rs` runs the measurements, `cycle.rs` runs one cycle, and `hand/` contains the hand-written loop. `parked/`
//! measures waiting runs, `streams/` measures clients that follow events, and `length/` long runs. `audit/` measures
//! the verification of a journal, `trials/` trials of commands, and `turns/` a turn of a conversation. `peers.rs`
//! measures other systems with the same cycle. `results.rs` writes `RESULTS.md`.

#![expect(clippy::print_stdout, reason = "a command-line tool prints")]

mod attach;
mod audit;
mod client;
mod cycle;
mod disk;
mod facts;
mod hand;
mod length;
mod load;
mod measure;
mod parked;
mod peers;
mod plan;
mod report;
mod results;
mod server;
mod stats;
mod streams;
mod trials;
mod turns;
mod wal;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand, ValueEnum};
use tempfile::TempDir;

use crate::cycle::Row;
use crate::facts::Facts;
use crate::plan::Plan;
use crate::results::Part;

/// Measure start → pause → decide → done, for Holdshort and for a hand-written loop.
#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Args {
    /// Run for seconds instead of minutes, to check that the bench works. The figures are then imprecise.
    #[arg(long)]
    quick: bool,
    /// Also write all tables to bench/RESULTS.md, where they replace the earlier tables.
    #[arg(long, conflicts_with_all = ["only", "store"])]
    save: bool,
    /// Kind of cycle to measure, one row of the table. By default, both kinds are measured.
    #[arg(long, value_name = "ROW")]
    only: Option<Row>,
    /// Database of the journal. By default, both databases are measured, one after the other.
    #[arg(long, value_name = "STORE")]
    store: Option<Kind>,
    /// Path of the `holdshort` program [default: `holdshort` in the folder of this program].
    #[arg(long, global = true, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Folder for temporary databases, on the disk to measure [default: the folder of this program].
    #[arg(long, global = true, value_name = "DIR")]
    folder: Option<PathBuf>,
    #[command(subcommand)]
    verb: Option<Verb>,
}

/// Database of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Sqlite,
    Postgres,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Cost of an audit of a long journal, and of the hash chain per append
    Audit(audit::Options),
    /// Cost of a decision in a long run, and of the first decision after a restart
    Length(length::Options),
    /// Put load on a server that already runs, to profile it
    Load(attach::Options),
    /// Cost of waiting runs: disk, memory, and the first requests after a start
    Parked(parked::Options),
    /// Other systems that run the same cycle, each installed from its package registry
    Peers(peers::Options),
    /// Many clients that follow events: time until all clients have an event, and the cost per client
    Streams(streams::Options),
    /// Cost of a command's trial, and of committing its changes
    Trials(trials::Options),
    /// Cost of one turn of a conversation, without the model
    Turns(turns::Options),
    #[command(name = server::LOOP_VERB, hide = true)]
    ServeLoop(hand::Options),
}

fn main() -> Result<()> {
    let args = Args::parse();
    let text = match &args.verb {
        Some(Verb::ServeLoop(options)) => return hand::serve(options),
        Some(Verb::Audit(options)) => audit::audit(options, &args.binary()?, args.folder()?.path())?,
        Some(Verb::Length(options)) => length::length(options, &args.binary()?, args.folder()?.path())?,
        Some(Verb::Load(options)) => attach::attach(options)?,
        Some(Verb::Parked(options)) => parked::parked(options, &args.binary()?, args.folder()?.path())?,
        Some(Verb::Peers(options)) => peers::peers(options)?,
        Some(Verb::Streams(options)) => streams::streams(options, &args.binary()?, args.folder()?.path())?,
        Some(Verb::Trials(options)) => trials::trials(options, &args.binary()?, args.folder()?.path())?,
        Some(Verb::Turns(options)) => turns::turns(options, &args.binary()?, args.folder()?.path())?,
        None => cycles(&args)?,
    };
    println!("{}", text.trim_end());
    Ok(())
}

/// Measures the selected rows in the selected databases.
fn cycles(args: &Args) -> Result<String> {
    let (binary, folder) = (args.binary()?, args.folder()?);
    let plan = if args.quick { Plan::QUICK } else { Plan::FULL };
    let mut rows = Vec::new();
    for store in [Kind::Sqlite, Kind::Postgres] {
        if args.store.is_some_and(|only| only != store) {
            continue;
        }
        let database = (store == Kind::Postgres).then(holdshort_testpg::Server::start).transpose()?;
        for row in [Row::External, Row::Native] {
            if args.only.is_none_or(|only| only == row) {
                let folder = folder.path().join(format!("{store:?}-{row:?}"));
                std::fs::create_dir(&folder)?;
                rows.push(measure::row(row, plan, &binary, &folder, database.as_ref())?);
            }
        }
    }
    let command = format!("cargo xtask bench{}", if args.quick { " --quick" } else { "" });
    let text = report::report(&Facts::collect(&binary), plan, &command, &mut rows);
    if args.save {
        results::save(Part::Cycles, &text)?;
    }
    Ok(text)
}

impl Args {
    fn binary(&self) -> Result<PathBuf> {
        let given = self.binary.clone();
        let binary =
            given.map_or_else(|| Ok(std::env::current_exe()?.with_file_name("holdshort")), anyhow::Ok)?;
        ensure!(
            binary.exists(),
            "the program {} does not exist: `cargo xtask bench` builds it",
            binary.display()
        );
        Ok(binary)
    }

    /// Creates a temporary folder for the measured databases. Dropping the result deletes the folder.
    fn folder(&self) -> Result<TempDir> {
        let program = std::env::current_exe()?;
        let beside = program.parent().unwrap_or(Path::new("."));
        let folder = self.folder.as_deref().unwrap_or(beside);
        tempfile::Builder::new()
            .prefix("bench-")
            .tempdir_in(folder)
            .context("cannot create a folder for the databases")
    }
}
