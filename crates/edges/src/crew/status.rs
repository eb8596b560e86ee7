//! `GET /crew/status/{task_id}` and `GET /crew/tasks`.

use axum::Json;
use holdshort_core::interrupt::Kind;
use holdshort_core::projection::RunRow;
use holdshort_core::run::Run;
use holdshort_protocol::Code;
use holdshort_store::{RunFilter, Tables, behind_run};
use holdshort_web::auth::Caller;
use holdshort_web::interrupt_ref::takes_part;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{Id, Params};
use serde::Deserialize;
use serde_json::{Value, json};

use super::guest::Guest;
use super::task::{self, State};
use super::{crews, refusals, review};
use crate::limits::{CREW_LIST, CREW_LISTED};
use crate::run_list::RunListReader;

/// Returns the complete task to callers with access to all runs. Returns only the task's state to a reviewer of the
/// task, because the review already contains the inputs and results that the reviewer may see.
pub(super) async fn status(guest: Guest, Id(id): Id<String>) -> Answer<Json<Value>> {
    let caller = guest.authorize()?;
    let id = task::resolve_id(&caller.app, &id).await?;
    let run = caller.app.run_now(&id).await?;
    render_for_caller(&caller, &run).await.map(Json)
}

/// Returns a task as JSON, with the content that the caller may see. Rejects a caller without access to the task.
pub(super) async fn render_for_caller(caller: &Caller, run: &Run) -> Answer<Value> {
    if !caller.reaches_all() && !reviews(caller, run).await? {
        return Err(refusals::forbidden(Refused::from_code(Code::ForbiddenRole)));
    }
    Ok(task::render(run, caller.reaches_all()))
}

async fn reviews(caller: &Caller, run: &Run) -> Answer<bool> {
    let system = caller.app.driver.glance_system().await?;
    let mut reviews = run.interrupts.iter().filter(|(_, each)| each.opened.kind == Kind::Review);
    Ok(reviews.any(|(id, _)| takes_part(&caller.app, &caller.actor, run, id, &system)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    state: Option<String>,
    status: Option<String>,
    crew_name: Option<String>,
    limit: Option<u16>,
    cursor: Option<String>,
    #[expect(dead_code, reason = "read during authentication")]
    token: Option<String>,
}

/// `GET /crew/tasks?state=&crew_name=`: lists tasks, newest first. `next_cursor` is the cursor of the next page. A
/// caller without access to all runs sees only the tasks that the caller reviews.
pub(super) async fn tasks(guest: Guest, Params(query): Params<Query>) -> Answer<Json<Value>> {
    let caller = guest.authorize()?;
    let app = caller.app.clone();
    let limit = holdshort_web::query::limit(query.limit)?;
    let state = query.state.or(query.status).filter(|text| !text.is_empty());
    let state = state
        .map(|text| {
            let rule = "state: is not one of pending, running, paused, completed, failed";
            State::parse(&text).ok_or_else(|| Refused::new(Code::InvalidQuery, rule))
        })
        .transpose()?;
    let named = query.crew_name.filter(|name| !name.is_empty());
    let workflow = named.as_deref().map(|name| crews::workflow_of(&app, name).unwrap_or(name).to_owned());
    let filter = RunFilter { workflow, ..RunFilter::default() };
    let (mut tasks, mut cursor, mut scanned) = (Vec::new(), query.cursor, 0);
    let mut glance = RunListReader::new(&app)?;
    let reviewed = if caller.reaches_all() { None } else { Some(review::tasks_of(&caller).await?) };
    let is_shown =
        |row: &RunRow| task::is_task(row) && reviewed.as_ref().is_none_or(|runs| runs.contains(&row.run));
    loop {
        let page = app.journal().runs(&filter, cursor.as_ref(), CREW_LIST).await?;
        let mut next = page.next;
        scanned += page.items.len();
        for (at, row) in page.items.iter().enumerate().filter(|(_, row)| is_shown(row)) {
            if tasks.len() == limit {
                next = page.items[..at].last().map(behind_run);
                break;
            }
            let run = glance.run(&app, row).await?;
            let is = run.as_deref().map_or_else(|| State::from_status(row.status), State::from_run);
            if state.is_some_and(|wanted| wanted != is) {
                continue;
            }
            let review = run.as_deref().and_then(Run::open_review).map(task::review_id);
            tasks.push(json!({
                "task_id": row.run.as_str(),
                "crew_name": row.workflow,
                "status": is.as_str(),
                "state": is.lower(),
                "created_at": row.created_at.to_string(),
                "last_updated": row.updated_at.to_string(),
                "current_agent": run.as_deref().and_then(task::current_agent),
                "review_id": review,
            }));
        }
        cursor = next;
        if cursor.is_none() || tasks.len() == limit || scanned >= CREW_LISTED {
            let count = tasks.len();
            let list = json!({ "success": true, "count": count, "tasks": tasks, "next_cursor": cursor });
            return Ok(Json(list));
        }
    }
}
