//! Change that a file tool makes, computed in the way of the CLIs. Without certainty there is no result, and the card
//! shows the arguments instead of a difference.

use serde_json::{Map, Value};

use super::patch::FilePatch;

/// Change of one file.
#[derive(Clone, Debug, PartialEq)]
pub enum FileChange {
    /// New content of the file.
    Write(String),
    /// Replacements, one after the other.
    Edit(Vec<Replacement>),
    Patch(FilePatch),
    /// The change cannot be computed.
    Unknown,
}

/// Replacement of a text in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    old: String,
    new: String,
    count: Count,
}

/// Number of places at which a text must occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    Exactly(u64),
    All,
}

impl Replacement {
    pub(super) fn from_arguments(arguments: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| arguments.get(name)?.as_str().map(str::to_owned);
        let is_set = |name: &str| arguments.get(name).and_then(Value::as_bool).unwrap_or_default();
        let count = match arguments.get("expected_replacements") {
            None | Some(Value::Null) if is_set("replace_all") || is_set("allow_multiple") => Count::All,
            None | Some(Value::Null) => Count::Exactly(1),
            Some(number) => Count::Exactly(number.as_u64()?),
        };
        Some(Self { old: text("old_string")?, new: text("new_string")?, count })
    }

    fn apply(&self, text: &str) -> Option<String> {
        if self.old.is_empty() {
            return None;
        }
        let found = text.matches(&self.old).count() as u64;
        let fits = match self.count {
            Count::Exactly(count) => found == count,
            Count::All => found > 0,
        };
        fits.then(|| text.replace(&self.old, &self.new))
    }
}

impl FileChange {
    /// Returns the content of the file after the change. `before`: the content of the existing file.
    pub fn apply(&self, before: Option<&str>) -> Option<String> {
        match self {
            Self::Write(content) => Some(content.clone()),
            // The CLIs translate line ends in different ways.
            Self::Edit(_) | Self::Patch(_) if before.is_some_and(|text| text.contains('\r')) => None,
            Self::Edit(edits) => match (before, &edits[..]) {
                (None, [only]) if only.old.is_empty() => Some(only.new.clone()),
                (None, _) => None,
                (Some(before), edits) => {
                    edits.iter().try_fold(before.to_owned(), |text, edit| edit.apply(&text))
                }
            },
            Self::Patch(patch) => patch.apply(before),
            Self::Unknown => None,
        }
    }
}
