//! Events and previews, in the form that clients receive.

use holdshort_core::actor::{Actor, Role};
use holdshort_core::envelope::{self, Sealed};
use holdshort_core::event::{self, Event};
use holdshort_core::id::StreamId;
use holdshort_core::interrupt::Interrupt;
use holdshort_core::run::Fact;
use holdshort_core::time::Timestamp;
use holdshort_engine::real::{Kind, Preview};
use holdshort_protocol as wire;
use serde_json::{Map, Value};

use super::assignment::Reader;

/// JSON pointers to the timestamps in the data of events. The journal stores timestamps as numbers, and clients receive
/// RFC 3339 texts.
const TIMES: [&str; 9] = [
    "/expires_at",
    "/retry_at",
    "/previous_until",
    "/away/until",
    "/delegation/until",
    "/is/issued_at",
    "/remind_at",
    "/escalate_at",
    "/until",
];

pub fn from_sealed(sealed: &Sealed) -> Result<wire::Event, envelope::Error> {
    Ok(show(event::decode(sealed)?, sealed.seq))
}

/// Like [`from_sealed`], for an event about an interrupt. Removes the parts that the reader may not see.
pub fn of_interrupt(
    sealed: &Sealed,
    interrupt: &Interrupt,
    reader: &Reader,
) -> Result<wire::Event, envelope::Error> {
    let mut event = event::decode(sealed)?;
    reader.cover_event(interrupt, &mut event, sealed.seq);
    Ok(show(event, sealed.seq))
}

fn show(mut event: Event, seq: u64) -> wire::Event {
    if let event::Fact::Run(Fact::InterruptOpened(opened)) = &mut event.fact {
        opened.take_labels(&mut event.content.data);
    }
    let (kind, mut facts) = event.fact.encode();
    for pointer in TIMES {
        if let Some(time) = facts.pointer_mut(pointer)
            && let Some(ms) = time.as_i64()
        {
            *time = Timestamp::from_millis(ms).to_string().into();
        }
    }
    let mut data = match facts {
        Value::Object(facts) => facts,
        _ => Map::new(),
    };
    let mut content = Map::new();
    if let Some(text) = event.content.text {
        content.insert("text".to_owned(), text.into());
    }
    if !event.content.data.is_null() {
        content.insert("data".to_owned(), event.content.data);
    }
    if !content.is_empty() {
        data.insert("content".to_owned(), content.into());
    }
    let run = match &event.stream {
        StreamId::Run(run) => Some(run.to_string()),
        StreamId::Session(_) | StreamId::System => None,
    };
    wire::Event {
        stream: event.stream.to_string(),
        seq,
        position: None,
        run,
        at: event.at.to_string(),
        actor: actor(event.actor),
        kind,
        data: data.into(),
    }
}

fn actor(actor: Actor) -> wire::Actor {
    let Actor { id, role: of, via, let_in_by } = actor;
    wire::Actor { id, role: role(of), via, let_in_by }
}

pub fn role(role: Role) -> wire::Role {
    match role {
        Role::Admin => wire::Role::Admin,
        Role::Operator => wire::Role::Operator,
        Role::Reviewer => wire::Role::Reviewer,
        Role::Agent => wire::Role::Agent,
        Role::Auditor => wire::Role::Auditor,
        Role::Engine => wire::Role::Engine,
    }
}

pub fn preview(preview: &Preview) -> wire::Preview {
    wire::Preview {
        run: preview.run.to_string(),
        step: preview.step.clone(),
        call: preview.call.clone(),
        kind: match preview.kind {
            Kind::Text => wire::PreviewKind::Text,
            Kind::Output => wire::PreviewKind::Output,
        },
        text: preview.text.clone(),
    }
}
