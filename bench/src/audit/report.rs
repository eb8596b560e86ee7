//! The table with the costs of audits.

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
         Agents make requests with {PAYLOAD_BYTES} bytes over HTTP, and a person decides each request. Then \
         the server stops, and `audit verify` checks the whole journal: every hash chain, every content and \
         every row.\n\n\
         - Command: `cargo xtask bench audit --events {last}`.\n{facts}\
         - {AUDITS} audits of each journal, one after another. Figures are medians, with the lowest and highest. The database is in the kernel's cache.\n\
         - In SQLite, each append extends the hash chain over all events, which costs {} ns of hashing and {} bytes per event. In PostgreSQL, the chain is extended after the appends.\n\n",
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
    row("**events audited per second**", &|rung| spread(rung, &Audit::per_second).to_string());
    row("… the whole audit", &|rung| spread(rung, &|audit| audit.took.as_secs_f64()).in_unit(1, "s"));
    row("**resident memory** of the audit (highest)", &|rung| {
        spread(rung, &|audit| count(audit.memory) / 1e6).in_unit(0, "MB")
    });
    row("streams", &|rung| thousands(rung.audits.first().map_or(0, |audit| audit.streams)));
    row("events written per second, before the audit", &|rung| format!("{:.0}", rung.written_per_second));
    row("… share of that time spent on the hash chain over all events", &|rung| match rung.store {
        "SQLite" => format!("{:.2} %", chain.hash.as_secs_f64() * rung.written_per_second * 100.0),
        _ => String::new(),
    });
    text
}
