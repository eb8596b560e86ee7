//! Working hours of groups. Working hours come from the people file or from an administrator. Each of these two sources
//! can change only its own hours.

use std::collections::BTreeSet;

use crate::hours::Hours;
use crate::limits;
use crate::name::is_name;
use crate::people::PeopleSource;
use crate::schema::Problem;
use crate::system::{Fact, Rejection, System};

impl System {
    /// Sets the working hours of a group. Returns no event if the hours stay the same.
    pub(super) fn set_hours(&self, group: String, hours: Hours) -> Result<Option<Fact>, Rejection> {
        let known = self.people.all_hours().count();
        fits(known + usize::from(self.people.hours(&group).is_none()))?;
        self.hours_set(group, hours)
    }

    fn hours_set(&self, group: String, hours: Hours) -> Result<Option<Fact>, Rejection> {
        let mut problems = hours.check();
        if !is_name(&group, limits::NAME_BYTES) {
            problems.push(Problem::new("/group", "is empty, too long, or contains invisible characters"));
        }
        if !problems.is_empty() {
            return Err(Rejection::Invalid(problems));
        }
        let before = self.people.hours(&group);
        self.may_set_hours(&group, hours.source)?;
        Ok((before != Some(&hours)).then_some(Fact::HoursSet { group, is: hours }))
    }

    pub(super) fn unset_hours(&self, group: String) -> Result<Fact, Rejection> {
        self.may_set_hours(&group, PeopleSource::Api)?;
        match self.people.hours(&group) {
            Some(_) => Ok(Fact::HoursUnset { group }),
            None => Err(Rejection::UnknownGroup),
        }
    }

    /// Sets the working hours that have changed. Removes the hours of groups that the source does not list any more.
    pub(super) fn set_all_hours(
        &self,
        source: PeopleSource,
        hours: Vec<(String, Hours)>,
    ) -> Result<Vec<Fact>, Rejection> {
        let named: BTreeSet<&str> = hours.iter().map(|(group, _)| group.as_str()).collect();
        let (gone, left): (Vec<_>, Vec<_>) =
            self.people.all_hours().partition(|(group, is)| is.source == source && !named.contains(group));
        let known: BTreeSet<&str> = left.into_iter().map(|(group, _)| group).collect();
        fits(known.union(&named).count())?;
        let mut facts: Vec<Fact> =
            gone.into_iter().map(|(group, _)| Fact::HoursUnset { group: group.to_owned() }).collect();
        for (group, is) in hours {
            facts.extend(self.hours_set(group, Hours { source, ..is })?);
        }
        Ok(facts)
    }

    fn may_set_hours(&self, group: &str, source: PeopleSource) -> Result<(), Rejection> {
        match self.people.hours(group).map(|hours| hours.source) {
            Some(before) if before != source => Err(Rejection::OtherSource(match before {
                PeopleSource::File => "the people file sets the hours of this group: change them there",
                PeopleSource::Api | PeopleSource::Provider => {
                    "an administrator set the hours of this group: unset them first"
                }
            })),
            Some(_) | None => Ok(()),
        }
    }
}

/// Checks that the number of groups with working hours is within the limit.
fn fits(groups: usize) -> Result<(), Rejection> {
    if groups <= limits::GROUPS {
        return Ok(());
    }
    let message = format!("exceeds the limit of {} groups with working hours", limits::GROUPS);
    Err(Rejection::Invalid(vec![Problem::new("/group", message)]))
}
