//! Index of the approvers of interrupts. The approvers of each interrupt are written as one text, so that a store can
//! find the interrupts of a person by substring search. An entry of the text is called a mark. A mark names a person or
//! a group, and stands between two line feeds. Names cannot contain line feeds.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{Interrupt, Stage};
use crate::people::People;
use crate::time::Timestamp;

/// Mark (entry of the approver index) of an interrupt with a stage in which every admin and operator can decide.
pub const ANYBODY: &str = "\n*\n";
/// Mark (entry of the approver index) of an interrupt that cannot be shown from its table row alone. The row does not
/// refer to all events that are needed, for example because the approvers have changed.
pub const INVOLVED: &str = "\n!\n";

/// Beginning of each mark (entry of the approver index) that names a person.
pub const ANY_PERSON: &str = "\np:";
/// Beginning of each mark (entry of the approver index) that names a group.
pub const ANY_GROUP: &str = "\ng:";

pub fn person(id: &str) -> String {
    format!("\np:{id}\n")
}

pub fn group(name: &str) -> String {
    format!("\ng:{name}\n")
}

/// Returns the marks (entries of the approver index) of the interrupts on which the person may decide now: by name,
/// through a group, or as a delegate.
pub fn of_person(id: &str, people: &People, now: Timestamp) -> BTreeSet<String> {
    let others = people.represented_people(id, now);
    let mut marks = BTreeSet::new();
    // A delegate of an admin or operator may also decide on interrupts that are assigned to nobody.
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
    /// Returns the marks (entries of the approver index) that are stored in the table row of this interrupt.
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
        // If self-approval is not allowed, the approvers depend on the person who started the run.
        let settles_at_once = self.assignment.takes_one()
            && self.assignment.self_approval
            && (self.votes.is_empty() || !self.is_open());
        let is_timed = !self.opened.timing.is_plain() || !self.snoozes.is_empty();
        // A separate event records the use of an approval, and the row does not reference that event.
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
