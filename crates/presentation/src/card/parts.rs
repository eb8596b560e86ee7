//! The parts of a card. The parts depend on the kind of interrupt.

use holdshort_protocol::{Diff, InspectedCall, Interrupt, Kind, Origin, is_outside, plain};
use serde_json::{Map, Value};

use super::call;
use super::fact::{Fact, FactName};
use super::part::{Part, Proposal, Subtask};

/// Returns the facts about the call of an interrupt, and the parts of its card. For an external agent, the only facts
/// are those about `judged`, the call that the gates have checked. Everything else is an unverified claim of the agent.
pub(super) fn for_interrupt<'a>(
    interrupt: &'a Interrupt,
    judged: Option<&'a InspectedCall>,
) -> (Vec<Fact>, Vec<Part<'a>>) {
    let payload = &interrupt.payload;
    let is_open = interrupt.resolution.is_none();
    if let Some(judged) = judged {
        let InspectedCall { call, more, beside } = judged;
        let mut facts = call::facts(call, interrupt);
        facts.push(Fact::notice(FactName::RunsAt, judged.runs_at()));
        let more = labelled("With", more, false).into_iter().chain(labelled("Details", beside, true));
        return (facts, call::parts(call, is_open).into_iter().chain(more).collect());
    }
    if interrupt.origin == Origin::External {
        return (Vec::new(), external(payload));
    }
    let parts: Vec<Option<Part<'a>>> = match interrupt.kind {
        Kind::ToolApproval | Kind::UnknownOutcome | Kind::ClientCall => {
            return (call::facts(payload, interrupt), call::parts(payload, is_open));
        }
        Kind::PlanApproval => vec![plan(payload).or_else(|| labelled("Plan", payload, false))],
        Kind::Question => vec![quote(payload, "question", "Question"), quote(payload, "context", "Context")],
        Kind::Review => vec![
            quote(payload, "title", "Title"),
            content(payload),
            payload.get("findings").and_then(listed).map(|text| Part::quote("Findings", text)),
            payload
                .get("regulatory_implications")
                .and_then(listed)
                .map(|text| Part::quote("Regulatory implications", text)),
        ],
        Kind::Checkpoint => vec![
            data(payload, "input", "Input"),
            data(payload, "output", "Output"),
            data(payload, "results", "Results"),
            payload.get("changed_files").and_then(listed).map(|text| Part::Data {
                label: "Changed files",
                text: plain::lines(&text).into_owned(),
                is_quoted: false,
                value: Value::Null,
            }),
        ],
        Kind::Error => vec![quote(payload, "error", "Error"), quote(payload, "output", "Reply")],
        Kind::Continuation if payload.get("output").is_some() => vec![quote(payload, "output", "Reply")],
        Kind::Turn if payload.get("output").is_some() => vec![quote(payload, "output", "Output")],
        Kind::Choice if payload.get("proposals").is_some() => vec![proposals(payload)],
        Kind::Choice | Kind::Turn | Kind::Escalation | Kind::Continuation => {
            vec![labelled("Details", payload, false)]
        }
    };
    (Vec::new(), parts.into_iter().flatten().collect())
}

/// Members of an external agent's payload that are shown as text, each with its label.
const TEXTS: [(&str, &str); 3] = [("question", "Question"), ("context", "Context"), ("content", "Content")];

/// Returns everything that an external agent sent: texts, changes, a plan, and other data as JSON.
fn external(payload: &Value) -> Vec<Part<'_>> {
    let texts = TEXTS.into_iter().filter_map(|(key, label)| quote(payload, key, label));
    let is_shown =
        |(name, value): &(&String, &Value)| TEXTS.iter().any(|(key, _)| key == name) && value.is_string();
    let rest = match payload {
        Value::Object(members) => {
            let rest = members.iter().filter(|member| !is_shown(member));
            let rest: Map<String, Value> = rest.map(|(name, value)| (name.clone(), value.clone())).collect();
            labelled("Details", &Value::Object(rest), true)
        }
        other => labelled("Details", other, true),
    };
    texts.chain([diff(payload, true), plan(payload), rest].into_iter().flatten()).collect()
}

/// Returns the text of a review. Its `is_exact` is true if the payload has a digest, because the text is then the
/// withheld result of a tool.
fn content(payload: &Value) -> Option<Part<'_>> {
    let text = text(payload, "content");
    let is_exact = payload.get("digest").is_some();
    (!text.is_empty()).then(|| Part::Quote { label: "Content", text: text.into(), is_exact })
}

/// Returns the part with the file change in a payload, or `None` if there is no change. `is_quoted` is true if an
/// external agent sent the change.
pub(super) fn diff(payload: &Value, is_quoted: bool) -> Option<Part<'_>> {
    let diff = Diff::from_payload(payload)?;
    let is_new = payload.get("new_file").and_then(Value::as_bool).unwrap_or(false);
    let path = plain::line(text(payload, "path"));
    let is_outside = !is_quoted && is_outside(payload);
    Some(Part::Diff { path, is_new, is_outside, is_quoted, unseen: diff.unseen(), diff })
}

fn plan(payload: &Value) -> Option<Part<'_>> {
    let subtasks = payload.pointer("/plan/subtasks")?.as_array()?;
    let subtask = |subtask| Subtask {
        id: plain::line(text(subtask, "id")),
        description: text(subtask, "description"),
        agent: plain::line(text(subtask, "agent")),
        after: texts(subtask, "depends_on").into_iter().map(plain::line).collect(),
        time: plain::line(text(subtask, "estimated_time")),
    };
    (!subtasks.is_empty()).then(|| Part::Plan { subtasks: subtasks.iter().map(subtask).collect() })
}

fn proposals(payload: &Value) -> Option<Part<'_>> {
    let proposals = payload.get("proposals")?.as_array()?;
    let proposal = |proposal| Proposal {
        title: plain::line(text(proposal, "title")),
        description: text(proposal, "description"),
        pros: texts(proposal, "pros"),
        cons: texts(proposal, "cons"),
    };
    Some(Part::Proposals { proposals: proposals.iter().map(proposal).collect() })
}

fn labelled<'a>(label: &'static str, payload: &Value, is_quoted: bool) -> Option<Part<'a>> {
    let is_empty = payload.is_null() || payload.as_object().is_some_and(Map::is_empty);
    (!is_empty).then(|| Part::Data { label, text: exact(payload), is_quoted, value: payload.clone() })
}

pub(super) fn data<'a>(payload: &'a Value, key: &str, label: &'static str) -> Option<Part<'a>> {
    let value = payload.get(key).filter(|value| !value.is_null())?;
    Some(Part::Data { label, text: exact(value), is_quoted: false, value: value.clone() })
}

fn quote<'a>(payload: &'a Value, key: &str, label: &'static str) -> Option<Part<'a>> {
    let text = text(payload, key);
    (!text.is_empty()).then(|| Part::quote(label, text))
}

pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn texts<'a>(value: &'a Value, key: &str) -> Vec<&'a str> {
    value.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Formats an array of texts as a list, and any other data as JSON. Returns `None` for null.
fn listed(value: &Value) -> Option<String> {
    let texts =
        value.as_array().and_then(|items| items.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
    match texts {
        Some(texts) => Some(texts.iter().map(|text| format!("- {text}")).collect::<Vec<_>>().join("\n")),
        None => (!value.is_null()).then(|| exact(value)),
    }
}

/// Returns a text unchanged. Formats any other data as JSON, and escapes it with `plain`.
fn exact(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => plain::lines(&readable(other)).into_owned(),
    }
}

/// Returns a text unchanged. Formats any other data as JSON, without escaping it for display.
pub fn readable(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}
