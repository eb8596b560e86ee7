//! `/ws/{session_id}`: sends each frame at once, and accepts messages at any time. An invalid message is answered with
//! an error frame, and the socket stays open. A broken connection does not affect the run.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;

use axum::Extension;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{WebSocket, WebSocketUpgrade};
use axum::response::Response;
use futures::StreamExt;
use futures::stream::SplitStream;
use holdshort_protocol::Code;
use holdshort_web::call_claims::{Client, Clients};
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::query::{Id, Params};
use holdshort_web::trace_context::JoinedTrace;
use holdshort_web::websocket::{self, End, Outbox, Unsent};
use serde::Deserialize;
use serde_json::Value;
use tracing::{Instrument, Span};

use super::follow::Follower;
use super::frame::{Frame, OutgoingFrame};
use super::message::PlanFrames;
use super::person::Person;
use super::session::Session;
use super::{act, message};

/// Query parameters with which a client opens the socket of a session. `credentials.rs` reads the parameter `token`.
#[derive(Deserialize)]
pub(super) struct Since {
    since: Option<String>,
}

pub(super) async fn open(
    Person(caller): Person,
    Id(name): Id<String>,
    Params(Since { since }): Params<Since>,
    Extension(clients): Extension<Arc<Clients>>,
    JoinedTrace(trace): JoinedTrace,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Answer<Response> {
    let upgrade =
        upgrade.map_err(|error| Refused::new(Code::InvalidHeader, format!("not a WebSocket: {error}")))?;
    let permit = caller.app.reserve_stream()?;
    let session = Session::from_name(caller, name)?.joining(trace);
    let span = Span::current();
    Ok(websocket::limited(upgrade).on_upgrade(async move |socket| {
        Box::pin(serve(socket, session, &clients, since)).instrument(span).await;
        drop(permit);
    }))
}

async fn serve(socket: WebSocket, session: Session, clients: &Arc<Clients>, since: Option<String>) {
    let app = session.caller.app.clone();
    let (sink, mut incoming) = socket.split();
    let (outbox, queue) = Outbox::new(app.pace.patience);
    let mut writing = pin!(websocket::write(sink, queue, app.pace.ping, drop));
    let end = tokio::select! {
        biased;
        end = End::of_access(&session.caller) => end,
        end = converse(&mut incoming, &session, clients, since.as_deref(), outbox) => end,
        // While the outbox exists, only a broken connection ends the writer.
        _ = &mut writing => return,
        () = app.stopped() => End::Stopping,
    };
    Box::pin(websocket::goodbye(&end, None, writing, incoming)).await;
}

/// Receives a client's messages and sends frames to the client at the same time (lesson 16). The follower starts before
/// the first message is read, so the client receives every effect of the message. Received messages have precedence
/// over frames: a client may approve a call, run it, and send the result before the server has sent the frame of the
/// call.
async fn converse(
    incoming: &mut SplitStream<WebSocket>,
    session: &Session,
    clients: &Arc<Clients>,
    since: Option<&str>,
    outbox: Outbox,
) -> End {
    let told = async {
        let client = clients.connect(session.caller.clone(), session.key()).await?;
        let client = Arc::new(client);
        let (follower, frames) = Box::pin(attach(session, &client, since)).await?;
        Box::pin(talk(incoming, session, &client, follower, frames.into(), &outbox)).await
    };
    match Box::pin(told).await {
        Ok(end) => end,
        Err(refused) => match outbox.put(OutgoingFrame::from(Frame::refused(&refused)).text().into()).await {
            Ok(()) => End::Unreadable,
            Err(unsent) => unsent.into(),
        },
    }
}

async fn talk(
    incoming: &mut SplitStream<WebSocket>,
    session: &Session,
    client: &Client,
    mut follower: Follower,
    mut frames: VecDeque<OutgoingFrame>,
    outbox: &Outbox,
) -> Answer<End> {
    let silence = session.caller.app.pace.silence;
    loop {
        let text = {
            let mut heard = pin!(websocket::next(incoming, silence));
            loop {
                let next = frames.front().map(OutgoingFrame::text);
                tokio::select! {
                    biased;
                    heard = &mut heard => match heard {
                        Ok(text) => break text,
                        Err(end) => return Ok(end),
                    },
                    put = put(outbox, next), if !frames.is_empty() => match put {
                        Ok(()) => drop(frames.pop_front()),
                        Err(unsent) => return Ok(unsent.into()),
                    },
                    found = follower.next(), if frames.is_empty() => match found? {
                        Some(found) => frames.extend(found),
                        None => return Ok(End::Stopping),
                    },
                }
            }
        };
        let message = parse(text.as_deref());
        if let Ok(message) = &message {
            follower.plan_frames = PlanFrames::for_sender(message);
        }
        // The future is boxed, so that an idle socket needs little memory.
        match Box::pin(handle_message(session, client, message)).await {
            Ok(answers) => frames.extend(answers.into_iter().map(OutgoingFrame::from)),
            Err(refused) => frames.push_back(Frame::refused(&refused).into()),
        }
    }
}

/// Attaches a follower to the session and returns the first frames. If the position that the client names is not in
/// this session, the first frame is an error, and the follower starts from the current state.
async fn attach(
    session: &Session,
    client: &Arc<Client>,
    since: Option<&str>,
) -> Answer<(Follower, Vec<OutgoingFrame>)> {
    let attach = |since| Follower::attach(session.clone(), client.clone(), since, None);
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
    frames.extend(refused.map(OutgoingFrame::from));
    frames.extend(follower.waiting().await?);
    Ok((follower, frames))
}

fn parse(text: Option<&str>) -> Answer<Value> {
    let not_text = || Refused::new(Code::MalformedJson, "messages must be text, not binary");
    message::parse(text.ok_or_else(not_text)?.as_bytes())
}

async fn handle_message(session: &Session, client: &Client, message: Answer<Value>) -> Answer<Vec<Frame>> {
    act::carry_out(session, client, message::understand(&message?)?).await
}

async fn put(outbox: &Outbox, frame: Option<String>) -> Result<(), Unsent> {
    match frame {
        Some(frame) => outbox.put(frame.into()).await,
        None => Ok(()),
    }
}
