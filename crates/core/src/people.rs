//! The people of an installation: who may decide, in which groups they are, and who stands in for whom.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::actor::{self, LOCAL_OPERATOR, Role};
use crate::hours::{self, Hours};
use crate::limits;
use crate::name::{form, is_name, is_same};
use crate::rights::{self, Extent, Permission};
use crate::schema::Problem;
use crate::time::Timestamp;

/// A person, as they were last set. `name` and `addresses` are content of the event, and may be erased.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Person {
    pub roles: BTreeSet<Role>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub groups: BTreeSet<String>,
    /// An IANA time zone: `Europe/Berlin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// A BCP 47 language tag: `de`, `pt-BR`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    pub source: PeopleSource,
    /// When the provider's token was issued that said this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issued_at: Option<Timestamp>,
    #[serde(skip)]
    pub name: Option<String>,
    /// Channel → address: `email`, `slack` …
    #[serde(skip)]
    pub addresses: BTreeMap<String, String>,
    #[serde(skip)]
    pub away: Option<Away>,
}

/// Where a person was read from. The people file and an administrator do not change what the other one set; both come
/// before a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeopleSource {
    /// The people file.
    File,
    /// Claims of an identity provider.
    Provider,
    /// An administrator, over the API.
    Api,
}

/// Somebody is out of the office. They may decide all the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Away {
    /// Until then; `None`: until it is taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Who decides in their place meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegate: Option<String>,
}

/// The names that an assignment may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deciders {
    pub people: BTreeSet<String>,
    pub groups: BTreeSet<String>,
}

impl Deciders {
    /// Those of an installation that has no people beside its operator.
    pub fn local() -> Self {
        Self { people: BTreeSet::from([LOCAL_OPERATOR.to_owned()]), groups: BTreeSet::new() }
    }

    /// Why nobody of this name can decide, in words; `None` where somebody can. Names nobody else: agents are told it.
    pub fn unknown_person(&self, name: &str) -> Option<String> {
        if name == STARTER || self.people.contains(name) {
            return None;
        }
        Some(format!("nobody who decides here is `{name}`"))
    }

    /// The same of a group that nobody who may decide is in.
    pub fn unknown_group(&self, name: &str) -> Option<String> {
        if self.groups.contains(name) {
            return None;
        }
        Some(format!("nobody who decides here is in the group `{name}`"))
    }
}

/// Everybody, and the hours of groups, as one source lists them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roster {
    /// By id.
    pub people: Vec<(String, Person)>,
    /// By group.
    pub hours: Vec<(String, Hours)>,
}

/// An approver of this name is whoever started the run: they confirm what they began.
pub const STARTER: &str = "starter";

/// All people, by id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct People {
    known: BTreeMap<String, Person>,
    /// Ids of `known`, by the form in which names are compared.
    forms: BTreeMap<String, BTreeSet<String>>,
    /// Keys of services, by their names.
    services: BTreeMap<String, Service>,
    /// Those who were there and left, also where they came back.
    left: BTreeMap<String, Left>,
    /// When somebody was signed out everywhere, the last time.
    signed_out: BTreeMap<String, Moment>,
    /// When somebody of a group is at work.
    hours: BTreeMap<String, Hours>,
}

/// What a key lets a service do, and until when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Service {
    role: Role,
    until: Option<Timestamp>,
}

/// When something happened to somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub at: Timestamp,
    /// Of its event, in the installation's stream.
    pub seq: u64,
}

/// When somebody came in, or was invited. Clocks of nodes differ, and the order of the journal is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Since {
    pub at: Timestamp,
    /// The last event of the installation's stream that was known there; what earlier versions wrote does not say it.
    pub seq: Option<u64>,
}

impl Since {
    /// Whether it was before that. What can not be told was.
    pub(super) fn is_before(self, moment: Moment) -> bool {
        self.seq.map_or(self.at <= moment.at, |seq| seq < moment.seq)
    }
}

/// The last time that somebody left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Left {
    moment: Moment,
    /// They are there again.
    is_back: bool,
    /// Somebody here removed them: no token brings them back.
    is_removed: bool,
    /// When the token was issued that was taken up last; an older one does not bring them back.
    issued_at: Option<Timestamp>,
}

impl People {
    pub fn of(people: &[(String, Person)]) -> Self {
        let mut all = Self { known: people.iter().cloned().collect(), ..Self::default() };
        for (id, _) in people {
            all.forms.entry(form(id).into_owned()).or_default().insert(id.clone());
        }
        all
    }

    /// Those of a list, where there is nobody else.
    pub fn listed(roster: &Roster) -> Self {
        Self { hours: roster.hours.iter().cloned().collect(), ..Self::of(&roster.people) }
    }

    pub fn get(&self, id: &str) -> Option<&Person> {
        self.known.get(id)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Person)> {
        self.known.iter().map(|(id, person)| (id.as_str(), person))
    }

    /// Those whose ids come later; everybody, without one.
    pub fn after(&self, id: Option<&str>) -> impl Iterator<Item = (&str, &Person)> {
        let after = id.map_or(Bound::Unbounded, Bound::Excluded);
        self.known.range::<str, _>((after, Bound::Unbounded)).map(|(id, person)| (id.as_str(), person))
    }

    /// When somebody of a group is at work; `None` where nothing is said of it.
    pub fn hours(&self, group: &str) -> Option<&Hours> {
        self.hours.get(group)
    }

    /// The groups that have hours, with these.
    pub fn all_hours(&self) -> impl Iterator<Item = (&str, &Hours)> {
        self.hours.iter().map(|(group, hours)| (group.as_str(), hours))
    }

    pub(super) fn set_hours(&mut self, group: &str, hours: Option<&Hours>) {
        match hours {
            Some(hours) => self.hours.insert(group.to_owned(), hours.clone()),
            None => self.hours.remove(group),
        };
    }

    /// Who decides in the place of somebody who is away now; they themselves, where nobody does.
    pub fn standing_in<'p>(&'p self, id: &'p str, now: Timestamp) -> &'p str {
        let (mut found, mut passed) = (id, BTreeSet::from([id]));
        while let Some(delegate) = self.known.get(found).and_then(|person| person.delegate(now)) {
            // Those who delegate in a circle, or to somebody who has left, are told themselves.
            if !passed.insert(delegate) || !self.can_decide(delegate) {
                return id;
            }
            found = delegate;
        }
        found
    }

    pub fn len(&self) -> usize {
        self.known.len()
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    pub(super) fn set(&mut self, id: &str, mut person: Person, content: &Value) {
        person.name = content.get("name").and_then(Value::as_str).map(str::to_owned);
        let addresses = content.get("addresses").and_then(Value::as_object).into_iter().flatten();
        person.addresses = addresses.filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned()))).collect();
        // Being away is said apart, and outlives a change of roles.
        person.away = self.known.get(id).and_then(|before| before.away.clone());
        self.known.insert(id.to_owned(), person);
        self.forms.entry(form(id).into_owned()).or_default().insert(id.to_owned());
        self.came_back(id);
    }

    /// `is_removed`: it was not their provider who said so.
    pub(super) fn remove(&mut self, id: &str, moment: Moment, is_removed: bool) {
        if let Some(Person { issued_at, .. }) = self.known.remove(id) {
            self.left.insert(id.to_owned(), Left { moment, is_back: false, is_removed, issued_at });
            let form = form(id);
            if let Some(ids) = self.forms.get_mut(&*form) {
                ids.remove(id);
                if ids.is_empty() {
                    self.forms.remove(&*form);
                }
            }
        }
    }

    /// Ids of the people whose name is the same as this one.
    pub fn same(&self, name: &str) -> impl Iterator<Item = &str> {
        self.forms.get(&*form(name)).into_iter().flatten().map(String::as_str)
    }

    /// Groups of people with the same name, from journals of earlier versions. A quorum counts each group once.
    pub fn doubles(&self) -> impl Iterator<Item = Vec<&str>> {
        let groups = self.forms.values().filter(|ids| ids.len() > 1);
        groups.map(|ids| ids.iter().map(String::as_str).collect())
    }

    /// Warnings about [`Self::doubles`], for the operator of the server.
    pub fn double_warnings(&self) -> impl Iterator<Item = String> {
        self.doubles().map(|names| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let names = names.join(" and ");
            format!("{names} are one name, and a quorum counts them once: remove all but one of them")
        })
    }

    /// Somebody has a key of this name and role, until then.
    pub(super) fn serves(&mut self, name: &str, role: Role, until: Option<Timestamp>) {
        self.services.insert(name.to_owned(), Service { role, until });
        self.came_back(name);
    }

    /// The names of keys that have expired by now and are still taken to serve, each with its end.
    pub(super) fn expired(&self, now: Timestamp) -> Vec<(String, Timestamp)> {
        let ends = self.services.iter().filter_map(|(name, service)| Some((name, service.until?)));
        ends.filter(|(_, until)| *until <= now).map(|(name, until)| (name.clone(), until)).collect()
    }

    pub(super) fn serves_no_more(&mut self, name: &str, moment: Moment) {
        if self.services.remove(name).is_some() && !self.known.contains_key(name) {
            // Whoever was removed stays so: a key of the same name does not put them back.
            let is_removed = self.is_removed(name);
            let issued_at = self.left.get(name).and_then(|left| left.issued_at);
            self.left.insert(name.to_owned(), Left { moment, is_back: false, is_removed, issued_at });
        }
    }

    fn came_back(&mut self, name: &str) {
        let is_known = self.known.contains_key(name);
        for (other, left) in self.left.iter_mut().filter(|(other, _)| is_same(other, name)) {
            left.is_back |= other == name;
            left.is_removed &= !is_known;
        }
    }

    /// Returns true if the people file or an administrator removed the person. No token brings them back, in whatever
    /// form it writes their name.
    pub fn is_removed(&self, id: &str) -> bool {
        let mut removed = self.left.iter().filter(|(_, left)| left.is_removed);
        !self.known.contains_key(id) && removed.any(|(name, _)| is_same(name, id))
    }

    /// Whether a token that was issued then says what was said before.
    pub(super) fn is_outdated(&self, id: &str, issued_at: Option<Timestamp>) -> bool {
        match self.known.get(id) {
            Some(person) => issued_at < person.issued_at,
            None => {
                self.left.get(id).is_some_and(|left| left.issued_at.is_some() && issued_at <= left.issued_at)
            }
        }
    }

    /// Whether somebody who signed in at this time, or was invited then, is signed in no more: they have left, perhaps to
    /// come back later, were signed out everywhere, or never were here.
    pub fn is_signed_out(&self, id: &str, since: Since) -> bool {
        self.signs_in(id).is_empty()
            || self.has_left(id, since)
            || self.signed_out.get(id).is_some_and(|moment| since.is_before(*moment))
    }

    /// Whether they have left since then, also where they came back.
    pub fn has_left(&self, id: &str, since: Since) -> bool {
        self.left.get(id).is_some_and(|left| since.is_before(left.moment))
    }

    pub(super) fn sign_out(&mut self, id: &str, moment: Moment) {
        self.signed_out.insert(id.to_owned(), moment);
    }

    /// The roles in which somebody signs a browser in: those of people. A key signs nobody in.
    pub fn signs_in(&self, id: &str) -> BTreeSet<Role> {
        if id == LOCAL_OPERATOR {
            return BTreeSet::from([Role::Admin, Role::Operator]);
        }
        self.get(id).map(|person| person.roles.clone()).unwrap_or_default()
    }

    pub(super) fn set_away(&mut self, id: &str, away: Option<&Away>) {
        if let Some(person) = self.known.get_mut(id) {
            person.away = away.cloned();
        }
    }

    /// The roles that somebody of this name has, or a key. The operator of a local start is always there.
    pub fn roles(&self, id: &str) -> BTreeSet<Role> {
        let roles = self.signs_in(id);
        if roles.is_empty() {
            self.services.get(id).map(|service| service.role).into_iter().collect()
        } else {
            roles
        }
    }

    /// Whether somebody of this name is there and may decide on what is assigned to them.
    pub fn can_decide(&self, id: &str) -> bool {
        self.reach(id) != Extent::Nothing
    }

    /// Whether they were known here, and decide nothing any more. Whoever never was has their roles from somewhere else.
    pub fn is_barred(&self, id: &str) -> bool {
        self.left.get(id).is_some_and(|left| !left.is_back)
            || (self.known.contains_key(id) && !self.can_decide(id))
    }

    /// Whether they may decide on what is assigned to nobody.
    pub fn decides_unassigned(&self, id: &str) -> bool {
        matches!(self.reach(id), Extent::Unassigned | Extent::All)
    }

    fn reach(&self, id: &str) -> Extent {
        let roles = self.roles(id);
        let farthest = roles.into_iter().map(|role| rights::extent(role, Permission::Decide));
        farthest.max().filter(|extent| *extent != Extent::Own).unwrap_or(Extent::Nothing)
    }

    pub fn is_in(&self, id: &str, group: &str) -> bool {
        self.known.get(id).is_some_and(|person| person.groups.contains(group))
    }

    /// Everybody who may decide.
    pub fn deciding(&self) -> impl Iterator<Item = &str> {
        let known = self.known.keys().chain(self.services.keys()).map(String::as_str);
        known.chain(std::iter::once(LOCAL_OPERATOR)).filter(|id| self.can_decide(id))
    }

    pub fn deciders(&self) -> Deciders {
        let people: BTreeSet<String> = self.deciding().map(str::to_owned).collect();
        let groups =
            people.iter().filter_map(|id| self.known.get(id)).flat_map(|person| person.groups.clone());
        Deciders { groups: groups.collect(), people }
    }

    /// Everybody in whose place this person may decide now, beside themselves: those who are away and named them, and those
    /// who are away and named one of these.
    pub fn stands_in_for(&self, id: &str, now: Timestamp) -> BTreeSet<&str> {
        let mut found: BTreeSet<&str> = BTreeSet::new();
        let mut news = vec![id];
        while let Some(delegate) = news.pop() {
            for from in self.naming(delegate, now) {
                // A delegate who delegates back, or in a circle, stands in for nobody new.
                if from != id && found.insert(from) {
                    news.push(from);
                }
            }
        }
        found
    }

    /// Those who are away now and named this one themselves.
    pub(crate) fn naming<'p>(&'p self, delegate: &str, now: Timestamp) -> impl Iterator<Item = &'p str> {
        let named = self.known.iter().filter(move |(_, person)| person.delegate(now) == Some(delegate));
        named.map(|(id, _)| id.as_str())
    }

    /// What is wrong with a person who is to be set.
    pub(super) fn check(&self, id: &str, person: &Person) -> Vec<Problem> {
        let mut problems = check(id, person);
        if !self.known.contains_key(id) && self.known.len() >= limits::PEOPLE {
            problems
                .push(Problem::new("/id", format!("is one too many: there are {} people", limits::PEOPLE)));
        }
        problems
    }
}

/// What is wrong with a person of this name, whoever else is there. Pointers are those of the API.
pub fn check(id: &str, person: &Person) -> Vec<Problem> {
    let mut problems = Vec::new();
    if actor::RESERVED.iter().any(|name| is_same(name, id)) {
        problems.push(Problem::new("/id", format!("`{id}` is a name of Holdshort's own")));
    }
    problems.extend(check_name("/id", id));
    if person.roles.is_empty() {
        problems.push(Problem::new("/roles", "names no role"));
    }
    for (i, role) in person.roles.iter().enumerate() {
        if matches!(role, Role::Engine | Role::Agent) {
            problems.push(Problem::new(format!("/roles/{i}"), "is no role of a person"));
        }
    }
    if person.groups.len() > limits::GROUPS_OF_PERSON {
        let message = format!("holds more than {}", limits::GROUPS_OF_PERSON);
        problems.push(Problem::new("/groups", message));
    }
    for (i, group) in person.groups.iter().enumerate() {
        problems.extend(check_name(&format!("/groups/{i}"), group));
    }
    if person.name.as_ref().is_some_and(|name| !is_name(name, limits::NAME_BYTES)) {
        problems.push(Problem::new("/name", LINE));
    }
    problems.extend(person.time_zone.as_deref().and_then(hours::check_zone));
    let is_tag = |text: &String| {
        let tag = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+');
        !text.is_empty() && text.len() <= limits::NAME_BYTES && text.bytes().all(tag)
    };
    if person.language.as_ref().is_some_and(|text| !is_tag(text)) {
        problems.push(Problem::new("/language", "is no such name: `de`"));
    }
    if person.addresses.len() > limits::ADDRESSES {
        problems.push(Problem::new("/addresses", format!("holds more than {}", limits::ADDRESSES)));
    }
    for (channel, address) in &person.addresses {
        if !is_name(channel, limits::NAME_BYTES) || !is_name(address, limits::ADDRESS_BYTES) {
            problems.push(Problem::new(format!("/addresses/{channel}"), LINE));
        }
    }
    problems
}

const LINE: &str = "is empty, too long, or holds characters that do not show";

fn check_name(field: &str, name: &str) -> Option<Problem> {
    (!is_name(name, limits::NAME_BYTES)).then(|| Problem::new(field, LINE))
}

impl Person {
    /// Whether setting the other one would change nothing.
    pub fn is_as(&self, other: &Self) -> bool {
        let bare = |person: &Self| Self { away: None, issued_at: None, ..person.clone() };
        bare(self) == bare(other)
    }

    /// Who decides in their place now.
    fn delegate(&self, now: Timestamp) -> Option<&str> {
        let away = self.away.as_ref().filter(|away| away.until.is_none_or(|until| until > now))?;
        away.delegate.as_deref()
    }

    /// What is kept apart from the facts, for it says who somebody is.
    pub(super) fn content(&self) -> Value {
        json!({ "name": self.name, "addresses": self.addresses })
    }
}
