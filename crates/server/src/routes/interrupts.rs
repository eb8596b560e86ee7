//! Interrupts: ask for a decision, list, read, wait for the resolution.

use std::collections::BTreeSet;

use axum::Json;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use holdshort_core::definition::EXTERNAL;
use holdshort_core::id::{InterruptId, RunId};
use holdshort_core::interrupt::assignee_index;
use holdshort_core::people::People;
use holdshort_core::projection::InterruptRow;
use holdshort_core::run::{self, Config, Origin};
use holdshort_engine::{StartRun, StartedRun};
use holdshort_presentation::card::Card;
use holdshort_protocol::{Ask, Code, Interrupt, InterruptStatus, List, header};
use holdshort_store::{InterruptFilter, Tables};
use holdshort_web::app::detached;
use holdshort_web::auth::Caller;
use holdshort_web::body::{Body, read_strict};
use holdshort_web::feed::position;
use holdshort_web::idempotency::Idempotency;
use holdshort_web::identity::AuthMethod;
use holdshort_web::interrupt_ref::InterruptRef;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{Id, InterruptsQuery, Params, WaitQuery, id, limit};
use holdshort_web::trace_context::JoinedTrace;
use holdshort_web::{view, wait};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::runs::{created, unknown_session};
use super::{answers, trials};
use crate::openapi::{Asks, Lists, ReadsPart};
use crate::{card, convert};

/// Ask a person.
///
/// For external agents. Without `run`, the request starts a run of the workflow `external`. The new run completes when
/// the interrupt is resolved. To wait for the resolution, call `GET /v1/interrupts/{id}?wait=25`. Alternatively pass a
/// `callback`, an endpoint to which the server sends the resolution.
///
/// With `trial`, the server first runs the command of the call over a copy-on-write layer. The layer is above the
/// folder that the agent's key names. The person then decides on the changes and the output of the command. When you
/// use the approval, send the secret of the trial.
#[utoipa::path(
    post, path = "/v1/interrupts", tag = "interrupts", operation_id = "ask",
    params(
        ("Idempotency-Key" = Option<String>, Header, description = "A repeat of the same request with the same key returns the first interrupt"),
        ("traceparent" = Option<String>, Header, description = "Parent of the trace of a run that the request starts (W3C Trace Context)")
    ),
    request_body = Ask,
    responses(
        (status = 201, description = "The interrupt", body = Interrupt,
         headers(
             ("Location" = String, description = "Path of the interrupt"),
             ("Decisions-Cursor" = String, description = "`cursor` with which `GET /v1/agent/decisions` returns the decision on this interrupt, no matter how soon it was made"),
             ("Idempotency-Replayed" = String, description = "`true`: a request with this key created this interrupt before")
         )),
        Asks
    )
)]
pub(crate) async fn ask(
    caller: Caller,
    idempotency: Idempotency,
    JoinedTrace(trace): JoinedTrace,
    headers: HeaderMap,
    body: Body,
) -> Answer<Response> {
    let value = body.value().await?;
    let mut ask: Ask = read_strict(&value)?;
    let (callback, trial) = (ask.callback.take(), ask.trial.take());
    let key = idempotency.into_key(&caller.actor, "POST /v1/interrupts", &value);
    let run: Option<RunId> = match &ask.run {
        Some(run) => Some(run.parse().map_err(|_| Refused::not_found("run"))?),
        None => None,
    };
    let session = caller.session(ask.session.as_deref()).await?;
    let subject = ask.subject.clone();
    let mut ask = convert::ask(ask)?;
    if let Some(run) = &run {
        caller.run(run).await?;
    }
    // The callback of a repeated request is not checked: a repeated request opens no interrupt, and the settings for
    // callbacks may have changed since the first request.
    let is_repeat = match &key {
        Some(key) if callback.is_some() || trial.is_some() => caller.app.is_used(key).await?,
        Some(_) | None => false,
    };
    // The call of a repeated request is not tried, because a repeated request opens no interrupt.
    if let Some(trial) = trial.filter(|_| !is_repeat) {
        let Some((call, _)) = &ask.call else {
            return Err(Refused::invalid_at("/trial", "needs a `call`: only a call can be tried"));
        };
        if !ask.withhold.is_empty() {
            let rule = "cannot be used with `trial`, because the output of the command may contain the withheld values";
            return Err(Refused::invalid_at("/withhold", rule));
        }
        ask.trial = Some(trials::try_call(&caller, &headers, trial, call).await?);
    }
    let callback = callback.filter(|_| !is_repeat);
    if let Some(callback) = &callback {
        caller.app.callbacks.check(callback)?;
    }
    let reader = caller.reader().await?;
    // Read before the interrupt opens, so that every decision on it has a later position.
    let cursor = position::text(position::last(&caller.app));
    let Caller { app, actor, principal, .. } = caller;
    let asked_with = if let AuthMethod::Key(id) = &principal.how { Some(id.clone()) } else { None };
    let definition = app.library.get(EXTERNAL).ok_or_else(|| Refused::from_code(Code::Internal))?;
    let mut input = json!({ "task": ask.title });
    if let Some(subject) = subject {
        input["subject"] = subject.into();
    }
    let start = move |ask: run::Ask, key| StartRun {
        definition,
        session,
        config: Config::default(),
        input,
        origin: Origin::ExternalOnce,
        ask: Some(ask),
        key,
        front: None,
        trace,
    };
    let asking = app.clone();
    let started = detached(async move {
        let kept = match callback {
            Some(callback) => Some(asking.callbacks.keep(&asking, callback, asked_with).await?),
            None => None,
        };
        let ask = run::Ask { callback: kept.clone(), ..ask };
        // Boxed, because the futures are large.
        let started = match run {
            Some(run) => Box::pin(asking.driver.ask(&run, ask, key, actor)).await.map_err(Refused::from),
            None => Box::pin(asking.driver.start(start(ask, key), actor)).await.map_err(unknown_session),
        };
        // The request opened no interrupt, so the stored callback is deleted. If this fails, the sweep deletes the
        // callback later.
        if let Some(kept) = kept.filter(|_| opened_nothing(&started))
            && let Err(refused) = asking.callbacks.forget(&asking, &kept).await
        {
            tracing::warn!(why = refused.0.detail, "an unused callback could not be removed");
        }
        started
    })
    .await?;
    let replayed = started.is_replayed();
    let Some(interrupt) = started.interrupt else { return Err(Refused::from_code(Code::Internal)) };
    let shown = match started.left.and_then(|run| view::interrupt::from_run(&run, &interrupt, &reader)) {
        Some(shown) => shown,
        None => view::now::interrupt(&app, &InterruptRef { run: started.run, interrupt }, &reader).await?,
    };
    let mut response = created(replayed, &format!("/v1/interrupts/{}", shown.id), Json(shown));
    // The decision on a repeated request may be older than the repeat.
    let cursor = if replayed { position::text(position::START) } else { cursor };
    if let Ok(cursor) = HeaderValue::from_str(&cursor) {
        response.headers_mut().insert(header::DECISIONS_CURSOR, cursor);
    }
    Ok(response)
}

/// Returns true if the request opened no new interrupt: it repeated an earlier request, or certainly wrote nothing.
fn opened_nothing(started: &Answer<StartedRun>) -> bool {
    match started {
        Ok(started) => started.is_replayed(),
        Err(refused) => refused.wrote_nothing(),
    }
}

/// List interrupts.
///
/// Open interrupts come first, sorted by risk from high to low. Interrupts with the same risk are sorted by age, oldest
/// first. Resolved interrupts follow, newest first. An agent must pass the id of a run that it started.
#[utoipa::path(
    get, path = "/v1/interrupts", tag = "interrupts", operation_id = "list_interrupts",
    params(InterruptsQuery),
    responses((status = 200, description = "A page of interrupts", body = List<Interrupt>), Lists)
)]
pub(crate) async fn list(
    caller: Caller,
    Params(query): Params<InterruptsQuery>,
) -> Answer<Json<List<Interrupt>>> {
    let run: Option<RunId> = id("run", query.run.as_deref())?;
    if caller.reaches_own() {
        let Some(run) = &run else {
            return Err(Refused::new(
                Code::ForbiddenRole,
                "an agent may list only the interrupts of one of its runs: set `run`",
            ));
        };
        caller.run(run).await?;
    }
    let system = caller.app.driver.glance_system().await?;
    let marks = marks(&caller, &system.people, query.assignee.as_deref(), query.group.as_deref());
    let filter = InterruptFilter {
        marks,
        open: query.status.map(|status| status == InterruptStatus::Open),
        run,
        session: id("session", query.session.as_deref())?,
        kind: query.kind.map(convert::kind),
    };
    let mut page = page(&caller, &filter, query.cursor, limit(query.limit)?).await?;
    if query.snoozed == Some(false) {
        let is_snoozed = |each: &Interrupt| each.you.as_ref().is_some_and(|you| you.snoozed_until.is_some());
        page.items.retain(|each| !is_snoozed(each));
    }
    Ok(Json(page))
}

/// Returns the keys by which the store filters interrupts. Each key names an approver (a person or a group) in the
/// index of assignments. Returns `None` if the list is not filtered. A caller with access only to assigned interrupts
/// gets only their own keys.
fn marks(
    caller: &Caller,
    people: &People,
    assignee: Option<&str>,
    group: Option<&str>,
) -> Option<Vec<String>> {
    let me = &caller.actor.id;
    let now = caller.app.now();
    let mut wanted: Option<BTreeSet<String>> = None;
    if let Some(assignee) = assignee {
        let id = if assignee == "me" { me } else { assignee };
        let named = people.represented_people(id, now).into_iter().chain([id]).map(assignee_index::person);
        wanted.get_or_insert_default().extend(named);
    }
    if let Some(group) = group {
        let mine = people.get(me).into_iter().flat_map(|person| &person.groups).map(String::as_str);
        let named: Vec<&str> = if group == "mine" { mine.collect() } else { vec![group] };
        wanted.get_or_insert_default().extend(named.into_iter().map(assignee_index::group));
    }
    let theirs = caller.reaches_assigned().then(|| assignee_index::of_person(me, people, now));
    let marks = match (wanted, theirs) {
        (Some(wanted), Some(theirs)) => Some(wanted.intersection(&theirs).cloned().collect::<BTreeSet<_>>()),
        (wanted, theirs) => wanted.or(theirs),
    };
    marks.map(|marks| marks.into_iter().collect())
}

pub(super) async fn page(
    caller: &Caller,
    filter: &InterruptFilter,
    cursor: Option<String>,
    limit: usize,
) -> Answer<List<Interrupt>> {
    let app = &caller.app;
    let read = |limit| app.journal().interrupts(filter, cursor.as_ref(), limit);
    let (ends, reader) = (view::interrupt::CallEnds::default(), caller.reader().await?);
    let shows = shows(caller).await?;
    let show = async |row: InterruptRow| {
        if shows(&row) || is_theirs(caller, &row).await? {
            view::interrupt::of_page(app, &row, &ends, &reader).await.map(Some)
        } else {
            Ok(None)
        }
    };
    view::page::show(limit, read, show).await
}

/// Returns a check on rows of interrupts that is true if the caller may certainly see the row. If it is false, the
/// complete interrupt must be read. For a caller with access only to assigned interrupts, the store has already
/// filtered the rows.
async fn shows(caller: &Caller) -> Answer<impl Fn(&InterruptRow) -> bool> {
    let system = caller.app.driver.glance_system().await?;
    let me = &caller.actor.id;
    let by_marks = !caller.reaches_assigned();
    let plain =
        !system.people.is_barred(me) && system.people.represented_people(me, caller.app.now()).is_empty();
    Ok(move |row: &InterruptRow| by_marks || (plain && !row.is_involved()))
}

async fn is_theirs(caller: &Caller, row: &InterruptRow) -> Answer<bool> {
    // Boxed, because the future is large.
    match Box::pin(caller.interrupt(&row.interrupt)).await {
        Ok(_) => Ok(true),
        Err(refused) if refused.code() == Code::ForbiddenRole => Ok(false),
        Err(refused) => Err(refused),
    }
}

/// Read an interrupt, or wait for its resolution.
///
/// With `wait`, the response is sent when the interrupt is resolved, or at the latest after `wait` seconds. If the
/// interrupt in the response is still open, send the request again.
///
/// The response for a person contains the `card`: everything that the terminal and the pages show of the interrupt.
#[utoipa::path(
    get, path = "/v1/interrupts/{id}", tag = "interrupts", operation_id = "read_interrupt",
    params(("id" = String, Path, example = "int_01k6f0000000000000000000cc"), WaitQuery),
    responses((status = 200, description = "The current interrupt", body = ShownInterrupt), ReadsPart)
)]
pub(crate) async fn read(
    caller: Caller,
    Id(id): Id<InterruptId>,
    Params(query): Params<WaitQuery>,
) -> Answer<Json<ShownInterrupt>> {
    let seconds = query.seconds()?;
    let asked = caller.interrupt(&id).await?;
    let mut shown = wait::for_resolution(&caller, &asked, seconds).await?;
    // Agents must not see stored answers about the subject.
    if caller.reaches_all() {
        answers::suggest(&caller.app, &asked, &mut shown).await?;
    }
    // An agent decides nothing, so it gets no card.
    let card = if caller.reaches_own() {
        None
    } else {
        let model = card::model(&caller.app, &asked.run).await?;
        Some(card::json(&shown, model.as_deref())?)
    };
    Ok(Json(ShownInterrupt { interrupt: shown, card }))
}

/// Interrupt with its card.
#[derive(Serialize, ToSchema)]
pub(crate) struct ShownInterrupt {
    #[serde(flatten)]
    interrupt: Interrupt,
    /// Everything that a person sees of the interrupt. Absent for agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Card>)]
    card: Option<Value>,
}
