//! Strict readers, written after the source system's clients (contracts B15, B16): both gateways and the IDE. If a
//! client would drop a frame, misread it, or show it as an empty bubble, the test fails. All connections of these tests
//! use the readers.

#![expect(
    dead_code,
    clippy::struct_field_names,
    reason = "fields are there to be required, under the names of the wire"
)]

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

type Object = Map<String, Value>;

/// Agents that the IDE knows.
const AGENTS: &[&str] = &["orchestrator", "code", "architect", "debug", "ask"];
const TOOLS: &[&str] = &[
    "read_file",
    "write_file",
    "list_files",
    "search_in_code",
    "execute_command",
    "delete_file",
    "move_file",
    "create_directory",
];

/// A text that clients of the `CodeLab` edge display. An empty text would be shown as an empty bubble.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct NonEmptyText(String);

impl TryFrom<String> for NonEmptyText {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.trim().is_empty() { Err("an empty bubble") } else { Ok(Self(text)) }
    }
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Agent(String);

impl TryFrom<String> for Agent {
    type Error = String;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        if AGENTS.contains(&name.as_str()) { Ok(Self(name)) } else { Err(format!("an agent `{name}`")) }
    }
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Tool(String);

impl TryFrom<String> for Tool {
    type Error = String;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        if TOOLS.contains(&name.as_str()) { Ok(Self(name)) } else { Err(format!("a tool `{name}`")) }
    }
}

/// Fields that the IDE parses in every frame before it reads the frame's type. If a field has the wrong type, the IDE
/// drops the frame.
#[derive(Deserialize)]
struct Any {
    #[serde(rename = "type")]
    kind: String,
    content: Option<String>,
    token: Option<String>,
    is_final: Option<bool>,
    session_id: Option<String>,
    call_id: Option<String>,
    tool_name: Option<String>,
    arguments: Option<Object>,
    requires_approval: Option<bool>,
    result: Option<Object>,
    error: Option<String>,
    from_agent: Option<String>,
    to_agent: Option<String>,
    reason: Option<String>,
    approval_request_id: Option<String>,
    plan_id: Option<String>,
    plan_summary: Option<Object>,
    steps: Option<Vec<Object>>,
    current_step: Option<String>,
    step_id: Option<String>,
    status: Option<String>,
    metadata: Option<Object>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ServerFrame {
    SessionInfo {
        session_id: NonEmptyText,
        content: NonEmptyText,
        agent: Agent,
    },
    Status {
        status: NonEmptyText,
        content: NonEmptyText,
    },
    AssistantMessage {
        content: NonEmptyText,
        token: NonEmptyText,
        is_final: bool,
        metadata: Option<MessageMetadata>,
    },
    ToolCall {
        call_id: NonEmptyText,
        tool_name: Tool,
        arguments: Object,
        requires_approval: bool,
        agent: Option<Agent>,
    },
    AgentSwitched {
        content: NonEmptyText,
        from_agent: Agent,
        to_agent: Agent,
        reason: NonEmptyText,
        metadata: Switched,
    },
    PlanApprovalRequired {
        content: NonEmptyText,
        approval_request_id: NonEmptyText,
        plan_id: NonEmptyText,
        plan_summary: Summary,
    },
    PlanNotification {
        content: NonEmptyText,
        plan_id: NonEmptyText,
        metadata: Plan,
        is_final: bool,
    },
    SubtaskStarted {
        content: NonEmptyText,
        metadata: Started,
    },
    SubtaskCompleted {
        content: NonEmptyText,
        metadata: Completed,
    },
    PlanProgress {
        content: NonEmptyText,
        plan_id: NonEmptyText,
        step_id: NonEmptyText,
        status: StepStatus,
        error: Option<NonEmptyText>,
    },
    PlanCompleted {
        content: NonEmptyText,
        metadata: Planned,
        is_final: bool,
    },
    Error {
        content: NonEmptyText,
        error: NonEmptyText,
        is_final: bool,
    },
    Done {
        status: NonEmptyText,
        content: NonEmptyText,
        is_final: bool,
    },
}

#[derive(Deserialize)]
struct MessageMetadata {
    agent: Option<Agent>,
}

#[derive(Deserialize)]
struct Switched {
    from_agent: Agent,
    to_agent: Agent,
    reason: NonEmptyText,
}

/// Statuses of a subtask that the IDE's plan panel knows. It ignores all others.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum StepStatus {
    InProgress,
    Completed,
    Failed,
    Skipped,
}

/// Estimated duration of a subtask, which the IDE shows as it is.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Estimate(String);

impl TryFrom<String> for Estimate {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if ["", "unknown"].contains(&text.trim()) { Err(format!("a time `{text}`")) } else { Ok(Self(text)) }
    }
}

#[derive(Deserialize)]
struct Subtask {
    id: NonEmptyText,
    description: NonEmptyText,
    agent: Agent,
    estimated_time: Option<Estimate>,
    dependencies: Vec<String>,
}

#[derive(Deserialize)]
struct Summary {
    goal: NonEmptyText,
    subtasks_count: u64,
    total_estimated_time: Option<Estimate>,
    subtasks: Vec<Subtask>,
}

#[derive(Deserialize)]
struct Plan {
    plan_id: NonEmptyText,
    original_task: NonEmptyText,
    subtask_count: u64,
    subtasks: Vec<Subtask>,
    requires_approval: bool,
}

#[derive(Deserialize)]
struct Started {
    plan_id: NonEmptyText,
    subtask_id: NonEmptyText,
    description: NonEmptyText,
    agent: Agent,
    status: NonEmptyText,
}

#[derive(Deserialize)]
struct Completed {
    plan_id: NonEmptyText,
    subtask_id: NonEmptyText,
    status: NonEmptyText,
    completion_reason: NonEmptyText,
    result: Option<Object>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Planned {
    plan_id: NonEmptyText,
    plan_status: NonEmptyText,
    total_subtasks: u64,
    completed: u64,
    failed: u64,
}

fn parsed<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    T::deserialize(value).map_err(|error| error.to_string())
}

fn read<T: DeserializeOwned>(value: &Value) -> T {
    parsed(value).unwrap_or_else(|error| panic!("a client misreads this: {error}\n{value:#}"))
}

/// Checks a frame of the `CodeLab` edge as the IDE parses it.
pub(crate) fn frame(value: &Value) {
    checked(value).unwrap_or_else(|error| panic!("the IDE misreads this: {error}\n{value:#}"));
}

fn checked(value: &Value) -> Result<(), String> {
    parsed::<Any>(value)?;
    let (is_read, what) = match parsed(value)? {
        ServerFrame::AssistantMessage { content, token, .. } => (content.0 == token.0, "token and content"),
        ServerFrame::ToolCall { tool_name, arguments, .. } => match tool_name.0.as_str() {
            "list_files" => (arguments.get("path").is_some_and(Value::is_string), "path"),
            "search_in_code" => (arguments.get("query").is_some_and(Value::is_string), "query"),
            _ => (true, ""),
        },
        ServerFrame::PlanNotification { metadata, .. } => {
            (metadata.subtask_count == metadata.subtasks.len() as u64, "subtask_count")
        }
        _ => (true, ""),
    };
    if is_read { Ok(()) } else { Err(what.to_owned()) }
}

/// The reader detects frames that clients misread. The server once sent some of these frames.
#[test]
fn what_a_client_would_misread_is_noticed() {
    let completed = |result: Value| {
        json!({ "type": "subtask_completed", "content": "Done.", "result": result, "metadata": {
            "plan_id": "p", "subtask_id": "s", "status": "completed", "completion_reason": "final_answer" } })
    };
    let call = |tool: &str, arguments: Value| {
        json!({ "type": "tool_call", "call_id": "c", "tool_name": tool, "arguments": arguments,
            "requires_approval": false })
    };
    let switched = |to: &str| {
        json!({ "type": "agent_switched", "content": "on", "from_agent": "ask", "to_agent": to, "reason": "why",
            "metadata": { "from_agent": "ask", "to_agent": to, "reason": "why" } })
    };
    let said = |token: &str| json!({ "type": "assistant_message", "content": "Hi.", "token": token, "is_final": true });
    let step = |status: &str| json!({ "type": "plan_progress", "content": "On.", "plan_id": "p", "step_id": "s", "status": status });
    let asks = |more: Value| {
        let mut subtask = json!({ "id": "s", "description": "d", "agent": "code", "dependencies": [] });
        subtask.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "type": "plan_notification", "content": "A plan.", "plan_id": "p", "is_final": true, "metadata": {
            "plan_id": "p", "original_task": "t", "subtask_count": 1, "requires_approval": true,
            "subtasks": [subtask] } })
    };
    let table = [
        (said("Hi."), true),
        (said("Ho."), false),
        (json!({ "type": "assistant_message", "content": "Hi.", "is_final": true }), false),
        (completed(json!({ "content": "text" })), true),
        (completed(json!("text")), false),
        (call("read_file", json!({ "path": "a" })), true),
        (call("read_file", json!("a")), false),
        (call("search_files", json!({ "query": "a" })), false),
        (call("search_in_code", json!({ "pattern": "a" })), false),
        (call("list_files", json!({})), false),
        (switched("code"), true),
        (switched("coder"), false),
        (json!({ "type": "agent_switched", "from": "ask", "to": "code" }), false),
        (json!({ "type": "status", "status": "paused" }), false),
        (json!({ "type": "status", "status": "paused", "content": " " }), false),
        (
            json!({ "type": "plan_approval_required", "content": "A plan.", "approval_request_id": "r",
            "plan_id": "p", "plan_summary": "- s1" }),
            false,
        ),
        (json!({ "type": "shout", "content": "Hi." }), false),
        (step("in_progress"), true),
        (step("pending"), false),
        (
            json!({ "type": "plan_progress", "content": "On.", "metadata": { "step_id": "s", "status": "failed" } }),
            false,
        ),
        (asks(json!({ "estimated_time": "5 min" })), true),
        (asks(json!({})), true),
        (asks(json!({ "estimated_time": "unknown" })), false),
        (asks(json!({ "estimated_time": 5 })), false),
    ];
    for (frame, is_read) in table {
        let checked = checked(&frame);
        assert_eq!(checked.is_ok(), is_read, "{frame}: {checked:?}");
    }
}

/// Both gateways read a response to its end and ignore unknown lines. If the status is not 200, they read nothing.
#[test]
fn an_answer_is_read_as_the_gateways_read_it() {
    let said = r#"{"type":"assistant_message","content":"Hi.","token":"Hi.","is_final":true}"#;
    let begun = r#"{"type":"session_info","session_id":"s","content":"New.","agent":"ask"}"#;
    let whole = format!(
        "event: message\ndata: {begun}\n\n: ping\n\nevent: message\ndata: {said}\n\nevent: done\ndata: x"
    );
    assert_eq!(answer(200, &whole).as_deref(), Some("s"));
    let unnamed = format!("data: {said}\n\n");
    for (status, body) in [(400, whole.as_str()), (200, unnamed.as_str()), (200, "")] {
        let read = std::panic::catch_unwind(|| answer(status, body));
        assert!(read.is_err(), "{status} {body}");
    }
}

/// Frames that a gateway forwards from an HTTP response, and whether the gateway read the end of the response.
#[derive(Debug, PartialEq)]
struct Forwarded {
    frames: Vec<Value>,
    is_over: bool,
    /// Session id with which the later of the two gateways continues.
    session: Option<String>,
}

/// Reads an HTTP response line by line, as both gateways do: an event name, and then the event's data. The gateway of
/// the document removes nulls from `message` events, and forwards all other events unchanged. The later gateway removes
/// nulls from all events, and regards a `session_info` frame as the start of a session.
fn forwarded(body: &str, is_later: bool) -> Forwarded {
    let mut heard = Forwarded { frames: Vec::new(), is_over: false, session: None };
    let mut event = None;
    for line in body.lines() {
        if line.is_empty() {
            event = None;
        } else if let Some(name) = line.strip_prefix("event: ") {
            if name == "done" {
                heard.is_over = true;
                break;
            }
            event = Some(name);
        } else if let Some(data) = line.strip_prefix("data: ") {
            let mut frame: Value = serde_json::from_str(data).expect("JSON");
            if is_later || event == Some("message") {
                frame.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
            }
            if is_later && frame["type"] == "session_info" {
                heard.session = frame["session_id"].as_str().map(str::to_owned);
            }
            heard.frames.push(frame);
        } else {
            assert!(line.starts_with(':'), "a line that no gateway knows: {line}");
        }
    }
    heard
}

/// Checks an HTTP response with the readers of both gateways and of the IDE. Returns the session that the response
/// begins.
pub(crate) fn answer(status: u16, body: &str) -> Option<String> {
    assert_eq!(status, 200, "the document's gateway is deaf from here on: {body}");
    let [document, later] = [false, true].map(|is_later| forwarded(body, is_later));
    assert_eq!(document.frames, later.frames, "both gateways tell the same");
    assert!(document.is_over && later.is_over, "the answer has an end: {body}");
    document.frames.iter().for_each(frame);
    later.session
}

#[derive(Deserialize)]
struct Pending {
    session_id: NonEmptyText,
    pending_approvals: Vec<Approval>,
    pending_plans: Vec<Plan>,
    count: u64,
}

#[derive(Deserialize)]
struct Approval {
    request_id: NonEmptyText,
    call_id: NonEmptyText,
    tool_name: Tool,
    arguments: Object,
    reason: String,
    created_at: NonEmptyText,
}

#[derive(Deserialize)]
struct Sessions {
    sessions: Vec<Session>,
    total: u64,
}

#[derive(Deserialize)]
struct Session {
    id: NonEmptyText,
    session_id: NonEmptyText,
    message_count: u64,
    created_at: NonEmptyText,
    updated_at: NonEmptyText,
    last_activity: NonEmptyText,
    current_agent: Agent,
    title: NonEmptyText,
    is_active: bool,
}

#[derive(Deserialize)]
struct History {
    session_id: NonEmptyText,
    messages: Vec<Message>,
    message_count: u64,
    last_activity: Option<NonEmptyText>,
    current_agent: Agent,
    agent_history: Vec<Switch>,
}

#[derive(Deserialize)]
struct Message {
    role: NonEmptyText,
    content: Option<NonEmptyText>,
}

#[derive(Deserialize)]
struct Switch {
    from: Agent,
    to: Agent,
    timestamp: NonEmptyText,
}

#[derive(Deserialize)]
struct AgentInfo {
    #[serde(rename = "type")]
    kind: Agent,
    name: NonEmptyText,
    description: NonEmptyText,
    allowed_tools: Vec<String>,
    has_file_restrictions: bool,
}

#[derive(Deserialize)]
struct Current {
    session_id: NonEmptyText,
    current_agent: Agent,
    agent_history: Vec<Switch>,
    switch_count: u64,
}

#[derive(Deserialize)]
struct Health {
    status: NonEmptyText,
    service: NonEmptyText,
    version: NonEmptyText,
}

#[derive(Deserialize)]
struct Stats {
    total_published: u64,
    successful_handlers: u64,
    failed_handlers: u64,
    success_rate: f64,
}

#[derive(Deserialize)]
struct Metrics {
    metrics: Object,
    computed: Object,
    timestamp: NonEmptyText,
}

/// Sessions with metrics, as the later of the two gateways forwards them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MeasuredSessions {
    sessions: Vec<NonEmptyText>,
    count: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionMetrics {
    session_id: NonEmptyText,
    total_requests: u64,
    successful_requests: u64,
    failed_requests: u64,
    total_duration_ms: u64,
    average_duration_ms: f64,
    total_prompt_tokens: u64,
    total_completion_tokens: u64,
    total_tokens: u64,
    average_tokens_per_request: f64,
    requests_with_tools: u64,
    requests: Vec<Measured>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Measured {
    timestamp: NonEmptyText,
    model: NonEmptyText,
    duration_ms: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    has_tool_calls: bool,
    success: bool,
    error: Option<NonEmptyText>,
}

#[derive(Deserialize)]
struct PendingPlans {
    session_id: NonEmptyText,
    pending_plans: Vec<Plan>,
    count: u64,
}

#[derive(Deserialize)]
struct Plans {
    session_id: NonEmptyText,
    plans: Vec<Carried>,
}

#[derive(Deserialize)]
struct Carried {
    plan_id: NonEmptyText,
    session_id: NonEmptyText,
    original_task: NonEmptyText,
    subtasks: Vec<Part>,
    is_approved: bool,
    is_complete: bool,
}

#[derive(Deserialize)]
struct Part {
    id: NonEmptyText,
    description: NonEmptyText,
    agent: Agent,
    dependencies: Vec<String>,
    estimated_time: Option<Estimate>,
    status: NonEmptyText,
}

#[derive(Deserialize)]
struct AuditLog {
    events: Vec<Audited>,
    count: u64,
}

#[derive(Deserialize)]
struct Audited {
    session_id: NonEmptyText,
    event_type: NonEmptyText,
    decision: NonEmptyText,
    timestamp: NonEmptyText,
    tool_name: Option<Tool>,
    original_arguments: Option<Object>,
    modified_arguments: Option<Object>,
    modified_subtasks: Option<Vec<Part>>,
}

/// Checks a JSON response of the `CodeLab` edge as the IDE and the gateways parse it. The last segment of the path
/// selects the type.
pub(crate) fn rest(path: &str, value: &Value) {
    let path = path.split('?').next().unwrap_or(path);
    if path == "events/metrics/sessions" {
        let measured: MeasuredSessions = read(value);
        assert_eq!(measured.count, measured.sessions.len() as u64, "{value:#}");
        return;
    }
    if path.starts_with("events/metrics/session/") {
        let metrics: SessionMetrics = read(value);
        assert_eq!(
            metrics.total_requests,
            metrics.successful_requests + metrics.failed_requests,
            "{value:#}"
        );
        assert_eq!(metrics.total_tokens, metrics.total_prompt_tokens + metrics.total_completion_tokens);
        return;
    }
    match path.rsplit('/').next().unwrap_or(path) {
        "pending-approvals" => {
            let pending: Pending = read(value);
            assert_eq!(pending.count, pending.pending_approvals.len() as u64, "{value:#}");
        }
        "sessions" if value.get("sessions").is_some() => drop(read::<Sessions>(value)),
        "sessions" => drop(read::<Session>(value)),
        "history" => {
            let history: History = read(value);
            assert_eq!(history.message_count, history.messages.len() as u64, "{value:#}");
        }
        "agents" => drop(read::<Vec<AgentInfo>>(value)),
        "current" => drop(read::<Current>(value)),
        "health" => drop(read::<Health>(value)),
        "stats" => drop(read::<Stats>(value)),
        "metrics" => drop(read::<Metrics>(value)),
        "pending-plans" => {
            let pending: PendingPlans = read(value);
            assert_eq!(pending.count, pending.pending_plans.len() as u64, "{value:#}");
        }
        "plans" => drop(read::<Plans>(value)),
        "audit-log" => {
            let log: AuditLog = read(value);
            assert_eq!(log.count, log.events.len() as u64, "{value:#}");
        }
        other => panic!("no client reads {other}"),
    }
}
