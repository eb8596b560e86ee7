//! Marks: who is asked on an interrupt, as one text that a store looks into. Each mark stands on a line of its own, and every
//! line ends with a line feed on both sides; no name holds one.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{Interrupt, Stage};
use crate::people::People;
use crate::time::Timestamp;

/// A stage of it is for admins and operators.
pub const ANYBODY: &str = "\n*\n";
/// The run alone knows how it stands.
pub const INVOLVED: &str = "\n!\n";

/// Somebody is named.
pub const ANY_PERSON: &str = "\np:";
/// A group is named.
pub const ANY_GROUP: &str = "\ng:";

pub fn person(id: &str) -> String {
    format!("\np:{id}\n")
}

pub fn group(name: &str) -> String {
    format!("\ng:{name}\n")
}

/// The marks of everything that is somebody's to decide now: in their own name, and in the place of others.
pub fn of_person(id: &str, people: &People, now: Timestamp) -> BTreeSet<String> {
    let others = people.stands_in_for(id, now);
    let mut marks = BTreeSet::new();
    // What is nobody's is for whoever stands in for an admin or an operator, too.
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
    /// Its marks.
    pub fn marks(&self) -> String {
        let mut lines = BTreeSet::new();
        let (people, groups) = self.assignment.named();
        lines.extend(people.into_iter().map(person));
        lines.extend(groups.into_iter().map(group));
        lines.extend(self.delegations.iter().map(|delegation| person(&delegation.to)));
        if self.assignment.stages.iter().any(Stage::is_open) {
            lines.insert(ANYBODY.to_owned());
        }
        let is_plain = self.assignment == self.opened.assignment && self.delegations.is_empty();
        // Who may release it depends on who started the run.
        let settles_at_once = self.assignment.takes_one()
            && self.assignment.self_approval
            && (self.votes.is_empty() || !self.is_open());
        let is_timed = !self.opened.timing.is_plain() || !self.snoozes.is_empty();
        // That it was used stands in an event of its own.
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
