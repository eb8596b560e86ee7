//! Risk that is recognised by words and flags in texts. The table in `table.rs` is applied to every interrupt after
//! which work may continue. The table is built in, so neither the agent nor the workflow can change it.
//!
//! A match only raises the risk level and adds a reason. The decision to ask, allow or forbid is made elsewhere, in
//! `gate`. In commands, words that are only searched for (as with `grep`) are ignored. Effects of commands are in
//! another table, in `gate/stakes`.

mod host;
mod table;
mod text;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::gate::foreign::ForeignCall;
use crate::gate::{Reason, Source, stakes};
use crate::interrupt::{About, Kind, LABELS, Offer, Opened, Risk, option};
use crate::level::Level;
use crate::limits;
use table::Topic;
use text::Text;

/// Maximum number of risk words that a reason quotes.
const NAMED: usize = 3;

/// Fields in payloads of Holdshort's own agents that contain documents or results. Such fields do not describe the
/// intended action.
const DOCUMENTS: [&str; 9] =
    ["content", "old", "new", "output", "diff", "trial", "preconditions", "judgement", "before"];

/// Texts of an interrupt in which risk words are searched.
#[derive(Clone, Debug, Default)]
pub struct SearchedTexts {
    texts: Vec<Text>,
    /// True if an external agent wrote the payload. An external agent could choose field names and lengths of texts so
    /// as to hide risk words. Therefore no text is treated as a document, and field names are searched, too.
    is_foreign: bool,
    /// Field names that were already searched for risk words.
    names: BTreeSet<String>,
    /// True if a text of the interrupt was too long, so that only its beginning was searched for risk words.
    is_cut: bool,
    /// True if the interrupt has more texts than the limit, so that some were not searched for risk words.
    is_full: bool,
}

impl SearchedTexts {
    fn foreign() -> Self {
        Self { is_foreign: true, ..Self::default() }
    }

    /// Adds a text that is searched for risk words. `name` is the name of the field that contains the text. `place`
    /// describes the part of the interrupt from which the text comes.
    fn text(&mut self, place: &'static str, name: &str, text: &str) {
        let text = if Text::is_line(name) { text } else { self.part(text) };
        self.add(Text::from_member(place, name, text));
    }

    /// Adds all texts inside a value, at any depth, to the texts that are searched for risk words. Leaves out documents
    /// of Holdshort's own agents. Also adds the names of fields whose value is true.
    fn value(&mut self, place: &'static str, name: &str, value: &Value) {
        if self.is_full {
            return;
        }
        match value {
            Value::String(text) => self.text(place, name, text),
            Value::Bool(true) => self.add(Text::switch(place, name)),
            Value::Array(items) => items.iter().for_each(|item| self.value(place, name, item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    if self.is_foreign {
                        self.name(place, name, value);
                    } else if DOCUMENTS.contains(&name.as_str()) {
                        continue;
                    }
                    self.value(place, name, value);
                }
            }
            Value::Null | Value::Bool(false) | Value::Number(_) => {}
        }
    }

    /// Adds the name of a field to the searched texts, if the name was not added before. Leaves out a field whose value
    /// is false.
    fn name(&mut self, place: &'static str, name: &str, value: &Value) {
        if *value != Value::Bool(false) && self.names.insert(name.to_owned()) {
            let name = self.part(name);
            self.add(Text::from_words(place, name));
        }
    }

    /// Adds the options that an agent defined, and the labels that the agent chose for options.
    fn options(&mut self, opened: &Opened, content: &Value) {
        for offer in &opened.options {
            if option(opened.kind, &offer.id).is_none() {
                self.text("the options", "", &offer.id);
            }
        }
        self.value("the options", "", content.get(LABELS).unwrap_or(&Value::Null));
    }

    /// Returns the part of a text in which risk words are searched. A text of an external agent that is too long is
    /// cut. A text of Holdshort's own agents that is too long is a document and is left out.
    fn part<'t>(&mut self, text: &'t str) -> &'t str {
        let Some((end, _)) = text.char_indices().nth(limits::RISK_TEXT_CHARS) else { return text };
        self.is_cut |= self.is_foreign;
        if self.is_foreign { &text[..end] } else { "" }
    }

    fn add(&mut self, text: Text) {
        self.is_full = self.texts.len() >= limits::RISK_TEXTS;
        if !self.is_full {
            self.texts.push(text);
        }
    }

    /// Describes the texts of the interrupt that were not searched for risk words. `None` if all texts were searched.
    fn unread(&self) -> Option<String> {
        if self.is_full {
            Some(format!(
                "the request contains more than {} texts, and the remaining texts were not \
                checked",
                limits::RISK_TEXTS
            ))
        } else if self.is_cut {
            let chars = limits::RISK_TEXT_CHARS;
            Some(format!(
                "the request contains a text of more than {chars} characters, and the rest of the text was \
                not checked"
            ))
        } else {
            None
        }
    }
}

/// Raises the risk level if the texts contain risk words, or if not all texts were searched. Keeps the existing
/// reasons.
#[must_use]
pub fn raised(mut risk: Risk, said: &SearchedTexts) -> Risk {
    for reason in said.texts.iter().filter_map(Text::line).flat_map(stakes::find_risks) {
        risk.level = risk.level.max(Level::High);
        if !risk.reasons.iter().any(|known| known.code == reason.code) {
            risk.reasons.push(reason);
        }
    }
    if let Some(text) = said.unread() {
        // The text that was not searched may contain anything.
        risk.level = risk.level.max(Level::High);
        let code = "unread_texts".to_owned();
        risk.reasons.push(Reason { source: Source::Words, code, rule: None, text });
    }
    let compared: Vec<_> = said.texts.iter().map(Text::compared).collect();
    let mut found = Vec::new();
    for topic in Topic::ALL {
        let mut words: Vec<(String, &str, Level)> = Vec::new();
        for each in &compared {
            let found = each.found(topic);
            words.extend(found.into_iter().map(|(word, level)| (word, each.text.location(), level)));
        }
        let Some(level) = words.iter().map(|(_, _, level)| *level).max() else { continue };
        found.push(topic);
        risk.level = risk.level.max(level);
        // The command parser or the workflow's smart approval has already given this reason.
        if risk.reasons.iter().any(|known| topic.is_said_by(&known.code)) {
            continue;
        }
        let place = words[0].1;
        // The workflow's smart approval has already reported one of these words as a keyword.
        let is_keyword = |known: &Reason| {
            known.code == "keyword"
                && words.iter().any(|(word, _, _)| known.text.contains(&format!("`{word}`")))
        };
        if risk.reasons.iter().any(is_keyword) {
            continue;
        }
        let mut named: Vec<&str> = Vec::new();
        for (word, _, _) in &words {
            if !named.contains(&word.as_str()) && named.len() < NAMED {
                named.push(word);
            }
        }
        let text = format!("{}: `{}` in {place}", topic.describe(), named.join("`, `"));
        risk.reasons.push(Reason { source: Source::Words, code: topic.code().to_owned(), rule: None, text });
    }
    if found.contains(&Topic::Destructive) && found.contains(&Topic::Production) {
        risk.level = Level::Critical;
    }
    risk
}

/// Collects the texts of an external agent's call in which risk words are searched.
pub fn of_call(call: &ForeignCall) -> SearchedTexts {
    let mut said = SearchedTexts::foreign();
    said.text("the tool's name", "", &call.tool);
    said.value("the arguments", "", &call.arguments);
    said
}

/// Collects the texts of the interrupt in which risk words are searched. Collects no texts if the interrupt has no
/// option with which work continues.
pub(crate) fn of_interrupt(opened: &Opened, content: &Value) -> SearchedTexts {
    let is_after = matches!(opened.about, About::AfterStep(_));
    // An external agent may continue after every answer.
    let lets_go_on = opened.about == About::External || opened.options.iter().any(Offer::releases);
    if is_after || !lets_go_on {
        return SearchedTexts::default();
    }
    if let Some(call) = content.get("call").and_then(|call| serde_json::from_value(call.clone()).ok()) {
        let mut said = of_call(&call);
        said.options(opened, content);
        return said;
    }
    let text = |field: &str| content.get(field).and_then(Value::as_str).unwrap_or_default();
    let payload = content.get("payload").unwrap_or(&Value::Null);
    let part = |field: &str| payload.get(field).unwrap_or(&Value::Null);
    if matches!(opened.about, About::External | About::Hold) {
        let mut said = SearchedTexts::foreign();
        said.text("the title", "", text("title"));
        said.text("the message", "", text("message"));
        said.value("the payload", "", payload);
        said.options(opened, content);
        return said;
    }
    let mut said = SearchedTexts::default();
    match opened.kind {
        Kind::ToolApproval | Kind::ClientCall | Kind::Escalation | Kind::UnknownOutcome => {
            said.text("the tool's name", "", part("tool").as_str().unwrap_or_default());
            said.value("the arguments", "", part("arguments"));
        }
        Kind::PlanApproval => said.value("the plan", "", payload.get("plan").unwrap_or(payload)),
        Kind::Checkpoint => {
            said.text("the title", "", text("title"));
            said.text("the message", "", text("message"));
            said.value("the input", "", part("input"));
        }
        Kind::Review => {
            said.text("the title", "", text("title"));
            said.value("the findings", "", part("findings"));
        }
        Kind::Error | Kind::Question | Kind::Choice | Kind::Turn | Kind::Continuation => {}
    }
    said
}
