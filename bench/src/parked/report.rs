//! The table with the costs of waiting runs.

use std::fmt::Write as _;
use std::time::Duration;

use super::{Rung, STARTS, UNFINISHED, start::Start};
use crate::cycle::PAYLOAD_BYTES;
use crate::facts::Facts;
use crate::load::count;
use crate::stats::Spread;

/// Row of the table with costs of waiting runs: its title, and a function that formats a figure of a measurement.
type Row<'a> = (&'a str, &'a dyn Fn(&Rung) -> String);

pub(super) fn report(facts: &Facts, last: u64, rungs: &[Rung]) -> String {
    let mut text = format!(
        "## Parked runs\n\n\
         Requests of {PAYLOAD_BYTES} bytes are made over HTTP and stay undecided. Then the server restarts \
         on the same data folder.\n\
         Before each start the kernel's cache of the database is emptied, as after a reboot.\n\n\
         - Command: `cargo xtask bench parked --runs {last}`.\n{facts}\
         - {STARTS} starts at each count. Figures are medians, with the lowest and highest. The time of a \
         decision ends when the agent, which waits by long poll, receives the decision.\n\n\
         ![Disk, memory and times over the number of parked runs](parked.svg)\n\n",
    );
    let counts: Vec<_> = rungs.iter().map(|rung| thousands(rung.runs)).collect();
    let _ = writeln!(text, "| waiting runs | {} |\n|---|{}", counts.join(" | "), "---|".repeat(rungs.len()));
    let each = |bytes: u64, rung: &Rung| format!("{:.0} B", count(bytes) / count(rung.runs));
    let rows: [Row; 15] = [
        ("**disk per run**", &|rung| each(rung.split.total(), rung)),
        ("… events", &|rung| each(rung.split.events, rung)),
        ("… rows (projections)", &|rung| each(rung.split.rows, rung)),
        ("… indexes", &|rung| each(rung.split.indexes, rung)),
        ("… idempotency keys", &|rung| each(rung.split.keys, rung)),
        ("… unused pages", &|rung| each(rung.split.free, rung)),
        ("**resident memory** after the start", &|rung| megabytes(rung, |start| start.memory)),
        ("… after 21 inbox pages", &|rung| megabytes(rung, |start| start.memory_later)),
        ("**start to ready**", &|rung| milliseconds(rung, |start| start.ready_after)),
        ("… after a kill with requests in the log", &|rung| format!("{:.0} ms", ms(rung.after_a_kill))),
        ("**first decision → the agent has it**", &|rung| milliseconds(rung, |start| start.decision)),
        ("**inbox page of 50**, first request", &|rung| milliseconds(rung, |start| start.first_look)),
        ("… later requests", &|rung| milliseconds(rung, |start| start.look)),
        ("… a deep page", &|rung| {
            let depth = rung.starts.first().map_or(0, |start| start.depth);
            format!("{}, after {} rows", milliseconds(rung, |start| start.deep_look), thousands(depth))
        }),
        ("requests made per second", &|rung| format!("{:.0}", rung.asks_per_second)),
    ];
    for (name, cell) in rows {
        let cells: Vec<_> = rungs.iter().map(cell).collect();
        let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
    }
    let _ = writeln!(
        text,
        "\nThe log of the killed server held {UNFINISHED} requests that were not yet in the database."
    );
    text
}

pub(super) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

pub(super) fn spread(rung: &Rung, of: impl Fn(&Start) -> f64) -> Spread {
    Spread::from_values(rung.starts.iter().map(of))
}

fn milliseconds(rung: &Rung, of: impl Fn(&Start) -> Duration) -> String {
    spread(rung, |start| ms(of(start))).in_unit(1, "ms")
}

fn megabytes(rung: &Rung, of: impl Fn(&Start) -> u64) -> String {
    spread(rung, |start| count(of(start)) / 1e6).in_unit(0, "MB")
}

/// Formats a number with commas, such as 1,000,000.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_read_in_threes() {
        let read = [7, 999, 1_000, 123_456, 1_000_000].map(thousands);
        assert_eq!(read, ["7", "999", "1,000", "123,456", "1,000,000"]);
    }
}
