//! Words of a name as they are written, and their form in Latin letters. Uses no word list.

use any_ascii::any_ascii_char;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_script::{Script, UnicodeScript};

/// Returns the words of a name in the script in which they are written, in lower case and without diacritics,
/// apostrophes and punctuation.
pub(super) fn fold(name: &str) -> Vec<String> {
    const APOSTROPHES: [char; 8] = ['\'', '’', 'ʼ', 'ʻ', '`', '´', '‘', 'ʹ'];
    let mut plain = String::with_capacity(name.len());
    let lower: String = name.nfkc().collect::<String>().to_lowercase();
    for c in lower.nfc().filter(|c| !is_combining_mark(*c) && !APOSTROPHES.contains(c)) {
        if c.script() == Script::Greek {
            plain.extend(c.nfd().filter(|c| !is_combining_mark(*c)));
        } else if c.is_alphanumeric() || c == '.' {
            plain.push(c);
        } else if c == '&' {
            plain.push_str(" and ");
        } else {
            plain.push(' ');
        }
    }
    let mut words = Vec::new();
    for written in plain.split_whitespace() {
        let parts: Vec<&str> = written.split('.').filter(|part| !part.is_empty()).collect();
        // Single letters with dots are an abbreviation, which is often written without dots: `S.A.`, `SA`.
        if parts.iter().all(|part| part.chars().count() == 1) {
            words.extend(Some(parts.concat()).filter(|word| !word.is_empty()));
        } else {
            words.extend(parts.into_iter().map(str::to_owned));
        }
    }
    words
}

/// Returns true if a word of a name contains letters of a script without vowels, such as Arabic.
pub(super) fn is_abjad(word: &str) -> bool {
    word.chars()
        .any(|c| c.is_alphabetic() && matches!(c.script(), Script::Arabic | Script::Hebrew | Script::Syriac))
}

pub(super) fn is_han(word: &str) -> bool {
    word.chars().any(|c| c.script() == Script::Han)
}

/// Letters of a script other than Latin that form one sound, with their form in Latin letters.
pub(super) type LetterGroup = (Vec<char>, String);

/// Converts a word of a name to the letters a to z and digits. `groups` must be sorted by descending length.
pub(super) fn latin(word: &str, groups: &[LetterGroup]) -> String {
    let chars: Vec<char> = word.chars().collect();
    let (mut out, mut at) = (String::with_capacity(word.len()), 0);
    while at < chars.len() {
        let together = groups.iter().find(|(from, _)| chars[at..].starts_with(from));
        let (text, len) =
            together.map_or_else(|| (any_ascii_char(chars[at]), 1), |(from, to)| (to, from.len()));
        out.extend(text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()));
        at += len;
    }
    out
}
