//! The change of a file, as it stands on a card in `payload.diff`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What would change. `added` and `removed` count all of it; the hunks may stop before its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diff {
    pub hunks: Vec<Hunk>,
    pub added: usize,
    pub removed: usize,
    /// There is more than the hunks show.
    #[serde(default)]
    pub truncated: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    pub old_start: usize,
    pub old_lines: usize,
    pub new_start: usize,
    pub new_lines: usize,
    pub lines: Vec<DiffLine>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffLine {
    /// `+` is added, `-` is removed, a space stays.
    pub op: String,
    /// Without its line break.
    pub text: String,
    #[serde(default)]
    pub no_newline_at_end: bool,
}

impl Diff {
    /// The diff of a card's payload, if it has one that this version understands.
    pub fn of(payload: &Value) -> Option<Self> {
        Self::deserialize(payload.get("diff")?).ok()
    }
}

impl Hunk {
    /// As every tool writes it: `@@ -1,2 +1,3 @@`.
    pub fn head(&self) -> String {
        format!("@@ -{},{} +{},{} @@", self.old_start, self.old_lines, self.new_start, self.new_lines)
    }
}
