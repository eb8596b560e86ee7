//! The request that opens a WebSocket. The module `socket` handles the frames.

use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::response::Response;
use holdshort_protocol::Code;
use holdshort_web::auth::{AuthState, Credentials};
use holdshort_web::problem::{Answer, Refused};

use crate::openapi::Opens;
use crate::socket;

/// Open a WebSocket. With this one connection, a client can follow events, decide and send messages.
///
/// `/v1/asyncapi.json` describes the frames. The client authenticates with its first frame, or with an `Authorization`
/// header of this request. A web page can open the WebSocket only if this server has served the page. The connection
/// counts towards the maximum number of open streams.
#[utoipa::path(
    get, path = "/v1/ws", tag = "system", operation_id = "open_socket",
    responses((status = 101, description = "The connection is upgraded to a WebSocket"), Opens)
)]
pub(crate) async fn open(
    State(auth): State<AuthState>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Answer<Response> {
    let upgrade = upgrade
        .map_err(|error| Refused::new(Code::InvalidHeader, format!("no WebSocket can be opened: {error}")))?;
    let known = if headers.contains_key(AUTHORIZATION) {
        Some(socket::caller(&auth, &headers, &Credentials::from_headers(&headers)?).await?)
    } else {
        None
    };
    socket::open(upgrade, auth, headers, known)
}
