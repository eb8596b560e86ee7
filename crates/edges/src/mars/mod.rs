//! The MARS edge: `/ws/{task_id}` and `/api/sessions`, as the clients of the source documents 000 and 004 know them
//! (contracts A27 to A31).
//!
//! `socket.rs` is one connection, `start.rs` starts or attaches, `act.rs` carries out what a client wants, with
//! `edit.rs` where it changes something. What is told is `story.rs` with `steps.rs`, `calls.rs` and `ledger.rs`, a function of the journal, which `retell.rs` reads.
//! `config/` makes a workflow of a config, `words.rs` is the table of options, `sessions.rs` the REST beside it.
//! Nothing here drives a run.

mod act;
mod approval;
mod attached;
mod calls;
mod config;
mod edit;
mod frame;
mod ledger;
mod retell;
mod sessions;
mod socket;
mod start;
mod steps;
mod story;
mod words;

use std::sync::Arc;

use axum::Extension;
use axum::Router;
use axum::routing::{get, post};
use holdshort_web::auth::AuthState;
use holdshort_web::problem::Answer;

use attached::Attached;

/// The channel that what a client does is recorded with.
const CHANNEL: &str = "mars";

pub(super) fn router() -> Router<AuthState> {
    Router::new()
        .route("/ws/{task_id}", get(socket::open))
        .route("/api/sessions", get(sessions::list).post(sessions::make))
        .route("/api/sessions/modes/list", get(sessions::modes))
        .route("/api/sessions/{id}", get(sessions::read).delete(sessions::end))
        .route("/api/sessions/{id}/history", get(sessions::history))
        .route("/api/sessions/{id}/runs", get(sessions::runs))
        .route("/api/sessions/{id}/suspend", post(sessions::suspend))
        .route("/api/sessions/{id}/resume", post(sessions::resume))
        .layer(Extension(Arc::new(Attached::default())))
}

pub(super) fn read(text: &str) -> Answer<()> {
    start::check(&frame::read(text).frame?)
}
