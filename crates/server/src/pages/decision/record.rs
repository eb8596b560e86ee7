//! The record of one interrupt as a page to keep: its card, what happened with who and when, and the checkpoint that covers it.

use axum::response::Response;
use holdshort_protocol::{Event, Interrupt, JudgedCall, LookAlikes, SignedCheckpoint};
use minijinja::context;
use minijinja::value::Serde;
use serde::Serialize;
use serde_json::Value;

use super::super::frame;
use super::card::{Card, time};

/// An event of the receipt.
pub(crate) struct Recorded {
    pub(crate) event: Event,
    pub(crate) hash: String,
    /// What it said is kept no longer.
    pub(crate) is_erased: bool,
}

/// In the place of that.
const ERASED: &str = "(erased)";

/// One event, for people.
#[derive(Serialize)]
struct Step {
    at: String,
    when: String,
    what: String,
    by: String,
    option: String,
    text: String,
    /// Where it stands in the journal, and its hash there.
    place: String,
    hash: String,
}

impl Step {
    fn of(Recorded { event, hash, is_erased }: &Recorded) -> Self {
        let said = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        Self {
            when: time(&event.at),
            at: event.at.clone(),
            what: event.kind.replace('_', " "),
            by: event.actor.id.clone(),
            option: said(event.data.get("option").or_else(|| event.data.get("outcome"))),
            text: if *is_erased { ERASED.to_owned() } else { said(event.data.pointer("/content/text")) },
            place: format!("{}/{}", event.stream, event.seq),
            hash: hash.clone(),
        }
    }
}

pub(crate) fn record(
    interrupt: &Interrupt,
    model: Option<&str>,
    events: &[Recorded],
    checkpoint: &SignedCheckpoint,
) -> Response {
    let judged = JudgedCall::of(interrupt);
    let card = Card::of(interrupt, judged.as_ref(), model);
    let headline = card.kind;
    let look_alikes = LookAlikes::of(interrupt);
    let (form, is_kept) = (None::<()>, true);
    let look_alikes = look_alikes.words();
    let shown = context! { headline, is_kept, card => Serde(&card), form, look_alikes => Serde(look_alikes) };
    let steps: Vec<Step> = events.iter().map(Step::of).collect();
    let SignedCheckpoint { note, key, .. } = checkpoint;
    let values = context! { id => &interrupt.id, steps => Serde(&steps), note, key };
    frame::record(&format!("{headline}: {}", interrupt.title), shown, values)
}
