//! The MARS edge: `/ws/{task_id}` and `/api/sessions` for clients of MARS (contracts A27 to A31). It never drives a
//! run.
//!
//! - `socket.rs` is one connection, and `connections.rs` knows the newest connection of a task.
//! - `start.rs` starts a task or finds its run, and `folder.rs` makes its working directory.
//! - `act.rs` carries out the client's decisions and commands, and `edit.rs` reads their modifications.
//! - `projector.rs` renders events, with `approval.rs` (`subject.rs`), `steps.rs`, `calls.rs` (`files.rs`), `graph.rs`
//!   and `summary.rs`.
//! - `replay.rs` holds the run and follows its events. `console.rs` splits streamed text into lines.
//! - `config/` translates a config to a workflow, and `options.rs` is the table of options.
//! - `sessions.rs` and `tabs.rs` (`past.rs`, `history.rs`) are the REST API.

mod act;
mod approval;
mod calls;
pub mod config;
mod connections;
mod console;
mod cost;
mod edit;
mod files;
mod folder;
mod frame;
mod graph;
mod history;
mod options;
mod past;
mod projector;
mod replay;
mod sessions;
mod socket;
mod start;
mod steps;
mod subject;
mod summary;
mod tabs;

use std::sync::Arc;

use axum::Extension;
use axum::Router;
use axum::routing::{delete, get, post};
use holdshort_core::rights::Permission;
use holdshort_web::auth::AuthState;
use holdshort_web::needs::{Needs, all};
use holdshort_web::problem::Answer;

use connections::TaskConnections;
pub use start::shipped as base;

/// Channel of the recorded events.
const CHANNEL: &str = "mars";

const READ: Needs = all(Permission::Read);
const STEER: Needs = all(Permission::Steer);
const HALT: Needs = all(Permission::Halt);

pub(super) fn router() -> Router<AuthState> {
    Router::new()
        // A client that follows a task here also starts it and decides in it.
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
        .layer(Extension(Arc::new(TaskConnections::default())))
}

pub(super) fn read(text: &str) -> Answer<()> {
    start::check(&frame::read(text).frame?)
}
