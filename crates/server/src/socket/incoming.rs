//! Frames in: from bytes to a frame, each step with its own refusal.

use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use futures::StreamExt;
use futures::stream::SplitStream;
use holdshort_core::json;
use holdshort_protocol::Code;
use holdshort_protocol::frame::ClientFrame;
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::time::timeout;

use super::end::End;
use crate::body::read_strict;
use crate::limits::{FRAME_BYTES, LINE_BYTES};
use crate::problem::{Answer, Refused};

/// What the client sent: a frame, or one that is refused, with the id that it has all the same.
pub(super) struct Received {
    pub(super) id: Option<String>,
    pub(super) frame: Answer<ClientFrame>,
}

/// The next frame. Pings and pongs are signs of life and nothing else.
pub(super) async fn next(incoming: &mut SplitStream<WebSocket>, silence: Duration) -> Result<Received, End> {
    loop {
        let message = match timeout(silence, incoming.next()).await {
            Ok(Some(Ok(message))) => message,
            Ok(Some(Err(error))) => {
                tracing::debug!(%error, "a socket broke");
                return Err(End::Broken);
            }
            Ok(None) => return Err(End::Left),
            Err(_) => return Err(End::Silent),
        };
        match message {
            Message::Text(text) => return read(text.as_bytes()),
            Message::Binary(_) => {
                return Err(End::NotJson(Refused::new(Code::MalformedJson, "frames are text, not binary")));
            }
            Message::Ping(_) | Message::Pong(_) => {}
            Message::Close(_) => return Err(End::Left),
        }
    }
}

/// A frame by itself, as whoever has no socket reads it.
pub(crate) fn read_text(text: &[u8]) -> Answer<ClientFrame> {
    match read(text) {
        Ok(received) => received.frame,
        Err(
            End::NotJson(refused)
            | End::TooLarge(refused)
            | End::Unauthenticated(refused)
            | End::Full(refused)
            | End::OverRate(refused),
        ) => Err(refused),
        Err(End::Left | End::Broken | End::Stopping | End::Behind | End::Silent | End::Evicted) => {
            Err(Refused::of(Code::Internal))
        }
    }
}

fn read(text: &[u8]) -> Result<Received, End> {
    if text.len() > FRAME_BYTES {
        let rule = format!("a frame has at most {FRAME_BYTES} bytes");
        return Err(End::TooLarge(Refused::new(Code::BodyTooLarge, rule)));
    }
    match json::parse(text) {
        Ok(value) => {
            let id = value.get("id").and_then(Value::as_str).map(str::to_owned);
            Ok(Received { id, frame: understand(value) })
        }
        Err(error) => {
            let refused = Refused::new(Code::MalformedJson, error.to_string());
            // JSON that two readers could understand differently is one mistake; no JSON at all is no client of ours.
            match serde_json::from_slice::<IgnoredAny>(text) {
                Ok(_) => Ok(Received { id: None, frame: Err(refused) }),
                Err(_) => Err(End::NotJson(refused)),
            }
        }
    }
}

/// Each type by itself, so that what does not fit is named by its pointer.
fn understand(mut value: Value) -> Answer<ClientFrame> {
    let Some(fields) = value.as_object_mut() else {
        return Err(Refused::invalid_at("", "a frame is a JSON object"));
    };
    let Some(kind) = fields.remove("type") else {
        return Err(Refused::invalid_at("/type", "missing field `type`"));
    };
    if fields.get("id").and_then(Value::as_str).is_some_and(|id| !(1..=LINE_BYTES).contains(&id.len())) {
        return Err(Refused::invalid_at("/id", format!("has not 1 to {LINE_BYTES} bytes")));
    }
    match kind.as_str() {
        Some("hello") => read_strict(&value).map(ClientFrame::Hello),
        Some("subscribe") => read_strict(&value).map(ClientFrame::Subscribe),
        Some("unsubscribe") => read_strict(&value).map(ClientFrame::Unsubscribe),
        Some("decide") => read_strict(&value).map(ClientFrame::Decide),
        Some("message") => read_strict(&value).map(ClientFrame::Message),
        Some("ping") => read_strict(&value).map(ClientFrame::Ping),
        _ => {
            const KNOWN: &str = "`hello`, `subscribe`, `unsubscribe`, `decide`, `message`, `ping`";
            Err(Refused::invalid_at("/type", format!("unknown type {kind}, expected one of {KNOWN}")))
        }
    }
}
