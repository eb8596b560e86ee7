//! The MARS edge: `/ws/{task_id}` and `/api/sessions` for clients of MARS (contracts A27 to A31). This edge sends
//! inputs to runs and never executes their steps.
//!
//! - `socket.rs` serves one connection, and `connections.rs` stores the newest connection of each task.
//! - `start.rs` starts a task or finds the run of a task, and `folder.rs` creates a task's working directory.
//! - `act.rs` carries out a client's decisions and commands, and `edit.rs` reads the modifications in a decision.
//! - `projector.rs` converts events to frames, with the help of `approval.rs` (`subject.rs`), `steps.rs`, `calls.rs`
//!   (`files.rs`), `graph.rs` and `summary.rs`.
//! - `replay.rs` sends a client the past and new frames of a run. `console.rs` splits streamed text into lines.
//! - `config/` converts a config to a workflow, and `options.rs` is the table of option names.
//! - `sessions.rs` and `tabs.rs` (with `past.rs` and `history.rs`) are the REST API. `providers.rs` answers the first
//!   requests of the web UI, `file_content.rs` returns files, and `sign_in.rs` signs the web UI in.

mod act;
mod approval;
mod caller;
mod calls;
pub mod config;
mod connections;
mod console;
mod cost;
mod edit;
mod file_content;
mod files;
mod folder;
mod frame;
mod graph;
mod history;
mod options;
mod past;
mod projector;
mod providers;
mod replay;
mod resume;
mod session_runs;
mod sessions;
mod sign_in;
mod socket;
mod start;
mod steps;
mod subject;
mod summary;
mod tabs;
mod task_id;

use std::sync::Arc;

use axum::Extension;
use axum::Router;
use axum::routing::{delete, get, post};
use holdshort_core::rights::Permission;
use holdshort_web::auth::AuthState;
use holdshort_web::needs::{Needs, all};
use holdshort_web::problem::Answer;
use holdshort_web::route_limit::RouteLimit;

use connections::TaskConnections;
pub use start::shipped as base;

use crate::credentials::PageRoute;

const READ: Needs = all(Permission::Read);
const STEER: Needs = all(Permission::Steer);
const HALT: Needs = all(Permission::Halt);

pub(super) fn router() -> Router<AuthState> {
    Router::new()
        // A client that follows a task over this socket can also start the task and send decisions.
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
        .route("/api/runs/{id}/branch", STEER.on(post(tabs::branch)))
        .route("/api/runs/{id}/play-from-node", STEER.on(post(tabs::play_from_node)))
        .route("/api/nodes/{id}/files", READ.on(get(tabs::node_files)))
        .route("/api/nodes/{id}/events", READ.on(get(tabs::node_events)))
        .route("/api/credentials/status", READ.on(get(providers::status)))
        .route("/api/credentials/test", STEER.on(post(providers::test_keys)))
        .route("/api/credentials/store", STEER.on(post(providers::store_keys)))
        .route("/api/models/config", READ.on(get(providers::models)))
        .route("/api/files/content", READ.on(get(file_content::content)))
        .route("/api/files/download", READ.on(get(file_content::download)))
        .route("/api/files/clear-directory", STEER.on(delete(file_content::clear)))
        .route("/api/files/serve-image", READ.on(get(file_content::image)))
        .layer(Extension(PageRoute))
        .route(
            "/api/holdshort/sign-in",
            get(sign_in::form).merge(RouteLimit::SignIns.on(post(sign_in::enter))),
        )
        .layer(Extension(Arc::new(TaskConnections::default())))
}

pub(super) fn read(text: &str) -> Answer<()> {
    start::check(&frame::read(text).frame?)
}
