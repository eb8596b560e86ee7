//! Converts streamed text to console lines. A frame contains one complete line, not a single token (contract A32). When
//! the event with the complete text arrives, the unfinished line is discarded, because the event contains its text.

use std::collections::BTreeMap;

use holdshort_core::event::{self, Event};
use holdshort_core::run::Fact;
use holdshort_engine::real::Preview;

use crate::limits::MARS_LINE_BYTES;

/// Unfinished console lines, by the id of the step or call whose text they contain.
#[derive(Default)]
pub(super) struct Console(BTreeMap<String, String>);

impl Console {
    /// Adds streamed text of a step or call, and returns the console lines that are complete with this text.
    pub(super) fn lines(&mut self, preview: &Preview) -> Vec<String> {
        let begun = self.0.entry(preview.call.as_ref().unwrap_or(&preview.step).clone()).or_default();
        begun.push_str(&preview.text);
        let whole = begun.rfind('\n').map_or(0, |end| end + 1);
        let rest = begun.split_off(whole);
        let whole = std::mem::replace(begun, rest);
        let mut lines: Vec<String> = whole.lines().flat_map(pieces).collect();
        if begun.len() > MARS_LINE_BYTES {
            lines.extend(pieces(&std::mem::take(begun)));
        }
        lines.retain(|line| !line.trim().is_empty());
        lines
    }

    /// Drops the unfinished console line of a step or call when the complete reply or result has arrived, or when a new
    /// attempt begins.
    pub(super) fn apply_event(&mut self, event: &Event) {
        let event::Fact::Run(fact) = &event.fact else { return };
        match fact {
            Fact::ModelStarted { step, .. }
            | Fact::ModelReplied { step, .. }
            | Fact::ModelFailed { step, .. } => drop(self.0.remove(step)),
            Fact::ToolStarted { call, .. } | Fact::ToolFinished { call, .. } => drop(self.0.remove(call)),
            _ => {}
        }
    }
}

/// Splits a console line into pieces that each fit into one frame. Never splits a character.
fn pieces(mut line: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    while line.len() > MARS_LINE_BYTES {
        let (piece, rest) = line.split_at(line.floor_char_boundary(MARS_LINE_BYTES));
        pieces.push(piece.to_owned());
        line = rest;
    }
    pieces.push(line.to_owned());
    pieces
}

#[cfg(test)]
mod tests {
    use holdshort_engine::real::Kind;

    use super::*;

    fn preview(step: &str, text: &str) -> Preview {
        Preview {
            run: "run_01k6f0000000000000000000aa".parse().unwrap(),
            step: step.to_owned(),
            call: None,
            kind: Kind::Text,
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_frame_is_a_line_and_no_token() {
        let mut console = Console::default();
        let mut said = |step: &str, text: &str| console.lines(&preview(step, text));
        assert_eq!(said("a", "one"), Vec::<String>::new());
        assert_eq!(said("b", "other\n"), ["other"]);
        assert_eq!(said("a", " line\r\n\ntwo\nthr"), ["one line", "two"]);
        let long = "e".repeat(MARS_LINE_BYTES);
        assert_eq!(said("a", &long), [format!("thr{}", &long[3..]), "eee".to_owned()]);
        assert_eq!(said("a", &format!("{long}é\n")), [long, "é".to_owned()]);
    }
}
