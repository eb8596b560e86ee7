//! Smart approval: finds reasons to ask a person about an action of an agent (contract A4). Smart approval searches the
//! agent's message, the agent's call, and the recent failures.
//!
//! Smart approval compares whole words, and its result is always the same for the same input. Smart approval only adds
//! reasons to ask a person. Smart approval never cancels a question of a gate, and never stops a call that only reads.
//! Optionally, a model also judges calls: see `run/oversight.rs`.
//!
//! | code | a person is asked if |
//! |---|---|
//! | `keyword` | message, call or plan contain a keyword of the workflow, or an inflected form (`deletes`, `deletion`) |
//! | `production` | message, call or plan contain a word such as `prod`, `--env=prod`, `db.prod.example.com`, `PRD=1` |
//! | `uncertain` | the agent states that it is not sure |
//! | `failing` | calls of the step failed three times in a row, or the step was retried three times |

use serde_json::Value;

use super::{Reason, Source};

const PRODUCTION: [&str; 3] = ["production", "prod", "prd"];

/// Phrases by which agents state that they are uncertain.
const UNCERTAIN: [&str; 18] = [
    "not sure",
    "unsure",
    "not certain",
    "uncertain",
    "not confident",
    "no idea",
    "might break",
    "may break",
    "could break",
    "might fail",
    "i assume",
    "i am assuming",
    "i'm assuming",
    "i guess",
    "i am guessing",
    "i'm guessing",
    "risky",
    "hopefully",
];

/// Number of consecutive failed calls at which smart approval asks a person. Also the number of retries of a step at
/// which smart approval asks.
const FAILURES: u32 = 3;

/// Word endings. A word with one of these endings matches a keyword of smart approval without the ending.
const ENDINGS: [&str; 21] = [
    "s", "es", "d", "ed", "ing", "er", "ers", "or", "ors", "ion", "ions", "ment", "ments", "al", "als",
    "ure", "able", "ly", "y", "ies", "ied",
];

/// Minimum number of characters of a keyword that also matches with other endings. Shorter words are usually
/// abbreviations: `apt` does not match `aptly`.
const INFLECTED: usize = 4;

/// Next action of an agent: a call, a hand-off or a plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct Act<'a> {
    /// Message that the agent wrote with the action.
    pub said: &'a str,
    pub tool: &'a str,
    pub arguments: Option<&'a Value>,
    /// Plan that the agent proposes. `None` if the action is not a plan.
    pub plan: Option<&'a Value>,
    /// Number of consecutive failed calls of the step in which the agent acts.
    pub failures: u32,
    /// Number of times that the step in which the agent acts was retried.
    pub retries: u32,
}

/// Returns the reasons to ask a person about an action: keywords, production, uncertainty and failures, in this order.
pub fn reasons(act: &Act<'_>, keywords: &[String]) -> Vec<Reason> {
    let within = |value: Option<&Value>| {
        let mut texts = Vec::new();
        if let Some(value) = value {
            strings(value, &mut texts);
        }
        texts.into_iter().flat_map(read).collect()
    };
    let places = [
        ("the agent's message", read(act.said)),
        ("the tool's name", read(act.tool)),
        ("the arguments", within(act.arguments)),
        ("the plan", within(act.plan)),
    ];
    let found = |is_there: &dyn Fn(&[Text]) -> bool| {
        let names: Vec<&str> =
            places.iter().filter(|(_, texts)| is_there(texts)).map(|(name, _)| *name).collect();
        (!names.is_empty()).then(|| names.join(" and "))
    };
    let mut reasons = Vec::new();
    for keyword in keywords {
        if let Some(at) = found(&|texts| says_keyword(texts, keyword)) {
            reasons.push(reason("keyword", format!("the keyword `{keyword}` occurs in {at}")));
        }
    }
    let named = |word: &str| keywords.iter().any(|keyword| keyword.eq_ignore_ascii_case(word));
    for word in PRODUCTION.into_iter().filter(|word| !named(word)) {
        if let Some(at) = found(&|texts| texts.iter().any(|text| text.is_numbered(word))) {
            reasons.push(reason(
                "production",
                format!(
                    "`{word}` in {at} refers to a production \
                environment"
                ),
            ));
        }
    }
    reasons.extend(uncertainty(act.said));
    if act.failures >= FAILURES {
        let text = format!("the last {} calls of the step failed, so the agent may need help", act.failures);
        reasons.push(reason("failing", text));
    } else if act.retries >= FAILURES {
        let text = format!("the step was retried {} times, so the agent may need help", act.retries);
        reasons.push(reason("failing", text));
    }
    reasons
}

/// Returns a reason if the agent states that it is uncertain.
pub fn uncertainty(said: &str) -> Option<Reason> {
    let said = read(said);
    let phrase = UNCERTAIN.into_iter().find(|phrase| says_exactly(&said, phrase))?;
    Some(reason("uncertain", format!("the agent is uncertain: `{phrase}` in its message")))
}

/// Returns true if the text contains at least one word. A text without a word cannot be a keyword.
pub fn is_keyword(text: &str) -> bool {
    read(text).iter().any(|text| !text.words.is_empty())
}

fn reason(code: &str, text: String) -> Reason {
    Reason { source: Source::Smart, code: code.to_owned(), rule: None, text }
}

/// Collects all texts inside a value, at any depth.
fn strings<'v>(value: &'v Value, into: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => into.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, into)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Lower-case words of a text.
pub(crate) struct Text {
    words: Vec<String>,
}

impl Text {
    pub(crate) fn has(&self, is_it: impl Fn(&str) -> bool) -> bool {
        self.words.iter().any(|word| is_it(word))
    }

    /// Returns true if the text contains the word, possibly followed by digits: `prod` or `prod2`.
    pub(crate) fn is_numbered(&self, word: &str) -> bool {
        self.words.iter().any(|each| each.trim_end_matches(|c: char| c.is_ascii_digit()) == word)
    }

    fn contains_phrase<'p>(
        &self,
        mut phrase: impl Iterator<Item = &'p str> + Clone,
        is_it: impl Fn(&str, &str) -> bool,
    ) -> bool {
        let Some(first) = phrase.next() else { return false };
        let rest_follows = |at: usize| {
            let mut after = self.words[at + 1..].iter();
            phrase.clone().all(|word| after.next().is_some_and(|said| is_it(said, word)))
        };
        self.words.iter().enumerate().any(|(at, said)| is_it(said, first) && rest_follows(at))
    }
}

/// Splits a text into words, in two ways. The first way splits only at characters that are neither letters nor digits.
/// The second way also splits at capitals within a word (`deleteOldFiles`).
pub(crate) fn read(text: &str) -> Vec<Text> {
    let plain = split_lowercase(text);
    let mut humped = String::with_capacity(text.len());
    let mut small_before = false;
    for c in text.chars() {
        if c.is_uppercase() && small_before {
            humped.push(' ');
        }
        small_before = c.is_lowercase() || c.is_numeric();
        humped.push(c);
    }
    let humped = split_lowercase(&humped);
    if humped == plain {
        vec![Text { words: plain }]
    } else {
        vec![Text { words: plain }, Text { words: humped }]
    }
}

fn split(text: &str) -> impl Iterator<Item = &str> + Clone {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn split_lowercase(text: &str) -> Vec<String> {
    split(text).map(str::to_lowercase).collect()
}

fn says_keyword(texts: &[Text], keyword: &str) -> bool {
    let phrase = split_lowercase(keyword);
    texts.iter().any(|text| text.contains_phrase(phrase.iter().map(String::as_str), is_form_of))
}

/// Returns true if a text contains exactly the phrase. Words with other endings do not match. The phrase must be in
/// lower case.
pub(crate) fn says_exactly(texts: &[Text], phrase: &str) -> bool {
    texts.iter().any(|text| text.contains_phrase(split(phrase), |said, word| said == word))
}

/// Returns true if `said` is the word, or the word with another ending: `deletes`, `deleting`, `dropped`, `deployment`,
/// but not `undeleted`.
pub(crate) fn is_form_of(said: &str, word: &str) -> bool {
    if said == word {
        return true;
    }
    // Scripts without letter case often have no spaces between words, so the word may be at any place in the text.
    if !word.is_ascii() && word.chars().any(|c| c.is_alphabetic() && !c.is_lowercase()) {
        return said.contains(word);
    }
    let Some((last, c)) = word.char_indices().next_back() else { return false };
    if word.chars().nth(INFLECTED - 1).is_none() {
        return false;
    }
    let is_ending = |ending: &str| ENDINGS.contains(&ending);
    let Some(after) = said.strip_prefix(&word[..last]) else { return false };
    if matches!(c, 'e' | 'y') && is_ending(after) {
        return true;
    }
    let Some(after) = after.strip_prefix(c) else { return false };
    is_ending(after) || (!matches!(c, 'e' | 'y') && after.strip_prefix(c).is_some_and(is_ending))
}
