//! Tools of the MCP server: names, descriptions, schemas and annotations, and the arguments that they accept.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::api::Failure;
use crate::limits::MCP_WAIT_SECONDS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolName {
    RequestApproval,
    AskHuman,
    GetDecision,
    Permission,
}

impl ToolName {
    const ALL: [Self; 4] = [Self::RequestApproval, Self::AskHuman, Self::GetDecision, Self::Permission];

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::RequestApproval => "request_approval",
            Self::AskHuman => "ask_human",
            Self::GetDecision => "get_decision",
            Self::Permission => "permission",
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.as_str() == text)
    }
}

/// Arguments of `request_approval`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestApproval {
    pub(super) title: String,
    #[serde(default)]
    pub(super) message: String,
    #[serde(default)]
    pub(super) tool: Option<String>,
    #[serde(default)]
    pub(super) arguments: Map<String, Value>,
    #[serde(default)]
    pub(super) editable: bool,
    #[serde(default)]
    pub(super) idempotency_key: Option<String>,
}

/// Arguments of `ask_human`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskHuman {
    pub(super) question: String,
    #[serde(default)]
    pub(super) context: String,
    #[serde(default)]
    pub(super) choices: Vec<String>,
    #[serde(default)]
    pub(super) schema: Option<Map<String, Value>>,
    #[serde(default)]
    pub(super) idempotency_key: Option<String>,
}

/// Arguments of `get_decision`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GetDecision {
    pub(super) request: String,
    #[serde(default)]
    pub(super) wait_seconds: u64,
}

/// Arguments of `permission`. Other members are ignored, because newer versions of Claude Code may send more.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Permission {
    pub(super) tool_name: String,
    pub(super) input: Map<String, Value>,
}

/// Parses the arguments of a tool.
pub(super) fn arguments<T: DeserializeOwned>(arguments: Option<JsonObject>) -> Result<T, Failure> {
    let arguments = Value::Object(arguments.unwrap_or_default());
    serde_json::from_value(arguments)
        .map_err(|error| Failure::Arguments(format!("the arguments are invalid: {error}")))
}

/// Returns the list of tools that a client sees.
pub(super) fn list() -> Vec<Tool> {
    ToolName::ALL.into_iter().map(describe).collect()
}

pub(super) fn describe(name: ToolName) -> Tool {
    let key = json!({"type": "string", "description": "Name of this request. A call with the same arguments and \
        another key is a new request."});
    let (title, description, properties, required) = match name {
        ToolName::RequestApproval => (
            "Request an approval",
            "Ask the responsible people to approve an action before you do it. Do the action only if the result has \
             `may_proceed: true`, exactly as `arguments` in the result say, and once. If `status` is `pending`, call \
             `get_decision` until it is decided. A repeat of the same call waits for the same request.",
            json!({
                "title": {"type": "string", "description": "The action in one line, such as `Refund 120 EUR`."},
                "message": {"type": "string", "description": "Reason for the action."},
                "tool": {"type": "string", "description": "Name of the tool that does the action. With it, the rules \
                    of the installation can decide without a person."},
                "arguments": {"type": "object", "description": "Everything that defines the action. The approval is \
                    valid only for these arguments."},
                "editable": {"type": "boolean", "description": "True if you will use changed arguments from the \
                    result. People can then edit the arguments."},
                "idempotency_key": key,
            }),
            json!(["title"]),
        ),
        ToolName::AskHuman => (
            "Ask a person",
            "Ask the responsible people a question, and get the answer in `answer`. If `status` is `pending`, call \
             `get_decision` until it is answered.",
            json!({
                "question": {"type": "string", "description": "The question in one line."},
                "context": {"type": "string", "description": "Information that a person needs to answer."},
                "choices": {"type": "array", "items": {"type": "string"}, "description": "Possible answers."},
                "schema": {"type": "object", "description": "JSON Schema of the answer. Excludes `choices`."},
                "idempotency_key": key,
            }),
            json!(["question"]),
        ),
        ToolName::GetDecision => (
            "Read a decision",
            "Read the decision on an earlier request. An approval is given out once: the result with \
             `may_proceed: true` uses it.",
            json!({
                "request": {"type": "string", "description": "Id of the request: `int_…`."},
                "wait_seconds": {"type": "integer", "minimum": 0, "maximum": MCP_WAIT_SECONDS,
                    "description": "Time to wait for the decision [default: 0]."},
            }),
            json!(["request"]),
        ),
        ToolName::Permission => (
            "Permission prompt",
            "Permission prompt of Claude Code (`--permission-prompt-tool`). Not for models.",
            json!({
                "tool_name": {"type": "string", "description": "Name of the tool in Claude Code."},
                "input": {"type": "object", "description": "Arguments of the tool."},
                "tool_use_id": {"type": "string", "description": "Id of the call."},
            }),
            json!(["tool_name", "input"]),
        ),
    };
    let reads = name == ToolName::GetDecision;
    // No tool changes anything but requests to people. Reading a decision can use an approval, so no tool only reads.
    let annotations = ToolAnnotations::with_title(title)
        .read_only(false)
        .destructive(false)
        .idempotent(!reads)
        .open_world(true);
    let strict = name != ToolName::Permission;
    let mut schema = json!({"type": "object", "properties": properties, "required": required});
    if strict {
        schema["additionalProperties"] = false.into();
    }
    let tool = Tool::new(name.as_str(), description, object(schema)).with_title(title).annotate(annotations);
    if strict { tool.with_raw_output_schema(object(output())) } else { tool }
}

/// Returns the schema of the structured result of a decision.
fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "request": {"type": "string", "description": "Id of the request."},
            "status": {"enum": ["pending", "approved", "used", "rejected", "answered", "expired", "cancelled",
                "superseded"]},
            "may_proceed": {"type": "boolean", "description": "True once: the action is approved now."},
            "link": {"type": "string", "description": "Page on which people decide."},
            "arguments": {"description": "Approved arguments."},
            "edited": {"type": "boolean", "description": "True if a person changed the arguments."},
            "answer": {"description": "Answer to the question."},
            "text": {"type": "string", "description": "Words of the person who decided."},
            "decided_by": {"type": "array", "items": {"type": "string"}},
            "expires_at": {"type": "string"}
        },
        "required": ["request", "status", "may_proceed", "link"]
    })
}

fn object(value: Value) -> Arc<JsonObject> {
    let Value::Object(fields) = value else { return Arc::default() };
    Arc::new(fields)
}
