//! `/ws/{session_id}`: frames out as they come, messages in at any time. A message that is wrong is answered with an
//! error frame, and the socket stays open; a socket that breaks changes nothing.

use std::pin::pin;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::Path;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::response::Response;
use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt, StreamExt};
use holdshort_protocol::Code;
use tokio::sync::mpsc;
use tokio::time::{Instant, interval_at, timeout};

use super::follow::Follower;
use super::frame::Frame;
use super::person::Person;
use super::session::Session;
use super::{act, message};
use crate::limits::{
    FRAME_BYTES, FRAME_READ_BYTES, GOODBYE_TIME, READ_BUFFER_BYTES, SOCKET_FRAMES, WRITE_BUFFER_BYTES,
};
use crate::pace::Pace;
use crate::problem::{Answer, Refused};

pub(super) async fn open(
    Person(operator): Person,
    Path(name): Path<String>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Answer<Response> {
    let upgrade =
        upgrade.map_err(|error| Refused::new(Code::InvalidHeader, format!("a WebSocket: {error}")))?;
    let permit = operator.app.place()?;
    let session = Session::of(operator, name)?;
    let upgrade = upgrade
        .max_message_size(FRAME_READ_BYTES)
        .max_frame_size(FRAME_READ_BYTES)
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(WRITE_BUFFER_BYTES);
    Ok(upgrade.on_upgrade(async move |socket| {
        serve(socket, session).await;
        drop(permit);
    }))
}

/// Why a connection ends.
enum End {
    Left,
    Stopping,
    /// The client does not read, or nothing is heard from it: it comes back and hears what is open.
    Behind,
    /// The journal can not be read.
    Failed(Refused),
}

/// Frames on their way out.
struct Outbox {
    queue: mpsc::Sender<Message>,
    patience: Duration,
}

impl Outbox {
    async fn put(&self, frames: &[Frame]) -> Result<(), End> {
        for frame in frames {
            let message = Message::Text(frame.text().into());
            match timeout(self.patience, self.queue.send(message)).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Err(End::Left),
                Err(_) => return Err(End::Behind),
            }
        }
        Ok(())
    }
}

async fn serve(socket: WebSocket, session: Session) {
    let app = session.app.clone();
    let (sink, mut incoming) = socket.split();
    let (queue, frames) = mpsc::channel(SOCKET_FRAMES);
    let outbox = Outbox { queue, patience: app.pace.patience };
    let mut writing = pin!(write(sink, frames, app.pace.ping));
    let end = tokio::select! {
        end = converse(&mut incoming, &session, app.pace, &outbox) => end,
        _ = &mut writing => return,
        () = app.stopped() => End::Stopping,
    };
    let last = match &end {
        End::Left => None,
        End::Stopping => Some((close_code::AWAY, "the server stops: come back")),
        End::Behind => {
            Some((close_code::POLICY, "you read too slowly, or nothing was heard from you: come back"))
        }
        End::Failed(_) => Some((close_code::ERROR, "the journal can not be read")),
    };
    if let End::Failed(refused) = &end {
        let _ = outbox.put(&[Frame::refused(refused)]).await;
    }
    // What is queued is written before the goodbye.
    drop(outbox);
    let goodbye = async {
        let Some(mut sink) = writing.await else { return };
        if let Some((code, reason)) = last {
            let _ = sink.send(Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await;
        }
        while let Some(Ok(_)) = incoming.next().await {}
    };
    let _ = timeout(GOODBYE_TIME, goodbye).await;
}

/// Messages come in while frames go out (LESSONS 16).
async fn converse(
    incoming: &mut SplitStream<WebSocket>,
    session: &Session,
    pace: Pace,
    outbox: &Outbox,
) -> End {
    let follower = match Follower::attach(session.clone()).await {
        Ok(follower) => follower,
        Err(refused) => return End::Failed(refused),
    };
    let ended = tokio::select! {
        ended = listen(incoming, session, pace, outbox) => ended,
        ended = tell(follower, outbox) => ended,
    };
    match ended {
        Ok(()) => End::Left,
        Err(end) => end,
    }
}

async fn tell(mut follower: Follower, outbox: &Outbox) -> Result<(), End> {
    outbox.put(&[follower.info()]).await?;
    outbox.put(&follower.standing()).await?;
    while let Some(frames) = follower.next().await.map_err(End::Failed)? {
        outbox.put(&frames).await?;
    }
    Err(End::Stopping)
}

async fn listen(
    incoming: &mut SplitStream<WebSocket>,
    session: &Session,
    pace: Pace,
    outbox: &Outbox,
) -> Result<(), End> {
    loop {
        let text = match timeout(pace.silence, incoming.next()).await {
            Ok(Some(Ok(Message::Text(text)))) => text,
            Ok(Some(Ok(Message::Binary(_)))) => {
                let refused = Refused::new(Code::MalformedJson, "messages are text, not binary");
                outbox.put(&[Frame::refused(&refused)]).await?;
                continue;
            }
            Ok(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => continue,
            Ok(Some(Ok(Message::Close(_)) | Err(_)) | None) => return Ok(()),
            Err(_) => return Err(End::Behind),
        };
        // On the heap for as long as it lasts: an idle socket is to be small.
        let frames = match Box::pin(hear(session, text.as_bytes())).await {
            Ok(frames) => frames,
            Err(refused) => vec![Frame::refused(&refused)],
        };
        outbox.put(&frames).await?;
    }
}

async fn hear(session: &Session, text: &[u8]) -> Answer<Vec<Frame>> {
    if text.len() > FRAME_BYTES {
        let rule = format!("a message has at most {FRAME_BYTES} bytes");
        return Err(Refused::new(Code::BodyTooLarge, rule));
    }
    act::carry_out(session, message::read(text)?).await
}

/// Writes what is queued, and a ping now and then; gives the socket back once nobody queues any more.
async fn write(
    mut sink: SplitSink<WebSocket, Message>,
    mut queue: mpsc::Receiver<Message>,
    ping: Duration,
) -> Option<SplitSink<WebSocket, Message>> {
    let mut pings = interval_at(Instant::now() + ping, ping);
    loop {
        let message = tokio::select! {
            biased;
            _ = pings.tick() => Message::Ping(Bytes::new()),
            message = queue.recv() => match message {
                Some(message) => message,
                None => return Some(sink),
            },
        };
        sink.send(message).await.ok()?;
    }
}
