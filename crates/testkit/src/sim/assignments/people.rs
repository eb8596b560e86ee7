//! The people of a simulation of assignments, and the interrupts on which these people decide.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::actor::{Actor, Role};
use holdshort_core::interrupt::{Assignment, Escalation, Kind, Reminders, Represented, Stage, Timing};
use holdshort_core::people::{Away, PeopleSource, Person};
use holdshort_core::run::Ask;
use holdshort_core::system::{Input, System};
use holdshort_core::time::Timestamp;
use serde_json::Value;

use crate::sim::choices::Choices;

pub(super) const ROLES: [(&str, Role); 7] = [
    ("anna", Role::Reviewer),
    ("ben", Role::Reviewer),
    ("cleo", Role::Reviewer),
    ("dirk", Role::Reviewer),
    ("olga", Role::Operator),
    ("otto", Role::Operator),
    ("ada", Role::Admin),
];

fn groups(id: &str) -> &'static [&'static str] {
    match id {
        "anna" | "ben" => &["legal"],
        "cleo" => &["finance"],
        "dirk" => &["legal", "finance"],
        _ => &[],
    }
}

fn person(role: Role, groups: &[&str]) -> Person {
    Person {
        roles: BTreeSet::from([role]),
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        time_zone: None,
        language: None,
        source: PeopleSource::Api,
        issued_at: None,
        name: None,
        addresses: BTreeMap::new(),
        away: None,
    }
}

pub(super) fn all() -> impl Iterator<Item = (&'static str, Person)> {
    ROLES.into_iter().map(|(id, role)| (id, person(role, groups(id))))
}

pub(super) fn actor(id: &str, role: Role) -> Actor {
    Actor { id: id.to_owned(), role, via: Some("sim".to_owned()), let_in_by: None }
}

/// Returns an input that changes one simulated reviewer: the reviewer leaves, comes back, changes groups, or is away.
/// The admin and the operators are never changed.
pub(super) fn change(choices: &mut Choices, now: Timestamp, system: &System) -> Input {
    let (id, role) = *choices.pick(&ROLES[..4]);
    let is_there = system.people.get(id).is_some();
    let id = id.to_owned();
    match choices.below(5) {
        _ if !is_there => Input::SetPerson { person: person(role, groups(&id)), id },
        0 => Input::RemovePerson { id },
        1 => Input::SetPerson { person: person(role, &["finance"]), id },
        2 => Input::SetPerson { person: person(role, groups(&id)), id },
        3 => Input::SetAway { id, away: None },
        _ => {
            let until = choices.one_in(2).then(|| now.plus_ms(36_000_000));
            let delegate = Some(choices.pick(&ROLES).0.to_owned());
            Input::SetAway { id, away: Some(Away { until, delegate }) }
        }
    }
}

fn names(choices: &mut Choices) -> (Vec<String>, Vec<String>) {
    const PEOPLE: [&str; 5] = ["anna", "ben", "cleo", "dirk", "otto"];
    match choices.below(4) {
        0 => (vec![(*choices.pick(&PEOPLE)).to_owned()], Vec::new()),
        1 => (vec!["anna".to_owned(), "cleo".to_owned()], Vec::new()),
        2 => (Vec::new(), vec!["legal".to_owned()]),
        _ => (Vec::new(), vec!["legal".to_owned(), "finance".to_owned()]),
    }
}

fn stage(choices: &mut Choices) -> Stage {
    if choices.one_in(6) {
        return Stage::default();
    }
    let (approvers, groups) = names(choices);
    let roles = if choices.one_in(4) { Represented::All } else { Represented::Any };
    let required = 1 + u32::try_from(choices.below(2)).unwrap_or_default();
    Stage { approvers, groups, required, roles, ..Stage::default() }
}

const HOUR: u64 = 3_600_000;

pub(super) fn ask(choices: &mut Choices) -> Ask {
    let stages = (0..=choices.below(2)).map(|_| stage(choices)).collect();
    let assignment = Assignment { stages, distinct: !choices.one_in(4), self_approval: !choices.one_in(3) };
    let reminders = choices.one_in(2).then(|| Reminders {
        after_ms: HOUR * (1 + choices.below(3) as u64),
        every_ms: choices.one_in(2).then_some(2 * HOUR),
        limit: 3,
    });
    let escalation = (0..choices.below(3))
        .map(|_| {
            let (approvers, groups) = names(choices);
            let after_ms = HOUR * (1 + choices.below(6) as u64);
            Escalation { after_ms, approvers, groups, replace: choices.one_in(2) }
        })
        .collect();
    Ask {
        kind: Kind::ToolApproval,
        title: "May I?".to_owned(),
        message: String::new(),
        payload: Value::Null,
        options: Vec::new(),
        response_schema: None,
        expires_in_ms: choices.one_in(2).then(|| HOUR * (20 + choices.below(30) as u64)),
        on_expiry: None,
        assignment,
        call: None,
        trial: None,
        usable_ms: None,
        callback: None,
        withhold: Vec::new(),
        timing: Timing { reminders, escalation, working_time: false },
    }
}
