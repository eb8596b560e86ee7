//! Similarity of two names. Special letters, diacritics and the order of the words do not matter.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Letters that Unicode decomposition does not convert to basic Latin letters, with their replacements.
const LETTERS: [(char, &str); 8] =
    [('ß', "ss"), ('ł', "l"), ('ø', "o"), ('đ', "d"), ('æ', "ae"), ('œ', "oe"), ('ı', "i"), ('þ', "th")];

/// Minimum characters of a name that is compared by similarity. Shorter names must be equal, because they are similar
/// to many names.
const LEAST_CHARS: usize = 3;

/// Name, normalized for comparison.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name {
    /// Lower-case words without diacritics, in their original order.
    plain: String,
    /// Lower-case words without diacritics, in alphabetical order.
    sorted: String,
}

impl Name {
    pub(crate) fn new(name: &str) -> Self {
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
        let in_order = words.join(" ");
        words.sort_unstable();
        Self { sorted: words.join(" "), plain: in_order }
    }

    /// Returns true if the name is long enough to be compared by similarity.
    fn is_name(&self) -> bool {
        self.plain.chars().count() >= LEAST_CHARS
    }

    /// Returns the Jaro-Winkler similarity, from 0 to 1. The words are compared in original and in alphabetical order;
    /// the greater similarity counts.
    pub(crate) fn like(&self, other: &Self) -> f64 {
        if !self.is_name() || !other.is_name() {
            let is_same = self.sorted == other.sorted && !self.sorted.is_empty();
            return if is_same { 1.0 } else { 0.0 };
        }
        let plain = strsim::jaro_winkler(&self.plain, &other.plain);
        plain.max(strsim::jaro_winkler(&self.sorted, &other.sorted))
    }

    pub(crate) fn as_key(&self) -> &str {
        &self.sorted
    }
}

/// Returns the similarity of two names, from 0 to 1.
pub fn similarity(one: &str, other: &str) -> f64 {
    Name::new(one).like(&Name::new(other))
}
