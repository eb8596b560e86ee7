//! A WebSocket of text frames: what is read, and how it ends. Each edge says what its frames mean.

use std::pin::Pin;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt, StreamExt};
use tokio::time::timeout;

use crate::limits::{FRAME_BYTES, GOODBYE_TIME};
use crate::socket::outbox::Unsent;
use crate::socket::write::Gone;

/// Why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The client left.
    Left,
    /// What came is no WebSocket.
    Broken,
    /// The server stops.
    Stopping,
    /// The client does not read what it is sent.
    Behind,
    /// Nothing is heard from the client.
    Silent,
    TooLarge,
    /// Another connection took its place.
    Replaced,
    /// There is more to tell, and it can not be read: the client has been told why, if it still reads.
    Unreadable,
}

impl From<Unsent> for End {
    fn from(unsent: Unsent) -> Self {
        match unsent {
            Unsent::Gone => Self::Left,
            Unsent::Slow => Self::Behind,
        }
    }
}

/// The next frame: text, or nothing where it is binary. Pings and pongs are signs of life and nothing else.
pub(super) async fn next(
    incoming: &mut SplitStream<WebSocket>,
    silence: Duration,
) -> Result<Option<Utf8Bytes>, End> {
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
            Message::Text(text) if text.len() > FRAME_BYTES => return Err(End::TooLarge),
            Message::Text(text) => return Ok(Some(text)),
            Message::Binary(_) => return Ok(None),
            Message::Ping(_) | Message::Pong(_) => {}
            Message::Close(_) => return Err(End::Left),
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
    let said = async {
        let Ok(mut sink) = writing.await else { return };
        if let Some(close) = close(end)
            && sink.send(Message::Close(Some(close))).await.is_err()
        {
            return;
        }
        // It is by reading that a client which leaves first is answered.
        while end != End::Broken
            && let Some(Ok(_)) = incoming.next().await
        {}
    };
    let _ = timeout(GOODBYE_TIME, said).await;
}

/// Codes 4400 and above mirror the statuses of HTTP.
fn close(end: End) -> Option<CloseFrame> {
    let (code, reason) = match end {
        End::Left => return None,
        End::Broken => (close_code::PROTOCOL, "this is no WebSocket as RFC 6455 has it"),
        End::Stopping => (close_code::AWAY, "the server stops: come back"),
        End::Behind => (4408, "you read too slowly: come back, nothing is lost"),
        End::Silent => (4408, "nothing was heard from you"),
        End::TooLarge => (close_code::SIZE, "the frame is too large"),
        End::Unreadable => (close_code::ERROR, "the journal can not be read: come back"),
        End::Replaced => (4409, "a newer connection took the place of this one"),
    };
    Some(CloseFrame { code, reason: reason.into() })
}
