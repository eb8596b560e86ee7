//! Changed lines of a file, as `payload.diff` of a card contains them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::effect::Script;
use crate::trial::TrialCard;

/// Diff of one file. `added` and `removed` count all added and removed lines of the change, including lines that no
/// hunk contains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diff {
    pub hunks: Vec<Hunk>,
    pub added: usize,
    pub removed: usize,
    /// True if the hunks of the diff contain only a part of the change.
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
    /// `+` for an added line, `-` for a removed line, a space for a kept line of the diff.
    pub op: String,
    /// The line of the diff without its line break.
    pub text: String,
    #[serde(default)]
    pub no_newline_at_end: bool,
}

/// Maximum number of lines of a new file whose complete diff is rebuilt. A longer diff would make the page slow.
const WHOLE_LINES: usize = 20_000;

impl Diff {
    /// Returns the diff in the payload of a card. The truncated diff of a new file is rebuilt from the arguments of the
    /// call. Returns `None` if the payload has no diff, or a diff in an unknown format.
    pub fn from_payload(payload: &Value) -> Option<Self> {
        let diff = Self::deserialize(payload.get("diff")?).ok()?;
        let is_new = payload.get("new_file").and_then(Value::as_bool).unwrap_or(false);
        let content = payload.pointer("/arguments/content").and_then(Value::as_str);
        let whole = content.filter(|_| diff.truncated && is_new).and_then(Self::of_new_file);
        Some(whole.unwrap_or(diff))
    }

    fn of_new_file(content: &str) -> Option<Self> {
        let is_ended = content.ends_with('\n');
        let mut lines: Vec<DiffLine> = content
            .strip_suffix('\n')
            .unwrap_or(content)
            .split('\n')
            .take(WHOLE_LINES + 1)
            .map(|text| DiffLine { op: "+".to_owned(), text: text.to_owned(), no_newline_at_end: false })
            .collect();
        lines.last_mut()?.no_newline_at_end = !is_ended;
        let added = lines.len();
        let hunk = Hunk { old_start: 1, old_lines: 0, new_start: 1, new_lines: added, lines };
        (added <= WHOLE_LINES).then(|| Self { hunks: vec![hunk], added, removed: 0, truncated: false })
    }

    /// Describes the parts of an interrupt's payload that no card shows, or returns `None` if the card shows
    /// everything. For a call with a trial, these are changes that the trial found. For any other call, these are parts
    /// of the proposed change, or of the scripts that the call runs.
    pub fn unseen_of(payload: &Value) -> Option<String> {
        if let Some(trial) = TrialCard::from_payload(payload) {
            return trial.unseen();
        }
        // A diff that is not truncated needs no parsing, because all of its lines are shown.
        let is_cut = payload.pointer("/diff/truncated") == Some(&Value::Bool(true));
        let change = is_cut.then(|| Self::from_payload(payload)?.unseen()).flatten();
        let unseen: Vec<String> = change.into_iter().chain(Script::unseen_of(payload)).collect();
        (!unseen.is_empty()).then(|| unseen.join(" "))
    }

    /// Returns a sentence with the number of the diff's changed lines that are not shown. Returns `None` if all changed
    /// lines are shown.
    pub fn unseen(&self) -> Option<String> {
        if !self.truncated {
            return None;
        }
        if self.hunks.is_empty() {
            return Some("The change cannot be shown because the current file is not text.".to_owned());
        }
        let (added, removed) = self.undrawn();
        let lines = |count: usize| if count == 1 { "line" } else { "lines" };
        Some(format!(
            "Not shown here: {added} more added {}, {removed} more removed {}.",
            lines(added),
            lines(removed)
        ))
    }

    /// Returns the number of added lines and the number of removed lines that no hunk of the diff contains.
    pub(crate) fn undrawn(&self) -> (usize, usize) {
        let drawn =
            |op: &str| self.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.op == op).count();
        (self.added.saturating_sub(drawn("+")), self.removed.saturating_sub(drawn("-")))
    }

    /// Returns the new text of a file from the arguments of the call that writes it. Returns `None` if the diff is
    /// complete, or if the arguments do not contain the text.
    pub fn new_text<'a>(&self, payload: &'a Value) -> Option<&'a str> {
        let text = |pointer: &str| payload.pointer(pointer).and_then(Value::as_str);
        text("/arguments/content").or_else(|| text("/arguments/new")).filter(|_| self.truncated)
    }
}

impl Hunk {
    /// Returns the header of a hunk of a diff in the usual form: `@@ -1,2 +1,3 @@`.
    pub fn head(&self) -> String {
        format!("@@ -{},{} +{},{} @@", self.old_start, self.old_lines, self.new_start, self.new_lines)
    }
}
