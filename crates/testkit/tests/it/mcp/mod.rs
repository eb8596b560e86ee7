//! The MCP server with a real MCP client (`rmcp`): over the standard streams of the real binary, and over HTTP.

mod asking;
mod elicitations;
mod failures;
mod permission;
mod stateless;

use std::process::Stdio;
use std::sync::{Arc, Mutex};

use holdshort_testkit::server::{Answer, TestServer, eventually};
use reqwest::Method;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ErrorData, Implementation, ProtocolVersion,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RequestContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

/// Client with these capabilities, which answers elicitations with `answer`, or never.
#[derive(Clone, Default)]
pub(crate) struct Person {
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) answer: Option<ElicitResult>,
    pub(crate) shown: Arc<Mutex<Vec<ElicitRequestParams>>>,
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(self.capabilities.clone(), Implementation::new("test", "1"))
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.shown.lock().unwrap().push(request);
        match &self.answer {
            Some(answer) => Ok(answer.clone()),
            None => std::future::pending().await,
        }
    }
}

/// Connected client. The process of `holdshort mcp` ends with it.
pub(crate) struct Client {
    pub(crate) service: RunningService<RoleClient, Person>,
    _program: Option<Child>,
}

/// Transports and revisions that every client may use.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wire {
    Stdio2025,
    Stdio2026,
    Http2025,
    Http2026,
}

impl Wire {
    pub(crate) const ALL: [Self; 4] = [Self::Stdio2025, Self::Stdio2026, Self::Http2025, Self::Http2026];

    fn lifecycle(self) -> ClientLifecycleMode {
        match self {
            Self::Stdio2025 | Self::Http2025 => ClientLifecycleMode::Initialize,
            Self::Stdio2026 | Self::Http2026 => {
                ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
            }
        }
    }

    pub(crate) async fn connect(self, server: &TestServer, person: Person, arguments: &[&str]) -> Client {
        match self {
            Self::Stdio2025 | Self::Stdio2026 => {
                let mut program = Command::from(server.client_command());
                program.arg("mcp").args(arguments).kill_on_drop(true);
                let mut program = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
                let streams = (program.stdout.take().unwrap(), program.stdin.take().unwrap());
                let service = person.serve_with_lifecycle(streams, self.lifecycle()).await.unwrap();
                Client { service, _program: Some(program) }
            }
            Self::Http2025 | Self::Http2026 => {
                let config = StreamableHttpClientTransportConfig::with_uri(format!("{}/mcp", server.base()))
                    .auth_header(server.agent_token());
                let http = holdshort_http::plain().no_proxy().build().unwrap();
                let transport = StreamableHttpClientTransport::with_client(http, config);
                let service = person.serve_with_lifecycle(transport, self.lifecycle()).await.unwrap();
                Client { service, _program: None }
            }
        }
    }
}

impl Client {
    pub(crate) async fn call(&self, tool: &'static str, arguments: &Value) -> CallToolResult {
        self.service.call_tool(params(tool, arguments)).await.unwrap()
    }

    /// Calls a tool, and returns its structured result.
    pub(crate) async fn decision(&self, tool: &'static str, arguments: &Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_ne!(result.is_error, Some(true), "{result:?}");
        result.structured_content.unwrap()
    }
}

pub(crate) fn params(tool: &'static str, arguments: &Value) -> CallToolRequestParams {
    CallToolRequestParams::new(tool).with_arguments(arguments.as_object().unwrap().clone())
}

/// Returns the text of a result.
pub(crate) fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().unwrap().text
}

/// Waits until exactly one interrupt is open, and returns it.
pub(crate) async fn only_open(server: &TestServer) -> Value {
    eventually("one interrupt is open", async || {
        let list = server.get("/v1/interrupts?status=open").await.ok();
        let items = list["items"].as_array().unwrap().clone();
        assert!(items.len() < 2, "{items:#?}");
        items.into_iter().next()
    })
    .await
}

/// Number of all interrupts, open and resolved.
pub(crate) async fn asked(server: &TestServer) -> usize {
    server.get("/v1/interrupts?limit=200").await.ok()["items"].as_array().unwrap().len()
}

/// Waits for the open interrupt, and decides on it.
pub(crate) async fn decide(server: &TestServer, decision: Value) -> Value {
    let interrupt = only_open(server).await;
    server.decide(&interrupt, &decision).await.ok();
    interrupt
}

pub(crate) fn approve() -> Value {
    json!({"option": "approve"})
}

/// Sends one MCP message over HTTP, with the headers of its revision.
pub(crate) async fn post(server: &TestServer, token: &str, message: &Value) -> Answer {
    let http = holdshort_http::plain().no_proxy().build().unwrap();
    let version =
        message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion").and_then(Value::as_str);
    let mut request = http
        .request(Method::POST, format!("{}/mcp", server.base()))
        .bearer_auth(token)
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", version.unwrap_or("2025-11-25"))
        .header("mcp-method", message["method"].as_str().unwrap_or_default());
    for name in ["/params/name", "/params/taskId"] {
        if let Some(name) = message.pointer(name).and_then(Value::as_str) {
            request = request.header("mcp-name", name);
        }
    }
    server.send(request.json(message)).await
}
