//! Words whose letters of other scripts look like ASCII letters (UTS 39).
//!
//! A word wholly in another script is no warning. Neither is a word that resembles ASCII by chance in a text of that
//! script.

use unicode_script::{Script, UnicodeScript};
use unicode_security::{GeneralSecurityProfile, skeleton};

use crate::warning::field::{Field, Reading};

/// Marks that give an address or a path its parts.
const MARKS: [char; 6] = ['/', '\\', '.', ':', ';', '@'];

/// The scripts that are really written here: those of words that can be taken for nothing else.
pub(super) fn spoken(places: &[Field<'_>]) -> Vec<Script> {
    let mut spoken = Vec::new();
    for place in places.iter().filter(|place| place.reading != Reading::Exact) {
        for word in parts(place) {
            let Word { has_latin, own, .. } = read(word, place.reading);
            if let Some(script) = own.filter(|script| !has_latin && !spoken.contains(script)) {
                spoken.push(script);
            }
        }
    }
    spoken
}

/// Words that can be taken for others, each with what it looks like. Where each letter counts, what is spoken
/// elsewhere excuses nothing.
pub(super) fn words<'a>(
    place: &'a Field<'a>,
    spoken: &'a [Script],
) -> impl Iterator<Item = (&'a str, String)> {
    parts(place).filter_map(move |part| {
        let Word { looks, has_latin, own, alike } = read(part, place.reading);
        let script = alike?;
        let is_excused = place.reading != Reading::Exact && spoken.contains(&script);
        (has_latin || (own.is_none() && !is_excused)).then_some((part, looks))
    })
}

/// The words that are not plain ASCII.
fn parts<'a>(place: &'a Field<'a>) -> impl Iterator<Item = &'a str> {
    let is_end = |c: char| match place.reading {
        Reading::Prose | Reading::Data => !c.is_alphanumeric(),
        Reading::Exact => c.is_whitespace() || (c.is_ascii() && !c.is_alphanumeric()),
    };
    place.text.split(is_end).filter(|part| !part.is_ascii())
}

/// What a word is made of.
struct Word {
    looks: String,
    has_latin: bool,
    /// The script of a letter that looks like none of ASCII.
    own: Option<Script>,
    /// The script of a letter that does.
    alike: Option<Script>,
}

fn read(word: &str, reading: Reading) -> Word {
    let mut seen = Word { looks: String::new(), has_latin: false, own: None, alike: None };
    for c in word.chars() {
        let twin = twin(c, reading);
        seen.looks.push(twin.unwrap_or(c));
        match c.script() {
            script if twin.is_some() => seen.alike = Some(script),
            Script::Latin => seen.has_latin = true,
            Script::Common | Script::Inherited => {}
            script => seen.own = Some(script),
        }
    }
    seen
}

/// The character of ASCII that one of another script is taken for.
fn twin(c: char, reading: Reading) -> Option<char> {
    if c.is_ascii() || !is_foreign(c, reading) {
        return None;
    }
    let mut bytes = [0; 4];
    let mut looks = skeleton(c.encode_utf8(&mut bytes));
    let twin = match (looks.next()?, looks.next(), looks.next()) {
        // The table takes these for one another.
        ('r', Some('n'), None) => 'm',
        ('l', None, None) if c.is_uppercase() => 'I',
        (twin, None, None) => twin,
        _ => return None,
    };
    let counts = twin.is_ascii_alphanumeric() || (reading == Reading::Exact && MARKS.contains(&twin));
    counts.then_some(twin)
}

/// Whether a character is of a script whose letters pass for those of ASCII.
fn is_foreign(c: char, reading: Reading) -> bool {
    match c.script() {
        // Of these, what nobody writes words with, such as letters of mathematics; wide ones are seen to be so.
        Script::Latin | Script::Common | Script::Inherited => {
            reading == Reading::Exact && !c.identifier_allowed() && !matches!(c, '\u{ff00}'..='\u{ffef}')
        }
        // Written beside Latin every day, and not to be mistaken for it; or in the other direction.
        Script::Han
        | Script::Hiragana
        | Script::Katakana
        | Script::Bopomofo
        | Script::Hangul
        | Script::Arabic
        | Script::Hebrew
        | Script::Syriac
        | Script::Thaana => false,
        _ => true,
    }
}
