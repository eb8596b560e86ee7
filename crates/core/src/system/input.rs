//! Inputs of the system: the changes that actors request. `handle` checks if the actor has the permission.

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
    /// Freezes the run, workflow or agent in `part`. If `part` is `None`, freezes the whole installation.
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
    /// Replaces all people whose records come from the same source.
    SetPeople {
        source: PeopleSource,
        people: Vec<(String, Person)>,
    },
    /// Sets the key that signs checkpoints.
    SetCheckpointKey {
        public: String,
    },
    TellCheckpoint(checkpoint::SendCheckpoint),
    /// Adds or changes a person as a token of an identity provider states. The provider issued the token at
    /// `person.issued_at`.
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
    /// Replaces the working hours of all groups whose hours come from the same source.
    SetAllHours {
        source: PeopleSource,
        hours: Vec<(String, Hours)>,
    },
    MakeLoginLink {
        person: String,
    },
    /// Signs a person out everywhere.
    SignOut {
        person: String,
    },
    /// Ends one session or all sessions of a person, because the identity provider reported a sign-out.
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
