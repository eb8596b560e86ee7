//! The change that a call would make, as text for clients without cards: a summary line, each file with its diff, and a
//! text with the full change.
//!
//! The change is read from the payload of the request, because the approval is bound to this payload. If files or lines
//! are omitted, the text says how many.

use holdshort_protocol::{Diff, OUTSIDE, TrialCard, TrialChange, is_outside, plain};
use serde_json::{Value, json};

/// Change of files that a person is asked to approve.
pub(crate) struct Change {
    summary: String,
    files: Vec<Value>,
    /// Text that says how many files and lines of the change were omitted.
    unseen: Option<String>,
}

impl Change {
    /// Returns the change of a trial, an undo or a file tool from an interrupt's payload. Returns `None` if the payload
    /// contains no change.
    pub(crate) fn from_payload(payload: &Value) -> Option<Self> {
        let unseen = Diff::unseen_of(payload);
        if let Some(trial) = TrialCard::from_payload(payload) {
            let files = trial.changes().map(file).collect();
            return Some(Self { summary: summary(trial), files, unseen });
        }
        let diff = Diff::from_payload(payload)?;
        let path = payload.pointer("/arguments/path")?.as_str()?;
        let is_new = payload.get("new_file") == Some(&Value::Bool(true));
        let does = if is_new { "created" } else { "changed" };
        let summary = format!("{path} is {does} (+{} −{} lines)", diff.added, diff.removed);
        let words = if is_outside(payload) { format!("{does}, {OUTSIDE}") } else { does.to_owned() };
        let file = json!({ "file_path": path, "does": does, "words": words, "diff": unified(&diff) });
        Some(Self { summary: plain::line(&summary).into_owned(), files: vec![file], unseen })
    }

    /// Returns the change as `{summary, files[{file_path, does, words, diff?}], not_shown?}`. `words` and `diff` are
    /// safe to show.
    pub(crate) fn to_value(&self) -> Value {
        let mut value = json!({ "summary": self.summary, "files": self.files });
        if let Some(unseen) = &self.unseen {
            value["not_shown"] = json!(unseen);
        }
        value
    }
}

fn summary(trial: TrialCard<'_>) -> String {
    format!("{}: {}.", trial.head(), trial.summary())
}

fn file(change: TrialChange<'_>) -> Value {
    let mut file = json!({
        "file_path": change.path(), "does": change.does(), "words": plain::line(&change.describe()),
    });
    if let Some(diff) = change.diff() {
        file["diff"] = json!(unified(&diff));
    }
    file
}

/// Returns the full text that describes a trial of a call, or the reason why the call was not tried.
pub(crate) fn render_trial(payload: &Value) -> Option<String> {
    let Some(trial) = TrialCard::from_payload(payload) else {
        return TrialCard::missing(payload).map(|why| format!("The call was not tried: {why}."));
    };
    let mut lines = vec![summary(trial)];
    lines.extend(payload.get("note").and_then(Value::as_str).map(str::to_owned));
    lines.extend(trial.git().map(|words| plain::line(words).into_owned()));
    for change in trial.changes() {
        lines.push(String::new());
        lines.push(format!("{}: {}", plain::line(change.path()), plain::line(&change.describe())));
        lines.extend(change.diff().map(|diff| unified(&diff)).filter(|diff| !diff.is_empty()));
    }
    let left = trial.left().into_iter().map(|line| plain::line(&line).into_owned());
    let rest: Vec<String> = left.chain(trial.unseen()).collect();
    if !rest.is_empty() {
        lines.push(String::new());
        lines.extend(rest);
    }
    let output = trial.output().trim_end();
    if !output.is_empty() {
        lines.extend([String::new(), "It printed:".to_owned(), output.to_owned()]);
    }
    Some(plain::text(&lines.join("\n")).into_owned())
}

/// Returns a diff in the unified format, without file names. The text of the diff is escaped, so that one line of a
/// file cannot look like several lines of the diff.
fn unified(diff: &Diff) -> String {
    let mut lines = Vec::new();
    for hunk in &diff.hunks {
        lines.push(hunk.head());
        for line in &hunk.lines {
            lines.push(format!("{}{}", line.op, plain::text(&line.text)));
            if line.no_newline_at_end {
                lines.push("\\ No newline at end of file".to_owned());
            }
        }
    }
    lines.join("\n")
}

/// Returns the arguments of a call as `name: value`, one per line. String values are not quoted.
pub(crate) fn arguments(arguments: &Value) -> String {
    let line = |(name, value): (&String, &Value)| match value.as_str() {
        Some(text) => format!("{name}: {text}"),
        None => format!("{name}: {value}"),
    };
    arguments.as_object().into_iter().flatten().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(lines: &Value, added: usize) -> Value {
        let hunk = json!({ "old_start": 1, "old_lines": 1, "new_start": 1, "new_lines": 2, "lines": lines });
        json!({ "hunks": [hunk], "added": added, "removed": 1, "truncated": added > 1 })
    }

    #[test]
    fn what_was_tried_is_told_whole_and_what_is_not_shown_is_counted() {
        let lines = json!([
            { "op": "-", "text": "old" }, { "op": "+", "text": "new\u{202e}", "no_newline_at_end": true },
        ]);
        let changes = json!([
            { "path": "gone", "does": "deleted", "kind": "file" },
            { "path": "a\nb", "does": "changed", "kind": "file", "bytes": 3, "diff": diff(&lines, 3) },
        ]);
        let trial = json!({
            "files": 1, "deleted": 1, "exit_code": 0, "output": "out\n", "changes": changes, "not_shown": 2,
        });
        let payload = json!({ "trial": trial, "note": "Nothing has happened yet." });
        let shown = "@@ -1,1 +1,2 @@\n-old\n+new\\u{202e}\n\\ No newline at end of file";
        let unseen =
            "Not shown here: 2 more paths, the changes in 1 of the files above, 2 more changed lines.";
        let change = Change::from_payload(&payload).unwrap().to_value();
        assert_eq!(change["summary"], "Tried: 1 file changed, 1 deleted; exit code 0.");
        assert_eq!(change["files"][0], json!({ "file_path": "gone", "does": "deleted", "words": "deleted" }));
        assert_eq!(change["files"][1]["diff"], shown);
        assert_eq!(change["not_shown"], unseen);
        let text = render_trial(&payload).unwrap();
        let expected = format!(
            "Tried: 1 file changed, 1 deleted; exit code 0.\nNothing has happened yet.\n\ngone: deleted\n\n\
             a\\nb: changed, 3 bytes\n{shown}\n\n{unseen}\n\nIt printed:\nout"
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn a_file_tool_has_a_change_and_a_call_without_one_has_none() {
        let lines = json!([{ "op": "-", "text": "old" }, { "op": "+", "text": "new" }]);
        let write = json!({ "arguments": { "path": "a.txt" }, "diff": diff(&lines, 1) });
        let change = Change::from_payload(&write).unwrap().to_value();
        assert_eq!(change["summary"], "a.txt is changed (+1 −1 lines)");
        assert_eq!(change["files"][0]["diff"], "@@ -1,1 +1,2 @@\n-old\n+new");
        let untried = json!({ "arguments": { "command": "x" }, "untried": "its commands reach the network" });
        assert!(Change::from_payload(&untried).is_none());
        assert_eq!(
            render_trial(&untried).as_deref(),
            Some("The call was not tried: its commands reach the network.")
        );
        assert_eq!(render_trial(&write), None);
    }
}
