//! Reads `assignment` and `approvers` of `gates.KIND`: which people may decide, and how many votes are needed.

use std::collections::BTreeSet;

use holdshort_core::interrupt::{Assignment, Represented, Stage};
use holdshort_core::limits;
use holdshort_core::people::{Deciders, STARTER};

use crate::bounds;
use crate::item::{Fields, Item, Keys};
use crate::problem::Problems;

const KEYS: Keys =
    Keys { known: &["approvers", "groups", "quorum", "distinct", "self_approval", "stages"], later: &[] };
const STAGE: Keys = Keys { known: &["name", "approvers", "groups", "quorum"], later: &[] };
const QUORUM: Keys = Keys { known: &["required", "roles"], later: &[] };

/// Reads the approvers of a gate: from `assignment`, or from `approvers`, which can name only people.
pub(super) fn of_gate(
    fields: &Fields<'_>,
    deciders: &Deciders,
    problems: &mut Problems,
) -> Option<Assignment> {
    match (fields.find("approvers"), fields.find("assignment")) {
        (None, None) => None,
        (Some(item), None) => Some(Assignment::from_approvers(people(item, deciders, problems))),
        (None, Some(item)) => read(item, deciders, problems),
        (Some(item), Some(_)) => {
            problems.at(
                item,
                "`approvers` and `assignment` cannot be used together: name the approvers in `assignment` \
                only",
            );
            None
        }
    }
}

fn read(item: &Item<'_>, deciders: &Deciders, problems: &mut Problems) -> Option<Assignment> {
    let before = problems.len();
    let fields = item.fields(&KEYS, problems)?;
    let own = stage(&fields, deciders, problems);
    let stages = match fields.find("stages") {
        None => {
            let says = ["approvers", "groups", "quorum", "self_approval"];
            if !says.iter().any(|key| fields.find(key).is_some()) {
                problems.at(item, "the assignment is empty: set `approvers`, `groups`, `quorum` or `stages`");
            }
            vec![own]
        }
        Some(stages) => {
            for key in ["approvers", "groups", "quorum"] {
                if let Some(item) = fields.find(key) {
                    problems.at(
                        item,
                        format!(
                            "`{key}` is not allowed beside `stages`: write `{key}` in each stage instead"
                        ),
                    );
                }
            }
            read_stages(stages, deciders, problems)
        }
    };
    let usual = Assignment::default();
    let assignment = Assignment {
        stages,
        distinct: fields.find("distinct").and_then(|item| item.flag(problems)).unwrap_or(usual.distinct),
        self_approval: fields
            .find("self_approval")
            .and_then(|item| item.flag(problems))
            .unwrap_or(usual.self_approval),
    };
    (problems.len() == before).then_some(assignment)
}

fn read_stages(item: &Item<'_>, deciders: &Deciders, problems: &mut Problems) -> Vec<Stage> {
    let items = item.list(limits::STAGES, problems).unwrap_or_default();
    if items.is_empty() {
        problems.at(item, "the list of stages is empty: add a stage, or remove the key");
    }
    let read = items.iter().filter_map(|item| {
        let fields = item.fields(&STAGE, problems)?;
        let name = fields.find("name").and_then(|item| item.text(bounds::LINE, problems));
        Some(Stage { name, ..stage(&fields, deciders, problems) })
    });
    read.collect()
}

fn stage(fields: &Fields<'_>, deciders: &Deciders, problems: &mut Problems) -> Stage {
    let approvers = fields.find("approvers").map(|item| people(item, deciders, problems)).unwrap_or_default();
    let groups = fields.find("groups").map(|item| groups(item, deciders, problems)).unwrap_or_default();
    let (mut required, mut roles) = (1, Represented::Any);
    if let Some(quorum) = fields.find("quorum").and_then(|item| item.fields(&QUORUM, problems)) {
        let most = limits::ASSIGNED as u64;
        let count = quorum.find("required").and_then(|item| item.count(most, problems));
        required = count.and_then(|count| u32::try_from(count).ok()).unwrap_or(1);
        let words = [("any", Represented::Any), ("all", Represented::All)];
        roles = quorum.find("roles").and_then(|item| item.one_of(&words, problems)).unwrap_or_default();
    }
    Stage { approvers, groups, required, roles, ..Stage::default() }
}

pub(super) fn people(item: &Item<'_>, deciders: &Deciders, problems: &mut Problems) -> Vec<String> {
    let named = read_names(item, problems);
    for (name, item) in &named {
        if let Some(message) = deciders.unknown_person(name) {
            let message = format!("{message}; known approvers: {}", listed(&deciders.people));
            let known = deciders.people.iter().map(String::as_str).chain([STARTER]);
            problems.unknown(item, name, message, known);
        }
    }
    named.into_iter().map(|(name, _)| name).collect()
}

pub(super) fn groups(item: &Item<'_>, deciders: &Deciders, problems: &mut Problems) -> Vec<String> {
    let named = read_names(item, problems);
    for (name, item) in &named {
        if let Some(message) = deciders.unknown_group(name) {
            let message = format!("{message}; known groups: {}", listed(&deciders.groups));
            problems.unknown(item, name, message, deciders.groups.iter().map(String::as_str));
        }
    }
    named.into_iter().map(|(name, _)| name).collect()
}

/// Joins the first names of a set to a list, for an error message. The names are not secret, because authors of
/// workflows may see all people and groups.
fn listed(names: &BTreeSet<String>) -> String {
    const SHOWN: usize = 10;
    let mut shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    if names.len() > SHOWN {
        shown.push(format!("and {} more", names.len() - SHOWN));
    }
    if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
}

fn read_names<'a>(item: &Item<'a>, problems: &mut Problems) -> Vec<(String, Item<'a>)> {
    let named = item.texts(bounds::LIST, bounds::LINE, problems);
    if matches!(named.as_deref(), Some([])) {
        problems.at(item, "the list is empty: name at least one approver, or remove the key");
    }
    named.unwrap_or_default()
}
