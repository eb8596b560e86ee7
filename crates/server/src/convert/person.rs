//! Converts a person from a client to the type of the core.

use holdshort_core::actor::Role;
use holdshort_core::people::{PeopleSource, Person};
use holdshort_protocol::{PersonRole, SetPerson};

pub(crate) fn person(person: SetPerson) -> Person {
    let SetPerson { name, roles, groups, addresses, time_zone, language } = person;
    Person {
        roles: roles.into_iter().map(role).collect(),
        groups: groups.into_iter().collect(),
        time_zone,
        language,
        source: PeopleSource::Api,
        issued_at: None,
        name,
        addresses,
        away: None,
    }
}

fn role(role: PersonRole) -> Role {
    match role {
        PersonRole::Admin => Role::Admin,
        PersonRole::Operator => Role::Operator,
        PersonRole::Reviewer => Role::Reviewer,
        PersonRole::Auditor => Role::Auditor,
    }
}
