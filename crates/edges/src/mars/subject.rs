//! Text of what a person decides about: the complete plan, step or call (contract A32). The text about the subject is
//! escaped and never truncated.

use holdshort_core::interrupt::{About, Kind, Opened};
use holdshort_protocol::{TrialCard, plain};
use serde_json::{Map, Value};

use crate::change;

/// Returns as text what an interrupt asks the person to decide on. `with` is the content of the interrupt, and
/// `context` is the context that is sent to the client.
pub(super) fn render(opened: &Opened, with: &Value, context: &Map<String, Value>) -> Option<String> {
    let payload = |key: &str| with.get("payload")?.get(key);
    let text = |key: &str| payload(key)?.as_str().map(str::to_owned);
    let whole = match (opened.kind, &opened.about) {
        (Kind::PlanApproval, _) | (_, About::Phase(_)) => context.get("plan").map(plan),
        (Kind::Checkpoint, About::BeforeStep(_)) => text("input"),
        (Kind::Checkpoint, About::AfterStep(_)) | (Kind::Continuation | Kind::Turn, _) => text("output"),
        (Kind::Review, _) => text("content"),
        (Kind::Choice, _) => payload("proposals").map(proposals),
        (Kind::ToolApproval | Kind::UnknownOutcome, _) => call(with),
        // The subject of a handoff is the agent's own text.
        (Kind::Escalation, _) => context.get("agent_says").and_then(Value::as_str).map(quoted),
        _ => None,
    };
    whole.filter(|whole| !whole.trim().is_empty()).map(|whole| plain::text(&whole).into_owned())
}

/// Returns the proposals of an interrupt as text. Each proposal is preceded by the number of the option that chooses
/// it.
fn proposals(proposals: &Value) -> String {
    let text = |proposal: &Value, key: &str| {
        proposal.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let points = |proposal: &Value, key: &str, sign: char| {
        let points =
            proposal.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        points.map(|point| format!("   {sign} {point}")).collect::<Vec<_>>()
    };
    let one = |(n, proposal): (usize, &Value)| {
        let (title, description) = (text(proposal, "title"), text(proposal, "description"));
        let (pros, cons) = (points(proposal, "pros", '+'), points(proposal, "cons", '-'));
        let first = format!("{n}. {title}: {description}");
        std::iter::once(first).chain(pros).chain(cons).collect::<Vec<_>>().join("\n")
    };
    (1..).zip(proposals.as_array().into_iter().flatten()).map(one).collect::<Vec<_>>().join("\n")
}

fn quoted(said: &str) -> String {
    said.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}

/// Returns the steps of a plan as a numbered list, each with its agent.
fn plan(steps: &Value) -> String {
    let field =
        |step: &Value, key: &str| step.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let step = |(number, step): (usize, &Value)| {
        let who = Some(field(step, "sub_task_agent")).filter(|agent| !agent.is_empty());
        let who = who.map(|agent| format!(" ({agent})")).unwrap_or_default();
        let first = format!("{number}. {}{who}", field(step, "sub_task"));
        let bullets = step.get("bullet_points").and_then(Value::as_array).into_iter().flatten();
        let bullets = bullets.filter_map(Value::as_str).map(|bullet| format!("   - {bullet}"));
        std::iter::once(first).chain(bullets).collect::<Vec<_>>().join("\n")
    };
    let steps = (1..).zip(steps.as_array().into_iter().flatten()).map(step);
    steps.collect::<Vec<_>>().join("\n")
}

/// Returns the arguments of the call that an interrupt asks about, and the changes that the call would make. An undo
/// has no arguments, only changes.
fn call(with: &Value) -> Option<String> {
    let payload = with.get("payload")?;
    let is_undo = TrialCard::from_payload(payload).is_some_and(TrialCard::is_undo);
    let arguments = payload.get("arguments").filter(|_| !is_undo).map(change::arguments);
    let parts: Vec<String> = arguments.into_iter().chain(change::render_trial(payload)).collect();
    Some(parts.join("\n\n"))
}
