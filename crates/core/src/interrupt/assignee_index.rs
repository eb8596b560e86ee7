//! Marks: the approvers of an interrupt as a single text, which a store can search for substrings. Each mark is between
//! two line feeds, and no name contains a line feed.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{Interrupt, Stage};
use crate::people::People;
use crate::time::Timestamp;

/// Mark of an interrupt with a stage that is open to admins and operators.
pub const ANYBODY: &str = "\n*\n";
/// Mark of an interrupt whose approvers cannot be derived from its row. The approvers depend on the complete state,
/// which only the run contains.
pub const INVOLVED: &str = "\n!\n";

/// Beginning of the mark of a person.
pub const ANY_PERSON: &str = "\np:";
/// Beginning of the mark of a group.
pub const ANY_GROUP: &str = "\ng:";

pub fn person(id: &str) -> String {
    format!("\np:{id}\n")
}

pub fn group(name: &str) -> String {
    format!("\ng:{name}\n")
}

/// Returns the marks of all interrupts that the person may decide now, personally or as a delegate.
pub fn of_person(id: &str, people: &People, now: Timestamp) -> BTreeSet<String> {
    let others = people.represented_people(id, now);
    let mut marks = BTreeSet::new();
    // A delegate of an admin or operator may also decide unassigned interrupts.
    if others.iter().any(|other| people.decides_unassigned(other)) {
        marks.insert(ANYBODY.to_owned());
    }
    for id in others.into_iter().chain([id]) {
        marks.insert(person(id));
        marks.extend(people.get(id).into_iter().flat_map(|person| &person.groups).map(|name| group(name)));
    }
    marks
}

impl Interrupt {
    /// Returns the marks of this interrupt.
    pub fn marks(&self) -> String {
        let mut lines = BTreeSet::new();
        let (people, groups) = self.assignment.people_and_groups();
        lines.extend(people.into_iter().map(person));
        lines.extend(groups.into_iter().map(group));
        lines.extend(self.delegations.iter().map(|delegation| person(&delegation.to)));
        if self.assignment.stages.iter().any(Stage::is_open) {
            lines.insert(ANYBODY.to_owned());
        }
        let is_plain = self.assignment == self.opened.assignment && self.delegations.is_empty();
        // If self-approval is not allowed, the approvers depend on who started the run.
        let settles_at_once = self.assignment.takes_one()
            && self.assignment.self_approval
            && (self.votes.is_empty() || !self.is_open());
        let is_timed = !self.opened.timing.is_plain() || !self.snoozes.is_empty();
        // The use of an approval is recorded in a separate event, which the row does not reference.
        if !is_plain || !settles_at_once || is_timed || self.used.is_some() {
            lines.insert(INVOLVED.to_owned());
        }
        let mut marks = String::new();
        for line in lines {
            let _ = write!(marks, "{line}");
        }
        marks
    }
}
