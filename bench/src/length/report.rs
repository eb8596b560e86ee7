//! The table with the costs by length of a run.

use std::fmt::Write as _;
use std::time::Duration;

use super::{Options, Row};
use crate::facts::Facts;
use crate::stats::{Spread, percentile};

pub(super) fn report(facts: &Facts, options: &Options, rows: &[Row]) -> String {
    let Options { events, decisions, .. } = options;
    let mut text = format!(
        "## Length of a run\n\n\
         An agent of another framework asks questions in one run, and a person answers each question. The \
         table shows how long a question and an answer take in runs of different lengths.\n\n\
         - Command: `cargo xtask bench length --events {events} --decisions {decisions}`.\n{facts}\
         - {decisions} questions and answers at each length, one after another.\n\n\
         | events of the run | question | answer | 99th percentile | first answer after a restart |\n|---|---|---|---|---|\n",
    );
    let ms = |took: Duration| took.as_secs_f64() * 1e3;
    for Row { events, asks, decisions, first } in rows {
        let spread = |took: &[Duration]| Spread::from_values(took.iter().copied().map(ms)).in_unit(2, "ms");
        let slow = ms(percentile(&mut decisions.clone(), 99));
        let _ = writeln!(
            text,
            "| {events} | {} | {} | {slow:.2} ms | {:.0} ms |",
            spread(asks),
            spread(decisions),
            ms(*first),
        );
    }
    text.push_str("\nThe first answer after a restart replays the run from the journal.\n");
    text
}
