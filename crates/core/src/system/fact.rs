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

/// Event of the system stream, without its erasable content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "facts", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fact {
    /// Rules for every run were set. The system's rules are evaluated before the rules of the run's workflow.
    PolicySet {
        rules: Vec<Rule>,
    },
    /// The installation was frozen, so no tool call and no model call starts. The event's text is the reason.
    Frozen,
    Unfrozen,
    /// A run, workflow or agent was frozen, so none of its tool calls and model calls starts. The event's text is
    /// the reason.
    PartFrozen {
        part: Part,
    },
    PartUnfrozen {
        part: Part,
    },
    /// A person was added or changed. The event's data is `{name?, addresses}`.
    PersonSet {
        person: String,
        is: Person,
    },
    /// A person was removed and may no longer decide.
    PersonLeft {
        person: String,
    },
    /// An absence began, or ended if `away` is `None`.
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
    /// A one-time login link for this person was created. The journal does not contain the code of the link.
    LoginLinkMade {
        person: String,
    },
    /// All logins and login links of this person were ended.
    SignedOut {
        person: String,
    },
    /// One session at the identity provider, or all sessions of a person there, ended. `session` and `notice` are
    /// digests of the session's id and of the logout notice.
    SignedOutByProvider {
        session: Digest,
        notice: Digest,
    },
    /// A key was created. Its secret, which has this digest, authenticates `name`.
    KeyMade {
        key: KeyId,
        name: String,
        role: Role,
        digest: Digest,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
        /// Folder in which the server tries commands of the agent. Absent in events of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
    },
    /// A key got a new secret, which has this digest. The previous secret stays valid until `previous_until`; if
    /// `previous_until` is `None`, the previous secret is invalid immediately.
    KeyRotated {
        key: KeyId,
        digest: Digest,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        previous_until: Option<Timestamp>,
    },
    /// A key was revoked. All its secrets are invalid.
    KeyRevoked {
        key: KeyId,
    },
    /// From this event on, checkpoints are signed with the key `public`. `public` is the public half of the Ed25519
    /// key, in base64.
    CheckpointKeySet {
        public: String,
    },
    /// A checkpoint over the events so far was sent to channels.
    CheckpointTold(CheckpointTree),
    /// A webhook was registered for notices of reviews. The journal does not contain its URL and its secrets.
    WebhookRegistered {
        webhook: WebhookId,
        is: Webhook,
    },
    /// A webhook was removed and receives no further notices.
    WebhookRemoved {
        webhook: WebhookId,
    },
    /// A browser was subscribed to the push notifications of its person. The journal does not contain its endpoint and
    /// its keys.
    PushSubscribed {
        push: PushId,
        is: Subscription,
    },
    /// A browser was unsubscribed and receives no further notices.
    PushUnsubscribed {
        push: PushId,
    },
}
