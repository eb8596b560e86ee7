//! `/health`, `/events/stats`, `/events/metrics` and the metrics of sessions: liveness, and counts that are read from
//! the journal and the database rows.

use std::collections::BTreeMap;

use axum::Json;
use holdshort_core::projection::RunRow;
use holdshort_store::{InterruptFilter, Log, RunFilter, SessionFilter, Tables};
use holdshort_web::app::App;
use holdshort_web::limits::{PAGE, PAGE_DEFAULT};
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::Id;
use serde_json::{Value, json};

use super::person::Person;
use super::session::Session;
use super::session_metrics::Metrics;
use super::{WORKFLOW, sessions};
use crate::limits::CODELAB_SESSIONS;

/// `GET /health`: returns a fixed response. Needs no authentication. The response does not reveal the version of
/// Holdshort and uses no stored data.
pub(super) async fn health() -> Json<Value> {
    Json(json!({ "status": "healthy", "service": "holdshort", "version": "1" }))
}

/// `GET /events/stats`: returns counts of events. `failed_handlers` is always 0, because the journal stores the events,
/// and no event handler exists that could fail.
pub(super) async fn stats(Person(caller): Person) -> Answer<Json<Value>> {
    let events = caller.app.journal().head().await?.events;
    let newest = newest_runs(&caller.app).await?;
    let last = newest.iter().map(|run| run.updated_at).max();
    let mut stats = json!({
        "total_published": events,
        "successful_handlers": events,
        "failed_handlers": 0,
        "success_rate": 1.0,
    });
    if let Some(last) = last {
        stats["last_event_time"] = json!(last.to_string());
    }
    Ok(Json(stats))
}

pub(super) async fn metrics(Person(caller): Person) -> Answer<Json<Value>> {
    let _place = caller.app.reserve_stream()?;
    let (mut runs, mut asked) = (BTreeMap::<&str, usize>::new(), BTreeMap::<&str, usize>::new());
    for row in newest_runs(&caller.app).await? {
        *runs.entry(row.status.as_str()).or_default() += 1;
        let filter = InterruptFilter { run: Some(row.run), ..InterruptFilter::default() };
        for interrupt in caller.app.journal().interrupts(&filter, None, PAGE.into()).await?.items {
            *asked.entry(interrupt.kind.as_str()).or_default() += 1;
        }
    }
    let metrics = json!({ "runs": runs, "requests": asked });
    Ok(Json(json!({ "metrics": metrics, "computed": {}, "timestamp": caller.app.now().to_string() })))
}

/// `GET /events/metrics/sessions`: lists the sessions in which an agent has worked, newest first.
pub(super) async fn sessions(Person(caller): Person) -> Answer<Json<Value>> {
    let _place = caller.app.reserve_stream()?;
    let filter = SessionFilter { workflow: Some(WORKFLOW.to_owned()), ..SessionFilter::default() };
    let (mut names, mut cursor, mut scanned) = (Vec::new(), None, 0);
    loop {
        let found = caller.app.journal().sessions(&filter, cursor.as_ref(), PAGE_DEFAULT.into()).await?;
        scanned += found.items.len();
        for row in found.items {
            let session = Session::from_name(caller.clone(), sessions::name(&caller, &row).await?)?;
            if !session.runs().await?.is_empty() {
                names.push(session.name);
            }
        }
        cursor = found.next;
        if cursor.is_none() || scanned >= CODELAB_SESSIONS {
            return Ok(Json(json!({ "count": names.len(), "sessions": names })));
        }
    }
}

/// `GET /events/metrics/session/{id}`: returns 404 if the session is unknown or no agent has worked in it.
pub(super) async fn session(Person(caller): Person, Id(name): Id<String>) -> Answer<Json<Value>> {
    let _place = caller.app.reserve_stream()?;
    let session = Session::from_name(caller, name).map_err(|_| Refused::not_found("session"))?;
    session.require_id().await?;
    let runs = session.runs().await?;
    if runs.is_empty() {
        return Err(Refused::not_found("session with metrics"));
    }
    let mut metrics = Metrics::new();
    // The newest runs are read first, because they are the ones that a person looks for.
    for run in runs.iter().rev() {
        if metrics.is_full() {
            break;
        }
        metrics.add(&session.caller.app, run).await?;
    }
    Ok(Json(metrics.render(&session.name)))
}

async fn newest_runs(app: &App) -> Answer<Vec<RunRow>> {
    let filter = RunFilter { workflow: Some(WORKFLOW.to_owned()), ..RunFilter::default() };
    Ok(app.journal().runs(&filter, None, PAGE.into()).await?.items)
}
