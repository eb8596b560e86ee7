//! Encodes the frames of subscriptions.

use axum::extract::ws::Utf8Bytes;
use holdshort_protocol::frame::ServerFrame;

pub(super) fn text(frame: &ServerFrame) -> Utf8Bytes {
    serde_json::to_string(frame).unwrap_or_default().into()
}

/// Returns an `event` frame of the WebSocket subscription `id`. `event` is the event as JSON, which all subscribers
/// share.
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
            actor: Actor { id: "operator".to_owned(), role: Role::Operator, via: None, let_in_by: None },
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
