//! Converts a request to the types of the provider library. The conversion adds no content. Only the names of agents
//! are lost, because a provider knows only one assistant.

use genai::chat::{ChatMessage, ChatRequest, ContentPart, MessageContent, Tool, ToolCall, ToolResponse};
use holdshort_core::message::{Call, Declaration, Message, Request};
use serde_json::{Value, json};

/// Converts a model request to the type of the provider library. Several tool results in sequence become one message,
/// as Anthropic and Gemini require. The library splits it again for an API with a message per result.
pub(crate) fn request(request: &Request) -> ChatRequest {
    let mut messages = Vec::with_capacity(request.messages.len());
    let mut results = Vec::new();
    for message in &request.messages {
        if let Message::Tool { call, name, text } = message {
            results.push(ToolResponse::new(call, text).with_fn_name(name));
            continue;
        }
        flush(&mut results, &mut messages);
        match message {
            Message::System { text } => messages.push(ChatMessage::system(text)),
            Message::User { text } => messages.push(ChatMessage::user(text)),
            Message::Assistant { agent: _, text, calls } => messages.extend(assistant(text, calls)),
            Message::Tool { .. } => {}
        }
    }
    flush(&mut results, &mut messages);
    let chat = ChatRequest::new(messages);
    if request.tools.is_empty() { chat } else { chat.with_tools(request.tools.iter().map(tool)) }
}

fn flush(results: &mut Vec<ToolResponse>, messages: &mut Vec<ChatMessage>) {
    if !results.is_empty() {
        messages.push(ChatMessage::tool(MessageContent::from_tool_responses(std::mem::take(results))));
    }
}

fn assistant(text: &str, calls: &[Call]) -> Option<ChatMessage> {
    let mut parts = Vec::with_capacity(calls.len() + 1);
    if !text.is_empty() {
        parts.push(ContentPart::Text(text.to_owned()));
    }
    parts.extend(calls.iter().map(|call| {
        ContentPart::ToolCall(ToolCall {
            call_id: call.id.clone(),
            fn_name: call.tool.clone(),
            fn_arguments: object(&call.arguments),
            thought_signatures: None,
        })
    }));
    (!parts.is_empty()).then(|| ChatMessage::assistant(MessageContent::from_parts(parts)))
}

/// Puts arguments of a tool call that are not an object into an object, because providers reject conversations with
/// other arguments.
fn object(arguments: &Value) -> Value {
    if arguments.is_object() { arguments.clone() } else { json!({ "malformed": arguments }) }
}

fn tool(declaration: &Declaration) -> Tool {
    Tool::new(declaration.name.as_str())
        .with_description(&declaration.description)
        .with_schema(declaration.parameters.clone())
}
