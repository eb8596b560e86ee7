//! The table with the costs of trials.

use std::fmt::Write as _;
use std::time::Duration;

use super::{COMMITTED, Commits, EDITED, JournalCost, Measured, Options, Rung};
use crate::facts::Facts;
use crate::load::count;
use crate::parked::thousands;
use crate::stats::Spread;

pub(super) fn report(
    facts: &Facts,
    options: &Options,
    rungs: &[Rung],
    commits: &Commits,
    kept: &JournalCost,
    beside: Option<&Measured>,
) -> String {
    let Options { files, rounds, .. } = options;
    let mut text = format!(
        "## Trials\n\n\
         The command `true` runs in a workspace in three ways: as a command that only reads, as a command \
         that may write, and in a trial. Only the tools are measured, without a server.\n\n\
         - Command: `cargo xtask bench trials --files {files} --rounds {rounds}`.\n{facts}\
         - {rounds} rounds. Figures are medians, with the lowest and highest.\n\n",
    );
    let heads: Vec<_> = rungs.iter().map(|rung| format!("{} files", thousands(rung.files as u64))).collect();
    let _ = writeln!(text, "| | {} |\n|---|{}", heads.join(" | "), "---|".repeat(rungs.len()));
    let mut row = |what: &str, cell: &dyn Fn(&Rung) -> String| {
        let cells: Vec<_> = rungs.iter().map(cell).collect();
        let _ = writeln!(text, "| {what} | {} |", cells.join(" | "));
    };
    row("run, only reads", &|rung| in_ms(&rung.read));
    row("run, may write", &|rung| in_ms(&rung.written));
    row("**trial**", &|rung| in_ms(&rung.tried));
    row("… more than a run that only reads", &|rung| {
        format!("{:.1} ms", median(&rung.tried) - median(&rung.read))
    });
    row("peak memory of a trial, above the resident memory", &|rung| {
        format!("{:.1} MB", count(rung.memory) / 1e6)
    });
    if let Some(beside) = beside {
        let cells: Vec<_> = beside.tried.iter().map(|tried| in_ms(tried)).collect();
        let _ = writeln!(
            text,
            "| {}: `oops run true`, with a process each time | {} |",
            beside.version,
            cells.join(" | ")
        );
    }
    let _ = write!(
        text,
        "\nA commit of {} new files, each synced and renamed, takes {}. The disk alone makes {:.0} `fdatasync` per second.\n\
         For an edit of a file of {} kB, the journal in SQLite needs {} to store {:.1} kB of file contents, \
         in addition to the events of the edit.\n",
        thousands(COMMITTED as u64),
        in_ms(&commits.took),
        commits.syncs_per_second,
        EDITED / 1024,
        in_ms(&kept.took),
        kept.bytes / 1e3,
    );
    let _ = match beside {
        Some(Measured { version, committed, .. }) => write!(
            text,
            "\n{version} (crate `oops-sh`) also runs a command over an overlay of the folder and applies its changes. \
             `oops commit` of the same number of files takes {}, without a sync, a precondition or a \
             journal.\n",
            in_ms(committed),
        ),
        None => write!(
            text,
            "\nNo other program was measured. Pass the path of `oops` with `--oops` to measure it too.\n"
        ),
    };
    text
}

fn in_ms(took: &[Duration]) -> String {
    Spread::from_values(took.iter().map(ms)).in_unit(1, "ms")
}

fn median(took: &[Duration]) -> f64 {
    Spread::from_values(took.iter().map(ms)).median
}

fn ms(took: &Duration) -> f64 {
    took.as_secs_f64() * 1e3
}
