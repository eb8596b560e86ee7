//! The table of costs of turns.

use std::fmt::Write as _;
use std::time::Duration;

use super::{Does, Options, Row};
use crate::facts::Facts;
use crate::stats::{Spread, percentile};

pub(super) fn report(facts: &Facts, options: &Options, rows: &[Row]) -> String {
    let Options { turns, .. } = options;
    let mut text = format!(
        "## Turns\n\n\
         A conversation with the shipped `copilot`: from a person's word until it is their turn again, with a model that answers at once. What it costs beside the model.\n\n\
         - Command: `cargo xtask bench turns --turns {turns}`.\n{facts}\
         - {turns} turns of each kind, one after the other in one conversation: each request tells those before, up to the limit `rounds_bytes`.\n\n\
         | in its turn the copilot | events | bytes of journal | milliseconds | … of a hundred the slowest but one | sent to the model |\n|---|---|---|---|---|---|\n",
    );
    for Row { does, took, events, bytes, sent } in rows {
        let what = match does {
            Does::Answers => "answers",
            Does::Reads => "reads a file, and answers",
            Does::Changes => "changes a file, released at once, and answers",
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
        "\nMilliseconds are seen by a client that looks every millisecond. Bytes are those of the whole data folder: events, rows, indexes, and what files were.\n",
    );
    text
}
