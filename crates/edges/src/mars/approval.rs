//! Approvals as this wire shows them: what is asked, and what came of it. Whether it is approved follows from the
//! effect of what was decided, never from the word for it (lesson 31).

use std::collections::BTreeMap;

use holdshort_core::interrupt::{About, Cause, Kind, Offer, Opened, Outcome};
use holdshort_core::plan::Plan;
use holdshort_protocol::plain;
use holdshort_web::view::word;
use serde_json::{Map, Value, json};

use super::words;
use crate::limits::MARS_SAID_CHARS;

/// What was decided, by whom, with which words.
pub(super) struct Decided<'a> {
    pub(super) outcome: Outcome,
    pub(super) option: Option<&'a str>,
    pub(super) text: Option<&'a str>,
    pub(super) edit: &'a Value,
    pub(super) by: &'a str,
    pub(super) cause: &'a Cause,
}

/// What the client wants to see beside the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Display {
    pub(super) plan: bool,
    pub(super) results: bool,
    pub(super) step: bool,
}

/// `approval_requested`. `with` is what the interrupt was opened with, `told` what was said of the plan before.
///
/// `description` and `message` are the runtime's, and of a question the question; what the agent says beside it is
/// `context.agent_says`.
pub(super) fn requested(opened: &Opened, with: &Value, told: &[Value], display: Display) -> Value {
    let text = |pointer: &str| with.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let title = plain::line(text("/title"));
    // The title of a question is the beginning of it.
    let asks = opened.kind == Kind::Question && matches!(opened.about, About::Call(_));
    let asked = if asks { quoted(text("/payload/question")) } else { title.to_string() };
    let mut context = context(opened, with, told, display);
    let said = Some(text("/message")).filter(|said| !said.trim().is_empty()).map(quoted);
    let message = match said {
        None => asked,
        Some(said) if is_the_runtimes(opened) => format!("{asked}\n{said}"),
        Some(said) => {
            context.insert("agent_says".to_owned(), said.into());
            asked
        }
    };
    let detail = |offer: &Offer| {
        json!({
            "id": words::name(opened, &offer.id),
            "label": offer.label,
            "needs_feedback": offer.needs_text,
            "needs_modifications": offer.needs_edit,
        })
    };
    json!({
        "approval_id": opened.interrupt.to_string(),
        "step_id": opened.step,
        "agent": opened.agent,
        "action": action(opened),
        "description": title,
        "message": message,
        "options": words::names(opened),
        "option_details": opened.options.iter().map(detail).collect::<Vec<_>>(),
        "checkpoint_type": words::position(opened),
        "context": context,
        "expires_at": opened.expires_at.map(|at| at.to_string()),
        "default_on_timeout": words::name(opened, &opened.on_expiry),
    })
}

/// What kind of thing is asked (contract E3): the second layer has a kind of its own (A5).
fn action(opened: &Opened) -> &'static str {
    if words::is_of_an_agent(opened) || opened.kind == Kind::Escalation {
        "ag2_dynamic"
    } else {
        opened.kind.as_str()
    }
}

/// Who wrote what stands beside the title.
fn is_the_runtimes(opened: &Opened) -> bool {
    let is_its_kind = matches!(opened.kind, Kind::Error | Kind::UnknownOutcome | Kind::Continuation);
    is_its_kind || matches!(opened.about, About::Printed(_))
}

/// Words that came from elsewhere: harmless, and not longer than a person reads.
fn quoted(said: &str) -> String {
    let said = said.trim();
    match said.char_indices().nth(MARS_SAID_CHARS) {
        Some((end, _)) => format!("{}…", plain::text(&said[..end])),
        None => plain::text(said).into_owned(),
    }
}

fn context(opened: &Opened, asked: &Value, told: &[Value], display: Display) -> Map<String, Value> {
    let mut context = asked.get("payload").and_then(Value::as_object).cloned().unwrap_or_default();
    if let Some(plan) = context.get("plan").filter(|_| opened.kind == Kind::PlanApproval).map(plan) {
        context.insert("plan".to_owned(), plan);
        context.insert("previous_feedback".to_owned(), told.into());
    }
    if matches!(opened.about, About::Phase(_))
        && let Some(results) = context.remove("results")
    {
        let planned = results
            .as_object()
            .and_then(|all| all.values().find_map(|one| one.get("subtasks").map(|_| plan(one))));
        if let Some(plan) = planned.filter(|_| display.plan) {
            context.insert("plan".to_owned(), plan);
        }
        if display.results {
            context.insert("results".to_owned(), results);
        }
    }
    if !display.step {
        context.remove("input");
    }
    let reasons = &opened.risk.reasons;
    if !reasons.is_empty() {
        context.insert("reasons".to_owned(), reasons.iter().map(|reason| reason.text.clone()).collect());
    }
    context
}

/// A plan in the form of the source system (contract A8).
pub(super) fn plan(native: &Value) -> Value {
    let subtasks = native.get("subtasks").and_then(Value::as_array);
    let told = subtasks.into_iter().flatten().map(subtask).collect::<Vec<_>>();
    json!({ "sub_tasks": told })
}

fn subtask(native: &Value) -> Value {
    let description = native.get("description").and_then(Value::as_str).unwrap_or_default();
    let (words, bullets) = parts(description);
    json!({
        "id": native.get("id"),
        "sub_task": words,
        "sub_task_agent": native.get("agent"),
        "bullet_points": bullets,
        "depends_on": native.get("depends_on").cloned().unwrap_or_else(|| json!([])),
    })
}

/// What a subtask says, and its bullets: the last lines, as they were taken in. Put together again it is the same text,
/// so who sends a plan back untouched has changed nothing.
fn parts(description: &str) -> (&str, Vec<&str>) {
    let (mut words, mut bullets) = (description, Vec::new());
    while let Some((before, bullet)) = words.rsplit_once('\n')
        && let Some(bullet) = bullet.strip_prefix("- ")
    {
        words = before;
        bullets.push(bullet);
    }
    // What is said comes back without white space around it.
    if words.trim() != words {
        return (description, Vec::new());
    }
    bullets.reverse();
    (words, bullets)
}

/// `approval_received`.
pub(super) fn received(opened: &Opened, decided: &Decided<'_>) -> Value {
    let offer = decided.option.and_then(|id| opened.options.iter().find(|offer| offer.id == id));
    // Also by a grant, or where nobody was asked: no option was chosen there.
    let released = match decided.outcome {
        Outcome::Approved => true,
        Outcome::Expired => offer.is_some_and(|offer| offer.effect.outcome() == Outcome::Approved),
        Outcome::Answered | Outcome::Rejected | Outcome::Cancelled | Outcome::Superseded => false,
    };
    let mut data = Map::new();
    let mut put = |key: &str, value: Value| data.insert(key.to_owned(), value);
    put("approval_id", opened.interrupt.to_string().into());
    put("step_id", json!(opened.step));
    put("checkpoint_type", words::position(opened).into());
    put("approved", released.into());
    put("resolution", decided.option.map_or(Value::Null, |id| words::name(opened, id).into()));
    put("approval_status", status(offer, decided, released).into());
    put("effect", offer.map_or(Value::Null, |offer| word(&offer.effect).into()));
    put("outcome", word(&decided.outcome).into());
    put("cause", word(decided.cause).into());
    put("feedback", decided.text.unwrap_or_default().into());
    put("modifications", decided.edit.clone());
    // Whoever's input it came with, where no person spoke, decided nothing.
    let spoke = matches!(decided.cause, Cause::Decision | Cause::Grant(_));
    put("by", if spoke { decided.by } else { "engine" }.into());
    data.into()
}

/// The words of A12, for every kind.
fn status(offer: Option<&Offer>, decided: &Decided<'_>, released: bool) -> &'static str {
    match (decided.outcome, decided.cause) {
        (Outcome::Expired, _) if released => "timeout_auto_approved",
        (Outcome::Expired, _) => "timeout",
        (Outcome::Cancelled, _) => "cancelled",
        (Outcome::Superseded, _) => "superseded",
        (Outcome::Approved, Cause::Grant(_) | Cause::Unasked) => "auto_approved",
        (Outcome::Approved, _) if offer.is_some_and(|offer| offer.id == "edit") => "modified",
        (Outcome::Approved, _) => "approved",
        (Outcome::Rejected, _) => "rejected",
        (Outcome::Answered, _) => "answered",
    }
}

/// Nodes and edges of the graph, with what became of each node.
pub(super) fn graph(native: &Value, statuses: &BTreeMap<String, &'static str>) -> Value {
    let subtasks = native.get("subtasks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let id = |subtask: &Value| subtask.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let nodes: Vec<Value> = (1..)
        .zip(subtasks)
        .map(|(number, subtask)| {
            let id = id(subtask);
            json!({
                "type": "agent",
                "status": statuses.get(&id).copied().unwrap_or("pending"),
                "step_number": number,
                "label": subtask.get("description"),
                "agent": subtask.get("agent"),
                "id": id,
            })
        })
        .collect();
    let edges: Vec<Value> = subtasks
        .iter()
        .flat_map(|subtask| {
            let needs = subtask.get("depends_on").and_then(Value::as_array);
            let to = id(subtask);
            needs.into_iter().flatten().map(move |from| json!({ "source": from, "target": to }))
        })
        .collect();
    let levels = serde_json::from_value::<Plan>(native.clone())
        .map_or(0, |plan| plan.layout().iter().map(|place| place.layer + 1).max().unwrap_or_default());
    json!({ "nodes": nodes, "edges": edges, "levels": levels })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_that_nobody_changed_is_the_same_plan() {
        for description in [
            "build",
            "build\n- carefully\n- today",
            "build\n- first this\nand between\n- then that",
            "- a list\n- from the start",
            "build\n\n- after a gap",
            "build\n  - deeper",
            "build\n- ",
        ] {
            let subtask = json!({ "id": "s1", "description": description, "agent": "engineer" });
            let mut native = json!({ "subtasks": [subtask] });
            let back = holdshort_core::plan::read(&plan(&native));
            native["subtasks"][0]["depends_on"] = json!([]);
            assert_eq!(back, Some(native), "{description:?}");
        }
    }
}
