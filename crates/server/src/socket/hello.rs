//! The first frame: authenticates the client.

use axum::extract::ws::WebSocket;
use axum::http::HeaderMap;
use futures::stream::SplitStream;
use holdshort_core::rights::Permission;
use holdshort_protocol::Code;
use holdshort_protocol::frame::{ClientFrame, Hello, ServerFrame};
use holdshort_web::auth::{AuthState, Caller, Credentials};
use holdshort_web::feed::position;
use holdshort_web::needs::{Needs, any};
use holdshort_web::pace::Pace;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::view;
use holdshort_web::websocket::End;
use tokio::time::timeout;

use super::incoming;

/// Permission that a client needs to connect to the WebSocket and to subscribe. Every other frame needs the permission
/// of the corresponding HTTP request.
pub(crate) const NEEDS: Needs = any(Permission::Read);

/// Authenticates the caller of a WebSocket. Events of a caller with a token are recorded with the channel `ws`.
pub(crate) async fn caller(auth: &AuthState, headers: &HeaderMap, given: &Credentials<'_>) -> Answer<Caller> {
    let known = auth.authenticate(headers, given).await?;
    let known = match given {
        Credentials::Token(_) => known.through("ws"),
        Credentials::Secret(_) => known,
    };
    known.authorize(NEEDS)
}

/// Waits for the frame `hello` of a WebSocket client, and authenticates the client with this frame.
pub(super) async fn receive(
    incoming: &mut SplitStream<WebSocket>,
    auth: &AuthState,
    headers: &HeaderMap,
    known: Option<Caller>,
    pace: Pace,
) -> Result<Caller, End> {
    let unauthenticated = |why| End::Unauthenticated(Refused::new(Code::Unauthenticated, why));
    let received = timeout(pace.hello, incoming::next(incoming, pace.silence)).await;
    match received.map_err(|_| unauthenticated("no `hello` arrived before the deadline"))??.frame {
        Ok(ClientFrame::Hello(hello)) => {
            authenticate(auth, headers, known, &hello).await.map_err(|refused| match refused.code() {
                Code::TooManyRequests => End::OverRate(refused),
                Code::TooManyConnections => End::Full(refused),
                _ => End::Unauthenticated(refused),
            })
        }
        Ok(_) => Err(unauthenticated("the first frame must be `hello`")),
        Err(refused) => Err(End::Unauthenticated(refused)),
    }
}

async fn authenticate(
    auth: &AuthState,
    headers: &HeaderMap,
    known: Option<Caller>,
    hello: &Hello,
) -> Answer<Caller> {
    match (&hello.token, &hello.secret, known) {
        (Some(_), Some(_), _) => Err(Refused::invalid_at(
            "/secret",
            "must be omitted if `token` is sent, because a client sends either `token` or `secret`",
        )),
        (Some(token), None, _) => caller(auth, headers, &Credentials::Token(token)).await,
        (None, Some(secret), _) => caller(auth, headers, &Credentials::Secret(secret)).await,
        (None, None, Some(known)) => Ok(known),
        (None, None, None) => Err(Refused::from_code(Code::Unauthenticated)),
    }
}

pub(super) fn welcome(caller: &Caller) -> ServerFrame {
    ServerFrame::Welcome {
        person: caller.actor.id.clone(),
        role: view::event::role(caller.actor.role),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ping_ms: u64::try_from(caller.app.pace.ping.as_millis()).unwrap_or(u64::MAX),
        position: position::text(position::last(&caller.app)),
    }
}
