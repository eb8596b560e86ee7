//! Text of agents made harmless for a terminal, and visible where it hides something.
//!
//! Controls, escape sequences, bidirectional overrides, zero-width and other invisible characters are shown as
//! `\u{…}`. The one place where this is decided; nothing that an agent wrote may reach the terminal around it.

use std::borrow::Cow;
use std::fmt::Write;

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_security::{MixedScript, skeleton};

/// Marks on one letter; more of them would climb over the lines above.
const MARKS: usize = 4;

/// Text of several lines: line breaks and tabs stay.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    escape(text, Keep::Lines)
}

/// Something that stands in one line: a name, a path, a command. Line breaks, tabs and spaces that only look like
/// one are shown too.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    escape(text, Keep::Nothing)
}

/// Whether something in the text would not be seen as it is.
pub(crate) fn hides_something(text: &str) -> bool {
    matches!(escape(text, Keep::Lines), Cow::Owned(_))
}

/// Words that can be taken for others: letters of several scripts, or foreign letters that look like ASCII. Each
/// with what it looks like.
pub(crate) fn look_alikes(text: &str) -> Vec<(String, String)> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_ascii());
    let mut found = Vec::new();
    for word in words {
        let looks: String = skeleton(word).collect();
        if (looks.is_ascii() && looks != word) || !word.is_single_script() {
            found.push((line(word).into_owned(), line(&looks).into_owned()));
        }
    }
    found.dedup();
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Lines,
    Nothing,
}

fn escape(text: &str, keep: Keep) -> Cow<'_, str> {
    let mut marks = 0;
    let mut previous = '\n';
    let is_shown_as_is = |c: char, previous: char, marks: &mut usize| {
        let category = get_general_category(c);
        *marks = if is_mark(category) { *marks + 1 } else { 0 };
        match c {
            ' '..='~' => true,
            '\n' | '\t' => keep == Keep::Lines,
            // Says that the symbol before it is a picture.
            '\u{fe0f}' => get_general_category(previous) == GeneralCategory::OtherSymbol,
            _ if is_blank(c) => false,
            _ if category == GeneralCategory::SpaceSeparator => keep == Keep::Lines,
            _ => is_visible(category) && *marks <= MARKS,
        }
    };
    let mut out: Option<String> = None;
    for (i, c) in text.char_indices() {
        if is_shown_as_is(c, previous, &mut marks) {
            if let Some(out) = &mut out {
                out.push(c);
            }
        } else {
            let out = out.get_or_insert_with(|| text[..i].to_owned());
            match c {
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                // Line ends of other systems are no secret.
                '\r' if keep == Keep::Lines && text[i + 1..].starts_with('\n') => {}
                _ => {
                    let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
                }
            }
        }
        previous = c;
    }
    out.map_or(Cow::Borrowed(text), Cow::Owned)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_unseen() {
        let table: &[(&str, &str, &str)] = &[
            ("plain ASCII", "plain ASCII", "plain ASCII"),
            (
                "Grüße, 你好, привет, ελληνικά",
                "Grüße, 你好, привет, ελληνικά",
                "Grüße, 你好, привет, ελληνικά",
            ),
            ("two\nlines\tand a tab", "two\nlines\tand a tab", "two\\nlines\\tand a tab"),
            ("dos\r\nline", "dos\nline", "dos\\u{d}\\nline"),
            ("over\rwritten", "over\\u{d}written", "over\\u{d}written"),
            ("\x1b[2J\x1b[1;1H", "\\u{1b}[2J\\u{1b}[1;1H", "\\u{1b}[2J\\u{1b}[1;1H"),
            ("\x1b]0;title\x07", "\\u{1b}]0;title\\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("\u{9b}31m", "\\u{9b}31m", "\\u{9b}31m"),
            (
                "bell\x07 back\x08\x7f nul\0",
                "bell\\u{7} back\\u{8}\\u{7f} nul\\u{0}",
                "bell\\u{7} back\\u{8}\\u{7f} nul\\u{0}",
            ),
            ("safe\u{202e}gpj.exe", "safe\\u{202e}gpj.exe", "safe\\u{202e}gpj.exe"),
            (
                "a\u{2066}b\u{2069}c\u{200f}",
                "a\\u{2066}b\\u{2069}c\\u{200f}",
                "a\\u{2066}b\\u{2069}c\\u{200f}",
            ),
            ("rm\u{200b} -rf", "rm\\u{200b} -rf", "rm\\u{200b} -rf"),
            (
                "\u{feff}bom soft\u{ad}hyphen",
                "\\u{feff}bom soft\\u{ad}hyphen",
                "\\u{feff}bom soft\\u{ad}hyphen",
            ),
            ("tags\u{e0041}\u{e007f}", "tags\\u{e0041}\\u{e007f}", "tags\\u{e0041}\\u{e007f}"),
            ("selector\u{fe01}\u{e0100}", "selector\\u{fe01}\\u{e0100}", "selector\\u{fe01}\\u{e0100}"),
            ("sun ☀\u{fe0f} a\u{fe0f}", "sun ☀\u{fe0f} a\\u{fe0f}", "sun ☀\u{fe0f} a\\u{fe0f}"),
            ("fill\u{3164}er\u{115f}", "fill\\u{3164}er\\u{115f}", "fill\\u{3164}er\\u{115f}"),
            ("line\u{2028}para\u{2029}", "line\\u{2028}para\\u{2029}", "line\\u{2028}para\\u{2029}"),
            ("private\u{e000}", "private\\u{e000}", "private\\u{e000}"),
            ("no\u{a0}break", "no\u{a0}break", "no\\u{a0}break"),
            (
                "e\u{301}\u{301}\u{301}\u{301}\u{301}",
                "e\u{301}\u{301}\u{301}\u{301}\\u{301}",
                "e\u{301}\u{301}\u{301}\u{301}\\u{301}",
            ),
        ];
        for (given, as_text, as_line) in table {
            assert_eq!((&*text(given), &*line(given)), (*as_text, *as_line), "{given:?}");
        }
    }

    #[test]
    fn words_that_can_be_taken_for_others_are_named() {
        let table: &[(&str, &[(&str, &str)])] = &[
            ("git push origin main", &[]),
            ("Grüße naïve café", &[]),
            ("你好 мир", &[]),
            // The first letter is Cyrillic.
            ("\u{0441}url example.org", &[("\u{0441}url", "curl")]),
            // All of it is.
            ("\u{0440}\u{0430}\u{0443}", &[("\u{0440}\u{0430}\u{0443}", "pay")]),
        ];
        for (given, expected) in table {
            let found = look_alikes(given);
            let found: Vec<(&str, &str)> = found.iter().map(|(a, b)| (&**a, &**b)).collect();
            assert_eq!(found, *expected, "{given}");
        }
    }
}
