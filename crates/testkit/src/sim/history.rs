//! The history of a simulation as text that people can read. Each line contains the time since the start, the actor,
//! and what happened.

use holdshort_core::event;
use holdshort_core::time::Timestamp;
use holdshort_store::Append;
use serde_json::Value;

use crate::clock::START;

/// Lines of a simulation's history. `None` if no history is recorded.
#[derive(Clone, Debug, Default)]
pub(super) struct History(Option<Vec<String>>);

impl History {
    pub(super) fn wanted() -> Self {
        Self(Some(Vec::new()))
    }

    pub(super) fn record_line(&mut self, now: Timestamp, line: impl FnOnce() -> String) {
        if let Some(lines) = &mut self.0 {
            let ms = now.as_millis() - START.as_millis();
            lines.push(format!("{:>7}.{:03}s  {}", ms / 1_000, ms.unsigned_abs() % 1_000, line()));
        }
    }

    pub(super) fn into_lines(self) -> Vec<String> {
        self.0.unwrap_or_default()
    }
}

/// Returns an id in the short form of the simulation's history: its kind and its last four characters.
pub(super) fn short(id: &str) -> String {
    match id.split_once('_') {
        Some((kind, rest)) if rest.len() > 4 => format!("{kind}_{}", &rest[rest.len() - 4..]),
        Some(_) | None => id.to_owned(),
    }
}

/// Describes the events of an append for the simulation's history, one stream after another.
pub(super) fn append(append: &Append) -> String {
    let parts = append.streams.iter().map(|part| {
        let events: Vec<String> = part
            .events
            .iter()
            .map(|sealed| {
                event::decode(sealed).map_or_else(|error| error.to_string(), |event| describe_event(&event))
            })
            .collect();
        format!("{}/{} {}", short(part.stream.as_str()), part.expected + 1, events.join(", "))
    });
    parts.collect::<Vec<_>>().join(" | ")
}

/// Describes an event for the simulation's history: its type, and the facts that distinguish it from other events of
/// this type.
fn describe_event(event: &event::Event) -> String {
    const TELLING: [&str; 12] = [
        "call",
        "attempt",
        "kind",
        "interrupt",
        "outcome",
        "option",
        "end",
        "why",
        "reason",
        "limit",
        "step",
        "epoch",
    ];
    let (mut told, facts) = event.fact.encode();
    for key in TELLING {
        match &facts[key] {
            Value::String(text) => told = format!("{told} {}", short(text)),
            Value::Number(number) => told = format!("{told} {key}={number}"),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {}
        }
    }
    told
}
