//! Server-sent events of one run: what the journal holds after the cursor, then what comes, until the run ends.
//!
//! A task per stream writes into a short queue. A reader that stays away is dropped with its cursor; one that
//! goes away ends the task. Nothing is kept for either: the next connection reads from the journal.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_TYPE, HeaderName};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use futures::stream;
use holdshort_core::id::{RunId, StreamId};
use holdshort_engine::live::Preview;
use holdshort_protocol::{Code, Event};
use holdshort_store::Journal;
use tokio::sync::{OwnedSemaphorePermit, broadcast, mpsc};
use tokio::time::{Instant, timeout};

use crate::app::App;
use crate::limits::{PING, READ_EVENTS, RETRY, STREAM_FRAMES, STREAM_PATIENCE};
use crate::problem::{Answer, Refused};
use crate::view;

/// Starts the stream of a run's events with `seq > since`.
pub(crate) fn open(app: &Arc<App>, run: RunId, since: u64) -> Answer<Response> {
    let permit = app.streams.clone().try_acquire_owned().map_err(|_| Refused::of(Code::TooManyStreams))?;
    let (frames, reader) = mpsc::channel(STREAM_FRAMES);
    let writer = Writer { app: app.clone(), run, cursor: since, frames, _permit: permit };
    tokio::spawn(writer.write());
    let frames = stream::unfold(reader, |mut reader| async move {
        reader.recv().await.map(|frame| (Ok::<Bytes, Infallible>(frame), reader))
    });
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok((headers, Body::from_stream(frames)).into_response())
}

struct Writer {
    app: Arc<App>,
    run: RunId,
    cursor: u64,
    frames: mpsc::Sender<Bytes>,
    _permit: OwnedSemaphorePermit,
}

/// The stream is over: the run ended, the reader is gone or too slow, or the journal can not be read.
struct Over;

impl Writer {
    async fn write(mut self) {
        let run = self.run.clone();
        if let Err(Over) = self.follow().await {
            tracing::debug!(%run, "an event stream ended");
        }
    }

    async fn follow(&mut self) -> Result<(), Over> {
        // Before the journal is read: what is committed in between is not missed.
        let mut commits = self.app.driver.watch(&self.run);
        let mut previews = Some(self.app.previews.subscribe());
        self.put(format!("retry: {}\n\n", RETRY.as_millis())).await?;
        let mut ping = tokio::time::interval_at(Instant::now() + PING, PING);
        let app = self.app.clone();
        let stopped = app.stopped();
        tokio::pin!(stopped);
        loop {
            commits.mark_unchanged();
            self.catch_up().await?;
            loop {
                tokio::select! {
                    biased;
                    () = self.frames.closed() => return Err(Over),
                    () = &mut stopped => return Err(Over),
                    preview = next(&mut previews) => self.preview(preview),
                    changed = commits.changed() => {
                        if changed.is_err() {
                            return Err(Over);
                        }
                        break;
                    }
                    _ = ping.tick() => self.put(": ping\n\n".to_owned()).await?,
                }
            }
        }
    }

    /// Writes every event that the journal holds after the cursor.
    async fn catch_up(&mut self) -> Result<(), Over> {
        let stream = StreamId::Run(self.run.clone());
        loop {
            let read = self.app.journal().read(&stream, self.cursor, READ_EVENTS).await;
            let page = read.map_err(|error| self.broken(&error))?;
            let is_last = page.len() < READ_EVENTS;
            for sealed in &page {
                let event = view::event::of(sealed).map_err(|error| self.broken(&error))?;
                let ends = ends_run(&event);
                self.put(frame(&event)).await?;
                self.cursor = event.seq;
                if ends {
                    return Err(Over);
                }
            }
            if is_last {
                return Ok(());
            }
        }
    }

    fn broken(&self, error: &dyn std::error::Error) -> Over {
        tracing::error!(run = %self.run, %error, "an event stream can not be read");
        Over
    }

    async fn put(&self, frame: String) -> Result<(), Over> {
        match timeout(STREAM_PATIENCE, self.frames.send(frame.into())).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Over),
        }
    }

    /// A reader that is behind loses previews and nothing else.
    fn preview(&self, preview: Option<Preview>) {
        let Some(preview) = preview.filter(|preview| preview.run == self.run) else { return };
        if let Ok(data) = serde_json::to_string(&view::event::preview(&preview)) {
            let _ = self.frames.try_send(format!("event: preview\ndata: {data}\n\n").into());
        }
    }
}

/// The next preview; `None` where some were missed. Waits for ever once there will be no more.
async fn next(previews: &mut Option<broadcast::Receiver<Preview>>) -> Option<Preview> {
    let Some(receiver) = previews else { return std::future::pending().await };
    match receiver.recv().await {
        Ok(preview) => Some(preview),
        Err(broadcast::error::RecvError::Lagged(_)) => None,
        Err(broadcast::error::RecvError::Closed) => {
            *previews = None;
            None
        }
    }
}

/// JSON holds no line break of its own, so one `data:` line holds an event.
fn frame(event: &Event) -> String {
    let data = serde_json::to_string(event).unwrap_or_default();
    format!("id: {}\ndata: {data}\n\n", event.seq)
}

fn ends_run(event: &Event) -> bool {
    matches!(&*event.kind, "run_completed" | "run_failed" | "run_cancelled")
}
