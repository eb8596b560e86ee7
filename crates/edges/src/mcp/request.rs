//! Requests to people: the body of the request, and the action that its approval is bound to.

use holdshort_core::digest::Digest;
use holdshort_core::gate::foreign::ForeignCall;
use holdshort_protocol::{self as wire, Ask, AskChoice, Kind};
use serde_json::{Map, Value, json};

use super::api::Failure;
use super::settings::McpSettings;
use super::tools::{AskHuman, RequestApproval};
use crate::hooks::HookCall;
use crate::limits::MCP_USABLE_MS;

/// Maximum characters of a title.
const TITLE_CHARS: usize = 120;

/// Request of one tool call.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) ask: Ask,
    pub(super) action: Action,
    /// Idempotency key that the client has chosen.
    pub(super) name: Option<String>,
}

/// Action that an approval permits.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    Call(Box<ForeignCall>),
    Payload(Value),
    /// Questions permit nothing.
    None,
}

impl Action {
    /// Returns the digest of the approved action. `edit`: arguments of the person who approved, or null.
    pub(super) fn digest(&self, edit: &Value) -> Option<Digest> {
        match self {
            Self::Call(call) if edit.is_null() => Some(Digest::of_json(&**call)),
            Self::Call(call) => Some(Digest::of_json(&call.edited(edit.clone()))),
            Self::Payload(payload) if edit.is_null() => Some(Digest::of_json(payload)),
            Self::Payload(payload) => {
                let mut payload = payload.clone();
                payload["arguments"] = edit.clone();
                Some(Digest::of_json(&payload))
            }
            Self::None => None,
        }
    }
}

/// Returns the request of `request_approval`.
pub(super) fn approval(arguments: RequestApproval, settings: &McpSettings) -> Result<Request, Failure> {
    let RequestApproval { title: full, message, tool, arguments, editable, idempotency_key: name } =
        arguments;
    let title = title_line(&full).ok_or_else(|| Failure::Arguments("`title` is blank".to_owned()))?;
    // A long title is shown completely above its reason, so that another action is another request.
    let message = if title == full.trim() { message } else { format!("{full}\n\n{message}") };
    let arguments = Value::Object(arguments);
    let options: &[&str] = match (editable, tool.is_some()) {
        (true, true) => &[],
        (true, false) => &["approve", "edit", "respond", "reject"],
        (false, true) => &["approve", "approve_session", "respond", "reject"],
        (false, false) => &["approve", "respond", "reject"],
    };
    let ask = Ask { title, message, options: choices(options), ..blank(Kind::ToolApproval, settings) };
    if let Some(tool) = tool {
        return Ok(of_call(ask, ForeignCall { tool, arguments, ..workspace(settings) }, name));
    }
    let payload = json!({ "arguments": arguments });
    Ok(Request { ask: Ask { payload: payload.clone(), ..ask }, action: Action::Payload(payload), name })
}

/// Returns the request of `permission`.
pub(super) fn permission(call: &HookCall, settings: &McpSettings) -> Request {
    let text = |name: &str| call.arguments.get(name).and_then(Value::as_str);
    let what = ["command", "path", "url"].into_iter().find_map(text);
    let title = what.map_or_else(|| call.name.clone(), |what| format!("{}: {what}", call.name));
    let mut facts = Map::new();
    facts.insert("client".to_owned(), "Claude Code".into());
    if call.name != call.tool {
        facts.insert("client_tool".to_owned(), call.name.clone().into());
    }
    let mut arguments = call.arguments.clone();
    if let Some(target) = call.path().and_then(|path| (settings.link_target)(path)) {
        // No rule allows a call with this argument, because the rules name paths without links.
        arguments["link_target"] = target.into();
    }
    let options: &[&str] =
        if call.can_edit { &[] } else { &["approve", "approve_session", "respond", "reject"] };
    let ask = Ask {
        title: title_line(&title).unwrap_or_else(|| "Tool call".to_owned()),
        message: call.about.clone().unwrap_or_default(),
        payload: Value::Object(facts),
        options: choices(options),
        ..blank(Kind::ToolApproval, settings)
    };
    of_call(ask, ForeignCall { tool: call.tool.clone(), arguments, ..workspace(settings) }, None)
}

/// Returns the request of `ask_human`.
pub(super) fn question(arguments: AskHuman, settings: &McpSettings) -> Result<Request, Failure> {
    let AskHuman { question, context, choices, schema, idempotency_key: name } = arguments;
    let title = title_line(&question).ok_or_else(|| Failure::Arguments("`question` is blank".to_owned()))?;
    let response_schema = match (schema, choices.is_empty()) {
        (Some(_), false) => {
            return Err(Failure::Arguments("`schema` and `choices` exclude each other".to_owned()));
        }
        (Some(schema), true) => Some(Value::Object(schema)),
        (None, false) => Some(json!({"type": "string", "enum": choices})),
        (None, true) => None,
    };
    // A long question is shown completely above its context.
    let message = if title == question.trim() { context } else { format!("{question}\n\n{context}") };
    let ask = Ask { title, message, response_schema, usable_ms: None, ..blank(Kind::Question, settings) };
    Ok(Request { ask, action: Action::None, name })
}

fn of_call(ask: Ask, call: ForeignCall, name: Option<String>) -> Request {
    let ForeignCall { tool, arguments, workspace, cwd, before, after, trial: _ } = call.clone();
    let wire = wire::ForeignCall { tool, arguments, workspace, cwd, before, after };
    Request { ask: Ask { call: Some(wire), ..ask }, action: Action::Call(Box::new(call)), name }
}

fn workspace(settings: &McpSettings) -> ForeignCall {
    ForeignCall { workspace: settings.workspace.clone(), ..ForeignCall::default() }
}

fn choices(ids: &[&str]) -> Vec<AskChoice> {
    ids.iter().map(|id| AskChoice { id: (*id).to_owned(), label: None }).collect()
}

/// Returns a text as one line of bounded length. `None`: the text is blank.
fn title_line(text: &str) -> Option<String> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(TITLE_CHARS) {
        _ if line.is_empty() => None,
        Some((at, _)) => Some(format!("{}…", &line[..at])),
        None => Some(line),
    }
}

fn blank(kind: Kind, settings: &McpSettings) -> Ask {
    Ask {
        kind,
        title: String::new(),
        message: String::new(),
        payload: Value::Null,
        options: Vec::new(),
        run: None,
        session: None,
        subject: None,
        response_schema: None,
        expires_in_ms: Some(u64::try_from(settings.expires_in.as_millis()).unwrap_or(u64::MAX)),
        call: None,
        trial: None,
        usable_ms: Some(MCP_USABLE_MS),
        on_expiry: None,
        assignment: None,
        reminders: None,
        escalation: Vec::new(),
        working_time: false,
        withhold: Vec::new(),
        callback: None,
    }
}
