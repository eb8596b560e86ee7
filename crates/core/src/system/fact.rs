//! Facts of the events in the system stream.

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
    /// Rules for all runs were set. In every run, these rules are evaluated before the rules of the workflow.
    PolicySet {
        rules: Vec<Rule>,
    },
    /// The installation was frozen. During the freeze, no tool call and no model call starts. The event's text is the
    /// reason.
    Frozen,
    Unfrozen,
    /// A run, workflow or agent was frozen. During the freeze, none of its tool calls and model calls starts. The
    /// event's text is the reason.
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
    /// A person was removed, and is no longer allowed to decide.
    PersonLeft {
        person: String,
    },
    /// A person's absence began. If `away` is `None`, the absence ended.
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
    /// A one-time login link for this person was created. The secret code of the link is not in the journal.
    LoginLinkMade {
        person: String,
    },
    /// The person was signed out everywhere, and all login links of the person became invalid.
    SignedOut {
        person: String,
    },
    /// A person was signed out at the identity provider, from one session or from all sessions. `session` and `notice`
    /// are digests of the session's id and of the logout notice.
    SignedOutByProvider {
        session: Digest,
        notice: Digest,
    },
    /// A key was created. Requests with the secret of the key are authenticated as `name`. `digest`: digest of the
    /// secret.
    KeyMade {
        key: KeyId,
        name: String,
        role: Role,
        digest: Digest,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
        /// Folder in which the server runs trials of the agent's commands. Absent if the key has no folder, and in
        /// events of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
    },
    /// A key got a new secret. `digest`: digest of the new secret. The previous secret stays valid until
    /// `previous_until`. If `previous_until` is `None`, the previous secret becomes invalid at once.
    KeyRotated {
        key: KeyId,
        digest: Digest,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        previous_until: Option<Timestamp>,
    },
    /// A key was revoked. All secrets of the key became invalid.
    KeyRevoked {
        key: KeyId,
    },
    /// The key that signs checkpoints changed. After this event, the key `public` signs checkpoints. `public` is the
    /// public half of the Ed25519 key, in base64.
    CheckpointKeySet {
        public: String,
    },
    /// A checkpoint that covers the earlier events was sent to channels.
    CheckpointTold(CheckpointTree),
    /// A webhook was registered for notices of reviews. The journal contains neither the URL nor the secrets of the
    /// webhook.
    WebhookRegistered {
        webhook: WebhookId,
        is: Webhook,
    },
    /// A webhook was removed and receives no further notices.
    WebhookRemoved {
        webhook: WebhookId,
    },
    /// A person's browser was subscribed to push notifications. The journal contains neither the endpoint nor the keys
    /// of the browser.
    PushSubscribed {
        push: PushId,
        is: Subscription,
    },
    /// A browser was unsubscribed and receives no further notices.
    PushUnsubscribed {
        push: PushId,
    },
}
