//! The installation: its freezes, the running version, and the servers that use the same journal.

use std::collections::BTreeMap;

use axum::Json;
use holdshort_core::id::RunId;
use holdshort_core::schema::Problem;
use holdshort_core::system::freeze::Part;
use holdshort_core::system::{self, Input};
use holdshort_engine::real::clock_mark;
use holdshort_protocol as wire;
use holdshort_protocol::{Info, List, Model, Node, System};
use holdshort_store::Leases;
use holdshort_web::app::detached;
use holdshort_web::auth::Caller;
use holdshort_web::body::Body;
use holdshort_web::limits::{NODE_LEASES, NODE_RUNS};
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::view::{freeze, variant_name};

use crate::openapi::{Changes, Reads};

/// Read the state of the installation.
#[utoipa::path(
    get, path = "/v1/system", tag = "system", operation_id = "read_system",
    responses((status = 200, description = "The current state", body = System), Reads)
)]
pub(crate) async fn read(caller: Caller) -> Answer<Json<System>> {
    Ok(show(&*caller.app.driver.system().await?))
}

/// Freeze the whole installation, a run, a workflow or an agent.
///
/// If the request names no `run`, `workflow` or `agent`, the whole installation is frozen. Until the freeze is lifted,
/// no tool call or model call of the target starts, and its deadlines do not expire. Work that has already started is
/// finished. Decisions are accepted, but they take effect after the freeze is lifted. A decision that would allow work
/// of an external agent is refused. If the target is already frozen, a request with the same reason has no effect, and
/// a request with another reason gets 409 `frozen`.
#[utoipa::path(
    post, path = "/v1/system/freeze", tag = "system", operation_id = "freeze",
    request_body = wire::Freeze,
    responses((status = 200, description = "The current state", body = System), Changes)
)]
pub(crate) async fn freeze(caller: Caller, body: Body) -> Answer<Json<System>> {
    let wire::Freeze { run, workflow, agent, reason } = body.json().await?;
    let part = part(&caller, wire::FreezeOf { run, workflow, agent }).await?;
    change(caller, Input::Freeze { part, reason }).await
}

/// Unfreeze the whole installation, a run, a workflow or an agent.
///
/// Each freeze is lifted separately. For example, if both the installation and the workflow of a run are frozen, the
/// run continues only after both freezes are lifted.
#[utoipa::path(
    post, path = "/v1/system/unfreeze", tag = "system", operation_id = "unfreeze",
    request_body = wire::FreezeOf,
    responses((status = 200, description = "The current state", body = System), Changes)
)]
pub(crate) async fn unfreeze(caller: Caller, body: Body) -> Answer<Json<System>> {
    let part = self::part(&caller, body.json().await?).await?;
    change(caller, Input::Unfreeze { part }).await
}

/// Returns the part of the installation that a freeze names, or `None` for the whole installation. A run must exist. A
/// workflow or an agent need not exist, because it can be frozen before its first use.
async fn part(caller: &Caller, of: wire::FreezeOf) -> Answer<Option<Part>> {
    let named = match of {
        wire::FreezeOf { run: None, workflow: None, agent: None } => return Ok(None),
        wire::FreezeOf { run: Some(run), workflow: None, agent: None } => {
            let id: RunId = run.parse().map_err(|_| Refused::not_found("run"))?;
            caller.run(&id).await?;
            Part::Run(id)
        }
        wire::FreezeOf { run: None, workflow: Some(name), agent: None } => Part::Workflow(name),
        wire::FreezeOf { run: None, workflow: None, agent: Some(name) } => Part::Agent(name),
        wire::FreezeOf { .. } => {
            let message =
                "set one of `run`, `workflow` and `agent`, or none of them for the whole installation";
            return Err(Refused::invalid(vec![Problem::new("", message)]));
        }
    };
    Ok(Some(named))
}

async fn change(caller: Caller, input: Input) -> Answer<Json<System>> {
    let Caller { app, actor, .. } = caller;
    let driver = app.driver.clone();
    let system = detached(async move { driver.change_system(input, actor).await }).await?;
    Ok(show(&system))
}

fn show(system: &system::System) -> Json<System> {
    let all = system.freezes.all.iter().map(|freeze| (None, freeze));
    let parts = system.freezes.parts.iter().map(|(part, freeze)| (Some(part), freeze));
    Json(System {
        frozen: system.freezes.all.is_some(),
        freezes: all.chain(parts).map(|(part, freeze)| freeze::from_freeze(part, freeze)).collect(),
        policy_version: system.policy_version,
        seq: system.seq,
    })
}

/// Read the version, the model and the sandbox of this server.
#[utoipa::path(
    get, path = "/v1/info", tag = "system", operation_id = "read_info",
    responses((status = 200, description = "The version and configuration of this server", body = Info), Reads)
)]
pub(crate) async fn info(caller: Caller) -> Answer<Json<Info>> {
    let app = &caller.app;
    let system = app.driver.glance_system().await?;
    let clock = clock_mark::warning(app.driver.clock());
    let journal_problems = app.journal().known_problems().await?;
    Ok(Json(Info {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        rehearsal: app.model.rehearsal,
        model: Model {
            name: app.model.name.clone(),
            provider: app.model.provider.to_owned(),
            base_url: app.model.base_url.clone(),
        },
        sandbox: variant_name(&app.sandbox),
        data: app.data.display().to_string(),
        public_url: app.public_url.clone(),
        certificate_problem: app.certificate.as_ref().and_then(|problem| problem.borrow().clone()),
        warnings: system.people.double_warnings().chain(clock).collect(),
        journal_problems,
    }))
}

/// List the servers that use the journal, and for each the runs that it drives.
#[utoipa::path(
    get, path = "/v1/nodes", tag = "system", operation_id = "list_nodes",
    responses((status = 200, description = "All nodes", body = List<Node>), Reads)
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
