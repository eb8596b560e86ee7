//! Converts edits to the structure of the payload, and builds the placeholders (*marks*) that replace hidden values.

use serde_json::{Value, json};

use crate::actor::Role;
use crate::interrupt::{Effect, Interrupt};

impl Effect {
    /// Returns true if an option with this effect depends on data that is computed from the payload, such as the calls
    /// that a grant would allow.
    pub fn is_of_what_is_made(self) -> bool {
        matches!(self, Self::Grant | Self::ProceedWithSome)
    }
}

impl Interrupt {
    /// Returns the JSON pointers (with `*` as a wildcard) to the payload's values that are hidden from a role.
    pub(crate) fn withheld_from(&self, sees: Role) -> Vec<&str> {
        let rules = self.opened.withhold.iter().filter(|rule| rule.from.contains(&sees));
        rules.flat_map(|rule| &rule.fields).map(String::as_str).collect()
    }

    /// Returns the member of the payload that an edit replaces. `None` if an edit replaces the complete payload.
    pub(super) fn edited_member(&self) -> Option<&'static str> {
        let member = self.opened.kind.row().edits?;
        let payload = self.content.get("payload")?;
        payload.get(member).filter(|member| !member.is_null()).map(|_| member)
    }

    /// Puts an edit into the structure of the payload. A JSON pointer then leads to the same value in the edit and in
    /// the payload.
    pub(crate) fn as_payload(&self, edit: Value) -> Value {
        match self.edited_member() {
            Some(member) => json!({ member: edit }),
            None => edit,
        }
    }

    /// Extracts the edit from a value that has the structure of the payload.
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

/// Returns the placeholder (*mark*) that replaces a hidden value. The mark contains the JSON pointer `place` to the
/// value. For a value in an edit, the mark also contains the sequence number of the decision that contained the edit
/// first.
pub(super) fn mark(place: &str, edit_of: Option<u64>) -> Value {
    match edit_of {
        Some(seq) => json!({ "withheld": place, "edit_of": seq }),
        None => json!({ "withheld": place }),
    }
}
