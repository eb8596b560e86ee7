//! Reads `reminders`, `escalation` and `working_time` of `gates.KIND`, for the time in which an interrupt waits for a
//! decision.

use holdshort_core::interrupt::{Escalation, Reminders};
use holdshort_core::limits;
use holdshort_core::people::Deciders;

use super::assignment::{groups, people};
use crate::duration;
use crate::item::{Fields, Item, Keys};
use crate::problem::Problems;
use crate::yaml::Value;

const REMINDERS: Keys = Keys { known: &["after", "every", "limit"], later: &[] };
const STEP: Keys = Keys { known: &["after", "approvers", "groups", "replace"], later: &[] };

/// Default number of reminders about an open interrupt, if the key `every` is set.
const USUAL: u32 = 10;

/// Reads a duration that a gate needs. With the key `working_time`, a duration in days is rejected, because the length
/// of a working day depends on the person and the date.
pub(super) fn length(item: &Item<'_>, fields: &Fields<'_>, problems: &mut Problems) -> Option<u64> {
    let is_working =
        fields.find("working_time").is_some_and(|item| matches!(item.node.value, Value::Bool(true)));
    let is_in_days = matches!(&item.node.value, Value::Text(text) if text.ends_with('d'));
    if is_working && is_in_days {
        problems.at(item, "with `working_time`, a duration must not be in days: write it in hours");
        return None;
    }
    duration::read(item, problems)
}

pub(super) fn reminders(fields: &Fields<'_>, problems: &mut Problems) -> Option<Reminders> {
    let own = fields.find("reminders")?.fields(&REMINDERS, problems)?;
    let after_ms = own.need("after", problems).and_then(|item| length(item, fields, problems));
    let every_ms = own.find("every").and_then(|item| length(item, fields, problems));
    let limit = own.find("limit").and_then(|item| item.count(u64::from(limits::REMINDERS), problems));
    let usual = if own.find("every").is_some() { USUAL } else { 1 };
    let limit = limit.and_then(|limit| u32::try_from(limit).ok()).unwrap_or(usual);
    if let (Some(item), None) = (own.find("limit").filter(|_| limit > 1), own.find("every")) {
        problems.at(item, "without `every` there is only one reminder: add `every` for more");
    }
    Some(Reminders { after_ms: after_ms?, every_ms, limit })
}

pub(super) fn escalation(
    fields: &Fields<'_>,
    deciders: &Deciders,
    problems: &mut Problems,
) -> Vec<Escalation> {
    let Some(item) = fields.find("escalation") else { return Vec::new() };
    let items = item.list(limits::ESCALATION_STEPS, problems).unwrap_or_default();
    if items.is_empty() {
        problems.at(item, "the list of steps is empty: add a step, or remove the key");
    }
    let read = items.iter().filter_map(|item| step(item, fields, deciders, problems));
    read.collect()
}

fn step(
    item: &Item<'_>,
    gate: &Fields<'_>,
    deciders: &Deciders,
    problems: &mut Problems,
) -> Option<Escalation> {
    let fields = item.fields(&STEP, problems)?;
    let after_ms = fields.need("after", problems).and_then(|item| length(item, gate, problems));
    let approvers = fields.find("approvers").map(|item| people(item, deciders, problems));
    let groups = fields.find("groups").map(|item| groups(item, deciders, problems));
    if approvers.is_none() && groups.is_none() {
        problems.at(item, "the escalation step names no one: add `approvers` or `groups`");
    }
    let replace = fields.find("replace").and_then(|item| item.flag(problems)).unwrap_or_default();
    Some(Escalation {
        after_ms: after_ms?,
        approvers: approvers.unwrap_or_default(),
        groups: groups.unwrap_or_default(),
        replace,
    })
}
