//! What a channel is told.

use holdshort_core::interrupt::{Kind, Level, Outcome};
use holdshort_core::notice::{Notice, Occasion};
use unicode_general_category::{GeneralCategory, get_general_category};

use crate::limits::{NAMES_TOLD, TITLE_CHARS};

/// One delivery, as it is put into words. The same for each attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// `webhook-id`: what repeats are told by.
    pub id: String,
    pub notice: Notice,
    /// Of what is asked, where the channel is told it. Content of an agent: [cleaned](title).
    pub title: Option<String>,
    /// The page where it is decided, after a sign-in.
    pub link: String,
}

/// A title as one line: what does not show, or turns other text around, is left out.
pub fn title(text: &str) -> Option<String> {
    let mut line = String::new();
    let mut chars = 0;
    for char in text.chars() {
        let char = if char.is_whitespace() { ' ' } else { char };
        let is_hidden = matches!(
            get_general_category(char),
            GeneralCategory::Control
                | GeneralCategory::Format
                | GeneralCategory::PrivateUse
                | GeneralCategory::Surrogate
                | GeneralCategory::Unassigned
        );
        if is_hidden || (char == ' ' && (line.is_empty() || line.ends_with(' '))) {
            continue;
        }
        if chars == TITLE_CHARS {
            line.push('…');
            break;
        }
        line.push(char);
        chars += 1;
    }
    let line = line.trim_end();
    (!line.is_empty()).then(|| line.to_owned())
}

impl Message {
    /// One line that says what happened.
    pub(crate) fn headline(&self) -> String {
        let Notice { occasion, kind, workflow, .. } = &self.notice;
        let (what, of) = (kind_word(*kind), format!("in {workflow}"));
        match occasion {
            Occasion::Opened => format!("Waiting for a decision: {what} {of}"),
            Occasion::Asked => format!("Your turn: {what} {of}"),
            Occasion::Reminded => format!("Still waiting: {what} {of}"),
            Occasion::Escalated => format!("Nobody decided so far: {what} {of}"),
            Occasion::Resolved => format!("{}: {what} {of}", outcome_word(self.notice.outcome)),
            Occasion::Expired => format!("Expired, nobody decided in time: {what} {of}"),
        }
    }

    /// What else there is to know, label by label.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let Notice { risk, people, groups, expires_at, interrupt, occasion, .. } = &self.notice;
        let mut facts = vec![("Risk", risk_word(*risk).to_owned())];
        if occasion.asks() {
            facts.push(("Asked", asked(people, groups)));
            facts.extend(expires_at.map(|at| ("Expires", at.to_string())));
        }
        facts.push(("Id", interrupt.to_string()));
        facts
    }

    /// What the button says.
    pub(crate) fn action(&self) -> &'static str {
        if self.notice.occasion.asks() { "Open and decide" } else { "Open" }
    }
}

fn asked(people: &[String], groups: &[String]) -> String {
    let names: Vec<&str> = groups.iter().chain(people).map(String::as_str).collect();
    if names.is_empty() {
        return "admins and operators".to_owned();
    }
    let more = names.len().saturating_sub(NAMES_TOLD);
    let told = names[..names.len() - more].join(", ");
    if more == 0 { told } else { format!("{told} and {more} more") }
}

pub(crate) fn kind_word(kind: Kind) -> String {
    kind.as_str().replace('_', " ")
}

pub(crate) fn risk_word(risk: Level) -> &'static str {
    match risk {
        Level::Low => "low",
        Level::Medium => "medium",
        Level::High => "high",
        Level::Critical => "critical",
    }
}

fn outcome_word(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        Some(Outcome::Approved) => "Approved",
        Some(Outcome::Rejected) => "Rejected",
        Some(Outcome::Answered) => "Answered",
        Some(Outcome::Expired) => "Expired",
        Some(Outcome::Cancelled) => "Not needed any more",
        Some(Outcome::Superseded) => "Replaced",
        None => "Resolved",
    }
}
