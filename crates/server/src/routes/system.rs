//! The installation: the freeze, what runs here, and which servers share the journal.

use std::collections::BTreeMap;

use axum::Json;
use holdshort_core::system::{self, Input};
use holdshort_protocol::{Info, List, Model, Node, System};
use holdshort_store::Leases;
use holdshort_web::app::detached;
use holdshort_web::auth::Caller;
use holdshort_web::limits::{NODE_LEASES, NODE_RUNS};
use holdshort_web::problem::Answer;
use holdshort_web::view::word;

use crate::openapi::{Changes, Reads};

/// Read the state of the installation.
#[utoipa::path(
    get, path = "/v1/system", tag = "system", operation_id = "read_system",
    responses((status = 200, description = "The state now", body = System), Reads)
)]
pub(crate) async fn read(caller: Caller) -> Answer<Json<System>> {
    Ok(show(&*caller.app.driver.system().await?))
}

/// Stop everything from starting.
///
/// No tool and no model call starts until it is unfrozen. What is under way comes to its end; decisions are
/// taken and wait.
#[utoipa::path(
    post, path = "/v1/system/freeze", tag = "system", operation_id = "freeze",
    responses((status = 200, description = "The state now", body = System), Changes)
)]
pub(crate) async fn freeze(caller: Caller) -> Answer<Json<System>> {
    change(caller, Input::Freeze).await
}

/// Let everything go on.
#[utoipa::path(
    post, path = "/v1/system/unfreeze", tag = "system", operation_id = "unfreeze",
    responses((status = 200, description = "The state now", body = System), Changes)
)]
pub(crate) async fn unfreeze(caller: Caller) -> Answer<Json<System>> {
    change(caller, Input::Unfreeze).await
}

async fn change(caller: Caller, input: Input) -> Answer<Json<System>> {
    let Caller { app, actor, .. } = caller;
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
    responses((status = 200, description = "What runs here", body = Info), Reads)
)]
pub(crate) async fn info(caller: Caller) -> Json<Info> {
    let app = &caller.app;
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
        public_url: app.public_url.clone(),
        certificate_problem: app.certificate.as_ref().and_then(|problem| problem.borrow().clone()),
    })
}

/// List the servers that use the journal, and the runs that each drives.
#[utoipa::path(
    get, path = "/v1/nodes", tag = "system", operation_id = "list_nodes",
    responses((status = 200, description = "All of them", body = List<Node>), Reads)
)]
pub(crate) async fn nodes(caller: Caller) -> Answer<Json<List<Node>>> {
    let journal = caller.app.journal();
    let rows = journal.nodes().await?;
    let mut driven: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for lease in journal.leases(None, NODE_LEASES).await? {
        if let Some(node) = lease.node {
            let runs = driven.entry(node).or_default();
            if runs.len() < NODE_RUNS {
                runs.push(lease.run.to_string());
            }
        }
    }
    let items = rows.into_iter().map(|row| Node {
        runs: driven.remove(&row.node).unwrap_or_default(),
        node: row.node,
        name: row.name,
        here: row.here,
        alive: row.alive,
        opened_at: row.opened_at.to_string(),
        alive_until: row.alive_until.map(|at| at.to_string()),
        driving: row.runs,
    });
    Ok(Json(List { items: items.collect(), next_cursor: None }))
}
