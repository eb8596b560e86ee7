//! The MARS edge: `/ws/{task_id}` and `/api/sessions`, as the clients of MARS know them
//! (contracts A27 to A31).
//!
//! `socket.rs` is one connection, `start.rs` starts or attaches (`folder.rs`), `act.rs` carries out what a client wants,
//! with `edit.rs` where it changes something. `projector.rs` words an event and the run around it, with `approval.rs`
//! (`subject.rs`), `steps.rs`, `calls.rs` (`files.rs`), `graph.rs` and `summary.rs`; `retell.rs` has the run and follows its events,
//! `console.rs` makes lines of text on its way.
//! `config/` makes a workflow of a config, `words.rs` is the table of options; `sessions.rs` and `tabs.rs` (`past.rs`,
//! `history.rs`) are the REST beside it.
//! Nothing here drives a run.

mod act;
mod approval;
mod attached;
mod calls;
pub mod config;
mod console;
mod cost;
mod edit;
mod files;
mod folder;
mod frame;
mod graph;
mod history;
mod past;
mod projector;
mod retell;
mod sessions;
mod socket;
mod start;
mod steps;
mod subject;
mod summary;
mod tabs;
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
pub use start::shipped as base;

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
        .route("/api/runs/{id}/dag", READ.on(get(tabs::dag)))
        .route("/api/runs/{id}/history", READ.on(get(tabs::history)))
        .route("/api/runs/{id}/files", READ.on(get(tabs::files)))
        .route("/api/runs/{id}/costs", READ.on(get(tabs::costs)))
        .route("/api/runs/{id}/console-log", READ.on(get(tabs::console)))
        .route("/api/nodes/{id}/files", READ.on(get(tabs::node_files)))
        .route("/api/nodes/{id}/events", READ.on(get(tabs::node_events)))
        .layer(Extension(Arc::new(Attached::default())))
}

pub(super) fn read(text: &str) -> Answer<()> {
    start::check(&frame::read(text).frame?)
}
