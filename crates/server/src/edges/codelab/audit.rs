//! `GET /events/audit-log`: every decision on a plan or a call, read from the journal (contract B9). What nobody
//! decided in time is there too, and is never called a rejection.

use std::collections::BTreeSet;

use axum::Json;
use holdshort_core::event::{self, Event};
use holdshort_core::id::{InterruptId, StreamId};
use holdshort_core::interrupt::{About, Interrupt, Kind, Outcome};
use holdshort_core::projection::RunRow;
use holdshort_core::run::{Fact, Run};
use holdshort_engine::Error;
use holdshort_protocol::Code;
use holdshort_store::{Journal, RunFilter};
use serde::Deserialize;
use serde_json::{Value, json};

use super::person::Person;
use super::session::Session;
use super::{WORKFLOW, history, ids, plan};
use crate::app::App;
use crate::limits::{PAGE, READ_EVENTS, SESSION_RUNS};
use crate::problem::{Answer, Refused};
use crate::query::Params;
use crate::view::word;

/// Entries where none are asked for (contract B9).
const DEFAULT: u16 = 100;
const PLAN: &str = "plan_decision";
const TOOL: &str = "hitl_decision";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditQuery {
    session_id: Option<String>,
    event_type: Option<String>,
    limit: Option<u16>,
    /// Of those who can send no header.
    #[serde(rename = "token")]
    _token: Option<String>,
}

pub(super) async fn read(Person(operator): Person, Params(query): Params<AuditQuery>) -> Answer<Json<Value>> {
    let limit = query.limit.unwrap_or(DEFAULT);
    if !(1..=PAGE).contains(&limit) {
        return Err(Refused::new(Code::InvalidQuery, format!("limit: {limit} is not between 1 and {PAGE}")));
    }
    if let Some(kind) = query.event_type.as_deref().filter(|kind| ![PLAN, TOOL].contains(kind)) {
        let rule = format!("event_type: `{kind}` is neither `{PLAN}` nor `{TOOL}`");
        return Err(Refused::new(Code::InvalidQuery, rule));
    }
    let app = operator.app.clone();
    let runs = if let Some(name) = query.session_id {
        let session = Session::of(operator, name).map_err(|_| Refused::not_found("session"))?;
        session.known().await?;
        session.runs(SESSION_RUNS).await?
    } else {
        let filter = RunFilter { workflow: Some(WORKFLOW.to_owned()), ..RunFilter::default() };
        app.journal().runs(&filter, None, SESSION_RUNS).await?.items
    };
    let mut entries = Vec::new();
    for row in runs {
        let mut of_run = entries_of(&app, &row).await?;
        of_run.retain(|entry| query.event_type.as_deref().is_none_or(|kind| entry["event_type"] == kind));
        // Newest first.
        entries.extend(of_run.into_iter().rev());
        if entries.len() >= usize::from(limit) {
            break;
        }
    }
    entries.truncate(limit.into());
    Ok(Json(json!({ "count": entries.len(), "events": entries })))
}

/// Of one run, oldest first.
async fn entries_of(app: &App, row: &RunRow) -> Answer<Vec<Value>> {
    let loaded = app.driver.load(&row.run).await?;
    let stream = StreamId::Run(row.run.clone());
    let mut run = Run::new(row.run.clone(), loaded.definition.clone());
    let mut entries = Vec::new();
    let mut implied = BTreeSet::new();
    loop {
        let page = app.journal().read(&stream, run.seq, READ_EVENTS).await?;
        for sealed in &page {
            let event =
                event::decode(sealed).map_err(|source| Error::Damaged { run: stream.to_string(), source })?;
            run.apply(&event);
            match &event.fact {
                event::Fact::Run(Fact::DecisionMade { interrupt, implied: true, .. }) => {
                    implied.insert(interrupt.clone());
                }
                event::Fact::Run(Fact::InterruptResolved { interrupt, outcome, .. }) => {
                    let mut entry = entry(&run, &event, interrupt, *outcome);
                    if let Some(entry) = entry.as_mut().filter(|_| implied.contains(interrupt)) {
                        entry["implied"] = json!(true);
                    }
                    entries.extend(entry);
                }
                _ => {}
            }
        }
        if page.len() < READ_EVENTS {
            return Ok(entries);
        }
    }
}

fn entry(run: &Run, event: &Event, interrupt: &InterruptId, outcome: Outcome) -> Option<Value> {
    let interrupt = run.interrupts.get(interrupt)?;
    let made = interrupt.decision.as_ref();
    let decision = match outcome {
        Outcome::Expired => "expired".to_owned(),
        Outcome::Cancelled | Outcome::Superseded => word(&outcome),
        Outcome::Approved | Outcome::Rejected | Outcome::Answered => {
            made.map_or_else(|| word(&outcome), |made| made.option.clone())
        }
    };
    let mut entry = json!({
        "session_id": session_id(run),
        "run_id": run.id.as_str(),
        "request_id": interrupt.opened.interrupt.as_str(),
        "decision": decision,
        "timestamp": event.at.to_string(),
        "actor": event.actor.id,
    });
    if let Some(via) = &event.actor.via {
        entry["via"] = json!(via);
    }
    if let Some(text) = made.and_then(|made| made.text.as_deref()) {
        entry["feedback"] = json!(text);
    }
    let edit = made.map(|made| &made.edit).filter(|edit| !edit.is_null());
    match (interrupt.opened.kind, &interrupt.opened.about) {
        (Kind::PlanApproval, _) => {
            entry["event_type"] = json!(PLAN);
            entry["plan_id"] = json!(ids::plan(&interrupt.opened.interrupt));
            entry["original_task"] = json!(history::said(run));
            if let Some(edit) = edit {
                let read = serde_json::from_value(edit.clone()).ok()?;
                entry["modified_subtasks"] = json!(plan::subtasks(run, None, &read));
            }
        }
        (Kind::ToolApproval, About::Call(id)) => {
            entry["event_type"] = json!(TOOL);
            entry["call_id"] = json!(ids::call(&run.id, id));
            entry["tool_name"] = json!(run.calls.get(id)?.tool);
            entry["original_arguments"] = original(interrupt);
            if let Some(edit) = edit {
                entry["modified_arguments"] = edit.clone();
            }
        }
        _ => return None,
    }
    Some(entry)
}

/// As the person saw them.
fn original(interrupt: &Interrupt) -> Value {
    interrupt.content.pointer("/payload/arguments").cloned().unwrap_or_default()
}

fn session_id(run: &Run) -> &str {
    let input = run.started.as_ref().map(|started| &started.input);
    input.and_then(|input| input.get("session_id")).and_then(Value::as_str).unwrap_or_default()
}
