//! Results of the tools: the state of a request as structured content and as text.

use holdshort_protocol::{Interrupt, Kind, Outcome, Resolution, UsedApproval};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

/// State of a request for a client.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decision {
    value: Value,
    text: String,
}

impl Decision {
    /// Returns the state of a request without using its approval.
    pub(super) fn new(interrupt: &Interrupt, link: &str) -> Self {
        let id = &interrupt.id;
        let Some(resolution) = &interrupt.resolution else {
            let mut value = base(id, "pending", link);
            set(&mut value, "expires_at", interrupt.expires_at.clone());
            let text = format!(
                "Pending: nobody has decided yet. A person can decide at {link}. Read the decision with \
                 `get_decision` and the request `{id}`. Until it is approved, do not do it, and do not try another way."
            );
            return Self { value, text };
        };
        let was_used = interrupt.approval.as_ref().is_none_or(|approval| approval.used.is_some());
        let (status, text) = match resolution.outcome {
            Outcome::Approved if was_used => {
                ("used", "This approval was used before. Request a new approval.".to_owned())
            }
            Outcome::Approved => {
                let text = "A person approved, but this call did not get the approval. Call `request_approval` again.";
                ("approved", text.to_owned())
            }
            Outcome::Rejected => ("rejected", refusal(resolution)),
            Outcome::Answered if interrupt.kind == Kind::Question => ("answered", answer(resolution)),
            Outcome::Answered => ("answered", format!("Not approved. {}", answer(resolution))),
            Outcome::Expired => {
                ("expired", "Expired: nobody decided in time. This is no approval.".to_owned())
            }
            Outcome::Cancelled => {
                ("cancelled", "Cancelled: the request was withdrawn. This is no approval.".to_owned())
            }
            Outcome::Superseded => (
                "superseded",
                "Superseded: another request replaced this one. This is no approval.".to_owned(),
            ),
        };
        let mut value = base(id, status, link);
        set(&mut value, "text", resolution.text.clone());
        set(&mut value, "decided_by", (!resolution.by.is_empty()).then(|| resolution.by.clone()));
        if resolution.outcome == Outcome::Answered {
            let text = resolution.text.clone().map(Value::from);
            set(
                &mut value,
                "answer",
                if resolution.edit.is_null() { text } else { Some(resolution.edit.clone()) },
            );
        }
        Self { value, text: format!("{text}\n{link}") }
    }

    /// Returns the state of a request whose approval was used for this result.
    pub(super) fn released(interrupt: &Interrupt, used: &UsedApproval, link: &str) -> Self {
        let mut decision = Self::new(interrupt, link);
        let is_edited = interrupt.resolution.as_ref().is_some_and(|resolution| !resolution.edit.is_null());
        let arguments = used.approved.get("arguments").unwrap_or(&used.approved);
        let value = &mut decision.value;
        value["status"] = "approved".into();
        value["may_proceed"] = true.into();
        value["arguments"] = arguments.clone();
        value["edited"] = is_edited.into();
        let by = interrupt.resolution.as_ref().map_or_else(String::new, people);
        let edited = if is_edited { " with changed arguments" } else { "" };
        decision.text = format!("Approved by {by}{edited}. Do exactly this, once: {arguments}\n{link}");
        if let Some(text) = interrupt.resolution.as_ref().and_then(|resolution| resolution.text.as_ref()) {
            decision.text = format!("{}\nNote: {text}", decision.text);
        }
        decision
    }

    /// Returns the state of a request that the person at the client has declined.
    pub(super) fn declined(interrupt: &Interrupt, link: &str) -> Self {
        let mut value = base(&interrupt.id, "cancelled", link);
        let text = "Declined by the person at the client. This is no approval.";
        value["text"] = text.into();
        Self { value, text: format!("{text}\n{link}") }
    }

    pub(super) fn into_result(self) -> CallToolResult {
        let mut result = CallToolResult::structured(self.value);
        result.content = vec![ContentBlock::text(self.text)];
        result
    }
}

/// Returns the reason of a request that was not approved, as a sentence for the model.
pub(super) fn refusal(resolution: &Resolution) -> String {
    let by = people(resolution);
    match (&resolution.text, resolution.outcome) {
        (Some(text), Outcome::Rejected) => format!("Rejected by {by}: {text}"),
        (None, Outcome::Rejected) => format!("Rejected by {by}."),
        (Some(text), Outcome::Answered) => format!("Not run. {by} responded: {text}"),
        (None, Outcome::Answered) => format!("Not run, by {by}."),
        (_, Outcome::Expired) => "Nobody decided in time.".to_owned(),
        (_, Outcome::Approved | Outcome::Cancelled | Outcome::Superseded) => {
            "The request was withdrawn.".to_owned()
        }
    }
}

fn answer(resolution: &Resolution) -> String {
    let by = people(resolution);
    match (&resolution.text, &resolution.edit) {
        (Some(text), Value::Null) => format!("Answered by {by}: {text}"),
        (None, Value::Null) => format!("Skipped by {by}, without an answer."),
        (_, edit) => format!("Answered by {by}: {edit}"),
    }
}

fn people(resolution: &Resolution) -> String {
    if resolution.by.is_empty() { format!("a {}", resolution.cause) } else { resolution.by.join(", ") }
}

fn base(id: &str, status: &str, link: &str) -> Value {
    json!({"request": id, "status": status, "may_proceed": false, "link": link})
}

fn set<T: Into<Value>>(value: &mut Value, name: &str, member: Option<T>) {
    if let Some(member) = member {
        value[name] = member.into();
    }
}
