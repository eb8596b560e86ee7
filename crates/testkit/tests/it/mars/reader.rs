//! Strict reader of the MARS protocol, written from contract A32 only. The reader parses each frame and each response
//! into a type with exactly the fields that the web UI reads. The reader panics on a frame that the web UI would drop
//! or misread.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

/// Text that must not be empty.
#[derive(Debug)]
struct NonEmptyText;

impl<'de> Deserialize<'de> for NonEmptyText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.trim().is_empty() { Err(serde::de::Error::custom("says nothing")) } else { Ok(Self) }
    }
}

/// Text that the UI shows as one line of its console.
#[derive(Debug)]
struct ConsoleLine;

impl<'de> Deserialize<'de> for ConsoleLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_line = (1..=LINE).contains(&text.chars().count()) && !text.contains('\n');
        if is_line { Ok(Self) } else { Err(serde::de::Error::custom("is no short line")) }
    }
}

/// Maximum characters of a line that a person reads in the console. A path may be part of the line.
const LINE: usize = 500;

/// Name by which the UI selects the title of a request. The UI has no title for the names of earlier versions.
#[derive(Debug)]
struct Title;

impl<'de> Deserialize<'de> for Title {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match &*String::deserialize(deserializer)? {
            "" | "plan_approval" | "during_planning" => Err(serde::de::Error::custom("has no title")),
            _ => Ok(Self),
        }
    }
}

/// Deserializes a field that is required but may be null.
fn there<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}

macro_rules! schema {
    ($($name:ident { $($(#[$meta:meta])* $field:ident: $kind:ty),* $(,)? })*) => {
        $(
            #[derive(Debug, Deserialize)]
            #[expect(dead_code, reason = "that it can be read is what is checked")]
            struct $name { $($(#[$meta])* $field: $kind),* }
        )*
    };
}

schema! {
    Envelope { event_type: NonEmptyText, timestamp: NonEmptyText, #[serde(default)] run_id: Option<NonEmptyText>, data: Map<String, Value> }
    Status { message: ConsoleLine }
    Output { data: NonEmptyText }
    Started { run_id: NonEmptyText, task_description: NonEmptyText, agent: String, model: NonEmptyText, work_dir: String }
    StateChanged { status: State }
    Failed { error: NonEmptyText }
    Cancelled { message: NonEmptyText }
    Phase { phase: NonEmptyText, status: NonEmptyText }
    Step { step_id: NonEmptyText }
    Edge { source: NonEmptyText, target: NonEmptyText }
    Retry { #[serde(rename = "attemptNumber")] attempt: u32, #[serde(rename = "maxAttempts")] max: u32 }
    Node {
        id: NonEmptyText, label: NonEmptyText, name: NonEmptyText, r#type: NonEmptyText, status: NodeState, agent: String, step_number: u32, run_id: NonEmptyText,
        description: NonEmptyText, task: NonEmptyText, bullet_points: Vec<String>,
        #[serde(deserialize_with = "there")] started_at: Option<NonEmptyText>,
        #[serde(deserialize_with = "there")] completed_at: Option<NonEmptyText>,
        #[serde(deserialize_with = "there")] error: Option<NonEmptyText>,
        #[serde(deserialize_with = "there")] retry_info: Option<Retry>,
    }
    Graph { run_id: NonEmptyText, nodes: Vec<Node>, edges: Vec<Edge>, levels: u32 }
    NodeChanged { node_id: NonEmptyText, old_status: NodeState, new_status: NodeState }
    Bubble { agent: NonEmptyText, role: Role, message: NonEmptyText }
    Calls { agent: NonEmptyText, tool_name: NonEmptyText, call_id: NonEmptyText, arguments: Map<String, Value> }
    Called { run_id: NonEmptyText, agent: NonEmptyText, tool_name: NonEmptyText, arguments: Map<String, Value>, result: String }
    Executed { run_id: NonEmptyText, agent: NonEmptyText, code: NonEmptyText, language: NonEmptyText, result: String }
    FilesUpdated { run_id: NonEmptyText, node_id: NonEmptyText, files_tracked: u32 }
    FileChanged { file_path: NonEmptyText, filename: NonEmptyText }
    Spent {
        run_id: NonEmptyText, agent: NonEmptyText, step_id: NonEmptyText, model: NonEmptyText, tokens: u64, input_tokens: u64, output_tokens: u64,
        cost_usd: f64, total_cost_usd: f64,
    }
    PlanStep { sub_task: NonEmptyText, #[serde(deserialize_with = "there")] sub_task_agent: Option<NonEmptyText>, bullet_points: Vec<String> }
    Context {
        plan: Option<Vec<PlanStep>>, requires_text_input: Option<bool>, input_placeholder: Option<NonEmptyText>,
        step: Option<NonEmptyText>, step_num: Option<u32>, tool_category: Option<NonEmptyText>, agent_name: Option<NonEmptyText>,
        prompt: Option<NonEmptyText>, can_auto_allow: Option<bool>, session_permissions: Option<Map<String, Value>>,
    }
    Asked {
        approval_id: NonEmptyText, step_id: String, action: NonEmptyText, description: NonEmptyText, message: NonEmptyText, options: Vec<NonEmptyText>,
        checkpoint_type: Title, context: Context,
    }
    Received { approval_id: NonEmptyText, approved: bool, feedback: String }
    Problem { error_type: NonEmptyText, message: NonEmptyText }
    Ended { session_id: NonEmptyText, work_dir: String, run_id: NonEmptyText }
    Spoken { role: Role, content: NonEmptyText, agent: NonEmptyText, timestamp: NonEmptyText }
    Detail {
        session_id: NonEmptyText, name: NonEmptyText, mode: NonEmptyText, status: SessionState, created_at: NonEmptyText, updated_at: NonEmptyText,
        #[serde(deserialize_with = "there")] current_phase: Option<NonEmptyText>,
        #[serde(deserialize_with = "there")] current_step: Option<u32>,
        conversation_history: Vec<Spoken>, context_variables: Map<String, Value>, config: Map<String, Value>,
        #[serde(deserialize_with = "there")] plan_data: Option<Map<String, Value>>,
    }
    Sessions { sessions: Vec<Detail> }
    Run {
        id: NonEmptyText, mode: NonEmptyText, agent: String, model: NonEmptyText, status: State, task_description: NonEmptyText, started_at: NonEmptyText,
        #[serde(deserialize_with = "there")] completed_at: Option<NonEmptyText>,
        is_branch: bool, meta: Map<String, Value>,
    }
    Runs { runs: Vec<Run> }
    History { messages: Vec<Spoken> }
    Happened {
        id: NonEmptyText, timestamp: NonEmptyText, event_type: NonEmptyText, status: NonEmptyText,
        #[serde(deserialize_with = "there")] node_id: Option<NonEmptyText>,
        #[serde(deserialize_with = "there")] agent_name: Option<NonEmptyText>,
        inputs: Inputs, outputs: Outputs, meta: Meta,
    }
    Inputs { code: Option<String>, language: Option<NonEmptyText>, tool: Option<NonEmptyText>, args: Option<String>, message: Option<String> }
    Outputs { full_content: Option<String>, result: Option<String>, file_path: Option<NonEmptyText> }
    Meta { language: Option<NonEmptyText>, tool_name: Option<NonEmptyText>, files_written: Option<Vec<NonEmptyText>> }
    Events { events: Vec<Happened> }
    Made {
        id: NonEmptyText, file_path: NonEmptyText, file_name: NonEmptyText, file_type: String, size_bytes: u64, node_id: NonEmptyText,
        agent_name: NonEmptyText, created_at: NonEmptyText,
    }
    Files { files: Vec<Made> }
    ModelShare { model: NonEmptyText, cost: f64, tokens: u64, prompt_tokens: u64, completion_tokens: u64, call_count: u64 }
    AgentShare {
        agent: NonEmptyText, model: NonEmptyText, cost: f64, tokens: u64, prompt_tokens: u64, completion_tokens: u64, call_count: u64,
    }
    StepShare { step_id: NonEmptyText, cost: f64, tokens: u64, prompt_tokens: u64, completion_tokens: u64 }
    Costs {
        run_id: NonEmptyText, resolved_run_id: NonEmptyText, total_cost_usd: f64, total_tokens: u64, total_prompt_tokens: u64,
        total_completion_tokens: u64, record_count: u64, model_breakdown: Vec<ModelShare>, agent_breakdown: Vec<AgentShare>,
        step_breakdown: Vec<StepShare>,
    }
    Summary { total: u64, valid: u64, invalid: u64, not_configured: u64, errors: u64 }
    Tested { provider: NonEmptyText, status: KeyState, message: NonEmptyText, error_details: Option<NonEmptyText> }
    Providers { openai: Tested, azure_openai: Tested, azure_openai_fallback: Tested, anthropic: Tested, vertex: Tested }
    Credentials { status: NonEmptyText, summary: Summary, results: Providers, timestamp: f64 }
    ModelOption { value: NonEmptyText, label: NonEmptyText }
    ModelSettings {
        available_models: Vec<ModelOption>, global_defaults: BTreeMap<String, String>,
        workflow_defaults: BTreeMap<String, BTreeMap<String, BTreeMap<String, String>>>,
    }
    FileContent {
        path: NonEmptyText, r#type: ContentType, size: u64,
        #[serde(deserialize_with = "there")] content: Option<String>,
        #[serde(deserialize_with = "there")] mime_type: Option<NonEmptyText>,
    }
    Detailed { detail: NonEmptyText }
    Log { content: NonEmptyText, total_lines: u64 }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Draft,
    Planning,
    Executing,
    Paused,
    WaitingApproval,
    Completed,
    Failed,
    Cancelled,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NodeState {
    Pending,
    Running,
    Paused,
    WaitingApproval,
    Completed,
    Failed,
    Cancelled,
    Skipped,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SessionState {
    Active,
    Suspended,
    Completed,
    Expired,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KeyState {
    Valid,
    Invalid,
    Error,
    NotConfigured,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ContentType {
    Text,
    Binary,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Role {
    Assistant,
    User,
    Handoff,
    Judge,
}

fn check<T: DeserializeOwned>(value: &Value) -> Result<(), serde_json::Error> {
    T::deserialize(value).map(drop)
}

/// Reads a frame as the web UI does.
pub(crate) fn frame(text: &str) -> Value {
    let frame: Value = serde_json::from_str(text).unwrap();
    let data = &frame["data"];
    let kind = frame["event_type"].as_str().unwrap_or_default();
    let read = check::<Envelope>(&frame).and_then(|()| match kind {
        "status" => check::<Status>(data),
        "output" => check::<Output>(data),
        "workflow_started" => check::<Started>(data),
        "workflow_state_changed" => check::<StateChanged>(data),
        "workflow_failed" => check::<Failed>(data),
        "workflow_cancelled" => check::<Cancelled>(data),
        "phase_change" => check::<Phase>(data),
        "step_started"
        | "step_progress"
        | "step_completed"
        | "step_failed"
        | "step_retry_started"
        | "step_retry_backoff"
        | "step_retry_succeeded"
        | "step_retry_exhausted" => check::<Step>(data),
        "dag_created" | "dag_updated" => check::<Graph>(data),
        "dag_node_status_changed" => check::<NodeChanged>(data),
        "agent_message" => check::<Bubble>(data),
        "agent_tool_call" => check::<Calls>(data),
        "tool_call" => check::<Called>(data),
        "code_execution" => check::<Executed>(data),
        "files_updated" => check::<FilesUpdated>(data),
        "file_created" | "file_updated" => check::<FileChanged>(data),
        "cost_update" => check::<Spent>(data),
        "approval_requested" => check::<Asked>(data),
        "approval_received" => check::<Received>(data),
        "error_occurred" => check::<Problem>(data),
        "result" => check::<Ended>(data),
        "workflow_paused" | "workflow_resumed" | "workflow_completed" | "pong" => {
            check::<Map<String, Value>>(data)
        }
        _ => Err(serde::de::Error::custom("the client knows no such event")),
    });
    if let Err(error) = read {
        panic!("the client cannot read this: {error}\n{frame:#}");
    }
    if kind == "output" {
        assert!(!data["data"].as_str().unwrap().contains('\n'), "one line a frame: {frame}");
    }
    frame
}

/// Reads a response of the REST API. The end of its path selects the type.
pub(crate) fn answer(path: &str, body: &Value) {
    type Check = fn(&Value) -> Result<(), serde_json::Error>;
    let (path, _) = path.split_once('?').unwrap_or((path, ""));
    let parts: Vec<&str> = path.rsplit('/').take(3).collect();
    let by_end: BTreeMap<&str, Check> = BTreeMap::from([
        ("sessions", check::<Sessions> as Check),
        ("dag", check::<Graph>),
        ("events", check::<Events>),
        ("files", check::<Files>),
        ("costs", check::<Costs>),
        ("console-log", check::<Log>),
        ("status", check::<Credentials>),
        ("config", check::<ModelSettings>),
        ("content", check::<FileContent>),
    ]);
    let is_of_a_run = parts.get(2) == Some(&"runs");
    let read = match parts[0] {
        "runs" => check::<Runs>(body),
        "history" if is_of_a_run => check::<Events>(body),
        "history" => check::<History>(body),
        end => by_end.get(end).copied().unwrap_or(check::<Detail>)(body),
    };
    if let Err(error) = read {
        panic!("the client cannot read the answer of {path}: {error}\n{body:#}");
    }
}

/// Reads a refusal, whose `detail` the UI shows.
pub(crate) fn refusal(body: &Value) -> String {
    if let Err(error) = check::<Detailed>(body) {
        panic!("the client cannot read the refusal: {error}\n{body:#}");
    }
    body["detail"].as_str().unwrap().to_owned()
}

/// The reader rejects frames that the web UI would drop or misread, or on which it would crash.
#[test]
fn what_the_client_would_misread_is_refused() {
    let cost = |usd: Value| {
        json!({
            "run_id": "r", "agent": "a", "step_id": "s", "model": "m", "tokens": 1, "input_tokens": 1,
            "output_tokens": 0, "cost_usd": usd, "total_cost_usd": 0.0,
        })
    };
    let asked = |plan: Value, description: &str| {
        json!({
            "approval_id": "i", "step_id": "", "action": "plan_approval", "description": description,
            "message": "m", "options": ["approve"], "checkpoint_type": "after_planning", "context": { "plan": plan },
        })
    };
    let step = json!({ "sub_task": "build", "sub_task_agent": null, "bullet_points": [] });
    let read = |event_type: &str, data: &Value| {
        let text = json!({ "event_type": event_type, "timestamp": "t", "data": data }).to_string();
        std::panic::catch_unwind(|| frame(&text)).is_ok()
    };
    for (event_type, data, is_read) in [
        ("cost_update", cost(json!(0.0)), true),
        ("cost_update", cost(json!(null)), false),
        ("approval_requested", asked(json!([step]), "d"), true),
        ("approval_requested", asked(json!({ "sub_tasks": [step] }), "d"), false),
        ("approval_requested", asked(json!([step]), ""), false),
        ("status", json!({ "status": "planning" }), false),
        ("status", json!({ "message": "Planning." }), true),
        ("status", json!({ "message": "x".repeat(LINE + 1) }), false),
        ("output", json!({ "data": "line" }), true),
        ("output", json!({ "data": "two\nlines" }), false),
        ("output", json!({ "released": {} }), false),
        ("workflow_cancelled", json!({ "message": "" }), false),
        ("agent_message", json!({ "agent": "a", "role": "tool", "message": "m" }), false),
        ("dag_created", json!({ "nodes": [], "edges": [], "levels": 0 }), false),
        ("result", json!({ "work_dir": "", "run_id": "r" }), false),
        ("surprise", json!({}), false),
    ] {
        assert_eq!(read(event_type, &data), is_read, "{event_type}: {data}");
    }
    let untitled = {
        let mut asked = asked(json!([step]), "d");
        asked["checkpoint_type"] = json!("plan_approval");
        asked
    };
    assert!(!read("approval_requested", &untitled));
}

/// The reader rejects answers on which the tabs of the web UI would crash, or with which it would send no task.
#[test]
fn what_a_tab_would_crash_on_is_refused() {
    let is_read = |path: &str, body: &Value| std::panic::catch_unwind(|| answer(path, body)).is_ok();
    let costs = json!({
        "run_id": "r", "resolved_run_id": "r", "total_cost_usd": 0.0, "total_tokens": 0, "total_prompt_tokens": 0,
        "total_completion_tokens": 0, "record_count": 0, "model_breakdown": [], "agent_breakdown": [],
        "step_breakdown": [],
    });
    let event = json!({"events": [{
        "id": "1", "timestamp": "t", "event_type": "tool_call", "status": "completed", "node_id": null,
        "agent_name": null, "inputs": {"tool": "t", "args": "{}"}, "outputs": {"result": "r"}, "meta": {},
    }]});
    let tested = json!({"provider": "p", "status": "valid", "message": "m"});
    let keys = ["openai", "azure_openai", "azure_openai_fallback", "anthropic", "vertex"];
    let results: Map<String, Value> = keys.map(|key| (key.to_owned(), tested.clone())).into_iter().collect();
    let status = json!({
        "status": "success", "results": results, "timestamp": 0,
        "summary": {"total": 5, "valid": 5, "invalid": 0, "not_configured": 0, "errors": 0},
    });
    let content =
        json!({"path": "/w/a", "content": "a", "type": "text", "size": 1, "mime_type": "text/plain"});
    let table: [(&str, &Value, &[&str]); 5] = [
        ("runs/r/costs", &costs, &["/total_prompt_tokens", "/total_completion_tokens", "/record_count"]),
        ("runs/r/history", &event, &["/events/0/inputs", "/events/0/agent_name"]),
        ("credentials/status", &status, &["/results/openai", "/results/vertex/status", "/summary"]),
        ("files/content?path=a", &content, &["/content", "/type", "/size"]),
        (
            "models/config",
            &json!({"available_models": [], "global_defaults": {}, "workflow_defaults": {}}),
            &["/available_models"],
        ),
    ];
    for (path, body, needed) in table {
        assert!(is_read(path, body), "{path}: {body}");
        for pointer in needed {
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            let mut less = body.clone();
            less.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(key);
            assert!(!is_read(path, &less), "{path} without {pointer}");
        }
    }
    let mut object = event.clone();
    object["events"][0]["inputs"]["args"] = json!({"path": "a"});
    assert!(!is_read("runs/r/history", &object), "an object is drawn nowhere");
}
