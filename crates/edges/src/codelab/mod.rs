//! The `CodeLab` edge (contracts B1 to B16): serves an IDE over a WebSocket, and a gateway over server-sent events.
//!
//! An IDE and a gateway send the same messages (`message.rs`) and receive the same frames (`frame.rs`). The name that a
//! client gives to its session is mapped to a session of Holdshort (`session.rs`). `act.rs` carries out messages, and
//! `projector.rs` derives frames from the journal alone. If a client that reconnects names the last frame that it
//! received, it receives all later frames (`frame_id.rs`). Otherwise it receives the open requests. Agents never run
//! inside an HTTP request. `web/src/call_claims.rs` chooses the connection that is asked to run a call.
//!
//! Text is never parsed as a decision: only `plan_decision` and `hitl_decision` decide. There is one exception: the
//! error text with which the IDE reports that its user rejected a call (`act::rejection`).

mod act;
mod activity;
mod audit;
mod figures;
mod follow;
mod frame;
mod frame_id;
mod ids;
mod message;
mod names;
mod open_requests;
mod person;
mod plan;
mod projector;
mod raw;
mod rest;
mod session;
mod session_metrics;
mod sessions;
mod socket;
mod stream;

use std::sync::Arc;

use axum::routing::{get, post};
use axum::{Extension, Router};
use holdshort_core::rights::Permission;
use holdshort_web::auth::AuthState;
use holdshort_web::call_claims::Clients;
use holdshort_web::needs::{Needs, all};
use holdshort_web::problem::Answer;

/// Name of the workflow that runs in the sessions of the codelab edge.
const WORKFLOW: &str = "codelab_ide";

const READ: Needs = all(Permission::Read);
const STEER: Needs = all(Permission::Steer);
const HALT: Needs = all(Permission::Halt);
const AUDIT: Needs = all(Permission::Audit);

pub(super) fn router() -> Router<AuthState> {
    Router::new()
        // An IDE sends its user's decisions, so the caller needs the permission to decide.
        .route("/ws/{session_id}", STEER.on(get(socket::open)))
        .route("/agent/message/stream", STEER.on(post(stream::open)))
        .route("/sessions", READ.on(get(sessions::list)).merge(STEER.on(post(sessions::begin))))
        .route("/sessions/{session_id}/history", READ.on(get(sessions::history)))
        .route("/sessions/{session_id}/pending-approvals", READ.on(get(rest::pending_approvals)))
        .route("/sessions/{session_id}/pending-plans", READ.on(get(rest::pending_plans)))
        .route("/sessions/{session_id}/plans", READ.on(get(rest::plans)))
        .route("/sessions/{session_id}/plans/{plan_id}/pause", STEER.on(post(rest::pause)))
        .route("/sessions/{session_id}/plans/{plan_id}/resume", HALT.on(post(rest::resume)))
        .route("/agents", READ.on(get(sessions::agents)))
        .route("/agents/{session_id}/current", READ.on(get(sessions::current)))
        .route("/health", get(figures::health))
        .route("/events/stats", READ.on(get(figures::stats)))
        .route("/events/metrics", READ.on(get(figures::metrics)))
        .route("/events/metrics/sessions", READ.on(get(figures::sessions)))
        .route("/events/metrics/session/{session_id}", READ.on(get(figures::session)))
        .route("/events/audit-log", AUDIT.on(get(audit::read)))
        .layer(Extension(Arc::new(Clients::default())))
}

pub(super) fn read(text: &[u8]) -> Answer<()> {
    message::read(text).map(drop)
}
