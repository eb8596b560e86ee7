//! `POST /agent/message/stream`: accepts one message and streams its effects as server-sent events until the run waits
//! for a person, is paused or has ended. The stream only reads the journal, so the run continues if the client
//! disconnects (lesson 4).
//!
//! Errors are sent as a 200 response with an `error` event, because gateways of the source system ignore the body of a
//! 4xx (contract B15). A response has a 4xx status only if authentication or authorization failed.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Extension;
use axum::body::{Body as RawBody, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;
use futures::stream;
use holdshort_web::auth::Caller;
use holdshort_web::body::{Body, read_strict};
use holdshort_web::call_claims::{Client, Clients};
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::trace_context::JoinedTrace;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Interval, MissedTickBehavior, interval_at};

use super::act;
use super::follow::Follower;
use super::frame::{Frame, OutgoingFrame};
use super::message::{self, Message, PlanFrames};
use super::person::Person;
use super::session::Session;

#[derive(Deserialize)]
struct Post {
    /// Name of the session to which the client sends a message. `None` if the message begins a new session.
    session_id: Option<String>,
    /// Message to the session. `None` if the client only resumes the stream.
    message: Option<Value>,
    /// The `id` of the last frame of the stream that the client has received.
    since: Option<String>,
}

pub(super) async fn open(
    Person(caller): Person,
    Extension(clients): Extension<Arc<Clients>>,
    joined: JoinedTrace,
    body: Body,
) -> Response {
    Box::pin(begin(caller, &clients, joined, body))
        .await
        .unwrap_or_else(|refused| events(RawBody::from(chunk(&refusal(&refused)))))
}

async fn begin(
    caller: Caller,
    clients: &Arc<Clients>,
    JoinedTrace(trace): JoinedTrace,
    body: Body,
) -> Answer<Response> {
    let Post { session_id, message, since } = read_strict(&body.value().await?)?;
    let plan_frames = message.as_ref().map_or(PlanFrames::Both, PlanFrames::for_sender);
    let message = match message {
        Some(message) => Some(message::understand(&message).map_err(below_message)?),
        None if since.is_some() => None,
        None => return Err(Refused::invalid_at("/message", "missing field `message`")),
    };
    let app = caller.app.clone();
    let permit = app.reserve_stream()?;
    let is_new = session_id.is_none();
    let session = match (session_id, &message) {
        (Some(name), _) => Session::from_name(caller, name)?,
        (None, Some(Message::User { request: None, .. } | Message::Switch(_))) => {
            Session::begin(caller).await?
        }
        (None, _) => return Err(Refused::invalid_at("/session_id", "missing field `session_id`")),
    }
    .joining(trace);
    let client = Arc::new(clients.connect(session.caller.clone(), session.key()).await?);
    // The client is not asked again to run a call whose result is in this message.
    let brought =
        if let Some(Message::Result(result)) = &message { Some(result.call_id.clone()) } else { None };
    // The follower is attached before the message is carried out, so all effects of the message are sent.
    let mut follower =
        Follower::attach(session.clone(), client.clone(), since.as_deref(), brought.as_deref()).await?;
    follower.plan_frames = plan_frames;
    let mut frames = follower.opening();
    // A gateway interprets a `session_info` frame as the beginning of a session.
    if !is_new && since.is_none() {
        frames.clear();
    }
    // The previous response contained the open requests. Questions are repeated, because a message without `request_id`
    // must not answer a question that the client has not shown.
    if since.is_none() && matches!(message, Some(Message::User { request: None, .. })) {
        frames.extend(follower.questions().await?);
    }
    if let Some(message) = message {
        // A client that sends a message is not running a call. If a client was asked earlier to run a call, that
        // request may therefore be lost.
        let speaks = matches!(message, Message::User { .. } | Message::Switch(_)) && since.is_none();
        match act::carry_out(&session, &client, message).await.map_err(below_message) {
            Ok(answers) => frames.extend(answers.into_iter().map(OutgoingFrame::from)),
            // The new session stays open, and the client needs the session's first frames to continue in it.
            Err(refused) if is_new => {
                frames.extend(refusal(&refused));
                return Ok(events(RawBody::from(chunk(&frames))));
            }
            Err(refused) => return Err(refused),
        }
        if speaks {
            frames.extend(follower.handed_out().await?);
        }
    }
    follower.request_read();
    let mut ping = interval_at(tokio::time::Instant::now() + app.pace.ping, app.pace.ping);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let caller = session.caller.clone();
    let over = Box::pin(async move {
        tokio::select! {
            () = caller.ended() => {}
            () = caller.app.stopped() => {}
        }
    });
    let answer = Events { follower, client, frames, ping, over, _permit: permit };
    Ok(events(RawBody::from_stream(stream::unfold(Some(answer), async |answer| next(answer?).await))))
}

fn events(body: RawBody) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, body).into_response()
}

struct Events {
    follower: Follower,
    client: Arc<Client>,
    /// Frames of the stream that are not yet sent to the client.
    frames: Vec<OutgoingFrame>,
    ping: Interval,
    /// Future that completes when the server stops or the client's permission ends.
    over: BoxFuture<'static, ()>,
    _permit: OwnedSemaphorePermit,
}

type Chunk = Result<Bytes, Infallible>;

async fn next(mut events: Events) -> Option<(Chunk, Option<Events>)> {
    if events.frames.is_empty() {
        tokio::select! {
            biased;
            () = &mut events.over => return None,
            found = events.follower.next() => match found {
                Ok(Some(frames)) => events.frames = frames,
                Ok(None) => return None,
                Err(refused) => return Some((Ok(chunk(&refusal(&refused))), None)),
            },
            _ = events.ping.tick() => return Some((Ok(Bytes::from_static(b": ping\n\n")), Some(events))),
        }
    }
    let frames = std::mem::take(&mut events.frames);
    let is_over = matches!(frames.last(), Some(OutgoingFrame { frame: Frame::Done { .. }, .. }));
    if is_over {
        events.client.ended();
    }
    Some((Ok(chunk(&frames)), (!is_over).then_some(events)))
}

/// Encodes frames as server-sent events. Encoded JSON has no line break, so each frame fits on one `data:` line.
fn chunk(frames: &[OutgoingFrame]) -> Bytes {
    let mut chunk = String::new();
    for frame in frames {
        chunk.extend(["event: ", frame.frame.event(), "\ndata: ", &frame.text(), "\n\n"]);
    }
    chunk.into()
}

/// Returns the two frames with which a response answers a rejected message.
fn refusal(refused: &Refused) -> [OutgoingFrame; 2] {
    [Frame::refused(refused), Frame::REFUSED].map(OutgoingFrame::from)
}

/// Prefixes the field paths of an error with `/message`, the path of the client's message in the request body.
fn below_message(refused: Refused) -> Refused {
    refused.map_field_errors(|error| error.pointer.insert_str(0, "/message"))
}
