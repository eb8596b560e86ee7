//! The people file: who may sign in and decide, in which groups they are, where they are reached.
//!
//! ```yaml
//! people:
//!   anna:
//!     name: Anna Berg
//!     roles: [reviewer]            # admin, operator, reviewer, auditor
//!     groups: [legal]
//!     addresses: {email: anna@example.org}
//!     time_zone: Europe/Berlin
//!     language: de
//! ```

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::actor::Role;
use holdshort_core::limits;
use holdshort_core::system::people::{PeopleSource, Person, check};

use crate::bounds::{PEOPLE_BYTES, PEOPLE_NODES};
use crate::item::{Item, Keys};
use crate::problem::{Problem, Problems};
use crate::yaml::{self, Unreadable};

const KEYS: Keys = Keys { known: &["people"], later: &[] };
const PERSON: Keys =
    Keys { known: &["name", "roles", "groups", "addresses", "time_zone", "language"], later: &[] };
const ROLES: [(&str, Role); 4] = [
    (Role::Admin.word(), Role::Admin),
    (Role::Operator.word(), Role::Operator),
    (Role::Reviewer.word(), Role::Reviewer),
    (Role::Auditor.word(), Role::Auditor),
];

/// The people of a file, by id, in its order. `file_name` is for the problems only.
pub fn parse(file_name: &str, text: &str) -> Result<Vec<(String, Person)>, Vec<Problem>> {
    let mut problems = Problems::of(file_name);
    let node = match yaml::parse_large(text, PEOPLE_BYTES, PEOPLE_NODES) {
        Ok(node) => node,
        Err(Unreadable { place, message }) => {
            problems.push(place, String::new(), message, None);
            return problems.finish(None);
        }
    };
    let people = read(&Item::top(&node), &mut problems);
    problems.finish(people)
}

fn read(top: &Item<'_>, problems: &mut Problems) -> Option<Vec<(String, Person)>> {
    let fields = top.fields(&KEYS, problems)?;
    let mut people = Vec::new();
    for (id, key, value) in fields.need("people", problems)?.entries(problems)? {
        let before = problems.len();
        // What could not be read is a problem already.
        let Some(person) = person(&value, problems).filter(|_| problems.len() == before) else { continue };
        for problem in check(id, &person) {
            // What is said of a field stands at it, what is said of the name at the name.
            let field = problem.pointer.split('/').nth(1).unwrap_or_default();
            let place = value.fields(&PERSON, problems).and_then(|fields| fields.find(field).cloned());
            problems.at(place.as_ref().unwrap_or(&key), problem.message);
        }
        if problems.len() == before {
            people.push((id.to_owned(), person));
        }
    }
    if people.len() > limits::PEOPLE {
        problems.at(top, format!("names {} people; at most {} are allowed", people.len(), limits::PEOPLE));
    }
    Some(people)
}

fn person(item: &Item<'_>, problems: &mut Problems) -> Option<Person> {
    let fields = item.fields(&PERSON, problems)?;
    let mut text = |key: &str| fields.find(key).and_then(|item| item.text(limits::ADDRESS_BYTES, problems));
    let (name, time_zone, language) = (text("name"), text("time_zone"), text("language"));
    let mut roles = BTreeSet::new();
    for item in fields.need("roles", problems)?.list(ROLES.len(), problems)? {
        roles.extend(item.one_of(&ROLES, problems));
    }
    let groups = match fields.find("groups") {
        Some(item) => item.texts(limits::GROUPS_OF_PERSON, limits::NAME_BYTES, problems)?,
        None => Vec::new(),
    };
    let mut addresses = BTreeMap::new();
    if let Some(item) = fields.find("addresses") {
        for (channel, _, value) in item.entries(problems)? {
            if let Some(address) = value.text(limits::ADDRESS_BYTES, problems) {
                addresses.insert(channel.to_owned(), address);
            }
        }
    }
    Some(Person {
        roles,
        groups: groups.into_iter().map(|(group, _)| group).collect(),
        time_zone,
        language,
        source: PeopleSource::File,
        issued_at: None,
        name,
        addresses,
        away: None,
    })
}
