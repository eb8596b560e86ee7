//! Reads the frames of a provider's stream, because the provider library omits or changes some of their data.
//!
//! This module records whether the reply was completed, and which model replied. For the chat-completions API, it also
//! records each tool call exactly as the provider sent it, because the library does not: it fills gaps in the indexes
//! of calls with copies, allocates memory for any index, drops calls without an index, and accepts arguments that are
//! not valid JSON. This module itself does no I/O.

use std::sync::{Mutex, MutexGuard, PoisonError};

use genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use holdshort_core::message::{RequestedCall, Usage};
use serde_json::Value;

use crate::arguments;

/// Maximum size, in bytes, of a reply that is received from a model. If the reply is larger, the request fails.
pub(crate) const MAX_REPLY: usize = 16 * 1024 * 1024;
/// Maximum number of tool calls in a reply that is received from a model. If the reply has more tool calls, the request
/// fails.
pub(crate) const MAX_CALLS: usize = 128;

/// Data from the stream frames of the reply to one model request.
#[derive(Default)]
pub(crate) struct Frames(Mutex<FrameSummary>);

#[derive(Default)]
pub(crate) struct FrameSummary {
    /// Number of frames with data in the stream of the reply.
    pub(crate) count: u64,
    bytes: usize,
    pub(crate) chat_completions: bool,
    /// True if the provider marked the end of the reply. `stop` then has the provider's stop reason, if there is one.
    pub(crate) ended: bool,
    pub(crate) stop: Option<String>,
    pub(crate) model: Option<String>,
    /// Token usage of the model request. `None` for other APIs than the chat-completions API.
    pub(crate) usage: Option<Usage>,
    calls: Vec<PartialCall>,
}

#[derive(Default)]
struct PartialCall {
    index: Option<u64>,
    id: String,
    tool: String,
    arguments: String,
}

impl Frames {
    pub(crate) fn seen(&self) -> MutexGuard<'_, FrameSummary> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatFrameSink for Frames {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        self.seen().take(frame.data);
    }
}

impl FrameSummary {
    /// Describes the limit that the model's reply exceeds, or returns `None`.
    pub(crate) fn excess(&self) -> Option<String> {
        if self.bytes > MAX_REPLY {
            return Some(format!("the reply is larger than {MAX_REPLY} bytes"));
        }
        (self.calls.len() > MAX_CALLS).then(|| format!("the reply contains more than {MAX_CALLS} tool calls"))
    }

    /// Returns the tool calls of the model's reply in the order in which they began. Empty for other APIs than the
    /// chat-completions API.
    pub(crate) fn take_calls(&mut self) -> Vec<RequestedCall> {
        std::mem::take(&mut self.calls)
            .into_iter()
            .map(|call| RequestedCall { tool: call.tool, arguments: arguments::of_text(call.arguments) })
            .collect()
    }

    fn take(&mut self, data: &str) {
        if data.is_empty() {
            return;
        }
        self.count += 1;
        self.bytes = self.bytes.saturating_add(data.len());
        if data == "[DONE]" {
            self.ended = true;
            return;
        }
        if self.excess().is_some() {
            return;
        }
        let Ok(frame) = serde_json::from_str::<Value>(data) else { return };
        self.take_model(&frame);
        self.take_end(&frame);
        if let Some(choices) = frame.get("choices").and_then(Value::as_array) {
            self.chat_completions = true;
            if let Some(deltas) = choices.first().and_then(|choice| choice.pointer("/delta/tool_calls")) {
                deltas.as_array().into_iter().flatten().for_each(|delta| self.take_call(delta));
            }
            if let Some(usage) = frame.get("usage").filter(|usage| usage.is_object()) {
                let tokens = |key| usage.get(key).and_then(Value::as_u64).unwrap_or(0);
                self.usage = Some(Usage {
                    input_tokens: tokens("prompt_tokens"),
                    output_tokens: tokens("completion_tokens"),
                });
            }
        }
    }

    /// Records the name of the model that replied. The JSON pointers in this function are those of these APIs, in this
    /// order: chat completions and Ollama, Anthropic, Gemini, Responses.
    fn take_model(&mut self, frame: &Value) {
        let name = ["/model", "/message/model", "/modelVersion", "/response/model"]
            .into_iter()
            .find_map(|place| frame.pointer(place)?.as_str())
            .filter(|name| !name.is_empty());
        if let Some(name) = name
            && self.model.is_none()
        {
            self.model = Some(name.chars().take(200).collect());
        }
    }

    fn take_end(&mut self, frame: &Value) {
        let reason = [
            "/choices/0/finish_reason",
            "/candidates/0/finishReason",
            "/delta/stop_reason",
            "/done_reason",
            "/response/incomplete_details/reason",
            "/response/status",
        ]
        .into_iter()
        .find_map(|place| frame.pointer(place)?.as_str());
        if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
            self.stop = Some(reason.chars().take(100).collect());
        }
        let kind = frame.get("type").and_then(Value::as_str).unwrap_or_default();
        self.ended |= matches!(kind, "message_stop" | "response.completed" | "response.incomplete")
            || frame.get("done") == Some(&Value::Bool(true))
            || ["/choices/0/finish_reason", "/candidates/0/finishReason"]
                .into_iter()
                .any(|place| frame.pointer(place).and_then(Value::as_str).is_some_and(|at| !at.is_empty()));
    }

    /// Appends a streamed piece of a tool call to the last call with the same index. A piece with a new name and a new
    /// id begins a new call, because some servers use the index 0 for all calls.
    fn take_call(&mut self, delta: &Value) {
        let text = |place| delta.pointer(place).and_then(Value::as_str).unwrap_or_default();
        let (id, tool) = (text("/id"), text("/function/name"));
        let index = delta.get("index").and_then(Value::as_u64);
        let at = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index),
            None => self.calls.len().checked_sub(1),
        };
        let at = at.filter(|&at| {
            let call = &self.calls[at];
            let other = if index.is_some() {
                !id.is_empty() && id != call.id
            } else {
                id != call.id || id.is_empty()
            };
            !(other && !tool.is_empty() && !call.tool.is_empty())
        });
        let at = at.unwrap_or_else(|| {
            self.calls.push(PartialCall { index, ..PartialCall::default() });
            self.calls.len() - 1
        });
        let call = &mut self.calls[at];
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.tool.is_empty() {
            tool.clone_into(&mut call.tool);
        }
        match delta.pointer("/function/arguments") {
            Some(Value::String(piece)) => call.arguments.push_str(piece),
            None | Some(Value::Null) => {}
            Some(whole) => call.arguments.push_str(&whole.to_string()),
        }
    }
}
