//! Reads the people file: people who may sign in and decide, their groups, and their contact addresses.
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
//! groups:                          # working hours of a group
//!   legal:
//!     time_zone: Europe/Berlin
//!     week: {mon-thu: 09:00-17:00, fri: [09:00-12:00, 13:00-15:00]}
//!     holidays: [2026-12-25]
//! ```

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::actor::Role;
use holdshort_core::hours::{Day, Hours, Span};
use holdshort_core::limits;
use holdshort_core::name::is_name;
use holdshort_core::people::{PeopleSource, Person, Roster, check};

use crate::bounds::{PEOPLE_BYTES, PEOPLE_NODES};
use crate::item::{Fields, Item, Keys};
use crate::problem::{Problem, Problems};
use crate::yaml::{self, Unreadable, Value};

const KEYS: Keys = Keys { known: &["people", "groups"], later: &[] };
const GROUP: Keys = Keys { known: &["time_zone", "week", "holidays"], later: &[] };
const PERSON: Keys =
    Keys { known: &["name", "roles", "groups", "addresses", "time_zone", "language"], later: &[] };
const ROLES: [(&str, Role); 4] = [
    (Role::Admin.as_str(), Role::Admin),
    (Role::Operator.as_str(), Role::Operator),
    (Role::Reviewer.as_str(), Role::Reviewer),
    (Role::Auditor.as_str(), Role::Auditor),
];

/// Returns the people and groups in the order of the people file. `file_name` is only needed for problems.
pub fn parse(file_name: &str, text: &str) -> Result<Roster, Vec<Problem>> {
    let mut problems = Problems::for_file(file_name);
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

fn read(top: &Item<'_>, problems: &mut Problems) -> Option<Roster> {
    let fields = top.fields(&KEYS, problems)?;
    let mut people = Vec::new();
    for (id, key, value) in fields.need("people", problems)?.entries(problems)? {
        let before = problems.len();
        // The problems of a person who could not be read are already reported.
        let Some(person) = person(&value, problems).filter(|_| problems.len() == before) else { continue };
        for problem in check(id, &person) {
            // A problem of a field is reported at the field, and a problem of the id at the id.
            let field = problem.pointer.split('/').nth(1).unwrap_or_default();
            let place = value.fields(&PERSON, problems).and_then(|fields| fields.find(field).cloned());
            problems.at(place.as_ref().unwrap_or(&key), problem.message);
        }
        if problems.len() == before {
            people.push((id.to_owned(), person));
        }
    }
    if people.len() > limits::PEOPLE {
        problems.at(
            top,
            format!("the file names {} people; at most {} are allowed", people.len(), limits::PEOPLE),
        );
    }
    let hours = match fields.find("groups") {
        Some(item) => groups(item, problems)?,
        None => Vec::new(),
    };
    Some(Roster { people, hours })
}

fn groups(item: &Item<'_>, problems: &mut Problems) -> Option<Vec<(String, Hours)>> {
    let mut groups = Vec::new();
    for (group, key, value) in item.entries(problems)? {
        let before = problems.len();
        if !is_name(group, limits::NAME_BYTES) {
            problems.at(&key, "this name is empty, too long, or contains invisible characters");
        }
        let Some(hours) = hours(&value, problems).filter(|_| problems.len() == before) else { continue };
        for problem in hours.check() {
            let field = problem.pointer.split('/').nth(1).unwrap_or_default();
            let place = value.fields(&GROUP, problems).and_then(|fields| fields.find(field).cloned());
            problems.at(place.as_ref().unwrap_or(&key), problem.message);
        }
        if problems.len() == before {
            groups.push((group.to_owned(), hours));
        }
    }
    if groups.len() > limits::GROUPS {
        problems.at(
            item,
            format!("the file names {} groups; at most {} are allowed", groups.len(), limits::GROUPS),
        );
    }
    Some(groups)
}

fn hours(item: &Item<'_>, problems: &mut Problems) -> Option<Hours> {
    let fields = item.fields(&GROUP, problems)?;
    let time_zone = fields.need("time_zone", problems)?.text(limits::NAME_BYTES, problems)?;
    let mut week: BTreeMap<Day, Vec<Span>> = BTreeMap::new();
    for (days, key, value) in fields.need("week", problems)?.entries(problems)? {
        let Some(days) = Day::range(days) else {
            problems.at(&key, format!("`{days}` is not a day: write `mon`, or `mon-fri`"));
            continue;
        };
        let spans = spans(&value, problems);
        for day in days {
            if week.insert(day, spans.clone()).is_some() {
                problems.at(&key, format!("`{}` is listed twice", day.as_str()));
            }
        }
    }
    let mut holidays = BTreeSet::new();
    for (day, item) in dates(&fields, problems) {
        match day.parse() {
            Ok(date) => drop(holidays.insert(date)),
            Err(_) => problems.at(&item, format!("`{day}` is not a day: write one such as `2026-12-25`")),
        }
    }
    Some(Hours { time_zone, week, holidays, source: PeopleSource::File })
}

fn dates<'i>(fields: &Fields<'i>, problems: &mut Problems) -> Vec<(String, Item<'i>)> {
    let item = fields.find("holidays");
    item.and_then(|item| item.texts(limits::HOLIDAYS, limits::NAME_BYTES, problems)).unwrap_or_default()
}

/// Reads one or more spans of working hours in the people file, such as `09:00-12:00`.
fn spans(item: &Item<'_>, problems: &mut Problems) -> Vec<Span> {
    let texts = match &item.node.value {
        Value::List(_) => item.texts(limits::SPANS_OF_DAY, limits::NAME_BYTES, problems).unwrap_or_default(),
        Value::Text(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::Map(_) => {
            let text = item.text(limits::NAME_BYTES, problems);
            text.map(|text| (text, item.clone())).into_iter().collect()
        }
    };
    let mut spans = Vec::new();
    for (text, item) in texts {
        match text.parse() {
            Ok(span) => spans.push(span),
            Err(error) => problems.at(&item, format!("{error}")),
        }
    }
    spans
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
