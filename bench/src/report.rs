//! The table with the cycles per second.

use std::fmt::Write as _;
use std::time::Duration;

use crate::cycle::{PAYLOAD_BYTES, Row};
use crate::facts::Facts;
use crate::measure::{CONNECTIONS, Measured, Side};
use crate::plan::{CROWD, Plan};
use crate::stats::{Spread, percentile};

pub(crate) fn report(facts: &Facts, plan: Plan, command: &str, rows: &mut [Measured]) -> String {
    let mut text = String::new();
    let mut line = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    line("## Cycles\n");
    line(
        "A cycle over HTTP is start → pause → decide → done.\n\
         Holdshort is compared with a hand-written loop, which uses axum, the same database and the same \
         number of requests.\n\
         In SQLite the loop makes the same number of durable commits as Holdshort. In PostgreSQL it makes \
         three transactions of four round trips each, with prepared statements.",
    );
    line(
        "The loop is the upper limit: it only checks the bearer token, without journal, hash chain, projections, idempotency or workflows.\n",
    );
    line(&format!("- Command: `{command}`."));
    line(facts.to_string().trim_end());
    line(
        "- Durability of both in SQLite: WAL, `synchronous=FULL`, one writer with group commit, pages of 1 kB, a checkpoint every 16 MB.",
    );
    line(&format!(
        "- {} alternating rounds after a warm-up, each {} s at concurrency 1 and {} s at {CROWD}. Figures are medians, with the lowest and highest round.",
        plan.rounds,
        plan.alone.as_secs_f64(),
        plan.together.as_secs_f64(),
    ));
    let syncs = Spread::from_values(rows.iter().flat_map(|row| row.syncs.iter().copied()));
    line(&format!("- The disk alone: {syncs} appended blocks of 4 kB per second, with `fdatasync`."));
    if let Some(postgres) = rows.iter().find_map(|row| row.postgres.as_ref()) {
        line(&format!(
            "- Durability of both in PostgreSQL: {postgres}; the loop has {CONNECTIONS} connections."
        ));
    }
    for row in rows {
        line("");
        line(table(row).trim_end());
    }
    text
}

fn table(measured: &mut Measured) -> String {
    let Measured { row, postgres, ours, hand, in_process, many_in_process, round_trip, .. } = measured;
    let mut text = String::new();
    let (name, work) = match row {
        Row::External => (
            "external",
            "an agent asks and waits by long poll, a person decides, and the poll returns the resolution",
        ),
        Row::Native => (
            "native",
            "a run with one checkpoint starts, a person decides, the poll returns, and the run is read as completed",
        ),
    };
    let (sum, half) =
        (Spread::from_values(ours.alone.iter().copied()), Spread::from_values(hand.alone.iter().copied()));
    let (crowd, half_crowd) = (
        Spread::from_values(ours.together.iter().copied()),
        Spread::from_values(hand.together.iter().copied()),
    );
    let _ = writeln!(
        text,
        "### {name}, {}\n\n{PAYLOAD_BYTES} bytes: {work}.\n",
        if postgres.is_some() { "PostgreSQL" } else { "SQLite" }
    );
    let _ = writeln!(text, "| | Holdshort | loop | Holdshort / loop |\n|---|---|---|---|");
    let mut put = |what: &str, ours: String, hand: String, ratio: Option<f64>| {
        let ratio = ratio.map(|ratio| format!("{:.0} %", ratio * 100.0)).unwrap_or_default();
        let _ = writeln!(text, "| {what} | {ours} | {hand} | {ratio} |");
    };
    put("cycles/s at concurrency 1", sum.to_string(), half.to_string(), Some(sum.median / half.median));
    put(
        &format!("cycles/s at concurrency {CROWD}"),
        crowd.to_string(),
        half_crowd.to_string(),
        Some(crowd.median / half_crowd.median),
    );
    for percent in [50, 99] {
        let (a, b) = (percentile(&mut ours.latencies, percent), percentile(&mut hand.latencies, percent));
        let what = format!("decision to done at concurrency 1, p{percent}");
        put(&what, milliseconds(a), milliseconds(b), Some(a.as_secs_f64() / b.as_secs_f64()));
    }
    let mut each = |what: &str, of: &dyn Fn(&Side) -> String| put(what, of(ours), of(hand), None);
    each("requests per cycle", &|side| format!("{:.2}", side.requests));
    each("durable commits per cycle, counted in the log", &|side| {
        side.commits.map_or_else(|| "not counted".to_owned(), |commits| format!("{commits:.2}"))
    });
    each("log written per cycle at concurrency 1", &|side| format!("{:.1} kB", side.log_bytes / 1000.0));
    each("disk flushes per cycle at concurrency 1", &|side| flushes(&side.flushes_alone));
    each(&format!("disk flushes per cycle at concurrency {CROWD}"), &|side| flushes(&side.flushes_together));
    each("resident memory after all cycles (highest)", &|side| {
        format!("{} ({}) after {}", megabytes(side.memory.0), megabytes(side.memory.1), side.cycles)
    });
    let (rate, floor) = *in_process;
    let reach = floor * 2 + *round_trip;
    let _ = writeln!(
        text,
        "\nThe loop without HTTP makes {rate:.0} cycles/s at concurrency 1; decision to done takes {} (median).\n\
         An HTTP round trip takes {}. Two such decisions and one round trip take {}; Holdshort takes {}.",
        milliseconds(floor),
        milliseconds(*round_trip),
        milliseconds(reach),
        milliseconds(percentile(&mut ours.latencies, 50)),
    );
    if let Some(many) = many_in_process {
        let _ = writeln!(
            text,
            "With {CONNECTIONS} concurrent agents, each with a database connection, the loop makes \
            {many:.0} cycles/s."
        );
    }
    text
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes / 1_000_000)
}

fn flushes(rounds: &[f64]) -> String {
    if rounds.is_empty() {
        return "not counted by this kernel".to_owned();
    }
    format!("{:.2}", Spread::from_values(rounds.iter().copied()).median)
}
