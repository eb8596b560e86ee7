//! Elicitations: the client shows the link to the inbox. The answer never approves anything, because the person at the
//! client has not authenticated.

use std::collections::BTreeMap;

use rmcp::model::{
    ClientCapabilities, ElicitRequest, ElicitRequestParams, ElicitationAction, ElicitationSchema,
    InputRequest, InputRequests,
};
use serde_json::Value;

/// Key of the elicitation in an `InputRequiredResult`.
pub(super) const INBOX: &str = "inbox";

/// Way in which a client can show the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Url,
    Form,
}

/// Effect of the answer to an elicitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// The call waits for the decision of the inbox.
    Wait,
    /// The call returns `pending`, and the request stays open.
    Leave,
    /// The request is withdrawn, and the call is refused.
    Withdraw,
}

/// Returns the mode that a client has declared. A client that declares no mode supports forms.
pub(super) fn mode(capabilities: Option<&ClientCapabilities>) -> Option<Mode> {
    let elicitation = capabilities?.elicitation.as_ref()?;
    Some(if elicitation.url.is_some() { Mode::Url } else { Mode::Form })
}

/// Reads the answer of a client. A refusal counts even with malformed content.
pub(super) fn reply(action: &ElicitationAction, content: Option<&Value>) -> Reply {
    match (action, content.and_then(|content| content.get("confirm"))) {
        (ElicitationAction::Decline, _) | (ElicitationAction::Accept, Some(Value::Bool(false))) => {
            Reply::Withdraw
        }
        (ElicitationAction::Accept, None | Some(Value::Bool(true))) => Reply::Wait,
        // Invalid content, such as the text "false", leaves the request open.
        _ => Reply::Leave,
    }
}

/// Reads the response of a client that repeats its call with input.
pub(super) fn response(response: &Value) -> Reply {
    let action = response.get("action").cloned().unwrap_or_default();
    match serde_json::from_value::<ElicitationAction>(action) {
        Ok(action) => reply(&action, response.get("content")),
        Err(_) => Reply::Leave,
    }
}

/// Returns the elicitation that shows the link to a request.
pub(super) fn params(mode: Mode, title: &str, link: &str, id: &str) -> ElicitRequestParams {
    match mode {
        Mode::Url => ElicitRequestParams::UrlElicitationParams {
            meta: None,
            message: format!("Decide in the Holdshort inbox: {title}"),
            url: link.to_owned(),
            elicitation_id: id.to_owned(),
        },
        Mode::Form => ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: format!(
                "Decide in the Holdshort inbox: {title}\n{link}\nThen accept here. Decline withdraws it."
            ),
            requested_schema: ElicitationSchema::new(BTreeMap::new()),
        },
    }
}

/// Returns the elicitation as an input request of the revision 2026-07-28.
pub(super) fn input_requests(mode: Mode, title: &str, link: &str) -> InputRequests {
    let request = ElicitRequest::new(params(mode, title, link, ""));
    InputRequests::from([(INBOX.to_owned(), InputRequest::Elicitation(request))])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_answer_of_a_client_approves() {
        for (answer, expected) in [
            (json!({"action": "accept"}), Reply::Wait),
            (json!({"action": "accept", "content": {}}), Reply::Wait),
            (json!({"action": "accept", "content": {"confirm": true}}), Reply::Wait),
            (json!({"action": "accept", "content": {"confirm": false}}), Reply::Withdraw),
            (json!({"action": "accept", "content": {"confirm": "false"}}), Reply::Leave),
            (json!({"action": "accept", "content": {"confirm": null}}), Reply::Leave),
            (json!({"action": "decline"}), Reply::Withdraw),
            (json!({"action": "decline", "content": {"confirm": true}}), Reply::Withdraw),
            (json!({"action": "decline", "content": "approved"}), Reply::Withdraw),
            (json!({"action": "cancel"}), Reply::Leave),
            (json!({"action": "cancel", "content": {"confirm": true}}), Reply::Leave),
            (json!({"action": "approve"}), Reply::Leave),
            (json!({}), Reply::Leave),
            (json!(null), Reply::Leave),
        ] {
            assert_eq!(response(&answer), expected, "{answer}");
        }
    }
}
