//! Names that people read: of people, groups and keys. One that does not show what it is could be taken for another.

/// Whether a character shows nothing, or changes how others are shown.
pub(crate) fn is_hidden(each: char) -> bool {
    matches!(
        each,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether a text is a name: one line of at most so many bytes, of characters that show, without spaces around it.
pub fn is_name(text: &str, bytes: usize) -> bool {
    let shows = |each: char| each == ' ' || !(each.is_control() || each.is_whitespace() || is_hidden(each));
    !text.is_empty() && text.len() <= bytes && text.trim() == text && text.chars().all(shows)
}

/// A name without what a case makes of it: two that differ in case alone are of one.
pub(crate) fn folded(name: &str) -> impl Iterator<Item = char> {
    name.chars().flat_map(char::to_lowercase)
}

/// Whether two names differ in case alone, or not at all.
pub(crate) fn is_alike(one: &str, other: &str) -> bool {
    folded(one).eq(folded(other))
}
