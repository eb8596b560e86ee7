//! Names of people, groups and keys: which texts are valid names, and when two names are equal.

use std::borrow::Cow;

use icu_casemap::{CaseMapper, CaseMapperBorrowed};
use icu_normalizer::{DecomposingNormalizer, DecomposingNormalizerBorrowed};

/// Returns true if the character is invisible, or if it changes the appearance of neighbouring characters.
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

/// Returns true if a text is a valid name. A name is one line of at most `bytes` bytes. All characters of a name are
/// visible, and there is no space at its beginning or end.
pub fn is_name(text: &str, bytes: usize) -> bool {
    let shows = |each: char| each == ' ' || !(each.is_control() || each.is_whitespace() || is_hidden(each));
    !text.is_empty() && text.len() <= bytes && text.trim() == text && text.chars().all(shows)
}

const FOLDING: CaseMapperBorrowed<'static> = CaseMapper::new();
const CANONICAL: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizer::new_nfd();
const COMPATIBLE: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizer::new_nfkd();

/// Returns the normal form of a name, which is used only for comparisons. Two names are equal if their normal forms are
/// equal.
///
/// The form follows the compatibility caseless match of Unicode (D146), with full case folding and compatibility
/// decomposition. `Straße` therefore equals `STRASSE`, and fullwidth letters equal plain letters. Invisible characters
/// are removed, because earlier versions allowed some invisible characters in names. The normal form is never displayed
/// or stored.
pub fn form(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        let has_capitals = name.bytes().any(|byte| byte.is_ascii_uppercase());
        return if has_capitals { Cow::Owned(name.to_ascii_lowercase()) } else { Cow::Borrowed(name) };
    }
    let visible: String = name.chars().filter(|each| !is_hidden(*each)).collect();
    let canonical = CANONICAL.normalize(&visible);
    let folded = FOLDING.fold_string(&canonical);
    let compatible = COMPATIBLE.normalize(&folded);
    // Decomposition may produce upper-case letters again: `㎑` becomes `kHz`.
    let folded = FOLDING.fold_string(&compatible);
    Cow::Owned(COMPATIBLE.normalize(&folded).into_owned())
}

/// Returns true if two names denote the same person, group or key. Every check that compares or counts people by name
/// must use this function.
pub fn is_same(one: &str, other: &str) -> bool {
    one == other || form(one) == form(other)
}
