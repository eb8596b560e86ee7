//! Reads and parses the frames of a client. Each step of parsing has an error of its own.

use std::time::Duration;

use axum::extract::ws::WebSocket;
use futures::stream::SplitStream;
use holdshort_core::json;
use holdshort_protocol::Code;
use holdshort_protocol::frame::ClientFrame;
use holdshort_web::body::read_strict;
use holdshort_web::limits::LINE_BYTES;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::websocket::{self, End};
use serde::de::IgnoredAny;
use serde_json::Value;

/// Frame of a client, or the error in this frame. Most invalid frames still have a known id.
pub(super) struct Received {
    pub(super) id: Option<String>,
    pub(super) frame: Answer<ClientFrame>,
}

/// Returns the next frame of the socket's client. Pings and pongs are not returned, because they only show that the
/// client is alive.
pub(super) async fn next(incoming: &mut SplitStream<WebSocket>, silence: Duration) -> Result<Received, End> {
    match websocket::next(incoming, silence).await? {
        Some(text) => read(&text),
        None => Err(End::NotJson(Refused::new(Code::MalformedJson, "the frame is binary: send text frames"))),
    }
}

/// Parses the text of a client's frame, without a socket. Fuzzers use this function too.
pub(crate) fn read_text(text: &str) -> Answer<ClientFrame> {
    match websocket::fits(text).and_then(|()| read(text)) {
        Ok(received) => received.frame,
        Err(
            End::NotJson(refused)
            | End::TooLarge(refused)
            | End::Unauthenticated(refused)
            | End::AccessEnded(refused)
            | End::Full(refused)
            | End::OverRate(refused),
        ) => Err(refused),
        Err(
            End::Left
            | End::LeftBecause(_)
            | End::Broken
            | End::Stopping
            | End::Behind
            | End::Silent
            | End::Evicted
            | End::Replaced
            | End::Unreadable,
        ) => Err(Refused::from_code(Code::Internal)),
    }
}

fn read(text: &str) -> Result<Received, End> {
    match json::parse(text.as_bytes()) {
        Ok(value) => {
            let id = value.get("id").and_then(Value::as_str).map(str::to_owned);
            Ok(Received { id, frame: understand(value) })
        }
        Err(error) => {
            let refused = Refused::new(Code::MalformedJson, error.to_string());
            // If the text is JSON but ambiguous, for example with duplicate members, only this frame is rejected. If
            // the text is not JSON, the connection is closed.
            match serde_json::from_str::<IgnoredAny>(text) {
                Ok(_) => Ok(Received { id: None, frame: Err(refused) }),
                Err(_) => Err(End::NotJson(refused)),
            }
        }
    }
}

/// Parses a client's frame as the type that its field `type` names. Each error then has a JSON pointer to the invalid
/// field.
fn understand(mut value: Value) -> Answer<ClientFrame> {
    let Some(fields) = value.as_object_mut() else {
        return Err(Refused::invalid_at("", "the frame must be a JSON object"));
    };
    let Some(kind) = fields.remove("type") else {
        return Err(Refused::invalid_at("/type", "missing field `type`"));
    };
    if fields.get("id").and_then(Value::as_str).is_some_and(|id| !(1..=LINE_BYTES).contains(&id.len())) {
        return Err(Refused::invalid_at("/id", format!("must be 1 to {LINE_BYTES} bytes")));
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
