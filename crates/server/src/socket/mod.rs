//! A WebSocket of the native API: authentication, subscriptions and commands.
//!
//! Three tasks run concurrently. No task waits for another, unless a queue between them is full. `listen.rs` reads
//! frames and carries them out in their order. `deliver.rs` sends the responses and the events of the subscriptions.
//! `write.rs` writes frames. Because these are separate tasks, a long stream never delays a decision, and a slow
//! decision never delays a stream. The server stores nothing about a closed connection, and a disconnect does not
//! change the journal. When the credentials of the client expire or are revoked, the connection ends.

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

/// Responds to the request that opens a WebSocket. `known` is the caller if this request had valid credentials.
pub(crate) fn open(
    upgrade: WebSocketUpgrade,
    auth: AuthState,
    headers: HeaderMap,
    known: Option<Caller>,
) -> Answer<Response> {
    let pace = auth.pace();
    // Only an authenticated connection takes a permit for a stream.
    let permit = known.as_ref().map(|caller| caller.app.reserve_stream()).transpose()?;
    let connection = connections::current();
    // Log lines of the socket contain the id of this request.
    let span = Span::current();
    Ok(websocket::limited(upgrade).on_upgrade(async move |socket| {
        let client = SocketClient { known, permit, connection };
        serve(socket, &auth, headers, client, pace).instrument(span).await;
    }))
}

/// Connected client of a WebSocket, with the resources that it uses. `known` is the caller if the opening request had
/// valid credentials.
struct SocketClient {
    known: Option<Caller>,
    /// Permit that counts the WebSocket as an open stream. `None` until the client has authenticated.
    permit: Option<OwnedSemaphorePermit>,
    /// Connection of a client that has not authenticated. The server may close this connection to make room for other
    /// clients.
    connection: Option<Arc<Connection>>,
}

async fn serve(
    socket: WebSocket,
    auth: &AuthState,
    headers: HeaderMap,
    mut client: SocketClient,
    pace: Pace,
) {
    let (sink, mut incoming) = socket.split();
    let (outbox, queue) = Outbox::new(pace.patience);
    let mut writing = pin!(websocket::write(sink, queue, pace.ping, drop));
    let end = tokio::select! {
        end = converse(&mut incoming, auth, headers, &mut client, pace, outbox) => end,
        // The outbox still exists. If the writing task ends nevertheless, the connection is broken.
        _ = &mut writing => return,
        () = auth.stopped() => End::Stopping,
    };
    Box::pin(websocket::goodbye(&end, end::frame(&end), writing, incoming)).await;
}

async fn converse(
    incoming: &mut SplitStream<WebSocket>,
    auth: &AuthState,
    headers: HeaderMap,
    client: &mut SocketClient,
    pace: Pace,
    outbox: Outbox,
) -> End {
    let evicted = async {
        match &client.connection {
            Some(connection) => connection.evicted().await,
            None => std::future::pending().await,
        }
    };
    let received = tokio::select! {
        received = Box::pin(hello::receive(incoming, auth, &headers, client.known.take(), pace)) => received,
        () = evicted => Err(End::Evicted),
    };
    let caller = match received {
        Ok(caller) => caller,
        Err(end) => return end,
    };
    // The client has authenticated. From now on, the connection holds a permit for a stream and is not evicted.
    if client.permit.is_none() {
        match caller.app.reserve_stream() {
            Ok(permit) => client.permit = Some(permit),
            Err(full) => return End::Full(full),
        }
    }
    client.connection = None;
    // The headers are dropped, because they keep the buffer from which they were parsed in memory.
    drop(headers);
    if let Err(unsent) = outbox.put(write::text(&hello::welcome(&caller))).await {
        return unsent.into();
    }
    let (orders, taken) = mpsc::channel(ANSWERS);
    let mut delivering = pin!(deliver::all(taken, outbox));
    let end = tokio::select! {
        // The end of the client's access is checked first. Therefore no frame is carried out or sent after it.
        biased;
        end = End::of_access(&caller) => return end,
        end = listen::all(incoming, &caller, pace, orders) => end,
        Err(unsent) = &mut delivering => return unsent.into(),
    };
    // Queued responses are still sent.
    match delivering.await {
        Ok(()) => end,
        Err(unsent) => unsent.into(),
    }
}
