//! The system: policy rules, people, keys of agents and services, and freezes, which stop calls from starting.

pub mod checkpoint;
mod fact;
pub mod freeze;
mod handle;
mod input;
pub mod keys;
mod provider;
pub mod push;
pub mod webhooks;

use std::collections::BTreeMap;

use crate::actor::{self, Role};
use crate::event::{self, Event};
use crate::id::{PushId, WebhookId};
use crate::name::is_same;
use crate::people::{Moment, People, PeopleSource};
use crate::policy::Rule;
use crate::schema::Problem;
use crate::time::Timestamp;
pub use fact::Fact;
use freeze::{Freeze, Freezes};
pub use input::Input;
use keys::{Keys, NewKey};
use provider::SignedOutThere;
use push::Subscribed;
use webhooks::Registered;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct System {
    pub seq: u64,
    pub rules: Vec<Rule>,
    /// Number of `policy_set` events so far. Each interrupt states the number at the time when it was opened.
    pub policy_version: u64,
    pub freezes: Freezes,
    pub keys: Keys,
    pub people: People,
    /// Public keys that have signed checkpoints, the newest last.
    pub checkpoint_keys: Vec<String>,
    pub checkpoint_told: Option<checkpoint::LastSentCheckpoint>,
    /// Sessions that have ended at the identity provider, as the provider reported.
    pub signed_out_there: SignedOutThere,
    /// Webhooks that were registered over the API.
    pub webhooks: BTreeMap<WebhookId, Registered>,
    /// Browsers that receive push notifications.
    pub push: BTreeMap<PushId, Subscribed>,
    last_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("your role does not permit a change of this setting of the installation")]
    Role,
    #[error(transparent)]
    Key(#[from] keys::Refusal),
    /// The name is already taken or reserved. Names that differ only in spelling are treated as equal ([`is_same`]).
    /// `who` is the end of the error message, and describes the owner of the name.
    #[error("`{name}` {who}")]
    NameTaken { name: String, who: &'static str },
    #[error("the person does not exist")]
    UnknownPerson,
    #[error("there is no webhook with this id")]
    UnknownWebhook,
    #[error("you have no browser subscription with this id")]
    UnknownPush,
    #[error("this group has no working hours")]
    UnknownGroup,
    /// The record of the person, or the working hours, come from another source. Only that source is allowed to change
    /// them.
    #[error("{0}")]
    OtherSource(&'static str),
    /// The token belongs to a person who was removed from this installation.
    #[error("`{0}` was removed; only an administrator or the people file can add this person again")]
    Removed(String),
    /// A second freeze of the same target is rejected. The reason of a second freeze would hide the first reason, and
    /// lifting the second freeze would also lift the first.
    #[error(
        "the target is already frozen, since {} by {}{}; lift the freeze before you give another reason",
        .0.at, .0.by, .0.why()
    )]
    Frozen(Freeze),
    #[error("the request is not valid")]
    Invalid(Vec<Problem>),
}

impl System {
    /// Returns the time of the last event of the system.
    pub fn last_at(&self) -> Option<Timestamp> {
        self.last_at
    }

    /// Applies an event to the state of the system. Ignores events of other streams.
    pub fn apply(&mut self, event: &Event) {
        let event::Fact::System(fact) = &event.fact else { return };
        // Expired keys are removed before each event. The state therefore does not depend on whether this node was
        // running when a key expired.
        self.end_expired(event.at);
        self.seq += 1;
        self.last_at = Some(event.at);
        let moment = Moment { at: event.at, seq: self.seq };
        match fact {
            Fact::PolicySet { rules } => {
                self.rules.clone_from(rules);
                self.policy_version += 1;
            }
            Fact::Frozen => self.freezes.set(None, Some(frozen(event))),
            Fact::Unfrozen => self.freezes.set(None, None),
            Fact::PartFrozen { part } => self.freezes.set(Some(part), Some(frozen(event))),
            Fact::PartUnfrozen { part } => self.freezes.set(Some(part), None),
            Fact::PersonSet { person, is } => self.people.set(person, is.clone(), &event.content.data),
            Fact::PersonLeft { person } => {
                let source = self.people.get(person).map(|person| person.source);
                let is_removed = event.actor.role != Role::Engine || source != Some(PeopleSource::Provider);
                self.people.remove(person, moment, is_removed);
                self.end_push(person);
            }
            Fact::HoursSet { group, is } => self.people.set_hours(group, Some(is)),
            Fact::HoursUnset { group } => self.people.set_hours(group, None),
            // The journal does not contain login links, so the event changes nothing.
            Fact::LoginLinkMade { .. } => {}
            Fact::SignedOut { person } => {
                self.people.sign_out(person, moment);
                self.end_push(person);
            }
            Fact::SignedOutByProvider { session, notice } => {
                self.signed_out_there.ended(*session, *notice, moment);
            }
            Fact::AwaySet { person, away } => self.people.set_away(person, away.as_ref()),
            Fact::KeyMade { key, name, role, digest, expires_at, folder } => {
                let new = NewKey {
                    id: key.clone(),
                    name: name.clone(),
                    role: *role,
                    digest: *digest,
                    expires_at: *expires_at,
                    folder: folder.clone(),
                };
                self.people.serves(name, *role, *expires_at);
                self.keys.made(new, &event.actor.id, event.at);
            }
            Fact::KeyRotated { key, digest, previous_until } => {
                self.keys.rotated(key, *digest, *previous_until, event.at);
            }
            Fact::CheckpointKeySet { public } => self.checkpoint_keys.push(public.clone()),
            Fact::CheckpointTold(covered) => {
                self.checkpoint_told =
                    Some(checkpoint::LastSentCheckpoint { at: event.at, covered: *covered });
            }
            Fact::WebhookRegistered { webhook, is } => {
                let registered = Registered { is: is.clone(), by: event.actor.id.clone(), at: event.at };
                self.webhooks.insert(webhook.clone(), registered);
            }
            Fact::WebhookRemoved { webhook } => {
                self.webhooks.remove(webhook);
            }
            Fact::PushSubscribed { push, is } => {
                self.push.insert(push.clone(), Subscribed { is: is.clone(), at: event.at });
            }
            Fact::PushUnsubscribed { push } => {
                self.push.remove(push);
            }
            Fact::KeyRevoked { key } => {
                let name = self.keys.get(key).map(|key| key.name.clone());
                self.keys.revoked(key, event.at);
                // The key has expired, so its name may already belong to a new key.
                if let Some(name) = name.filter(|name| self.keys.find_by_name(name, event.at).is_none()) {
                    self.people.serves_no_more(&name, moment);
                }
            }
        }
    }

    /// Returns the system without keys that have expired at `now`, because an expired key is not allowed to decide.
    /// `None` if no key has expired. When a key expires, no event is recorded.
    pub fn without_expired(&self, now: Timestamp) -> Option<Self> {
        if self.people.expired(now).is_empty() {
            return None;
        }
        let mut system = self.clone();
        system.end_expired(now);
        Some(system)
    }

    /// Returns the subscribed browsers of a person, the oldest first.
    pub fn push_of<'s>(&'s self, person: &'s str) -> impl Iterator<Item = (&'s PushId, &'s Subscribed)> {
        self.push.iter().filter(move |(_, known)| known.is.person == person)
    }

    fn end_push(&mut self, person: &str) {
        self.push.retain(|_, known| known.is.person != person);
    }

    fn end_expired(&mut self, now: Timestamp) {
        for (name, at) in self.people.expired(now) {
            self.people.serves_no_more(&name, Moment { at, seq: self.seq });
        }
    }

    /// Describes the owner of a name. The text is the end of a sentence that begins with the name. `None` if the name
    /// is free. Names that differ only in spelling are treated as the same name.
    pub fn describe_name_owner(&self, name: &str, now: Timestamp) -> Option<&'static str> {
        self.describe_remaining_owner(name, now, &|_| false)
    }

    /// Describes who owns a name after the people for whom `leaves` returns true have left. `None` if the name is then
    /// free.
    fn describe_remaining_owner(
        &self,
        name: &str,
        now: Timestamp,
        leaves: &dyn Fn(&str) -> bool,
    ) -> Option<&'static str> {
        let is = |other: &str| is_same(other, name);
        if actor::RESERVED.into_iter().any(is) {
            Some("is reserved for Holdshort")
        } else if self.keys.all().any(|key| is(&key.name) && key.status(now) == keys::Status::Live) {
            Some("is the name of a key")
        } else if self.people.same(name).any(|id| !leaves(id)) {
            Some(OF_PERSON)
        } else {
            None
        }
    }
}

const OF_PERSON: &str = "is the name of a person";

fn frozen(event: &Event) -> Freeze {
    Freeze { by: event.actor.id.clone(), at: event.at, reason: event.content.text.clone() }
}
