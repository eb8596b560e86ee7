//! How much is at stake, from words and flags: one table (`table.rs`), read alike for every interrupt that may let work
//! go on, whoever asks and whatever the workflow says.
//!
//! It only raises a level, and says why. It never decides: what is asked about, allowed or forbidden is for gates
//! (`gate`). What a command does is told by the reader of commands, so that words which a command only searches for say
//! nothing; `run/stakes` is its table.

mod host;
mod table;
mod text;

use serde_json::Value;

use crate::gate::foreign::ForeignCall;
use crate::gate::{Reason, Source};
use crate::interrupt::{About, Kind, Level, Offer, Opened, Risk};
use crate::limits;
use crate::run::stakes;
use table::Topic;
pub use text::Text;

/// Words that a reason names at most.
const NAMED: usize = 3;

/// Members of payloads that hold documents or results, not what is about to be done.
const DOCUMENTS: [&str; 9] =
    ["content", "old", "new", "output", "diff", "trial", "preconditions", "judgement", "before"];

/// The risk of what these texts say, where that is more than is known already.
#[must_use]
pub fn raised(mut risk: Risk, texts: &[Text]) -> Risk {
    for reason in texts.iter().filter_map(Text::line).flat_map(stakes::of) {
        risk.level = risk.level.max(Level::High);
        if !risk.reasons.iter().any(|known| known.code == reason.code) {
            risk.reasons.push(reason);
        }
    }
    if texts.len() >= limits::RISK_TEXTS {
        // What nobody looked at may say anything.
        risk.level = risk.level.max(Level::High);
        let text = format!("it holds more than {} texts: the rest was not looked at", limits::RISK_TEXTS);
        risk.reasons.push(Reason {
            source: Source::Words,
            code: "unread_texts".to_owned(),
            rule: None,
            text,
        });
    }
    let mut found = Vec::new();
    for topic in Topic::ALL {
        let mut said: Vec<(String, &str, Level)> = Vec::new();
        for text in texts {
            let words = text.found(topic);
            said.extend(words.into_iter().map(|(word, level)| (word, text.place(), level)));
        }
        let Some(level) = said.iter().map(|(_, _, level)| *level).max() else { continue };
        found.push(topic);
        risk.level = risk.level.max(level);
        // The reader of commands, or the workflow's smart approval, has said so.
        if risk.reasons.iter().any(|known| topic.is_said_by(&known.code)) {
            continue;
        }
        let place = said[0].1;
        // A keyword of the workflow's smart approval that is one of these words.
        let is_keyword = |known: &Reason| {
            known.code == "keyword"
                && said.iter().any(|(word, _, _)| known.text.contains(&format!("`{word}`")))
        };
        if risk.reasons.iter().any(is_keyword) {
            continue;
        }
        let mut words: Vec<&str> = Vec::new();
        for (word, _, _) in &said {
            if !words.contains(&word.as_str()) && words.len() < NAMED {
                words.push(word);
            }
        }
        let text = format!("{}: `{}` in {place}", topic.words(), words.join("`, `"));
        risk.reasons.push(Reason { source: Source::Words, code: topic.code().to_owned(), rule: None, text });
    }
    if found.contains(&Topic::Destructive) && found.contains(&Topic::Production) {
        risk.level = Level::Critical;
    }
    risk
}

/// What a call of an agent that runs elsewhere says.
pub fn of_call(call: &ForeignCall) -> Vec<Text> {
    let mut texts = vec![Text::words("the tool's name", &call.tool)];
    strings("the arguments", "", &call.arguments, &mut texts);
    texts
}

/// What an interrupt says of the work that its resolution may let go on; nothing where it can let none go on.
pub(crate) fn of_interrupt(opened: &Opened, content: &Value) -> Vec<Text> {
    let is_after = matches!(opened.about, About::AfterStep(_));
    // An agent that runs elsewhere goes on with whatever answer it gets.
    let lets_go_on = opened.about == About::External || opened.options.iter().any(Offer::releases);
    if is_after || !lets_go_on {
        return Vec::new();
    }
    if let Some(call) = content.get("call").and_then(|call| serde_json::from_value(call.clone()).ok()) {
        return of_call(&call);
    }
    let payload = content.get("payload").unwrap_or(&Value::Null);
    let mut texts = Vec::new();
    let mut said = |place: &'static str, field: &str| {
        texts.extend(content.get(field).and_then(Value::as_str).map(|text| Text::words(place, text)));
    };
    if matches!(opened.about, About::External | About::Hold) {
        said("the title", "title");
        said("the message", "message");
        strings("the payload", "", payload, &mut texts);
        // What it may be told to do; of other kinds the options are words about what is asked.
        let choices = opened.options.iter().filter(|_| opened.kind == Kind::Choice);
        texts.extend(choices.map(|offer| Text::words("the options", &offer.label)));
        return texts;
    }
    match opened.kind {
        Kind::ToolApproval | Kind::ClientCall | Kind::Escalation | Kind::UnknownOutcome => {
            let tool = payload.get("tool").and_then(Value::as_str);
            texts.extend(tool.map(|tool| Text::words("the tool's name", tool)));
            strings("the arguments", "", payload.get("arguments").unwrap_or(&Value::Null), &mut texts);
        }
        Kind::PlanApproval => strings("the plan", "", payload.get("plan").unwrap_or(payload), &mut texts),
        Kind::Checkpoint => {
            said("the title", "title");
            said("the message", "message");
            strings("the input", "", payload.get("input").unwrap_or(&Value::Null), &mut texts);
        }
        Kind::Review => {
            said("the title", "title");
            strings("the findings", "", payload.get("findings").unwrap_or(&Value::Null), &mut texts);
        }
        Kind::Error | Kind::Question | Kind::Choice | Kind::Turn | Kind::Continuation => {}
    }
    texts
}

/// The texts of a value, however deep, and the names of members that are switched on.
fn strings(place: &'static str, name: &str, value: &Value, texts: &mut Vec<Text>) {
    if texts.len() >= limits::RISK_TEXTS {
        return;
    }
    match value {
        Value::String(text) => texts.push(Text::named(place, name, text)),
        Value::Bool(true) => texts.push(Text::switch(place, name)),
        Value::Array(items) => items.iter().for_each(|item| strings(place, name, item, texts)),
        Value::Object(fields) => {
            for (name, value) in fields.iter().filter(|(name, _)| !DOCUMENTS.contains(&name.as_str())) {
                strings(place, name, value, texts);
            }
        }
        Value::Null | Value::Bool(false) | Value::Number(_) => {}
    }
}
