//! `mcp`: the MCP server over standard input and output, as a client of the agent API.
//!
//! Standard output has nothing but MCP messages. The key must be an agent key: a person's key could decide.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use futures::FutureExt;
use futures::future::BoxFuture;
use holdshort_edges::mcp::{AgentApi, ApiRequest, ApiResponse, McpServer, McpSettings};
use holdshort_http::secret_file;
use holdshort_protocol::{Code, Identity, Problem, Role, header};
use reqwest::header::RETRY_AFTER;
use reqwest::{Client, Method, Url};
use rmcp::ServiceExt;
use rmcp::transport::stdio_pipes;
use tokio::sync::OnceCell;

use super::hook::request::linked;
use crate::args::{Mcp, Reach};
use crate::client;
use crate::data_dir::DataDir;
use crate::exit::{Exit, usage};
use crate::limits::{HOOK_RESPONSE_BYTES, KEY_FILE_BYTES};

const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Timeout of a request that does not wait for a decision.
const REQUEST_TIME: Duration = Duration::from_secs(20);

pub(super) async fn mcp(reach: Reach, args: Mcp) -> anyhow::Result<Exit> {
    let Mcp { key_file, pending_after, permission_wait, expires_in } = args;
    let folder = std::env::current_dir().context("the working directory does not exist")?;
    let settings = McpSettings {
        pending_after,
        permission_wait,
        expires_in,
        workspace: folder.to_str().map(holdshort_command::normal),
        link_target,
        elicits: true,
    };
    let api = HttpApi::new(reach, key_file.as_deref())?;
    // Without a server the tools return an error, until a server answers.
    if let Ok(Some(problem)) = api.refusal().await {
        return Err(usage(problem.detail));
    }
    let server = McpServer::new(Arc::new(api), settings).serve(stdio_pipes()).await?;
    server.waiting().await?;
    Ok(Exit::Ok)
}

/// Returns the target of a path of this machine that has links.
fn link_target(path: &str) -> Option<String> {
    let Ok(folder) = std::env::current_dir() else { return Some("unknown".to_owned()) };
    linked(&folder.join(path), &folder).map(|target| target.display().to_string())
}

/// Agent API of the server that the command line selects.
struct HttpApi {
    http: Client,
    reach: Reach,
    data: DataDir,
    key: String,
    /// True after the server has accepted the key as one of an agent.
    is_checked: OnceCell<()>,
}

impl HttpApi {
    fn new(reach: Reach, key_file: Option<&Path>) -> anyhow::Result<Self> {
        let data = DataDir::resolve(reach.data.as_deref())?;
        let environment = std::env::var("HOLDSHORT_TOKEN").ok().filter(|key| !key.is_empty());
        // The token of a data folder is only for the server of this folder.
        let is_remote = reach.server.is_some() && reach.data.is_none();
        let key = match (key_file, environment) {
            (Some(path), _) => secret_file::read_text(path, KEY_FILE_BYTES)
                .map_err(|error| usage(format!("--key-file: {} {error}", path.display())))?,
            (None, Some(key)) => key,
            (None, None) if is_remote => return Err(no_key()),
            (None, None) => data.agent_token()?.ok_or_else(no_key)?,
        };
        let https = match &reach.server {
            Some(server) => client::address(server)?.scheme() == "https",
            None => false,
        };
        let builder = if https { holdshort_http::client() } else { holdshort_http::plain() };
        let http = builder
            .user_agent(concat!("holdshort-mcp/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIME)
            .build()?;
        Ok(Self { http, reach, data, key, is_checked: OnceCell::new() })
    }

    /// Returns the address of the server. A restarted server may have another port.
    fn base(&self) -> anyhow::Result<Url> {
        let address = self.reach.server.clone().or_else(|| self.data.listening());
        client::address(&address.ok_or_else(|| self.data.unserved())?)
    }

    /// Returns the reason why the key cannot be used. `None`: the key belongs to an agent.
    async fn refusal(&self) -> Result<Option<Problem>, String> {
        if self.is_checked.initialized() {
            return Ok(None);
        }
        let path = "/v1/login".to_owned();
        let login =
            ApiRequest { method: Method::GET, path, idempotency_key: None, body: None, wait: Duration::ZERO };
        let response = self.exchange(login).await?;
        if !response.status.is_success() {
            let problem: Option<Problem> = serde_json::from_slice(&response.body).ok();
            let is_refused = |problem: &Problem| matches!(problem.status, 401 | 403);
            return match problem.filter(is_refused) {
                Some(problem) => Ok(Some(problem)),
                None => Err(format!("the server answers {}", response.status)),
            };
        }
        let identity: Identity = serde_json::from_slice(&response.body).map_err(|error| error.to_string())?;
        if identity.roles == [Role::Agent] {
            let _ = self.is_checked.set(());
            return Ok(None);
        }
        let why = format!(
            "the key belongs to `{}`, who is more than an agent: create an agent key with `holdshort keys create NAME`",
            identity.person
        );
        Ok(Some(Problem::new(Code::ForbiddenRole, why)))
    }

    async fn exchange(&self, request: ApiRequest) -> Result<ApiResponse, String> {
        let ApiRequest { method, path, idempotency_key, body, wait } = request;
        let base = self.base().map_err(|error| error.to_string())?;
        let at = base.as_str().trim_end_matches('/').to_owned();
        let url = base.join(&path).map_err(|error| error.to_string())?;
        let mut request = self.http.request(method, url).bearer_auth(&self.key).header(header::VIA, "mcp");
        if let Some(key) = idempotency_key {
            request = request.header(header::IDEMPOTENCY_KEY, key);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        let failed = |error: reqwest::Error| {
            if error.is_connect() {
                format!("no server answers at {at}")
            } else {
                format!("the server at {at} did not answer: {}", error.without_url())
            }
        };
        let mut response = request.timeout(REQUEST_TIME + wait).send().await.map_err(failed)?;
        let after = response.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.parse().ok());
        let (status, mut bytes) = (response.status(), Vec::new());
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > HOOK_RESPONSE_BYTES {
                return Err(format!("the response of {at} is too long"));
            }
        }
        Ok(ApiResponse { status, retry_after: after.map(Duration::from_secs), body: bytes })
    }
}

impl AgentApi for HttpApi {
    fn send(&self, request: ApiRequest) -> BoxFuture<'_, Result<ApiResponse, String>> {
        async move {
            if let Some(problem) = self.refusal().await? {
                let status = reqwest::StatusCode::from_u16(problem.status).unwrap_or_default();
                let body = serde_json::to_vec(&problem).map_err(|error| error.to_string())?;
                return Ok(ApiResponse { status, retry_after: None, body });
            }
            self.exchange(request).await
        }
        .boxed()
    }

    fn inbox_url(&self, interrupt: &str) -> String {
        let base = self.base().map(|base| base.as_str().trim_end_matches('/').to_owned());
        format!("{}/inbox/{interrupt}", base.unwrap_or_default())
    }
}

fn no_key() -> anyhow::Error {
    usage(
        "no agent key: name its file with --key-file, or set HOLDSHORT_TOKEN; `holdshort keys create NAME` creates one",
    )
}
