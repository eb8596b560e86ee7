//! Weeks that a planner proposes. The report draws them next to the completed weeks before. This module computes the
//! completed hours. The planned hours come from the agent, and only their form is checked.

use std::collections::BTreeMap;

use holdshort_core::tool::Outcome;
use holdshort_tools::Refusal;
use jiff::ToSpan;
use jiff::civil::{Date, Weekday};
use serde::Deserialize;
use serde_json::{Value, json};

use super::weeks;
use crate::limits::PLANNED_WEEKS;
use crate::training::{Reading, Settings};

/// Number of completed weeks before the plan that the report draws.
const WEEKS_BEFORE: usize = 8;

/// Maximum hours of a planned week. No athlete trains more, so a higher number must be a mistake.
pub(super) const MOST_HOURS: f64 = 60.0;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanWeeks {
    weeks: Vec<Week>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Week {
    begins: Date,
    hours: f64,
}

pub(super) fn plan(reading: &Reading, settings: &Settings, call: &PlanWeeks) -> Result<Outcome, Refusal> {
    let planned = checked(call, settings.as_of)?;
    let done = weeks(reading, settings, WEEKS_BEFORE)?;
    // The current week is left out, because it is not complete.
    let whole = done.iter().filter(|(begins, _)| last_day(*begins) <= settings.as_of);
    let whole: Vec<f64> = whole.map(|(_, hours)| *hours).collect();
    let before = match u32::try_from(whole.len()) {
        Ok(1) => format!("The complete week before the plan: {:.1} h.", whole[0]),
        Ok(count @ 2..) => {
            let mean = whole.iter().sum::<f64>() / f64::from(count);
            format!("Average of the {count} complete weeks before the plan: {mean:.1} h per week.")
        }
        Ok(0) | Err(_) => "There is no complete week before the plan.".to_owned(),
    };
    let noun = if planned.len() == 1 { "planned week" } else { "planned weeks" };
    let text = format!("The report shows {} {noun} next to the past weeks. {before}", planned.len());
    let told = |(begins, hours): (Date, f64)| json!({ "week": begins, "hours": hours });
    let done: Vec<Value> = done.into_iter().map(told).collect();
    let planned: Vec<Value> = planned.into_iter().map(told).collect();
    Ok(Outcome::Done { text, data: json!({ "weeks": { "done": done, "planned": planned } }) })
}

/// Checks the weeks of a plan, which begin on Mondays. Weeks that occur twice or are in the past are rejected.
fn checked(call: &PlanWeeks, as_of: Date) -> Result<BTreeMap<Date, f64>, Refusal> {
    let refuse = |at: &str, what: String| Err(Refusal::new("bad_arguments", format!("/weeks{at}: {what}")));
    if call.weeks.is_empty() || call.weeks.len() > PLANNED_WEEKS {
        return refuse("", format!("name 1 to {PLANNED_WEEKS} weeks"));
    }
    let mut planned = BTreeMap::new();
    for (at, Week { begins, hours }) in call.weeks.iter().enumerate() {
        let at = format!("/{at}");
        if begins.weekday() != Weekday::Monday {
            return refuse(&at, format!("a week begins on a Monday, and {begins} is not a Monday"));
        }
        if last_day(*begins) < as_of {
            return refuse(&at, format!("the week of {begins} is over: today is {as_of}"));
        }
        if !(0.0..=MOST_HOURS).contains(hours) {
            return refuse(&at, format!("hours must be between 0 and {MOST_HOURS}"));
        }
        if planned.insert(*begins, *hours).is_some() {
            return refuse(&at, format!("the week of {begins} occurs twice"));
        }
    }
    Ok(planned)
}

fn last_day(begins: Date) -> Date {
    begins.saturating_add(6.days())
}
