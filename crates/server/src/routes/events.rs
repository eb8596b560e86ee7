//! Events of a run: a page of JSON, or a stream that follows the run to its end.

use axum::Json;
use axum::http::{HeaderMap, StatusCode, header::ACCEPT};
use axum::response::{IntoResponse, Response};
use holdshort_core::id::{RunId, StreamId};
use holdshort_engine::Error;
use holdshort_protocol::{Code, Event, List, header};
use holdshort_store::Journal;

use crate::app::App;
use crate::auth::Caller;
use crate::limits::{PAGE_BYTES, READ_EVENTS};
use crate::openapi::ReadsPart;
use crate::problem::{Answer, Refused};
use crate::query::{EventsQuery, Id, Params, limit};
use crate::{stream, view};

/// Read or follow the events of a run.
///
/// A page of JSON; or, with `Accept: text/event-stream`, server-sent events: each has the event's `seq` as its
/// id, so a client that connects again gets what follows without gap or duplicate, also after a restart of the
/// server. Between them come previews (event name `preview`, no id, schema `Preview`). The stream ends after
/// the event that ends the run; 204 says that everything has been read.
#[utoipa::path(
    get, path = "/v1/runs/{id}/events", tag = "runs", operation_id = "read_run_events",
    params(
        ("id" = String, Path, example = "run_01k6f0000000000000000000aa"),
        EventsQuery,
        ("Last-Event-ID" = Option<u64>, Header, description = "Of streams: the last event that was seen; the later of it and `since` counts")
    ),
    responses(
        (status = 200, description = "A page of events, or the stream", content((List<Event> = "application/json"), (String = "text/event-stream"))),
        (status = 204, description = "Of streams: the run has ended and every event has been seen"),
        ReadsPart
    ),
    security(("operator" = []), ("agent" = []))
)]
pub(crate) async fn read(
    caller: Caller,
    Id(id): Id<RunId>,
    Params(query): Params<EventsQuery>,
    headers: HeaderMap,
) -> Answer<Response> {
    let row = caller.run(&id).await?;
    let app = &caller.app;
    if !wants_stream(&headers) {
        return Ok(Json(page(app, id, query.since.unwrap_or(0), limit(query.limit)?).await?).into_response());
    }
    let since = last_seen(&headers)?.max(query.since).unwrap_or(0);
    if row.ended_seq.is_some_and(|ended| ended <= since) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    // An event that can not be read is an error here, where it can still be said.
    page(app, id.clone(), since, 1).await?;
    stream::open(app, id, since)
}

fn wants_stream(headers: &HeaderMap) -> bool {
    headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).any(|value| {
        value.split(',').any(|part| {
            part.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream")
        })
    })
}

fn last_seen(headers: &HeaderMap) -> Answer<Option<u64>> {
    let Some(value) = headers.get(header::LAST_EVENT_ID).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let seq = value.to_str().ok().and_then(|text| text.parse().ok());
    seq.map(Some)
        .ok_or_else(|| Refused::new(Code::InvalidHeader, "Last-Event-ID: is not the `seq` of an event"))
}

/// Events after `since`, as many as asked for and no more bytes than a page may have.
async fn page(app: &App, run: RunId, since: u64, limit: usize) -> Answer<List<Event>> {
    let stream = StreamId::Run(run);
    let mut items: Vec<Event> = Vec::new();
    let mut last = since;
    let mut bytes = 0;
    while items.len() < limit && bytes <= PAGE_BYTES {
        // One more than is shown, to see whether anything follows.
        let wanted = (limit - items.len() + 1).min(READ_EVENTS);
        let read = app.journal().read(&stream, last, wanted).await?;
        let is_last = read.len() < wanted;
        for sealed in &read {
            if items.len() == limit || bytes > PAGE_BYTES {
                return Ok(List { items, next_cursor: Some(last.to_string()) });
            }
            let event = view::event::of(sealed)
                .map_err(|source| Error::Damaged { run: stream.to_string(), source })?;
            bytes += sealed.head.len() + sealed.content.as_ref().map_or(0, |content| content.bytes.len());
            last = event.seq;
            items.push(event);
        }
        if is_last {
            return Ok(List { items, next_cursor: None });
        }
    }
    Ok(List { items, next_cursor: Some(last.to_string()) })
}
