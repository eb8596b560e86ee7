//! A feed as server-sent events. The id of an event is its cursor: what a browser sends back by itself as
//! `Last-Event-ID` when it connects again.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_TYPE, HeaderName};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use futures::stream::{self, BoxStream, StreamExt};
use holdshort_protocol::Event;
use serde::Serialize;
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, interval_at};

use super::{Item, Outbox, Previews, Sight, Source, Unsent, follow};
use crate::app::App;
use crate::limits::RETRY;
use crate::problem::Answer;

/// Starts the stream of what a source has.
pub(crate) fn open(source: Source, sight: Sight, previews: Previews) -> Answer<Response> {
    let app = sight.app().clone();
    let permit = app.place()?;
    let (outbox, reader) = Outbox::new(app.pace.patience);
    let start = start(&source);
    tokio::spawn(write(app, follow(source, sight, previews), outbox, start, permit));
    let frames = stream::unfold(reader, async |mut reader| {
        reader.recv().await.map(|frame: Bytes| (Ok::<_, Infallible>(frame), reader))
    });
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok((headers, Body::from_stream(frames)).into_response())
}

/// A task per stream. Nothing is kept when it ends: the next connection reads from the journal.
async fn write(
    app: Arc<App>,
    feed: BoxStream<'static, Item>,
    outbox: Outbox<Bytes>,
    start: Bytes,
    _permit: OwnedSemaphorePermit,
) {
    if let Err(unsent) = pass_on(&app, feed, outbox, start).await {
        tracing::debug!(?unsent, "an event stream ended");
    }
}

async fn pass_on(
    app: &App,
    mut feed: BoxStream<'static, Item>,
    outbox: Outbox<Bytes>,
    start: Bytes,
) -> Result<(), Unsent> {
    outbox.put(start).await?;
    let mut ping = interval_at(Instant::now() + app.pace.ping, app.pace.ping);
    let stopped = app.stopped();
    tokio::pin!(stopped);
    loop {
        tokio::select! {
            biased;
            () = outbox.gone() => return Err(Unsent::Gone),
            () = &mut stopped => return Ok(()),
            item = feed.next() => match item {
                Some(Item::Event(event)) => outbox.put(event_frame(&event)).await?,
                Some(Item::Preview(preview)) => outbox.offer(named("preview", None, &preview)),
                Some(Item::Problem(refused)) => outbox.put(named("problem", None, &refused.0)).await?,
                None => return Ok(()),
            },
            _ = ping.tick() => outbox.put(Bytes::from_static(b": ping\n\n")).await?,
        }
    }
}

/// When to come back, and where it starts: a reader that is told nothing else goes on from there.
fn start(source: &Source) -> Bytes {
    let retry = format!("retry: {}\n\n", RETRY.as_millis());
    match source {
        Source::Run { .. } => retry.into(),
        Source::All { .. } | Source::Inbox { .. } => {
            let position = source.cursor();
            let place = named("position", Some(&position), &json!({ "position": position }));
            [retry.as_bytes(), &place].concat().into()
        }
    }
}

fn event_frame(event: &Event) -> Bytes {
    let id = event.position.clone().unwrap_or_else(|| event.seq.to_string());
    format!("id: {id}\ndata: {}\n\n", line(event)).into()
}

fn named<T: Serialize>(name: &str, id: Option<&str>, data: &T) -> Bytes {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    format!("{id}event: {name}\ndata: {}\n\n", line(data)).into()
}

/// JSON holds no line break of its own, so one `data:` line holds it.
fn line<T: Serialize>(data: &T) -> String {
    serde_json::to_string(data).unwrap_or_default()
}
