//! Reviews: interrupts of kind `review` in the form of the source system, redacted for the caller.

use std::collections::BTreeSet;

use axum::Json;
use holdshort_core::id::{InterruptId, RunId};
use holdshort_core::interrupt::{Kind, assignee_index};
use holdshort_core::run::Run;
use holdshort_protocol::{self as wire, Code};
use holdshort_store::{InterruptFilter, Tables, behind_interrupt};
use holdshort_web::auth::Caller;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{Id, Params};
use holdshort_web::view;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::guest::Guest;
use super::ids::ReviewId;
use super::{refusals, task};
use crate::limits::{CREW_LIST, CREW_LISTED};

/// `GET /crew/review/{task_id}`: returns the open review of the task or, if none is open, the last review of the task.
/// The earlier reviews are in the member `history`.
pub(super) async fn of_task(guest: Guest, Id(id): Id<String>) -> Answer<Json<Value>> {
    let caller = guest.authorize()?;
    let id = task::resolve_id(&caller.app, &id).await?;
    let run = caller.app.run_now(&id).await?;
    let Some(last) = task::last_review(&run) else {
        return Err(refusals::no_review_of_task(id.as_str()));
    };
    let last = last.opened.interrupt.clone();
    let mut reviews: Vec<(u64, InterruptId)> = run
        .interrupts
        .values()
        .filter(|each| each.opened.kind == Kind::Review)
        .map(|each| (each.opened_seq, each.opened.interrupt.clone()))
        .collect();
    reviews.sort_unstable();
    let mut shown = render_for_caller(&caller, &run, &last).await?;
    let mut history = Vec::new();
    for (_, earlier) in reviews.iter().filter(|(_, id)| *id != last) {
        // A review that the caller may not see is omitted.
        history.extend(render_for_caller(&caller, &run, earlier).await.ok());
    }
    shown["history"] = history.into();
    Ok(Json(shown))
}

/// Returns a review as JSON, with the content that the caller may see. Rejects a caller without access to the review.
pub(super) async fn render_for_caller(caller: &Caller, run: &Run, id: &InterruptId) -> Answer<Value> {
    caller.interrupt(id).await.map_err(refusals::forbidden)?;
    let reader = caller.reader().await?;
    let interrupt = view::interrupt::from_run(run, id, &reader)
        .ok_or_else(|| refusals::no_review(&ReviewId(id.clone()).to_string()))?;
    let mut shown = render(&interrupt, &run.definition.name);
    shown["comments"] = view::interrupt::comments(run, id, &reader).iter().map(comment).collect();
    Ok(shown)
}

/// Renders a comment on a review: further findings of a service, or a person's remark.
fn comment(comment: &wire::Comment) -> Value {
    json!({ "by": comment.by, "text": comment.text, "timestamp": comment.at })
}

/// Statuses of a review, which are the valid values of the query parameter `status`.
const STATUSES: [&str; 5] = ["pending", "approved", "rejected", "expired", "cancelled"];

/// Returns the status of a review in lower case, because the form and the dashboard of existing clients compare the
/// status with `pending` (contract D9).
fn status(interrupt: &wire::Interrupt) -> &'static str {
    match interrupt.resolution.as_ref().map(|resolution| resolution.outcome) {
        None => "pending",
        Some(wire::Outcome::Approved | wire::Outcome::Answered) => "approved",
        Some(wire::Outcome::Rejected) => "rejected",
        Some(wire::Outcome::Expired) => "expired",
        Some(wire::Outcome::Cancelled | wire::Outcome::Superseded) => "cancelled",
    }
}

/// Value of `cause` for a review that was approved without a person, because reviews are disabled (contract E20).
const UNASKED: &str = "unasked";

/// Returns a review as a flat JSON object in which a list is never null (contract D9).
pub(super) fn render(interrupt: &wire::Interrupt, crew: &str) -> Value {
    let empty = Map::new();
    let payload = interrupt.payload.as_object().unwrap_or(&empty);
    let risk = payload.get("risk_level").cloned().filter(|risk| !risk.is_null());
    let implications = payload.get("regulatory_implications").filter(|list| list.is_array()).cloned();
    let implications = implications.unwrap_or_else(|| json!([]));
    let id = interrupt.id.parse().map(|id| ReviewId(id).to_string()).unwrap_or_default();
    let mut shown = json!({
        "id": id,
        "review_id": id,
        "task_id": interrupt.run,
        "crew_name": crew,
        "findings": findings(interrupt, payload),
        "risk_level": risk.unwrap_or_else(|| json!(interrupt.risk.level)),
        "implications": implications,
        "regulatory_implications": implications,
        "details": details(interrupt, payload),
        "status": status(interrupt),
        "agent": interrupt.agent,
        "created_at": interrupt.created_at,
        "expires_at": interrupt.expires_at,
        "resolved_at": interrupt.resolution.as_ref().map(|resolution| resolution.at.clone()),
        "responses": responses(interrupt),
    });
    if interrupt.resolution.as_ref().is_some_and(|resolution| resolution.cause == UNASKED) {
        shown["bypassed"] = true.into();
    }
    if let Some(erased) = &interrupt.erased {
        shown["erased"] = json!(erased);
    }
    shown
}

/// Returns the findings of a review as text for the form of existing clients. A list becomes one line per element, and
/// any other value becomes JSON.
fn findings(interrupt: &wire::Interrupt, payload: &Map<String, Value>) -> String {
    let in_words = |found: &Value| found.as_str().map_or_else(|| found.to_string(), str::to_owned);
    match payload.get("findings") {
        Some(Value::Null) | None => interrupt.title.clone(),
        Some(Value::Array(list)) if list.is_empty() => interrupt.title.clone(),
        Some(Value::Array(lines)) => lines.iter().map(in_words).collect::<Vec<_>>().join("\n"),
        Some(found) => in_words(found),
    }
}

/// Returns the members of a review's payload that no other field of the review shows. In a review of an agent's result,
/// these members contain the text to approve.
fn details(interrupt: &wire::Interrupt, payload: &Map<String, Value>) -> Value {
    let known = ["findings", "risk_level", "regulatory_implications", "call_id", "details"];
    let mut details: Map<String, Value> = payload
        .iter()
        .filter(|(name, _)| !known.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    match payload.get("details") {
        Some(Value::Object(said)) => details.extend(said.clone()),
        Some(Value::Null) | None => {}
        Some(said) => {
            details.insert("details".to_owned(), said.clone());
        }
    }
    details.entry("title").or_insert_with(|| interrupt.title.as_str().into());
    details.into()
}

/// Returns the decisions on a resolved review, or the valid votes on an open review.
fn responses(interrupt: &wire::Interrupt) -> Vec<Value> {
    let response =
        |status: &str, reviewer: &str, named: Option<&String>, comments: Option<&str>, at: &str| {
            let mut said =
                json!({ "status": status, "reviewer": reviewer, "comments": comments, "timestamp": at });
            if let Some(named) = named {
                said["on_behalf_of"] = json!(named);
            }
            said
        };
    if let Some(resolution) = &interrupt.resolution {
        let one = |by: &String| {
            let named = resolution.on_behalf_of.get(by);
            response(status(interrupt), by, named, resolution.text.as_deref(), &resolution.at)
        };
        return resolution.by.iter().map(one).collect();
    }
    let word = |option: &str| if option == "reject" { "rejected" } else { "approved" };
    interrupt
        .votes
        .iter()
        .map(|vote| {
            let named = vote.on_behalf_of.as_ref();
            response(word(&vote.option), &vote.by, named, vote.text.as_deref(), &vote.at)
        })
        .collect()
}

/// Returns the keys under which the index of assignees lists the reviews that are assigned to the caller. Returns
/// `None` if the caller may also see other reviews.
async fn assigned(caller: &Caller) -> Answer<Option<Vec<String>>> {
    if !caller.reaches_assigned() {
        return Ok(None);
    }
    let system = caller.app.driver.glance_system().await?;
    let marks = assignee_index::of_person(&caller.actor.id, &system.people, caller.app.now());
    Ok(Some(marks.into_iter().collect()))
}

/// Returns the runs whose reviews the caller may see, for a caller that has no access to all runs.
pub(super) async fn tasks_of(caller: &Caller) -> Answer<BTreeSet<RunId>> {
    let app = &caller.app;
    let filter = InterruptFilter {
        marks: assigned(caller).await?,
        kind: Some(Kind::Review),
        ..InterruptFilter::default()
    };
    let (mut runs, mut cursor, mut scanned) = (BTreeSet::new(), None, 0);
    loop {
        let page = app.journal().interrupts(&filter, cursor.as_ref(), CREW_LIST).await?;
        scanned += page.items.len();
        for row in page.items {
            if !runs.contains(&row.run) && caller.interrupt(&row.interrupt).await.is_ok() {
                runs.insert(row.run);
            }
        }
        cursor = page.next;
        if cursor.is_none() || scanned >= CREW_LISTED {
            return Ok(runs);
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    status: Option<String>,
    limit: Option<u16>,
    cursor: Option<String>,
    #[expect(dead_code, reason = "read during authentication")]
    token: Option<String>,
}

/// `GET /crew/reviews?status=`: lists reviews, open reviews first. `next_cursor` is the cursor of the next page. A
/// reviewer sees only the reviews that are assigned to the reviewer.
pub(super) async fn list(guest: Guest, Params(query): Params<Query>) -> Answer<Json<Value>> {
    let caller = guest.authorize()?;
    let app = &caller.app;
    let limit = holdshort_web::query::limit(query.limit)?;
    let wanted = query.status.map(|status| status.to_ascii_lowercase()).filter(|status| !status.is_empty());
    if wanted.as_deref().is_some_and(|wanted| !STATUSES.contains(&wanted)) {
        let rule = format!("status: is not one of {}", STATUSES.join(", "));
        return Err(Refused::new(Code::InvalidQuery, rule));
    }
    let filter = InterruptFilter {
        marks: assigned(&caller).await?,
        open: wanted.as_deref().map(|wanted| wanted == "pending"),
        kind: Some(Kind::Review),
        ..InterruptFilter::default()
    };
    let reader = caller.reader().await?;
    let (mut reviews, mut cursor, mut scanned) = (Vec::new(), query.cursor, 0);
    loop {
        let page = app.journal().interrupts(&filter, cursor.as_ref(), CREW_LIST).await?;
        let mut next = page.next;
        scanned += page.items.len();
        for (at, row) in page.items.iter().enumerate() {
            if reviews.len() == limit {
                next = page.items[..at].last().map(behind_interrupt);
                break;
            }
            let run = app.run_row(&row.run).await?;
            if !task::is_task(&run)
                || (!caller.reaches_all() && caller.interrupt(&row.interrupt).await.is_err())
            {
                continue;
            }
            let interrupt = view::interrupt::from_row(app, row, &reader).await?;
            if wanted.as_deref().is_none_or(|wanted| wanted == status(&interrupt)) {
                reviews.push(render(&interrupt, &run.workflow));
            }
        }
        cursor = next;
        if cursor.is_none() || reviews.len() == limit || scanned >= CREW_LISTED {
            let count = reviews.len();
            let list = json!({ "success": true, "count": count, "reviews": reviews, "next_cursor": cursor });
            return Ok(Json(list));
        }
    }
}
