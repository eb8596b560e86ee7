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

/// What happened to the installation.
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
    /// The same of a part of the installation. text: why.
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
    /// From here on somebody of this group is at work then.
    HoursSet {
        group: String,
        is: Hours,
    },
    /// Of this group no hours are known.
    HoursUnset {
        group: String,
    },
    /// Whoever opens the link signs a browser in as this person, once. Its code is nowhere in the journal.
    LoginLinkMade {
        person: String,
    },
    /// Whoever was signed in as this person, or invited to, is so no more.
    SignedOut {
        person: String,
    },
    /// What the identity provider says has ended: a session there, or all of somebody, by digest. `notice`: of what said so.
    SignedOutByProvider {
        session: Digest,
        notice: Digest,
    },
    /// Whoever shows the secret of this digest is `name` from here on.
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
    /// No secret of the key counts any more.
    KeyRevoked {
        key: KeyId,
    },
    /// Checkpoints are signed with this key from here on: the public half, Ed25519, in base64.
    CheckpointKeySet {
        public: String,
    },
    /// From here on channels are told of a checkpoint over this.
    CheckpointTold(Covered),
    /// It is told of reviews from here on. Its URL and its secrets are nowhere in the journal.
    WebhookRegistered {
        webhook: WebhookId,
        is: Webhook,
    },
    /// It is told nothing more.
    WebhookRemoved {
        webhook: WebhookId,
    },
    /// This browser tells its person from here on. Where it is, and what is encrypted with, are nowhere in the journal.
    PushSubscribed {
        push: PushId,
        is: Subscription,
    },
    /// It tells nobody anything more.
    PushUnsubscribed {
        push: PushId,
    },
}
