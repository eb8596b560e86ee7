//! A WebSocket of text frames: reads frames, writes frames, and closes the connection. The native API and the edges use
//! this module. The native API and each edge define the meaning of their own frames.
//!
//! `outbox.rs` queues frames for the client, and `write.rs` writes the frames.

mod outbox;
mod write;

use std::pin::Pin;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt, StreamExt};
use holdshort_protocol::Code;
use tokio::time::timeout;

pub use outbox::{Outbox, Queued, Unsent};
pub use write::{Gone, all as write};

use crate::auth::Caller;
use crate::limits::{FRAME_BYTES, FRAME_READ_BYTES, GOODBYE_TIME, READ_BUFFER_BYTES, WRITE_BUFFER_BYTES};
use crate::problem::Refused;

const BAD_REQUEST: u16 = 4400;
const UNAUTHENTICATED: u16 = 4401;
const TIMEOUT: u16 = 4408;
const REPLACED: u16 = 4409;
const TOO_MANY: u16 = 4429;

/// Reason for the end of a WebSocket connection. Close codes from 4400 on correspond to HTTP status codes, such as 4401
/// to 401.
#[derive(Debug)]
pub enum End {
    /// The client of the WebSocket disconnected.
    Left,
    /// The client of the WebSocket closed the connection and stated this reason.
    LeftBecause(Utf8Bytes),
    /// The bytes received from the client are not valid WebSocket frames.
    Broken,
    /// The server stops, so the WebSocket is closed.
    Stopping,
    /// The client does not read the frames that the server sends.
    Behind,
    /// The client of the WebSocket sends nothing, not even answers to pings.
    Silent,
    /// The client had not authenticated, and the server closed its connection to make room for a newer connection.
    Evicted,
    /// A newer connection of the same client has replaced this WebSocket connection.
    Replaced,
    /// The next event to send to the client is unreadable. The client was sent this error, if it still reads frames.
    Unreadable,
    /// The server has reached its maximum number of open streams.
    Full(Refused),
    /// The agent, or all agents together, sent more requests than the rate limit allows.
    OverRate(Refused),
    /// The client of the WebSocket did not authenticate, or its credentials are invalid.
    Unauthenticated(Refused),
    /// The access of the WebSocket's client has ended, for example because its key was revoked.
    AccessEnded(Refused),
    /// A frame of the client is not JSON.
    NotJson(Refused),
    TooLarge(Refused),
}

impl End {
    /// Waits until the access of a caller has ended, and returns the reason for closing the WebSocket.
    pub async fn of_access(caller: &Caller) -> Self {
        // Boxed, so that the future of a socket is small.
        Box::pin(caller.ended()).await;
        Self::AccessEnded(Refused::from_code(Code::AccessEnded))
    }
}

impl From<Unsent> for End {
    fn from(unsent: Unsent) -> Self {
        match unsent {
            Unsent::Gone => Self::Left,
            Unsent::Slow => Self::Behind,
        }
    }
}

impl End {
    /// Returns the close frame of the WebSocket, or `None` if the client has disconnected.
    fn close(&self) -> Option<CloseFrame> {
        let (code, reason) = match self {
            Self::Left | Self::LeftBecause(_) => return None,
            Self::Broken => (close_code::PROTOCOL, "the client violated the WebSocket protocol (RFC 6455)"),
            Self::Stopping => (close_code::AWAY, "the server is stopping: reconnect"),
            Self::Behind => (
                TIMEOUT,
                "the client read too slowly: reconnect with the last position to get all missed events",
            ),
            Self::Silent => (TIMEOUT, "the client sent nothing for too long, not even a pong: reconnect"),
            Self::Evicted => (
                close_code::AGAIN,
                "this connection was closed because too many connections are not authenticated: reconnect",
            ),
            Self::Replaced => (REPLACED, "a newer connection replaced this one"),
            Self::Unreadable => (close_code::ERROR, "the journal cannot be read: reconnect"),
            Self::Full(_) => (TOO_MANY, "too many connections are open"),
            Self::OverRate(_) => (TOO_MANY, "agents send too many requests: reconnect later"),
            Self::Unauthenticated(_) => (UNAUTHENTICATED, "you are not authenticated"),
            Self::AccessEnded(_) => (UNAUTHENTICATED, "your access has ended"),
            Self::NotJson(_) => (BAD_REQUEST, "frames must be JSON text"),
            Self::TooLarge(_) => (close_code::SIZE, "the frame is too large"),
        };
        Some(CloseFrame { code, reason: reason.into() })
    }

    /// Returns true if the server can still read frames of the client. The server reads the remaining frames before it
    /// closes the connection, because the client could otherwise miss the last frames that the server sent.
    fn is_readable(&self) -> bool {
        !matches!(self, Self::Broken | Self::Evicted)
    }
}

/// Sets the size limits of all WebSocket connections.
pub fn limited(upgrade: WebSocketUpgrade) -> WebSocketUpgrade {
    upgrade
        .max_message_size(FRAME_READ_BYTES)
        .max_frame_size(FRAME_READ_BYTES)
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(WRITE_BUFFER_BYTES)
}

/// Returns the text of the next frame of a WebSocket; `None` if the frame is binary. Pings and pongs are skipped,
/// because they only show that the client is alive.
pub async fn next(
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
            Message::Text(text) => return fits(&text).map(|()| Some(text)),
            Message::Binary(_) => return Ok(None),
            Message::Ping(_) | Message::Pong(_) => {}
            Message::Close(Some(close)) if !close.reason.is_empty() => {
                return Err(End::LeftBecause(close.reason));
            }
            Message::Close(_) => return Err(End::Left),
        }
    }
}

/// Rejects a WebSocket frame that exceeds the maximum number of bytes.
pub fn fits(text: &str) -> Result<(), End> {
    if text.len() <= FRAME_BYTES {
        return Ok(());
    }
    let rule = format!("a frame can have at most {FRAME_BYTES} bytes");
    Err(End::TooLarge(Refused::new(Code::BodyTooLarge, rule)))
}

/// Writes the queued frames of a WebSocket and the last frame `last`, sends the close frame, and waits until the client
/// closes the connection. One time limit applies to all these steps together. `last` has the format of the protocol
/// that uses this WebSocket.
pub async fn goodbye(
    end: &End,
    last: Option<Utf8Bytes>,
    writing: Pin<&mut impl Future<Output = Result<SplitSink<WebSocket, Message>, Gone>>>,
    mut incoming: SplitStream<WebSocket>,
) {
    let said = async {
        let Ok(mut sink) = writing.await else { return };
        if let Some(close) = end.close() {
            tracing::debug!(code = close.code, reason = %close.reason, "a socket is closed");
            for message in last.map(Message::Text).into_iter().chain([Message::Close(Some(close))]) {
                if sink.send(message).await.is_err() {
                    return;
                }
            }
        }
        while end.is_readable()
            && let Some(Ok(_)) = incoming.next().await
        {}
    };
    let _ = timeout(GOODBYE_TIME, said).await;
}
