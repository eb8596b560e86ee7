//! A diff as data for a card: groups of changed lines (hunks), up to a maximum number of lines and bytes. The data
//! contains no formatting for a terminal.

use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

use crate::limits;

const CONTEXT_LINES: usize = 3;

/// Difference between two texts. `added` and `removed` count all lines, but `hunks` contains lines only up to the
/// limits.
pub(crate) struct Diff {
    hunks: Vec<Value>,
    pub added: usize,
    pub removed: usize,
    truncated: bool,
}

impl Diff {
    pub(crate) fn between(old: &str, new: &str) -> Self {
        let diff = TextDiff::configure().timeout(limits::DIFF_TIME).diff_lines(old, new);
        let mut result = Self { hunks: Vec::new(), added: 0, removed: 0, truncated: false };
        let (mut lines_left, mut bytes_left) = (limits::DIFF_LINES, limits::DIFF_BYTES);
        for group in diff.grouped_ops(CONTEXT_LINES) {
            let mut lines = Vec::new();
            let (mut old_lines, mut new_lines) = (0, 0);
            for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
                let op = match change.tag() {
                    ChangeTag::Equal => " ",
                    ChangeTag::Insert => "+",
                    ChangeTag::Delete => "-",
                };
                result.added += usize::from(op == "+");
                result.removed += usize::from(op == "-");
                let value: &str = change.value();
                if result.truncated || lines_left == 0 || bytes_left < value.len() {
                    result.truncated = true;
                    continue;
                }
                lines_left -= 1;
                bytes_left -= value.len();
                old_lines += usize::from(op != "+");
                new_lines += usize::from(op != "-");
                lines.push(line(op, value));
            }
            let (Some(first), false) = (group.first(), lines.is_empty()) else { continue };
            result.hunks.push(json!({
                "old_start": first.old_range().start + 1,
                "old_lines": old_lines,
                "new_start": first.new_range().start + 1,
                "new_lines": new_lines,
                "lines": lines,
            }));
        }
        result
    }

    /// Returns a diff without lines, for a file whose old content is not text.
    pub(crate) fn unshowable() -> Self {
        Self { hunks: Vec::new(), added: 0, removed: 0, truncated: true }
    }

    pub(crate) fn to_value(&self) -> Value {
        json!({
            "hunks": self.hunks,
            "added": self.added,
            "removed": self.removed,
            "truncated": self.truncated,
        })
    }
}

/// Returns the difference between two texts as JSON, in the form of a person's card.
pub fn diff(old: &str, new: &str) -> Value {
    Diff::between(old, new).to_value()
}

/// Returns one line of a diff without its line end. If the last line of a file has no line end, it is marked, because
/// it would otherwise look the same as a line with a line end.
fn line(op: &str, value: &str) -> Value {
    match value.strip_suffix('\n') {
        Some(text) => json!({"op": op, "text": text}),
        None => json!({"op": op, "text": value, "no_newline_at_end": true}),
    }
}
