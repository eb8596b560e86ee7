//! Serves the hand-written loop over HTTP in a separate process, at the URLs of the native API.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use axum::extract::{FromRequestParts, Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::timeout;

use super::desk::Desk;
use super::store::Database;

const OPERATOR: &str = "loop-operator-0123456789abcdef0123456789abcdef";
const AGENT: &str = "loop-agent-0123456789abcdef0123456789abcdef";

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Folder for the SQLite database.
    #[arg(long, required_unless_present = "store")]
    pub data: Option<PathBuf>,
    /// Number of durable commits per cycle in SQLite.
    #[arg(long, default_value_t = 2)]
    pub commits: u32,
    /// URL of a PostgreSQL database, which is used instead of SQLite.
    #[arg(long)]
    pub store: Option<String>,
    #[arg(long, default_value_t = 32)]
    pub connections: usize,
}

pub(crate) fn serve(options: &Options) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let database = match (&options.store, &options.data) {
            (Some(url), _) => Database::Url { url: url.clone(), connections: options.connections },
            (None, folder) => {
                Database::Folder { folder: folder.clone().unwrap_or_default(), commits: options.commits }
            }
        };
        let desk = Desk::open(&database).await?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let listening = format!("http://{}", listener.local_addr()?);
        let ready = json!({ "listening": listening, "token": OPERATOR, "agent_token": AGENT });
        writeln!(std::io::stdout(), "{ready}")?;
        let routes = Router::new()
            .route("/v1/interrupts", post(ask))
            .route("/v1/interrupts/{id}", get(wait))
            .route("/v1/interrupts/{id}/decisions", post(decide))
            .route("/v1/runs", post(start))
            .route("/v1/runs/{id}", get(run))
            .route("/healthz", get(async || "ok"))
            .with_state(desk);
        axum::serve(listener, routes).await?;
        Ok(())
    })
}

#[derive(PartialEq)]
enum Caller {
    Operator,
    Agent,
}

impl FromRequestParts<Arc<Desk>> for Caller {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Desk>) -> Result<Self, StatusCode> {
        let header = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        match header.and_then(|value| value.strip_prefix("Bearer ")) {
            Some(OPERATOR) => Ok(Self::Operator),
            Some(AGENT) => Ok(Self::Agent),
            Some(_) | None => Err(StatusCode::UNAUTHORIZED),
        }
    }
}

#[derive(Deserialize)]
struct Ask {
    payload: Value,
}

#[derive(Deserialize)]
struct Start {
    input: Value,
}

#[derive(Deserialize)]
struct Decision {
    option: String,
}

#[derive(Deserialize)]
struct Wait {
    wait: Option<u64>,
}

type Answer = Result<Json<Value>, StatusCode>;

async fn ask(_: Caller, State(desk): State<Arc<Desk>>, Json(ask): Json<Ask>) -> (StatusCode, Json<Value>) {
    match desk.ask(ask.payload.to_string()).await {
        Ok(id) => (StatusCode::CREATED, Json(json!({ "id": id.to_string(), "status": "open" }))),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, Json(Value::Null)),
    }
}

async fn start(
    caller: Caller,
    State(desk): State<Arc<Desk>>,
    Json(start): Json<Start>,
) -> (StatusCode, Json<Value>) {
    if caller != Caller::Operator {
        return (StatusCode::FORBIDDEN, Json(Value::Null));
    }
    match desk.ask(start.input.to_string()).await {
        Ok(id) => {
            let id = id.to_string();
            let run = json!({ "id": id, "status": "waiting", "open_interrupts": [id] });
            (StatusCode::CREATED, Json(run))
        }
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, Json(Value::Null)),
    }
}

async fn wait(
    _: Caller,
    State(desk): State<Arc<Desk>>,
    Path(id): Path<i64>,
    Query(query): Query<Wait>,
) -> Answer {
    let longest = Duration::from_secs(query.wait.unwrap_or(0));
    match timeout(longest, desk.wait(id)).await {
        Ok(Ok(option)) => Ok(Json(
            json!({ "id": id.to_string(), "status": "resolved", "resolution": { "option": option } }),
        )),
        Ok(Err(_)) => Err(StatusCode::NOT_FOUND),
        Err(_) => Ok(Json(json!({ "id": id.to_string(), "status": "open" }))),
    }
}

async fn decide(
    caller: Caller,
    State(desk): State<Arc<Desk>>,
    Path(id): Path<i64>,
    Json(decision): Json<Decision>,
) -> Answer {
    if caller != Caller::Operator {
        return Err(StatusCode::FORBIDDEN);
    }
    let answer =
        json!({ "id": id.to_string(), "status": "resolved", "resolution": { "option": decision.option } });
    desk.decide(id, &decision.option).await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    Ok(Json(answer))
}

async fn run(_: Caller, State(desk): State<Arc<Desk>>, Path(id): Path<i64>) -> Answer {
    let decision = desk.decision(id).await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    let status = if decision.is_some() { "completed" } else { "waiting" };
    Ok(Json(json!({ "id": id.to_string(), "status": status })))
}
