//! Marks look-alike letters in the texts of an interrupt. The warnings of an interrupt name the deceptive words, and
//! this module finds these words in the texts. PURE. `warning/alike.rs` decides which words are deceptive.

use std::fmt::Write;

use serde_json::Value;

use crate::interrupt::Interrupt;
use crate::warning::{Warning, WarningKind};

/// Deceptive words of an interrupt, which imitate ASCII words, from the warnings of the interrupt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LookAlikes(Vec<String>);

/// Piece of an interrupt's text: a single look-alike letter, or the text between such letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marked<'a> {
    pub text: &'a str,
    /// True if the piece of text is a letter of another script that imitates an ASCII letter.
    pub is_foreign: bool,
}

impl LookAlikes {
    pub fn from_interrupt(interrupt: &Interrupt) -> Self {
        let words = interrupt.warnings.iter().filter(|warning| warning.kind == WarningKind::LookAlike);
        Self::new(words.map(|Warning { text, .. }| text.as_str()))
    }

    pub fn new<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        // A warning shortens a long word and appends `…`.
        let words = words.map(|word| word.trim_end_matches('…').to_owned());
        Self(words.filter(|word| !word.is_ascii()).collect())
    }

    pub fn as_slice(&self) -> &[String] {
        &self.0
    }

    /// Splits a text of the interrupt into pieces. Each look-alike letter of a deceptive word becomes a separate piece.
    pub fn pieces<'a>(&self, text: &'a str) -> Vec<Marked<'a>> {
        let mut pieces = Vec::new();
        let mut shown = 0;
        for (at, letter) in text.char_indices().filter(|(_, letter)| !letter.is_ascii()) {
            if self.0.iter().any(|word| is_within(text, at, word)) {
                let end = at + letter.len_utf8();
                pieces.push(Marked { text: &text[shown..at], is_foreign: false });
                pieces.push(Marked { text: &text[at..end], is_foreign: true });
                shown = end;
            }
        }
        pieces.push(Marked { text: &text[shown..], is_foreign: false });
        pieces.retain(|piece| !piece.text.is_empty());
        pieces
    }

    /// Returns a copy of the interrupt with each look-alike letter as `\u{…}`, for a user interface that cannot mark
    /// letters. The copy is for display only: an edit must start from the original interrupt.
    pub fn written(interrupt: &Interrupt) -> Interrupt {
        let mut shown = interrupt.clone();
        let words = Self::from_interrupt(interrupt);
        if words.0.is_empty() {
            return shown;
        }
        words.write(&mut shown.title);
        words.write(&mut shown.message);
        words.write_all(&mut shown.payload);
        for option in &mut shown.options {
            words.write(&mut option.label);
        }
        shown.agent.iter_mut().chain(&mut shown.task).for_each(|text| words.write(text));
        shown
    }

    fn write_all(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.write(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.write_all(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.write_all(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn write(&self, text: &mut String) {
        if text.is_ascii() {
            return;
        }
        let mut out = String::new();
        for Marked { text, is_foreign } in self.pieces(text) {
            match text.chars().next().filter(|_| is_foreign) {
                Some(letter) => {
                    let _ = write!(out, "\\u{{{:x}}}", u32::from(letter));
                }
                None => out.push_str(text),
            }
        }
        *text = out;
    }
}

/// Returns true if the letter at the byte offset `at` of `text` belongs to an occurrence of `word`.
fn is_within(text: &str, at: usize, word: &str) -> bool {
    let letter = text[at..].chars().next();
    let places = word.char_indices().filter(|(_, each)| Some(*each) == letter);
    places.into_iter().any(|(before, _)| {
        at.checked_sub(before).and_then(|start| text.get(start..)).is_some_and(|rest| rest.starts_with(word))
    })
}
