//! The table with the costs of many clients.

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
         Clients follow one server while requests of 500 bytes are made one after another. \
         Server-sent events carry all events, sockets the events of an inbox.\n\
         A time begins when the request is sent, and ends when half of the clients, or all, have read its `interrupt_opened`.\n\n\
         - Command: `{command}`.\n{facts}\
         - All clients are one program with one thread, on the same cores as the server.\n\
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
    row("the request was answered, median", &|crowd| milliseconds(percentile(&mut crowd.answered, 50)));
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
            || {
                "The slow client's connection stays open while the client reads nothing, and its stream \
                ends once the client reads"
                    .to_owned()
            },
            |after| {
                format!(
                    "The server closes the slow client's connection {:.0} s after the last request",
                    after.as_secs_f64()
                )
            },
        );
        let _ = writeln!(
            text,
            "\nWith {OTHERS} clients that read and one slow client that does not read, {sent} requests of \
             50 kB reach all readers in {} \
             (median), and in {} without the slow client. {closed}. The slow client had received {held} \
             complete requests; after \
             reconnecting with the id of its last event it has {in_the_end} of {sent}.",
            milliseconds(beside),
            milliseconds(before),
        );
    }
    text
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}
