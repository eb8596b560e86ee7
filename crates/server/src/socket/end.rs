//! Why a connection ends, and how that is said: codes 4400 and above mirror the statuses of HTTP.

use std::pin::Pin;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt, StreamExt};
use holdshort_protocol::frame::{Reason, ServerFrame};
use tokio::time::timeout;

use super::outbox::Unsent;
use super::write::{self, Gone};
use crate::limits::GOODBYE_TIME;
use crate::problem::Refused;

const BAD_REQUEST: u16 = 4400;
const UNAUTHENTICATED: u16 = 4401;
const TIMEOUT: u16 = 4408;
const TOO_MANY: u16 = 4429;

#[derive(Debug)]
pub(super) enum End {
    /// The client left.
    Left,
    /// What came is no WebSocket, or nothing came any more.
    Broken,
    /// The server stops.
    Stopping,
    /// The client does not read what it is sent.
    Behind,
    /// Nothing is heard from the client.
    Silent,
    /// The client had not said who it is, and others came.
    Evicted,
    /// There is no place for another stream.
    Full(Refused),
    /// Agents say more than their rate allows.
    OverRate(Refused),
    /// The client did not say who it is, or not the truth.
    Unauthenticated(Refused),
    /// What came is not JSON text.
    NotJson(Refused),
    TooLarge(Refused),
}

impl From<Unsent> for End {
    fn from(unsent: Unsent) -> Self {
        match unsent {
            Unsent::Gone => Self::Left,
            Unsent::Slow => Self::Behind,
        }
    }
}

/// Lets what is queued be written, says why the connection ends, and waits for the client to agree: all of it for
/// a moment only.
pub(super) async fn goodbye(
    end: End,
    writing: Pin<&mut impl Future<Output = Result<SplitSink<WebSocket, Message>, Gone>>>,
    mut incoming: SplitStream<WebSocket>,
) {
    let is_readable = !matches!(end, End::Broken | End::Evicted);
    let said = async {
        let Ok(mut sink) = writing.await else { return };
        if let Some((frame, close)) = last_words(end) {
            tracing::debug!(code = close.code, reason = %close.reason, "a socket is closed");
            let frame = frame.as_ref().map(|frame| Message::Text(write::text(frame)));
            for message in frame.into_iter().chain([Message::Close(Some(close))]) {
                if sink.send(message).await.is_err() {
                    return;
                }
            }
        }
        // A connection that is dropped with unread data takes the last words with it. And it is by reading that
        // a client which leaves first is answered.
        while is_readable && let Some(Ok(_)) = incoming.next().await {}
    };
    let _ = timeout(GOODBYE_TIME, said).await;
}

/// Nothing for a client that has left.
fn last_words(end: End) -> Option<(Option<ServerFrame>, CloseFrame)> {
    let error = |refused: Refused| Some(ServerFrame::Error { id: None, problem: refused.0 });
    let closing = |reason| Some(ServerFrame::Closing { reason });
    let (frame, code, reason) = match end {
        End::Left => return None,
        End::Broken => (None, close_code::PROTOCOL, "this is no WebSocket as RFC 6455 has it"),
        End::Stopping => (closing(Reason::Stopping), close_code::AWAY, "the server stops: come back"),
        End::Behind => (
            closing(Reason::Behind),
            TIMEOUT,
            "you read too slowly: come back with your last position, nothing is lost",
        ),
        End::Evicted => {
            (None, close_code::AGAIN, "too many connections have not said who they are: come back")
        }
        End::Full(refused) => (error(refused), TOO_MANY, "too many connections are open"),
        End::OverRate(refused) => (error(refused), TOO_MANY, "agents ask too often: come back later"),
        End::Silent => (closing(Reason::Silent), TIMEOUT, "nothing was heard from you"),
        End::Unauthenticated(refused) => (error(refused), UNAUTHENTICATED, "who are you?"),
        End::NotJson(refused) => (error(refused), BAD_REQUEST, "frames are JSON text"),
        End::TooLarge(refused) => (error(refused), close_code::SIZE, "the frame is too large"),
    };
    Some((frame, CloseFrame { code, reason: reason.into() }))
}
