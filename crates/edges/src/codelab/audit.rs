//! `GET /events/audit-log`: every decision on a plan, a call or a limit, read from the journal (contract B9). A request
//! that expired is listed as expired, not as rejected.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use holdshort_core::event::{self, Event};
use holdshort_core::id::{InterruptId, RunId, StreamId};
use holdshort_core::interrupt::{About, Kind, Outcome};
use holdshort_core::run::{Fact, Run};
use holdshort_core::time::Timestamp;
use holdshort_protocol::Code;
use holdshort_store::{InterruptFilter, Log, RunFilter, Tables};
use holdshort_web::app::App;
use holdshort_web::limits::{PAGE, READ_EVENTS};
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::Params;
use holdshort_web::view::variant_name;
use serde::Deserialize;
use serde_json::{Value, json};

use super::person::Person;
use super::session::Session;
use super::{WORKFLOW, act, ids, names, plan};
use crate::limits::{CODELAB_AUDIT_EVENTS, CODELAB_AUDIT_PAGE_DEFAULT};

/// Maximum number of events that the search for one decision reads. The search subtracts this number from `room`.
const LOOK: usize = 10;
const PLAN: &str = "plan_decision";
const TOOL: &str = "hitl_decision";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditQuery {
    session_id: Option<String>,
    event_type: Option<String>,
    limit: Option<u16>,
    /// Token of a client that cannot send headers. `credentials.rs` reads the query parameter `token`.
    #[serde(rename = "token")]
    _token: Option<String>,
}

pub(super) async fn read(Person(caller): Person, Params(query): Params<AuditQuery>) -> Answer<Json<Value>> {
    let limit = query.limit.unwrap_or(CODELAB_AUDIT_PAGE_DEFAULT);
    if !(1..=PAGE).contains(&limit) {
        return Err(Refused::new(Code::InvalidQuery, format!("limit: {limit} is not between 1 and {PAGE}")));
    }
    if let Some(kind) = query.event_type.as_deref().filter(|kind| ![PLAN, TOOL].contains(kind)) {
        let rule = format!("event_type: `{kind}` is neither `{PLAN}` nor `{TOOL}`");
        return Err(Refused::new(Code::InvalidQuery, rule));
    }
    let wanted = match query.event_type.as_deref() {
        Some(PLAN) => &[Kind::PlanApproval][..],
        Some(_) => &[Kind::ToolApproval, Kind::Continuation, Kind::ClientCall],
        None => &[Kind::PlanApproval, Kind::ToolApproval, Kind::Continuation, Kind::ClientCall],
    };
    let limit = usize::from(limit);
    let mut audit =
        Audit { app: caller.app.clone(), wanted, room: CODELAB_AUDIT_EVENTS, entries: Vec::new() };
    if let Some(name) = query.session_id {
        let session = Session::from_name(caller, name).map_err(|_| Refused::not_found("session"))?;
        session.require_id().await?;
        for run in session.runs().await?.iter().rev() {
            // The runs of a session do not overlap, so the remaining runs have only older entries.
            if audit.entries.len() >= limit || audit.room == 0 {
                break;
            }
            audit.add(run).await?;
        }
    } else {
        audit.add_all().await?;
    }
    let truncated = audit.room == 0;
    let mut entries = audit.entries;
    // Newest first.
    entries.sort_by(|(a, _), (b, _)| b.cmp(a));
    let entries: Vec<Value> = entries.into_iter().map(|(_, entry)| entry).take(limit).collect();
    let mut answer = json!({ "count": entries.len(), "events": entries });
    if truncated {
        answer["truncated"] = json!(true);
    }
    Ok(Json(answer))
}

struct Audit {
    app: Arc<App>,
    wanted: &'static [Kind],
    /// Number of events that may still be read for the audit response.
    room: usize,
    entries: Vec<(AuditPosition, Value)>,
}

/// Sort key of an audit entry: the timestamp of the decision, the run, and the event's sequence number in the run.
type AuditPosition = (Timestamp, RunId, u64);

impl Audit {
    /// Adds an audit entry for each decision in the runs of all sessions, newest run first.
    async fn add_all(&mut self) -> Answer<()> {
        let filter = RunFilter { workflow: Some(WORKFLOW.to_owned()), ..RunFilter::default() };
        let mut after = None;
        loop {
            let app = self.app.clone();
            let page = app.journal().runs(&filter, after.as_ref(), PAGE.into()).await?;
            for row in page.items {
                if self.room == 0 {
                    return Ok(());
                }
                self.add(&row.run).await?;
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    async fn add(&mut self, id: &RunId) -> Answer<()> {
        self.room = self.room.saturating_sub(LOOK);
        if !self.has_decisions(id).await? {
            return Ok(());
        }
        let loaded = self.app.driver.load(id).await?;
        let stream = StreamId::Run(id.clone());
        let mut run = Run::new(id.clone(), loaded.definition.clone());
        let mut implied = BTreeSet::new();
        while self.room > 0 {
            let page = self.app.journal().read(&stream, run.seq, READ_EVENTS).await?;
            self.room = self.room.saturating_sub(page.len());
            for sealed in &page {
                let event = self.app.decode_event(sealed)?;
                run.apply(&event);
                match &event.fact {
                    event::Fact::Run(Fact::DecisionMade { interrupt, implied: true, .. }) => {
                        implied.insert(interrupt.clone());
                    }
                    event::Fact::Run(Fact::InterruptResolved { interrupt, outcome, .. }) => {
                        let Some(mut entry) = self.entry(&run, &event, interrupt, *outcome) else { continue };
                        if implied.contains(interrupt) {
                            entry["implied"] = json!(true);
                        }
                        self.entries.push(((event.at, id.clone(), run.seq), entry));
                    }
                    _ => {}
                }
            }
            if page.len() < READ_EVENTS {
                break;
            }
        }
        Ok(())
    }

    /// Returns true if the run contains a decision. The events of a run without decisions are not read.
    async fn has_decisions(&self, run: &RunId) -> Answer<bool> {
        for kind in self.wanted {
            let filter = InterruptFilter {
                open: Some(false),
                run: Some(run.clone()),
                kind: Some(*kind),
                ..InterruptFilter::default()
            };
            if !self.app.journal().interrupts(&filter, None, 1).await?.items.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn entry(&self, run: &Run, event: &Event, interrupt: &InterruptId, outcome: Outcome) -> Option<Value> {
        let kind = run.interrupts.get(interrupt)?.opened.kind;
        self.wanted.contains(&kind).then(|| entry(run, event, interrupt, outcome))?
    }
}

fn entry(run: &Run, event: &Event, interrupt: &InterruptId, outcome: Outcome) -> Option<Value> {
    let interrupt = run.interrupts.get(interrupt)?;
    let made = interrupt.settled_by();
    let decision = match outcome {
        Outcome::Expired => "expired".to_owned(),
        Outcome::Cancelled | Outcome::Superseded => variant_name(&outcome),
        Outcome::Approved | Outcome::Rejected | Outcome::Answered => {
            made.map_or_else(|| variant_name(&outcome), |made| made.option.clone())
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
            entry["original_task"] = json!(run.task());
            if let Some(edit) = edit {
                let read = serde_json::from_value(edit.clone()).ok()?;
                entry["modified_subtasks"] = json!(plan::subtasks(run, None, &read));
            }
        }
        (Kind::Continuation, _) => {
            entry["event_type"] = json!(TOOL);
            entry["call_id"] = json!(interrupt.opened.interrupt.as_str());
            entry["limit"] = json!(interrupt.content_text("title"));
        }
        (kind @ (Kind::ToolApproval | Kind::ClientCall), About::Call(id)) => {
            let call = run.calls.get(id)?;
            if kind == Kind::ClientCall {
                // The server asked no person about this call, but the user rejected the call in the IDE.
                let error = made.filter(|made| made.option == "error" && !run.is_approved(id))?;
                entry["decision"] = json!("reject");
                entry["feedback"] = json!(act::rejection(error.text.as_deref()?)?);
            }
            entry["event_type"] = json!(TOOL);
            entry["call_id"] = json!(ids::call(&run.id, id));
            entry["tool_name"] = json!(names::tool(&call.tool));
            // The arguments that the person saw.
            let shown = interrupt.content.pointer("/payload/arguments").unwrap_or(&Value::Null);
            entry["original_arguments"] = names::arguments(&call.tool, shown);
            if let Some(edit) = edit.filter(|_| kind == Kind::ToolApproval) {
                entry["modified_arguments"] = names::arguments(&call.tool, edit);
            }
        }
        _ => return None,
    }
    Some(entry)
}

/// Returns the name under which the client knows the session of the run.
pub(super) fn session_id(run: &Run) -> &str {
    let input = run.started.as_ref().map(|started| &started.input);
    input.and_then(|input| input.get("session_id")).and_then(Value::as_str).unwrap_or_default()
}
