//! Channels: where people are told, as they are configured, and which of the notices each is told.
//!
//! A channel names where its secrets are and holds none.

mod via;

use std::collections::{BTreeMap, BTreeSet};

pub use self::via::{Checkpoints, Secrets, Via, ViaRow};

use crate::id::WebhookId;
use crate::interrupt::Kind;
use crate::level::Level;
use crate::notice::{Notice, Occasion, Recipient};
use crate::people::People;
use crate::quiet_hours::Hold;
use crate::system::System;
use crate::system::webhooks::{Webhook, WebhookKind};
use crate::time::Timestamp;

/// The channel of what agents of others are told, each where it said. No file defines it.
pub const CALLBACKS: &str = "agent-callbacks";

/// One channel, as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    pub name: String,
    pub rule: Rule,
    pub via: Via,
    /// Of e-mail: `smtp://HOST:PORT`. Of push: whom a push service may write to, `mailto:` or `https:`.
    pub url: Source,
    /// Whom each delivery is for.
    pub to: To,
    /// Of e-mail alone.
    pub mail: Option<Mail>,
    /// Of Slack, where it has buttons.
    pub slack: Option<SlackApp>,
    /// That sign what is sent, the current one first; the others go on to be valid while receivers change over. Of ntfy: the
    /// token of whoever publishes. Of e-mail: the password.
    pub secrets: Vec<Source>,
    /// Of a webhook: sent along. Those that let somebody in name where their value is.
    pub headers: BTreeMap<String, Source>,
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
    /// What is held back.
    pub hold: Hold,
    /// The same for one person, by id, in the place of that.
    pub personal: BTreeMap<String, Hold>,
}

/// Limits of a webhook that the channels file does not name (contract D5).
const ATTEMPTS: u64 = 3;
const RETRY_MS: u64 = 5_000;
const TIMEOUT_MS: u64 = 10_000;

impl Channel {
    /// Returns the channel of a registered webhook, for reviews. The node that sends adds its address and its secrets.
    pub fn of_webhook(id: &WebhookId, webhook: &Webhook) -> Self {
        let via = match webhook.kind {
            WebhookKind::CustomUrl => Via::Crew,
            WebhookKind::Slack => Via::Slack,
            WebhookKind::Email => Via::Email,
            WebhookKind::Teams => Via::Teams,
        };
        Self {
            rule: Rule { kinds: BTreeSet::from([Kind::Review]), ..Rule::default() },
            via,
            ..Self::webhook(id.to_string(), ATTEMPTS, RETRY_MS, TIMEOUT_MS)
        }
    }

    /// Returns the channels of the webhooks that are registered and active.
    pub fn registered(system: &System) -> impl Iterator<Item = Self> {
        let active = system.webhooks.iter().filter(|(_, registered)| registered.is.active);
        active.map(|(id, registered)| Self::of_webhook(id, &registered.is))
    }

    /// One that stands in no file: it is told of everything at once, and whoever sends adds where it leads and what signs there.
    pub fn webhook(name: String, attempts: u64, retry_ms: u64, timeout_ms: u64) -> Self {
        Self {
            name,
            rule: Rule::default(),
            via: Via::Webhook,
            url: Source::Plain(String::new()),
            to: To::Channel,
            mail: None,
            slack: None,
            secrets: Vec::new(),
            headers: BTreeMap::new(),
            title: false,
            allow: Vec::new(),
            attempts,
            retry_ms,
            timeout_ms,
            hold: Hold::default(),
            personal: BTreeMap::new(),
        }
    }

    /// What is held back of what somebody is told.
    pub fn hold_of(&self, to: Option<&Recipient>) -> &Hold {
        match to {
            Some(to) => to.person().and_then(|id| self.personal.get(id)).unwrap_or(&self.hold),
            None => &self.hold,
        }
    }

    /// Whether it ever tells several things together.
    pub fn gathers(&self) -> bool {
        !self.hold.is_empty() || self.personal.values().any(|hold| !hold.is_empty())
    }

    /// Until when a notice is kept that was written at this moment; `None`: it is told at once.
    pub fn held_until(&self, notice: &Notice, written: Timestamp, people: &People) -> Option<Timestamp> {
        let person = notice.to.as_ref().and_then(Recipient::person).and_then(|id| people.get(id));
        let zone = person.and_then(|person| person.time_zone.as_deref());
        self.hold_of(notice.to.as_ref()).until(written, notice.risk, zone)
    }
}

/// Whether a header is one that whatever sends says by itself: nobody else names it.
pub fn is_own_header(name: &str) -> bool {
    const OWN: [&str; 10] = [
        "connection",
        "content-length",
        "content-type",
        "expect",
        "host",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
    ];
    const PREFIXES: [&str; 3] = ["webhook-", "x-webhook-", "x-event-"];
    let name = name.to_ascii_lowercase();
    OWN.contains(&&*name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Whom a delivery of a channel is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum To {
    /// Whoever reads the channel: one delivery of each notice.
    #[default]
    Channel,
    /// Each person who is asked: a delivery for each of them; of push for each of their browsers.
    People,
    /// These: a delivery for each of them.
    Addresses(Vec<String>),
}

/// How mails are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// `Holdshort <holdshort@example.org>`, or the address alone.
    pub from: String,
    pub security: Security,
    /// Who signs in at the server, with the secret as the password.
    pub user: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// The connection begins in the clear and goes on in TLS, or ends.
    Starttls,
    /// TLS from the first byte.
    Tls,
    /// None: to addresses that `allow` names, and to no others.
    None,
}

/// An app of Slack, which posts with a token of its bot and is told who presses a button.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlackApp {
    /// The id of a conversation, `C…`. Empty where each person is written to.
    pub conversation: String,
    pub token: Source,
    pub signing_secret: Source,
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
    /// Whether it is told of checkpoints: only where it says so, for they concern nobody who is asked something.
    pub fn takes_checkpoints(&self) -> bool {
        self.occasions.contains(&Occasion::Checkpoint)
    }

    pub fn takes(&self, notice: &Notice) -> bool {
        self.is_about(notice) && self.names(notice)
    }

    /// Whether it takes such a notice, whoever is asked.
    pub fn is_about(&self, notice: &Notice) -> bool {
        (self.occasions.is_empty() || self.occasions.contains(&notice.occasion))
            && (self.kinds.is_empty() || self.kinds.contains(&notice.kind))
            && (self.workflows.is_empty() || self.workflows.contains(&notice.workflow))
            && self.risk.is_none_or(|least| notice.risk >= least)
    }

    fn names(&self, notice: &Notice) -> bool {
        let is_named = |names: &BTreeSet<String>, of: &[String]| of.iter().any(|name| names.contains(name));
        let is_for_all = self.people.is_empty() && self.groups.is_empty();
        is_for_all || is_named(&self.people, &notice.people) || is_named(&self.groups, &notice.groups)
    }
}
