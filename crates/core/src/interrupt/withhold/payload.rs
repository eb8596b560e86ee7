//! Payloads and edits in a common form, and the marks in them.

use serde_json::{Value, json};

use crate::actor::Role;
use crate::interrupt::{Effect, Interrupt};

impl Effect {
    /// Returns true if the option depends on data derived from the payload, such as the extent of a grant.
    pub fn is_of_what_is_made(self) -> bool {
        matches!(self, Self::Grant | Self::ProceedWithSome)
    }
}

impl Interrupt {
    /// Returns the places that are withheld from a role.
    pub(crate) fn withheld_from(&self, sees: Role) -> Vec<&str> {
        let rules = self.opened.withhold.iter().filter(|rule| rule.from.contains(&sees));
        rules.flat_map(|rule| &rule.fields).map(String::as_str).collect()
    }

    /// Returns the member of the payload that an edit replaces, or `None` if it replaces the whole payload.
    pub(super) fn edited_member(&self) -> Option<&'static str> {
        let member = self.opened.kind.row().edits?;
        let payload = self.content.get("payload")?;
        payload.get(member).filter(|member| !member.is_null()).map(|_| member)
    }

    /// Wraps an edit in the form of the payload, so that a place has the same meaning in both.
    pub(crate) fn as_payload(&self, edit: Value) -> Value {
        match self.edited_member() {
            Some(member) => json!({ member: edit }),
            None => edit,
        }
    }

    /// Extracts the edit from the form of the payload.
    pub(super) fn as_edit(&self, mut payload: Value) -> Value {
        match self.edited_member() {
            Some(member) => payload.get_mut(member).map(Value::take).unwrap_or_default(),
            None => payload,
        }
    }

    pub(super) fn payload(&self) -> Value {
        self.content.get("payload").cloned().unwrap_or_default()
    }
}

/// Returns the mark of a withheld value: its place, and for an edit the sequence of its decision.
pub(super) fn mark(place: &str, edit_of: Option<u64>) -> Value {
    match edit_of {
        Some(seq) => json!({ "withheld": place, "edit_of": seq }),
        None => json!({ "withheld": place }),
    }
}
