//! `POST /crew/resume/{task_id}`: a person's decision on the review that a task waits for (contracts D3, E16, E17).

use std::sync::Arc;

use axum::response::Response;
use axum::{Extension, Json};
use holdshort_core::actor::Actor;
use holdshort_core::id::{InterruptId, RunId};
use holdshort_core::limits;
use holdshort_core::name;
use holdshort_core::run::Run;
use holdshort_protocol::{self as wire, Code};
use holdshort_web::app::App;
use holdshort_web::auth::Caller;
use holdshort_web::body::{Body, read_strict};
use holdshort_web::decide::decide_on_behalf;
use holdshort_web::identity::AuthMethod;
use holdshort_web::interrupt_ref::InterruptRef;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::Id;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::guest::Guest;
use super::ids::ReviewId;
use super::rate::Counted;
use super::{Crew, crews, refusals, task};

/// Values of `reviewer` that clients without user accounts send with a decision (contract E36). The values are spelled
/// as [`name::form`] returns them.
const NOBODY: [&str; 3] = ["unknown reviewer", "unknown_reviewer", ""];

/// Body of a decision on a review. Unknown members, which the form of existing clients sends, are ignored (contract
/// D9).
#[derive(Deserialize)]
pub(super) struct DecisionRequest {
    pub(super) status: Status,
    #[serde(default)]
    pub(super) reviewer: Option<String>,
    #[serde(default)]
    pub(super) comments: Option<String>,
    /// Id of the review that the client decides on. Without an id, a late decision could reach a later review of the
    /// same task.
    #[serde(default, alias = "reviewId")]
    pub(super) review_id: Option<ReviewId>,
    #[serde(flatten)]
    _more: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Approved,
    Rejected,
}

impl Status {
    pub(super) fn option(self) -> &'static str {
        match self {
            Self::Approved => "approve",
            Self::Rejected => "reject",
        }
    }

    pub(super) fn of_option(option: &str) -> Option<Self> {
        [Self::Approved, Self::Rejected].into_iter().find(|status| status.option() == option)
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "approved" => Some(Self::Approved),
            "rejected" => Some(Self::Rejected),
            _ => None,
        }
    }
}

pub(super) async fn resume(
    guest: Guest,
    Id(id): Id<String>,
    Extension(crew): Extension<Arc<Crew>>,
    body: Body,
) -> Answer<Response> {
    let caller = guest.authorize()?;
    let answer = async {
        let id = task::resolve_id(&caller.app, &id).await?;
        let run = caller.app.run_now(&id).await?;
        // The body is checked before the state of the task, so an invalid body is always reported as invalid.
        let said = read(body).await?;
        let meant = find_decided_review(&run, said.review_id.as_ref())?;
        let told = decide(&caller, &run, &meant, &said).await.map_err(|refused| match refused.code() {
            // If the review has expired, the task is no longer paused.
            Code::Expired => not_paused(&run),
            _ => refused,
        })?;
        Ok(Json(told))
    };
    Ok(Box::pin(crew.limits.within(Counted::Resume, &caller, answer)).await)
}

/// Returns the review that a client decides on. The client may omit the review's id only if the task has had exactly
/// one review so far. If this were allowed after several reviews, a repeated decision could approve a later review that
/// the person has not seen.
fn find_decided_review(run: &Run, named: Option<&ReviewId>) -> Answer<InterruptId> {
    let Some(last) = task::last_review(run) else { return Err(not_paused(run)) };
    if let Some(named) = named {
        let is_of_task = task::reviews(run).any(|review| review.opened.interrupt == named.0);
        let why = || {
            let task = &run.id;
            format!("Task '{task}' has no review {named}: GET /crew/review/{{task_id}} shows its review")
        };
        return if is_of_task {
            Ok(named.0.clone())
        } else {
            Err(Refused::new(Code::AlreadyResolved, why()))
        };
    }
    if task::reviews(run).count() == 1 {
        return Ok(last.opened.interrupt.clone());
    }
    if run.open_review().is_none() {
        return Err(not_paused(run));
    }
    let rule = "is missing: the task had several reviews, so name the review that you have seen; GET \
                /crew/review/{task_id} shows it";
    Err(Refused::invalid_at("/review_id", rule))
}

fn not_paused(run: &Run) -> Refused {
    refusals::not_paused(run.id.as_str(), &task::State::from_run(run).lower())
}

pub(super) async fn read(body: Body) -> Answer<DecisionRequest> {
    let value = body.value().await?;
    let said: DecisionRequest = read_strict(&value)?;
    is_name(said.reviewer.as_deref())?;
    Ok(said)
}

/// Rejects a reviewer's name that is too long to be recorded.
pub(super) fn is_name(reviewer: Option<&str>) -> Answer<()> {
    if reviewer.is_some_and(|name| name.len() > limits::ON_BEHALF_BYTES) {
        let rule = format!("is longer than {} bytes", limits::ON_BEHALF_BYTES);
        return Err(Refused::invalid_at("/reviewer", rule));
    }
    Ok(())
}

/// Records one decision for the routes `/crew/resume` and `/webhooks/callback`. Repeating the same decision returns the
/// same result. Any other decision on a resolved review is an error.
pub(super) async fn decide(
    caller: &Caller,
    run: &Run,
    id: &InterruptId,
    said: &DecisionRequest,
) -> Answer<Value> {
    let principal = &caller.principal;
    let is_service = matches!(principal.how, AuthMethod::Key(_));
    let who = DecidingPrincipal {
        id: &principal.id,
        names: principal.name.iter().chain(&principal.aliases).map(String::as_str).collect(),
        is_service,
    };
    let named = on_behalf_of(&caller.app, &who, said.reviewer.as_deref()).await?;
    decide_as(&caller.app, &caller.actor, run, id, said.status, said.comments.as_deref(), named).await
}

/// Records one decision on a review as [`decide`] does, with `actor` as the authenticated principal. `named` is the
/// person who, according to the client, makes the decision.
pub(super) async fn decide_as(
    app: &App,
    actor: &Actor,
    run: &Run,
    id: &InterruptId,
    status: Status,
    comments: Option<&str>,
    named: Option<String>,
) -> Answer<Value> {
    let asked = InterruptRef { run: run.id.clone(), interrupt: id.clone() };
    let decision = wire::Decision {
        option: status.option().to_owned(),
        text: comments.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned),
        ..wire::Decision::default()
    };
    let interrupt =
        decide_on_behalf(app, &asked, actor.clone(), decision, named).await.map_err(|refused| {
            let state = task::State::from_run(run);
            translate_error(refused, &run.id, state, &ReviewId(id.clone()))
        })?;
    let (word, message) = match (interrupt.status, status) {
        (wire::InterruptStatus::Open, _) => {
            ("paused", "the decision is recorded; other reviewers must decide as well".to_owned())
        }
        (_, Status::Approved) => ("resuming", describe_progress(app, &run.id).await?),
        (_, Status::Rejected) => ("rejected", "the task has failed".to_owned()),
    };
    Ok(json!({
        "success": true,
        "task_id": run.id.as_str(),
        "review_id": ReviewId(id.clone()).to_string(),
        "status": word,
        "message": message,
    }))
}

/// Returns the message that answers the approval of a review. If the task cannot continue despite the approval, the
/// message names the reason.
async fn describe_progress(app: &App, id: &RunId) -> Answer<String> {
    let run = app.run_now(id).await?;
    let system = app.driver.glance_system().await?;
    // A freeze of the agent that works now stops the task, and so does a freeze of the agent that would work next.
    let is_new = |agent: &&str| run.steps.values().all(|step| step.agent != **agent);
    let next = crews::in_order(&run.definition).into_iter().find(is_new);
    let holds = |agent| system.freezes.holding(id, &run.definition.name, agent).is_some();
    let is_frozen = holds(task::current_agent(&run)) || holds(next);
    Ok(match task::State::from_run(&run) {
        task::State::Paused => format!("the decision is recorded. {}", task::waits_for(&run)),
        task::State::Pending | task::State::Running if is_frozen => {
            "the decision is recorded. The work is frozen: the task continues when the freeze is lifted in \
             Holdshort"
                .to_owned()
        }
        _ => "the task continues with its next step".to_owned(),
    })
}

/// Converts an error about a decision to the terms of the client: the names of fields, and the message about a decision
/// that differs from the recorded decision.
fn translate_error(mut refused: Refused, task: &RunId, state: task::State, review: &ReviewId) -> Refused {
    if refused.code() == Code::AlreadyResolved {
        let decided = refused.0.resolution.as_ref().map(|resolution| match resolution.outcome {
            wire::Outcome::Approved | wire::Outcome::Answered => "approved",
            wire::Outcome::Rejected => "rejected",
            wire::Outcome::Expired => "expired",
            wire::Outcome::Cancelled | wire::Outcome::Superseded => "cancelled",
        });
        let state = state.lower();
        refused.0.detail = match decided {
            Some(word) => format!(
                "Task '{task}' is not paused (current state: {state}): review {review} is already {word}"
            ),
            None => format!("Task '{task}' is not paused (current state: {state})"),
        };
        return refused;
    }
    refusals::forbidden(refused).map_field_errors(|error| {
        if error.pointer == "/text" {
            "/comments".clone_into(&mut error.pointer);
        }
    })
}

/// The person or service that decides on a review, and the names that a client may use for this principal.
pub(super) struct DecidingPrincipal<'w> {
    pub(super) id: &'w str,
    /// Display name, e-mail address and user name of the principal, if the token states them.
    pub(super) names: Vec<&'w str>,
    /// True if the caller authenticated with an access key. Such a caller may decide on behalf of a person.
    pub(super) is_service: bool,
}

/// Returns the name to record as `on_behalf_of` with a decision on a review. The principal that authenticated is
/// recorded as the one who decides (contract E29). Only a caller that is a service may name a different person. The
/// placeholder for a person, which clients without user accounts send, is recorded too.
pub(super) async fn on_behalf_of(
    app: &App,
    who: &DecidingPrincipal<'_>,
    reviewer: Option<&str>,
) -> Answer<Option<String>> {
    let Some(sent) = reviewer else { return Ok(None) };
    let name = sent.trim();
    if NOBODY.contains(&&*name::form(name)) {
        return Ok((!name.is_empty()).then(|| name.to_owned()));
    }
    let is_same = |known: &str| name::is_same(known, name);
    let system = app.driver.glance_system().await?;
    let addresses = system.people.get(who.id).map(|person| &person.addresses);
    let is_they = is_same(who.id)
        || who.names.iter().copied().any(is_same)
        || addresses.is_some_and(|addresses| addresses.values().any(|address| is_same(address)));
    if is_they {
        return Ok(None);
    }
    if who.is_service {
        return Ok(Some(name.to_owned()));
    }
    let why =
        format!("`reviewer` names `{name}`, and you are `{}`: omit it, or sign in as that person", who.id);
    Err(refusals::forbidden(Refused::new(Code::ForbiddenRole, why)))
}
