//! Writes frames to a socket, and sends pings at intervals to check that the client is connected.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{Message, WebSocket};
use futures::SinkExt;
use futures::stream::SplitSink;
use tokio::sync::mpsc;
use tokio::time::{Instant, interval_at};

use super::outbox::Queued;

/// Error returned when the connection of a WebSocket is broken.
pub struct Gone;

/// Writes all queued frames of a WebSocket, and returns the socket when the queue is closed. After each flush, calls
/// `written` with the last mark among the flushed frames.
pub async fn all<M>(
    mut sink: SplitSink<WebSocket, Message>,
    mut queue: mpsc::Receiver<Queued<M>>,
    ping: Duration,
    written: impl Fn(M),
) -> Result<SplitSink<WebSocket, Message>, Gone> {
    let mut pings = interval_at(Instant::now() + ping, ping);
    loop {
        let (message, mut last) = tokio::select! {
            biased;
            // Pings have priority, so that a busy stream does not suppress them.
            _ = pings.tick() => (Message::Ping(Bytes::new()), None),
            frame = queue.recv() => match frame {
                Some(Queued { text, mark }) => (Message::Text(text), mark),
                None => return Ok(sink),
            },
        };
        sink.feed(message).await.map_err(|_| Gone)?;
        // All queued frames are flushed together.
        while let Ok(Queued { text, mark }) = queue.try_recv() {
            sink.feed(Message::Text(text)).await.map_err(|_| Gone)?;
            last = mark.or(last);
        }
        sink.flush().await.map_err(|_| Gone)?;
        last.map(&written);
    }
}
