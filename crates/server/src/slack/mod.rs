//! Decisions in Slack. A person presses a button in a message. Slack then shows a form with the interrupt. The
//! submitted form decides.
//!
//! Slack signs its requests, and each request names a Slack user. The decision is recorded for the person whose Slack
//! address is this user. A person who may not decide gets a message that only this person sees. Pressing the button
//! decides nothing. The decision is accepted only if the form showed the whole interrupt, and only if the interrupt has
//! not changed since (compared by digest). `modal.rs` builds the form. Slack may send a request twice, but each form
//! makes only one decision.

mod modal;

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use holdshort_core::actor::Actor;
use holdshort_core::digest::Digest;
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::{self, Kind};
use holdshort_core::run::Input;
use holdshort_engine::IdempotencyKey;
use holdshort_notify::{Channel, Channels, Tone};
use holdshort_protocol::{Code, Decision, Interrupt, InterruptStatus, Offer, Outcome};
use holdshort_web::app::App;
use holdshort_web::auth::{AuthState, LinkBearer, ShownInterrupt};
use holdshort_web::body::Body;
use holdshort_web::decide;
use holdshort_web::interrupt_ref::InterruptRef;
use holdshort_web::links::Press;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::route_limit::RouteLimit;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const TIMESTAMP: &str = "x-slack-request-timestamp";
const SIGNATURE: &str = "x-slack-signature";
/// Channel type of Slack. A person is found by the address of this type.
const SLACK: &str = "slack";

pub(crate) fn router(channels: Arc<Channels>) -> Router<AuthState> {
    let routes = RouteLimit::DecisionsOfAddress.on(post(interact));
    Router::new().route("/integrations/slack/interactions", routes).layer(Extension(channels))
}

/// Returns true if a person can choose the option in Slack: it needs no input or only text, and gives no grant. Other
/// options can be chosen only on the decision page.
pub(crate) fn is_offered(offer: &Offer) -> bool {
    !offer.needs_edit && !offer.keeps_some() && !offer.gives_grant()
}

/// Returns true if Holdshort defines an option with this id. All other ids of options, and all labels of options, come
/// from agents.
fn is_ours(option: &str) -> bool {
    Kind::ALL.iter().any(|kind| interrupt::option(*kind, option).is_some())
}

/// Returns the text that identifies an option in the value of a Slack button: the option's id, or a digest of an id
/// that an agent wrote.
pub(crate) fn key(interrupt: &InterruptId, option: &str) -> String {
    if is_ours(option) { option.to_owned() } else { Digest::of_json(&json!([interrupt, option])).to_string() }
}

/// Returns the label of a Slack button: the option's id in words, or `Option` and the number `nth` for an id that an
/// agent wrote.
pub(crate) fn label(nth: usize, option: &str) -> String {
    if is_ours(option) { humanize_option_id(option) } else { format!("Option {nth}") }
}

/// Returns the id of an option as the label of a Slack button: capitalized, with spaces instead of underscores, at most
/// 24 characters.
fn humanize_option_id(option: &str) -> String {
    let mut chars = option.chars().map(|char| if char == '_' { ' ' } else { char }).take(24);
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

pub(crate) fn tone(offer: &Offer) -> Tone {
    match offer.outcome {
        Outcome::Approved => Tone::Go,
        Outcome::Rejected | Outcome::Cancelled => Tone::Stop,
        Outcome::Answered | Outcome::Expired | Outcome::Superseded => Tone::Other,
    }
}

/// Form body of a request from Slack, whose only field contains the data as JSON.
#[derive(Deserialize)]
struct Sent {
    payload: String,
}

async fn interact(
    State(auth): State<AuthState>,
    Extension(channels): Extension<Arc<Channels>>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    Box::pin(take(&auth, &channels, &headers, body)).await.unwrap_or_else(IntoResponse::into_response)
}

async fn take(auth: &AuthState, channels: &Channels, headers: &HeaderMap, body: Body) -> Answer<Response> {
    let body = body.bytes().await?;
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (timestamp, signature) = (header(TIMESTAMP), header(SIGNATURE));
    let now = auth.now();
    let mut signed =
        channels.all().filter(|channel| channel.is_signed_by_slack(timestamp, signature, &body, now));
    let Some(channel) = signed.next() else {
        return Err(Refused::new(
            Code::Unauthenticated,
            "the request has no valid signature of Slack, or its timestamp is too old",
        ));
    };
    let Sent { payload } =
        serde_urlencoded::from_bytes(&body).map_err(|error| Refused::invalid_at("", error.to_string()))?;
    let payload: Value = serde_json::from_str(&payload)
        .map_err(|error| Refused::new(Code::MalformedJson, error.to_string()))?;
    match text(&payload, "/type") {
        "block_actions" => pressed(auth, channel, &payload).await,
        "view_submission" => Box::pin(submitted(auth, &payload, signature)).await,
        // The server uses no other interaction type of Slack.
        _ => Ok(StatusCode::OK.into_response()),
    }
}

/// Responds to a button that a person pressed in Slack: opens a form, or tells the person why no form opens.
async fn pressed(auth: &AuthState, channel: &Channel, payload: &Value) -> Answer<Response> {
    let action = text(payload, "/actions/0/action_id");
    if !action.starts_with("decide-") {
        return Ok(StatusCode::OK.into_response());
    }
    let told = match opened(auth, payload).await {
        Ok((view, look)) => {
            let trigger = text(payload, "/trigger_id");
            let why = channel.open_form(trigger, &view, auth.now()).await.err();
            if let Some(look) = look.filter(|_| why.is_none()) {
                look.keep().await;
            }
            why.map(|why| format!("The form for the decision could not be opened: {why}."))
        }
        Err(refused) => Some(describe_refusal(&refused)),
    };
    if let Some(text) = told
        && let Err(why) = channel.whisper(self::text(payload, "/response_url"), &text).await
    {
        tracing::warn!(
            channel = channel.definition().name,
            why,
            "a message to a person in Slack could not be sent"
        );
    }
    Ok(StatusCode::OK.into_response())
}

/// Returns the Slack form for the person who pressed a button. Also returns a [`Look`] to record, if the form shows the
/// whole interrupt.
async fn opened(auth: &AuthState, payload: &Value) -> Answer<(Value, Option<Look>)> {
    let value = text(payload, "/actions/0/value");
    let press = auth.press(value).ok_or_else(|| {
        Refused::new(Code::NotFound, "this button was not created by this server: open the inbox to decide")
    })?;
    let LinkBearer { app, actor, asked, interrupt, .. } = holder(auth, payload, &press).await?;
    let offer = offered(&interrupt, &press)?;
    let form = modal::form(&interrupt, offer, &auth.inbox(&press.interrupt), value);
    let look = modal::shows_all(&interrupt, offer).then(|| Look { app, actor, asked });
    Ok((form, look))
}

/// Record that a person was shown the whole interrupt in a form in Slack.
struct Look {
    app: Arc<App>,
    actor: Actor,
    asked: InterruptRef,
}

impl Look {
    /// Records in the journal that the person viewed the interrupt in Slack, as the browser app does. An error is only
    /// logged, so that the form stays open.
    async fn keep(self) {
        let Self { app, actor, asked: InterruptRef { run, interrupt } } = self;
        if let Err(error) = app.send(&run, Input::View { interrupt }, actor).await {
            tracing::warn!(%error, "the view of a form in Slack could not be recorded");
        }
    }
}

/// Returns the person who pressed a button in Slack, together with the interrupt to which the button belongs. Returns
/// an error if the person may not decide, or if the interrupt is open and has a high risk.
async fn holder(auth: &AuthState, payload: &Value, press: &Press) -> Answer<LinkBearer> {
    let shown = ShownInterrupt { interrupt: press.interrupt.clone(), subject: press.subject };
    let holder = auth.by_address(SLACK, text(payload, "/user/id"), &shown).await?;
    let interrupt = &holder.interrupt;
    if interrupt.status == InterruptStatus::Resolved {
        return Ok(holder);
    }
    if interrupt.risk.level.is_risky() {
        return Err(Refused::new(
            Code::ForbiddenRole,
            "the risk is high: open the inbox and sign in to decide",
        ));
    }
    match &interrupt.you {
        Some(you) if you.may_decide => Ok(holder),
        Some(you) => {
            let why =
                you.why.clone().unwrap_or_else(|| "you are not an approver of this interrupt".to_owned());
            Err(Refused::new(Code::ForbiddenRole, why))
        }
        None => Err(Refused::new(Code::ForbiddenRole, "you are not an approver of this interrupt")),
    }
}

fn offered<'i>(interrupt: &'i Interrupt, press: &Press) -> Answer<&'i Offer> {
    if interrupt.status == InterruptStatus::Resolved {
        return Err(Refused::new(Code::AlreadyResolved, modal::standing(interrupt)));
    }
    let offer = find_pressed_offer(interrupt, press).filter(|offer| is_offered(offer));
    offer.ok_or_else(|| {
        Refused::new(
            Code::NotFound,
            "this option no longer exists: open the inbox to see the current options",
        )
    })
}

fn find_pressed_offer<'i>(interrupt: &'i Interrupt, press: &Press) -> Option<&'i Offer> {
    // In earlier versions, the value of a button is always the id of the option.
    let is_it = |offer: &&Offer| key(&press.interrupt, &offer.id) == press.option || offer.id == press.option;
    interrupt.options.iter().find(is_it)
}

/// Response to a form that was submitted in Slack: closes the form, shows an error at a field, or shows a different
/// view.
#[derive(Serialize)]
#[serde(tag = "response_action", rename_all = "snake_case")]
enum Reply {
    Clear,
    Errors { errors: Value },
    Update { view: Value },
}

async fn submitted(auth: &AuthState, payload: &Value, signature: &str) -> Answer<Response> {
    let value = text(payload, "/view/private_metadata");
    let Some(press) = auth.press(value) else {
        return Err(Refused::new(Code::NotFound, "this form was not created by this server"));
    };
    let answer = match Box::pin(decided(auth, payload, &press, signature)).await {
        Ok(reply) => reply,
        Err(refused) if refused.code() == Code::InvalidRequest && modal::has_field(payload) => {
            Reply::Errors { errors: json!({ (modal::FIELD): describe_refusal(&refused) }) }
        }
        Err(refused) => Reply::Update { view: modal::message_view(&describe_refusal(&refused)) },
    };
    Ok(Json(answer).into_response())
}

async fn decided(auth: &AuthState, payload: &Value, press: &Press, signature: &str) -> Answer<Reply> {
    let LinkBearer { app, actor, asked, interrupt, .. } = holder(auth, payload, press).await?;
    let once = once(&actor, payload, signature);
    // A form may decide only on the content that it showed. If the interrupt is already resolved, the content is not
    // checked, and the response contains the resolution.
    if interrupt.status == InterruptStatus::Open {
        // The person may have withdrawn the vote that this form cast. In this case, a repeated request must not cast it
        // again.
        if app.is_used(&once).await? {
            return Ok(Reply::Clear);
        }
        let offer = offered(&interrupt, press)?;
        if !modal::shows_all(&interrupt, offer) {
            return Err(Refused::new(
                Code::ForbiddenRole,
                "this form cannot show the whole request: open the inbox to decide",
            ));
        }
    }
    let typed = text(payload, modal::TYPED).trim();
    let decision = Decision {
        option: find_pressed_offer(&interrupt, press)
            .map_or_else(|| press.option.clone(), |offer| offer.id.clone()),
        text: Some(typed.to_owned()).filter(|text| !text.is_empty()),
        edit: Value::Null,
        ..Decision::default()
    };
    auth.count_decision(&actor)?;
    let decided = decide::decide_on_page(&app, &asked, actor, decision, Some(once)).await?;
    Ok(match decided.status {
        InterruptStatus::Resolved => Reply::Clear,
        InterruptStatus::Open => Reply::Update {
            view: modal::message_view(
                "Your vote is recorded. The request is decided when more approvers have voted.",
            ),
        },
    })
}

/// Returns the idempotency key of a form that was submitted in Slack. The key is derived from the id that Slack gave to
/// the open form. If Slack sent no such id, the key is derived from the signature of the request.
fn once(actor: &Actor, payload: &Value, signature: &str) -> IdempotencyKey {
    let id = text(payload, "/view/id");
    let form = if id.is_empty() { signature } else { id };
    // The digest covers the form but not the decision. Therefore a second request with the same form and another
    // decision is not accepted.
    let digest = Digest::of_bytes(form.as_bytes());
    IdempotencyKey { scope: format!("{} form in Slack", actor.id), key: digest.to_string(), digest }
}

fn describe_refusal(refused: &Refused) -> String {
    let errors = refused.0.errors.iter().map(|error| error.message.as_str()).collect::<Vec<_>>();
    let said = if errors.is_empty() { refused.0.detail.clone() } else { errors.join("; ") };
    match &refused.0.resolution {
        Some(resolution) => {
            format!("{said}. {}", modal::end(resolution))
        }
        None => said,
    }
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
