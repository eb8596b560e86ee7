//! What an interrupt is about, by kind: facts that the runtime vouches for, and parts to read.

use std::borrow::Cow;

use holdshort_protocol::{
    Before, CommandEffect, Diff, FetchCard, Interrupt, JudgedCall, Kind, Origin, Script, TrialCard,
    is_outside, plain,
};
use serde::Serialize;
use serde_json::Value;

use super::card::Fact;

/// Something to read. The template draws each in its own way. Exact values, such as commands, paths, names and data, are
/// made plain here, by `plain::line` and `plain::lines`. Prose is made plain where it is printed.
#[derive(Serialize)]
#[serde(tag = "part", rename_all = "snake_case")]
pub(super) enum Part<'a> {
    Command {
        text: Cow<'a, str>,
        note: &'a str,
    },
    /// Changes that the command made when it was tried, path by path.
    Trial {
        head: &'static str,
        words: String,
        text: String,
        /// Changes that an undo leaves as they are, with the reasons.
        left: Vec<String>,
    },
    /// A file that the command runs.
    Script {
        path: Cow<'a, str>,
        text: &'a str,
        truncated: bool,
    },
    Diff {
        path: Cow<'a, str>,
        is_new: bool,
        /// True if the task does not name this path.
        is_outside: bool,
        diff: Diff,
        /// Counts of the lines that are not shown.
        unseen: Option<String>,
    },
    Plan {
        subtasks: Vec<Subtask<'a>>,
    },
    /// A text of the agent.
    Quote {
        label: &'static str,
        text: &'a str,
    },
    /// Anything else, as JSON.
    Data {
        label: &'static str,
        text: String,
    },
}

impl Part<'_> {
    /// As plain text.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Command { text, note } => format!("Command:\n{text}\n{note}").trim_end().to_owned(),
            Self::Trial { head: of, words, text, left } => {
                let left: Vec<String> = left.iter().map(|line| format!("\nNot undone: {line}")).collect();
                format!("{of}: {words}\n{text}{}", left.concat())
            }
            Self::Script { path, text, .. } => format!("Runs {path}:\n{text}"),
            Self::Diff { path, is_new, is_outside, diff, unseen } => {
                let what = if *is_new { "New file" } else { "Change" };
                let outside = if *is_outside { ", outside what the task names" } else { "" };
                let lines = diff.hunks.iter().flat_map(|hunk| &hunk.lines);
                let lines: Vec<String> = lines.map(|line| format!("\n{} {}", line.op, line.text)).collect();
                let unseen = unseen.as_deref().map(|unseen| format!("\n{unseen}")).unwrap_or_default();
                format!("{what} {path}{outside}:{}{unseen}", lines.concat())
            }
            Self::Plan { subtasks } => {
                let line = |subtask: &Subtask<'_>| {
                    let Subtask { id, description, agent, after } = subtask;
                    format!("{id} ({agent}) {description} [after {}]", after.join(", "))
                };
                format!("Plan:\n{}", subtasks.iter().map(line).collect::<Vec<_>>().join("\n"))
            }
            Self::Quote { label, text } => format!("{label}:\n{text}"),
            Self::Data { label, text } => format!("{label}:\n{text}"),
        }
    }

    /// Whether something of it is not shown.
    pub(super) fn is_cut(&self) -> bool {
        match self {
            Self::Script { truncated, .. } => *truncated,
            Self::Diff { unseen, .. } => unseen.is_some(),
            Self::Command { .. }
            | Self::Trial { .. }
            | Self::Plan { .. }
            | Self::Quote { .. }
            | Self::Data { .. } => false,
        }
    }
}

#[derive(Serialize)]
pub(super) struct Subtask<'a> {
    id: Cow<'a, str>,
    description: &'a str,
    agent: Cow<'a, str>,
    after: Vec<Cow<'a, str>>,
}

/// Facts and parts. Of an agent that runs elsewhere nothing is a fact but the call that the gates read, `judged`, as the
/// agent named it.
pub(super) fn of<'a>(interrupt: &'a Interrupt, judged: Option<&'a JudgedCall>) -> (Vec<Fact>, Vec<Part<'a>>) {
    let payload = &interrupt.payload;
    if let Some(JudgedCall { call: judged, more, beside }) = judged {
        let mut facts = call_facts(judged, interrupt);
        facts.push(Fact::notice("Runs", JudgedCall::RUNS));
        let more = labelled("With", more).into_iter().chain(labelled("Details", beside));
        return (facts, call(judged, true).into_iter().chain(more).collect());
    }
    if interrupt.origin == Origin::External {
        return (Vec::new(), external(interrupt));
    }
    let parts = match interrupt.kind {
        Kind::ToolApproval | Kind::UnknownOutcome | Kind::ClientCall => {
            return (call_facts(payload, interrupt), call(payload, interrupt.resolution.is_none()));
        }
        Kind::PlanApproval => plan(payload).map_or_else(|| whole(payload), |plan| vec![plan]),
        Kind::Question => {
            [question(interrupt), quote(payload, "context", "Context")].into_iter().flatten().collect()
        }
        Kind::Review => [
            quote(payload, "title", "Title"),
            quote(payload, "content", "Content"),
            data(payload, "findings", "Findings"),
        ]
        .into_iter()
        .flatten()
        .collect(),
        Kind::Checkpoint => [
            data(payload, "input", "Input"),
            data(payload, "output", "Output"),
            data(payload, "results", "Results"),
        ]
        .into_iter()
        .flatten()
        .collect(),
        Kind::Error => quote(payload, "error", "Error").into_iter().collect(),
        Kind::Continuation if payload.get("output").is_some() => {
            quote(payload, "output", "Reply").into_iter().collect()
        }
        Kind::Choice | Kind::Turn | Kind::Escalation | Kind::Continuation => whole(payload),
    };
    (Vec::new(), parts)
}

fn external(interrupt: &Interrupt) -> Vec<Part<'_>> {
    let payload = &interrupt.payload;
    let mut parts: Vec<Part<'_>> =
        [question(interrupt), quote(payload, "context", "Context"), diff(payload), plan(payload)]
            .into_iter()
            .flatten()
            .collect();
    parts.extend(whole(payload));
    parts
}

fn call_facts(payload: &Value, interrupt: &Interrupt) -> Vec<Fact> {
    let mut facts = vec![Fact::new("Tool", plain::line(text(payload, "tool")))];
    facts.extend(Before::of(payload).iter().map(|before| {
        let said = format!("{}, which {}", plain::line(before.title), before.state());
        if before.is_missing() { Fact::notice("After", said) } else { Fact::new("After", said) }
    }));
    if let Some(fetch) = FetchCard::of(payload) {
        let labels = [("host", "Host"), ("path", "Path"), ("query", "Query"), ("by", "By")];
        facts.extend(fetch.parts().into_iter().filter_map(|(of, text)| {
            let label = labels.iter().find(|(label, _)| *label == of)?.1;
            let is_notice = of == "by" && fetch.is_open();
            Some(if is_notice { Fact::notice(label, text) } else { Fact::new(label, text) })
        }));
    }
    for (key, label) in [("path", "Path"), ("cwd", "In")] {
        let value = text(payload, key);
        if !value.is_empty() {
            facts.push(Fact::new(label, plain::line(value)));
        }
    }
    if command(payload).is_none() && interrupt.resolution.is_none() {
        let note = payload.get("note").and_then(Value::as_str);
        facts.extend(note.map(|note| Fact::new("What you release", plain::line(note))));
    }
    if command(payload).is_some() {
        facts.extend(TrialCard::missing(payload).map(|why| {
            Fact::notice(
                "Not tried",
                format!("it could not be tried before you decide: {}", plain::line(why)),
            )
        }));
        facts.extend(interrupt.command_effect.as_ref().map(|CommandEffect { text, is_unusual }| {
            let text = plain::line(text);
            if *is_unusual { Fact::notice("It may", text) } else { Fact::new("It may", text) }
        }));
        let sandbox = payload.get("sandbox").and_then(Value::as_str);
        facts.extend(sandbox.map(|level| match level {
            "full" => {
                Fact::new("Sandbox", "full: it can do nothing else, but use a private temporary folder")
            }
            "partial" => Fact::notice("Sandbox", "partial: this machine can not confine it fully"),
            _ => Fact::notice("Sandbox", "none: it can do whatever you can do"),
        }));
        match payload.get("network").and_then(Value::as_bool) {
            Some(true) => facts.push(Fact::notice("Network", "yes")),
            Some(false) if sandbox == Some("full") => facts.push(Fact::new("Network", "no")),
            Some(false) | None => {}
        }
        if let Some(seconds) = payload.get("timeout_s").and_then(Value::as_f64) {
            facts.push(Fact::new("At most", format!("{seconds} s")));
        }
    }
    facts
}

/// A call of ours: a command, a change of a file, or whatever its arguments are. Its note says what a decision means, and
/// nothing once there is one.
fn call(payload: &Value, is_open: bool) -> Vec<Part<'_>> {
    if let Some(command) = command(payload) {
        let scripts = Script::all(payload).map(|script| Part::Script {
            path: plain::line(script.path),
            text: script.text.unwrap_or("(no text)"),
            truncated: script.truncated,
        });
        let note = if is_open { text(payload, "note") } else { "" };
        let command = Part::Command { text: plain::lines(command), note };
        let trial = TrialCard::of(payload).map(tried).unwrap_or_default();
        return std::iter::once(command).chain(trial).chain(scripts).collect();
    }
    if let Some(trial) = TrialCard::of(payload) {
        return tried(trial);
    }
    let Some(change) = Diff::of(payload) else {
        return data(payload, "arguments", "Arguments").into_iter().collect();
    };
    // Where the change is cut, the call still has all that would be written.
    let rest = match change.new_text(payload) {
        Some(text) => Some(Part::Data { label: "All of the new text", text: text.to_owned() }),
        None if change.truncated => data(payload, "arguments", "Arguments"),
        None => None,
    };
    diff(payload).into_iter().chain(rest).collect()
}

/// What the command did where it could harm nothing.
fn tried(trial: TrialCard<'_>) -> Vec<Part<'_>> {
    let mut lines: Vec<String> = trial.git().map(|words| plain::line(words).into_owned()).collect();
    lines.extend(
        trial
            .changes()
            .map(|change| format!("{}  {}", plain::line(change.path()), plain::line(&change.words()))),
    );
    lines.extend(trial.unseen());
    let left = trial.left().iter().map(|line| plain::line(line).into_owned()).collect();
    let all = Part::Trial { head: trial.head(), words: trial.words(), text: lines.join("\n"), left };
    let diffs = trial.changes().filter_map(|change| {
        let diff = change.diff().filter(|diff| !diff.hunks.is_empty())?;
        let unseen = diff.unseen();
        let path = plain::line(change.path());
        Some(Part::Diff { path, is_new: false, is_outside: change.is_outside(), diff, unseen })
    });
    let output = Some(trial.output()).filter(|output| !output.trim().is_empty());
    let output = output.map(|text| Part::Quote { label: "What it printed", text });
    std::iter::once(all).chain(diffs).chain(output).collect()
}

fn command(payload: &Value) -> Option<&str> {
    payload.get("command").or_else(|| payload.pointer("/arguments/command"))?.as_str()
}

fn diff(payload: &Value) -> Option<Part<'_>> {
    let diff = Diff::of(payload)?;
    let is_new = payload.get("new_file").and_then(Value::as_bool).unwrap_or(false);
    let path = plain::line(text(payload, "path"));
    Some(Part::Diff { path, is_new, is_outside: is_outside(payload), unseen: diff.unseen(), diff })
}

fn plan(payload: &Value) -> Option<Part<'_>> {
    let subtasks: Vec<Subtask<'_>> =
        payload.pointer("/plan/subtasks")?.as_array()?.iter().map(subtask).collect();
    (!subtasks.is_empty()).then_some(Part::Plan { subtasks })
}

fn subtask(subtask: &Value) -> Subtask<'_> {
    let after = subtask.get("depends_on").and_then(Value::as_array);
    Subtask {
        id: plain::line(text(subtask, "id")),
        description: text(subtask, "description"),
        agent: plain::line(text(subtask, "agent")),
        after: after.into_iter().flatten().filter_map(Value::as_str).map(plain::line).collect(),
    }
}

fn whole(payload: &Value) -> Vec<Part<'_>> {
    labelled("Details", payload)
}

fn labelled<'a>(label: &'static str, payload: &Value) -> Vec<Part<'a>> {
    let is_empty = payload.is_null() || payload.as_object().is_some_and(serde_json::Map::is_empty);
    if is_empty { Vec::new() } else { vec![Part::Data { label, text: exact(payload) }] }
}

fn data<'a>(payload: &'a Value, key: &str, label: &'static str) -> Option<Part<'a>> {
    let value = payload.get(key).filter(|value| !value.is_null())?;
    Some(Part::Data { label, text: exact(value) })
}

fn quote<'a>(payload: &'a Value, key: &str, label: &'static str) -> Option<Part<'a>> {
    let text = text(payload, key);
    (!text.is_empty()).then_some(Part::Quote { label, text })
}

/// The question, where the title above it does not say all of it.
fn question(interrupt: &Interrupt) -> Option<Part<'_>> {
    let is_title = text(&interrupt.payload, "question") == interrupt.title;
    quote(&interrupt.payload, "question", "Question").filter(|_| !is_title)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Data as JSON is exact; a text is prose.
fn exact(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => plain::lines(&readable(other)).into_owned(),
    }
}

/// A text as it is, other data as JSON.
pub(super) fn readable(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}
