//! Requests that need no authentication: liveness, readiness, and the API documents.

use std::sync::LazyLock;

use axum::Json;
use axum::extract::State;
use holdshort_protocol::Health;
use holdshort_web::auth::AuthState;
use holdshort_web::problem::Answer;
use serde_json::Value;

use crate::asyncapi::asyncapi;
use crate::openapi::{Open, OpenReady, openapi};

static OPENAPI: LazyLock<Value> = LazyLock::new(openapi);
static ASYNCAPI: LazyLock<Value> = LazyLock::new(asyncapi);

/// Check that the process runs.
#[utoipa::path(
    get, path = "/healthz", tag = "health", operation_id = "alive",
    responses((status = 200, description = "It runs", body = Health), Open)
)]
pub(crate) async fn alive() -> Json<Health> {
    Json(Health { status: "ok".to_owned() })
}

/// Check that the server is ready.
///
/// Returns 200 if the server can write to its journal and is not stopping.
#[utoipa::path(
    get, path = "/readyz", tag = "health", operation_id = "ready",
    responses((status = 200, description = "The server can serve requests", body = Health), OpenReady)
)]
pub(crate) async fn ready(State(auth): State<AuthState>) -> Answer<Json<Health>> {
    auth.ready().await?;
    Ok(Json(Health { status: "ok".to_owned() }))
}

/// Read the OpenAPI document.
#[utoipa::path(
    get, path = "/v1/openapi.json", tag = "health", operation_id = "read_openapi",
    responses((status = 200, description = "OpenAPI 3.1", body = Object), Open)
)]
pub(crate) async fn document() -> Json<&'static Value> {
    Json(&OPENAPI)
}

/// Read the API document of the WebSocket.
#[utoipa::path(
    get, path = "/v1/asyncapi.json", tag = "health", operation_id = "read_asyncapi",
    responses((status = 200, description = "AsyncAPI 3.1", body = Object), Open)
)]
pub(crate) async fn frames() -> Json<&'static Value> {
    Json(&ASYNCAPI)
}
