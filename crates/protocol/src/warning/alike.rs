//! Finds words with letters of other scripts that look like ASCII letters (UTS 39).
//!
//! A word without Latin letters gets a warning only if each of its letters looks like an ASCII letter. If other text of
//! the interrupt is in the same script, the word gets no warning, because it may resemble an ASCII word by chance.

use unicode_script::{Script, UnicodeScript};
use unicode_security::{GeneralSecurityProfile, skeleton};

use crate::warning::field::{Field, Reading};

/// Characters that separate the parts of addresses and paths.
const MARKS: [char; 6] = ['/', '\\', '.', ':', ';', '@'];

/// Returns the scripts in which the texts of an interrupt are written. A word counts only if it cannot imitate an ASCII
/// word, because one of its letters resembles no ASCII letter.
pub(super) fn spoken(places: &[Field<'_>]) -> Vec<Script> {
    let mut spoken = Vec::new();
    for place in places.iter().filter(|place| place.reading != Reading::Exact) {
        for word in parts(place) {
            let WordScripts { has_latin, own, .. } = read(word, place.reading);
            if let Some(script) = own.filter(|script| !has_latin && !spoken.contains(script)) {
                spoken.push(script);
            }
        }
    }
    spoken
}

/// Returns each deceptive word in a text of an interrupt, and the ASCII word that it imitates. `spoken` contains the
/// scripts of the other texts: a word of prose without Latin letters is not deceptive in such a script. For an exact
/// value, `spoken` is ignored.
pub(super) fn find_look_alikes<'a>(
    place: &'a Field<'a>,
    spoken: &'a [Script],
) -> impl Iterator<Item = (&'a str, String)> {
    parts(place).filter_map(move |part| {
        let WordScripts { looks, has_latin, own, alike } = read(part, place.reading);
        let script = alike?;
        let is_excused = place.reading != Reading::Exact && spoken.contains(&script);
        (has_latin || (own.is_none() && !is_excused)).then_some((part, looks))
    })
}

/// Returns the words of an interrupt's text that contain a character outside ASCII.
fn parts<'a>(place: &'a Field<'a>) -> impl Iterator<Item = &'a str> {
    let is_end = |c: char| match place.reading {
        Reading::Prose | Reading::Data => !c.is_alphanumeric(),
        Reading::Exact => c.is_whitespace() || (c.is_ascii() && !c.is_alphanumeric()),
    };
    place.text.split(is_end).filter(|part| !part.is_ascii())
}

/// Scripts of the letters in one word of an interrupt's text.
struct WordScripts {
    looks: String,
    has_latin: bool,
    /// Script of a letter of the word that resembles no ASCII letter.
    own: Option<Script>,
    /// Script of a letter of the word that resembles an ASCII letter.
    alike: Option<Script>,
}

fn read(word: &str, reading: Reading) -> WordScripts {
    let mut seen = WordScripts { looks: String::new(), has_latin: false, own: None, alike: None };
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

/// Returns the ASCII character that `c`, a character of another script, resembles.
fn twin(c: char, reading: Reading) -> Option<char> {
    if c.is_ascii() || !is_foreign(c, reading) {
        return None;
    }
    let mut bytes = [0; 4];
    let mut looks = skeleton(c.encode_utf8(&mut bytes));
    let twin = match (looks.next()?, looks.next(), looks.next()) {
        // The table of UTS 39 maps these characters to the same skeleton.
        ('r', Some('n'), None) => 'm',
        ('l', None, None) if c.is_uppercase() => 'I',
        (twin, None, None) => twin,
        _ => return None,
    };
    let counts = twin.is_ascii_alphanumeric() || (reading == Reading::Exact && MARKS.contains(&twin));
    counts.then_some(twin)
}

/// Returns true if letters of the script of `c` can be mistaken for ASCII letters.
fn is_foreign(c: char, reading: Reading) -> bool {
    match c.script() {
        // These scripts also contain characters that no ordinary word uses, such as mathematical letters. Full-width
        // letters are left out, because they are visibly wide.
        Script::Latin | Script::Common | Script::Inherited => {
            reading == Reading::Exact && !c.identifier_allowed() && !matches!(c, '\u{ff00}'..='\u{ffef}')
        }
        // These scripts are often mixed with Latin and look different from it, or they are written from right to left.
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
