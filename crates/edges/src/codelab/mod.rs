//! The `CodeLab` edge (contracts B1 to B14): an IDE over a WebSocket, or a gateway over server-sent events.
//!
//! Both say the same messages (`message.rs`) and hear the same frames (`frame.rs`). A session of theirs is a name
//! for one of ours (`session.rs`); what a message does is in `act.rs`, and what happened is told by `tell.rs`, from
//! the journal alone: a connection that comes back hears what is still open, or all that followed (`place.rs`), and
//! nothing runs inside a request. Which of several connections runs a call is in `hands.rs`.
//! Words are never parsed: only `plan_decision` and `hitl_decision` decide.

mod act;
mod audit;
mod follow;
mod frame;
mod hands;
mod history;
mod ids;
mod message;
mod open;
mod person;
mod place;
mod plan;
mod raw;
mod rest;
mod session;
mod socket;
mod standing;
mod stream;
mod tell;

use std::sync::Arc;

use axum::routing::{get, post};
use axum::{Extension, Router};
use holdshort_web::auth::AuthState;
use holdshort_web::problem::Answer;

use hands::Hands;

/// The workflow that a session's runs are of.
const WORKFLOW: &str = "codelab_ide";

pub(super) fn router() -> Router<AuthState> {
    Router::new()
        .route("/ws/{session_id}", get(socket::open))
        .route("/agent/message/stream", post(stream::open))
        .route("/sessions/{session_id}/pending-approvals", get(rest::pending_approvals))
        .route("/sessions/{session_id}/pending-plans", get(rest::pending_plans))
        .route("/sessions/{session_id}/plans", get(rest::plans))
        .route("/sessions/{session_id}/plans/{plan_id}/pause", post(rest::pause))
        .route("/sessions/{session_id}/plans/{plan_id}/resume", post(rest::resume))
        .route("/events/audit-log", get(audit::read))
        .layer(Extension(Arc::new(Hands::default())))
}

pub(super) fn read(text: &[u8]) -> Answer<()> {
    message::read(text).map(drop)
}
