//! Calls that the model sent in the same reply, before the call on the card. The payload of the card lists them in
//! `payload.after`. The call on the card runs after them.

use serde_json::Value;

/// Call that precedes the call on a card in the same model reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlierCall<'a> {
    pub title: &'a str,
    /// Outcome of the earlier call. `None` if the earlier call had not ended when the interrupt was opened.
    became: Option<&'a str>,
}

impl<'a> EarlierCall<'a> {
    /// Returns the earlier calls that the payload of a card lists, in their order.
    pub fn list(payload: &'a Value) -> Vec<Self> {
        let listed = payload.get("after").and_then(Value::as_array).into_iter().flatten();
        let text = |value: &'a Value, key: &str| value.get(key).and_then(Value::as_str);
        listed
            .map(|each| Self { title: text(each, "title").unwrap_or_default(), became: text(each, "became") })
            .collect()
    }

    /// Describes the state of the earlier call as a phrase that follows the title of this call.
    pub fn state(&self) -> &'static str {
        match self.became {
            None => "runs before this",
            Some("done") => "is done",
            Some("failed") => "failed",
            Some("refused") => "was refused and did not run",
            Some("answered") => "was answered by a person and did not run",
            Some("skipped") => "was skipped",
            Some(_) => "did not finish",
        }
    }

    /// Returns true if the earlier call ended without success. The call on the card then cannot use the result of the
    /// earlier call.
    pub fn is_missing(&self) -> bool {
        !matches!(self.became, None | Some("done"))
    }
}
