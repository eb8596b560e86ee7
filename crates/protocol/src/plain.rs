//! Text of agents made harmless for a terminal or a page.
//!
//! Control characters, escape sequences, bidirectional overrides, zero-width and other invisible characters are shown
//! as `\u{…}`. This is the only module that decides it, and every text that an agent wrote passes through it.

use std::borrow::Cow;
use std::fmt::Write;

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_script::{Script, UnicodeScript};

/// Marks on one letter; more of them would climb over the lines above.
const MARKS: usize = 4;

/// Text of several lines: line breaks and tabs stay.
pub fn text(text: &str) -> Cow<'_, str> {
    escape(text, Keep::Lines)
}

/// Something that stands in one line: a name, a path, a command. Line breaks, tabs and spaces that only look like
/// one are shown too.
pub fn line(text: &str) -> Cow<'_, str> {
    escape(text, Keep::Nothing)
}

/// Where the first character stands that would not be seen as it is. Line ends of other systems are no secret.
pub fn hidden(text: &str) -> Option<usize> {
    if is_bare(text) {
        return None;
    }
    fates(text, Keep::Lines).find(|(_, _, fate)| *fate == Fate::Escaped).map(|(at, _, _)| at)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Lines,
    Nothing,
}

/// What becomes of a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Shown,
    Dropped,
    Escaped,
}

/// Whether a text is no more than lines of printable ASCII: most are, and need no closer look. It is read to its end
/// whatever stands in it: so the processor looks at many bytes at once.
pub fn is_bare(text: &str) -> bool {
    text.bytes().fold(true, |is_bare, byte| is_bare & matches!(byte, b' '..=b'~' | b'\n' | b'\t'))
}

fn escape(text: &str, keep: Keep) -> Cow<'_, str> {
    if keep == Keep::Lines && is_bare(text) {
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
        let out = out.get_or_insert_with(|| text[..i].to_owned());
        match c {
            _ if fate == Fate::Dropped => {}
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            _ => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    out.map_or(Cow::Borrowed(text), Cow::Owned)
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
            '\n' | '\t' if keep == Keep::Lines => Fate::Shown,
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

/// Invisible characters that change how the ones beside them look, where writing honestly needs them: pictures,
/// and in running text letters that join or must not.
fn is_of_its_neighbours(c: char, previous: char, next: char, keep: Keep) -> bool {
    match c {
        // The symbol before it is a picture, or is none; also the digits on keys.
        '\u{fe0e}' | '\u{fe0f}' => is_symbol(previous) || next == '\u{20e3}',
        '\u{200d}' if is_symbol(next) => is_symbol(previous) || previous == '\u{fe0f}',
        '\u{200c}' | '\u{200d}' => keep == Keep::Lines && joins(previous) && joins(next),
        _ => false,
    }
}

/// What may be shown as a picture.
fn is_symbol(c: char) -> bool {
    let category = get_general_category(c);
    let by_category = matches!(
        category,
        GeneralCategory::OtherSymbol | GeneralCategory::MathSymbol | GeneralCategory::ModifierSymbol
    );
    !c.is_ascii() && (by_category || matches!(c, 'ℹ' | '‼' | '⁉' | '〰'))
}

/// Letters of scripts in which a joiner belongs to the spelling.
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

/// By category; what is not known to be visible is not.
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

/// Characters of visible categories that show nothing.
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
