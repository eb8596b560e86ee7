//! The streaming APIs of three model providers. Reads the conversation that is in a request, and writes the reply that
//! the caller of this module has chosen.
//!
//! Ids of calls contain the number of the reply. Therefore all calls of a conversation have different ids.

use serde_json::{Value, json};

use super::model::{CallInput, ScriptedCall};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    /// Anthropic, `POST /v1/messages`.
    Messages,
    /// OpenAI, `POST /v1/responses`.
    Responses,
    /// Google, `POST /v1beta/models/MODEL:streamGenerateContent`.
    StreamContent,
    /// Google, `POST /v1beta/models/MODEL:generateContent`.
    Content,
}

/// Text of a model reply that contains no tool calls.
const DONE: &str = "done";
const SSE: &str = "text/event-stream";
const JSON: &str = "application/json";

impl Api {
    pub(super) fn from_path(path: &str) -> Option<Self> {
        match path {
            path if path.ends_with("/v1/messages") => Some(Self::Messages),
            path if path.ends_with("/v1/responses") => Some(Self::Responses),
            path if path.ends_with(":streamGenerateContent") => Some(Self::StreamContent),
            path if path.ends_with(":generateContent") => Some(Self::Content),
            _ => None,
        }
    }

    pub(super) fn has_tools(self, body: &Value) -> bool {
        match self {
            // For the newest models, Codex sends the tools inside the conversation.
            Self::Responses if items(&body["tools"]).is_empty() => {
                items(&body["input"]).iter().any(|item| item["type"] == "additional_tools")
            }
            _ => !items(&body["tools"]).is_empty(),
        }
    }

    /// Returns how many replies with tool calls the conversation in the request contains.
    pub(super) fn rounds(self, body: &Value) -> usize {
        let with = |part: &'static str| {
            move |turn: &&Value| match self {
                Self::Messages => items(&turn["content"]).iter().any(|block| block["type"] == part),
                _ => items(&turn["parts"]).iter().any(|one| one.get(part).is_some()),
            }
        };
        match self {
            Self::Messages => items(&body["messages"]).iter().filter(with("tool_use")).count(),
            Self::StreamContent | Self::Content => {
                items(&body["contents"]).iter().filter(with("functionCall")).count()
            }
            Self::Responses => {
                let ids = items(&body["input"]).iter().filter_map(|item| item["call_id"].as_str());
                let rounds = ids.filter_map(|id| id.split('_').nth(1)?.parse::<usize>().ok());
                rounds.max().map_or(0, |last| last + 1)
            }
        }
    }

    /// Returns as text the results of tool calls in the conversation of the request.
    pub(super) fn results(self, body: &Value) -> Vec<String> {
        match self {
            Self::Messages => {
                let blocks = items(&body["messages"]).iter().flat_map(|message| items(&message["content"]));
                let results = blocks.filter(|block| block["type"] == "tool_result");
                results.map(|block| text(&block["content"])).collect()
            }
            Self::Responses => {
                let outputs = items(&body["input"])
                    .iter()
                    .filter(|item| item["type"].as_str().is_some_and(|kind| kind.ends_with("call_output")));
                outputs.map(|item| text(&item["output"])).collect()
            }
            Self::StreamContent | Self::Content => {
                let parts = items(&body["contents"]).iter().flat_map(|turn| items(&turn["parts"]));
                let responses = parts.filter_map(|part| part.get("functionResponse"));
                responses.map(|response| response["response"].to_string()).collect()
            }
        }
    }

    /// Returns the content type and the body of a model reply that consists of these calls. If `calls` is empty, the
    /// reply is a text.
    pub(super) fn reply(self, body: &Value, calls: &[ScriptedCall]) -> (&'static str, String) {
        let round = self.rounds(body);
        match self {
            Self::Messages => messages(body, round, calls),
            Self::Responses => (SSE, responses(round, calls)),
            Self::StreamContent => (SSE, format!("data: {}\n\n", content(calls))),
            Self::Content => (JSON, content(calls).to_string()),
        }
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        other => other.to_string(),
    }
}

fn json_of(input: &CallInput) -> Value {
    match input {
        CallInput::Json(input) => input.clone(),
        CallInput::Text(text) => json!({ "input": text }),
    }
}

fn messages(body: &Value, round: usize, calls: &[ScriptedCall]) -> (&'static str, String) {
    let block = |(at, call): (usize, &ScriptedCall)| {
        json!({"type": "tool_use", "id": format!("toolu_{round}_{at}"), "name": call.tool,
               "input": json_of(&call.input)})
    };
    let blocks: Vec<Value> = match calls {
        [] => vec![json!({"type": "text", "text": DONE})],
        calls => calls.iter().enumerate().map(block).collect(),
    };
    let stop = if calls.is_empty() { "end_turn" } else { "tool_use" };
    let mut message = json!({
        "id": format!("msg_{round}"), "type": "message", "role": "assistant", "model": body["model"],
        "content": blocks, "stop_reason": stop, "stop_sequence": null,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    });
    if body["stream"] != true {
        return (JSON, message.to_string());
    }
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    let mut events = vec![json!({"type": "message_start", "message": message})];
    for (index, mut block) in blocks.into_iter().enumerate() {
        let delta = if block["type"] == "text" {
            json!({"type": "text_delta", "text": std::mem::replace(&mut block["text"], json!(""))})
        } else {
            let input = std::mem::replace(&mut block["input"], json!({})).to_string();
            json!({"type": "input_json_delta", "partial_json": input})
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let delta = json!({"stop_reason": stop, "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}}));
    events.push(json!({"type": "message_stop"}));
    (SSE, stream(&events))
}

fn responses(round: usize, calls: &[ScriptedCall]) -> String {
    let item = |(at, call): (usize, &ScriptedCall)| {
        let id = format!("call_{round}_{at}");
        match &call.input {
            CallInput::Json(input) => {
                // A tool of an MCP server is named `NAMESPACE.TOOL`.
                let (namespace, name) = call.tool.rsplit_once('.').unzip();
                let name = name.unwrap_or(&call.tool);
                let mut item = json!({"type": "function_call", "call_id": id, "name": name,
                                      "arguments": input.to_string()});
                if let Some(namespace) = namespace {
                    item["namespace"] = namespace.into();
                }
                item
            }
            CallInput::Text(input) => {
                json!({"type": "custom_tool_call", "call_id": id, "name": call.tool, "input": input})
            }
        }
    };
    let items: Vec<Value> = match calls {
        [] => vec![json!({"type": "message", "role": "assistant", "id": format!("msg_{round}"),
                          "content": [{"type": "output_text", "text": DONE}]})],
        calls => calls.iter().enumerate().map(item).collect(),
    };
    let id = format!("resp_{round}");
    let mut events = vec![json!({"type": "response.created", "response": {"id": id}})];
    events.extend(items.into_iter().map(|item| json!({"type": "response.output_item.done", "item": item})));
    let usage = json!({"input_tokens": 10, "input_tokens_details": null, "output_tokens": 5,
                       "output_tokens_details": null, "total_tokens": 15});
    events.push(json!({"type": "response.completed", "response": {"id": id, "usage": usage}}));
    stream(&events)
}

fn content(calls: &[ScriptedCall]) -> Value {
    let part =
        |call: &ScriptedCall| json!({"functionCall": {"name": call.tool, "args": json_of(&call.input)}});
    let parts: Vec<Value> = match calls {
        [] => vec![json!({ "text": DONE })],
        calls => calls.iter().map(part).collect(),
    };
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
        "modelVersion": "scripted",
    })
}

/// Returns the events as server-sent events. Each event states its type twice, as in the APIs of the model providers.
fn stream(events: &[Value]) -> String {
    let frame =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    events.iter().map(frame).collect()
}
