//! The record of an interrupt as a page that can be saved. The record contains the card, the events with their actors
//! and times, and a signed checkpoint that proves the events. The record also lists the notifications that channels
//! sent. The checkpoint does not prove these notifications.

use axum::response::Response;
use holdshort_protocol::{
    Attempt, DeliveryState, Event, InspectedCall, Interrupt, Kind, LookAlikes, NotCovered, Occasion,
    RecordedDelivery, SignedCheckpoint,
};
use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;
use serde_json::Value;

use super::super::frame;
use crate::card;

/// Event of an interrupt's receipt, with its hash in the journal.
pub(crate) struct Recorded {
    pub(crate) event: Event,
    pub(crate) hash: String,
    pub(crate) is_erased: bool,
}

const ERASED: &str = "(erased)";

/// Event of a receipt, formatted for the page with the record of an interrupt. Missing values are empty.
#[derive(Serialize)]
struct Step {
    at: String,
    when: String,
    what: String,
    by: String,
    /// Client through which the actor of the event reached the server, such as `rest`.
    via: String,
    /// Person who created the login link with which the actor of the event signed in. Empty if the actor created the
    /// link.
    let_in_by: String,
    option: String,
    /// Person on whose behalf the approver decided, according to the approver's client. Empty if the event is no
    /// decision.
    on_behalf_of: String,
    /// Seconds for which the approver saw the card, according to the approver's client. Empty if the event is no
    /// decision.
    viewed: String,
    /// Digest of the card that was shown to a person. Empty if the event is no view of the interrupt.
    shown: String,
    text: String,
    /// Stream and sequence number of the event, such as `run_…/7`.
    place: String,
    hash: String,
}

impl Step {
    fn from_recorded(Recorded { event, hash, is_erased }: &Recorded) -> Self {
        let said = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        Self {
            when: card::utc(&event.at),
            at: event.at.clone(),
            what: event.kind.replace('_', " "),
            by: event.actor.id.clone(),
            via: event.actor.via.clone().unwrap_or_default(),
            let_in_by: event.actor.let_in_by.clone().unwrap_or_default(),
            option: said(event.data.get("option").or_else(|| event.data.get("outcome"))),
            on_behalf_of: said(event.data.get("on_behalf_of")),
            viewed: event.data.get("viewed_ms").and_then(Value::as_u64).map(seconds).unwrap_or_default(),
            shown: said(
                event.data.pointer("/content/data/digest").filter(|_| event.kind == "interrupt_viewed"),
            ),
            text: if *is_erased { ERASED.to_owned() } else { said(event.data.pointer("/content/text")) },
            place: format!("{}/{}", event.stream, event.seq),
            hash: hash.clone(),
        }
    }
}

/// Formats milliseconds as seconds with one decimal.
fn seconds(ms: u64) -> String {
    format!("{}.{}", ms / 1_000, ms % 1_000 / 100)
}

/// Notification of one channel about an interrupt, formatted for the page with the record.
#[derive(Serialize)]
struct NotificationRow {
    at: String,
    when: String,
    what: Occasion,
    channel: String,
    to: String,
    state: &'static str,
    /// Reason why the notification failed or why it was not sent.
    error: String,
    tried: Vec<AttemptRow>,
}

/// Attempt to deliver a notification, formatted for the page with the record. A failed attempt possibly sent nothing.
#[derive(Serialize)]
struct AttemptRow {
    at: String,
    when: String,
    became: String,
    digest: String,
}

impl NotificationRow {
    fn from_delivery(RecordedDelivery { delivery, to }: &RecordedDelivery) -> Self {
        Self {
            when: card::utc(&delivery.created_at),
            at: delivery.created_at.clone(),
            what: delivery.event,
            channel: delivery.channel.clone(),
            to: to.clone().unwrap_or_default(),
            state: match delivery.state {
                DeliveryState::Waiting => "waiting to be sent",
                DeliveryState::Delivered => "delivered",
                DeliveryState::Failed => "failed",
                DeliveryState::Dropped => "no longer sent",
            },
            error: delivery.error.clone().unwrap_or_default(),
            tried: delivery.tried.iter().map(AttemptRow::from_attempt).collect(),
        }
    }
}

impl AttemptRow {
    fn from_attempt(attempt: &Attempt) -> Self {
        let answered = || attempt.status.map(|status| format!("answered {status}"));
        Self {
            when: card::utc(&attempt.at),
            at: attempt.at.clone(),
            became: attempt.error.clone().or_else(answered).unwrap_or_default(),
            digest: attempt.digest.clone().unwrap_or_default(),
        }
    }
}

/// Returns a sentence about the outcome of the call that the interrupt asked about, from the last event of this call.
/// Returns `None` if there was no call.
fn became(interrupt: &Interrupt, events: &[Recorded]) -> Option<&'static str> {
    let is = |kind: &str| events.iter().any(|Recorded { event, .. }| event.kind == kind);
    let is_of_a_call = matches!(interrupt.kind, Kind::ToolApproval | Kind::UnknownOutcome | Kind::ClientCall);
    if !is_of_a_call && !is("result_held") {
        return None;
    }
    let is_edited =
        interrupt.resolution.as_ref().and_then(|end| end.effect.as_deref()) == Some("proceed_with_edit");
    events.iter().rev().find_map(|Recorded { event, .. }| {
        let end = event.data.get("end").and_then(Value::as_str).unwrap_or_default();
        Some(match (event.kind.as_str(), end) {
            ("tool_finished", "done") if is("changes_kept") => {
                "Some of the call's changes were kept and carried out."
            }
            ("tool_finished", "done") if is_edited => "The call was carried out as edited.",
            ("tool_finished", "done") => "The call was carried out.",
            ("tool_finished", _) if is("result_held") => {
                "The call was carried out, but its result was withheld from the agent."
            }
            ("tool_finished", "failed") if is("tool_started") => "The call started and failed.",
            ("tool_finished", "failed") => "The call failed before it started.",
            ("tool_finished", "refused") => "The call was refused and not carried out.",
            ("tool_finished", "answered") => {
                "The call was not carried out. The person's answer was used as the result of the call."
            }
            ("tool_finished", "skipped") => "The call was skipped and not carried out.",
            ("tool_finished", "cancelled") => "The call was not carried out because the run ended first.",
            ("tool_finished" | "tool_doubted", _) => "The call started, and its outcome is unknown.",
            ("result_held", _) => "The call was carried out, and its result waits for a person's approval.",
            ("tool_started", _) => "The call has started and has not ended.",
            ("tool_authorised", _) => "The call is allowed to start and has not started.",
            _ => return None,
        })
    })
}

pub(crate) fn record(
    interrupt: &Interrupt,
    model: Option<&str>,
    events: &[Recorded],
    told: &NotCovered,
    checkpoint: &SignedCheckpoint,
) -> Response {
    let judged = InspectedCall::from_interrupt(interrupt);
    let card = card::build(interrupt, judged.as_ref(), model, &card::utc);
    let became = became(interrupt, events);
    let headline = card.kind;
    let look_alikes = LookAlikes::from_interrupt(interrupt);
    let (form, is_kept) = (None::<()>, true);
    let look_alikes = look_alikes.as_slice();
    let shown =
        context! { headline, is_kept, card => Serde(&card), became, form, look_alikes => Serde(look_alikes) };
    let steps: Vec<Step> = events.iter().map(Step::from_recorded).collect();
    let SignedCheckpoint { note, key, .. } = checkpoint;
    let NotCovered { deliveries, has_older } = told;
    let told: Vec<NotificationRow> = deliveries.iter().map(NotificationRow::from_delivery).collect();
    let values =
        context! { id => &interrupt.id, steps => Serde(&steps), told => Serde(&told), has_older, note, key };
    frame::record(&format!("{headline}: {}", interrupt.title), shown, values)
}
