//! Channels: configuration of the places where people are notified, and rules that select notices for each channel.
//!
//! A channel names the sources of its secrets and never holds a secret.

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

/// Channel of callbacks to agents of other frameworks, each at its own address. It is not in the channels file.
pub const CALLBACKS: &str = "agent-callbacks";

/// One channel as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    pub name: String,
    pub rule: Rule,
    pub via: Via,
    /// For e-mail: `smtp://HOST:PORT`. For push: contact for the push service, `mailto:` or `https:`.
    pub url: Source,
    /// Recipients of the deliveries.
    pub to: To,
    /// Set for e-mail only.
    pub mail: Option<Mail>,
    /// Set for Slack with buttons.
    pub slack: Option<SlackApp>,
    /// Signing secrets, the current one first. The others stay valid while receivers change over. For ntfy: the token
    /// of the publisher. For e-mail: the password.
    pub secrets: Vec<Source>,
    /// Additional headers of a webhook. Headers that authenticate name the source of their value.
    pub headers: BTreeMap<String, Source>,
    /// True if notifications include the title of the interrupt. The title is content.
    pub title: bool,
    /// Private address ranges that may be reached.
    pub allow: Vec<String>,
    /// Maximum attempts of a delivery.
    pub attempts: u64,
    /// Delay between the first and the second attempt. Each later delay is four times as long.
    pub retry_ms: u64,
    /// Timeout of one attempt.
    pub timeout_ms: u64,
    /// Quiet hours and digest.
    pub hold: Hold,
    /// Quiet hours and digest of single people by id, instead of `hold`.
    pub personal: BTreeMap<String, Hold>,
}

/// Limits of a webhook that is not in the channels file (contract D5).
const ATTEMPTS: u64 = 3;
const RETRY_MS: u64 = 5_000;
const TIMEOUT_MS: u64 = 10_000;

impl Channel {
    /// Returns the channel of a registered webhook, for reviews. The sending node adds its address and its secrets.
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

    /// Returns the channels of registered, active webhooks.
    pub fn registered(system: &System) -> impl Iterator<Item = Self> {
        let active = system.webhooks.iter().filter(|(_, registered)| registered.is.active);
        active.map(|(id, registered)| Self::of_webhook(id, &registered.is))
    }

    /// Returns a channel that is not in the channels file. It receives every notice at once. The sender adds its
    /// address and its secrets.
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

    /// Returns the quiet hours and digest for a recipient.
    pub fn hold_of(&self, to: Option<&Recipient>) -> &Hold {
        match to {
            Some(to) => to.person().and_then(|id| self.personal.get(id)).unwrap_or(&self.hold),
            None => &self.hold,
        }
    }

    /// Returns true if the channel may hold notices.
    pub fn gathers(&self) -> bool {
        !self.hold.is_empty() || self.personal.values().any(|hold| !hold.is_empty())
    }

    /// Returns the time until which a notice written at `written` is held. Returns `None` if it is sent at once.
    pub fn held_until(&self, notice: &Notice, written: Timestamp, people: &People) -> Option<Timestamp> {
        let person = notice.to.as_ref().and_then(Recipient::person).and_then(|id| people.get(id));
        let zone = person.and_then(|person| person.time_zone.as_deref());
        self.hold_of(notice.to.as_ref()).until(written, notice.risk, zone)
    }
}

/// Returns true if the sender sets this header itself, so that a configuration may not.
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

/// Recipients of a channel's deliveries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum To {
    /// All readers of the channel: one delivery for each notice.
    #[default]
    Channel,
    /// Each approver: one delivery for each person. For push, one delivery for each of their browsers.
    People,
    /// Fixed addresses: one delivery for each.
    Addresses(Vec<String>),
}

/// Settings for sending mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// `Holdshort <holdshort@example.org>`, or the address alone.
    pub from: String,
    pub security: Security,
    /// User name at the mail server. The secret is the password.
    pub user: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// The connection begins unencrypted and must switch to TLS, or it ends.
    Starttls,
    /// TLS from the first byte.
    Tls,
    /// No encryption. Only for addresses that `allow` contains.
    None,
}

/// Slack app: posts with its bot token, and receives the identity of people who press buttons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlackApp {
    /// Id of a conversation, `C…`. Empty if each person is messaged directly.
    pub conversation: String,
    pub token: Source,
    pub signing_secret: Source,
}

/// Source of a value that may be secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The value itself, which is not secret.
    Plain(String),
    /// Path of a file with the secret.
    File(String),
    /// Name of an environment variable with the secret.
    Env(String),
}

/// Filter of the notices for a channel. An empty criterion matches all notices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    pub occasions: BTreeSet<Occasion>,
    pub kinds: BTreeSet<Kind>,
    /// Approvers or recipients of the notice. Together with `groups`, one match in either suffices.
    pub people: BTreeSet<String>,
    pub groups: BTreeSet<String>,
    pub workflows: BTreeSet<String>,
    /// Minimum risk.
    pub risk: Option<Level>,
}

impl Rule {
    /// Returns true if the channel receives checkpoints. It must name them, because they concern no approver.
    pub fn takes_checkpoints(&self) -> bool {
        self.occasions.contains(&Occasion::Checkpoint)
    }

    pub fn matches(&self, notice: &Notice) -> bool {
        self.is_about(notice) && self.names(notice)
    }

    /// Returns true if the notice matches, regardless of its approvers.
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
