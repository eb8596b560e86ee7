//! Frames out, and a ping now and then: what the client's side answers shows that it is there.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket};
use futures::SinkExt;
use futures::stream::SplitSink;
use holdshort_protocol::frame::ServerFrame;
use tokio::sync::mpsc;
use tokio::time::{Instant, interval_at};

/// The connection is broken.
pub(crate) struct Gone;

/// Writes what is queued; gives the socket back once nobody queues any more.
pub(crate) async fn all(
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

pub(super) fn text(frame: &ServerFrame) -> Utf8Bytes {
    serde_json::to_string(frame).unwrap_or_default().into()
}

/// The frame `event` of a subscription, around an event that is JSON already: it is the same for all who get it.
pub(super) fn event(id: &str, event: &str) -> Utf8Bytes {
    let id = serde_json::to_string(id).unwrap_or_default();
    [r#"{"type":"event","id":"#, &id, r#","event":"#, event, "}"].concat().into()
}

#[cfg(test)]
mod tests {
    use holdshort_protocol::{Actor, Event, Role};
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_in_words_is_the_frame_of_that_event() {
        let happened = Event {
            stream: "sys".to_owned(),
            seq: 1,
            position: Some("p7".to_owned()),
            run: None,
            at: "2026-01-31T09:30:00.000Z".to_owned(),
            actor: Actor { id: "operator".to_owned(), role: Role::Operator, via: None },
            kind: "frozen".to_owned(),
            data: json!({"content": {"text": "a \"word\"\n"}}),
        };
        let words = serde_json::to_string(&happened).unwrap();
        for id in ["1", "a \"quoted\" \\ \n id", "ü"] {
            let frame = ServerFrame::Event { id: id.to_owned(), event: happened.clone() };
            assert_eq!(event(id, &words), text(&frame), "{id}");
        }
    }
}
