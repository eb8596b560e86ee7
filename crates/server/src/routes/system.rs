//! The installation: the freeze, and what runs here.

use axum::Json;
use holdshort_core::system::{self, Input};
use holdshort_protocol::{Info, Model, System};

use crate::app::detached;
use crate::auth::Operator;
use crate::openapi::{Changes, Reads};
use crate::problem::Answer;
use crate::view::word;

/// Read the state of the installation.
#[utoipa::path(
    get, path = "/v1/system", tag = "system", operation_id = "read_system",
    responses((status = 200, description = "The state now", body = System), Reads),
    security(("operator" = []))
)]
pub(crate) async fn read(operator: Operator) -> Answer<Json<System>> {
    Ok(show(&*operator.app.driver.system().await?))
}

/// Stop everything from starting.
///
/// No tool and no model call starts until it is unfrozen. What is under way comes to its end; decisions are
/// taken and wait.
#[utoipa::path(
    post, path = "/v1/system/freeze", tag = "system", operation_id = "freeze",
    responses((status = 200, description = "The state now", body = System), Changes),
    security(("operator" = []))
)]
pub(crate) async fn freeze(operator: Operator) -> Answer<Json<System>> {
    change(operator, Input::Freeze).await
}

/// Let everything go on.
#[utoipa::path(
    post, path = "/v1/system/unfreeze", tag = "system", operation_id = "unfreeze",
    responses((status = 200, description = "The state now", body = System), Changes),
    security(("operator" = []))
)]
pub(crate) async fn unfreeze(operator: Operator) -> Answer<Json<System>> {
    change(operator, Input::Unfreeze).await
}

async fn change(operator: Operator, input: Input) -> Answer<Json<System>> {
    let Operator { app, actor } = operator;
    let driver = app.driver.clone();
    let system = detached(async move { driver.change_system(input, actor).await }).await?;
    Ok(show(&system))
}

fn show(system: &system::System) -> Json<System> {
    Json(System { frozen: system.frozen, policy_version: system.policy_version, seq: system.seq })
}

/// Read what runs here: version, model, sandbox.
#[utoipa::path(
    get, path = "/v1/info", tag = "system", operation_id = "read_info",
    responses((status = 200, description = "What runs here", body = Info), Reads),
    security(("operator" = []))
)]
pub(crate) async fn info(operator: Operator) -> Json<Info> {
    let app = &operator.app;
    Json(Info {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        rehearsal: app.model.rehearsal,
        model: Model {
            name: app.model.name.clone(),
            provider: app.model.provider.to_owned(),
            base_url: app.model.base_url.clone(),
        },
        sandbox: word(&app.sandbox),
        data: app.data.display().to_string(),
    })
}
