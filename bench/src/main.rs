//! `cargo xtask bench`: cycles per second of Holdshort beside a hand-written loop, measured in turns on one machine.
//!
//! Starts both as processes and talks to them over HTTP. Asserts no time: it prints what it finds. `measure.rs` is
//! the order of things, `cycle.rs` the work, `hand/` the loop.

#![expect(clippy::print_stdout, reason = "a command-line tool prints")]

mod attach;
mod client;
mod cycle;
mod disk;
mod facts;
mod hand;
mod load;
mod measure;
mod plan;
mod report;
mod server;
mod stats;
mod wal;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand};

use crate::cycle::Row;
use crate::facts::Facts;
use crate::plan::Plan;

/// Start → pause → decide → done, beside a hand-written loop.
#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Args {
    /// A few seconds instead of minutes: whether it works, not how fast it is.
    #[arg(long)]
    quick: bool,
    /// Write the table to bench/RESULTS.md too.
    #[arg(long)]
    save: bool,
    /// One row only.
    #[arg(long, value_name = "ROW")]
    only: Option<Row>,
    /// Our binary [default: `holdshort` beside this program].
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Where the databases are made, and removed afterwards: a folder on the disk to measure [default: beside
    /// this program].
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Put load on a server that runs already, to profile it
    Load(attach::Options),
    #[command(name = server::LOOP_VERB, hide = true)]
    ServeLoop(hand::Options),
}

fn main() -> Result<()> {
    let args = Args::parse();
    match &args.verb {
        Some(Verb::ServeLoop(options)) => return hand::serve(options),
        Some(Verb::Load(options)) => {
            println!("{}", attach::attach(options)?);
            return Ok(());
        }
        None => {}
    }
    let program = std::env::current_exe()?;
    let binary = args.binary.unwrap_or_else(|| program.with_file_name("holdshort"));
    ensure!(binary.exists(), "{} is not there: `cargo xtask bench` builds it", binary.display());
    let beside = program.parent().unwrap_or(Path::new("."));
    let folder = tempfile::Builder::new()
        .prefix("bench-")
        .tempdir_in(args.folder.as_deref().unwrap_or(beside))
        .context("no folder for the databases")?;
    let plan = if args.quick { Plan::QUICK } else { Plan::FULL };
    let mut rows = Vec::new();
    for row in [Row::External, Row::Native] {
        if args.only.is_none_or(|only| only == row) {
            let name = if row == Row::External { "external" } else { "native" };
            let folder = folder.path().join(name);
            std::fs::create_dir(&folder)?;
            rows.push(measure::row(row, plan, &binary, &folder)?);
        }
    }
    let command = format!("cargo xtask bench{}", if args.quick { " --quick" } else { "" });
    let text = report::report(&Facts::of(&binary), plan, &command, &mut rows);
    print!("{text}");
    if args.save {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("RESULTS.md");
        std::fs::write(&path, text).with_context(|| format!("{} can not be written", path.display()))?;
    }
    Ok(())
}
