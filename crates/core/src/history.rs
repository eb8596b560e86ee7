//! Answers of people, which are stored per subject so that later questions can reuse them. This module defines when two
//! questions are equal or similar, and how answers are searched. All stores and user interfaces use these definitions.
//!
//! The subject of a run is the field `subject` of its input, for example an athlete, a repository or a customer.
//! Answers about different subjects are never compared. The caller passes rows of one subject.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::digest::Digest;
use crate::id::InterruptId;
use crate::json;
use crate::projection::AnswerRow;
use crate::schema;
use crate::time::Timestamp;

/// Maximum number of bytes of a subject. A longer text, an empty text, or a text with control characters is not
/// accepted as a subject. Therefore two different subjects are never stored under the same name.
pub const SUBJECT_BYTES: usize = 256;

/// Maximum number of words that are indexed of an answer and its question together.
pub const WORDS: usize = 1_000;

/// Maximum number of words in one search. Further words are ignored.
pub const SEARCHED_WORDS: usize = 32;

/// Maximum number of earlier answers that are shown with a question.
pub const SUGGESTIONS: usize = 3;

/// Maximum number of earlier answers whose questions are compared with a new question. The newest are used.
pub const COMPARED: usize = 200;

/// Maximum number of bytes of the question's text in a stored row.
pub const QUESTION_BYTES: usize = 2_000;

/// Maximum number of characters of an indexed word. Longer words are cut.
const WORD_CHARS: usize = 64;

/// Returns the subject of a run with this input. `None` if the run has no subject.
pub fn subject(input: &Value) -> Option<&str> {
    subject_of(input.get("subject")?.as_str()?)
}

/// Parses a subject. `None` if the text is not a valid subject. Answers with an invalid subject could not be found when
/// a person asks for their erasure.
pub fn subject_of(text: &str) -> Option<&str> {
    let subject = text.trim();
    let fits = !subject.is_empty() && subject.len() <= SUBJECT_BYTES && !subject.contains(char::is_control);
    fits.then_some(subject)
}

/// Returns a key for comparing questions. Questions that differ only in letter case and spaces have the same key.
pub fn question_key(question: &str) -> String {
    let folded: Vec<String> = question.split_whitespace().map(str::to_lowercase).collect();
    Digest::of_bytes(folded.join(" ").as_bytes()).to_string()
}

/// Returns the words of the texts in lower case, in their order and without duplicates. In scripts that have no spaces
/// between words, each character is a word.
pub fn collect_words<'t>(texts: impl IntoIterator<Item = &'t str>, most: usize) -> Vec<String> {
    let mut known = BTreeSet::new();
    let mut words = Vec::new();
    let parts = texts.into_iter().flat_map(|text| text.split(|char: char| !char.is_alphanumeric()));
    for word in parts.flat_map(split_unspaced) {
        let word: String =
            word.to_lowercase().chars().filter(|char| char.is_alphanumeric()).take(WORD_CHARS).collect();
        if words.len() < most && !word.is_empty() && known.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}

/// Returns the words that a search query looks for.
pub fn searched(text: &str) -> Vec<String> {
    collect_words([text], SEARCHED_WORDS)
}

/// Answer that is recorded if a person submits no answer to a question (contract E14). This answer is never reused for
/// a later question.
pub const NOTHING: &str = "No response provided";

/// Returns true if the answer may be suggested to people for later questions.
fn may_count(row: &AnswerRow) -> bool {
    !row.erased && !row.reused && row.answer != NOTHING
}

/// Returns true if an answer has the form that a question requires: a text, or data that matches the question's schema.
pub fn has_form(row: &AnswerRow, schema: Option<&Value>) -> bool {
    let data = match schema {
        None => return !row.is_data,
        Some(schema) if schema::is_of_text(schema) => {
            (!row.is_data).then(|| Value::String(row.answer.clone()))
        }
        Some(_) => row.is_data.then(|| json::parse(row.answer.as_bytes()).ok()).flatten(),
    };
    data.zip(schema).is_some_and(|(data, schema)| schema::check(schema, &data, "").is_empty())
}

/// Returns earlier answers to equal or similar questions about the same subject, the best match first. Of equal
/// matches, the newest is first. Each answer appears only once. `itself` is the interrupt of the new question.
pub fn suggestions(question: &str, itself: &InterruptId, rows: Vec<AnswerRow>) -> Vec<AnswerRow> {
    let (same, own) = (question_key(question), own_words(question));
    let mut ranked: Vec<(u32, AnswerRow)> = rows
        .into_iter()
        .filter(|row| may_count(row) && row.interrupt != *itself)
        .map(|row| {
            (if row.asked == same { u32::MAX } else { likeness(&own, &own_words(&row.question)) }, row)
        })
        .filter(|(likeness, _)| *likeness >= LIKE)
        .collect();
    ranked.sort_by(|(a, one), (b, other)| {
        (b, other.since(), &other.interrupt).cmp(&(a, one.since(), &one.interrupt))
    });
    let mut shown: Vec<AnswerRow> = Vec::new();
    for (_, row) in ranked {
        if shown.len() < SUGGESTIONS && shown.iter().all(|other| other.answer != row.answer) {
            shown.push(row);
        }
    }
    shown
}

/// Returns the newest answer that is at most `reuse_ms` old. All rows must be about the same subject and the same
/// question.
pub fn reusable(rows: Vec<AnswerRow>, now: Timestamp, reuse_ms: u64) -> Option<AnswerRow> {
    let is_young = |row: &AnswerRow| now.ms_since(row.since()) <= reuse_ms;
    let counts = rows.into_iter().filter(|row| may_count(row) && is_young(row));
    counts.max_by(|one, other| (one.since(), &one.interrupt).cmp(&(other.since(), &other.interrupt)))
}

/// Minimum [`likeness`] at which two questions are similar. The value is reached if, for example, both questions have
/// the same number of words and share half of them.
const LIKE: u32 = 500;

/// Returns the similarity of two questions in thousandths: twice the number of shared words, divided by the total
/// number of words in both questions.
fn likeness(one: &BTreeSet<String>, other: &BTreeSet<String>) -> u32 {
    let (shared, all) = (one.intersection(other).count(), one.len() + other.len());
    u32::try_from((shared * 2_000).checked_div(all).unwrap_or(0)).unwrap_or(0)
}

fn own_words(question: &str) -> BTreeSet<String> {
    collect_words([question], WORDS).into_iter().collect()
}

fn split_unspaced(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut begin = 0;
    for (at, char) in word.char_indices().filter(|(_, char)| is_unspaced(*char)) {
        let end = at + char.len_utf8();
        parts.extend([&word[begin..at], &word[at..end]].into_iter().filter(|part| !part.is_empty()));
        begin = end;
    }
    parts.extend(Some(&word[begin..]).filter(|part| !part.is_empty()));
    parts
}

/// Returns true for characters of scripts without spaces between words: Han, kana, and the scripts of Thailand, Laos,
/// Myanmar and Cambodia.
fn is_unspaced(char: char) -> bool {
    matches!(u32::from(char), 0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}
