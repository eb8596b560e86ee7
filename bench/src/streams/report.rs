//! The table of costs of many clients.

use std::fmt::Write as _;
use std::time::Duration;

use super::client::Transport;
use super::crowd::Crowd;
use super::slow::{OTHERS, Slow};
use crate::facts::Facts;
use crate::load::count;
use crate::parked::thousands;
use crate::stats::percentile;

pub(super) fn report(
    facts: &Facts,
    command: &str,
    files: u64,
    crowds: &mut [Crowd],
    slow: Option<Slow>,
) -> String {
    let mut text = format!(
        "## Streams\n\n\
         Clients that follow one server, and asks of 500 bytes, one after the other. \
         Server-sent events bring everything that happens, sockets what an inbox needs.\n\
         A time begins when the ask leaves, and ends when its `interrupt_opened` has been read by half of the clients, or by all.\n\n\
         - Command: `{command}`.\n{facts}\
         - All clients are one program with one thread, on the same two cores as the server.\n\
         - Open files: the bench raised the limit from {}; the server inherits it.\n\n",
        thousands(files),
    );
    let heads: Vec<_> = crowds
        .iter()
        .map(|crowd| match crowd.way {
            Transport::Events => format!("{} server-sent streams", thousands(crowd.clients as u64)),
            Transport::Socket => format!("{} WebSockets", thousands(crowd.clients as u64)),
        })
        .collect();
    let _ = writeln!(text, "| | {} |\n|---|{}", heads.join(" | "), "---|".repeat(heads.len()));
    let mut row = |what: &str, cell: &dyn Fn(&mut Crowd) -> String| {
        let cells: Vec<_> = crowds.iter_mut().map(cell).collect();
        let _ = writeln!(text, "| {what} | {} |", cells.join(" | "));
    };
    row("**an event reached all**, median of the events", &|crowd| {
        milliseconds(percentile(&mut crowd.all, 50))
    });
    row("… 99 % of the events", &|crowd| milliseconds(percentile(&mut crowd.all, 99)));
    row("an event reached half of them, median", &|crowd| milliseconds(percentile(&mut crowd.half, 50)));
    row("the ask was answered, median", &|crowd| milliseconds(percentile(&mut crowd.answered, 50)));
    row("processor time of the server for each event", &|crowd| milliseconds(crowd.processor));
    row("… and of the clients", &|crowd| milliseconds(crowd.clients_processor));
    row("**memory for each idle client**", &|crowd| {
        let [before, idle, _] = crowd.memory;
        format!("{:.1} kB", count(idle.saturating_sub(before)) / count(crowd.clients) / 1000.0)
    });
    row("resident memory before, idle, after the events", &|crowd| {
        crowd.memory.map(|bytes| format!("{} MB", bytes / 1_000_000)).join(", ")
    });
    row("until all were connected", &|crowd| format!("{:.1} s", crowd.connected_after.as_secs_f64()));
    if let Some(slow) = slow {
        let Slow { before, beside, closed_after, held, in_the_end, sent } = slow;
        let closed = closed_after.map_or_else(
            || "Its connection stays open for as long as it reads nothing, and its stream is over once it reads".to_owned(),
            |after| format!("Its connection is closed {:.0} s after the last of them", after.as_secs_f64()),
        );
        let _ = writeln!(
            text,
            "\n{OTHERS} streams that read and one that does not, {sent} asks of 50 kB: they reach all who read in {} at the \
             median, and in {} before the slow one came. {closed}. It held {held} asks whole; back with the id of its \
             last event it has {in_the_end} of {sent}.",
            milliseconds(beside),
            milliseconds(before),
        );
    }
    text
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}
