//! Handles inputs of the system: checks the role of the actor, and returns the events of the change.

mod hours;
mod push;
mod webhooks;

use std::collections::BTreeSet;

use crate::actor::{Actor, Role};
use crate::envelope::Content;
use crate::event::{self, Event};
use crate::id::StreamId;
use crate::name::{form, is_same};
use crate::people::{Away, PeopleSource, Person};
use crate::rights::{self, Extent, Permission};
use crate::schema::Problem;
use crate::system::freeze::Part;
use crate::system::keys::NewKey;
use crate::system::{Fact, Input, OF_PERSON, Rejection, System, checkpoint};
use crate::time::Timestamp;

impl System {
    /// Returns the events that an input causes. An input that changes nothing, such as a repeated freeze, causes no
    /// event.
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
                let stands = self.freezes.for_part(part.as_ref()).is_some();
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
                    let message = format!("there is no person `{person}`");
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
                // A repeated logout notice must not end a session that began after the first notice.
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
            Input::TellCheckpoint(checkpoint::SendCheckpoint { covered, every_ms }) => {
                let follows =
                    |last: checkpoint::LastSentCheckpoint| last.is_next_due(at, every_ms, covered.size);
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

    /// Freezes a run, workflow or agent, or the installation. If the target is already frozen for the same reason,
    /// nothing changes. If the target is already frozen for another reason, the new freeze is refused.
    fn freeze(&self, part: Option<Part>, reason: String) -> Result<Vec<(Fact, Content)>, Rejection> {
        let problems = self.freezes.check(part.as_ref(), &reason);
        if !problems.is_empty() {
            return Err(Rejection::Invalid(problems));
        }
        if let Some(stands) = self.freezes.for_part(part.as_ref()) {
            let is_same = stands.reason.as_deref() == Some(&*reason);
            return if is_same { Ok(Vec::new()) } else { Err(Rejection::Frozen(stands.clone())) };
        }
        let fact = part.map_or(Fact::Frozen, |part| Fact::PartFrozen { part });
        Ok(vec![(fact, Content::text(reason))])
    }

    fn require(&self, actor: &Actor, input: &Input) -> Result<(), Rejection> {
        let permission = match input {
            // An unknown person is reported, even if the sender also lacks the permission.
            Input::SetAway { id, .. } if self.people.get(id).is_none() => {
                return Err(Rejection::UnknownPerson);
            }
            // People may set their own absence.
            Input::SetAway { id, .. } if *id == actor.id => return Ok(()),
            Input::SignOut { person } if *person == actor.id => return Ok(()),
            // People may subscribe only their own browsers, and learn nothing about browsers of other people.
            Input::SubscribePush { is, .. } if is.person == actor.id => return Ok(()),
            Input::SubscribePush { .. } => return Err(Rejection::Role),
            Input::UnsubscribePush { push } => {
                let is_theirs = self.push.get(push).is_some_and(|known| known.is.person == actor.id);
                // The engine removes a browser when the push service reports that the browser is gone.
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
            // No request sends these inputs.
            Input::TakeUp { .. }
            | Input::SetCheckpointKey { .. }
            | Input::TellCheckpoint(_)
            | Input::SignOutByProvider { .. } => {
                return if actor.role == Role::Engine { Ok(()) } else { Err(Rejection::Role) };
            }
            Input::Freeze { .. } | Input::Unfreeze { .. } => Permission::Halt,
        };
        // The engine applies the people file, the rules file, and the claims of identity providers.
        let is_read = matches!(
            input,
            Input::SetPerson { .. }
                | Input::SetPeople { .. }
                | Input::SetPolicy { .. }
                | Input::SetAllHours { .. }
        );
        // The engine freezes the installation after a backup is restored.
        let is_engines = is_read || matches!(input, Input::Freeze { part: None, .. });
        let may = (is_engines && actor.role == Role::Engine)
            || rights::extent(actor.role, permission) == Extent::All;
        if may { Ok(()) } else { Err(Rejection::Role) }
    }

    /// Returns the person `id`. `None` if the person does not exist. Returns an error if `source` is not allowed to
    /// change the person.
    fn may_change(&self, id: &str, source: PeopleSource) -> Result<Option<&Person>, Rejection> {
        let Some(person) = self.people.get(id) else { return Ok(None) };
        match person.source {
            PeopleSource::File if source != PeopleSource::File => {
                Err(Rejection::OtherSource("the people file defines this person: change it there"))
            }
            PeopleSource::Api if source != PeopleSource::Api => {
                Err(Rejection::OtherSource("an administrator defined this person: remove the person first"))
            }
            PeopleSource::File | PeopleSource::Api | PeopleSource::Provider => Ok(Some(person)),
        }
    }

    fn make_key(&self, new: NewKey, at: Timestamp) -> Result<Fact, Rejection> {
        self.keys.may_be_made(&new, at)?;
        if let Some(who) = self.describe_name_owner(&new.name, at) {
            return Err(Rejection::NameTaken { name: new.name, who });
        }
        let NewKey { id, name, role, digest, expires_at, folder } = new;
        Ok(Fact::KeyMade { key: id, name, role, digest, expires_at, folder })
    }

    /// Adds or changes a person. `leaves` returns true for people whom the same input removes.
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
            && let Some(who) = self.describe_remaining_owner(&id, at, leaves)
        {
            return Err(Rejection::NameTaken { name: id, who });
        }
        if self.may_change(&id, person.source)?.is_some_and(|before| before.is_as(&person)) {
            return Ok(Vec::new());
        }
        let content = Content::data(person.content());
        Ok(vec![(Fact::PersonSet { person: id, is: person }, content)])
    }

    /// Adds and changes people. Removes people that the source does not list any more.
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
            // People with equal names that an earlier version accepted stay.
            if !listed.insert(form(&id).into_owned()) && self.people.get(&id).is_none() {
                return Err(Rejection::NameTaken { name: id, who: OF_PERSON });
            }
            facts.extend(self.set_person(id, Person { source, ..person }, at, &leaves)?);
        }
        Ok(facts)
    }

    /// Adds or changes a person as a token of an identity provider states. Records from the people file or from an
    /// administrator take precedence over tokens. A newer token takes precedence over an older one. A token without a
    /// role removes the person.
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
            problems.push(Problem::new("/until", "is in the past"));
        }
        if let Some(delegate) = away.as_ref().and_then(|away| away.delegate.as_deref()) {
            if is_same(delegate, &id) {
                problems.push(Problem::new("/delegate", "is the absent person: name another person"));
            } else if !self.people.can_decide(delegate) {
                problems.push(Problem::new(
                    "/delegate",
                    format!("no person who may decide is named `{delegate}`"),
                ));
            }
        }
        if !problems.is_empty() {
            return Err(Rejection::Invalid(problems));
        }
        Ok(vec![(Fact::AwaySet { person: id, away }, Content::none())])
    }
}
