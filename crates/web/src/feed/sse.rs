//! A feed as server-sent events. The id of a server-sent event is the cursor of the feed. A browser sends this id as
//! `Last-Event-ID` when it reconnects.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_TYPE, HeaderName};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;
use futures::stream::{BoxStream, Stream};
use holdshort_protocol::Code;
use serde::Serialize;
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::{Item, Previews, Source, Visibility, decisions, follow};
use crate::auth::Caller;
use crate::limits::RETRY;
use crate::problem::{Answer, Refused};

/// Opens a stream of server-sent events from a source.
pub fn open(source: Source, sight: Visibility, previews: Previews) -> Answer<Response> {
    let (start, caller) = (start(&source), sight.caller().clone());
    stream(start, caller, follow(source, sight, previews))
}

/// Opens a stream of server-sent events with the decisions on the interrupts of the caller's runs.
pub fn open_decisions(after: u64, caller: Caller) -> Answer<Response> {
    let start = start(&Source::Decisions { after });
    stream(start, caller.clone(), decisions::follow(after, caller))
}

fn stream(start: Bytes, caller: Caller, feed: BoxStream<'static, Item>) -> Answer<Response> {
    let app = caller.app.clone();
    let permit = app.reserve_stream()?;
    let mut ping = interval_at(Instant::now() + app.pace.ping, app.pace.ping);
    // After a pause in which nothing was read, only one ping is sent.
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let frames = Frames {
        start: Some(start),
        feed: Some(feed),
        ping,
        over: Box::pin(async move {
            tokio::select! {
                () = caller.ended() => Some(Refused::from_code(Code::AccessEnded)),
                () = caller.app.stopped() => None,
            }
        }),
        _permit: permit,
    };
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok((headers, Body::from_stream(frames)).into_response())
}

/// Body of a stream of server-sent events. The connection asks for bytes only when it can send them, so a slow client
/// causes less work. A client that takes no bytes for some time is disconnected. No state is stored, because the next
/// connection of the client reads from the journal.
struct Frames {
    start: Option<Bytes>,
    /// Feed; `None` after the feed has ended.
    feed: Option<BoxStream<'static, Item>>,
    ping: Interval,
    /// Future that completes when the server stops, or when the access of the client has ended.
    over: BoxFuture<'static, Option<Refused>>,
    _permit: OwnedSemaphorePermit,
}

impl Stream for Frames {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if let Some(start) = this.start.take() {
            return Poll::Ready(Some(Ok(start)));
        }
        let Some(feed) = &mut this.feed else { return Poll::Ready(None) };
        if let Poll::Ready(why) = this.over.as_mut().poll(cx) {
            this.feed = None;
            return Poll::Ready(why.map(|why| Ok(encode_event("problem", None, &why.0))));
        }
        let frame = match feed.as_mut().poll_next(cx) {
            Poll::Ready(Some(Item::Event(words))) => words.frame(),
            Poll::Ready(Some(Item::Preview(preview))) => encode_event("preview", None, &preview),
            Poll::Ready(Some(Item::Problem(refused))) => encode_event("problem", None, &refused.0),
            Poll::Ready(None) => {
                this.feed = None;
                return Poll::Ready(None);
            }
            Poll::Pending => {
                ready!(this.ping.poll_tick(cx));
                Bytes::from_static(b": ping\n\n")
            }
        };
        Poll::Ready(Some(Ok(frame)))
    }
}

/// Returns the first lines of a stream: the reconnection time and the first cursor. A client that has received no event
/// resumes from this cursor.
fn start(source: &Source) -> Bytes {
    let retry = format!("retry: {}\n\n", RETRY.as_millis());
    match source {
        Source::Run { .. } => retry.into(),
        Source::All { .. } | Source::Inbox { .. } | Source::Decisions { .. } => {
            let position = source.cursor();
            let place = encode_event("position", Some(&position), &json!({ "position": position }));
            [retry.as_bytes(), &place].concat().into()
        }
    }
}

fn encode_event<T: Serialize>(name: &str, id: Option<&str>, data: &T) -> Bytes {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    let data = serde_json::to_string(data).unwrap_or_default();
    format!("{id}event: {name}\ndata: {data}\n\n").into()
}
