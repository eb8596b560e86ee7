//! Incoming messages of a client (contract B2), parsed from bytes to typed values. A message with an invalid field is
//! rejected, and the error names the field's path. Keys of the source system that Holdshort does not use are ignored.

use holdshort_core::json;
use holdshort_core::limits::TEXT_BYTES;
use holdshort_protocol::Code;
use holdshort_web::body::read_strict;
use holdshort_web::problem::{Answer, Refused};
use serde::Deserialize;
use serde_json::Value;

use super::{ids, raw};
use crate::limits::CODELAB_SWITCH_REASON_BYTES;

const KNOWN: &str = "`user_message`, `plan_decision`, `hitl_decision`, `tool_result`, `switch_agent`";

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Message {
    User {
        content: String,
        /// Id of the question that a client's message answers, if the client sent an id.
        request: Option<String>,
    },
    Plan(PlanDecision),
    Tool(ToolDecision),
    Result(ToolResult),
    Switch(SwitchAgent),
}

/// Decision of a client about a plan or a call. Clients may send any form of the verb, such as `approve` or `approved`
/// (contract E7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Approve,
    Edit,
    /// Changes the arguments of a call, or a plan. A message that modifies a plan but has no `modified_subtasks` asks
    /// the agent for a new plan (contract E10).
    Modify,
    Reject,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlanDecision {
    /// Id of the plan on which a client decides (`plan_…`), or of the interrupt that asks about the plan.
    pub(super) id: String,
    pub(super) verdict: Verdict,
    pub(super) feedback: Option<String>,
    pub(super) subtasks: Option<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ToolDecision {
    /// Id of the call on which a client decides, or of the interrupt that asks about the call.
    pub(super) id: String,
    /// Id of the call on which a client decides, if the client sent it in addition to the interrupt's id. The interrupt
    /// must be about this call.
    pub(super) call: Option<String>,
    pub(super) verdict: Verdict,
    pub(super) feedback: Option<String>,
    pub(super) arguments: Option<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ToolResult {
    pub(super) call_id: String,
    /// Result of the tool call that the client ran, or the tool's error text.
    pub(super) outcome: Result<String, String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct SwitchAgent {
    #[serde(rename = "agent_type")]
    pub(super) agent: String,
    pub(super) content: String,
    pub(super) reason: Option<String>,
}

#[derive(Deserialize)]
struct UserFields {
    content: String,
    role: Option<String>,
    request_id: Option<String>,
}

#[derive(Deserialize)]
struct PlanFields {
    plan_id: Option<String>,
    approval_request_id: Option<String>,
    request_id: Option<String>,
    decision: String,
    feedback: Option<String>,
    modified_subtasks: Option<Value>,
}

#[derive(Deserialize)]
struct ToolFields {
    call_id: Option<String>,
    request_id: Option<String>,
    decision: String,
    feedback: Option<String>,
    modified_arguments: Option<Value>,
}

#[derive(Deserialize)]
struct ResultFields {
    call_id: String,
    #[serde(default)]
    result: Value,
    #[serde(default)]
    error: Value,
}

pub(super) fn read(text: &[u8]) -> Answer<Message> {
    understand(&parse(text)?)
}

pub(super) fn parse(text: &[u8]) -> Answer<Value> {
    let changed = std::str::from_utf8(text).ok().and_then(raw::results_as_texts);
    let value = json::parse(changed.as_ref().map_or(text, |text| text.as_bytes()));
    value.map_err(|error| Refused::new(Code::MalformedJson, error.to_string()))
}

/// Frame types in which a client receives a plan that waits for a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlanFrames {
    /// `plan_approval_required` and `plan_notification`, because the version of the client is unknown.
    Both,
    /// Only `plan_notification`, for the IDE with the plan panel, which would show the frame `plan_approval_required`
    /// as a second message about the same plan (contract B16).
    Notification,
}

impl PlanFrames {
    /// Returns `Notification` if a message comes from the IDE with the plan panel. Each message of this IDE has all
    /// members of the IDE's message type, including unused ones about plans, such as `"step_id": null`.
    pub(super) fn for_sender(message: &Value) -> Self {
        let has_panel = ["step_id", "current_step"].iter().all(|member| message.get(member).is_some());
        if has_panel { Self::Notification } else { Self::Both }
    }
}

pub(super) fn understand(value: &Value) -> Answer<Message> {
    let Some(fields) = value.as_object() else {
        return Err(Refused::invalid_at("", "the message is not a JSON object"));
    };
    let Some(kind) = fields.get("type") else {
        return Err(Refused::invalid_at("/type", format!("missing field `type`, one of {KNOWN}")));
    };
    match kind.as_str() {
        Some("user_message") => user(value),
        Some("plan_decision") => plan(value),
        Some("hitl_decision") => tool(value),
        Some("tool_result") => result(value),
        Some("switch_agent") => switch(value),
        _ => Err(Refused::invalid_at("/type", format!("unknown type {kind}, expected one of {KNOWN}"))),
    }
}

fn user(value: &Value) -> Answer<Message> {
    let UserFields { content, role, request_id } = read_strict(value)?;
    if role.is_some_and(|role| role != "user") {
        return Err(Refused::invalid_at("/role", "is not `user`: a client cannot speak for an agent"));
    }
    says(&content)?;
    Ok(Message::User { content, request: request_id })
}

fn plan(value: &Value) -> Answer<Message> {
    let fields: PlanFields = read_strict(value)?;
    let id = plan_id(&fields)?;
    let verdict = verdict(&fields.decision)?;
    match (verdict, &fields.modified_subtasks) {
        (Verdict::Edit, None) => {
            return Err(Refused::invalid_at("/modified_subtasks", "an edit needs the edited subtasks"));
        }
        (Verdict::Modify, None) if fields.feedback.as_deref().is_none_or(|text| text.trim().is_empty()) => {
            let rule = "`modify` needs `modified_subtasks`, or `feedback` that describes the plan you want";
            return Err(Refused::invalid_at("/feedback", rule));
        }
        (Verdict::Approve | Verdict::Reject, Some(_)) => {
            return Err(Refused::invalid_at(
                "/modified_subtasks",
                "are allowed only with the decision `edit`",
            ));
        }
        _ => {}
    }
    Ok(Message::Plan(PlanDecision {
        id,
        verdict,
        feedback: fields.feedback,
        subtasks: fields.modified_subtasks,
    }))
}

/// Returns the id of the plan on which a client decides. Rejects a message whose fields name different plans.
fn plan_id(fields: &PlanFields) -> Answer<String> {
    let (plan, request) = (fields.plan_id.as_ref(), fields.request_id.as_ref());
    let (pointer, asks) = match (fields.approval_request_id.as_ref(), request) {
        (Some(first), Some(second)) if first != second => {
            return Err(Refused::invalid_at("/request_id", "differs from `approval_request_id`"));
        }
        (Some(asks), _) => ("/approval_request_id", Some(asks)),
        (None, asks) => ("/request_id", asks),
    };
    let is_of = |asks: &String, plan: &String| {
        asks == plan || asks.parse().is_ok_and(|asks| ids::plan(&asks) == *plan)
    };
    match (plan, asks) {
        (Some(plan), Some(asks)) if !is_of(asks, plan) => {
            Err(Refused::invalid_at(pointer, "names a different plan than `plan_id`"))
        }
        (_, Some(id)) | (Some(id), None) => Ok(id.clone()),
        (None, None) => Err(Refused::invalid_at("/plan_id", "missing field `plan_id`")),
    }
}

fn tool(value: &Value) -> Answer<Message> {
    let fields: ToolFields = read_strict(value)?;
    let verdict = verdict(&fields.decision)?;
    match (verdict, &fields.modified_arguments) {
        (Verdict::Edit | Verdict::Modify, None) => {
            return Err(Refused::invalid_at("/modified_arguments", "an edit needs the edited arguments"));
        }
        (Verdict::Approve | Verdict::Reject, Some(_)) => {
            return Err(Refused::invalid_at(
                "/modified_arguments",
                "are allowed only with the decision `edit`",
            ));
        }
        _ => {}
    }
    let (id, call) = match (fields.request_id, fields.call_id) {
        (Some(asks), call) => (asks, call),
        (None, Some(call)) => (call, None),
        (None, None) => return Err(Refused::invalid_at("/call_id", "missing field `call_id`")),
    };
    Ok(Message::Tool(ToolDecision {
        id,
        call,
        verdict,
        feedback: fields.feedback,
        arguments: fields.modified_arguments,
    }))
}

fn result(value: &Value) -> Answer<Message> {
    let ResultFields { call_id, result, error } = read_strict(value)?;
    let outcome = match (value.get("result"), error) {
        (_, Value::Null) if value.get("result").is_none() => {
            return Err(Refused::invalid_at("/result", "missing field `result`, or `error`"));
        }
        (_, Value::Null) => Ok(text(result)),
        (None | Some(Value::Null), error) => Err(text(error)),
        (Some(_), _) => {
            return Err(Refused::invalid_at("/error", "a call has a result or an error, not both"));
        }
    };
    let said = match &outcome {
        Ok(text) | Err(text) => text,
    };
    if said.len() > TEXT_BYTES {
        let rule = format!("is longer than {TEXT_BYTES} bytes: shorten it, and mark it as shortened");
        return Err(Refused::invalid_at(if outcome.is_ok() { "/result" } else { "/error" }, rule));
    }
    Ok(Message::Result(ToolResult { call_id, outcome }))
}

fn switch(value: &Value) -> Answer<Message> {
    let wish: SwitchAgent = read_strict(value)?;
    if wish.reason.as_ref().is_some_and(|reason| reason.len() > CODELAB_SWITCH_REASON_BYTES) {
        return Err(Refused::invalid_at(
            "/reason",
            format!("is longer than {CODELAB_SWITCH_REASON_BYTES} bytes"),
        ));
    }
    says(&wish.content)?;
    Ok(Message::Switch(wish))
}

fn verdict(decision: &str) -> Answer<Verdict> {
    match decision {
        "approve" | "approved" => Ok(Verdict::Approve),
        "edit" | "edited" => Ok(Verdict::Edit),
        "modify" | "modified" => Ok(Verdict::Modify),
        "reject" | "rejected" => Ok(Verdict::Reject),
        other => {
            let rule = format!("unknown decision `{other}`, expected one of `approve`, `edit`, `reject`");
            Err(Refused::invalid_at("/decision", rule))
        }
    }
}

/// Rejects a client's message text that is empty or too long.
fn says(content: &str) -> Answer<()> {
    let wrong = match content.len() {
        _ if content.trim().is_empty() => "is empty".to_owned(),
        ..=TEXT_BYTES => return Ok(()),
        _ => format!("is longer than {TEXT_BYTES} bytes"),
    };
    Err(Refused::invalid_at("/content", wrong))
}

/// Returns a value as text for the model. A string stays unchanged, and any other value is encoded as JSON.
fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use holdshort_core::id::InterruptId;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plan_is_named_in_several_ways_that_agree() {
        let request: InterruptId = "int_01k6f0000000000000000000cc".parse().unwrap();
        let (request, plan) = (request.to_string(), ids::plan(&request));
        let table = [
            (json!({"plan_id": plan}), &plan),
            (json!({"plan_id": request}), &request),
            (json!({"request_id": plan}), &plan),
            (json!({"plan_id": request, "request_id": request}), &request),
            (json!({"plan_id": plan, "approval_request_id": request}), &request),
            (json!({"plan_id": plan, "approval_request_id": request, "request_id": request}), &request),
        ];
        for (mut value, id) in table {
            value["type"] = json!("plan_decision");
            value["decision"] = json!("approve");
            let Ok(Message::Plan(decision)) = understand(&value) else { panic!("{value} is refused") };
            assert_eq!(decision.id, *id, "{value}");
        }
    }

    #[test]
    fn results_are_what_a_model_reads() {
        let table = [
            (json!({"result": "done"}), Ok("done")),
            (json!({"result": {"lines": 2}}), Ok("{\"lines\":2}")),
            (json!({"result": null}), Ok("")),
            (json!({"result": null, "error": "no such file"}), Err("no such file")),
            (json!({"error": {"code": 2}}), Err("{\"code\":2}")),
        ];
        for (mut value, expected) in table {
            value["type"] = json!("tool_result");
            value["call_id"] = json!("c");
            let Ok(Message::Result(ToolResult { outcome, .. })) = understand(&value) else {
                panic!("{value} is refused");
            };
            assert_eq!(outcome.as_ref().map(String::as_str).map_err(String::as_str), expected, "{value}");
        }
    }

    #[test]
    fn the_ide_with_the_plan_panel_is_known_by_its_members() {
        let model = json!({ "type": "user_message", "content": "Hi.", "role": "user", "plan_id": null,
            "steps": null, "current_step": null, "step_id": null, "status": null, "metadata": null });
        assert_eq!(PlanFrames::for_sender(&model), PlanFrames::Notification);
        assert!(understand(&model).is_ok());
        for other in [
            json!({ "type": "user_message", "content": "Hi." }),
            json!({ "type": "user_message", "content": "Hi.", "step_id": null }),
            json!([model]),
        ] {
            assert_eq!(PlanFrames::for_sender(&other), PlanFrames::Both, "{other}");
        }
    }
}
