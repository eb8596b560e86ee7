//! The installation: its policy rules, its people, the keys of agents and services, and the freeze that stops every new
//! start.

pub mod checkpoint;
pub mod freeze;
mod hours;
mod input;
pub mod keys;
mod provider;
pub mod push;
pub mod webhooks;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::actor::{self, Actor, Role};
use crate::digest::Digest;
use crate::envelope::Content;
use crate::event::{self, Event};
use crate::hours::Hours;
use crate::id::{KeyId, PushId, StreamId, WebhookId};
use crate::name::{form, is_same};
use crate::people::{Away, Moment, People, PeopleSource, Person};
use crate::policy::Rule;
use crate::rights::{self, Extent, Permission};
use crate::schema::Problem;
use crate::time::Timestamp;
use freeze::{Freeze, Freezes, Part};
pub use input::Input;
use keys::{Keys, NewKey};
use provider::SignedOutThere;
use push::{Subscribed, Subscription};
use webhooks::{Registered, Webhook};

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
    CheckpointTold(checkpoint::Covered),
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

#[derive(Clone, Debug, Default, PartialEq)]
pub struct System {
    pub seq: u64,
    pub rules: Vec<Rule>,
    /// Counts `policy_set`: an interrupt names the version that asked.
    pub policy_version: u64,
    pub freezes: Freezes,
    pub keys: Keys,
    pub people: People,
    /// The public keys that have signed checkpoints, the newest last.
    pub checkpoint_keys: Vec<String>,
    pub checkpoint_told: Option<checkpoint::LastTold>,
    /// What has ended at the identity provider.
    pub signed_out_there: SignedOutThere,
    /// Those that were registered over the API.
    pub webhooks: BTreeMap<WebhookId, Registered>,
    /// Browsers that tell their people.
    pub push: BTreeMap<PushId, Subscribed>,
    last_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("this role does not change that of the installation")]
    Role,
    #[error(transparent)]
    Key(#[from] keys::Refusal),
    /// Names are compared by [`is_same`]. `who`: owner of the name, as the rest of the sentence.
    #[error("`{name}` {who}")]
    NameTaken { name: String, who: &'static str },
    #[error("there is no such person")]
    UnknownPerson,
    #[error("there is no such webhook")]
    UnknownWebhook,
    #[error("there is no such browser of yours")]
    UnknownPush,
    #[error("nothing is said of the hours of such a group")]
    UnknownGroup,
    /// Somebody is changed where they were read from.
    #[error("{0}")]
    OtherSource(&'static str),
    /// A token names somebody who was removed here.
    #[error("`{0}` was removed here; an administrator, or the people file, puts them back")]
    Removed(String),
    /// Another reason would hide the one that stands, and whoever lifts the second would lift both.
    #[error("it is frozen already, since {} by {}{}; lift that before you give another reason", .0.at, .0.by, .0.why())]
    Frozen(Freeze),
    #[error("the request does not fit")]
    Invalid(Vec<Problem>),
}

impl System {
    /// Time of the last event; `None` if there is none.
    pub fn last_at(&self) -> Option<Timestamp> {
        self.last_at
    }

    /// What changes nothing, such as freezing what is frozen, yields no event.
    pub fn handle(&self, now: Timestamp, actor: &Actor, input: Input) -> Result<Vec<Event>, Rejection> {
        self.require(actor, &input)?;
        let at = self.last_at.map_or(now, |last| now.max(last));
        let plain = |fact| (fact, Content::none());
        let facts = match input {
            Input::SetPolicy { rules } => {
                (rules != self.rules).then_some(plain(Fact::PolicySet { rules })).into_iter().collect()
            }
            Input::Freeze { part, reason } => self.freeze(part, reason)?,
            Input::Unfreeze { part } => {
                let fact =
                    |part: Option<Part>| part.map_or(Fact::Unfrozen, |part| Fact::PartUnfrozen { part });
                let stands = self.freezes.of(part.as_ref()).is_some();
                stands.then(|| plain(fact(part))).into_iter().collect()
            }
            Input::SetPerson { id, person } => self.set_person(id, person, at, &|_| false)?,
            Input::RemovePerson { id } => {
                self.may_change(&id, PeopleSource::Api)?.ok_or(Rejection::UnknownPerson)?;
                vec![plain(Fact::PersonLeft { person: id })]
            }
            Input::SetPeople { source, people } => self.set_people(source, people, at)?,
            Input::TakeUp { id, person } => {
                self.take_up(id, Person { source: PeopleSource::Provider, ..person }, at)?
            }
            Input::SetAway { id, away } => self.set_away(id, away, at)?,
            Input::SetHours { group, hours } => {
                self.set_hours(group, hours)?.into_iter().map(plain).collect()
            }
            Input::UnsetHours { group } => vec![plain(self.unset_hours(group)?)],
            Input::SetAllHours { source, hours } => {
                self.set_all_hours(source, hours)?.into_iter().map(plain).collect()
            }
            Input::MakeLoginLink { person } => {
                if self.people.signs_in(&person).is_empty() {
                    let message = format!("nobody here is `{person}`");
                    return Err(Rejection::Invalid(vec![Problem::new("/person", message)]));
                }
                vec![plain(Fact::LoginLinkMade { person })]
            }
            Input::SignOut { person } => {
                if self.people.signs_in(&person).is_empty() {
                    return Err(Rejection::UnknownPerson);
                }
                vec![plain(Fact::SignedOut { person })]
            }
            Input::SignOutByProvider { session, notice } => {
                // Said again it ends nothing that has begun since.
                let is_news = !self.signed_out_there.is_known(&notice);
                is_news.then_some(plain(Fact::SignedOutByProvider { session, notice })).into_iter().collect()
            }
            Input::MakeKey(new) => vec![plain(self.make_key(new, at)?)],
            Input::RotateKey { key, digest, overlap_ms } => {
                let previous_until = self.keys.may_be_rotated(&key, &digest, overlap_ms, at)?;
                vec![plain(Fact::KeyRotated { key, digest, previous_until })]
            }
            Input::SetCheckpointKey { public } => {
                let is_news = !self.checkpoint_keys.contains(&public);
                is_news.then_some(plain(Fact::CheckpointKeySet { public })).into_iter().collect()
            }
            Input::TellCheckpoint(checkpoint::Tell { covered, every_ms }) => {
                let follows = |last: checkpoint::LastTold| last.is_followed(at, every_ms, covered.size);
                let is_due = self.checkpoint_told.is_none_or(follows);
                is_due.then_some(plain(Fact::CheckpointTold(covered))).into_iter().collect()
            }
            Input::RegisterWebhook { webhook, is } => vec![plain(self.register_webhook(webhook, is)?)],
            Input::RemoveWebhook { webhook } => vec![plain(self.remove_webhook(webhook)?)],
            Input::SubscribePush { push, is } => {
                self.subscribe_push(push, is)?.into_iter().map(plain).collect()
            }
            Input::UnsubscribePush { push } => vec![plain(self.unsubscribe_push(push)?)],
            Input::RevokeKey { key } => {
                let is_news = self.keys.may_be_revoked(&key)?;
                is_news.then_some(plain(Fact::KeyRevoked { key })).into_iter().collect()
            }
        };
        let event = |(fact, content)| Event {
            stream: StreamId::System,
            at,
            actor: actor.clone(),
            fact: event::Fact::System(fact),
            content,
        };
        Ok(facts.into_iter().map(event).collect())
    }

    /// What stands already stays as it was said first: the same reason again changes nothing, another one is refused.
    fn freeze(&self, part: Option<Part>, reason: String) -> Result<Vec<(Fact, Content)>, Rejection> {
        let problems = self.freezes.check(part.as_ref(), &reason);
        if !problems.is_empty() {
            return Err(Rejection::Invalid(problems));
        }
        if let Some(stands) = self.freezes.of(part.as_ref()) {
            let is_same = stands.reason.as_deref() == Some(&*reason);
            return if is_same { Ok(Vec::new()) } else { Err(Rejection::Frozen(stands.clone())) };
        }
        let fact = part.map_or(Fact::Frozen, |part| Fact::PartFrozen { part });
        Ok(vec![(fact, Content::text(reason))])
    }

    fn require(&self, actor: &Actor, input: &Input) -> Result<(), Rejection> {
        let permission = match input {
            // Who is not there is told before what one may not.
            Input::SetAway { id, .. } if self.people.get(id).is_none() => {
                return Err(Rejection::UnknownPerson);
            }
            // Who is away says so themselves.
            Input::SetAway { id, .. } if *id == actor.id => return Ok(()),
            Input::SignOut { person } if *person == actor.id => return Ok(()),
            // Of their own browsers alone, and nobody else is told which there are.
            Input::SubscribePush { is, .. } if is.person == actor.id => return Ok(()),
            Input::SubscribePush { .. } => return Err(Rejection::Role),
            Input::UnsubscribePush { push } => {
                let is_theirs = self.push.get(push).is_some_and(|known| known.is.person == actor.id);
                // A push service says that a browser is gone.
                let may = is_theirs || actor.role == Role::Engine;
                return if may { Ok(()) } else { Err(Rejection::UnknownPush) };
            }
            Input::SetPolicy { .. }
            | Input::SetPerson { .. }
            | Input::RemovePerson { .. }
            | Input::SetPeople { .. }
            | Input::SetAway { .. }
            | Input::SignOut { .. }
            | Input::SetHours { .. }
            | Input::UnsetHours { .. }
            | Input::SetAllHours { .. }
            | Input::MakeKey(_)
            | Input::RotateKey { .. }
            | Input::RevokeKey { .. }
            | Input::RegisterWebhook { .. }
            | Input::RemoveWebhook { .. } => Permission::Administer,
            Input::MakeLoginLink { .. } => Permission::SignIn,
            // Nobody says so by a request.
            Input::TakeUp { .. }
            | Input::SetCheckpointKey { .. }
            | Input::TellCheckpoint(_)
            | Input::SignOutByProvider { .. } => {
                return if actor.role == Role::Engine { Ok(()) } else { Err(Rejection::Role) };
            }
            Input::Freeze { .. } | Input::Unfreeze { .. } => Permission::Halt,
        };
        // The engine takes up what the files of people and rules and identity providers say.
        let is_read = matches!(
            input,
            Input::SetPerson { .. }
                | Input::SetPeople { .. }
                | Input::SetPolicy { .. }
                | Input::SetAllHours { .. }
        );
        // And it freezes what was restored from a backup.
        let is_engines = is_read || matches!(input, Input::Freeze { part: None, .. });
        let may = (is_engines && actor.role == Role::Engine)
            || rights::extent(actor.role, permission) == Extent::All;
        if may { Ok(()) } else { Err(Rejection::Role) }
    }

    /// Somebody who is there, where this source may change them.
    fn may_change(&self, id: &str, source: PeopleSource) -> Result<Option<&Person>, Rejection> {
        let Some(person) = self.people.get(id) else { return Ok(None) };
        match person.source {
            PeopleSource::File if source != PeopleSource::File => {
                Err(Rejection::OtherSource("the people file says who this is: change it there"))
            }
            PeopleSource::Api if source != PeopleSource::Api => {
                Err(Rejection::OtherSource("an administrator set this person: remove them first"))
            }
            PeopleSource::File | PeopleSource::Api | PeopleSource::Provider => Ok(Some(person)),
        }
    }

    fn make_key(&self, new: NewKey, at: Timestamp) -> Result<Fact, Rejection> {
        self.keys.may_be_made(&new, at)?;
        if let Some(who) = self.whose(&new.name, at) {
            return Err(Rejection::NameTaken { name: new.name, who });
        }
        let NewKey { id, name, role, digest, expires_at } = new;
        Ok(Fact::KeyMade { key: id, name, role, digest, expires_at })
    }

    /// `leaves`: who has left by then.
    fn set_person(
        &self,
        id: String,
        person: Person,
        at: Timestamp,
        leaves: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<(Fact, Content)>, Rejection> {
        if person.source == PeopleSource::Provider && self.people.is_removed(&id) {
            return Err(Rejection::Removed(id));
        }
        let problems = self.people.check(&id, &person);
        if !problems.is_empty() {
            return Err(Rejection::Invalid(problems));
        }
        if self.people.get(&id).is_none()
            && let Some(who) = self.taken(&id, at, leaves)
        {
            return Err(Rejection::NameTaken { name: id, who });
        }
        if self.may_change(&id, person.source)?.is_some_and(|before| before.is_as(&person)) {
            return Ok(Vec::new());
        }
        let content = Content::data(person.content());
        Ok(vec![(Fact::PersonSet { person: id, is: person }, content)])
    }

    /// Sets those that are other than before, and removes those of the source who are not named any more.
    fn set_people(
        &self,
        source: PeopleSource,
        people: Vec<(String, Person)>,
        at: Timestamp,
    ) -> Result<Vec<(Fact, Content)>, Rejection> {
        let named: BTreeSet<String> = people.iter().map(|(id, _)| id.clone()).collect();
        let mut facts = Vec::new();
        let leaves =
            |id: &str| self.people.get(id).is_some_and(|is| is.source == source) && !named.contains(id);
        for (id, _) in self.people.iter().filter(|(id, _)| leaves(id)) {
            facts.push((Fact::PersonLeft { person: id.to_owned() }, Content::none()));
        }
        let mut listed: BTreeSet<String> = BTreeSet::new();
        for (id, person) in people {
            // People whom an earlier version took twice stay.
            if !listed.insert(form(&id).into_owned()) && self.people.get(&id).is_none() {
                return Err(Rejection::NameTaken { name: id, who: OF_PERSON });
            }
            facts.extend(self.set_person(id, Person { source, ..person }, at, &leaves)?);
        }
        Ok(facts)
    }

    /// What the people file or an administrator says counts before a token, and a later token before an earlier one. A
    /// token without a role says that they have left.
    fn take_up(&self, id: String, person: Person, at: Timestamp) -> Result<Vec<(Fact, Content)>, Rejection> {
        match self.people.get(&id) {
            Some(known) if known.source != PeopleSource::Provider => Ok(Vec::new()),
            _ if self.people.is_outdated(&id, person.issued_at) => Ok(Vec::new()),
            Some(_) if person.roles.is_empty() => {
                Ok(vec![(Fact::PersonLeft { person: id }, Content::none())])
            }
            Some(_) | None => self.set_person(id, person, at, &|_| false),
        }
    }

    fn set_away(
        &self,
        id: String,
        away: Option<Away>,
        at: Timestamp,
    ) -> Result<Vec<(Fact, Content)>, Rejection> {
        let before = self.people.get(&id).ok_or(Rejection::UnknownPerson)?;
        if before.away == away {
            return Ok(Vec::new());
        }
        let mut problems = Vec::new();
        if away.as_ref().and_then(|away| away.until).is_some_and(|until| until <= at) {
            problems.push(Problem::new("/until", "is over already"));
        }
        if let Some(delegate) = away.as_ref().and_then(|away| away.delegate.as_deref()) {
            if is_same(delegate, &id) {
                problems.push(Problem::new("/delegate", "is the same person"));
            } else if !self.people.can_decide(delegate) {
                problems.push(Problem::new("/delegate", format!("nobody who may decide is `{delegate}`")));
            }
        }
        if !problems.is_empty() {
            return Err(Rejection::Invalid(problems));
        }
        Ok(vec![(Fact::AwaySet { person: id, away }, Content::none())])
    }

    /// The event of another stream changes nothing.
    pub fn apply(&mut self, event: &Event) {
        let event::Fact::System(fact) = &event.fact else { return };
        // As on a node that was there when it passed.
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
            // The link is not in the journal.
            Fact::LoginLinkMade { .. } => {}
            Fact::SignedOut { person } => {
                self.people.sign_out(person, moment);
                self.end_push(person);
            }
            Fact::SignedOutByProvider { session, notice } => {
                self.signed_out_there.ended(*session, *notice, moment);
            }
            Fact::AwaySet { person, away } => self.people.set_away(person, away.as_ref()),
            Fact::KeyMade { key, name, role, digest, expires_at } => {
                let new = NewKey {
                    id: key.clone(),
                    name: name.clone(),
                    role: *role,
                    digest: *digest,
                    expires_at: *expires_at,
                };
                self.people.serves(name, *role, *expires_at);
                self.keys.made(new, &event.actor.id, event.at);
            }
            Fact::KeyRotated { key, digest, previous_until } => {
                self.keys.rotated(key, *digest, *previous_until, event.at);
            }
            Fact::CheckpointKeySet { public } => self.checkpoint_keys.push(public.clone()),
            Fact::CheckpointTold(covered) => {
                self.checkpoint_told = Some(checkpoint::LastTold { at: event.at, covered: *covered });
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
                // A key that had expired may have left its name to another one.
                if let Some(name) = name.filter(|name| self.keys.named(name, event.at).is_none()) {
                    self.people.serves_no_more(&name, moment);
                }
            }
        }
    }

    /// The same without the keys that have expired by now: they decide nothing any more. `None` where there are none. No event
    /// says that a time has passed.
    pub fn without_expired(&self, now: Timestamp) -> Option<Self> {
        if self.people.expired(now).is_empty() {
            return None;
        }
        let mut system = self.clone();
        system.end_expired(now);
        Some(system)
    }

    fn end_expired(&mut self, now: Timestamp) {
        for (name, at) in self.people.expired(now) {
            self.people.serves_no_more(&name, Moment { at, seq: self.seq });
        }
    }

    /// Owner of a name, as the rest of a sentence that begins with the name; `None` if the name is free. No two owners
    /// have the same name, in whatever form it is written.
    pub fn whose(&self, name: &str, now: Timestamp) -> Option<&'static str> {
        self.taken(name, now, &|_| false)
    }

    /// The same, once these people have left.
    fn taken(&self, name: &str, now: Timestamp, leaves: &dyn Fn(&str) -> bool) -> Option<&'static str> {
        let is = |other: &str| is_same(other, name);
        if actor::RESERVED.into_iter().any(is) {
            Some("is a name of Holdshort's own")
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

/// A freeze that an event begins.
fn frozen(event: &Event) -> Freeze {
    Freeze { by: event.actor.id.clone(), at: event.at, reason: event.content.text.clone() }
}
