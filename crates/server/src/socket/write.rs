//! Frames out, and a ping now and then: what the client's side answers shows that it is there.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{Message, WebSocket};
use futures::SinkExt;
use futures::stream::SplitSink;
use holdshort_protocol::frame::ServerFrame;
use tokio::sync::mpsc;
use tokio::time::{Instant, interval_at};

/// The connection is broken.
pub(super) struct Gone;

/// Writes what is queued; gives the socket back once nobody queues any more.
pub(super) async fn all(
    mut sink: SplitSink<WebSocket, Message>,
    mut queue: mpsc::Receiver<ServerFrame>,
    ping: Duration,
) -> Result<SplitSink<WebSocket, Message>, Gone> {
    let mut pings = interval_at(Instant::now() + ping, ping);
    loop {
        let message = tokio::select! {
            biased;
            // First, so that a busy stream does not keep the client from being asked.
            _ = pings.tick() => Message::Ping(Bytes::new()),
            frame = queue.recv() => match frame {
                Some(frame) => message(&frame),
                None => return Ok(sink),
            },
        };
        sink.send(message).await.map_err(|_| Gone)?;
    }
}

pub(super) fn message(frame: &ServerFrame) -> Message {
    Message::Text(serde_json::to_string(frame).unwrap_or_default().into())
}
