//! What is wanted of the installation. Says nothing of who may want it.

use super::checkpoint;
use super::freeze::Part;
use super::keys::NewKey;
use super::push::Subscription;
use super::webhooks::Webhook;
use crate::digest::Digest;
use crate::hours::Hours;
use crate::id::{KeyId, PushId, WebhookId};
use crate::people::{Away, PeopleSource, Person};
use crate::policy::Rule;

#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    SetPolicy {
        rules: Vec<Rule>,
    },
    /// The whole installation, or a part of it.
    Freeze {
        part: Option<Part>,
        reason: String,
    },
    Unfreeze {
        part: Option<Part>,
    },
    SetPerson {
        id: String,
        person: Person,
    },
    RemovePerson {
        id: String,
    },
    /// These are all people of a source.
    SetPeople {
        source: PeopleSource,
        people: Vec<(String, Person)>,
    },
    /// This key signs checkpoints.
    SetCheckpointKey {
        public: String,
    },
    TellCheckpoint(checkpoint::Tell),
    /// A token of an issuer says who this is, as `person.issued_at` has it.
    TakeUp {
        id: String,
        person: Person,
    },
    SetAway {
        id: String,
        away: Option<Away>,
    },
    SetHours {
        group: String,
        hours: Hours,
    },
    UnsetHours {
        group: String,
    },
    /// These are the hours of all groups of which a source says any.
    SetAllHours {
        source: PeopleSource,
        hours: Vec<(String, Hours)>,
    },
    MakeLoginLink {
        person: String,
    },
    /// Everywhere.
    SignOut {
        person: String,
    },
    /// A session at the identity provider, or all of somebody, has ended.
    SignOutByProvider {
        session: Digest,
        notice: Digest,
    },
    MakeKey(NewKey),
    RotateKey {
        key: KeyId,
        digest: Digest,
        overlap_ms: u64,
    },
    RevokeKey {
        key: KeyId,
    },
    RegisterWebhook {
        webhook: WebhookId,
        is: Webhook,
    },
    RemoveWebhook {
        webhook: WebhookId,
    },
    SubscribePush {
        push: PushId,
        is: Subscription,
    },
    UnsubscribePush {
        push: PushId,
    },
}

impl Input {
    /// Nothing starts in the whole installation.
    pub fn freeze(reason: &str) -> Self {
        Self::Freeze { part: None, reason: reason.to_owned() }
    }

    pub fn unfreeze() -> Self {
        Self::Unfreeze { part: None }
    }
}
