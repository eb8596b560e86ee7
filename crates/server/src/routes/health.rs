//! What anybody on this machine may ask: is it alive, is it ready, what does it speak, what does a code mean.

use std::sync::LazyLock;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use holdshort_protocol::{Code, Health};
use serde_json::Value;

use crate::asyncapi::asyncapi;
use crate::auth::Door;
use crate::openapi::{Open, OpenPages, OpenReady, openapi};
use crate::problem::{Answer, Refused};

static OPENAPI: LazyLock<Value> = LazyLock::new(openapi);
static ASYNCAPI: LazyLock<Value> = LazyLock::new(asyncapi);

/// Whether the process runs.
#[utoipa::path(
    get, path = "/healthz", tag = "health", operation_id = "alive",
    responses((status = 200, description = "It runs", body = Health), Open)
)]
pub(crate) async fn alive() -> Json<Health> {
    Json(Health { status: "ok".to_owned() })
}

/// Whether it can serve: the store answers, and the server is not stopping.
#[utoipa::path(
    get, path = "/readyz", tag = "health", operation_id = "ready",
    responses((status = 200, description = "It can serve", body = Health), OpenReady)
)]
pub(crate) async fn ready(State(door): State<Door>) -> Answer<Json<Health>> {
    door.ready().await?;
    Ok(Json(Health { status: "ok".to_owned() }))
}

/// This document.
#[utoipa::path(
    get, path = "/v1/openapi.json", tag = "health", operation_id = "read_openapi",
    responses((status = 200, description = "OpenAPI 3.1", body = Object), Open)
)]
pub(crate) async fn document() -> Json<&'static Value> {
    Json(&OPENAPI)
}

/// The document of the WebSocket.
#[utoipa::path(
    get, path = "/v1/asyncapi.json", tag = "health", operation_id = "read_asyncapi",
    responses((status = 200, description = "AsyncAPI 3.1", body = Object), Open)
)]
pub(crate) async fn frames() -> Json<&'static Value> {
    Json(&ASYNCAPI)
}

/// What a code of a problem means, and what to do about it.
#[utoipa::path(
    get, path = "/docs/errors/{code}", tag = "health", operation_id = "explain_error",
    params(("code" = String, Path, example = "stale")),
    responses((status = 200, description = "A short text", body = String, content_type = "text/plain"), OpenPages)
)]
pub(crate) async fn explain(Path(code): Path<String>) -> Answer<Response> {
    let code = Code::parse(&code).ok_or_else(|| Refused::not_found("code"))?;
    let text = format!("{} ({})\n\n{}.\n\n{}\n", code.as_str(), code.status(), code.title(), code.fix());
    Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}
