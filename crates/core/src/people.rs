//! People of an installation: their roles, groups, delegates, and the state of their logins.

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

/// Latest record of a person. `name` and `addresses` are stored as content that can be erased.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Person {
    pub roles: BTreeSet<Role>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub groups: BTreeSet<String>,
    /// IANA time zone of the person, such as `Europe/Berlin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// BCP 47 tag of the person's language, such as `de` or `pt-BR`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    pub source: PeopleSource,
    /// Time at which the identity provider issued the token from which this record was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issued_at: Option<Timestamp>,
    #[serde(skip)]
    pub name: Option<String>,
    /// Addresses of the person by channel: `email`, `slack` …
    #[serde(skip)]
    pub addresses: BTreeMap<String, String>,
    #[serde(skip)]
    pub away: Option<Away>,
}

/// Source of a person's record. The API cannot change people from the people file, and the people file cannot change
/// people from the API. A token of an identity provider can change neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeopleSource {
    /// The record comes from the people file.
    File,
    /// The record comes from a token of an identity provider.
    Provider,
    /// An administrator created the record through the API.
    Api,
}

/// Absence of a person. An absent person is still allowed to decide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Away {
    /// End of the absence. If `None`, the absence lasts until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Person who decides instead of the absent person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegate: Option<String>,
}

/// Names of people and groups that are allowed as approvers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deciders {
    pub people: BTreeSet<String>,
    pub groups: BTreeSet<String>,
}

impl Deciders {
    /// Returns the names of allowed approvers on a server whose only user is the local operator.
    pub fn local() -> Self {
        Self { people: BTreeSet::from([LOCAL_OPERATOR.to_owned()]), groups: BTreeSet::new() }
    }

    /// Returns an error message if no person with this name is allowed to decide. The message is sent to agents, so it
    /// contains no names of other people.
    pub fn unknown_person(&self, name: &str) -> Option<String> {
        if name == STARTER || self.people.contains(name) {
            return None;
        }
        Some(format!("no person who may decide is named `{name}`"))
    }

    /// Returns an error message if the group has no member who is allowed to decide.
    pub fn unknown_group(&self, name: &str) -> Option<String> {
        if self.groups.contains(name) {
            return None;
        }
        Some(format!("no person who may decide is in the group `{name}`"))
    }
}

/// All people and the working hours of all groups, read from one source, such as the people file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roster {
    /// People of the roster, each with their id.
    pub people: Vec<(String, Person)>,
    /// Working hours of groups, each with the name of its group.
    pub hours: Vec<(String, Hours)>,
}

/// Name in an assignment that means the person who started the run.
pub const STARTER: &str = "starter";

/// All people by id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct People {
    known: BTreeMap<String, Person>,
    /// Ids of the people in `known`. The key is the normal form of the name, so that different spellings of a name have
    /// the same key.
    forms: BTreeMap<String, BTreeSet<String>>,
    services: BTreeMap<String, Service>,
    /// Time and cause of the latest departure of each person who has left. The entry remains if the person returns.
    left: BTreeMap<String, Departure>,
    /// Time at which each person was last signed out from all browsers.
    signed_out: BTreeMap<String, Moment>,
    /// Working hours of groups, by the name of the group.
    hours: BTreeMap<String, Hours>,
}

/// Role and expiry of a service's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Service {
    role: Role,
    until: Option<Timestamp>,
}

/// Time at which an event about a person was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub at: Timestamp,
    /// Sequence number, in the system stream, of the event about the person.
    pub seq: u64,
}

/// Time of a sign-in or an invitation. If the sequence number is known, the number is compared instead of the time,
/// because clocks of server nodes differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Since {
    pub at: Timestamp,
    /// Sequence number of the last event that the server node had read from the system stream at the time of the
    /// sign-in or invitation. `None` if an earlier version wrote the record.
    pub seq: Option<u64>,
}

impl Since {
    /// Returns true if the sign-in came before `moment`. If the sign-in has no sequence number, times are compared. A
    /// sign-in at the same time is then treated as earlier.
    pub(super) fn is_before(self, moment: Moment) -> bool {
        self.seq.map_or(self.at <= moment.at, |seq| seq < moment.seq)
    }
}

/// Latest departure of a person: the identity provider reported it, or somebody removed the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Departure {
    moment: Moment,
    /// True if the person has returned since the departure.
    is_back: bool,
    /// True if the people file or an administrator removed the person. After such a removal, a token of an identity
    /// provider cannot restore the person.
    is_removed: bool,
    /// Issue time of the newest accepted token of the person. An older token cannot restore the person.
    issued_at: Option<Timestamp>,
}

impl People {
    pub fn from_entries(people: &[(String, Person)]) -> Self {
        let mut all = Self { known: people.iter().cloned().collect(), ..Self::default() };
        for (id, _) in people {
            all.forms.entry(form(id).into_owned()).or_default().insert(id.clone());
        }
        all
    }

    /// Returns the people and working hours of `roster`. The result has no service keys and no departures.
    pub fn listed(roster: &Roster) -> Self {
        Self { hours: roster.hours.iter().cloned().collect(), ..Self::from_entries(&roster.people) }
    }

    pub fn get(&self, id: &str) -> Option<&Person> {
        self.known.get(id)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Person)> {
        self.known.iter().map(|(id, person)| (id.as_str(), person))
    }

    /// Returns the people whose ids sort after `id`. If `id` is `None`, returns all people.
    pub fn after(&self, id: Option<&str>) -> impl Iterator<Item = (&str, &Person)> {
        let after = id.map_or(Bound::Unbounded, Bound::Excluded);
        self.known.range::<str, _>((after, Bound::Unbounded)).map(|(id, person)| (id.as_str(), person))
    }

    /// Returns the working hours of a group. `None` if the group has no working hours.
    pub fn hours(&self, group: &str) -> Option<&Hours> {
        self.hours.get(group)
    }

    /// Returns all groups that have working hours, each with its hours.
    pub fn all_hours(&self) -> impl Iterator<Item = (&str, &Hours)> {
        self.hours.iter().map(|(group, hours)| (group.as_str(), hours))
    }

    pub(super) fn set_hours(&mut self, group: &str, hours: Option<&Hours>) {
        match hours {
            Some(hours) => self.hours.insert(group.to_owned(), hours.clone()),
            None => self.hours.remove(group),
        };
    }

    /// Returns the person who currently decides in place of `id`, if `id` is absent. Returns `id` if there is no
    /// delegate.
    pub fn standing_in<'p>(&'p self, id: &'p str, now: Timestamp) -> &'p str {
        let (mut found, mut passed) = (id, BTreeSet::from([id]));
        while let Some(delegate) = self.known.get(found).and_then(|person| person.delegate(now)) {
            // If the delegates form a circle, or if a delegate has left, the absent person stays responsible.
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
        // Only the event `away_set` sets an absence. A change of the person's roles therefore does not end the absence.
        person.away = self.known.get(id).and_then(|before| before.away.clone());
        self.known.insert(id.to_owned(), person);
        self.forms.entry(form(id).into_owned()).or_default().insert(id.to_owned());
        self.came_back(id);
    }

    /// Removes a person. `is_removed` is false if the identity provider reported that the person left.
    pub(super) fn remove(&mut self, id: &str, moment: Moment, is_removed: bool) {
        if let Some(Person { issued_at, .. }) = self.known.remove(id) {
            self.left.insert(id.to_owned(), Departure { moment, is_back: false, is_removed, issued_at });
            let form = form(id);
            if let Some(ids) = self.forms.get_mut(&*form) {
                ids.remove(id);
                if ids.is_empty() {
                    self.forms.remove(&*form);
                }
            }
        }
    }

    /// Returns the ids of all people with this name, ignoring differences in spelling such as letter case.
    pub fn same(&self, name: &str) -> impl Iterator<Item = &str> {
        self.forms.get(&*form(name)).into_iter().flatten().map(String::as_str)
    }

    /// Returns the sets of ids that differ only in spelling, such as letter case, so that they denote the same person.
    /// New names cannot be spelled in this way. Only journals of earlier versions contain such ids. Votes of all ids in
    /// a set are counted as votes of one person.
    pub fn doubles(&self) -> impl Iterator<Item = Vec<&str>> {
        let groups = self.forms.values().filter(|ids| ids.len() > 1);
        groups.map(|ids| ids.iter().map(String::as_str).collect())
    }

    /// Returns warnings about the ids that [`Self::doubles`] returns, for the operator of the server.
    pub fn double_warnings(&self) -> impl Iterator<Item = String> {
        self.doubles().map(|names| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let names = names.join(" and ");
            format!("{names} are the same name, and a quorum counts them once: keep only one of them")
        })
    }

    /// Adds a service key. `until` is the time at which the key expires.
    pub(super) fn serves(&mut self, name: &str, role: Role, until: Option<Timestamp>) {
        self.services.insert(name.to_owned(), Service { role, until });
        self.came_back(name);
    }

    /// Returns the names and expiry times of service keys that have expired but still exist.
    pub(super) fn expired(&self, now: Timestamp) -> Vec<(String, Timestamp)> {
        let ends = self.services.iter().filter_map(|(name, service)| Some((name, service.until?)));
        ends.filter(|(_, until)| *until <= now).map(|(name, until)| (name.clone(), until)).collect()
    }

    pub(super) fn serves_no_more(&mut self, name: &str, moment: Moment) {
        if self.services.remove(name).is_some() && !self.known.contains_key(name) {
            // A removed person stays removed, even if a key has the same name.
            let is_removed = self.is_removed(name);
            let issued_at = self.left.get(name).and_then(|left| left.issued_at);
            self.left.insert(name.to_owned(), Departure { moment, is_back: false, is_removed, issued_at });
        }
    }

    fn came_back(&mut self, name: &str) {
        let is_known = self.known.contains_key(name);
        for (other, left) in self.left.iter_mut().filter(|(other, _)| is_same(other, name)) {
            left.is_back |= other == name;
            left.is_removed &= !is_known;
        }
    }

    /// Returns true if the people file or an administrator removed the person. A token of an identity provider cannot
    /// restore this person, even if the token spells the name differently.
    pub fn is_removed(&self, id: &str) -> bool {
        let mut removed = self.left.iter().filter(|(_, left)| left.is_removed);
        !self.known.contains_key(id) && removed.any(|(name, _)| is_same(name, id))
    }

    /// Returns true if a newer token of the person was already accepted. `issued_at` is the issue time of the token in
    /// question.
    pub(super) fn is_outdated(&self, id: &str, issued_at: Option<Timestamp>) -> bool {
        match self.known.get(id) {
            Some(person) => issued_at < person.issued_at,
            None => {
                self.left.get(id).is_some_and(|left| left.issued_at.is_some() && issued_at <= left.issued_at)
            }
        }
    }

    /// Returns true if a sign-in or invitation is no longer valid. `since` is the time of the sign-in or invitation. A
    /// sign-in is invalid if the person does not exist, was signed out from all browsers after `since`, or left after
    /// `since`. A sign-in from before the departure remains invalid even if the person has returned.
    pub fn is_signed_out(&self, id: &str, since: Since) -> bool {
        self.signs_in(id).is_empty()
            || self.has_left(id, since)
            || self.signed_out.get(id).is_some_and(|moment| since.is_before(*moment))
    }

    /// Returns true if the person has left after `since`, even if the person has returned.
    pub fn has_left(&self, id: &str, since: Since) -> bool {
        self.left.get(id).is_some_and(|left| since.is_before(left.moment))
    }

    pub(super) fn sign_out(&mut self, id: &str, moment: Moment) {
        self.signed_out.insert(id.to_owned(), moment);
    }

    /// Returns the roles that a person has after signing in with a browser. Empty for a service key, which cannot sign
    /// in with a browser.
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

    /// Returns the roles of a person or of a service key. The local operator always has roles.
    pub fn roles(&self, id: &str) -> BTreeSet<Role> {
        let roles = self.signs_in(id);
        if roles.is_empty() {
            self.services.get(id).map(|service| service.role).into_iter().collect()
        } else {
            roles
        }
    }

    /// Returns true if the person or service key `id` exists, and is allowed to decide interrupts that are assigned to
    /// `id`.
    pub fn can_decide(&self, id: &str) -> bool {
        self.reach(id) != Extent::Nothing
    }

    /// Returns true if this person or service key was removed, or if the person is listed but is not allowed to decide.
    /// Returns false for a name that was never in the list of people, because the roles of such a person come from
    /// another source.
    pub fn is_barred(&self, id: &str) -> bool {
        self.left.get(id).is_some_and(|left| !left.is_back)
            || (self.known.contains_key(id) && !self.can_decide(id))
    }

    /// Returns true if the person is allowed to decide interrupts that are assigned to nobody.
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

    /// Returns all people and service keys that are allowed to decide.
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

    /// Returns the absent people whom this person currently represents as a delegate. If a delegate is absent, the
    /// delegate's own delegate also represents the people whom the absent delegate represents.
    pub fn represented_people(&self, id: &str, now: Timestamp) -> BTreeSet<&str> {
        let mut found: BTreeSet<&str> = BTreeSet::new();
        let mut news = vec![id];
        while let Some(delegate) = news.pop() {
            for from in self.naming(delegate, now) {
                // A delegation back to an earlier person adds nobody.
                if from != id && found.insert(from) {
                    news.push(from);
                }
            }
        }
        found
    }

    /// Returns the absent people who named this person as their delegate.
    pub(crate) fn naming<'p>(&'p self, delegate: &str, now: Timestamp) -> impl Iterator<Item = &'p str> {
        let named = self.known.iter().filter(move |(_, person)| person.delegate(now) == Some(delegate));
        named.map(|(id, _)| id.as_str())
    }

    /// Checks a person's new record before it is stored, and returns its problems.
    pub(super) fn check(&self, id: &str, person: &Person) -> Vec<Problem> {
        let mut problems = check(id, person);
        if !self.known.contains_key(id) && self.known.len() >= limits::PEOPLE {
            problems.push(Problem::new("/id", format!("exceeds the limit of {} people", limits::PEOPLE)));
        }
        problems
    }
}

/// Returns the problems of a person's record that can be found without other people's records. Each problem has a JSON
/// pointer into the request body of the API.
pub fn check(id: &str, person: &Person) -> Vec<Problem> {
    let mut problems = Vec::new();
    if actor::RESERVED.iter().any(|name| is_same(name, id)) {
        problems.push(Problem::new("/id", format!("`{id}` is reserved for Holdshort")));
    }
    problems.extend(check_name("/id", id));
    if person.roles.is_empty() {
        problems.push(Problem::new("/roles", "names no role"));
    }
    for (i, role) in person.roles.iter().enumerate() {
        if matches!(role, Role::Engine | Role::Agent) {
            problems.push(Problem::new(format!("/roles/{i}"), "is not a role of a person"));
        }
    }
    if person.groups.len() > limits::GROUPS_OF_PERSON {
        let message = format!("has more than {} groups", limits::GROUPS_OF_PERSON);
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
        problems.push(Problem::new("/language", "is not a language tag such as `de`"));
    }
    if person.addresses.len() > limits::ADDRESSES {
        problems.push(Problem::new("/addresses", format!("has more than {} addresses", limits::ADDRESSES)));
    }
    for (channel, address) in &person.addresses {
        if !is_name(channel, limits::NAME_BYTES) || !is_name(address, limits::ADDRESS_BYTES) {
            problems.push(Problem::new(format!("/addresses/{channel}"), LINE));
        }
    }
    problems
}

const LINE: &str = "is empty, too long, or contains invisible characters";

fn check_name(field: &str, name: &str) -> Option<Problem> {
    (!is_name(name, limits::NAME_BYTES)).then(|| Problem::new(field, LINE))
}

impl Person {
    /// Returns true if two records of a person are equal. Ignores the absence and the issue time of the token.
    pub fn is_as(&self, other: &Self) -> bool {
        let bare = |person: &Self| Self { away: None, issued_at: None, ..person.clone() };
        bare(self) == bare(other)
    }

    /// Returns the person's delegate if the person is absent now.
    fn delegate(&self, now: Timestamp) -> Option<&str> {
        let away = self.away.as_ref().filter(|away| away.until.is_none_or(|until| until > now))?;
        away.delegate.as_deref()
    }

    /// Returns the data that identifies the person. Such data is stored as erasable content, so the head of the event
    /// does not contain it.
    pub(super) fn content(&self) -> Value {
        json!({ "name": self.name, "addresses": self.addresses })
    }
}
