//! The MARS edge: `/ws/{task_id}` and `/api/sessions`, as the clients of MARS know them
//! (contracts A27 to A31).
//!
//! `socket.rs` is one connection, `start.rs` starts or attaches, `act.rs` carries out what a client wants, with
//! `edit.rs` where it changes something. `projector.rs` words an event and the run around it, with `steps.rs`, `calls.rs`, `graph.rs` and
//! `summary.rs`; `retell.rs` has the run and follows its events.
//! `config/` makes a workflow of a config, `words.rs` is the table of options, `sessions.rs` the REST beside it.
//! Nothing here drives a run.

mod act;
mod approval;
mod attached;
mod calls;
mod config;
mod edit;
mod frame;
mod graph;
mod projector;
mod retell;
mod sessions;
mod socket;
mod start;
mod steps;
mod summary;
mod words;

use std::sync::Arc;

use axum::Extension;
use axum::Router;
use axum::routing::{delete, get, post};
use holdshort_core::rights::Permission;
use holdshort_web::auth::AuthState;
use holdshort_web::needs::{Needs, all};
use holdshort_web::problem::Answer;

use attached::Attached;

/// The channel that what a client does is recorded with.
const CHANNEL: &str = "mars";

const READ: Needs = all(Permission::Read);
const STEER: Needs = all(Permission::Steer);
const HALT: Needs = all(Permission::Halt);

pub(super) fn router() -> Router<AuthState> {
    Router::new()
        // Whoever follows a task here also starts it and decides in it.
        .route("/ws/{task_id}", STEER.on(get(socket::open)))
        .route("/api/sessions", READ.on(get(sessions::list)).merge(STEER.on(post(sessions::make))))
        .route("/api/sessions/modes/list", READ.on(get(sessions::modes)))
        .route("/api/sessions/{id}", READ.on(get(sessions::read)).merge(STEER.on(delete(sessions::end))))
        .route("/api/sessions/{id}/history", READ.on(get(sessions::history)))
        .route("/api/sessions/{id}/runs", READ.on(get(sessions::runs)))
        .route("/api/sessions/{id}/suspend", STEER.on(post(sessions::suspend)))
        .route("/api/sessions/{id}/resume", HALT.on(post(sessions::resume)))
        .layer(Extension(Arc::new(Attached::default())))
}

pub(super) fn read(text: &str) -> Answer<()> {
    start::check(&frame::read(text).frame?)
}
