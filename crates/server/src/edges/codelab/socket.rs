//! `/ws/{session_id}`: frames out as they come, messages in at any time. A message that is wrong is answered with an
//! error frame, and the socket stays open; a socket that breaks changes nothing.

use std::pin::pin;

use axum::extract::Path;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{WebSocket, WebSocketUpgrade};
use axum::response::Response;
use futures::StreamExt;
use futures::stream::SplitStream;
use holdshort_protocol::Code;

use super::follow::Follower;
use super::frame::Frame;
use super::person::Person;
use super::session::Session;
use super::{act, message};
use crate::edges::line::{self, End};
use crate::limits::{FRAME_READ_BYTES, READ_BUFFER_BYTES, WRITE_BUFFER_BYTES};
use crate::problem::{Answer, Refused};
use crate::socket::outbox::{Outbox, Unsent};
use crate::socket::write;

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

async fn serve(socket: WebSocket, session: Session) {
    let app = session.app.clone();
    let (sink, mut incoming) = socket.split();
    let (outbox, queue) = Outbox::new(app.pace.patience);
    let mut writing = pin!(write::all(sink, queue, app.pace.ping));
    let end = tokio::select! {
        end = converse(&mut incoming, &session, outbox) => end,
        // Only a broken connection ends it before the outbox is gone.
        _ = &mut writing => return,
        () = app.stopped() => End::Stopping,
    };
    Box::pin(line::goodbye(end, writing, incoming)).await;
}

/// Messages come in while frames go out (LESSONS 16); the first is heard once everything that follows will be told.
async fn converse(incoming: &mut SplitStream<WebSocket>, session: &Session, outbox: Outbox) -> End {
    let told = match Follower::attach(session.clone()).await {
        Ok(follower) => tokio::select! {
            end = listen(incoming, session, &outbox) => return end,
            told = tell(follower, &outbox) => told,
        },
        Err(refused) => Err(refused),
    };
    match told {
        Ok(end) => end,
        // The journal can not be read: the client is told, and comes back.
        Err(refused) => match put(&outbox, &[Frame::refused(&refused)]).await {
            Ok(()) => End::Left,
            Err(unsent) => unsent.into(),
        },
    }
}

async fn tell(mut follower: Follower, outbox: &Outbox) -> Answer<End> {
    let mut frames = vec![follower.info()];
    frames.extend(follower.standing());
    loop {
        if let Err(unsent) = put(outbox, &frames).await {
            return Ok(unsent.into());
        }
        match follower.next().await? {
            Some(next) => frames = next,
            None => return Ok(End::Stopping),
        }
    }
}

async fn listen(incoming: &mut SplitStream<WebSocket>, session: &Session, outbox: &Outbox) -> End {
    loop {
        let text = match line::next(incoming, session.app.pace.silence).await {
            Ok(text) => text,
            Err(end) => return end,
        };
        // On the heap for as long as it lasts: an idle socket is to be small.
        let frames = match Box::pin(hear(session, text.as_deref())).await {
            Ok(frames) => frames,
            Err(refused) => vec![Frame::refused(&refused)],
        };
        if let Err(unsent) = put(outbox, &frames).await {
            return unsent.into();
        }
    }
}

async fn hear(session: &Session, text: Option<&str>) -> Answer<Vec<Frame>> {
    let not_text = || Refused::new(Code::MalformedJson, "messages are text, not binary");
    act::carry_out(session, message::read(text.ok_or_else(not_text)?.as_bytes())?).await
}

async fn put(outbox: &Outbox, frames: &[Frame]) -> Result<(), Unsent> {
    for frame in frames {
        outbox.put(frame.text().into()).await?;
    }
    Ok(())
}
