//! Events of the journal for an auditor, newest first, filtered by stream, type, actor and time. A single event is
//! returned as it is stored, with its hashes.
//!
//! The filters use no index. The journal is read backwards in batches. For one page, at most [`SCANNED_EVENTS`] events
//! are read.

use axum::Json;
use holdshort_core::digest::Digest;
use holdshort_core::envelope::Sealed;
use holdshort_core::event;
use holdshort_core::id::StreamId;
use holdshort_core::time::Timestamp;
use holdshort_protocol::{AuditRecord, Code, Event, List};
use holdshort_store::{Log, Store};
use holdshort_web::auth::Caller;
use holdshort_web::feed::position;
use holdshort_web::limits::{READ_EVENTS, SCANNED_EVENTS};
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{AuditEventsQuery, Ids, Params, id, limit};
use holdshort_web::view;
use serde::Deserialize;

use crate::openapi::{Reads, ReadsOne};

/// List events of the journal, newest first.
///
/// A page can have fewer items than `limit`, or none, because one request searches only a limited number of events.
/// Continue with `next_cursor`.
#[utoipa::path(
    get, path = "/v1/audit/events", tag = "system", operation_id = "list_audit_events",
    params(AuditEventsQuery),
    responses((status = 200, description = "A page of events", body = List<Event>), Reads)
)]
pub(crate) async fn list(
    caller: Caller,
    Params(query): Params<AuditEventsQuery>,
) -> Answer<Json<List<Event>>> {
    let journal = caller.app.journal();
    let stream: Option<StreamId> = id("stream", query.stream.as_deref())?;
    check_event_type(query.kind.as_deref())?;
    let wanted = EventFilter {
        kind: query.kind,
        actor: query.actor,
        from: id("from", query.from.as_deref())?,
        to: id("to", query.to.as_deref())?,
    };
    let limit = limit(query.limit)?;
    let end = match (&query.cursor, &stream) {
        (Some(text), _) => position::number(text)
            .ok_or_else(|| Refused::new(Code::InvalidQuery, "cursor: is not a `next_cursor` of this list"))?,
        (None, Some(stream)) => journal.chain(stream).await?.seq.saturating_add(1),
        (None, None) => position::last(&caller.app).saturating_add(1),
    };
    let mut back = Back { journal, stream: stream.as_ref(), end, width: READ_EVENTS as u64 };
    let (mut items, mut scanned, mut older) = (Vec::new(), 0, 0);
    while back.end > 1 && scanned < SCANNED_EVENTS {
        let found = back.read().await?;
        scanned += found.len().max(1);
        for (place, sealed) in found.into_iter().rev() {
            let is = wanted.fits(&sealed);
            older = if is == Fit::Older { older + 1 } else { 0 };
            if is == Fit::Yes {
                items.push(Event {
                    position: stream.is_none().then(|| position::text(place)),
                    ..view::event::from_sealed(&sealed).map_err(|source| {
                        holdshort_engine::Error::Damaged { run: sealed.stream.to_string(), source }
                    })?
                });
            }
            if items.len() == limit {
                return Ok(Json(List { items, next_cursor: (place > 1).then(|| position::text(place)) }));
            }
        }
        // The events of one stream are ordered by time. Therefore the search in a stream stops at the first event that
        // is too old. The whole journal is only approximately ordered by time. Therefore this search stops after
        // several events that are too old.
        if older >= if stream.is_some() { 1 } else { READ_EVENTS } {
            return Ok(Json(List { items, next_cursor: None }));
        }
    }
    Ok(Json(List { items, next_cursor: (back.end > 1).then(|| position::text(back.end)) }))
}

/// Rejects an unknown event type. Without this check, a misspelt type would match no event, and no error would say why.
fn check_event_type(kind: Option<&str>) -> Answer<()> {
    let Some(kind) = kind else { return Ok(()) };
    let known = event::types().concat();
    if known.iter().any(|each| each == kind) {
        return Ok(());
    }
    let mut refused =
        Refused::new(Code::InvalidQuery, "type: is not an event type; `known` lists the event types");
    refused.0.known = known;
    Err(refused)
}

/// Read an event as it is stored.
///
/// The response contains the hash of the event and the hash of the previous event in its stream: `hash =
/// SHA-256(previous ‖ head)`.
#[utoipa::path(
    get, path = "/v1/audit/events/{stream}/{seq}", tag = "system", operation_id = "read_audit_event",
    params(
        ("stream" = String, Path, example = "run_01k6f0000000000000000000aa"),
        ("seq" = u64, Path, example = 1)
    ),
    responses((status = 200, description = "The event", body = AuditRecord), ReadsOne)
)]
pub(crate) async fn read(caller: Caller, Ids(stream, seq): Ids<StreamId, u64>) -> Answer<Json<AuditRecord>> {
    let before = seq.saturating_sub(1);
    let mut found = caller.app.journal().read(&stream, before.saturating_sub(1), 2).await?.into_iter();
    let (mut previous, mut is) = (Digest::ZERO, None);
    for sealed in &mut found {
        if sealed.seq == before {
            previous = sealed.hash;
        } else if sealed.seq == seq {
            is = Some(sealed);
        }
    }
    let sealed = is.ok_or_else(|| Refused::not_found("event"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Json(AuditRecord {
        stream: stream.to_string(),
        seq,
        head: text(&sealed.head),
        content: sealed.content.map(|content| text(&content.bytes)),
        hash: sealed.hash.to_string(),
        previous: previous.to_string(),
    }))
}

/// Reader that goes backwards through the events of one stream by `seq`, or through the whole journal by position.
struct Back<'a> {
    journal: &'a Store,
    stream: Option<&'a StreamId>,
    /// Sequence number or position before which the unread events are.
    end: u64,
    /// Length of the next batch, in sequence numbers or positions. Positions have gaps, which are large in a PostgreSQL
    /// database.
    width: u64,
}

impl Back<'_> {
    /// Returns the events of the next batch before `end`, in ascending order. The batch may be empty because of gaps
    /// between positions.
    async fn read(&mut self) -> Answer<Vec<(u64, Sealed)>> {
        loop {
            let start = self.end.saturating_sub(self.width).max(1);
            let mut found = if let Some(stream) = self.stream {
                let events = self.journal.read(stream, start - 1, READ_EVENTS + 1).await?;
                events.into_iter().map(|event| (event.seq, event)).collect::<Vec<_>>()
            } else {
                let events = self.journal.tail(start - 1, READ_EVENTS + 1).await?;
                events.into_iter().map(|each| (each.position, each.event)).collect()
            };
            found.retain(|(place, _)| *place < self.end);
            if found.len() > READ_EVENTS && self.width > 1 {
                self.width /= 2;
                continue;
            }
            if found.is_empty() {
                self.width = self.width.saturating_mul(2);
            }
            self.end = start;
            return Ok(found);
        }
    }
}

/// Filters of the list of journal events.
struct EventFilter {
    kind: Option<String>,
    actor: Option<String>,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Yes,
    No,
    /// The event is older than `from`. All further events are older too, so that the search can stop.
    Older,
}

#[derive(Deserialize)]
struct Head {
    #[serde(rename = "type")]
    kind: String,
    at: Timestamp,
    actor: HeadActor,
}

#[derive(Deserialize)]
struct HeadActor {
    id: String,
}

impl EventFilter {
    /// Compares the type, actor and time of an event with the filters, without reading its content. An unreadable event
    /// matches, so that the decoder reports the error.
    fn fits(&self, sealed: &Sealed) -> Fit {
        let Ok(head) = serde_json::from_slice::<Head>(&sealed.head) else { return Fit::Yes };
        if self.from.is_some_and(|from| head.at < from) {
            return Fit::Older;
        }
        let is = self.kind.as_ref().is_none_or(|kind| *kind == head.kind)
            && self.actor.as_ref().is_none_or(|actor| *actor == head.actor.id)
            && self.to.is_none_or(|to| head.at < to);
        if is { Fit::Yes } else { Fit::No }
    }
}
