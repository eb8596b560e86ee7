//! Splits a name into words that can be compared: converts them to Latin letters, removes titles and company forms, and
//! gives each word a weight.

use std::borrow::Cow;

use super::letters::{fold, is_abjad, is_han, latin};
use super::tables::{Dictionary, Phrase, bit};
use crate::casework::limits;

/// Kind of a word in a name, on which the weight of the word depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    /// The word is a Chinese character. Two characters correspond only if they have the same reading.
    Han,
    /// The word is the first part of a compound name, such as `abd`.
    Beginning,
    /// The word is derived from the name of the father.
    Patronymic,
    Initial,
    Particle,
    Number,
    /// The word is in a list of `names.common`, with the number of the list.
    Common(u16),
}

#[derive(Clone, Debug)]
pub(super) struct Word {
    pub kind: Kind,
    /// The word of the name in the letters a to z and digits.
    pub text: Box<str>,
    /// The word of the name in a form that represents only its sound.
    pub key: Box<str>,
    /// Sound form and set of letters of the word without the article at its beginning. `None` if the word has no
    /// article.
    pub without_article: Option<(Box<str>, u32)>,
    /// Consonants of the word of a name, for comparisons with words in scripts without vowels.
    pub consonants: Box<str>,
    /// The sets of letters of `text`, `key` and `consonants`.
    pub letters: Letters,
    /// True if the word of the name is in a script without vowels, such as Arabic.
    pub is_abjad: bool,
    /// Number of the list in `names.spellings` that contains this word of a name.
    pub spelling: Option<u16>,
}

/// Sets of the letters in a word of a name, one bit per letter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Letters {
    pub text: u32,
    pub key: u32,
    pub consonants: u32,
}

impl Word {
    pub(super) fn new(kind: Kind, text: &str, dictionary: &Dictionary) -> Self {
        let text = shortened(text);
        let key = reduced(text, dictionary);
        let mut bare = dictionary.articles.iter().filter_map(|article| text.strip_prefix(article.as_str()));
        let bare = bare.find(|rest| rest.len() >= LEAST_AFTER_ARTICLE);
        let consonants = consonants(std::iter::once(text), dictionary);
        Self {
            kind,
            without_article: bare
                .map(|rest| reduced(rest, dictionary))
                .map(|key| (key.as_str().into(), set(&key))),
            letters: Letters { text: set(text), key: set(&key), consonants: set(&consonants) },
            key: key.into(),
            consonants: consonants.into(),
            is_abjad: false,
            spelling: dictionary.spellings.get(text).copied(),
            text: text.into(),
        }
    }

    /// Returns the word of a name for a text in a script without vowels. `written` is the text in this script.
    fn of_abjad(written: &str, dictionary: &Dictionary) -> Self {
        let word = Self::new(Kind::Plain, &latin(written, &dictionary.letters), dictionary);
        // Each letter is one sound. Therefore two letters in a row never form a group such as `sh`.
        let sounds: Vec<String> =
            written.chars().map(|c| latin(c.encode_utf8(&mut [0; 4]), &dictionary.letters)).collect();
        let consonants = consonants(sounds.iter().map(String::as_str), dictionary);
        Self {
            letters: Letters { consonants: set(&consonants), ..word.letters },
            consonants: consonants.into(),
            without_article: None,
            is_abjad: true,
            spelling: dictionary.spellings.get(written).copied(),
            ..word
        }
    }

    fn common(list: u16) -> Self {
        let nothing = || Box::from("");
        Self {
            kind: Kind::Common(list),
            text: nothing(),
            key: nothing(),
            without_article: None,
            consonants: nothing(),
            letters: Letters { text: 0, key: 0, consonants: 0 },
            is_abjad: false,
            spelling: None,
        }
    }

    /// Returns the weight of the word in a comparison of names: 1 if it clearly distinguishes people or companies, and
    /// less otherwise.
    pub(super) const fn weight(&self) -> f64 {
        match self.kind {
            Kind::Plain | Kind::Han | Kind::Number => 1.0,
            Kind::Patronymic => 0.5,
            Kind::Initial => 0.4,
            Kind::Beginning => 0.3,
            Kind::Common(_) => 0.2,
            Kind::Particle => 0.0,
        }
    }
}

/// Minimum number of letters after an article that is joined to a word of a name. Without this minimum, the `Al` in
/// `Ali` would be an article.
const LEAST_AFTER_ARTICLE: usize = 4;
/// Minimum number of letters after a joined Arabic article in a name. The minimum is smaller than for other articles
/// because Arabic needs fewer letters for a word.
const LEAST_AFTER_ARABIC_ARTICLE: usize = 3;
/// Minimum number of letters that the second part of a compound name must have.
const LEAST_AFTER_BEGINNING: usize = 2;
const LEAST_BEFORE_END: usize = 2;
/// Minimum number of letters before the ending of a patronymic in a name. Without it, `Rich` would be a patronymic.
const LEAST_BEFORE_PATRONYMIC: usize = 3;
const LEAST_WORDS_WITH_PATRONYMIC: usize = 3;

/// Letters that a script without vowels omits, or writes with the letters for long vowels. For example, Arabic and
/// Persian write a `v` like a long `u`.
const UNWRITTEN: &str = "aeiouvwy";

fn set(text: &str) -> u32 {
    text.bytes().fold(0, |set, byte| set | bit(byte))
}

/// Cuts an ASCII word of a name at the maximum number of letters.
fn shortened(text: &str) -> &str {
    text.get(..limits::WORD_LETTERS).unwrap_or(text)
}

/// Returns a word of a name in a form that represents only its sound. Groups of letters with the same sound become
/// equal, and double letters become single.
fn reduced(text: &str, dictionary: &Dictionary) -> String {
    sound_key(&replaced(text, dictionary, |_| true))
}

/// Returns the consonants of a word in a name, whose `pieces` are converted separately.
fn consonants<'t>(pieces: impl Iterator<Item = &'t str>, dictionary: &Dictionary) -> String {
    let sounds: String =
        pieces.map(|piece| without_doubles(&replaced(piece, dictionary, |has_vowel| !has_vowel))).collect();
    sound_key(&sounds.chars().filter(|c| !UNWRITTEN.contains(*c)).collect::<String>())
}

/// Replaces groups of letters in a word by their sounds, if `wanted` returns true for the group. The argument of
/// `wanted` is true if the group contains a vowel.
fn replaced(text: &str, dictionary: &Dictionary, wanted: impl Fn(bool) -> bool) -> String {
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    while at < text.len() {
        let rest = &text[at..];
        let sound = dictionary.sounds.iter().find(|sound| {
            wanted(sound.has_vowel) && (at == 0 || !sound.at_start) && rest.starts_with(&sound.from)
        });
        let len = sound.map_or(1, |sound| sound.from.len());
        out.push_str(sound.map_or(&rest[..1], |sound| &sound.to));
        at += len;
    }
    out
}

fn without_doubles(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if !out.ends_with(c) {
            out.push(c);
        }
    }
    out
}

/// Removes double letters of a word, and an `h` at the end, which most spellings omit: `Fatimah`, `Fatima`.
fn sound_key(text: &str) -> String {
    let mut text = without_doubles(text);
    if text.len() > 2 && text.ends_with('h') {
        text.pop();
    }
    text.truncate(limits::WORD_LETTERS);
    text
}

/// Splits a name into words that can be compared.
pub(super) fn split(name: &str, dictionary: &Dictionary) -> Vec<Word> {
    let written = split_han(fold(&with_family_name_last(name)), dictionary);
    let mut phrases = find_phrases(&written, dictionary);
    // Titles and company forms are removed only at the beginning and at the end of a name. At the end, some titles
    // stay, because they are family names there: `Graf` and `Baron`. A name of only titles and forms is kept.
    let is_own = |phrase: Option<Phrase>| !matches!(phrase, Some(Phrase::Form | Phrase::EndTitle));
    if let Some(end) = phrases.iter().rposition(|(phrase, _)| is_own(*phrase)) {
        let is_first = |phrase: Option<Phrase>| is_own(phrase) && phrase != Some(Phrase::Title);
        let first = phrases.iter().position(|(phrase, _)| is_first(*phrase)).unwrap_or(end);
        phrases = phrases[first..=end].to_vec();
    }
    let has_own_word = phrases.iter().any(|(phrase, _)| phrase.is_none());
    let mut words = Vec::new();
    let ends = phrases.len().saturating_sub(1);
    for (at, (phrase, written)) in phrases.into_iter().enumerate() {
        match phrase {
            Some(Phrase::Common(list)) if has_own_word => words.push(Word::common(list)),
            Some(_) | None => {
                let is_inside = at > 0 && at < ends;
                for word in written {
                    push_words(word, is_inside, dictionary, &mut words);
                }
            }
        }
    }
    words.truncate(limits::NAME_WORDS);
    if words.iter().all(|word| word.kind == Kind::Particle) {
        for word in &mut words {
            word.kind = Kind::Plain;
        }
    }
    mark_patronymics(&mut words, dictionary);
    words
}

/// Moves the family name to the end of a name: `Hawthorn, Ash` becomes `Ash Hawthorn`. Titles and particles are
/// recognised by their position. A name with several commas stays unchanged.
fn with_family_name_last(name: &str) -> Cow<'_, str> {
    let mut parts = name.split([',', '，']);
    match (parts.next(), parts.next(), parts.next()) {
        (Some(family), Some(given), None) => format!("{given} {family}").into(),
        _ => name.into(),
    }
}

/// Splits words of a name in Chinese characters into known phrases and single characters.
fn split_han(words: Vec<String>, dictionary: &Dictionary) -> Vec<String> {
    let mut out = Vec::with_capacity(words.len());
    for word in words {
        if !is_han(&word) {
            out.push(word);
            continue;
        }
        let mut rest = word.as_str();
        while let Some(c) = rest.chars().next() {
            let lens = rest.char_indices().map(|(at, c)| at + c.len_utf8()).take(limits::HAN_PHRASE);
            let known =
                lens.skip(1).filter(|len| dictionary.phrases.contains_key(&[rest[..*len].to_owned()][..]));
            let (piece, behind) = rest.split_at(known.last().unwrap_or(c.len_utf8()));
            out.push(piece.to_owned());
            rest = behind;
        }
    }
    out
}

/// Finds titles, company forms and common words among the words of a name. The longest phrase at a place is used.
fn find_phrases<'w>(written: &'w [String], dictionary: &Dictionary) -> Vec<(Option<Phrase>, &'w [String])> {
    let forms: Vec<String> = written.iter().map(|word| dictionary.look_up_form(word)).collect();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < forms.len() {
        let longest = dictionary.longest_phrase.min(forms.len() - at);
        let known = (1..=longest)
            .rev()
            .find_map(|len| dictionary.phrases.get(&forms[at..at + len]).map(|phrase| (Some(*phrase), len)));
        let (phrase, len) = known.unwrap_or((None, 1));
        out.push((phrase, &written[at..at + len]));
        at += len;
    }
    out
}

/// Adds a written word, or the parts into which it is split, to the words of a name. `is_inside` is true for a word
/// between the first and the last.
fn push_words(written: &str, is_inside: bool, dictionary: &Dictionary, words: &mut Vec<Word>) {
    if is_abjad(written) {
        words.push(abjad_word(written, dictionary));
        return;
    }
    let text = latin(written, &dictionary.letters);
    let kind = if text.is_empty() {
        return;
    } else if text.bytes().all(|byte| byte.is_ascii_digit()) {
        let number = text.trim_start_matches('0');
        words.push(Word::new(Kind::Number, if number.is_empty() { "0" } else { number }, dictionary));
        return;
    } else if is_han(written) {
        Kind::Han
    } else if dictionary.particles.contains(&text)
        || (is_inside && dictionary.inner_particles.contains(&text))
    {
        Kind::Particle
    } else if text.len() == 1 {
        Kind::Initial
    } else {
        Kind::Plain
    };
    if kind == Kind::Plain && !dictionary.spellings.contains_key(&text) {
        if let Some((beginning, rest)) = split_beginning(&text, dictionary) {
            words.push(Word::new(Kind::Beginning, beginning, dictionary));
            words.extend(rest.map(|rest| Word::new(Kind::Plain, rest, dictionary)));
            return;
        }
        if let Some((rest, end)) = split_end(&text, dictionary) {
            words.extend([rest, end].map(|word| Word::new(Kind::Plain, word, dictionary)));
            return;
        }
    }
    words.push(Word::new(kind, &text, dictionary));
}

fn abjad_word(written: &str, dictionary: &Dictionary) -> Word {
    let mut bare = dictionary.articles.iter().filter_map(|article| written.strip_prefix(article.as_str()));
    let bare = bare.find(|rest| rest.chars().count() >= LEAST_AFTER_ARABIC_ARTICLE);
    if dictionary.particles.contains(written) {
        return Word { kind: Kind::Particle, ..Word::of_abjad(written, dictionary) };
    }
    match dictionary.beginnings.first() {
        Some(beginning) if dictionary.beginnings.iter().any(|known| known == written) => {
            Word::new(Kind::Beginning, beginning, dictionary)
        }
        _ => Word::of_abjad(bare.unwrap_or(written), dictionary),
    }
}

/// Splits a compound name such as `Abdulrahman` after its first part. The second value is the first spelling in the
/// list of beginnings, which replaces that part.
fn split_beginning<'t>(text: &'t str, dictionary: &'t Dictionary) -> Option<(&'t str, Option<&'t str>)> {
    let known = dictionary.beginnings.iter().filter_map(|known| text.strip_prefix(known.as_str()));
    let rest = known.filter(|rest| rest.is_empty() || rest.len() >= LEAST_AFTER_BEGINNING);
    let rest = rest.min_by_key(|rest| rest.len())?;
    Some((dictionary.beginnings.first()?, Some(rest).filter(|rest| !rest.is_empty())))
}

/// Splits a compound name such as `Nureddin` before its last part. The first spelling in the list of ends replaces that
/// part.
fn split_end<'t>(text: &'t str, dictionary: &'t Dictionary) -> Option<(&'t str, &'t str)> {
    let (canonical, known) = dictionary.ends.split_first()?;
    let rests = known.iter().filter_map(|end| text.strip_suffix(end.as_str()));
    let rest = rests.filter(|rest| rest.len() >= LEAST_BEFORE_END).min_by_key(|rest| rest.len())?;
    Some((rest, canonical))
}

fn mark_patronymics(words: &mut [Word], dictionary: &Dictionary) {
    let is_patronymic = |word: &Word| {
        let stems = dictionary.patronymics.iter().filter_map(|end| word.text.strip_suffix(end.as_str()));
        word.kind == Kind::Plain && stems.into_iter().any(|stem| stem.len() >= LEAST_BEFORE_PATRONYMIC)
    };
    let count = words.iter().filter(|word| matches!(word.kind, Kind::Plain | Kind::Han)).count();
    let is_any_other = words.iter().any(|word| word.kind == Kind::Plain && !is_patronymic(word));
    if count >= LEAST_WORDS_WITH_PATRONYMIC && is_any_other {
        for word in words.iter_mut().filter(|word| is_patronymic(word)) {
            word.kind = Kind::Patronymic;
        }
    }
}
