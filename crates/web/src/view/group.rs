//! Groups of people, in the form that clients receive.

use std::collections::BTreeMap;

use holdshort_core::hours::{Hours, Span};
use holdshort_core::people::{People, Person};
use holdshort_protocol as wire;

/// Returns a page of the groups that have members or working hours, sorted by name. `after` is the name of the last
/// group of the previous page.
pub fn page(people: &People, after: Option<&str>, limit: usize) -> wire::List<wire::Group> {
    let mut sizes: BTreeMap<&str, usize> = people.all_hours().map(|(group, _)| (group, 0)).collect();
    for (id, person) in people.iter() {
        for group in &person.groups {
            *sizes.entry(group).or_default() += usize::from(people.can_decide(id));
        }
    }
    let mut rest = sizes.into_iter().filter(|(name, _)| after.is_none_or(|after| *name > after));
    let items: Vec<wire::Group> =
        rest.by_ref().take(limit).map(|(name, size)| build_group(people, name, size)).collect();
    let next_cursor = rest.next().and_then(|_| Some(items.last()?.name.clone()));
    wire::List { items, next_cursor }
}

/// Returns the group `name` with its working hours. Returns `None` if the group has no working hours.
pub fn one(people: &People, name: &str) -> Option<wire::Group> {
    people.hours(name)?;
    let is_of = |(id, person): (&str, &Person)| person.groups.contains(name) && people.can_decide(id);
    Some(build_group(people, name, people.iter().filter(|each| is_of(*each)).count()))
}

fn build_group(people: &People, name: &str, size: usize) -> wire::Group {
    let hours = people.hours(name);
    wire::Group {
        name: name.to_owned(),
        people: size,
        hours: hours.map(convert_hours),
        source: hours.map(|hours| super::person::source(hours.source)),
    }
}

fn convert_hours(hours: &Hours) -> wire::Hours {
    let spans = |spans: &Vec<Span>| spans.iter().map(ToString::to_string).collect();
    wire::Hours {
        time_zone: hours.time_zone.clone(),
        week: hours.week.iter().map(|(day, of)| (day.as_str().to_owned(), spans(of))).collect(),
        holidays: hours.holidays.iter().map(ToString::to_string).collect(),
    }
}
