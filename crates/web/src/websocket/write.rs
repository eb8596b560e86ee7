//! Writes frames to a socket, and pings the client at intervals to learn whether it is there.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket};
use futures::SinkExt;
use futures::stream::SplitSink;
use tokio::sync::mpsc;
use tokio::time::{Instant, interval_at};

/// The connection is broken.
pub struct Gone;

/// Writes what is queued; gives the socket back once nobody queues any more.
pub async fn all(
    mut sink: SplitSink<WebSocket, Message>,
    mut queue: mpsc::Receiver<Utf8Bytes>,
    ping: Duration,
) -> Result<SplitSink<WebSocket, Message>, Gone> {
    let mut pings = interval_at(Instant::now() + ping, ping);
    loop {
        let message = tokio::select! {
            biased;
            // First, so that a busy stream does not keep the client from being asked.
            _ = pings.tick() => Message::Ping(Bytes::new()),
            frame = queue.recv() => match frame {
                Some(frame) => Message::Text(frame),
                None => return Ok(sink),
            },
        };
        sink.feed(message).await.map_err(|_| Gone)?;
        // All that there is goes out at once.
        while let Ok(frame) = queue.try_recv() {
            sink.feed(Message::Text(frame)).await.map_err(|_| Gone)?;
        }
        sink.flush().await.map_err(|_| Gone)?;
    }
}
