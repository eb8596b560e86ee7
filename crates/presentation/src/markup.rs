//! Converts text to HTML text: escapes it with `plain`, cuts it at a limit, and escapes it for HTML. All texts on a
//! page are converted by this module.

use std::fmt::Write;

use holdshort_protocol::plain;

use crate::limits::{LINE_CHARS, SAID_CHARS};

/// Escapes a text for HTML content and quoted attributes. The text must already be escaped with `plain`, or be a
/// constant of this crate.
pub fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
}

/// Converts a name, a label or a title to one line of HTML text, cut at `LINE_CHARS`.
pub fn line(text: &str) -> String {
    cut_line(text, LINE_CHARS)
}

/// Converts a text to one line of HTML text, cut after `chars` characters.
pub fn cut_line(text: &str, chars: usize) -> String {
    let (shown, rest) = cut(text, chars);
    let mut out = String::new();
    escape(&mut out, &plain::line(shown));
    if rest > 0 {
        out.push('…');
    }
    out
}

/// Converts a text of a person or an agent to HTML text with its line breaks, cut at `SAID_CHARS`.
pub fn multiline(text: &str) -> String {
    let (shown, rest) = cut(text.trim(), SAID_CHARS);
    let mut out = String::new();
    escape(&mut out, &plain::text(shown));
    if rest > 0 {
        let characters = if rest == 1 { "character" } else { "characters" };
        let _ = write!(out, "… <em>({rest} more {characters})</em>");
    }
    out
}

/// Returns the first `chars` characters of a text, and the number of characters that are left out.
fn cut(text: &str, chars: usize) -> (&str, usize) {
    match text.char_indices().nth(chars) {
        Some((at, _)) => (&text[..at], text[at..].chars().count()),
        None => (text, 0),
    }
}
