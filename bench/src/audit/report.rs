//! The table of audit costs.

use std::fmt::Write as _;

use super::chain::Chain;
use super::verify::Audit;
use super::{AUDITS, Rung};
use crate::cycle::PAYLOAD_BYTES;
use crate::facts::Facts;
use crate::load::count;
use crate::parked::thousands;
use crate::stats::Spread;

pub(super) fn report(facts: &Facts, last: u64, rungs: &[Rung], chain: &Chain) -> String {
    let mut text = format!(
        "## Audit\n\n\
         Agents ask with {PAYLOAD_BYTES} bytes and a person decides, over HTTP; the server is stopped, and `audit verify` walks the whole journal: every chain, every content, every row.\n\n\
         - Command: `cargo xtask bench audit --events {last}`.\n{facts}\
         - {AUDITS} audits of each journal, one after the other; medians, and the lowest and highest. The database is in the kernel's cache.\n\
         - The one chain over all events is kept in SQLite by the append itself: {} ns of hashing and {} bytes an event. In PostgreSQL it is sealed behind the appends.\n\n",
        chain.hash.as_nanos(),
        chain.bytes,
    );
    let heads: Vec<_> = rungs
        .iter()
        .map(|rung| {
            let events = rung.audits.first().map_or(0, |audit| audit.events);
            format!("{} events in {}", thousands(events), rung.store)
        })
        .collect();
    let _ = writeln!(text, "| | {} |\n|---|{}", heads.join(" | "), "---|".repeat(rungs.len()));
    let mut row = |what: &str, cell: &dyn Fn(&Rung) -> String| {
        let cells: Vec<_> = rungs.iter().map(cell).collect();
        let _ = writeln!(text, "| {what} | {} |", cells.join(" | "));
    };
    let spread = |rung: &Rung, of: &dyn Fn(&Audit) -> f64| Spread::from_values(rung.audits.iter().map(of));
    row("**events audited a second**", &|rung| spread(rung, &Audit::per_second).to_string());
    row("… the whole audit", &|rung| spread(rung, &|audit| audit.took.as_secs_f64()).in_unit(1, "s"));
    row("**resident memory** of the audit (highest)", &|rung| {
        spread(rung, &|audit| count(audit.memory) / 1e6).in_unit(0, "MB")
    });
    row("streams", &|rung| thousands(rung.audits.first().map_or(0, |audit| audit.streams)));
    row("events written a second before", &|rung| format!("{:.0}", rung.written_per_second));
    row("… share of hashing the one chain in that time", &|rung| match rung.store {
        "SQLite" => format!("{:.2} %", chain.hash.as_secs_f64() * rung.written_per_second * 100.0),
        _ => String::new(),
    });
    text
}
