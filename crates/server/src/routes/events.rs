//! Events of one run until its end, or all events that the caller may see, as a page of JSON or as a stream.

use axum::Json;
use axum::http::{HeaderMap, StatusCode, header::ACCEPT};
use axum::response::{IntoResponse, Response};
use holdshort_core::id::RunId;
use holdshort_protocol::{Code, Event, List, header};
use holdshort_web::auth::Caller;
use holdshort_web::feed::{self, Previews, Source, Visibility, position, sse};
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{AllEventsQuery, EventsQuery, Id, Params, limit};

use crate::openapi::{ReadsAll, ReadsPart};

const JSON: &str = "application/json";
pub(super) const STREAM: &str = "text/event-stream";

/// Read or follow the events of a run.
///
/// The default response is a page of JSON. With `Accept: text/event-stream`, the response is a stream of server-sent
/// events. Each server-sent event has an `id`: the `seq` of the event. Therefore a client that reconnects misses no
/// event and gets none twice, even after a restart of the server. The stream also contains previews (event name
/// `preview`, no id, schema `Preview`). In place of an unreadable event, it contains the error (event name `problem`,
/// schema `Problem`). The stream ends after the event that ends the run. Status 204 means that the run has ended and
/// that you already have all its events. Events after the end of the run, such as a legal hold, are only in the JSON
/// pages.
#[utoipa::path(
    get, path = "/v1/runs/{id}/events", tag = "runs", operation_id = "read_run_events",
    params(
        ("id" = String, Path, example = "run_01k6f0000000000000000000aa"),
        EventsQuery,
        ("Last-Event-ID" = Option<u64>, Header, description = "For streams: the last event that the client has seen; the stream starts after the later of this and `since`")
    ),
    responses(
        (status = 200, description = "A page of events, or the stream", content((List<Event> = "application/json"), (String = "text/event-stream"))),
        (status = 204, description = "For streams: the run has ended, and the client has seen every event"),
        ReadsPart
    )
)]
pub(crate) async fn read(
    caller: Caller,
    Id(id): Id<RunId>,
    Params(query): Params<EventsQuery>,
    headers: HeaderMap,
) -> Answer<Response> {
    let row = caller.run(&id).await?;
    let since = query.since.unwrap_or(0);
    if !accepts(&headers, STREAM) {
        let page =
            feed::page(Source::run(&row, since), Visibility::for_caller(caller), limit(query.limit)?).await?;
        return Ok(Json(page).into_response());
    }
    let seen = last_seen(&headers)?.map(|text| {
        text.parse()
            .map_err(|_| Refused::new(Code::InvalidHeader, "Last-Event-ID: is not a `seq` of this run"))
    });
    let source = Source::run(&row, since.max(seen.transpose()?.unwrap_or(0)));
    if source.is_over() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    // The first page is read now, because the error of an unreadable event can be the response status only before the
    // stream begins.
    feed::page(source.clone(), Visibility::for_caller(caller.clone()), 1).await?;
    sse::open(source, Visibility::for_caller(caller), Previews::Shown)
}

/// Follow or read all events.
///
/// The default response is a stream of server-sent events in the order of their commits. An operator gets all events.
/// An agent gets the events of the runs that it started. Each server-sent event has an `id`: the `position` of the
/// event. Therefore a client that reconnects misses no event and gets none twice, even after a restart of the server. A
/// stream without a given position starts with the next event. First it sends its start position (event name
/// `position`, data `{position}`). To miss no event, open the stream first and then read the lists. Like the stream of
/// a run, the stream also contains previews and problems. With `Accept: application/json`, the response is a page. A
/// page without a given position starts with the first event of the journal.
#[utoipa::path(
    get, path = "/v1/events", tag = "system", operation_id = "read_events",
    params(
        AllEventsQuery,
        ("Last-Event-ID" = Option<String>, Header, description = "For streams: the last event that the client has seen; the stream starts after the later of this and `position`")
    ),
    responses(
        (status = 200, description = "The stream, or a page of events", content((String = "text/event-stream"), (List<Event> = "application/json"))),
        ReadsAll
    )
)]
pub(crate) async fn all(
    caller: Caller,
    Params(query): Params<AllEventsQuery>,
    headers: HeaderMap,
) -> Answer<Response> {
    let app = caller.app.clone();
    let refuse = |why: &str| Refused::new(Code::InvalidQuery, format!("position: {why}"));
    let asked = match &query.position {
        Some(text) => Some(position::parse(&app, text, refuse).await?),
        None => None,
    };
    if accepts(&headers, JSON) && !accepts(&headers, STREAM) {
        let source = Source::All { after: asked.unwrap_or(position::START) };
        let page = feed::page(source, Visibility::for_caller(caller), limit(query.limit)?).await?;
        return Ok(Json(page).into_response());
    }
    let refuse = |why: &str| Refused::new(Code::InvalidHeader, format!("Last-Event-ID: {why}"));
    let seen = match last_seen(&headers)? {
        Some(text) => Some(position::parse(&app, text, refuse).await?),
        None => None,
    };
    let after = asked.max(seen).unwrap_or_else(|| position::last(&app));
    sse::open(Source::All { after }, Visibility::for_caller(caller), Previews::from_choice(query.previews))
}

pub(super) fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).any(|value| {
        value
            .split(',')
            .any(|part| part.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(kind))
    })
}

pub(super) fn last_seen(headers: &HeaderMap) -> Answer<Option<&str>> {
    let Some(value) = headers.get(header::LAST_EVENT_ID).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let text = value.to_str();
    text.map(Some)
        .map_err(|_| Refused::new(Code::InvalidHeader, "Last-Event-ID: is not an event id of this server"))
}
