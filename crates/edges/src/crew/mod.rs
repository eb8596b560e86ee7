//! The crew edge: `/crew/…` and `/webhooks/…` for clients of source document 003 (contracts D2 to D7, D9 and D10).
//!
//! A crew is a workflow, a task is a run, and a review is an interrupt of kind `review`. The state of every task and
//! review is read from the journal. This edge only adds inputs to runs, and the engine executes the steps.
//!
//! - `run.rs` starts a task, `task.rs` renders a task, and `status.rs` and `socket.rs` report the progress of a task.
//! - `pause.rs` pauses a task, `review.rs` renders a review, `resume.rs` accepts a decision on a review, and
//!   `callback.rs` accepts a decision from a notification's link.
//! - `crews.rs` maps names to workflows, and `case.rs` finds the folder of a task's case.
//! - `webhooks.rs` registers channels and reports deliveries.
//! - `guest.rs` authorizes callers, and `refusals.rs` contains refusals in the words of the source system.
//! - `settings.rs` reads the environment variables that the source document defines, and `rate.rs` limits requests per
//!   minute.

mod callback;
mod case;
mod crews;
mod guest;
mod ids;
mod pause;
mod rate;
mod refusals;
mod resume;
mod review;
mod run;
mod settings;
mod socket;
mod status;
mod task;
mod webhooks;

use std::sync::Arc;

use axum::routing::{delete, get, post};
use axum::{Extension, Router};
use holdshort_core::rights::Permission;
use holdshort_web::auth::AuthState;
use holdshort_web::needs::{Needs, all, any};

pub use case::{AS_OF, CASE, CaseError, ReadCase};
use rate::Limits;
pub use settings::{Settings, SettingsError};

const READ: Needs = any(Permission::Read);
const READ_ALL: Needs = all(Permission::Read);
const STEER: Needs = all(Permission::Steer);
const ASK: Needs = any(Permission::Ask);
const LOOK: Needs = any(Permission::Decide);
const DECIDE: Needs = LOOK.with_decision_limit();
const ASSIGN: Needs = all(Permission::Assign);
const ADMINISTER: Needs = all(Permission::Administer);

struct Crew {
    settings: Settings,
    read_case: Option<ReadCase>,
    limits: Limits,
}

/// Returns the routes of the crew edge. Each path exists both with and without the prefix `/api/v1` (contract D9).
pub(super) fn router(settings: Settings, read_case: Option<ReadCase>) -> Router<AuthState> {
    let limits = Limits::new(&settings);
    let routes = routes();
    Router::new().merge(routes.clone()).nest("/api/v1", routes).layer(Extension(Arc::new(Crew {
        settings,
        read_case,
        limits,
    })))
}

fn routes() -> Router<AuthState> {
    Router::new()
        .route("/crew", READ.on(get(crews::list)))
        .route("/crew/run", STEER.on(post(run::run)))
        .route("/crew/status/{task_id}", READ.on(get(status::status)))
        .route("/crew/pause/{task_id}", ASK.on(post(pause::pause)))
        .route("/crew/resume/{task_id}", DECIDE.on(post(resume::resume)))
        .route("/crew/review/{task_id}", READ.on(get(review::of_task)))
        .route("/crew/reviews", READ.on(get(review::list)))
        .route("/crew/tasks", READ.on(get(status::tasks)))
        .route("/crew/crews", READ.on(get(crews::all)))
        .route("/crew/crews/{name}", READ.on(get(crews::one)))
        .route("/crew/agents", READ.on(get(crews::agents)))
        .route("/crew/agents/{id}", READ.on(get(crews::agent)))
        .route("/ws/tasks/{task_id}", READ.on(get(socket::open)))
        .route("/webhooks", READ_ALL.on(get(webhooks::list)))
        .route("/webhooks/list", READ_ALL.on(get(webhooks::list)))
        .route("/webhooks/register", ADMINISTER.on(post(webhooks::register)))
        .route(
            "/webhooks/{webhook_id}",
            READ_ALL.on(get(webhooks::read)).merge(ADMINISTER.on(delete(webhooks::remove))),
        )
        .route("/webhooks/status/{review_id}", READ_ALL.on(get(webhooks::of_review)))
        .route("/webhooks/delivery/{delivery_id}", READ_ALL.on(get(webhooks::delivery)))
        .route("/webhooks/retry/{delivery_id}", ADMINISTER.on(post(webhooks::retry)))
        // These routes also accept callers without a token, because a link authenticates the person who decides.
        .route(
            "/webhooks/callback/{review_id}",
            LOOK.on(get(callback::show)).merge(DECIDE.on(post(callback::decide))),
        )
        .route("/webhooks/callback/{review_id}/links", ASSIGN.on(post(callback::make)))
}
