//! `peers`: other systems with the same cycle, which `peers/run.py` installs and runs. This module writes the table.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::facts;
use crate::plan::CROWD;
use crate::results::{self, Part};

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Names of the systems to run, such as `restate`. By default, all systems are run.
    peers: Vec<String>,
    /// Write the table from the last results, and run nothing.
    #[arg(long, conflicts_with = "peers")]
    table: bool,
    /// Also write the table to bench/RESULTS.md.
    #[arg(long)]
    save: bool,
}

/// Entry of `peers/results.json` about one other system.
#[derive(Deserialize)]
#[serde(untagged)]
enum Peer {
    Measured(Measured),
    Not { name: String, not_measured: String },
}

#[derive(Deserialize)]
struct Measured {
    name: String,
    version: String,
    durability: String,
    cycle: String,
    alone: Rate,
    together: Rate,
    decision_to_done_ms: f64,
    rounds: u32,
    seconds: f64,
}

/// Cycles per second of another system, over all rounds.
#[derive(Deserialize)]
struct Rate {
    median: f64,
    low: f64,
    high: f64,
}

pub(crate) fn peers(options: &Options) -> Result<String> {
    let folder = results::folder().join("peers");
    if !options.table {
        let status = Command::new("python3").arg(folder.join("run.py")).args(&options.peers).status();
        let status = status.context("python3 does not start")?;
        ensure!(status.success(), "peers/run.py ended with {status}");
    }
    let path = folder.join("results.json");
    let read = fs::read(&path).with_context(|| {
        format!(
            "{} cannot be read. Run `cargo xtask bench peers` without `--table` to create the file",
            path.display()
        )
    })?;
    let text = report(&facts::machine(), &serde_json::from_slice::<Vec<Peer>>(&read)?);
    if options.save {
        results::save(Part::Peers, &text)?;
    }
    Ok(text)
}

fn report(machine: &str, peers: &[Peer]) -> String {
    let mut text = format!(
        "## Peers\n\n\
         Other systems do the same work as *external* above: a request with 500 bytes, a wait that survives \
         a crash, a \
         decision, and its return to the agent.\n\
         Each system is used in its usual way. The durability differs between the systems: see the last two \
         columns.\n\n\
         - Command: `cargo xtask bench peers`; each has a script in `bench/peers/`.\n\
         - Machine: {machine}; server, worker and client share it.\n\n\
         | | cycles/s at 1 | cycles/s at {CROWD} | decision to done at 1, p50 | rounds | durability | a cycle |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for peer in peers {
        let _ = match peer {
            Peer::Measured(each) => writeln!(
                text,
                "| **{}**: {} | {} | {} | {:.2} ms | {} of {} s | {} | {} |",
                each.name,
                each.version,
                each.alone.text(),
                each.together.text(),
                each.decision_to_done_ms,
                each.rounds,
                each.seconds,
                each.durability,
                each.cycle,
            ),
            Peer::Not { name, not_measured } => {
                writeln!(text, "| **{name}** | not measured: {not_measured} | | | | | |")
            }
        };
    }
    text
}

impl Rate {
    fn text(&self) -> String {
        let Self { median, low, high } = self;
        format!("{median:.0} ({low:.0} to {high:.0})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_measured_says_so() {
        let peers = r#"[
            {"script": "a.py", "name": "A", "version": "1", "durability": "d", "cycle": "c", "decision_to_done_ms": 1.5,
             "alone": {"median": 10, "low": 9, "high": 11}, "together": {"median": 20, "low": 19, "high": 21},
             "rounds": 5, "seconds": 3},
            {"script": "b.py", "name": "B", "not_measured": "no package"}
        ]"#;
        let table = report("a machine", &serde_json::from_str::<Vec<Peer>>(peers).unwrap());
        let rows: Vec<_> = table.lines().filter(|line| line.starts_with("| **")).collect();
        let expected = [
            "| **A**: 1 | 10 (9 to 11) | 20 (19 to 21) | 1.50 ms | 5 of 3 s | d | c |",
            "| **B** | not measured: no package | | | | | |",
        ];
        assert_eq!(rows, expected);
    }
}
