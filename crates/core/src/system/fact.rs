//! Facts of the system stream.

use serde::{Deserialize, Serialize};

use super::checkpoint::CheckpointTree;
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

/// Event of the system stream, without its content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "facts", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fact {
    /// Rules for every run, evaluated before those of its workflow.
    PolicySet {
        rules: Vec<Rule>,
    },
    /// No tool call and no model call starts from here on. The text is the reason.
    Frozen,
    Unfrozen,
    /// No tool call and no model call of this part starts from here on. The text is the reason.
    PartFrozen {
        part: Part,
    },
    PartUnfrozen {
        part: Part,
    },
    /// The person has these properties from here on. The data is `{name?, addresses}`.
    PersonSet {
        person: String,
        is: Person,
    },
    /// The person may not decide from here on.
    PersonLeft {
        person: String,
    },
    /// Beginning of an absence, or its end if `away` is `None`.
    AwaySet {
        person: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        away: Option<Away>,
    },
    /// Business hours of a group were set.
    HoursSet {
        group: String,
        is: Hours,
    },
    /// Business hours of a group were removed.
    HoursUnset {
        group: String,
    },
    /// A one-time login link for this person was created. The journal does not contain its code.
    LoginLinkMade {
        person: String,
    },
    /// Logins and login links of this person end.
    SignedOut {
        person: String,
    },
    /// A session at the identity provider ended, or all sessions of a person. `session` and `notice` are digests of its
    /// id and of the logout notice.
    SignedOutByProvider {
        session: Digest,
        notice: Digest,
    },
    /// The secret with this digest authenticates `name` from here on.
    KeyMade {
        key: KeyId,
        name: String,
        role: Role,
        digest: Digest,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
    },
    /// The secret with this digest is valid from here on. The previous secret is valid until `previous_until`, or no
    /// longer.
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
    /// A checkpoint over these events is sent to channels.
    CheckpointTold(CheckpointTree),
    /// A webhook receives reviews from here on. The journal does not contain its URL and its secrets.
    WebhookRegistered {
        webhook: WebhookId,
        is: Webhook,
    },
    /// A webhook receives no further notices.
    WebhookRemoved {
        webhook: WebhookId,
    },
    /// A browser receives the notices of its person from here on. The journal does not contain its endpoint and its
    /// keys.
    PushSubscribed {
        push: PushId,
        is: Subscription,
    },
    /// A browser receives no further notices.
    PushUnsubscribed {
        push: PushId,
    },
}
