//! Detects tool calls that a model wrote as text instead of calling the tool. Such a call can be an object, tags of a
//! model's template, code, or a name with arguments.
//!
//! A text contains a call if the name of a tool stands at the start of a line or alone in a code fence, and arguments
//! follow. Usually, only the names of tools that the agent has are searched. Exception: tags and keys that are used
//! only for calls match any tool. `Inline code` only mentions a tool, and is not a call. The declaration of a tool is
//! not a call either.

mod finder;
mod lines;
mod objects;
mod tags;

pub use finder::CallableTool;

use finder::Finder;

use super::prose::{self, Segment};
use super::speech;

/// Returns the name of the tool that a text calls. If the call does not name a tool, returns the tag by which the call
/// was recognised.
pub fn written_call(text: &str, tools: &[CallableTool<'_>]) -> Option<String> {
    let said = prose::strip_thoughts(text);
    let segments = prose::segments(&said);
    let words: Vec<&str> = segments
        .iter()
        .filter_map(|segment| match segment {
            Segment::Prose(lines) => Some(lines.iter().copied()),
            Segment::Fenced(_) => None,
        })
        .flatten()
        .collect();
    let is_all = words.iter().all(|line| line.trim().is_empty());
    let finder = Finder { tools, is_all, reports: speech::says_done(&words.join("\n")) };
    segments.iter().find_map(|segment| match segment {
        Segment::Fenced(lines) => finder.in_fence(lines),
        Segment::Prose(lines) => finder.in_prose(lines),
    })
}

impl Finder<'_> {
    fn in_fence(&self, lines: &[&str]) -> Option<String> {
        let body = lines.join("\n");
        self.in_objects(&body, self.is_all)
            .or_else(|| self.whole_arguments(&body))
            // Tags also occur in documentation. A code fence with a tag must therefore also name a tool of the agent.
            .or_else(|| tags::find_tag(&body).and_then(|_| self.named_in(&body)))
            .or_else(|| self.only_calls(lines))
            .or_else(|| self.first_line_calls(lines))
            .or_else(|| self.as_element(&body))
            .or_else(|| self.as_patch(&body))
    }

    fn in_prose(&self, lines: &[&str]) -> Option<String> {
        let text = prose::without_code(&lines.join("\n"));
        if let Some(tag) = tags::find_tag(&text) {
            return Some(self.named_in(&text).unwrap_or_else(|| tag.to_owned()));
        }
        let is_all = text.trim_start().starts_with(['{', '[']) && text.trim_end().ends_with(['}', ']']);
        self.in_objects(&text, is_all)
            .or_else(|| self.whole_arguments(&text))
            .or_else(|| self.a_line_calls(lines))
            .or_else(|| self.as_element(&text))
            .or_else(|| self.as_patch(&text))
    }
}
