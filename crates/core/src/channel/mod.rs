//! Channels: services over which people are notified, their configuration, and the rules that select the notices for
//! each channel.
//!
//! The configuration names the sources of secrets (such as a file), and never contains a secret.

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

/// Name of the channel for callbacks to agents of other frameworks. The agent gives an address for each callback, so
/// this channel has no address. The channels file does not contain this channel.
pub const CALLBACKS: &str = "agent-callbacks";

/// Configuration of one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    pub name: String,
    pub rule: Rule,
    pub via: Via,
    /// Address of the channel. For e-mail, `smtp://HOST:PORT`. For push, the contact address for the push service,
    /// `mailto:` or `https:`.
    pub url: Source,
    /// Recipients of the channel's notifications.
    pub to: To,
    /// Settings of an e-mail channel. `None` for other types of channels.
    pub mail: Option<Mail>,
    /// Settings of a Slack app with buttons. `None` for other channels.
    pub slack: Option<SlackApp>,
    /// Signing secrets, the current one first. Older secrets remain valid until all receivers have the current one. An
    /// ntfy channel stores its publishing token here, and an e-mail channel its password.
    pub secrets: Vec<Source>,
    /// Additional HTTP headers of a webhook channel's requests. The value of a header that authenticates the request is
    /// read from a file that the configuration names.
    pub headers: BTreeMap<String, Source>,
    /// True if notifications contain the title of the interrupt. The title is content that can be erased from the
    /// journal.
    pub title: bool,
    /// True if notifications about reviews contain a summary instead of the title. The summary consists of the title
    /// and the findings, with secrets redacted.
    pub summary: bool,
    /// Private address ranges to which the channel may connect.
    pub allow: Vec<String>,
    /// Maximum number of attempts per delivery.
    pub attempts: u64,
    /// Delay between the first and the second attempt to send a delivery, in milliseconds. Each later delay is four
    /// times as long as the delay before it.
    pub retry_ms: u64,
    /// Timeout of one attempt to send a delivery, in milliseconds.
    pub timeout_ms: u64,
    /// Times at which the channel holds notifications back: quiet hours, and a digest.
    pub hold: Hold,
    /// Quiet hours and digest times of single people, by person id. An entry replaces `hold` for this person.
    pub personal: BTreeMap<String, Hold>,
}

/// Maximum number of attempts to deliver a notice to a webhook that is not in the channels file (contract D5).
const ATTEMPTS: u64 = 3;
const RETRY_MS: u64 = 5_000;
const TIMEOUT_MS: u64 = 10_000;

impl Channel {
    /// Returns the channel for a webhook that was registered through the API. The channel gets only notices about
    /// reviews. The server node that sends a notification adds the address and the secrets.
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

    /// Returns the channels of all active webhooks that were registered through the API.
    pub fn registered(system: &System) -> impl Iterator<Item = Self> {
        let active = system.webhooks.iter().filter(|(_, registered)| registered.is.active);
        active.map(|(id, registered)| Self::of_webhook(id, &registered.is))
    }

    /// Returns a channel that is not in the channels file. The channel gets every notice at once. The sender adds the
    /// address and the secrets.
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
            summary: false,
            allow: Vec::new(),
            attempts,
            retry_ms,
            timeout_ms,
            hold: Hold::default(),
            personal: BTreeMap::new(),
        }
    }

    /// Returns the quiet hours and the digest times of this channel that apply to a recipient.
    pub fn hold_of(&self, to: Option<&Recipient>) -> &Hold {
        match to {
            Some(to) => to.person().and_then(|id| self.personal.get(id)).unwrap_or(&self.hold),
            None => &self.hold,
        }
    }

    /// Returns true if the channel may hold notices back, because it has quiet hours or a digest.
    pub fn gathers(&self) -> bool {
        !self.hold.is_empty() || self.personal.values().any(|hold| !hold.is_empty())
    }

    /// Returns the time until which a notice is held back. `written` is the time at which the notice was created.
    /// `None` if the notice is sent at once.
    pub fn held_until(&self, notice: &Notice, written: Timestamp, people: &People) -> Option<Timestamp> {
        let person = notice.to.as_ref().and_then(Recipient::person).and_then(|id| people.get(id));
        let zone = person.and_then(|person| person.time_zone.as_deref());
        self.hold_of(notice.to.as_ref()).until(written, notice.risk, zone)
    }
}

/// Returns true if the code that sends notifications sets this HTTP header itself. The configuration must not set such
/// a header.
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
    /// The channel notifies all its readers together, with one notification per notice.
    #[default]
    Channel,
    /// The channel notifies each approver separately, with one notification per notice. A push channel notifies each
    /// browser of the person.
    People,
    /// The channel notifies each address in this list separately, with one notification per notice.
    Addresses(Vec<String>),
}

/// Settings of an e-mail channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// Sender of the e-mails: a name with an address (`Holdshort <holdshort@example.org>`), or only the address.
    pub from: String,
    pub security: Security,
    /// User name for the login at the mail server. The password is stored in the `secrets` of the channel.
    pub user: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// The connection to the mail server starts unencrypted, and is closed if it cannot switch to TLS.
    Starttls,
    /// The connection to the mail server uses TLS from the first byte.
    Tls,
    /// The connection to the mail server is not encrypted. Permitted only if `allow` of the channel contains the
    /// address of the mail server.
    None,
}

/// Slack app that posts messages with its bot token. When a person presses a button of a message, Slack reports the
/// person to the app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlackApp {
    /// Id of the Slack conversation to which the app posts (`C…`). If empty, each person gets a direct message.
    pub conversation: String,
    pub token: Source,
    pub signing_secret: Source,
}

/// Source of a configuration value that may be secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The configuration contains the value itself, because the value is not secret.
    Plain(String),
    /// Path of a file that contains the secret.
    File(String),
    /// Name of an environment variable that contains the secret.
    Env(String),
}

/// Filter that selects the notices for a channel. An empty criterion matches every notice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    pub occasions: BTreeSet<Occasion>,
    pub kinds: BTreeSet<Kind>,
    /// Ids of people. A notice matches if one of these people is an approver or a recipient of the notice. If `people`
    /// and `groups` are both set, a notice needs to match only one of them.
    pub people: BTreeSet<String>,
    pub groups: BTreeSet<String>,
    pub workflows: BTreeSet<String>,
    /// Minimum risk at which a notice matches. If `None`, notices of every risk match.
    pub risk: Option<Level>,
}

impl Rule {
    /// Returns true if the channel gets notices about checkpoints of the journal. The rule must list checkpoints
    /// explicitly. A checkpoint has no approvers, so no other criterion selects it.
    pub fn takes_checkpoints(&self) -> bool {
        self.occasions.contains(&Occasion::Checkpoint)
    }

    pub fn matches(&self, notice: &Notice) -> bool {
        self.is_about(notice) && self.names(notice)
    }

    /// Returns true if the notice matches all criteria of the rule. Ignores the criteria `people` and `groups`.
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
