//! Converts a run to a task of a crew, in the form of the source system.

use holdshort_core::id::RunId;
use holdshort_core::interrupt::{Cause, Interrupt, Kind, Outcome};
use holdshort_core::projection::{RunRow, Status};
use holdshort_core::run::Run;
use holdshort_engine::real::REHEARSAL;
use holdshort_web::app::App;
use holdshort_web::problem::Answer;
use holdshort_web::view;
use serde_json::{Value, json};

use super::ids::ReviewId;
use super::{crews, refusals};

/// State of a task of the crew edge (contract D2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Pending,
    Running,
    Paused,
    Completed,
    Failed,
}

impl State {
    const ALL: [Self; 5] = [Self::Pending, Self::Running, Self::Paused, Self::Completed, Self::Failed];

    pub(super) fn from_status(status: Status) -> Self {
        match status {
            Status::Queued => Self::Pending,
            Status::Running => Self::Running,
            Status::Waiting | Status::Paused => Self::Paused,
            Status::Completed => Self::Completed,
            Status::Failed | Status::Cancelled => Self::Failed,
        }
    }

    pub(super) fn from_run(run: &Run) -> Self {
        let state = Self::from_status(run.status());
        if state == Self::Running && run.open_review().is_some() { Self::Paused } else { state }
    }

    /// Returns the task state in upper case, as the original system documents it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Running => "RUNNING",
            Self::Paused => "PAUSED",
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
        }
    }

    /// Returns the task state in lower case, as clients expect it (contract D9).
    pub(super) fn lower(self) -> String {
        self.as_str().to_ascii_lowercase()
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str().eq_ignore_ascii_case(text))
    }
}

/// Returns the run for the id of a task. Rejects ids of runs that are not tasks, such as runs of external agents.
pub(super) async fn resolve_id(app: &App, text: &str) -> Answer<RunId> {
    let none = || refusals::no_task(text);
    let id: RunId = text.parse().map_err(|_| none())?;
    let row = app.run_row(&id).await.map_err(|_| none())?;
    if is_task(&row) { Ok(id) } else { Err(none()) }
}

/// Returns true if a run is a task. Runs of external agents are not tasks.
pub(super) fn is_task(row: &RunRow) -> bool {
    crews::is_crew(&row.workflow)
}

/// Returns the inputs of a task as the client sent them.
pub(super) fn inputs(input: &Value) -> Value {
    match input.get(crews::INPUTS) {
        Some(inputs) if inputs.is_object() => inputs.clone(),
        Some(_) | None => input.clone(),
    }
}

/// Returns the reason why a task failed, or `None` if the task has not failed. If a reviewer rejected the task, the
/// reason has the words that clients expect and the reviewer's comments, but not the title of the review.
pub(super) fn error(run: &Run) -> Option<String> {
    let ended = run.ended.as_ref().filter(|ended| State::from_status(ended.status) == State::Failed)?;
    if let Some(rejected) = rejection(run, &ended.reason) {
        return Some(rejected);
    }
    let text = ended.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
    Some(match (ended.status, text) {
        // The source document has no state for a cancelled task (contract E30).
        (Status::Cancelled, Some(text)) => format!("cancelled: {text}"),
        (Status::Cancelled, None) => "cancelled".to_owned(),
        (_, Some(text)) => text.to_owned(),
        (_, None) => ended.reason.clone(),
    })
}

/// Returns the reason why a task failed if its review was rejected or has expired, and otherwise `None`.
fn rejection(run: &Run, reason: &str) -> Option<String> {
    let last = reviews(run).filter(|each| !each.is_open()).max_by_key(|each| each.opened_seq)?;
    if !["rejected", "expired"].contains(&reason) {
        return None;
    }
    match last.resolution.as_ref()?.outcome {
        Outcome::Rejected => {
            let comments = last.agreed_text();
            let comments = comments.as_deref().map(str::trim).filter(|text| !text.is_empty());
            Some(refusals::rejected(comments))
        }
        Outcome::Expired => Some(refusals::expired(&review_id(last))),
        Outcome::Approved | Outcome::Answered | Outcome::Cancelled | Outcome::Superseded => None,
    }
}

/// Returns the result of a task: the last text that an agent of the crew wrote. If this text is a JSON object or array,
/// the parsed value is returned (contract D9).
pub(super) fn result(run: &Run) -> Value {
    let Some(ended) = run.ended.as_ref().filter(|ended| ended.status == Status::Completed) else {
        return Value::Null;
    };
    match ended.result.get("text").and_then(Value::as_str) {
        Some(text) => match serde_json::from_str::<Value>(text.trim()) {
            Ok(found @ (Value::Object(_) | Value::Array(_))) => found,
            Ok(_) | Err(_) => text.into(),
        },
        None => ended.result.clone(),
    }
}

pub(super) fn current_agent(run: &Run) -> Option<&str> {
    if run.ended.is_some() {
        return None;
    }
    let at_work = run.steps.values().filter(|step| step.end.is_none());
    at_work.max_by_key(|step| step.since).map(|step| step.agent.as_str())
}

pub(super) fn reviews(run: &Run) -> impl Iterator<Item = &Interrupt> {
    run.interrupts.values().filter(|each| each.opened.kind == Kind::Review)
}

/// Returns the open review of a task or, if none is open, its last review.
pub(super) fn last_review(run: &Run) -> Option<&Interrupt> {
    run.open_review().or_else(|| reviews(run).max_by_key(|each| each.opened_seq))
}

pub(super) fn review_id(interrupt: &Interrupt) -> String {
    ReviewId(interrupt.opened.interrupt.clone()).to_string()
}

/// Returns a text which tells the caller who started the task what the paused task waits for.
pub(super) fn waits_for(run: &Run) -> String {
    if run.open_review().is_some() {
        return "Waiting for reviewer".to_owned();
    }
    let kinds: Vec<&str> = run.open_interrupts().map(|(_, each)| each.opened.kind.as_str()).collect();
    if kinds.is_empty() {
        "Paused by a person: the task continues when it is resumed in Holdshort".to_owned()
    } else {
        format!("Waiting for a decision in Holdshort's inbox: {}", kinds.join(", "))
    }
}

/// Returns a task as JSON for `/crew/status`. Unless `in_full` is true, the inputs and the result are omitted.
pub(super) fn render(run: &Run, in_full: bool) -> Value {
    let state = State::from_run(run);
    let review = last_review(run);
    let open = run.open_review();
    let paused_at = open.map(|review| review.opened_at).or(run.paused_at.filter(|_| run.is_paused()));
    let inputs = run.started.as_ref().map(|started| inputs(&started.input)).filter(|_| in_full);
    let mut shown = json!({
        "task_id": run.id.as_str(),
        "crew_name": run.definition.name,
        "status": state.as_str(),
        "state": state.lower(),
        "message": (state == State::Paused).then(|| waits_for(run)),
        "inputs": inputs,
        "created_at": run.started.as_ref().map(|started| started.at.to_string()),
        "last_updated": run.last_at.to_string(),
        "current_agent": current_agent(run),
        "paused_at": paused_at.filter(|_| state == State::Paused).map(|at| at.to_string()),
        "review_id": review.map(review_id),
        "result": if in_full { result(run) } else { Value::Null },
        "error": error(run),
    });
    mark_exceptional(run, &mut shown);
    shown
}

/// Adds members to the JSON of a task in three cases: its text comes from a script instead of a model (`rehearsal`),
/// its review was approved without a person (`bypassed`, contract E20), or its content was erased (`erased`).
pub(super) fn mark_exceptional(run: &Run, told: &mut Value) {
    if run.config().is_some_and(|config| config.model.as_deref() == Some(REHEARSAL)) {
        told["rehearsal"] = true.into();
    }
    let is_unseen =
        |review: &Interrupt| review.resolution.as_ref().is_some_and(|ended| ended.cause == Cause::Unasked);
    if reviews(run).any(is_unseen) {
        told["bypassed"] = true.into();
    }
    if let Some(erasure) = &run.erased {
        told["erased"] = json!(view::erased::from_erasure(erasure));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_is_a_state_of_the_document() {
        let states = [
            (Status::Queued, "PENDING"),
            (Status::Running, "RUNNING"),
            (Status::Waiting, "PAUSED"),
            (Status::Paused, "PAUSED"),
            (Status::Completed, "COMPLETED"),
            (Status::Failed, "FAILED"),
            (Status::Cancelled, "FAILED"),
        ];
        for (status, word) in states {
            assert_eq!(State::from_status(status).as_str(), word);
            assert_eq!(State::parse(&word.to_lowercase()), Some(State::from_status(status)));
        }
        assert_eq!(State::parse("PAUSE"), None);
    }

    #[test]
    fn what_was_sent_is_what_is_told() {
        let as_sent = json!({ "task": "t", "inputs": { "case": 7 } });
        assert_eq!(inputs(&as_sent), json!({ "case": 7 }));
        assert_eq!(inputs(&json!({ "task": "t" })), json!({ "task": "t" }));
    }
}
