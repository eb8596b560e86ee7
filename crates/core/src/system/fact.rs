//! Facts of the installation: what can happen to it.

use serde::{Deserialize, Serialize};

use super::checkpoint::Covered;
use super::freeze::Part;
use super::push::Subscription;
use super::webhooks::Webhook;
use crate::actor::Role;
use crate::digest::Digest;
use crate::hours::Hours;
use crate::id::{KeyId, PushId, WebhookId};
use crate::people::{Away, Person};
use crate::policy::Rule;
use crate::time::Timestamp;

/// Event of the installation, without its content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "facts", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fact {
    /// The rules that hold for every run, before those of its workflow.
    PolicySet {
        rules: Vec<Rule>,
    },
    /// No tool and no model call starts from here on. text: why.
    Frozen,
    Unfrozen,
    /// No tool and no model call of this part starts from here on. text: why.
    PartFrozen {
        part: Part,
    },
    PartUnfrozen {
        part: Part,
    },
    /// From here on this person is as said. data: `{name?, addresses}`.
    PersonSet {
        person: String,
        is: Person,
    },
    /// They decide nothing any more.
    PersonLeft {
        person: String,
    },
    /// Out of the office; back, where `away` is not there.
    AwaySet {
        person: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        away: Option<Away>,
    },
    /// Working hours of a group are set.
    HoursSet {
        group: String,
        is: Hours,
    },
    /// Working hours of a group are removed.
    HoursUnset {
        group: String,
    },
    /// A sign-in link for this person is made, which works once. The journal does not hold its code.
    LoginLinkMade {
        person: String,
    },
    /// Sign-ins and sign-in links of this person end.
    SignedOut {
        person: String,
    },
    /// A session at the identity provider has ended, or all of a person. `session`, `notice`: digests of its id and of the notice.
    SignedOutByProvider {
        session: Digest,
        notice: Digest,
    },
    /// The secret of this digest identifies `name` from here on.
    KeyMade {
        key: KeyId,
        name: String,
        role: Role,
        digest: Digest,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
    },
    /// The secret of this digest counts from here on; the one before until `previous_until`, or no more.
    KeyRotated {
        key: KeyId,
        digest: Digest,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        previous_until: Option<Timestamp>,
    },
    /// The secrets of the key are invalid from here on.
    KeyRevoked {
        key: KeyId,
    },
    /// Checkpoints are signed with this key from here on: the public half, Ed25519, in base64.
    CheckpointKeySet {
        public: String,
    },
    /// Channels are sent a checkpoint over these events.
    CheckpointTold(Covered),
    /// A webhook is notified of reviews from here on. The journal does not hold its URL and its secrets.
    WebhookRegistered {
        webhook: WebhookId,
        is: Webhook,
    },
    /// A webhook gets no more notices.
    WebhookRemoved {
        webhook: WebhookId,
    },
    /// A browser gets the notices of its person from here on. The journal does not hold its endpoint and its keys.
    PushSubscribed {
        push: PushId,
        is: Subscription,
    },
    /// A browser gets no more notices.
    PushUnsubscribed {
        push: PushId,
    },
}
