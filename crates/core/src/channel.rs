//! Channels: where people are told, as they are configured, and which of the notices each is told.
//!
//! A channel names where its secrets are and holds none.

use std::collections::{BTreeMap, BTreeSet};

use crate::interrupt::{Kind, Level};
use crate::notice::{Notice, Occasion};

/// One channel, as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    pub name: String,
    pub rule: Rule,
    pub via: Via,
    pub url: Source,
    /// That sign what is sent, the current one first; the others go on to be valid while receivers change over. Of ntfy: the
    /// token of whoever publishes.
    pub secrets: Vec<Source>,
    /// Sent along.
    pub headers: BTreeMap<String, String>,
    /// Whether the title of what is asked is told. It is content.
    pub title: bool,
    /// Ranges of addresses that are not public and may be reached all the same.
    pub allow: Vec<String>,
    /// How often a delivery is tried.
    pub attempts: u64,
    /// From the first attempt to the second; each later wait is four times as long.
    pub retry_ms: u64,
    /// The longest that one attempt takes.
    pub timeout_ms: u64,
}

/// How a channel is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// Standard Webhooks, to any URL.
    Webhook,
    /// An incoming webhook of Slack.
    Slack,
    /// A workflow of Microsoft Teams.
    Teams,
    /// A topic of an ntfy server.
    Ntfy,
    /// A program that knows the compliance crew of source document 003.
    Crew,
}

impl Via {
    pub const ALL: [Self; 5] = [Self::Webhook, Self::Slack, Self::Teams, Self::Ntfy, Self::Crew];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Webhook => "webhook",
            Self::Slack => "slack",
            Self::Teams => "teams",
            Self::Ntfy => "ntfy",
            Self::Crew => "crew",
        }
    }

    /// Whether people read it. A program that reads it is told everything, in order.
    pub fn is_read_by_people(self) -> bool {
        match self {
            Self::Webhook | Self::Crew => false,
            Self::Slack | Self::Teams | Self::Ntfy => true,
        }
    }
}

/// Where something is that may be secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// It is none.
    Plain(String),
    /// In a file of its own.
    File(String),
    /// In a variable of the environment.
    Env(String),
}

/// Which notices a channel is told. What is empty narrows nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    pub occasions: BTreeSet<Occasion>,
    pub kinds: BTreeSet<Kind>,
    /// That this is asked of, or that they are told. With `groups`: either.
    pub people: BTreeSet<String>,
    pub groups: BTreeSet<String>,
    pub workflows: BTreeSet<String>,
    /// At least.
    pub risk: Option<Level>,
}

impl Rule {
    pub fn takes(&self, notice: &Notice) -> bool {
        let is_named = |names: &BTreeSet<String>, of: &[String]| of.iter().any(|name| names.contains(name));
        let is_for_all = self.people.is_empty() && self.groups.is_empty();
        (self.occasions.is_empty() || self.occasions.contains(&notice.occasion))
            && (self.kinds.is_empty() || self.kinds.contains(&notice.kind))
            && (self.workflows.is_empty() || self.workflows.contains(&notice.workflow))
            && self.risk.is_none_or(|least| notice.risk >= least)
            && (is_for_all
                || is_named(&self.people, &notice.people)
                || is_named(&self.groups, &notice.groups))
    }
}
