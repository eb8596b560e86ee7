//! Unified diffs for a person to read: the changes on a card, and the changes that a person made in an editor.

use holdshort_protocol::{Diff, OUTSIDE, plain};
use similar::{ChangeTag, TextDiff};

use super::paint::Paint;
use super::quote::Cap;

pub(crate) fn head(path: &str, kind: &str, diff: &Diff, is_outside: bool, paint: Paint) -> String {
    let path = if path.is_empty() { "the file" } else { path };
    let counts = format!("{kind}, +{} −{}", diff.added, diff.removed);
    let head = format!("{}  {}", paint.bold(path), paint.dim(&counts));
    if is_outside { format!("{head}, {}", paint.yellow(OUTSIDE)) } else { head }
}

pub(crate) fn hunks(diff: &Diff, cap: Cap, paint: Paint) -> Vec<String> {
    let mut lines = Vec::new();
    for hunk in &diff.hunks {
        lines.push(paint.cyan(&hunk.head()));
        for line in &hunk.lines {
            lines.push(coloured(&line.op, &line.text, paint));
            if line.no_newline_at_end {
                lines.push(paint.dim("\\ no line break at the end of the file"));
            }
        }
    }
    if let Cap::Lines(cap) = cap
        && lines.len() > cap + 1
    {
        let more = lines.len() - cap;
        lines.truncate(cap);
        lines.push(paint.yellow(&format!("… {more} more lines; v shows all lines")));
    }
    lines
}

/// Returns the difference between a text before and after a person edited it in `$EDITOR`, as lines of a diff.
pub(crate) fn between(old: &str, new: &str, paint: Paint) -> Vec<String> {
    let diff = TextDiff::from_lines(old, new);
    let mut out = Vec::new();
    for group in diff.grouped_ops(2) {
        if !out.is_empty() {
            out.push(paint.cyan("…"));
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let op = match change.tag() {
                ChangeTag::Equal => " ",
                ChangeTag::Insert => "+",
                ChangeTag::Delete => "-",
            };
            let text: &str = change.value();
            out.push(coloured(op, text.trim_end_matches('\n'), paint));
        }
    }
    out
}

fn coloured(op: &str, text: &str, paint: Paint) -> String {
    let text = plain::text(text);
    // One line of a diff must be printed as exactly one line, whatever characters it contains.
    let op = if matches!(op, "+" | "-") { op } else { " " };
    let line = format!("{op} {}", text.replace('\n', "\\n").replace('\t', "    "));
    match op {
        "+" => paint.green(&line),
        "-" => paint.red(&line),
        _ => line,
    }
}
