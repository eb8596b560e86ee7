//! Content of a notification, for one channel.

use holdshort_core::level::Level;
use holdshort_core::notice::{Notice, Occasion};
use holdshort_core::time::Timestamp;
use holdshort_protocol::plain;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use serde_json::Value;

use crate::limits::{LISTED, NAMES_TOLD, TITLE_CHARS};
use crate::phrases::{Phrases, filled};
use crate::push::Browser;
use crate::slack::SlackMessageRef;

/// Content of one delivery of a notification. The content is the same in all attempts of the delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Value of the header `webhook-id`, by which receivers recognise repeated deliveries.
    pub id: String,
    pub notice: Notice,
    /// Title of the interrupt or summary of a review, whichever the channel shows. An agent wrote the text. The
    /// function [`title`] or [`summary`](crate::summary()) has removed unsafe characters from the text.
    pub title: Option<String>,
    /// URL of the interrupt's page in the web app, to which the message links.
    pub link: String,
    /// URL of the interrupt's decision page that works without JavaScript. `None` if the server has no such page.
    pub plain: Option<String>,
    pub way: LinkAccess,
    /// Recipient of the notification, if there is exactly one.
    pub reader: Option<Reader>,
    /// Buttons of the message for the options of the interrupt. Empty for channels in which a person cannot decide.
    pub buttons: Vec<Button>,
    /// Earlier Slack messages about the interrupt, which this message can update.
    pub posted: Vec<SlackMessageRef>,
    /// Complete resolution of the interrupt, only in a message to the agent that asked.
    pub resolution: Option<Value>,
    /// Approval with the digest of the approved action, only in a message to the agent that asked.
    pub approval: Option<Value>,
}

/// Button of a message that opens a form for an option of the interrupt. Pressing the button does not send a decision
/// yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    /// Label of the message's button, without any text of an agent or a person.
    pub label: String,
    /// Value that Slack sends back when a person presses the button of the message.
    pub value: String,
    pub tone: Tone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Go,
    Stop,
    Other,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Several<'m> {
    pub(crate) messages: &'m [Message],
    pub(crate) inbox: &'m str,
}

impl Several<'_> {
    pub(crate) fn phrases(&self) -> &'static Phrases {
        self.messages.first().map_or(Phrases::for_language(None), Message::phrases)
    }

    pub(crate) fn headline(&self) -> String {
        filled(self.phrases().several, &[&self.messages.len().to_string()])
    }

    pub(crate) fn listed(&self) -> &[Message] {
        &self.messages[..self.messages.len().min(LISTED)]
    }

    /// Returns a line with the number of messages that the digest does not list, or `None` if it lists all.
    pub(crate) fn not_listed(&self) -> Option<String> {
        self.more_than(self.listed().len())
    }

    /// Returns the listed messages as lines of plain text. A last line counts messages that are not listed.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.first_lines(self.listed().len())
    }

    /// Returns the listed messages as lines of plain text with at most `bytes` bytes in total. A last line counts
    /// messages that do not fit.
    pub(crate) fn lines_within(&self, bytes: usize) -> Vec<String> {
        let fits = |lines: &Vec<String>| lines.iter().map(|line| line.len() + 1).sum::<usize>() <= bytes;
        (0..=self.listed().len()).rev().map(|n| self.first_lines(n)).find(fits).unwrap_or_default()
    }

    fn first_lines(&self, n: usize) -> Vec<String> {
        self.messages[..n].iter().map(Message::entry).chain(self.more_than(n)).collect()
    }

    fn more_than(&self, n: usize) -> Option<String> {
        let more = self.messages.len().saturating_sub(n);
        (more > 0).then(|| filled(self.phrases().not_listed, &[&more.to_string()]))
    }
}

/// Authentication of a person who opens the link in a notification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkAccess {
    /// The person who opens the link must sign in.
    #[default]
    SignIn,
    /// The link itself authenticates the person who opens it, until this time.
    Link(Timestamp),
}

/// Recipient of a message: a person or an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reader {
    /// Address of the recipient, in the form that the channel needs, such as `anna@example.org`.
    pub address: String,
    pub name: Option<String>,
    /// IANA time zone of the recipient. Times are in UTC if the time zone is missing or unknown.
    pub time_zone: Option<String>,
    /// Language tag of the recipient, such as `de-AT`.
    pub language: Option<String>,
    /// Browser of the recipient, for a push message.
    pub browser: Option<Browser>,
}

/// Returns the title of an interrupt as all channels show it. Returns `None` if the title contains only white space.
pub fn title(text: &str) -> Option<String> {
    let line = line(text, TITLE_CHARS);
    (!line.is_empty()).then_some(line)
}

/// Converts a text of a notification to one line of at most `most` characters, without white space at its ends.
pub(crate) fn line(text: &str, most: usize) -> String {
    plain::excerpt(text.trim_matches([' ', '\t', '\n', '\r']), most)
}

impl Message {
    pub(crate) fn phrases(&self) -> &'static Phrases {
        Phrases::for_language(self.reader.as_ref().and_then(|reader| reader.language.as_deref()))
    }

    /// Returns the title of the interrupt in quotes, or `None` if the channel does not show titles.
    pub(crate) fn quoted(&self) -> Option<String> {
        self.title.as_ref().map(|title| filled(self.phrases().quoted, &[title]))
    }

    pub(crate) fn is_first(&self) -> bool {
        self.notice.occasion == Occasion::Opened
    }

    /// Returns a phrase with the kind of the interrupt and the workflow, such as `review in payout`.
    pub(crate) fn subject(&self) -> String {
        self.phrases().subject(self.notice.kind, &plain::line(&self.notice.workflow))
    }

    pub(crate) fn headline(&self) -> String {
        let Notice { occasion, outcome, .. } = &self.notice;
        self.phrases().headline(*occasion, *outcome, &self.subject())
    }

    /// Returns facts about the message's interrupt, such as its risk, each with a label.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let Notice { risk, expires_at, interrupt, occasion, by, at, .. } = &self.notice;
        let words = self.phrases();
        let mut facts = vec![(words.risk, words.level(*risk).to_owned())];
        if occasion.asks() {
            facts.push((words.asks, list_recipients(words, &self.notice)));
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

    /// Returns the line for this message in a list of several messages. After a decision, the line also tells who
    /// decided and when.
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

    /// Formats a time in the time zone of the message's reader.
    pub(crate) fn time(&self, at: Timestamp) -> String {
        let zone = self.reader.as_ref().and_then(|reader| reader.time_zone.as_deref());
        format_time(at, zone)
    }

    /// Returns the URL of the page to which the message leads its reader: the page without JavaScript if there is one,
    /// or else the web app.
    pub(crate) fn page(&self) -> &str {
        self.plain.as_deref().unwrap_or(&self.link)
    }

    /// Returns the label of the button that opens the page at [`Self::page`].
    pub(crate) fn action(&self) -> &'static str {
        let words = self.phrases();
        if self.notice.occasion.asks() { words.open_and_decide } else { words.open }
    }
}

/// Formats a time, such as `2026-01-31 09:30 CET`. If the time zone is missing or invalid, the time is in UTC.
fn format_time(at: Timestamp, zone: Option<&str>) -> String {
    let zone = zone.and_then(|zone| TimeZoneDatabase::bundled().get(zone).ok()).unwrap_or(TimeZone::UTC);
    match jiff::Timestamp::from_millisecond(at.as_millis()) {
        Ok(moment) => moment.to_zoned(zone).strftime("%Y-%m-%d %H:%M %Z").to_string(),
        Err(_) => at.to_string(),
    }
}

fn list_recipients(words: &Phrases, notice: &Notice) -> String {
    let all: Vec<String> = notice.groups.iter().chain(&notice.people).cloned().collect();
    match (all.is_empty(), notice.operators) {
        (true, _) => words.everybody.to_owned(),
        (false, true) => format!("{}, {}", words.everybody, names(words, &all)),
        (false, false) => names(words, &all),
    }
}

fn names(words: &Phrases, names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMES_TOLD);
    let told: Vec<_> = names[..names.len() - more].iter().map(|name| plain::line(name)).collect();
    let told = told.join(", ");
    if more == 0 { told } else { filled(words.more, &[&told, &more.to_string()]) }
}

/// Returns the name of a risk level in notifications for programs, which is the same in all languages.
pub(crate) fn risk_word(risk: Level) -> &'static str {
    Phrases::for_language(None).level(risk)
}
