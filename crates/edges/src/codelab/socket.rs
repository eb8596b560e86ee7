//! `/ws/{session_id}`: frames out as they come, messages in at any time. A message that is wrong is answered with an
//! error frame, and the socket stays open; a socket that breaks changes nothing.

use std::pin::pin;
use std::sync::Arc;

use axum::Extension;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{WebSocket, WebSocketUpgrade};
use axum::response::Response;
use futures::StreamExt;
use futures::stream::SplitStream;
use holdshort_protocol::Code;
use holdshort_web::line::{self, End, Outbox, Unsent};
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{Id, Params};
use serde::Deserialize;

use super::follow::Follower;
use super::frame::{Frame, Told};
use super::hands::{Hands, Seat};
use super::person::Person;
use super::session::Session;
use super::{act, message};

/// What else stands in the query is the token, which is looked at elsewhere.
#[derive(Deserialize)]
pub(super) struct Since {
    since: Option<String>,
}

pub(super) async fn open(
    Person(caller): Person,
    Id(name): Id<String>,
    Params(Since { since }): Params<Since>,
    Extension(hands): Extension<Arc<Hands>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Answer<Response> {
    let upgrade =
        upgrade.map_err(|error| Refused::new(Code::InvalidHeader, format!("a WebSocket: {error}")))?;
    let permit = caller.app.place()?;
    let session = Session::of(caller, name)?;
    Ok(line::limited(upgrade).on_upgrade(async move |socket| {
        serve(socket, session, &hands, since).await;
        drop(permit);
    }))
}

async fn serve(socket: WebSocket, session: Session, hands: &Arc<Hands>, since: Option<String>) {
    let app = session.caller.app.clone();
    let (sink, mut incoming) = socket.split();
    let (outbox, queue) = Outbox::new(app.pace.patience);
    let mut writing = pin!(line::write(sink, queue, app.pace.ping));
    let end = tokio::select! {
        end = converse(&mut incoming, &session, hands, since.as_deref(), outbox) => end,
        // Only a broken connection ends it before the outbox is gone.
        _ = &mut writing => return,
        () = app.stopped() => End::Stopping,
    };
    Box::pin(line::goodbye(&end, None, writing, incoming)).await;
}

/// Messages come in while frames go out (lesson 16); the first is heard once everything that follows will be told.
async fn converse(
    incoming: &mut SplitStream<WebSocket>,
    session: &Session,
    hands: &Arc<Hands>,
    since: Option<&str>,
    outbox: Outbox,
) -> End {
    let seat = Arc::new(hands.seat(session.key()));
    let told = match attach(session, &seat, since).await {
        Ok((follower, frames)) => tokio::select! {
            end = listen(incoming, session, &seat, &outbox) => return end,
            told = tell(follower, frames, &outbox) => told,
        },
        Err(refused) => Err(refused),
    };
    match told {
        Ok(end) => end,
        Err(refused) => match put(&outbox, &[Frame::refused(&refused).into()]).await {
            Ok(()) => End::Unreadable,
            Err(unsent) => unsent.into(),
        },
    }
}

/// With what is told first. A place that is none of this session's is refused, and the connection goes on from now.
async fn attach(session: &Session, seat: &Arc<Seat>, since: Option<&str>) -> Answer<(Follower, Vec<Told>)> {
    let attach = |since| Follower::attach(session.clone(), seat.clone(), since);
    let refused = match since {
        Some(since) => match attach(Some(since)).await {
            Ok(mut follower) => {
                let frames = follower.opening();
                return Ok((follower, frames));
            }
            Err(refused) if refused.code() == Code::InvalidRequest => Some(Frame::refused(&refused)),
            Err(refused) => return Err(refused),
        },
        None => None,
    };
    let mut follower = attach(None).await?;
    let mut frames = follower.opening();
    frames.extend(refused.map(Told::from));
    frames.extend(follower.standing());
    Ok((follower, frames))
}

async fn tell(mut follower: Follower, mut frames: Vec<Told>, outbox: &Outbox) -> Answer<End> {
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

async fn listen(
    incoming: &mut SplitStream<WebSocket>,
    session: &Session,
    seat: &Seat,
    outbox: &Outbox,
) -> End {
    loop {
        let text = match line::next(incoming, session.caller.app.pace.silence).await {
            Ok(text) => text,
            Err(end) => return end,
        };
        // On the heap for as long as it lasts: an idle socket is to be small.
        let frames = match Box::pin(hear(session, seat, text.as_deref())).await {
            Ok(frames) => frames.into_iter().map(Told::from).collect(),
            Err(refused) => vec![Frame::refused(&refused).into()],
        };
        if let Err(unsent) = put(outbox, &frames).await {
            return unsent.into();
        }
    }
}

async fn hear(session: &Session, seat: &Seat, text: Option<&str>) -> Answer<Vec<Frame>> {
    let not_text = || Refused::new(Code::MalformedJson, "messages are text, not binary");
    act::carry_out(session, seat, message::read(text.ok_or_else(not_text)?.as_bytes())?).await
}

async fn put(outbox: &Outbox, frames: &[Told]) -> Result<(), Unsent> {
    for frame in frames {
        outbox.put(frame.text().into()).await?;
    }
    Ok(())
}
