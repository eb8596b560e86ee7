//! TCX 2 files. Each element `Activity` is an activity, with the combined measures of its laps, and its track points as
//! samples.
//!
//! Source: <https://www8.garmin.com/xmlschemas/TrainingCenterDatabasev2.xsd> and the extension `ActivityExtension/v2`
//! (`Speed`, `Watts`).

use super::draft::{Draft, Drafts, Moment, too_many};
use super::xml::{self, Element, Path, Visitor};
use super::{Context, Refused};
use crate::training::limits;
use crate::training::measure::Measure;
use crate::training::model::{FileLocation, Sample};
use crate::training::problem::Code;
use crate::training::sport::Sport;

#[derive(Default)]
struct Tcx {
    activities: Vec<Recorded>,
    /// Number of points and laps in all activities of the TCX file so far.
    entries: usize,
}

#[derive(Default)]
struct Recorded {
    line: u64,
    sport: String,
    starts: Option<Moment>,
    laps: Vec<Lap>,
    points: Vec<Point>,
}

#[derive(Default)]
struct Lap {
    duration: Option<f64>,
    distance: Option<f64>,
    heart_rate_average: Option<f64>,
    heart_rate_max: Option<f64>,
}

#[derive(Default)]
struct Point {
    time: Option<Moment>,
    distance: Option<f64>,
    heart_rate: Option<f64>,
    speed: Option<f64>,
    power: Option<f64>,
}

impl Tcx {
    /// Returns the activity of the TCX file that contains the current point or lap.
    fn entry(
        &mut self,
        element: &Element<'_>,
        context: &Context<'_>,
    ) -> Result<Option<&mut Recorded>, Refused> {
        let refuse = |most: usize, what: &str| {
            Err(context.refuse(Code::TooManySamples, element.location(), too_many(most, what)))
        };
        let Some(activity) = self.activities.last_mut() else { return Ok(None) };
        if self.entries >= limits::FILE_SAMPLES {
            return refuse(limits::FILE_SAMPLES, "points and laps in one file");
        }
        if activity.points.len() + activity.laps.len() >= limits::SAMPLES {
            return refuse(limits::SAMPLES, "points and laps in one activity");
        }
        self.entries += 1;
        Ok(Some(activity))
    }
}

impl Visitor for Tcx {
    fn open(&mut self, element: &Element<'_>, context: &mut Context<'_>) -> Result<(), Refused> {
        match element.within()[..] {
            [.., "Activities" | "MultiSportSession" | "FirstSport" | "NextSport", "Activity"] => {
                if self.activities.len() >= limits::ACTIVITIES {
                    let message = too_many(limits::ACTIVITIES, "activities");
                    return Err(context.refuse(Code::TooManyActivities, element.location(), message));
                }
                let sport = element.attribute("Sport").unwrap_or_default().to_owned();
                self.activities.push(Recorded { line: element.line, sport, ..Recorded::default() });
            }
            [.., "Activity", "Lap"] => {
                if let Some(activity) = self.entry(element, context)? {
                    let starts = element.time(element.attribute("StartTime").unwrap_or_default(), context);
                    // If the file has no `Id` with a valid time, the start of the first lap is used.
                    activity.starts = activity.starts.or(starts);
                    activity.laps.push(Lap::default());
                }
            }
            [.., "Track", "Trackpoint"] => {
                if let Some(activity) = self.entry(element, context)? {
                    activity.points.push(Point::default());
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, element: &Element<'_>, text: &str, context: &mut Context<'_>) {
        let Some(activity) = self.activities.last_mut() else { return };
        let mut number = |name: &str| element.number(name, text, context);
        if let Some(rest) = below(element.path, "Trackpoint") {
            let Some(point) = activity.points.last_mut() else { return };
            match rest[..] {
                ["Time"] => point.time = element.time(text, context),
                [name @ "DistanceMeters"] => point.distance = number(name),
                ["HeartRateBpm", name @ "Value"] => {
                    point.heart_rate = number(name).filter(|bpm| *bpm > 0.0);
                }
                ["Extensions", .., name @ "Speed"] => point.speed = number(name),
                ["Extensions", .., name @ "Watts"] => point.power = number(name),
                _ => {}
            }
        } else if let Some(rest) = below(element.path, "Lap") {
            let Some(lap) = activity.laps.last_mut() else { return };
            match rest[..] {
                [name @ "TotalTimeSeconds"] => lap.duration = number(name),
                [name @ "DistanceMeters"] => lap.distance = number(name),
                ["AverageHeartRateBpm", name @ "Value"] => lap.heart_rate_average = number(name),
                ["MaximumHeartRateBpm", name @ "Value"] => lap.heart_rate_max = number(name),
                _ => {}
            }
        } else if below(element.path, "Activity").is_some_and(|rest| rest == ["Id"]) {
            activity.starts = element.time(text, context).or(activity.starts);
        }
    }
}

/// Returns the names of the XML elements between the innermost element named `parent` and the current one.
fn below<'a>(path: &'a Path, parent: &str) -> Option<Vec<&'a str>> {
    let at = path.iter().rposition(|name| name == parent)?;
    Some(path[at + 1..].iter().map(|name| &**name).collect())
}

pub(super) fn read(text: &str, context: &mut Context<'_>, drafts: &mut Drafts) -> Result<(), Refused> {
    let mut tcx = Tcx::default();
    xml::walk(text, context, &mut tcx)?;
    let mut sports: Vec<&str> = tcx.activities.iter().map(|activity| &*activity.sport).collect();
    sports.sort_unstable();
    sports.dedup();
    if sports.len() > 1 {
        context.warn(Code::SeveralSports, FileLocation::File, format!("activities of {}", sports.join(", ")));
    }
    for activity in &tcx.activities {
        match draft(activity, context) {
            Some(draft) => drafts.activity(draft, context)?,
            None => {
                context.warn(Code::NoTime, FileLocation::Line(activity.line), "the activity has no start");
            }
        }
    }
    Ok(())
}

/// Converts an activity of a TCX file to an unchecked activity. Returns `None` if it has no start.
fn draft(activity: &Recorded, context: &mut Context<'_>) -> Option<Draft> {
    let first = activity.points.iter().filter_map(|point| point.time).min_by_key(|time| time.at);
    // The points may state UTC even if the `Id` states only local time.
    let is_better =
        |first: &Moment| activity.starts.is_none_or(|stated| stated.is_local() && !first.is_local());
    let start = first.filter(is_better).or(activity.starts)?;
    let place = FileLocation::Line(activity.line);
    start.warn_clock_change(&place, context);
    let sample = |point: &Point| {
        Some(Sample {
            at_s: point.time?.at.duration_since(start.at).as_secs_f64(),
            heart_rate: point.heart_rate,
            power: point.power,
            speed: point.speed,
            distance: point.distance,
        })
    };
    let samples: Vec<Sample> = activity.points.iter().filter_map(sample).collect();
    let (all, timed) = (activity.points.len(), samples.len());
    if timed < all {
        let message = format!("points without a time: {} of {all}", all - timed);
        context.warn(Code::NoTime, place.clone(), message);
    }
    // A sum is valid only if every lap has a value.
    let mut sum = |name: &str, part: fn(&Lap) -> Option<f64>| {
        let parts: Vec<f64> = activity.laps.iter().filter_map(part).collect();
        let (all, missing) = (activity.laps.len(), activity.laps.len() - parts.len());
        if missing > 0 && !parts.is_empty() {
            let message =
                format!("laps without a {name}: {missing} of {all}; the sum of the other laps is not used");
            context.warn(Code::LapsIncomplete, place.clone(), message);
        }
        (all > 0 && missing == 0).then(|| parts.iter().sum::<f64>())
    };
    let duration = sum("duration", |lap| lap.duration);
    let distance = sum("distance", |lap| lap.distance);
    let beats = sum("average heart rate", |lap| Some(lap.duration? * lap.heart_rate_average?));
    let most = activity.laps.iter().filter_map(|lap| lap.heart_rate_max).reduce(f64::max);
    let average = beats.zip(duration).filter(|(_, seconds)| *seconds > 0.0);
    let measures = [
        (Measure::Duration, duration),
        (Measure::Distance, distance),
        (Measure::HeartRateAverage, average.map(|(beats, seconds)| beats / seconds)),
        (Measure::HeartRateMax, most),
    ];
    let measures = measures.into_iter().filter_map(|(measure, value)| Some((measure, value?, place.clone())));
    Some(Draft {
        start: start.at,
        clock: start.clock,
        sport: Sport::from_name(&activity.sport),
        measures: measures.collect(),
        samples,
        pauses: Vec::new(),
        place,
    })
}
