//! Compares two names: pairs their corresponding words, and combines the similarities of the pairs.

use super::tables::Dictionary;
use super::words::{Kind, Word};
use crate::casework::limits::WORD_LETTERS;

/// Minimum similarity of two corresponding words in two names.
const LEAST: f64 = 0.8;
/// Maximum number of letters of a short word in a name. Short words correspond only if they are equal, because one
/// other letter makes a different word.
const SHORT: usize = 4;
/// Similarity of two words in names that are known spellings of one name.
const SPELLINGS: f64 = 0.98;
/// Similarity of two words in names that sound the same but have other letters.
const SOUNDS: f64 = 0.99;
/// Similarity of two words in names if only one of them is written together with its article.
const ARTICLE: f64 = 0.97;
/// Similarity of two words in names with the same consonants, if one word is in a script without vowels.
const CONSONANTS: f64 = 0.96;
/// Similarity of two words in names with the same one or two consonants, if one word is in a script without vowels.
const ONE_CONSONANT: f64 = 0.8;
const TWO_CONSONANTS: f64 = 0.9;
/// Similarity of an initial in one name and a word in the other name that begins with it.
const INITIAL: f64 = 0.9;
/// Minimum similarity between a word and joined adjacent words of the other name that makes them the same word.
const JOINED: f64 = 0.87;
/// Factor for the weight of words in a name without a counterpart in the other name, if both names have such words.
const CONTRADICTION: f64 = 1.5;
/// Factor for the weight of words in a name without a counterpart in the other name, if only one of the names has such
/// words.
const MISSING: f64 = 0.1;
/// Factor that replaces [`MISSING`] if a word without a counterpart is distinctive, and the names share at most one
/// distinctive word.
const MISSING_OF_ONE: f64 = 0.6;
/// Weight of an initial that only one of the names has.
const MISSING_INITIAL: f64 = 0.1;
/// Factor for the similarity of two names with different numbers, such as `Line 1` and `Line 2`.
const OTHER_NUMBER: f64 = 0.8;

/// Returns the similarity of two names, from 0 to 1.
pub(super) fn of_names(one: &[Word], other: &[Word], dictionary: &Dictionary) -> f64 {
    let (joined_one, joined_other) = (join(one, other, dictionary), join(other, one, dictionary));
    let (one, other) = (joined_one.as_deref().unwrap_or(one), joined_other.as_deref().unwrap_or(other));
    let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
    for (at, word) in one.iter().enumerate() {
        for (place, with) in other.iter().enumerate() {
            let like = of_words(word, with, dictionary);
            if like > 0.0 {
                pairs.push((like, at, place));
            }
        }
    }
    if pairs.is_empty() {
        return 0.0;
    }
    pairs.sort_by(|a, b| {
        let by_place = (a.1.abs_diff(a.2), a.1, a.2).cmp(&(b.1.abs_diff(b.2), b.1, b.2));
        b.0.total_cmp(&a.0).then(by_place)
    });
    let (mut is_left_one, mut is_left_other) = (vec![true; one.len()], vec![true; other.len()]);
    let (mut weights, mut sum, mut distinct) = (0.0, 0.0, 0);
    for (like, at, place) in pairs {
        if is_left_one[at] && is_left_other[place] {
            (is_left_one[at], is_left_other[place]) = (false, false);
            let weight = one[at].weight().min(other[place].weight());
            weights += weight;
            sum += weight * like;
            distinct += usize::from(is_distinctive(&one[at]) && is_distinctive(&other[place]));
        }
    }
    let (left_one, left_other) = (left(one, &is_left_one), left(other, &is_left_other));
    let contradicting = left_one.min(left_other);
    let missing = left_one.max(left_other) - contradicting;
    let lacks = |words: &[Word], is_left: &[bool], wanted: fn(&Word) -> bool| {
        words.iter().zip(is_left).any(|(word, is_left)| *is_left && wanted(word))
    };
    let lacks = |wanted| lacks(one, &is_left_one, wanted) || lacks(other, &is_left_other, wanted);
    let of_missing = if distinct < 2 && lacks(is_distinctive) { MISSING_OF_ONE } else { MISSING };
    let total = weights + CONTRADICTION * contradicting + missing * of_missing;
    let like = if total > 0.0 { sum / total } else { 0.0 };
    if lacks(|word| word.kind == Kind::Number) { like * OTHER_NUMBER } else { like }
}

/// Returns the total weight of the words in a name without a counterpart in the other name.
fn left(words: &[Word], is_left: &[bool]) -> f64 {
    let weight = |word: &Word| if word.kind == Kind::Initial { MISSING_INITIAL } else { word.weight() };
    words.iter().zip(is_left).filter(|(_, is_left)| **is_left).map(|(word, _)| weight(word)).sum()
}

fn is_distinctive(word: &Word) -> bool {
    match word.kind {
        Kind::Plain | Kind::Han | Kind::Patronymic | Kind::Number => true,
        Kind::Beginning | Kind::Initial | Kind::Particle | Kind::Common(_) => false,
    }
}

/// Returns the similarity of two words in names: 0, or at least [`LEAST`] times a factor for the kind of similarity.
/// For example, the words sound the same.
fn of_words(one: &Word, other: &Word, dictionary: &Dictionary) -> f64 {
    match (one.kind, other.kind) {
        (Kind::Common(list), Kind::Common(other)) => return if list == other { 1.0 } else { 0.0 },
        (Kind::Common(_), _) | (_, Kind::Common(_)) => return 0.0,
        _ if one.letters.text == other.letters.text && one.text == other.text => return 1.0,
        (Kind::Number | Kind::Particle, _) | (_, Kind::Number | Kind::Particle) => return 0.0,
        (Kind::Initial, _) | (_, Kind::Initial) => {
            let same = |one: &str, other: &str| one.bytes().next() == other.bytes().next();
            let is_same = same(&one.text, &other.text) || same(&one.key, &other.key);
            return if is_same { INITIAL } else { 0.0 };
        }
        _ => {}
    }
    if let (Some(one), Some(other)) = (one.spelling, other.spelling) {
        return if one == other { SPELLINGS } else { 0.0 };
    }
    if one.kind == Kind::Han || other.kind == Kind::Han {
        return 0.0;
    }
    let spelled = |a: &str, a_set: u32, b: &str, b_set: u32, gaps: Gaps| {
        if may_be_near((a, a_set), (b, b_set)) { near(a, b, gaps, dictionary) } else { 0.0 }
    };
    if one.is_abjad != other.is_abjad {
        let (a, b) = (&*one.consonants, &*other.consonants);
        if a == b {
            return match a.len() {
                0 => 0.0,
                1 => ONE_CONSONANT,
                2 => TWO_CONSONANTS,
                _ => CONSONANTS,
            };
        }
        return spelled(a, one.letters.consonants, b, other.letters.consonants, Gaps::Whole) * CONSONANTS;
    }
    if one.is_abjad {
        return spelled(&one.text, one.letters.text, &other.text, other.letters.text, Gaps::Weak);
    }
    let mut like = spelled(&one.key, one.letters.key, &other.key, other.letters.key, Gaps::Weak) * SOUNDS;
    for (with, without) in [(one, other), (other, one)] {
        if let Some((bare, letters)) = with.without_article.as_ref().filter(|_| like < INITIAL) {
            like = like.max(spelled(bare, *letters, &without.key, without.letters.key, Gaps::Weak) * ARTICLE);
        }
    }
    like
}

/// Cost of a letter that is in only one of two compared words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gaps {
    /// A vowel, `h` or `y` that is in only one of the words costs half, except at the beginning of a word.
    Weak,
    Whole,
}

/// Returns false if words with these sets of letters certainly have a similarity below [`LEAST`]. This check is much
/// faster than [`near`].
fn may_be_near((one, one_set): (&str, u32), (other, other_set): (&str, u32)) -> bool {
    let by_letters = (one_set & !other_set).count_ones().max((other_set & !one_set).count_ones()) as usize;
    let halves = by_letters.max(one.len().abs_diff(other.len()));
    // Avoids a division, and tolerates rounding errors.
    as_float(halves) <= as_float(one.len().max(other.len())) * (1.0 - LEAST) * 2.0 + 1e-6
}

fn from_halves(halves: usize, len: usize) -> f64 {
    1.0 - as_float(halves) / 2.0 / as_float(len)
}

#[expect(clippy::cast_precision_loss, reason = "words have few letters")]
const fn as_float(count: usize) -> f64 {
    count as f64
}

/// Returns the share of equal letters in two words: 0, or at least [`LEAST`].
fn near(one: &str, other: &str, gaps: Gaps, dictionary: &Dictionary) -> f64 {
    if one == other {
        return 1.0;
    }
    let longer = one.len().max(other.len());
    let (Some(first), Some(other_first)) = (one.bytes().next(), other.bytes().next()) else { return 0.0 };
    if longer <= SHORT {
        return 0.0;
    }
    let begins_otherwise = first != other_first && !dictionary.are_alike(first, other_first);
    let Some(halves) = distance(one.as_bytes(), other.as_bytes(), gaps, dictionary) else { return 0.0 };
    let like = from_halves(halves + usize::from(begins_otherwise), longer);
    if like >= LEAST { like } else { 0.0 }
}

/// Returns the edit distance of two words (optimal string alignment) in halves, or `None` if their similarity is
/// certainly below [`LEAST`]. Replacing a letter costs one half if people often write one letter for the other. Any
/// other replacement costs three halves, because people more often omit, double or swap letters. Words have at most
/// [`WORD_LETTERS`] letters.
fn distance(one: &[u8], other: &[u8], gaps: Gaps, dictionary: &Dictionary) -> Option<usize> {
    let gap = |word: &[u8], at: usize| {
        let is_weak = gaps == Gaps::Weak
            && at > 0
            && matches!(word[at], b'a' | b'e' | b'i' | b'o' | b'u' | b'h' | b'y');
        if is_weak { 1_u8 } else { 2 }
    };
    // Costs are at most three halves for each letter of the longer word. Therefore they fit into a byte.
    const { assert!(WORD_LETTERS * 3 < u8::MAX as usize) };
    let mut rows = [[0_u8; WORD_LETTERS + 1]; 3];
    let longer = one.len().max(other.len());
    let mut least_above = 0;
    for at in 0..other.len() {
        rows[0][at + 1] = rows[0][at] + gap(other, at);
    }
    for (at, letter) in one.iter().enumerate() {
        let [earlier, above, now] = [(at + 2) % 3, at % 3, (at + 1) % 3];
        rows[now][0] = rows[above][0] + gap(one, at);
        let mut row_least = rows[now][0];
        for (place, with) in other.iter().enumerate() {
            let replacing = match () {
                () if letter == with => 0,
                () if dictionary.are_alike(*letter, *with) => 1,
                () => 3,
            };
            let mut cost = (rows[above][place] + replacing)
                .min(rows[above][place + 1] + gap(one, at))
                .min(rows[now][place] + gap(other, place));
            let is_swapped = at > 0 && place > 0 && *letter == other[place - 1] && one[at - 1] == *with;
            if is_swapped {
                cost = cost.min(rows[earlier][place - 1] + 2);
            }
            rows[now][place + 1] = cost;
            row_least = row_least.min(cost);
        }
        // Every later cell is computed from the last two rows. Therefore no later distance is smaller than their
        // minimum.
        if from_halves(usize::from(row_least.min(least_above)), longer) < LEAST {
            return None;
        }
        least_above = row_least;
    }
    Some(usize::from(rows[one.len() % 3][other.len()]))
}

/// Minimum number of letters of a word that is compared with joined words of the other name.
const LEAST_JOINED: usize = 4;
/// Maximum difference in length between joined words of a name and a word of the other name.
const OTHER_LETTERS: usize = 2;

fn text_len(words: &[Word]) -> usize {
    words.iter().map(|word| word.text.len()).sum()
}

/// Joins adjacent words of a name that are a single word in the other name. Returns `None` if there are none.
fn join(words: &[Word], others: &[Word], dictionary: &Dictionary) -> Option<Vec<Word>> {
    let mut joined: Option<Vec<Word>> = None;
    let shortest = words.windows(2).map(text_len).min()?;
    let others = others.iter().filter(|other| other.text.len() + OTHER_LETTERS >= shortest);
    for other in others.filter(|other| other.text.len() >= LEAST_JOINED && !other.is_abjad) {
        let now = joined.as_deref().unwrap_or(words);
        let places = [2, 3]
            .into_iter()
            .flat_map(|len| (0..(now.len() + 1).saturating_sub(len)).map(move |at| (at, len)));
        let found = places.into_iter().find_map(|(at, len)| {
            joined_word(&now[at..at + len], other, dictionary).map(|word| (at, len, word))
        });
        if let Some((at, len, word)) = found {
            let mut now = now.to_vec();
            now.splice(at..at + len, [word]);
            joined = Some(now);
        }
    }
    joined
}

/// Joins words of a name into one word. Returns `None` if the result does not correspond to the word `other` of the
/// other name.
fn joined_word(words: &[Word], other: &Word, dictionary: &Dictionary) -> Option<Word> {
    let letters = words.iter().fold(0, |set, word| set | word.letters.text);
    if text_len(words).abs_diff(other.text.len()) > OTHER_LETTERS
        || (letters ^ other.letters.text).count_ones() > 6
    {
        return None;
    }
    let is_unfit = |word: &Word| {
        word.is_abjad || matches!(word.kind, Kind::Number | Kind::Common(_)) || word.text == other.text
    };
    if words.iter().any(is_unfit) {
        return None;
    }
    let text: String = words.iter().map(|word| &*word.text).collect();
    let is_han = words.iter().any(|word| word.kind == Kind::Han);
    let joined = Word::new(if is_han { Kind::Han } else { Kind::Plain }, &text, dictionary);
    let is_same_spelling = joined.spelling.is_some() && joined.spelling == other.spelling;
    let is_same = joined.text == other.text || is_same_spelling || {
        let like = near(&joined.key, &other.key, Gaps::Weak, dictionary);
        let is_better = || words.iter().all(|word| of_words(word, other, dictionary) < like);
        text.len() >= 6 && !is_han && like >= JOINED && is_better()
    };
    is_same.then_some(joined)
}
