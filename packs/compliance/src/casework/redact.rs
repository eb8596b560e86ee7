//! Replaces names and ids of a case in texts. The question of a person may contain names, but agents must receive only
//! numbers.

use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

use crate::casework::case::Case;
use crate::casework::findings::Subject;

/// Minimum number of bytes of a name or id that is replaced in texts. A shorter one would also be found inside other
/// words.
const LEAST_BYTES: usize = 4;

/// Replaces the names, ids, accounts and dates of birth of the case in a text by numbers such as `customer 3`. Ignores
/// upper and lower case, the encoding of diacritics, and the amount of white space.
pub fn redact(case: &Case, text: &str) -> String {
    in_place(&collect_terms(case), text)
}

/// Replaces names and ids of the case in the texts and keys of a JSON object, and numbers that are accounts.
pub fn redact_members(case: &Case, members: Map<String, Value>) -> Map<String, Value> {
    in_members(&collect_terms(case), members)
}

/// Normalized name or id to replace in texts, and its replacement.
type RedactedTerm = (Vec<char>, String);

/// Returns the names and ids of the case to replace in texts. The longest are first, because a name may contain a
/// shorter one.
fn collect_terms(case: &Case) -> Vec<RedactedTerm> {
    let mut words: Vec<(&str, String)> = Vec::new();
    let dates: Vec<String> = case
        .customers
        .iter()
        .map(|customer| customer.birth_date.map(|date| date.to_string()).unwrap_or_default())
        .collect();
    for (at, (customer, born)) in case.customers.iter().zip(&dates).enumerate() {
        let subject = Subject::Customer(at + 1).to_string();
        let own = [&customer.name, &customer.id, &customer.account, born];
        words.extend(own.map(|word| (word.as_str(), subject.clone())));
    }
    for (at, party) in case.parties.iter().enumerate() {
        words.push((party.name.as_str(), Subject::Party(at + 1).to_string()));
    }
    for entry in &case.watched {
        let row = format!("row {} of the watch list", entry.row);
        words.extend(entry.written.iter().map(|name| (name.as_str(), row.clone())));
    }
    let mut words: Vec<RedactedTerm> = words
        .into_iter()
        .filter(|(word, _)| word.len() >= LEAST_BYTES)
        .map(|(word, instead)| (folded(word).into_iter().map(|letter| letter.char).collect(), instead))
        .collect();
    words.sort_by(|one, other| (other.0.len(), &one.0).cmp(&(one.0.len(), &other.0)));
    words
}

fn in_place(words: &[RedactedTerm], text: &str) -> String {
    let mut text = text.to_owned();
    let mut letters = folded(&text);
    for (word, instead) in words {
        if let Some(told) = replaced(&text, &letters, word, instead) {
            letters = folded(&told);
            text = told;
        }
    }
    text
}

fn in_members(words: &[RedactedTerm], members: Map<String, Value>) -> Map<String, Value> {
    let mut kept = Map::new();
    for (name, value) in members {
        let mut name = in_place(words, &name);
        // If two keys become the same text, the second one gets a `'`. Otherwise a value would be lost.
        while kept.contains_key(&name) {
            name.push('\'');
        }
        kept.insert(name, in_value(words, value));
    }
    kept
}

fn in_value(words: &[RedactedTerm], value: Value) -> Value {
    match value {
        Value::String(text) => in_place(words, &text).into(),
        Value::Number(number) => {
            let written = number.to_string();
            let told = in_place(words, &written);
            if told == written { Value::Number(number) } else { told.into() }
        }
        Value::Array(items) => items.into_iter().map(|item| in_value(words, item)).collect(),
        Value::Object(members) => in_members(words, members).into(),
        value @ (Value::Null | Value::Bool(_)) => value,
    }
}

/// Replaces all occurrences of a word in a text. Returns `None` if there are none.
fn replaced(text: &str, letters: &[Letter], word: &[char], instead: &str) -> Option<String> {
    let mut at = find(letters, word, 0)?;
    let (mut out, mut told) = (String::with_capacity(text.len()), 0);
    loop {
        let behind = at + word.len();
        // If a character normalizes to several letters, it may be the end of one match and the beginning of the next.
        out.push_str(&text[told..letters[at].begin.max(told)]);
        out.push_str(instead);
        told = letters[behind - 1].end;
        let Some(next) = find(letters, word, behind) else { break };
        at = next;
    }
    out.push_str(&text[told..]);
    Some(out)
}

/// Returns the first position in a text, from `from` on, at which the word begins. Skips a match before a combining
/// mark.
fn find(letters: &[Letter], word: &[char], from: usize) -> Option<usize> {
    let first = word.first()?;
    (from..=letters.len().checked_sub(word.len())?).find(|at| {
        let behind = at + word.len();
        letters[*at].char == *first
            && letters[*at..behind].iter().map(|letter| &letter.char).eq(word)
            && letters.get(behind).is_none_or(|next| !is_mark(next.char))
    })
}

/// A normalized letter, with its range of bytes in the original text.
struct Letter {
    char: char,
    begin: usize,
    end: usize,
}

/// Normalizes a text to lower case, NFKD, and single blanks, so that texts that look the same become equal.
fn folded(text: &str) -> Vec<Letter> {
    let mut letters: Vec<Letter> = Vec::with_capacity(text.len());
    let mut begin = 0;
    while begin < text.len() {
        // A character is normalized together with its combining marks. Therefore the order of the marks does not
        // matter.
        let rest = &text[begin..];
        let len = rest.char_indices().skip(1).find(|(_, c)| !is_mark(*c)).map_or(rest.len(), |(at, _)| at);
        let end = begin + len;
        // Upper case comes in between: it makes `ß` to `ss`, and all forms of sigma to one letter. Before it, `ẞ`
        // becomes `ß`.
        let upper = rest[..len].nfkd().flat_map(char::to_lowercase).flat_map(char::to_uppercase);
        for char in upper.flat_map(char::to_lowercase) {
            let char = if char.is_whitespace() { ' ' } else { char };
            match letters.last_mut() {
                Some(last) if last.char == ' ' && char == ' ' => last.end = end,
                _ => letters.push(Letter { char, begin, end }),
            }
        }
        begin = end;
    }
    letters
}

fn is_mark(c: char) -> bool {
    canonical_combining_class(c) != 0
}
