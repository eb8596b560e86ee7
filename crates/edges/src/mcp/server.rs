//! MCP server over the agent API: lists the tools, and answers calls and tasks.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use holdshort_core::digest::Digest;
use holdshort_core::time::Timestamp;
use holdshort_protocol::{Interrupt, InterruptStatus, Outcome};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ClientCapabilities,
    ContentBlock, CreateTaskResult, DetailedTask, ErrorData, GetTaskParams, GetTaskResult, Implementation,
    InputRequiredResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities,
    ServerConfig, Task, TaskPayload, TaskStatus, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::api::{self, AgentApi, Failure};
use super::decision::Decision;
use super::elicitation::{self, Reply};
use super::permission;
use super::request::{self, Request};
use super::requests::{Attached, LatestKeys, random_key};
use super::settings::McpSettings;
use super::tools::{self, GetDecision, ToolName};
use super::waiting::{self, Use};
use crate::hooks;
use crate::limits::{MCP_TASK_POLL_MS, MCP_WAIT_SECONDS};

const INSTRUCTIONS: &str = "Holdshort puts people in the loop. Call `request_approval` before an action that needs \
    an approval, and `ask_human` if only a person can answer. Only `may_proceed: true` is an approval.";

/// Revisions of the protocol that the server speaks.
const VERSIONS: [ProtocolVersion; 4] = [
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// MCP server for one agent.
#[derive(Clone)]
pub struct McpServer {
    api: Arc<dyn AgentApi>,
    settings: Arc<McpSettings>,
    latest: Arc<LatestKeys>,
    /// Id of the agent. Requests of different agents have different keys.
    agent: Arc<str>,
}

impl McpServer {
    pub fn new(api: Arc<dyn AgentApi>, settings: McpSettings) -> Self {
        Self { api, settings: Arc::new(settings), latest: Arc::default(), agent: Arc::from("") }
    }

    /// Returns the server for another agent, with the same settings.
    #[must_use]
    pub fn for_agent(&self, api: Arc<dyn AgentApi>, agent: &str) -> Self {
        Self { api, agent: agent.into(), ..self.clone() }
    }

    async fn call(
        &self,
        tool: ToolName,
        params: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Failure> {
        let arguments = params.arguments.clone();
        match tool {
            ToolName::RequestApproval => {
                let request = request::approval(tools::arguments(arguments)?, &self.settings)?;
                Box::pin(self.ask(&request, params, context)).await
            }
            ToolName::AskHuman => {
                let request = request::question(tools::arguments(arguments)?, &self.settings)?;
                Box::pin(self.ask(&request, params, context)).await
            }
            ToolName::GetDecision => self.read(tools::arguments(arguments)?, context).await.map(Into::into),
            ToolName::Permission => {
                // Claude Code shows an error as a failure of the prompt, and a denial with its reason.
                let answer = self.permission(tools::arguments(arguments), context).await;
                let answer =
                    answer.unwrap_or_else(|failure| permission::deny(&format!("Holdshort: {failure}")));
                Ok(answer.into())
            }
        }
    }

    /// Opens a request, or attaches to it, and waits in the way that the client supports.
    async fn ask(
        &self,
        request: &Request,
        params: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Failure> {
        let api = &*self.api;
        let Attached { mut interrupt, key } = match &params.request_state {
            Some(key) => self.latest.resume(api, request, key).await?,
            None => self.latest.open(api, &self.agent, request, now()).await?,
        };
        let link = api.inbox_url(&interrupt.id);
        let capabilities = context.client_capabilities();
        let response =
            params.input_responses.as_ref().and_then(|responses| responses.get(elicitation::INBOX));
        let mode = elicitation::mode(capabilities.as_ref());
        let is_stateless =
            context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let mut end = Instant::now() + self.settings.pending_after;
        if interrupt.status == InterruptStatus::Open {
            if let Some(response) = response {
                match elicitation::response(response) {
                    Reply::Wait => {}
                    Reply::Leave => end = Instant::now(),
                    Reply::Withdraw => return self.decline(&interrupt, &link).await.map(Into::into),
                }
            } else if capabilities.as_ref().is_some_and(ClientCapabilities::supports_tasks) {
                let id = format!("{}.{}", interrupt.id, random_key()?);
                return Ok(CreateTaskResult::new(task(id, &interrupt, &link)).into());
            } else if let Some(mode) = mode.filter(|_| is_stateless) {
                let inputs = elicitation::input_requests(mode, &interrupt.title, &link);
                return Ok(InputRequiredResult::new(Some(inputs), Some(key)).into());
            } else if let Some(mode) = mode.filter(|_| self.settings.elicits) {
                let params = elicitation::params(mode, &interrupt.title, &link, &interrupt.id);
                let patience = Instant::now() + self.settings.permission_wait;
                let decided = waiting::until(api, interrupt.clone(), patience, context);
                tokio::select! {
                    biased;
                    decided = decided => interrupt = decided?,
                    answer = context.peer.create_elicitation(params) => {
                        let reply = answer.map_or(Reply::Wait, |answer| {
                            elicitation::reply(&answer.action, answer.content.as_ref())
                        });
                        end = Instant::now() + self.settings.pending_after;
                        match reply {
                            Reply::Wait => {}
                            Reply::Leave => end = Instant::now(),
                            Reply::Withdraw => return self.decline(&interrupt, &link).await.map(Into::into),
                        }
                    }
                }
            }
        } else if response.is_some_and(|response| elicitation::response(response) == Reply::Withdraw) {
            return Ok(Decision::declined(&interrupt, &link).into_result().into());
        }
        let interrupt = waiting::until(api, interrupt, end, context).await?;
        if context.ct.is_cancelled() {
            // The client does not read the result, so an approval must not be used.
            return Ok(Decision::new(&interrupt, &link).into_result().into());
        }
        let is_approved =
            interrupt.resolution.as_ref().is_some_and(|resolution| resolution.outcome == Outcome::Approved);
        if is_approved
            && let Use::Done(used) = waiting::use_approval(api, &interrupt, &request.action).await?
        {
            return Ok(Decision::released(&interrupt, &used, &link).into_result().into());
        }
        // Another call may have used the approval in the meantime.
        let interrupt =
            if is_approved { api::read(api, &interrupt.id, Duration::ZERO).await? } else { interrupt };
        Ok(Decision::new(&interrupt, &link).into_result().into())
    }

    /// Withdraws the request that the person at the client has declined. The call is refused even if an approver was
    /// faster.
    async fn decline(&self, interrupt: &Interrupt, link: &str) -> Result<CallToolResult, Failure> {
        api::withdraw(&*self.api, &interrupt.id, "declined at the MCP client").await?;
        Ok(Decision::declined(interrupt, link).into_result())
    }

    async fn read(
        &self,
        arguments: GetDecision,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Failure> {
        let GetDecision { request, wait_seconds } = arguments;
        if wait_seconds > MCP_WAIT_SECONDS {
            return Err(Failure::Arguments(format!("`wait_seconds` is more than {MCP_WAIT_SECONDS}")));
        }
        let api = &*self.api;
        let interrupt = api::read(api, &request, Duration::ZERO).await?;
        let end = Instant::now() + Duration::from_secs(wait_seconds);
        let interrupt = waiting::until(api, interrupt, end, context).await?;
        if context.ct.is_cancelled() {
            return Ok(Decision::new(&interrupt, &api.inbox_url(&interrupt.id)).into_result());
        }
        self.release(&interrupt, &random_key()?).await.map(Decision::into_result)
    }

    /// Returns the state of a request, and uses its approval.
    async fn release(&self, interrupt: &Interrupt, key: &str) -> Result<Decision, Failure> {
        let link = self.api.inbox_url(&interrupt.id);
        match waiting::use_known(&*self.api, interrupt, key).await? {
            Use::Done(used) => Ok(Decision::released(interrupt, &used, &link)),
            Use::Gone => Ok(Decision::new(interrupt, &link)),
        }
    }

    async fn permission(
        &self,
        arguments: Result<tools::Permission, Failure>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Failure> {
        let tools::Permission { tool_name, input } = arguments?;
        let api = &*self.api;
        let call = hooks::claude_call(&tool_name, input, self.settings.workspace.as_deref()).editable(false);
        let request = request::permission(&call, &self.settings);
        let end = Instant::now() + self.settings.permission_wait;
        // Another call may use the approval of the same request. Then this call asks for its own.
        for _ in 0..3 {
            let Attached { interrupt, .. } = self.latest.open(api, &self.agent, &request, now()).await?;
            let link = api.inbox_url(&interrupt.id);
            let interrupt = waiting::until(api, interrupt, end, context).await?;
            let approved = interrupt.resolution.as_ref().filter(|it| it.outcome == Outcome::Approved);
            let Some(resolution) = approved.filter(|_| !context.ct.is_cancelled()) else {
                return Ok(permission::deny(&permission::reason(&interrupt, &link)));
            };
            let Some(input) = permission::approved_input(&call, resolution) else {
                return Ok(permission::deny(
                    "A person changed the arguments, and Claude Code cannot use them.",
                ));
            };
            if let Use::Done(_) = waiting::use_approval(api, &interrupt, &request.action).await? {
                return Ok(permission::allow(&input));
            }
        }
        Ok(permission::deny("Other calls used the approvals of this call. Repeat the call later."))
    }

    async fn find_task(&self, id: &str) -> Result<DetailedTask, Failure> {
        let interrupt = api::read(&*self.api, interrupt_of(id)?, Duration::ZERO).await?;
        let task = task(id.to_owned(), &interrupt, &self.api.inbox_url(&interrupt.id));
        let Some(resolution) = &interrupt.resolution else {
            return Ok(DetailedTask::new(task, TaskPayload::Working));
        };
        if resolution.outcome == Outcome::Cancelled {
            return Ok(DetailedTask::new(task, TaskPayload::Cancelled));
        }
        // A task has one result, however often it is read.
        let key = format!("mcp-task-{}", Digest::of_json(&json!(id)));
        let result = self.release(&interrupt, &key).await?.into_result();
        let Ok(Value::Object(result)) = serde_json::to_value(result) else {
            return Err(Failure::Foreign("a result could not be written".to_owned()));
        };
        Ok(DetailedTask::new(task, TaskPayload::Completed { result }))
    }
}

/// Returns the interrupt in the id of a task. The rest of the id differs for each call, so that an approval is given
/// out to one of several calls that share a request.
fn interrupt_of(task: &str) -> Result<&str, Failure> {
    let parts = task.split_once('.');
    parts.map(|(interrupt, _)| interrupt).ok_or_else(|| Failure::Arguments("the task is unknown".to_owned()))
}

/// Returns the task of a call. Its id contains the id of the interrupt, so tasks survive a restart.
fn task(id: String, interrupt: &Interrupt, link: &str) -> Task {
    let updated = interrupt.resolution.as_ref().map_or(&interrupt.created_at, |resolution| &resolution.at);
    Task::new(id, TaskStatus::Working, interrupt.created_at.clone(), updated.clone())
        .with_status_message(format!("A person can decide at {link}"))
        .with_poll_interval_ms(MCP_TASK_POLL_MS)
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Returns the protocol error for a failure of a task method.
fn protocol_error(failure: &Failure) -> ErrorData {
    match failure {
        Failure::Refused(_) | Failure::Arguments(_) => ErrorData::invalid_params(failure.to_string(), None),
        Failure::Passing { .. } | Failure::Foreign(_) => ErrorData::internal_error(failure.to_string(), None),
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tasks().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("holdshort", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    fn supported_protocol_versions(&self) -> std::borrow::Cow<'static, [ProtocolVersion]> {
        VERSIONS.to_vec().into()
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        ToolName::parse(name).map(tools::describe)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::list()))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = ToolName::parse(&params.name) else {
            let data = json!({ "tool": params.name });
            return Err(ErrorData::invalid_params("unknown tool", Some(data)));
        };
        // Boxed, because the future is large.
        let answer = Box::pin(self.call(tool, params, &context)).await;
        Ok(answer.unwrap_or_else(|failure| {
            CallToolResult::error(vec![ContentBlock::text(failure.to_string())]).into()
        }))
    }

    async fn get_task(
        &self,
        params: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let task = self.find_task(&params.task_id).await;
        task.map(GetTaskResult::new).map_err(|failure| protocol_error(&failure))
    }

    async fn update_task(
        &self,
        _: rmcp::model::UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // A task asks the client for no input, so a response answers nothing.
        Ok(())
    }

    async fn cancel_task(
        &self,
        params: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let interrupt = interrupt_of(&params.task_id).map_err(|failure| protocol_error(&failure))?;
        let withdrawn = api::withdraw(&*self.api, interrupt, "cancelled by the MCP client").await;
        withdrawn.map(drop).map_err(|failure| protocol_error(&failure))
    }
}
