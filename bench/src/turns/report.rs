//! The table with the costs of turns.

use std::fmt::Write as _;
use std::time::Duration;

use super::{Does, Options, Row};
use crate::facts::Facts;
use crate::stats::{Spread, percentile};

pub(super) fn report(facts: &Facts, options: &Options, rows: &[Row]) -> String {
    let Options { turns, .. } = options;
    let mut text = format!(
        "## Turns\n\n\
         A turn of a conversation with the shipped `copilot` begins with a message and ends when the person can write again. The model answers at once, so this is the cost without the model.\n\n\
         - Command: `cargo xtask bench turns --turns {turns}`.\n{facts}\
         - {turns} turns of each kind, one after another in one conversation. Each request contains the turns before it, up to the limit `rounds_bytes`.\n\n\
         | in its turn the copilot | events | bytes of journal | time | 99th percentile | sent to the model |\n|---|---|---|---|---|---|\n",
    );
    for Row { does, took, events, bytes, sent } in rows {
        let what = match does {
            Does::Answers => "answers",
            Does::Reads => "reads a file, and answers",
            Does::Changes => "changes a file, approved at once, and answers",
        };
        let ms = |took: Duration| took.as_secs_f64() * 1e3;
        let slow = ms(percentile(&mut took.clone(), 99));
        let _ = writeln!(
            text,
            "| {what} | {events:.0} | {:.1} kB | {} | {slow:.1} ms | {:.1} kB |",
            bytes / 1e3,
            Spread::from_values(took.iter().copied().map(ms)).in_unit(1, "ms"),
            sent / 1e3,
        );
    }
    text.push_str(
        "\nA client that polls every millisecond measures the time. Bytes are those of the whole data folder: events, rows, indexes, and earlier contents of files.\n",
    );
    text
}
