//! Inputs of the system: requested changes. Contains no permissions.

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
    /// Freezes the whole installation, or a part of it.
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
    /// Replaces all people of a source.
    SetPeople {
        source: PeopleSource,
        people: Vec<(String, Person)>,
    },
    /// Sets the signing key of checkpoints.
    SetCheckpointKey {
        public: String,
    },
    TellCheckpoint(checkpoint::SendCheckpoint),
    /// Takes over the claims of an identity provider's token, issued at `person.issued_at`.
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
    /// Replaces the hours of all groups from a source.
    SetAllHours {
        source: PeopleSource,
        hours: Vec<(String, Hours)>,
    },
    MakeLoginLink {
        person: String,
    },
    /// Ends all logins of a person.
    SignOut {
        person: String,
    },
    /// Ends a session at the identity provider, or all sessions of a person there.
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
    /// Returns the input that freezes the whole installation.
    pub fn freeze(reason: &str) -> Self {
        Self::Freeze { part: None, reason: reason.to_owned() }
    }

    pub fn unfreeze() -> Self {
        Self::Unfreeze { part: None }
    }
}
