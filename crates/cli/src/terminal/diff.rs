//! A unified diff for a person: of the hunks that a card brings, and of what an edit changed.

use holdshort_protocol::{Diff, Interrupt, OUTSIDE, is_outside, plain};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::paint::Paint;
use super::quote::{Cap, quote};

/// The diff of a card, if it has one that is understood.
pub(crate) fn of_card(interrupt: &Interrupt, cap: Cap, paint: Paint) -> Option<Vec<String>> {
    let payload = &interrupt.payload;
    let diff = Diff::of(payload)?;
    let path = payload.get("path").and_then(Value::as_str).unwrap_or("the file");
    let is_new = payload.get("new_file").and_then(Value::as_bool).unwrap_or(false);
    let counts = format!("+{} −{}", diff.added, diff.removed);
    let kind = if is_new { "new file" } else { "changed" };
    let mut head = format!("{}  {}", paint.bold(&plain::line(path)), paint.dim(&format!("{kind}, {counts}")));
    if is_outside(payload) {
        head = format!("{head}, {}", paint.yellow(OUTSIDE));
    }
    let mut out = vec![head];
    out.extend(hunks(&diff, cap, paint));
    if let Some(unseen) = diff.unseen() {
        out.push(paint.red(&unseen));
        match (diff.new_text(payload), cap) {
            (Some(text), Cap::None) => {
                out.push(String::new());
                out.extend(quote(text, "all of the new text", cap, paint));
            }
            (Some(_), Cap::Lines(_)) => out.push(paint.yellow("v shows all of the new text")),
            (None, _) => {}
        }
    }
    Some(out)
}

/// The lines of a diff.
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
        lines.push(paint.yellow(&format!("… {more} more lines: v shows all of it")));
    }
    lines
}

/// What a person changed in `$EDITOR`.
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
    // A line of a diff is one line, whatever is in it.
    let line = format!("{} {}", plain::line(op), text.replace('\n', "\\n").replace('\t', "    "));
    match op {
        "+" => paint.green(&line),
        "-" => paint.red(&line),
        _ => line,
    }
}
