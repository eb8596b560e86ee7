//! Makes text from agents safe to display in a terminal, a page, a chat message or a mail.
//!
//! Control characters, escape sequences, bidirectional overrides, zero-width and other invisible characters are shown
//! as `\u{…}`. Only one character is removed: in prose, a carriage return before a line feed. All decisions about which
//! characters are shown are made in this module. Choose the function by the kind of field: [`text`] for prose,
//! [`line()`] for an exact value on one line, [`lines`] for an exact value on several lines.

use std::borrow::Cow;
use std::fmt::Write;

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_script::{Script, UnicodeScript};

/// Maximum number of combining marks that are shown on one letter. More marks would overlap the lines above.
const MARKS: usize = 4;

/// Escapes prose, such as a message, a description or an answer. Line breaks, tabs and spaces of any width are kept.
pub fn text(text: &str) -> Cow<'_, str> {
    escape(text, Keep::Lines)
}

/// Escapes an exact value on one line, such as a name, a path, a title or a line of a command. Line breaks, tabs and
/// all spaces except the ASCII space are escaped too.
pub fn line(text: &str) -> Cow<'_, str> {
    escape(text, Keep::Nothing)
}

/// Escapes an exact value that may have several lines, such as a command, arguments or JSON. Line breaks and tabs are
/// kept. All other characters are escaped as in [`line()`].
pub fn lines(text: &str) -> Cow<'_, str> {
    escape(text, Keep::Breaks)
}

/// Returns the first `most` characters of an exact value, escaped as in [`line()`]. A value that was cut ends with `…`.
/// An escape such as `\u{…}` is never cut in the middle.
pub fn excerpt(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut left = most;
    for (_, c, fate) in fates(text, Keep::Nothing) {
        let end = out.len();
        put(&mut out, c, fate);
        let Some(rest) = left.checked_sub(out[end..].chars().count()) else {
            out.truncate(end);
            out.push('…');
            break;
        };
        left = rest;
    }
    out
}

/// Returns the byte offset of the first character that [`text`] escapes, or `None` if it escapes none. A carriage
/// return before a line feed is not reported.
pub fn hidden(text: &str) -> Option<usize> {
    if is_bare(text) {
        return None;
    }
    fates(text, Keep::Lines).find(|(_, _, fate)| *fate == Fate::Escaped).map(|(at, _, _)| at)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// Keeps line breaks, tabs and spaces of any width, for text that is prose.
    Lines,
    /// Keeps line breaks and tabs, and escapes all spaces but the ASCII space.
    Breaks,
    Nothing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Shown,
    Dropped,
    Escaped,
}

/// Returns true if the text contains only printable ASCII, line feeds and tabs. The loop has no early exit, so that the
/// compiler can vectorize it.
pub fn is_bare(text: &str) -> bool {
    text.bytes().fold(true, |is_bare, byte| is_bare & matches!(byte, b' '..=b'~' | b'\n' | b'\t'))
}

fn escape(text: &str, keep: Keep) -> Cow<'_, str> {
    if keep != Keep::Nothing && is_bare(text) {
        return Cow::Borrowed(text);
    }
    let mut out: Option<String> = None;
    for (i, c, fate) in fates(text, keep) {
        if fate == Fate::Shown {
            if let Some(out) = &mut out {
                out.push(c);
            }
            continue;
        }
        put(out.get_or_insert_with(|| text[..i].to_owned()), c, fate);
    }
    out.map_or(Cow::Borrowed(text), Cow::Owned)
}

fn put(out: &mut String, c: char, fate: Fate) {
    match (fate, c) {
        (Fate::Shown, _) => out.push(c),
        (Fate::Dropped, _) => {}
        (Fate::Escaped, '\n') => out.push_str("\\n"),
        (Fate::Escaped, '\t') => out.push_str("\\t"),
        (Fate::Escaped, _) => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
    }
}

fn fates(text: &str, keep: Keep) -> impl Iterator<Item = (usize, char, Fate)> {
    let mut marks = 0;
    let mut previous = '\n';
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (i, c) = chars.next()?;
        let next = chars.peek().map_or('\n', |(_, next)| *next);
        let fate = match c {
            ' '..='~' => Fate::Shown,
            '\n' | '\t' if keep != Keep::Nothing => Fate::Shown,
            '\r' if keep == Keep::Lines && next == '\n' => Fate::Dropped,
            _ if is_of_its_neighbours(c, previous, next, keep) => Fate::Shown,
            _ if is_blank(c) => Fate::Escaped,
            _ => {
                let category = get_general_category(c);
                marks = if is_mark(category) { marks + 1 } else { 0 };
                let seen = match category {
                    GeneralCategory::SpaceSeparator => keep == Keep::Lines,
                    _ => is_visible(category) && marks <= MARKS,
                };
                if seen { Fate::Shown } else { Fate::Escaped }
            }
        };
        if c.is_ascii() {
            marks = 0;
        }
        previous = c;
        Some((i, c, fate))
    })
}

/// Returns true if an invisible character is legitimate between `previous` and `next`. Variation selectors and joiners
/// are legitimate inside an emoji. Joiners are also legitimate between letters of prose.
fn is_of_its_neighbours(c: char, previous: char, next: char, keep: Keep) -> bool {
    match c {
        // A variation selector is valid after a symbol, where it chooses between emoji and text. It is also valid
        // before the keycap mark.
        '\u{fe0e}' | '\u{fe0f}' => is_symbol(previous) || next == '\u{20e3}',
        '\u{200d}' if is_symbol(next) => is_symbol(previous) || previous == '\u{fe0f}',
        '\u{200c}' | '\u{200d}' => keep == Keep::Lines && joins(previous) && joins(next),
        _ => false,
    }
}

/// Returns true for a character that can be displayed as an emoji.
fn is_symbol(c: char) -> bool {
    let category = get_general_category(c);
    let by_category = matches!(
        category,
        GeneralCategory::OtherSymbol | GeneralCategory::MathSymbol | GeneralCategory::ModifierSymbol
    );
    !c.is_ascii() && (by_category || matches!(c, 'ℹ' | '‼' | '⁉' | '〰'))
}

/// Returns true for a letter of a script whose normal spelling uses joiners.
fn joins(c: char) -> bool {
    matches!(
        c.script(),
        Script::Arabic
            | Script::Syriac
            | Script::Devanagari
            | Script::Bengali
            | Script::Gurmukhi
            | Script::Gujarati
            | Script::Oriya
            | Script::Tamil
            | Script::Telugu
            | Script::Kannada
            | Script::Malayalam
            | Script::Sinhala
            | Script::Myanmar
            | Script::Khmer
    )
}

fn is_mark(category: GeneralCategory) -> bool {
    matches!(category, GeneralCategory::NonspacingMark | GeneralCategory::EnclosingMark)
}

/// Returns true if the characters of a Unicode category are visible. An unknown category is treated as invisible.
fn is_visible(category: GeneralCategory) -> bool {
    !matches!(
        category,
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
            | GeneralCategory::PrivateUse
            | GeneralCategory::Surrogate
            | GeneralCategory::Unassigned
    )
}

/// Returns true for a character that is blank, although its Unicode category says that it is visible.
fn is_blank(c: char) -> bool {
    matches!(
        c,
        '\u{34f}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}'
            | '\u{fffc}'
            | '\u{1d159}'
            | '\u{e0100}'..='\u{e01ef}'
    )
}
