//! `/health`, `/events/stats`, `/events/metrics`: liveness, and counts that are read from the journal and its rows.

use std::collections::BTreeMap;

use axum::Json;
use holdshort_core::projection::RunRow;
use holdshort_store::{InterruptFilter, Log, RunFilter, Tables};
use holdshort_web::app::App;
use holdshort_web::limits::PAGE;
use holdshort_web::problem::Answer;
use serde_json::{Value, json};

use super::WORKFLOW;
use super::person::Person;

/// Needs no authentication. The response does not reveal the version of Holdshort and uses no stored data.
pub(super) async fn health() -> Json<Value> {
    Json(json!({ "status": "healthy", "service": "holdshort", "version": "1" }))
}

/// Returns counts of events. `failed_handlers` is always 0, because events are stored in the journal and not passed to
/// handlers that could fail.
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

async fn newest_runs(app: &App) -> Answer<Vec<RunRow>> {
    let filter = RunFilter { workflow: Some(WORKFLOW.to_owned()), ..RunFilter::default() };
    Ok(app.journal().runs(&filter, None, PAGE.into()).await?.items)
}
