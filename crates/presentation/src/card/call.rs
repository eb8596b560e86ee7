//! The tool call that an interrupt is about: facts about the call, and the parts of the card that show what it does.

use holdshort_protocol::{CommandEffect, Diff, EarlierCall, FetchCard, Interrupt, Script, TrialCard, plain};
use serde_json::Value;

use super::fact::{Fact, FactName};
use super::part::{Part, TriedChange};
use super::parts::{data, diff, text};

/// Returns the facts about a tool call, and about the conditions under which it would run. `payload` is the part of the
/// interrupt's payload that describes the call.
pub(super) fn facts(payload: &Value, interrupt: &Interrupt) -> Vec<Fact> {
    let mut facts = vec![Fact::new(FactName::Tool, plain::line(text(payload, "tool")))];
    facts.extend(EarlierCall::list(payload).iter().map(|before| {
        let words = format!("{}, which {}", plain::line(before.title), before.state());
        if before.is_missing() {
            Fact::notice(FactName::After, words)
        } else {
            Fact::new(FactName::After, words)
        }
    }));
    facts.extend(FetchCard::from_payload(payload).into_iter().flat_map(fetch));
    // The path is omitted if the part with the change already shows it.
    let path = Some(text(payload, "path")).filter(|_| Diff::from_payload(payload).is_none());
    let places = [(FactName::Path, path), (FactName::Directory, payload.get("cwd").and_then(Value::as_str))];
    let places =
        places.into_iter().filter_map(|(name, place)| Some((name, place.filter(|it| !it.is_empty())?)));
    facts.extend(places.map(|(name, place)| Fact::new(name, plain::line(place))));
    if command(payload).is_some() {
        facts.extend(conditions(payload, interrupt));
    }
    facts
}

fn fetch(fetch: FetchCard<'_>) -> Vec<Fact> {
    let fact = |(label, text): (&str, String)| match label {
        "host" => Some(Fact::new(FactName::Host, text)),
        "path" => Some(Fact::new(FactName::Path, text)),
        "query" => Some(Fact::new(FactName::Query, text)),
        "by" if fetch.is_open() => Some(Fact::notice(FactName::By, text)),
        "by" => Some(Fact::new(FactName::By, text)),
        _ => None,
    };
    fetch.parts().into_iter().filter_map(fact).collect()
}

/// Returns the conditions under which a command runs: what it is allowed to reach, and how long it may run.
fn conditions(payload: &Value, interrupt: &Interrupt) -> Vec<Fact> {
    let mut facts = Vec::new();
    facts.extend(TrialCard::missing(payload).map(|why| {
        Fact::notice(
            FactName::Untried,
            format!("the command could not be tried before you decide: {}", plain::line(why)),
        )
    }));
    // After a trial, the card shows the actual changes instead.
    let predicted = interrupt.command_effect.as_ref().filter(|_| TrialCard::from_payload(payload).is_none());
    facts.extend(predicted.map(|CommandEffect { text, is_unusual }| {
        let text = plain::line(text);
        if *is_unusual { Fact::notice(FactName::Effect, text) } else { Fact::new(FactName::Effect, text) }
    }));
    let sandbox = payload.get("sandbox").and_then(Value::as_str);
    facts.extend(sandbox.map(|level| match level {
        "full" => Fact::new(
            FactName::Sandbox,
            "full: access only to what is listed here and a private temporary folder",
        ),
        "partial" => Fact::notice(
            FactName::Sandbox,
            "partial: this machine can only restrict some of the command's access",
        ),
        _ => Fact::alarm(FactName::Sandbox, "none: the command can do whatever you can do"),
    }));
    match payload.get("network").and_then(Value::as_bool) {
        Some(true) => facts.push(Fact::notice(FactName::Network, "yes")),
        Some(false) if sandbox == Some("full") => facts.push(Fact::new(FactName::Network, "no")),
        Some(false) if sandbox.is_some() => {
            facts.push(Fact::notice(FactName::Network, "yes: this sandbox cannot prevent it"));
        }
        Some(false) | None => {}
    }
    if let Some(seconds) = payload.get("timeout_s").and_then(Value::as_f64) {
        facts.push(Fact::new(FactName::Timeout, format!("{seconds} s")));
    }
    facts
}

/// Returns the parts of the card that show the call: its command, its change of a file, or its arguments. A note of the
/// payload is included only while the interrupt is open.
pub(super) fn parts(payload: &Value, is_open: bool) -> Vec<Part<'_>> {
    let note = payload.get("note").and_then(Value::as_str).filter(|note| is_open && !note.is_empty());
    let trial = TrialCard::from_payload(payload).map(tried);
    let note = note.map(|text| Part::Note { text: plain::lines(text) });
    let mut parts = Vec::new();
    if let Some(command) = command(payload) {
        parts.push(Part::Command { text: plain::lines(command) });
        parts.extend(note);
        parts.extend(trial);
        parts.extend(Script::all(payload).map(|script| Part::Script {
            path: plain::line(script.path),
            text: script.text.unwrap_or("(no text)"),
            truncated: script.truncated,
        }));
        return parts;
    }
    parts.extend(note);
    if let Some(trial) = trial {
        parts.push(trial);
    } else if let Some(change) = Diff::from_payload(payload) {
        parts.extend(diff(payload, false));
        // If the card shows only a part of the change, the complete new text from the call is added.
        parts.extend(match change.new_text(payload) {
            Some(text) => Some(Part::Data {
                label: "All of the new text",
                text: text.to_owned(),
                is_quoted: false,
                value: text.into(),
            }),
            None if change.truncated => data(payload, "arguments", "Arguments"),
            None => None,
        });
    } else {
        parts.extend(data(payload, "arguments", "Arguments"));
    }
    parts
}

/// Returns the part of the card that shows a trial: the changes and the output of a command that was run before the
/// decision.
fn tried(trial: TrialCard<'_>) -> Part<'_> {
    let changes = trial.changes().map(|change| {
        let diff = change.diff().filter(|diff| !diff.hunks.is_empty());
        TriedChange {
            path: plain::line(change.path()),
            words: plain::line(&change.describe()).into_owned(),
            is_deletion: change.is_deletion(),
            is_outside: change.is_outside(),
            unseen: diff.as_ref().and_then(Diff::unseen),
            diff,
        }
    });
    Part::Trial {
        head: trial.head(),
        words: trial.summary(),
        git: trial.git().map(plain::line).collect(),
        changes: changes.collect(),
        unseen: trial.unseen(),
        left: trial.left().iter().map(|line| plain::line(line).into_owned()).collect(),
        output: trial.output(),
    }
}

pub(super) fn command(payload: &Value) -> Option<&str> {
    payload.get("command").or_else(|| payload.pointer("/arguments/command"))?.as_str()
}
