//! Reads the channels file: the channels through which people are notified, and which notices each channel gets.
//!
//! ```yaml
//! channels:
//!   legal-slack:
//!     type: slack                  # name of a `Via`
//!     url_file: secrets/slack      # or url_env; for a webhook and ntfy also url
//!     events: [opened, asked, reminded, escalated, resolved, expired]
//!     kinds: [review, tool_approval]
//!     groups: [legal]
//!     risk: high                   # at least
//!   siem:
//!     type: webhook
//!     url: https://siem.example.org/holdshort
//!     secret_files: [secrets/siem, secrets/siem-before]
//!   mail:
//!     type: email
//!     server: smtp.example.org:587
//!     from: Holdshort <holdshort@example.org>
//!     user: holdshort
//!     password_file: secrets/smtp
//!     quiet: {from: "22:00", to: "07:00", zone: Europe/Berlin}
//!     digest: 1h
//! ```
//!
//! The file contains no secrets, but the names of files and environment variables that contain them. The URL of a
//! webhook of Slack or Teams is a secret, and must not be in this file.

mod headers;
mod mail;
mod push;
mod quiet_hours;
mod slack;

use std::collections::BTreeSet;

use holdshort_core::channel::{
    CALLBACKS, Channel, Checkpoints, Mail, Rule, Secrets, SlackApp, Source, To, Via,
};
use holdshort_core::interrupt::Kind;
use holdshort_core::level::Level;
use holdshort_core::name::is_name;
use holdshort_core::notice::Occasion;

use crate::bounds::{
    CHANNEL_ATTEMPTS, CHANNEL_RETRY_MS, CHANNEL_SECRETS, CHANNEL_TIMEOUT_MS, CHANNELS, CHANNELS_BYTES, LINE,
    LIST, NAME, NODES,
};
use crate::duration;
use crate::item::{Fields, Item, Keys};
use crate::problem::{Problem, Problems};
use crate::range::is_range;
use crate::yaml::{self, Unreadable};

const KEYS: Keys = Keys { known: &["channels"], later: &[] };
const CHANNEL: Keys = Keys {
    known: &[
        "type",
        "url",
        "url_file",
        "url_env",
        "secret_file",
        "secret_files",
        "secret_env",
        "headers",
        "header_files",
        "events",
        "kinds",
        "people",
        "groups",
        "workflows",
        "risk",
        "title",
        "allow",
        "attempts",
        "retry_delay",
        "timeout",
        "server",
        "security",
        "from",
        "user",
        "password_file",
        "password_env",
        "to",
        "channel",
        "token_file",
        "token_env",
        "signing_secret_file",
        "signing_secret_env",
        "zone",
        "quiet",
        "digest",
        "personal",
        "contact",
    ],
    later: &[],
};
const RISKS: [(&str, Level); 4] =
    [("low", Level::Low), ("medium", Level::Medium), ("high", Level::High), ("critical", Level::Critical)];
/// Default number of attempts to send a notification over a channel. With the default delays, they take seven and a
/// half hours.
const ATTEMPTS: u64 = 8;
const RETRY_MS: u64 = 5_000;
const TIMEOUT_MS: u64 = 10_000;

/// Returns the channels in the order of the channels file. `file_name` is only needed for problems.
pub fn parse(file_name: &str, text: &str) -> Result<Vec<Channel>, Vec<Problem>> {
    let mut problems = Problems::for_file(file_name);
    let node = match yaml::parse_large(text, CHANNELS_BYTES, NODES) {
        Ok(node) => node,
        Err(Unreadable { place, message }) => {
            problems.push(place, String::new(), message, None);
            return problems.finish(None);
        }
    };
    let channels = read(&Item::top(&node), &mut problems);
    problems.finish(channels)
}

fn read(top: &Item<'_>, problems: &mut Problems) -> Option<Vec<Channel>> {
    let fields = top.fields(&KEYS, problems)?;
    let entries = fields.need("channels", problems)?.entries(problems)?;
    if entries.len() > CHANNELS {
        problems.at(top, format!("the file has {} channels; at most {CHANNELS} are allowed", entries.len()));
    }
    let mut channels = Vec::new();
    for (name, key, value) in entries {
        if !is_name(name, NAME) {
            problems.at(&key, "this name is empty, too long, or contains invisible characters");
        }
        if name == CALLBACKS {
            problems.at(&key, "the name is reserved for callbacks to agents: choose another name");
        }
        channels.extend(channel(name, &value, problems));
    }
    Some(channels)
}

fn channel(name: &str, item: &Item<'_>, problems: &mut Problems) -> Option<Channel> {
    let fields = item.fields(&CHANNEL, problems)?;
    let vias = Via::ALL.map(|via| (via.as_str(), via));
    let via = fields.need("type", problems)?.one_of(&vias, problems)?;
    let others =
        [(Via::Email, &mail::KEYS[..]), (Via::Slack, &slack::KEYS[..]), (Via::Push, &push::KEYS[..])];
    for (of, keys) in others.into_iter().filter(|(of, _)| *of != via) {
        for (key, found) in keys.iter().filter_map(|key| Some((key, fields.find(key)?))) {
            problems.at(
                found,
                format!("`{key}` is allowed only in a channel of the type `{}`: remove it", of.as_str()),
            );
        }
    }
    let reached = if via == Via::Email {
        mail::read(item, &fields, problems).map(Reached::by_mail)
    } else if via == Via::Push {
        push::read(&fields, problems).map(Reached::in_browsers)
    } else if via == Via::Slack && slack::is_app(&fields) {
        slack::read(item, &fields, problems).map(Reached::by_app)
    } else {
        let url = url(via, item, &fields, problems);
        let secrets = secrets(via, item, &fields, problems);
        let to = To::Channel;
        url.zip(secrets).map(|(url, secrets)| Reached { url, secrets, to, mail: None, slack: None })
    };
    let rule = rule(&fields, problems);
    if let (Some(item), true) = (fields.find("events"), rule.takes_checkpoints()) {
        let to = reached.as_ref().map(|reached| &reached.to);
        checkpoints(via, to, item, problems);
    }
    let mut ms = |key: &str, default: u64, most: u64| {
        let Some(item) = fields.find(key) else { return default };
        match duration::read(item, problems) {
            Some(ms) if !(1..=most).contains(&ms) => {
                problems.at(item, format!("the duration must be from 1 to {most} ms"));
                default
            }
            read => read.unwrap_or(default),
        }
    };
    let (retry_ms, timeout_ms) =
        (ms("retry_delay", RETRY_MS, CHANNEL_RETRY_MS), ms("timeout", TIMEOUT_MS, CHANNEL_TIMEOUT_MS));
    let attempts = fields.find("attempts").and_then(|item| item.count(CHANNEL_ATTEMPTS, problems));
    let title = fields.find("title").and_then(|item| item.flag(problems)).unwrap_or_default();
    let headers = headers::read(via, &fields, problems);
    let allow = allow(&fields, problems);
    let has_people = reached.as_ref().is_none_or(|reached| reached.to == To::People);
    let (hold, personal) = quiet_hours::read(via, has_people, &fields, problems);
    let Reached { url, secrets, to, mail, slack } = reached?;
    Some(Channel {
        name: name.to_owned(),
        rule,
        via,
        url,
        to,
        mail,
        slack,
        secrets,
        headers,
        title,
        summary: false,
        allow,
        attempts: attempts.unwrap_or(ATTEMPTS),
        retry_ms,
        timeout_ms,
        hold,
        personal,
    })
}

/// Reports a problem if a channel could send a checkpoint of the journal to people. A checkpoint is evidence, so only a
/// program or a fixed address that archives it may receive it.
fn checkpoints(via: Via, to: Option<&To>, events: &Item<'_>, problems: &mut Problems) {
    match (via.row().checkpoints, to) {
        (Checkpoints::Any, _) | (Checkpoints::Addresses, Some(To::Addresses(_)) | None) => {}
        (Checkpoints::Addresses, Some(To::People | To::Channel)) => {
            problems
                .at(events, "checkpoints are sent only to fixed mail addresses: list the addresses in `to`");
        }
        (Checkpoints::Never, _) => {
            let takes = Via::ALL.into_iter().filter(|via| via.row().checkpoints != Checkpoints::Never);
            let types: Vec<String> = takes.map(|via| format!("`{}`", via.as_str())).collect();
            problems.at(
                events,
                format!(
                    "only channels of the types {} can send the event `checkpoint`: remove it",
                    types.join(" and ")
                ),
            );
        }
    }
}

/// Destination of a channel: its address, secrets and recipients.
struct Reached {
    url: Source,
    secrets: Vec<Source>,
    to: To,
    mail: Option<Mail>,
    slack: Option<SlackApp>,
}

impl Reached {
    fn by_mail(mail::Read { url, mail, password, to }: mail::Read) -> Self {
        Self { url, secrets: password.into_iter().collect(), to, mail: Some(mail), slack: None }
    }

    fn in_browsers(contact: Source) -> Self {
        Self { url: contact, secrets: Vec::new(), to: To::People, mail: None, slack: None }
    }

    fn by_app(slack::Read { url, app, to }: slack::Read) -> Self {
        Self { url, secrets: Vec::new(), to, mail: None, slack: Some(app) }
    }
}

/// Finds the one key of `keys` that a channel has. Reports a problem if none or several are present.
fn one<'f, 'i>(
    keys: &[&'static str],
    owner: &Item<'i>,
    fields: &'f Fields<'i>,
    problems: &mut Problems,
) -> Option<(&'static str, &'f Item<'i>)> {
    let found: Vec<_> = keys.iter().filter_map(|key| Some((*key, fields.find(key)?))).collect();
    match found[..] {
        [(key, item)] => Some((key, item)),
        [] => {
            if !keys.iter().any(|key| fields.was_meant(key)) {
                problems.at(owner, format!("one of {} is missing", join_keys(keys)));
            }
            None
        }
        [_, (_, second), ..] => {
            problems.at(second, format!("only one of {} is allowed: remove the others", join_keys(keys)));
            None
        }
    }
}

fn join_keys(keys: &[&str]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

fn source(key: &str, text: String) -> Source {
    if key.ends_with("_env") {
        Source::Env(text)
    } else if key == "url" {
        Source::Plain(text)
    } else {
        Source::File(text)
    }
}

fn url(via: Via, item: &Item<'_>, fields: &Fields<'_>, problems: &mut Problems) -> Option<Source> {
    let is_secret = via.row().secrets == Secrets::Url;
    if is_secret && let Some(url) = fields.find("url") {
        let why = format!(
            "the URL of a {} channel is a secret: put it into a file and name the file in `url_file`, or \
            name a variable in `url_env`",
            via.as_str()
        );
        problems.at(url, why);
        return None;
    }
    let keys: &[&'static str] =
        if is_secret { &["url_file", "url_env"] } else { &["url", "url_file", "url_env"] };
    let (key, item) = one(keys, item, fields, problems)?;
    Some(source(key, item.text(LINE, problems)?))
}

fn secrets(via: Via, item: &Item<'_>, fields: &Fields<'_>, problems: &mut Problems) -> Option<Vec<Source>> {
    const KEYS: [&str; 3] = ["secret_file", "secret_files", "secret_env"];
    let is_named = KEYS.iter().any(|key| fields.find(key).is_some());
    match via.row().secrets {
        Secrets::Own => return Some(Vec::new()),
        Secrets::Url => {
            for found in KEYS.iter().filter_map(|key| fields.find(key)) {
                problems.at(
                    found,
                    format!(
                        "a channel of the type `{}` has no secret besides its URL: remove this key",
                        via.as_str()
                    ),
                );
            }
            return Some(Vec::new());
        }
        Secrets::Token if !is_named => return Some(Vec::new()),
        Secrets::Token | Secrets::Sign => {}
    }
    let (key, item) = one(&KEYS, item, fields, problems)?;
    if key != "secret_files" {
        return Some(vec![source(key, item.text(LINE, problems)?)]);
    }
    let most = if via.row().secrets == Secrets::Token { 1 } else { CHANNEL_SECRETS };
    let files = item.texts(most, LINE, problems)?;
    if files.is_empty() {
        problems.at(item, "the list is empty: name at least one file");
    }
    Some(files.into_iter().map(|(file, _)| Source::File(file)).collect())
}

fn rule(fields: &Fields<'_>, problems: &mut Problems) -> Rule {
    let occasions = Occasion::ALL.map(|occasion| (occasion.as_str(), occasion));
    let kinds: Vec<(&str, Kind)> = Kind::ALL.iter().map(|kind| (kind.as_str(), *kind)).collect();
    Rule {
        occasions: read_choices("events", &occasions, fields, problems),
        kinds: read_choices("kinds", &kinds, fields, problems),
        people: names("people", fields, problems),
        groups: names("groups", fields, problems),
        workflows: names("workflows", fields, problems),
        risk: fields.find("risk").and_then(|item| item.one_of(&RISKS, problems)),
    }
}

/// Reads a list of words from a given set in the channels file. Reports a problem for an empty list, because the
/// channel would get no notice.
fn read_choices<T: Copy + Ord>(
    key: &str,
    words: &[(&str, T)],
    fields: &Fields<'_>,
    problems: &mut Problems,
) -> BTreeSet<T> {
    let Some(item) = fields.find(key) else { return BTreeSet::new() };
    let list = item.list(words.len(), problems).unwrap_or_default();
    if list.is_empty() {
        problems
            .at(item, "the list is empty: name at least one value, or remove the key to receive everything");
    }
    list.iter().filter_map(|item| item.one_of(words, problems)).collect()
}

fn names(key: &str, fields: &Fields<'_>, problems: &mut Problems) -> BTreeSet<String> {
    let Some(item) = fields.find(key) else { return BTreeSet::new() };
    let list = item.texts(LIST, LINE, problems).unwrap_or_default();
    if list.is_empty() {
        problems
            .at(item, "the list is empty: name at least one value, or remove the key to receive everything");
    }
    list.into_iter().map(|(name, _)| name).collect()
}

fn allow(fields: &Fields<'_>, problems: &mut Problems) -> Vec<String> {
    let Some(item) = fields.find("allow") else { return Vec::new() };
    let ranges = item.texts(LIST, NAME, problems).unwrap_or_default();
    for (text, item) in &ranges {
        if !is_range(text) {
            problems.at(item, format!("`{text}` is not a range of addresses such as `192.168.1.0/24`"));
        }
    }
    ranges.into_iter().map(|(text, _)| text).collect()
}
