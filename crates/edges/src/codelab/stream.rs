//! `POST /agent/message/stream`: one message, and what follows from it as server-sent events, until nothing goes on
//! by itself. The stream only reads the journal: whoever leaves changes nothing (lesson 4).
//!
//! Whatever is refused here is an answer as any other, with an `error` event: the gateways of the source system hear
//! nothing of a 4xx (contract B15). Only who is not let in gets one.

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
use holdshort_web::joined::Joined;
use holdshort_web::problem::{Answer, Refused};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Interval, MissedTickBehavior, interval_at};

use super::act;
use super::follow::Follower;
use super::frame::{Frame, Told};
use super::message::{self, Message};
use super::person::Person;
use super::session::Session;

#[derive(Deserialize)]
struct Post {
    /// Left out by a client whose message begins a session.
    session_id: Option<String>,
    /// Left out by a client that comes back to hear what follows.
    message: Option<Value>,
    /// The `id` of the last frame that the client has heard.
    since: Option<String>,
}

pub(super) async fn open(
    Person(caller): Person,
    Extension(clients): Extension<Arc<Clients>>,
    joined: Joined,
    body: Body,
) -> Response {
    Box::pin(begin(caller, &clients, joined, body))
        .await
        .unwrap_or_else(|refused| events(RawBody::from(chunk(&refusal(&refused)))))
}

async fn begin(
    caller: Caller,
    clients: &Arc<Clients>,
    Joined(trace): Joined,
    body: Body,
) -> Answer<Response> {
    let Post { session_id, message, since } = read_strict(&body.value().await?)?;
    let message = match message {
        Some(message) => Some(message::understand(&message).map_err(below_message)?),
        None if since.is_some() => None,
        None => return Err(Refused::invalid_at("/message", "missing field `message`")),
    };
    let app = caller.app.clone();
    let permit = app.place()?;
    let is_new = session_id.is_none();
    let session = match (session_id, &message) {
        (Some(name), _) => Session::of(caller, name)?,
        (None, Some(Message::User { request: None, .. } | Message::Switch(_))) => {
            Session::begin(caller).await?
        }
        (None, _) => return Err(Refused::invalid_at("/session_id", "missing field `session_id`")),
    }
    .joining(trace);
    let client = Arc::new(clients.connect(session.caller.clone(), session.key()).await?);
    // Whoever brings the result of a call is not told to run it.
    let brought =
        if let Some(Message::Result(result)) = &message { Some(result.call_id.clone()) } else { None };
    // Before the message takes effect: everything that it does is told.
    let mut follower =
        Follower::attach(session.clone(), client.clone(), since.as_deref(), brought.as_deref()).await?;
    let mut frames = follower.opening();
    // A gateway takes it for the beginning of a session.
    if !is_new && since.is_none() {
        frames.clear();
    }
    // What stands was told by the answer before; but words that name no question must not answer one unseen.
    if since.is_none() && matches!(message, Some(Message::User { request: None, .. })) {
        frames.extend(follower.questions().await?);
    }
    if let Some(message) = message {
        // Whoever speaks has nothing else at hand: what was handed out before may be lost.
        let speaks = matches!(message, Message::User { .. } | Message::Switch(_)) && since.is_none();
        match act::carry_out(&session, &client, message).await.map_err(below_message) {
            Ok(answers) => frames.extend(answers.into_iter().map(Told::from)),
            // The session is there, and whoever began it goes on in it.
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
    follower.look();
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
    /// Not yet sent.
    frames: Vec<Told>,
    ping: Interval,
    /// The server stops, or what let the client in has ended.
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
    let is_over = matches!(frames.last(), Some(Told { frame: Frame::Done { .. }, .. }));
    if is_over {
        events.client.ended();
    }
    Some((Ok(chunk(&frames)), (!is_over).then_some(events)))
}

/// JSON holds no line break of its own, so one `data:` line holds a frame.
fn chunk(frames: &[Told]) -> Bytes {
    let mut chunk = String::new();
    for frame in frames {
        chunk.extend(["event: ", frame.frame.event(), "\ndata: ", &frame.text(), "\n\n"]);
    }
    chunk.into()
}

/// All that a message is answered with that is not carried out.
fn refusal(refused: &Refused) -> [Told; 2] {
    [Frame::refused(refused), Frame::REFUSED].map(Told::from)
}

/// The places of a message as it stands in the body.
fn below_message(refused: Refused) -> Refused {
    refused.in_words(|error| error.pointer.insert_str(0, "/message"))
}
