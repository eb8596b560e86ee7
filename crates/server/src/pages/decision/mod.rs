//! The page of a decision link. GET and HEAD only show the page, because mail scanners follow links. POST makes the
//! decision, in the same way as the API. `holdshort_presentation` builds the card. `form.rs` builds the form and parses
//! the input.

mod edit;
mod form;
mod record;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use holdshort_core::actor::Actor;
use holdshort_core::id::RunId;
use holdshort_core::time::Timestamp;
use holdshort_engine::IdempotencyKey;
use holdshort_protocol::{Code, InspectedCall, Interrupt, InterruptStatus, LookAlikes, Outcome};
use holdshort_web::app::App;
use holdshort_web::auth::{AuthState, LinkBearer};
use holdshort_web::body::Body;
use holdshort_web::decide;
use holdshort_web::links::Links;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::Id;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use minijinja::context;
use minijinja::value::Serde;

use self::form::{Form, Typed};
pub(crate) use self::record::{Recorded, record};
use super::frame;
use crate::card;

pub(super) async fn show(State(auth): State<AuthState>, Id(token): Id<String>) -> Response {
    match auth.authenticate_link(&token).await {
        Ok(LinkBearer { app, actor, asked, interrupt, once, option }) => {
            match Reading::of_link(&app, &actor, &asked.run).await {
                Ok(reading) => {
                    let asks = asks_for_number(once.as_ref(), option.as_deref());
                    draw(&interrupt, &reading, asks.then(|| Links::number(&token)), News::None)
                }
                Err(refused) => frame::refused(&refused),
            }
        }
        Err(refused) => frame::refused(&refused),
    }
}

/// Facts about the run and the reader that the decision page shows in addition to the interrupt.
struct Reading {
    model: Option<String>,
    /// Time zone in which the decision page shows times for its reader. UTC if the reader has set no time zone.
    zone: TimeZone,
}

impl Reading {
    async fn of_link(app: &App, actor: &Actor, run: &RunId) -> Answer<Self> {
        let model = card::model(app, run).await?;
        let system = app.driver.system().await?;
        let zone = system.people.get(&actor.id).and_then(|person| person.time_zone.as_deref());
        let zone = zone.and_then(|zone| TimeZoneDatabase::bundled().get(zone).ok()).unwrap_or(TimeZone::UTC);
        Ok(Self { model, zone })
    }
}

/// Returns true if a decision link was created for a message. The page of such a link asks for a number, because a mail
/// scanner that submits forms would not type it.
fn asks_for_number(once: Option<&IdempotencyKey>, option: Option<&str>) -> bool {
    once.is_some() || option.is_some()
}

pub(super) async fn decide(State(auth): State<AuthState>, Id(token): Id<String>, body: Body) -> Response {
    Box::pin(take(&auth, &token, body)).await.unwrap_or_else(|refused| frame::refused(&refused))
}

async fn take(auth: &AuthState, token: &str, body: Body) -> Answer<Response> {
    let LinkBearer { app, actor, asked, mut interrupt, once, option } = auth.authenticate_link(token).await?;
    auth.count_decision(&actor)?;
    let number = asks_for_number(once.as_ref(), option.as_deref()).then(|| Links::number(token));
    let typed: Typed = body.form().await?;
    let reading = Reading::of_link(&app, &actor, &asked.run).await?;
    let until: Option<Timestamp> = interrupt.expires_at.as_deref().and_then(|at| at.parse().ok());
    // Errors in the form are reported only if the interrupt is still open and the person may act on it.
    let asks = interrupt.status == InterruptStatus::Open && until.is_none_or(|at| at > app.now());
    let (decision, problems) = typed.decision(&interrupt, number.as_deref());
    if asks && may_act(&interrupt) && !problems.is_empty() {
        return Ok(draw(&interrupt, &reading, number, News::Wrong(&typed, &Refused::invalid(problems))));
    }
    if option.is_some_and(|option| option != decision.option) {
        return Err(Refused::invalid_at(
            "/option",
            "differs from the option for which this link was created: choose that option, or open the \
            request in the app",
        ));
    }
    // If the interrupt is resolved, the idempotency key of the link is not used. A repeated decision then gets the
    // existing result.
    let once = once.filter(|_| interrupt.status == InterruptStatus::Open);
    match decide::decide_on_page(&app, &asked, actor, decision, once).await {
        Ok(decided) => Ok(draw(&decided, &reading, number, News::Decided)),
        Err(refused) if matches!(refused.code(), Code::InvalidRequest | Code::Withheld) => {
            Ok(draw(&interrupt, &reading, number, News::Wrong(&typed, &refused)))
        }
        Err(mut refused) if refused.0.resolution.is_some() => {
            interrupt.resolution = refused.0.resolution.take();
            interrupt.status = InterruptStatus::Resolved;
            Ok(draw(&interrupt, &reading, number, News::TooLate))
        }
        Err(refused) => Err(refused),
    }
}

/// State of the decision page's form: not submitted, wrong, decided, or too late.
#[derive(Clone, Copy)]
enum News<'a> {
    None,
    /// The submitted form contains errors, and is shown again with the person's input.
    Wrong(&'a Typed, &'a Refused),
    Decided,
    /// Another decision on the interrupt came first, or the interrupt has expired.
    TooLate,
}

/// Returns true if the reader may decide, or if the reader started or wrote the work and may stop it.
fn may_act(interrupt: &Interrupt) -> bool {
    interrupt.you.as_ref().is_some_and(|you| you.may_decide) || interrupt.is_own_work()
}

fn without_releases(interrupt: &Interrupt) -> Interrupt {
    let options = interrupt.options.iter().filter(|offer| offer.stops_work()).cloned().collect();
    Interrupt { options, ..interrupt.clone() }
}

/// Renders the decision page of an interrupt. `number` is the number that the reader must type, if the link was sent in
/// a message. Such a link works only once, so its page has no form after the decision.
fn draw(interrupt: &Interrupt, reading: &Reading, number: Option<String>, news: News<'_>) -> Response {
    let judged = InspectedCall::from_interrupt(interrupt);
    let time = |at: &str| local_time(at, &reading.zone);
    let card = card::build(interrupt, judged.as_ref(), reading.model.as_deref(), &time);
    let is_expired =
        interrupt.resolution.as_ref().is_some_and(|resolution| resolution.outcome == Outcome::Expired);
    let (status, headline) = match &news {
        News::Wrong(..) => (StatusCode::UNPROCESSABLE_ENTITY, "Not decided yet"),
        News::Decided => (StatusCode::OK, "Decided"),
        News::None | News::TooLate if is_expired => (StatusCode::GONE, "Expired before a decision"),
        News::TooLate => (StatusCode::CONFLICT, "Already decided"),
        News::None if interrupt.status == InterruptStatus::Resolved => (StatusCode::OK, "Already decided"),
        News::None => (StatusCode::OK, card.kind),
    };
    let may_act = may_act(interrupt);
    let held = interrupt.is_own_work().then(|| without_releases(interrupt));
    let interrupt = held.as_ref().unwrap_or(interrupt);
    let form = match &news {
        _ if interrupt.status == InterruptStatus::Resolved || !may_act => None,
        News::Decided if number.is_some() => None,
        News::Wrong(typed, refused) => Some(Form::again(interrupt, typed, number, &refused.0.errors)),
        News::None | News::Decided | News::TooLate => Some(Form::new(interrupt, number)),
    };
    let look_alikes = LookAlikes::from_interrupt(interrupt);
    let (became, is_kept) = (None::<&str>, false);
    let values = context! { headline, is_kept, became, card => Serde(&card), form => Serde(&form), look_alikes => Serde(look_alikes.as_slice()) };
    frame::page(status, headline, "decision.html", values)
}

/// Formats a timestamp in a time zone: `2026-01-31 10:30:00 CET`.
fn local_time(at: &str, zone: &TimeZone) -> String {
    match at.parse::<jiff::Timestamp>() {
        Ok(moment) => moment.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string(),
        Err(_) => at.to_owned(),
    }
}
