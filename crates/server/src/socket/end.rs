//! The frame that tells a client why the server closes the connection.

use axum::extract::ws::Utf8Bytes;
use holdshort_protocol::frame::{Reason, ServerFrame};
use holdshort_web::websocket::End;

use super::write;

/// Returns the last frame before the server closes a socket. Returns `None` if the client has disconnected or speaks
/// another protocol.
pub(super) fn frame(end: &End) -> Option<Utf8Bytes> {
    let frame = match end {
        End::Left | End::LeftBecause(_) | End::Broken | End::Evicted | End::Replaced | End::Unreadable => {
            return None;
        }
        End::Stopping => ServerFrame::Closing { reason: Reason::Stopping },
        End::Behind => ServerFrame::Closing { reason: Reason::Behind },
        End::Silent => ServerFrame::Closing { reason: Reason::Silent },
        End::Full(refused)
        | End::OverRate(refused)
        | End::Unauthenticated(refused)
        | End::AccessEnded(refused)
        | End::NotJson(refused)
        | End::TooLarge(refused) => ServerFrame::Error { id: None, problem: refused.0.clone() },
    };
    Some(write::text(&frame))
}
