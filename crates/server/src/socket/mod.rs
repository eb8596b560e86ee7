//! One WebSocket: who it is, what it follows, what it wants done.
//!
//! Three things go on at once and wait for each other only where a queue is full: `listen.rs` reads frames and
//! carries them out in order, `deliver.rs` merges the answers with what the subscriptions bring, `write.rs`
//! writes it out. A decision is never behind a long stream, a stream never behind a slow decision. Nothing is
//! kept after a disconnect, and a disconnect changes nothing. When what let somebody in ends, so does the connection.

mod deliver;
mod end;
mod hello;
mod incoming;
mod listen;
mod subscribe;
mod write;

pub(crate) use incoming::read_text as read;

use std::pin::pin;
use std::sync::Arc;

use axum::extract::ws::{WebSocket, WebSocketUpgrade};
use axum::http::HeaderMap;
use axum::response::Response;
use futures::StreamExt;
use futures::stream::SplitStream;
use holdshort_web::auth::{AuthState, Caller};
use holdshort_web::connections::{self, Connection};
use holdshort_web::limits::ANSWERS;
use holdshort_web::pace::Pace;
use holdshort_web::problem::Answer;
use holdshort_web::websocket::{self, End, Outbox};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tracing::{Instrument, Span};

pub(crate) use hello::{NEEDS, caller};

/// Answers the request that a socket begins with. `known` is who it is, where the request said so.
pub(crate) fn open(
    upgrade: WebSocketUpgrade,
    auth: AuthState,
    headers: HeaderMap,
    known: Option<Caller>,
) -> Answer<Response> {
    let pace = auth.pace();
    // Whoever has not said who it is takes no place among the streams yet.
    let permit = known.as_ref().map(|caller| caller.app.place()).transpose()?;
    let connection = connections::current();
    // What it logs later has the id of this request.
    let span = Span::current();
    Ok(websocket::limited(upgrade).on_upgrade(async move |socket| {
        let guest = Guest { known, permit, connection };
        serve(socket, &auth, headers, guest, pace).instrument(span).await;
    }))
}

/// Who it is and what it holds, as far as the request said.
struct Guest {
    known: Option<Caller>,
    /// Its place among the streams, once it has said who it is.
    permit: Option<OwnedSemaphorePermit>,
    /// Its connection, which may be evicted until then.
    connection: Option<Arc<Connection>>,
}

async fn serve(socket: WebSocket, auth: &AuthState, headers: HeaderMap, mut guest: Guest, pace: Pace) {
    let (sink, mut incoming) = socket.split();
    let (outbox, queue) = Outbox::new(pace.patience);
    let mut writing = pin!(websocket::write(sink, queue, pace.ping, drop));
    let end = tokio::select! {
        end = converse(&mut incoming, auth, headers, &mut guest, pace, outbox) => end,
        // Only a broken connection ends it before the outbox is gone.
        _ = &mut writing => return,
        () = auth.stopped() => End::Stopping,
    };
    Box::pin(websocket::goodbye(&end, end::frame(&end), writing, incoming)).await;
}

async fn converse(
    incoming: &mut SplitStream<WebSocket>,
    auth: &AuthState,
    headers: HeaderMap,
    guest: &mut Guest,
    pace: Pace,
    outbox: Outbox,
) -> End {
    let evicted = async {
        match &guest.connection {
            Some(connection) => connection.evicted().await,
            None => std::future::pending().await,
        }
    };
    let received = tokio::select! {
        received = Box::pin(hello::receive(incoming, auth, &headers, guest.known.take(), pace)) => received,
        () = evicted => Err(End::Evicted),
    };
    let caller = match received {
        Ok(caller) => caller,
        Err(end) => return end,
    };
    // It has said who it is: from here on it is a stream, and is not evicted.
    if guest.permit.is_none() {
        match caller.app.place() {
            Ok(permit) => guest.permit = Some(permit),
            Err(full) => return End::Full(full),
        }
    }
    guest.connection = None;
    // They hold the buffer that they were read into.
    drop(headers);
    if let Err(unsent) = outbox.put(write::text(&hello::welcome(&caller))).await {
        return unsent.into();
    }
    let (orders, taken) = mpsc::channel(ANSWERS);
    let mut delivering = pin!(deliver::all(taken, outbox));
    let end = tokio::select! {
        // First of all: nothing more is carried out or told.
        biased;
        end = End::of_access(&caller) => return end,
        end = listen::all(incoming, &caller, pace, orders) => end,
        Err(unsent) = &mut delivering => return unsent.into(),
    };
    // What was answered is still said.
    match delivering.await {
        Ok(()) => end,
        Err(unsent) => unsent.into(),
    }
}
