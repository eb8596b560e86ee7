//! A client that follows events. It only counts opened interrupts, so that ten thousand clients and the server can run
//! on one machine.

use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use axum::http::Request;
use futures::{SinkExt, StreamExt};
use memchr::memmem;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Bytes, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use super::board::Board;
use crate::server::Target;

/// Text that occurs exactly once in the event of an opened interrupt.
const MARK: &[u8] = br#""type":"interrupt_opened""#;
const READ_BYTES: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    /// The client receives server-sent events of the whole journal.
    Events,
    /// The client receives messages of a WebSocket that subscribes to the inbox.
    Socket,
}

impl Transport {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Socket => "socket",
        }
    }
}

/// A client that has received the position in the journal at which it starts. It receives all events after this
/// position.
pub(super) enum Follower {
    Events(TcpStream),
    Socket(Box<WebSocketStream<TcpStream>>),
}

impl Follower {
    pub(super) async fn connect(way: Transport, target: &Target) -> Result<Self> {
        let stream = TcpStream::connect(target.address).await?;
        match way {
            Transport::Events => Ok(Self::Events(events(stream, target, None).await?)),
            Transport::Socket => Ok(Self::Socket(Box::new(socket(stream, target).await?))),
        }
    }

    /// Reads events until the server ends the stream. The server does not end a stream during a measurement.
    pub(super) async fn follow(self, board: Arc<Board>) -> Result<()> {
        match self {
            Self::Events(stream) => read_events(stream, &board).await,
            Self::Socket(socket) => read_socket(*socket, &board).await,
        }
    }
}

/// Requests all events after the event id `seen`. Reads until the server has sent the position at which the client
/// starts.
pub(super) async fn events(mut stream: TcpStream, target: &Target, seen: Option<&str>) -> Result<TcpStream> {
    let seen = seen.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
    let request = format!(
        "GET /v1/events?previews=false HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Accept: text/event-stream\r\n{seen}\r\n",
        target.address, target.operator,
    );
    stream.write_all(request.as_bytes()).await?;
    let mut said = Vec::new();
    while memmem::find(&said, b"event: position").is_none() {
        ensure!(stream.read_buf(&mut said).await? > 0, "a stream ended before its starting position");
        ensure!(said.starts_with(b"HTTP/1.1 200"), "no stream: {}", String::from_utf8_lossy(&said));
    }
    Ok(stream)
}

async fn socket(stream: TcpStream, target: &Target) -> Result<WebSocketStream<TcpStream>> {
    let request = Request::builder()
        .uri(format!("ws://{}/v1/ws", target.address))
        .header("host", target.address.to_string())
        .header("authorization", format!("Bearer {}", target.operator))
        .header("connection", "Upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", generate_key())
        .body(())?;
    let config = WebSocketConfig::default().read_buffer_size(READ_BYTES).write_buffer_size(0);
    let (mut socket, _) = client_async_with_config(request, stream, Some(config)).await?;
    for frame in [r#"{"type":"hello"}"#, r#"{"type":"subscribe","id":"1","topic":"inbox"}"#] {
        socket.send(Message::text(frame)).await?;
    }
    loop {
        let frame = socket.next().await.context("a WebSocket ended before its starting position")??;
        let text = frame.to_text().unwrap_or_default();
        ensure!(!text.contains(r#""type":"error""#), "no subscription: {text}");
        if text.contains(r#""type":"subscribed""#) {
            return Ok(socket);
        }
    }
}

async fn read_events(mut stream: TcpStream, board: &Board) -> Result<()> {
    let mut bytes = Vec::with_capacity(READ_BYTES);
    let mut seen = 0;
    loop {
        if stream.read_buf(&mut bytes).await? == 0 {
            bail!("the server ended a stream during the measurement");
        }
        for _ in memmem::find_iter(&bytes, MARK) {
            board.arrived(seen);
            seen += 1;
        }
        // A read may end in the middle of the mark. The kept bytes are fewer than one mark, so that no mark is counted
        // twice.
        let kept = bytes.len().saturating_sub(MARK.len() - 1);
        bytes.drain(..kept);
    }
}

async fn read_socket(mut socket: WebSocketStream<TcpStream>, board: &Board) -> Result<()> {
    let mut seen = 0;
    while let Some(frame) = socket.next().await {
        let bytes: Bytes = frame?.into_data();
        if memmem::find(&bytes, MARK).is_some() {
            board.arrived(seen);
            seen += 1;
        }
    }
    bail!("the server ended a WebSocket during the measurement")
}
