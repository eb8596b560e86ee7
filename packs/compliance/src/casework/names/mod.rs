//! Names of people and companies, and a measure of how similar two names are.
//!
//! `letters.rs` transliterates. `tables.rs` contains the word lists, which are part of the rules. `words.rs` splits a
//! name into words. `likeness.rs` compares two names by their words. The guide explains each step to people who read a
//! report.

mod letters;
mod likeness;
mod tables;
mod words;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_script::{Script, UnicodeScript};

pub(crate) use tables::Dictionary;
pub use tables::NameTables;

use crate::casework::limits;
use words::Word;

/// Letters that Unicode does not decompose into basic Latin letters, with the letters that replace them.
const LETTERS: [(char, &str); 8] =
    [('ß', "ss"), ('ł', "l"), ('ø', "o"), ('đ', "d"), ('æ', "ae"), ('œ', "oe"), ('ı', "i"), ('þ', "th")];

/// A name that was split into words for comparisons.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    words: Vec<Word>,
    /// Script of the first letter of the name. `None` if the name has no letter.
    script: Option<&'static str>,
}

impl Name {
    pub(crate) fn new(name: &str, dictionary: &Dictionary) -> Self {
        Self { words: words::split(name, dictionary), script: script(name) }
    }

    /// Returns the similarity of two names, from 0 to 1. The similarity is 1 for names with the same words in any
    /// order.
    pub(crate) fn like(&self, other: &Self, dictionary: &Dictionary) -> f64 {
        likeness::of_names(&self.words, &other.words, dictionary)
    }

    /// Returns the cost of comparing this name. The time of a comparison is at most proportional to the product of both
    /// names' costs.
    pub(crate) fn cost(&self) -> u64 {
        let letters: usize = self.words.iter().map(|word| word.text.len()).sum();
        (letters + self.words.len() * limits::WORD_COST) as u64
    }

    pub(crate) fn main_script(&self) -> Option<&'static str> {
        self.script
    }
}

/// Returns a key that is the same for names that differ only in case, diacritics, punctuation or the order of words.
pub(crate) fn key(name: &str) -> String {
    let folded: String =
        name.to_lowercase().nfkd().filter(|c| !is_combining_mark(*c)).collect::<String>().to_lowercase();
    let mut plain = String::with_capacity(folded.len());
    for c in folded.chars() {
        match LETTERS.iter().find(|(letter, _)| *letter == c) {
            Some((_, instead)) => plain.push_str(instead),
            None if c.is_alphanumeric() => plain.push(c),
            None => plain.push(' '),
        }
    }
    let mut words: Vec<&str> = plain.split_whitespace().collect();
    words.sort_unstable();
    words.join(" ")
}

fn script(name: &str) -> Option<&'static str> {
    let shared = [Script::Common, Script::Inherited, Script::Unknown];
    name.chars()
        .filter(|c| c.is_alphabetic())
        .map(|c| c.script())
        .find(|script| !shared.contains(script))
        .map(Script::full_name)
}
