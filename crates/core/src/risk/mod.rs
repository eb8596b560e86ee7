//! How much is at stake, from words and flags: one table (`table.rs`), read alike for every interrupt that may let work
//! go on, whoever asks and whatever the workflow says.
//!
//! It only raises a level, and says why. It never decides: what is asked about, allowed or forbidden is for gates
//! (`gate`). What a command does is told by the reader of commands, so that words which a command only searches for say
//! nothing; `gate/stakes` is its table.

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

/// Words that a reason names at most.
const NAMED: usize = 3;

/// Members of what our own agents ask that hold documents or results, not what is about to be done.
const DOCUMENTS: [&str; 9] =
    ["content", "old", "new", "output", "diff", "trial", "preconditions", "judgement", "before"];

/// What is read of an interrupt.
#[derive(Clone, Debug, Default)]
pub struct Said {
    texts: Vec<Text>,
    /// Whether an agent that runs elsewhere chose what members are called and how long a text is. Then nothing of it is a
    /// document, and the names of its members are read too.
    is_foreign: bool,
    /// Names of members that were read.
    names: BTreeSet<String>,
    /// A text of it was longer than what is read.
    is_cut: bool,
}

impl Said {
    fn foreign() -> Self {
        Self { is_foreign: true, ..Self::default() }
    }

    /// A text, and the name of the member that it is of.
    fn text(&mut self, place: &'static str, name: &str, text: &str) {
        let text = if Text::is_line(name) { text } else { self.part(text) };
        self.add(Text::named(place, name, text));
    }

    /// The texts of a value, however deep, and the names of members that are switched on.
    fn value(&mut self, place: &'static str, name: &str, value: &Value) {
        if self.texts.len() >= limits::RISK_TEXTS {
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

    /// The name of a member, once; of one that is switched off it says nothing.
    fn name(&mut self, place: &'static str, name: &str, value: &Value) {
        if *value != Value::Bool(false) && self.names.insert(name.to_owned()) {
            let name = self.part(name);
            self.add(Text::words(place, name));
        }
    }

    /// What an agent thought of as options, and what it calls them.
    fn options(&mut self, opened: &Opened, content: &Value) {
        for offer in &opened.options {
            if option(opened.kind, &offer.id).is_none() {
                self.text("the options", "", &offer.id);
            }
        }
        self.value("the options", "", content.get(LABELS).unwrap_or(&Value::Null));
    }

    /// What is read of a text: of a longer one the beginning, and nothing where it is a document.
    fn part<'t>(&mut self, text: &'t str) -> &'t str {
        let Some((end, _)) = text.char_indices().nth(limits::RISK_TEXT_CHARS) else { return text };
        self.is_cut |= self.is_foreign;
        if self.is_foreign { &text[..end] } else { "" }
    }

    fn add(&mut self, text: Text) {
        if self.texts.len() < limits::RISK_TEXTS {
            self.texts.push(text);
        }
    }

    /// What of it nobody looked at.
    fn unread(&self) -> Option<String> {
        if self.texts.len() >= limits::RISK_TEXTS {
            Some(format!("it holds more than {} texts: the rest was not looked at", limits::RISK_TEXTS))
        } else if self.is_cut {
            let chars = limits::RISK_TEXT_CHARS;
            Some(format!("it holds a text of more than {chars} characters: the rest was not looked at"))
        } else {
            None
        }
    }
}

/// The risk of what is said, where that is more than is known already.
#[must_use]
pub fn raised(mut risk: Risk, said: &Said) -> Risk {
    for reason in said.texts.iter().filter_map(Text::line).flat_map(stakes::of) {
        risk.level = risk.level.max(Level::High);
        if !risk.reasons.iter().any(|known| known.code == reason.code) {
            risk.reasons.push(reason);
        }
    }
    if let Some(text) = said.unread() {
        // What nobody looked at may say anything.
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
            words.extend(found.into_iter().map(|(word, level)| (word, each.text.place(), level)));
        }
        let Some(level) = words.iter().map(|(_, _, level)| *level).max() else { continue };
        found.push(topic);
        risk.level = risk.level.max(level);
        // The reader of commands, or the workflow's smart approval, has said so.
        if risk.reasons.iter().any(|known| topic.is_said_by(&known.code)) {
            continue;
        }
        let place = words[0].1;
        // A keyword of the workflow's smart approval that is one of these words.
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
        let text = format!("{}: `{}` in {place}", topic.words(), named.join("`, `"));
        risk.reasons.push(Reason { source: Source::Words, code: topic.code().to_owned(), rule: None, text });
    }
    if found.contains(&Topic::Destructive) && found.contains(&Topic::Production) {
        risk.level = Level::Critical;
    }
    risk
}

/// What a call of an agent that runs elsewhere says.
pub fn of_call(call: &ForeignCall) -> Said {
    let mut said = Said::foreign();
    said.text("the tool's name", "", &call.tool);
    said.value("the arguments", "", &call.arguments);
    said
}

/// What an interrupt says of the work that its resolution may let go on; nothing where it can let none go on.
pub(crate) fn of_interrupt(opened: &Opened, content: &Value) -> Said {
    let is_after = matches!(opened.about, About::AfterStep(_));
    // An agent that runs elsewhere goes on with whatever answer it gets.
    let lets_go_on = opened.about == About::External || opened.options.iter().any(Offer::releases);
    if is_after || !lets_go_on {
        return Said::default();
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
        let mut said = Said::foreign();
        said.text("the title", "", text("title"));
        said.text("the message", "", text("message"));
        said.value("the payload", "", payload);
        said.options(opened, content);
        return said;
    }
    let mut said = Said::default();
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
