//! Text as HTML that is text: made plain, cut at a named limit, escaped. The only way of a text into the page.

use std::fmt::Write;

use holdshort_protocol::plain;

use crate::limits::{LINE_CHARS, SAID_CHARS};

/// Escapes for content and for quoted attributes. The text is plain already, or is of this crate.
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

/// A name, a label, a title: one line.
pub fn line(text: &str) -> String {
    cut_line(text, LINE_CHARS)
}

/// A line of at most so many characters.
pub fn cut_line(text: &str, chars: usize) -> String {
    let (shown, rest) = cut(text, chars);
    let mut out = String::new();
    escape(&mut out, &plain::line(shown));
    if rest > 0 {
        out.push('…');
    }
    out
}

/// What somebody said: line breaks stay.
pub fn said(text: &str) -> String {
    let (shown, rest) = cut(text.trim(), SAID_CHARS);
    let mut out = String::new();
    escape(&mut out, &plain::text(shown));
    if rest > 0 {
        let _ = write!(out, "… <em>({rest} more characters)</em>");
    }
    out
}

/// The first characters, and how many are left.
fn cut(text: &str, chars: usize) -> (&str, usize) {
    match text.char_indices().nth(chars) {
        Some((at, _)) => (&text[..at], text[at..].chars().count()),
        None => (text, 0),
    }
}
