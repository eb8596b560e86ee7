//! Converts the working hours of a group from a client to the type of the core.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::hours::{Day, Hours, Span};
use holdshort_core::people::PeopleSource;
use holdshort_core::schema::Problem;
use holdshort_protocol as wire;
use holdshort_protocol::pointer::escape;
use holdshort_web::problem::{Answer, Refused};

pub(crate) fn hours(hours: wire::Hours) -> Answer<Hours> {
    let (mut week, mut problems): (BTreeMap<Day, Vec<Span>>, _) = (BTreeMap::new(), Vec::new());
    for (name, texts) in hours.week {
        let at = format!("/week/{}", escape(&name));
        let mut spans = Vec::new();
        for (i, text) in texts.iter().enumerate() {
            match text.parse::<Span>() {
                Ok(span) => spans.push(span),
                Err(error) => problems.push(Problem::new(format!("{at}/{i}"), error.to_string())),
            }
        }
        let Some(days) = Day::range(&name) else {
            problems.push(Problem::new(at, "is not a day of the week: write `mon`, or `mon-fri`"));
            continue;
        };
        for day in days {
            if week.insert(day, spans.clone()).is_some() {
                problems.push(Problem::new(&at, format!("names `{}` twice", day.as_str())));
            }
        }
    }
    let mut holidays = BTreeSet::new();
    for (i, text) in hours.holidays.iter().enumerate() {
        match text.parse() {
            Ok(date) => drop(holidays.insert(date)),
            Err(_) => {
                problems.push(Problem::new(format!("/holidays/{i}"), "is not a date: write `2026-12-25`"));
            }
        }
    }
    if !problems.is_empty() {
        return Err(Refused::invalid(problems));
    }
    Ok(Hours { time_zone: hours.time_zone, week, holidays, source: PeopleSource::Api })
}
