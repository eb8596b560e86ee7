//! What a channel is told.

use holdshort_core::level::Level;
use holdshort_core::notice::{Notice, Occasion};
use holdshort_core::time::Timestamp;
use holdshort_protocol::plain;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use serde_json::Value;

use crate::limits::{LISTED, NAMES_TOLD, TITLE_CHARS};
use crate::push::Browser;
use crate::slack::Posted;
use crate::words::{Words, filled};

/// One delivery, as it is put into words. The same for each attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// `webhook-id`: what repeats are told by.
    pub id: String,
    pub notice: Notice,
    /// Title of the interrupt, if the channel shows titles. Written by an agent, made plain by [`title`].
    pub title: Option<String>,
    /// The page where it is decided.
    pub link: String,
    /// The page without scripts where it is decided after a sign-in, where there is one.
    pub plain: Option<String>,
    pub way: Way,
    /// Whom it is for, where it is for one.
    pub reader: Option<Reader>,
    /// What people press where they are told.
    pub buttons: Vec<Button>,
    /// What was told of the same before, where it can be changed.
    pub posted: Vec<Posted>,
    /// How it ended, in full: to the agent that asked.
    pub resolution: Option<Value>,
}

/// One that opens a form: nothing is decided by pressing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    /// A word of ours.
    pub label: String,
    /// What comes back when it is pressed.
    pub value: String,
    pub tone: Tone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Go,
    Stop,
    Other,
}

/// Several messages to the same readers, as one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Several<'m> {
    pub(crate) messages: &'m [Message],
    /// Where everything is that waits.
    pub(crate) inbox: &'m str,
}

impl Several<'_> {
    pub(crate) fn words(&self) -> &'static Words {
        self.messages.first().map_or(Words::of(None), Message::words)
    }

    pub(crate) fn headline(&self) -> String {
        filled(self.words().several, &[&self.messages.len().to_string()])
    }

    /// Those that are listed.
    pub(crate) fn listed(&self) -> &[Message] {
        &self.messages[..self.messages.len().min(LISTED)]
    }

    /// What else there is.
    pub(crate) fn not_listed(&self) -> Option<String> {
        self.more_than(self.listed().len())
    }

    /// Lines of plain text.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.first_lines(self.listed().len())
    }

    /// The same in so many bytes: what does not fit is counted, too.
    pub(crate) fn lines_within(&self, bytes: usize) -> Vec<String> {
        let fits = |lines: &Vec<String>| lines.iter().map(|line| line.len() + 1).sum::<usize>() <= bytes;
        (0..=self.listed().len()).rev().map(|n| self.first_lines(n)).find(fits).unwrap_or_default()
    }

    fn first_lines(&self, n: usize) -> Vec<String> {
        self.messages[..n].iter().map(Message::entry).chain(self.more_than(n)).collect()
    }

    fn more_than(&self, n: usize) -> Option<String> {
        let more = self.messages.len().saturating_sub(n);
        (more > 0).then(|| filled(self.words().not_listed, &[&more.to_string()]))
    }
}

/// How whoever opens the link of a message says who they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// By a sign-in.
    #[default]
    SignIn,
    /// By the link itself, until this moment.
    Link(Timestamp),
}

/// One person, or one address, that a message is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reader {
    /// Of the channel: `anna@example.org`.
    pub address: String,
    pub name: Option<String>,
    /// An IANA time zone. Of none that is known, or where nothing is said: UTC.
    pub time_zone: Option<String>,
    /// A language tag.
    pub language: Option<String>,
    /// Of push: where it is shown.
    pub browser: Option<Browser>,
}

/// Title of an interrupt, as each channel writes it. `None` if it is blank.
pub fn title(text: &str) -> Option<String> {
    let line = line(text, TITLE_CHARS);
    (!line.is_empty()).then_some(line)
}

/// One line of at most `most` characters, without ordinary blanks around it.
pub(crate) fn line(text: &str, most: usize) -> String {
    plain::excerpt(text.trim_matches([' ', '\t', '\n', '\r']), most)
}

impl Message {
    pub(crate) fn words(&self) -> &'static Words {
        Words::of(self.reader.as_ref().and_then(|reader| reader.language.as_deref()))
    }

    /// The title, where the channel is told it: as what somebody says.
    pub(crate) fn quoted(&self) -> Option<String> {
        self.title.as_ref().map(|title| filled(self.words().quoted, &[title]))
    }

    /// Whether nothing was told of the interrupt before.
    pub(crate) fn is_first(&self) -> bool {
        self.notice.occasion == Occasion::Opened
    }

    /// What it is about: `review in payout`.
    pub(crate) fn subject(&self) -> String {
        self.words().subject(self.notice.kind, &plain::line(&self.notice.workflow))
    }

    /// One line that says what happened.
    pub(crate) fn headline(&self) -> String {
        let Notice { occasion, outcome, .. } = &self.notice;
        self.words().headline(*occasion, *outcome, &self.subject())
    }

    /// What else there is to know, label by label.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let Notice { risk, expires_at, interrupt, occasion, by, at, .. } = &self.notice;
        let words = self.words();
        let mut facts = vec![(words.risk, words.level(*risk).to_owned())];
        if occasion.asks() {
            facts.push((words.asks, asked(words, &self.notice)));
            facts.extend(expires_at.map(|at| (words.expires, self.time(at))));
        } else {
            if !by.is_empty() {
                facts.push((words.by, names(words, by)));
            }
            facts.push((words.when, self.time(*at)));
        }
        facts.push((words.id, interrupt.to_string()));
        facts
    }

    /// One line of a message that tells of several things: with who decided, and when.
    pub(crate) fn entry(&self) -> String {
        let mut facts = self.facts();
        facts.truncate(if self.notice.occasion.asks() { 1 } else { facts.len() - 1 });
        let facts: Vec<String> = facts.iter().map(|(label, value)| format!("{label}: {value}")).collect();
        let facts = facts.join(", ");
        match self.quoted() {
            Some(title) => format!("{} {title} ({facts})", self.headline()),
            None => format!("{} ({facts})", self.headline()),
        }
    }

    /// A moment as the clock on the wall of whoever reads it shows it.
    pub(crate) fn time(&self, at: Timestamp) -> String {
        let zone = self.reader.as_ref().and_then(|reader| reader.time_zone.as_deref());
        shown(at, zone)
    }

    /// Where whoever is told goes first.
    pub(crate) fn page(&self) -> &str {
        self.plain.as_deref().unwrap_or(&self.link)
    }

    /// What the button says.
    pub(crate) fn action(&self) -> &'static str {
        let words = self.words();
        if self.notice.occasion.asks() { words.open_and_decide } else { words.open }
    }
}

/// `2026-01-31 09:30 CET`; in UTC where no zone is said.
fn shown(at: Timestamp, zone: Option<&str>) -> String {
    let zone = zone.and_then(|zone| TimeZoneDatabase::bundled().get(zone).ok()).unwrap_or(TimeZone::UTC);
    match jiff::Timestamp::from_millisecond(at.as_millis()) {
        Ok(moment) => moment.to_zoned(zone).strftime("%Y-%m-%d %H:%M %Z").to_string(),
        Err(_) => at.to_string(),
    }
}

fn asked(words: &Words, notice: &Notice) -> String {
    let all: Vec<String> = notice.groups.iter().chain(&notice.people).cloned().collect();
    match (all.is_empty(), notice.operators) {
        (true, _) => words.everybody.to_owned(),
        (false, true) => format!("{}, {}", words.everybody, names(words, &all)),
        (false, false) => names(words, &all),
    }
}

fn names(words: &Words, names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMES_TOLD);
    let told: Vec<_> = names[..names.len() - more].iter().map(|name| plain::line(name)).collect();
    let told = told.join(", ");
    if more == 0 { told } else { filled(words.more, &[&told, &more.to_string()]) }
}

/// As programs read it.
pub(crate) fn risk_word(risk: Level) -> &'static str {
    Words::of(None).level(risk)
}
