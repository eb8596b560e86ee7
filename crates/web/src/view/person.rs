//! People, in the form that clients receive.

use holdshort_core::actor::{LOCAL_OPERATOR, Role};
use holdshort_core::people::{Away, People, PeopleSource, Person};
use holdshort_protocol as wire;

/// Returns a page of the list of people. The owner of the data folder comes first; all others are sorted by id. `after`
/// is the id of the last person on the previous page, who may have been removed since.
pub fn page(people: &People, after: Option<&str>, limit: usize) -> wire::List<wire::Person> {
    let first = after.is_none().then(operator);
    let others = people.after(after.filter(|id| *id != LOCAL_OPERATOR));
    let mut rest = first.into_iter().chain(others.map(|(id, person)| from_person(id, person, people)));
    let items: Vec<wire::Person> = rest.by_ref().take(limit).collect();
    let next_cursor = rest.next().and_then(|_| Some(items.last()?.id.clone()));
    wire::List { items, next_cursor }
}

pub fn one(people: &People, id: &str) -> Option<wire::Person> {
    if id == LOCAL_OPERATOR {
        return Some(operator());
    }
    people.get(id).map(|person| from_person(id, person, people))
}

fn operator() -> wire::Person {
    wire::Person {
        id: LOCAL_OPERATOR.to_owned(),
        name: None,
        roles: vec![wire::PersonRole::Admin, wire::PersonRole::Operator],
        groups: Vec::new(),
        addresses: std::collections::BTreeMap::new(),
        time_zone: None,
        language: None,
        away: None,
        source: wire::PersonSource::Local,
        may_decide: true,
    }
}

fn from_person(id: &str, person: &Person, people: &People) -> wire::Person {
    wire::Person {
        id: id.to_owned(),
        name: person.name.clone(),
        roles: person.roles.iter().filter_map(|role| self::role(*role)).collect(),
        groups: person.groups.iter().cloned().collect(),
        addresses: person.addresses.clone(),
        time_zone: person.time_zone.clone(),
        language: person.language.clone(),
        away: person.away.as_ref().map(away),
        source: source(person.source),
        may_decide: people.can_decide(id),
    }
}

pub(super) fn source(source: PeopleSource) -> wire::PersonSource {
    match source {
        PeopleSource::File => wire::PersonSource::File,
        PeopleSource::Provider => wire::PersonSource::Provider,
        PeopleSource::Api => wire::PersonSource::Api,
    }
}

fn away(away: &Away) -> wire::Away {
    wire::Away { until: away.until.map(|until| until.to_string()), delegate: away.delegate.clone() }
}

fn role(role: Role) -> Option<wire::PersonRole> {
    match role {
        Role::Admin => Some(wire::PersonRole::Admin),
        Role::Operator => Some(wire::PersonRole::Operator),
        Role::Reviewer => Some(wire::PersonRole::Reviewer),
        Role::Auditor => Some(wire::PersonRole::Auditor),
        Role::Agent | Role::Engine => None,
    }
}
