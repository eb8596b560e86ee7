//! A slow client that does not read, together with clients that read. Measures if the server disconnects it, if the
//! other clients have to wait, and if it can resume after its last event.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use hyper::body::Bytes;
use memchr::memmem;
use serde::de::IgnoredAny;
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::board::Board;
use super::client::{Transport, events};
use super::crowd::connect;
use crate::client::Client;
use crate::cycle;
use crate::server::Server;
use crate::stats::percentile;

/// Number of clients that read, next to the slow client.
pub(super) const OTHERS: usize = 100;
/// Size of a large request in bytes. The events of all large requests exceed the buffers of the kernel and the server's
/// queue for one client.
const LARGE_BYTES: usize = 50_000;
pub(super) const LARGE: usize = 300;
/// Size of the slow client's receive buffer in the kernel.
const RECEIVE_BYTES: u32 = 4096;
/// Maximum time after which the server must have disconnected the slow client. Normally it takes half a minute.
const LONGEST: Duration = Duration::from_secs(45);
/// Bytes that end a chunked response body.
const END: &[u8] = b"\r\n0\r\n\r\n";

pub(super) struct Slow {
    /// Median time until a large event has reached all reading clients, before the slow client connects and while it is
    /// connected.
    pub(super) before: Duration,
    pub(super) beside: Duration,
    /// Time from the last event until the server disconnects the slow client. `None` if the server does not.
    pub(super) closed_after: Option<Duration>,
    /// Numbers of events that the slow client had when it was disconnected, and after it has resumed.
    pub(super) held: usize,
    pub(super) in_the_end: usize,
    pub(super) sent: usize,
}

pub(super) fn measure(binary: &Path, folder: &Path) -> Result<Slow> {
    let server = Server::ours(binary, folder)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let board = Arc::new(Board::new(OTHERS));
        let mut reading: JoinSet<Result<()>> = JoinSet::new();
        for follower in connect(Transport::Events, OTHERS, &server).await? {
            reading.spawn(follower.follow(board.clone()));
        }
        let mut asker = Client::connect(&server.target, &server.target.agent).await?;
        let before = send(&mut asker, &board, 0).await?;

        let connections = server.connections()?;
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(RECEIVE_BYTES)?;
        let slow = socket.connect(server.target.address).await?;
        let mut slow = events(slow, &server.target, None).await?;
        let beside = send(&mut asker, &board, LARGE).await?;

        // The slow client reads nothing during this time.
        let last = Instant::now();
        let closed = server.connections_fall_to(connections, LONGEST).await?;
        let closed_after = closed.then(|| last.elapsed());
        let got = read_to_end(&mut slow).await?;
        let whole = &got[..memmem::rfind(&got, b"\n\n").context("the slow client got no event")?];
        let seen = last_id(whole)?;
        let held = asks(whole);
        let back = TcpStream::connect(server.target.address).await?;
        let mut back = events(back, &server.target, Some(&seen)).await?;
        let mut rest = Vec::new();
        while held + asks(&rest) < LARGE {
            let read = timeout(LONGEST, back.read_buf(&mut rest)).await??;
            ensure!(read > 0, "the server disconnected the slow client after the client had reconnected");
        }
        Ok(Slow { before, beside, closed_after, held, in_the_end: held + asks(&rest), sent: LARGE })
    })
}

/// Sends large requests, each after the event of the previous one has reached all reading clients. Returns the median
/// time.
async fn send(asker: &mut Client, board: &Board, from: usize) -> Result<Duration> {
    let note = "x".repeat(LARGE_BYTES);
    let body = json!({"kind": "tool_approval", "title": "Deploy to production", "payload": {"note": note}});
    let body = Bytes::from(body.to_string());
    let mut times = Vec::new();
    for event in from..from + LARGE {
        let sent = Instant::now();
        let _: IgnoredAny = asker.create("/v1/interrupts", body.clone(), Some(&cycle::key())).await?;
        let reached = board.reached(event).await;
        times.push(*reached.last().context("no client follows the events")? - sent);
    }
    Ok(percentile(&mut times, 50))
}

/// Reads the remaining bytes of the slow client until the server ends the stream.
async fn read_to_end(slow: &mut TcpStream) -> Result<Vec<u8>> {
    let mut got = Vec::new();
    while !got.ends_with(END) {
        // The server may disconnect with a reset of the connection.
        let read = timeout(LONGEST, slow.read_buf(&mut got))
            .await
            .context("the slow stream was not disconnected")?;
        if read.is_err() || read.is_ok_and(|read| read == 0) {
            break;
        }
    }
    Ok(got)
}

fn asks(stream: &[u8]) -> usize {
    memmem::find_iter(stream, br#""type":"interrupt_opened""#).count()
}

/// Returns the id of the last complete event in the bytes of an event stream.
fn last_id(stream: &[u8]) -> Result<String> {
    let at = memmem::rfind(stream, b"id: p").context("no event has an id")?;
    let line = stream[at + b"id: ".len()..].split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(String::from_utf8_lossy(line).into_owned())
}
