//! Writes frames to a socket, and pings the client at intervals to learn whether it is there.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{Message, WebSocket};
use futures::SinkExt;
use futures::stream::SplitSink;
use tokio::sync::mpsc;
use tokio::time::{Instant, interval_at};

use super::outbox::Queued;

/// The connection is broken.
pub struct Gone;

/// Writes what is queued; gives the socket back once nobody queues any more. `written` hears the last mark of what
/// was handed to the network.
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
            // First, so that a busy stream does not keep the client from being asked.
            _ = pings.tick() => (Message::Ping(Bytes::new()), None),
            frame = queue.recv() => match frame {
                Some(Queued { text, mark }) => (Message::Text(text), mark),
                None => return Ok(sink),
            },
        };
        sink.feed(message).await.map_err(|_| Gone)?;
        // All that there is goes out at once.
        while let Ok(Queued { text, mark }) = queue.try_recv() {
            sink.feed(Message::Text(text)).await.map_err(|_| Gone)?;
            last = mark.or(last);
        }
        sink.flush().await.map_err(|_| Gone)?;
        last.map(&written);
    }
}
