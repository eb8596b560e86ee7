//! Answers that are kept per subject: what counts as the same question, as a similar one, and as a word that is searched
//! for. One definition for all stores and surfaces.
//!
//! A subject is what `input.subject` of a run names: the athlete, the repository, the customer. Nothing here ever looks
//! across subjects: the rows that come in are those of one.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::digest::Digest;
use crate::id::InterruptId;
use crate::json;
use crate::projection::AnswerRow;
use crate::schema;
use crate::time::Timestamp;

/// Bytes of a subject. A longer one, an empty one, or one with control characters counts as none: two subjects must
/// never be taken for one.
pub const SUBJECT_BYTES: usize = 256;

/// Words of an answer and its question that it is found by.
pub const WORDS: usize = 1_000;

/// Words of one search; those behind them are left out.
pub const SEARCHED_WORDS: usize = 32;

/// Earlier answers that a question is shown with.
pub const SUGGESTIONS: usize = 3;

/// Earlier answers that a question is compared with, the newest ones.
pub const COMPARED: usize = 200;

/// Bytes of a question that a row holds.
pub const QUESTION_BYTES: usize = 2_000;

/// Characters of a word; the rest is cut off.
const WORD_CHARS: usize = 64;

/// The subject of a run with this input.
pub fn subject(input: &Value) -> Option<&str> {
    subject_of(input.get("subject")?.as_str()?)
}

/// A text as a subject; `None`: erasing would not find it.
pub fn subject_of(text: &str) -> Option<&str> {
    let subject = text.trim();
    let fits = !subject.is_empty() && subject.len() <= SUBJECT_BYTES && !subject.contains(char::is_control);
    fits.then_some(subject)
}

/// Equal for questions that are the same text, whatever their case and spaces.
pub fn asked(question: &str) -> String {
    let folded: Vec<String> = question.split_whitespace().map(str::to_lowercase).collect();
    Digest::of(folded.join(" ").as_bytes()).to_string()
}

/// The words of texts, in lower case, in their order, each once. A character of a script that puts no spaces between
/// words is a word.
pub fn words<'t>(texts: impl IntoIterator<Item = &'t str>, most: usize) -> Vec<String> {
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

/// The words of what somebody searches for.
pub fn searched(text: &str) -> Vec<String> {
    words([text], SEARCHED_WORDS)
}

/// Answer recorded when a person leaves a question empty (contract E14). It answers no later question.
pub const NOTHING: &str = "No response provided";

/// Whether an answer may count for a later question.
fn may_count(row: &AnswerRow) -> bool {
    !row.erased && !row.reused && row.answer != NOTHING
}

/// Whether an answer has the form that a question asks for: words, or data that fits its schema.
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

/// Of rows of one subject those whose question is the same or like it, best first, the newest of equal ones; each answer
/// once.
pub fn suggestions(question: &str, itself: &InterruptId, rows: Vec<AnswerRow>) -> Vec<AnswerRow> {
    let (same, own) = (asked(question), own_words(question));
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

/// Of rows of one subject whose question is the same the newest that is not older than `reuse_ms`.
pub fn reusable(rows: Vec<AnswerRow>, now: Timestamp, reuse_ms: u64) -> Option<AnswerRow> {
    let is_young = |row: &AnswerRow| now.ms_since(row.since()) <= reuse_ms;
    let counts = rows.into_iter().filter(|row| may_count(row) && is_young(row));
    counts.max_by(|one, other| (one.since(), &one.interrupt).cmp(&(other.since(), &other.interrupt)))
}

/// Two questions of which half of the words are the same, out of a thousand.
const LIKE: u32 = 500;

/// Twice the words that both have, by those that each has, out of a thousand.
fn likeness(one: &BTreeSet<String>, other: &BTreeSet<String>) -> u32 {
    let (shared, all) = (one.intersection(other).count(), one.len() + other.len());
    u32::try_from((shared * 2_000).checked_div(all).unwrap_or(0)).unwrap_or(0)
}

fn own_words(question: &str) -> BTreeSet<String> {
    words([question], WORDS).into_iter().collect()
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

/// Han, kana and the scripts of Thailand, Laos, Myanmar and Cambodia.
fn is_unspaced(char: char) -> bool {
    matches!(u32::from(char), 0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}
