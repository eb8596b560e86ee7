//! TCX 2: each `Activity` is one, with its laps added up and its track points as samples.
//!
//! Source: <https://www8.garmin.com/xmlschemas/TrainingCenterDatabasev2.xsd> and the extension `ActivityExtension/v2`
//! (`Speed`, `Watts`).

use jiff::Timestamp;

use super::draft::{Clock, Draft, Drafts};
use super::xml::{self, Path, Visitor};
use super::{Context, Refused};
use crate::limits;
use crate::measure::Measure;
use crate::model::{Place, Sample, Sport};
use crate::problem::Code;

#[derive(Default)]
struct Tcx {
    /// More than is read: nothing more is kept, and the file is refused.
    beyond: Option<Code>,
    activities: Vec<Recorded>,
    bad_times: Vec<(u64, String)>,
}

#[derive(Default)]
struct Recorded {
    line: u64,
    sport: String,
    starts: Option<Timestamp>,
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
    time: Option<Timestamp>,
    distance: Option<f64>,
    heart_rate: Option<f64>,
    speed: Option<f64>,
    power: Option<f64>,
}

impl Visitor for Tcx {
    fn open(&mut self, path: &Path, attributes: &[(String, String)], line: u64) {
        let points = self.activities.last().map_or(0, |activity| activity.points.len() + activity.laps.len());
        if points > limits::SAMPLES {
            self.beyond = Some(Code::TooManySamples);
        } else if self.activities.len() > limits::ACTIVITIES {
            self.beyond = Some(Code::TooManyActivities);
        }
        if self.beyond.is_some() {
            return;
        }
        let within: Vec<&str> = path.iter().map(|name| &**name).collect();
        match within[..] {
            [.., "Activities" | "MultiSportSession" | "FirstSport" | "NextSport", "Activity"] => {
                let sport = attributes.iter().find(|(name, _)| name == "Sport");
                let sport = sport.map(|(_, value)| value.clone()).unwrap_or_default();
                self.activities.push(Recorded { line, sport, ..Recorded::default() });
            }
            [.., "Activity", "Lap"] => {
                let starts = attributes.iter().find(|(name, _)| name == "StartTime");
                let starts = starts.and_then(|(_, value)| value.parse().ok());
                if let Some(activity) = self.activities.last_mut() {
                    // What the first lap says stands also where the file has no `Id` that is a time.
                    activity.starts = activity.starts.or(starts);
                    activity.laps.push(Lap::default());
                }
            }
            [.., "Track", "Trackpoint"] => {
                self.activities.last_mut().into_iter().for_each(|each| each.points.push(Point::default()));
            }
            _ => {}
        }
    }

    fn close(&mut self, path: &Path, text: &str, line: u64) {
        let Some(activity) = self.activities.last_mut() else { return };
        let number = xml::number(text);
        if let Some(rest) = below(path, "Trackpoint") {
            let Some(point) = activity.points.last_mut() else { return };
            match rest[..] {
                ["Time"] => match text.parse() {
                    Ok(time) => point.time = Some(time),
                    Err(_) => self.bad_times.push((line, text.to_owned())),
                },
                ["DistanceMeters"] => point.distance = number,
                ["HeartRateBpm", "Value"] => point.heart_rate = number.filter(|bpm| *bpm > 0.0),
                ["Extensions", .., "Speed"] => point.speed = number,
                ["Extensions", .., "Watts"] => point.power = number,
                _ => {}
            }
        } else if let Some(rest) = below(path, "Lap") {
            let Some(lap) = activity.laps.last_mut() else { return };
            match rest[..] {
                ["TotalTimeSeconds"] => lap.duration = number,
                ["DistanceMeters"] => lap.distance = number,
                ["AverageHeartRateBpm", "Value"] => lap.heart_rate_average = number,
                ["MaximumHeartRateBpm", "Value"] => lap.heart_rate_max = number,
                _ => {}
            }
        } else if below(path, "Activity").is_some_and(|rest| rest == ["Id"]) {
            activity.starts = text.parse().ok().or(activity.starts);
        }
    }
}

/// The names below the innermost element of a name.
fn below<'a>(path: &'a Path, parent: &str) -> Option<Vec<&'a str>> {
    let at = path.iter().rposition(|name| name == parent)?;
    Some(path[at + 1..].iter().map(|name| &**name).collect())
}

pub(super) fn read(text: &str, context: &mut Context<'_>, drafts: &mut Drafts) -> Result<(), Refused> {
    let mut tcx = Tcx::default();
    xml::walk(text, context, &mut tcx)?;
    if let Some(code) = tcx.beyond {
        return Err(context.refuse(code, Place::File, "more than is read of one file"));
    }
    for (line, text) in tcx.bad_times {
        context.warn(Code::BadDate, Place::Line(line), format!("`{text}` is no time"));
    }
    let mut sports: Vec<&str> = tcx.activities.iter().map(|activity| &*activity.sport).collect();
    sports.sort_unstable();
    sports.dedup();
    if sports.len() > 1 {
        context.warn(Code::SeveralSports, Place::File, format!("activities of {}", sports.join(", ")));
    }
    for activity in &tcx.activities {
        drafts.activities.extend(draft(activity));
    }
    Ok(())
}

/// None without a time.
fn draft(activity: &Recorded) -> Option<Draft> {
    let first = activity.points.iter().filter_map(|point| point.time).min();
    let start = activity.starts.or(first)?;
    let place = Place::Line(activity.line);
    let samples = activity.points.iter().filter_map(|point| {
        Some(Sample {
            at_s: point.time?.duration_since(start).as_secs_f64(),
            heart_rate: point.heart_rate,
            power: point.power,
            speed: point.speed,
            distance: point.distance,
        })
    });
    // A sum counts only where every lap has its part.
    let sum = |part: fn(&Lap) -> Option<f64>| {
        let parts: Option<Vec<f64>> = activity.laps.iter().map(part).collect();
        parts.filter(|parts| !parts.is_empty()).map(|parts| parts.iter().sum::<f64>())
    };
    let duration = sum(|lap| lap.duration);
    let beats = sum(|lap| Some(lap.duration? * lap.heart_rate_average?));
    let most = activity.laps.iter().filter_map(|lap| lap.heart_rate_max).reduce(f64::max);
    let measures = [
        (Measure::Duration, duration),
        (Measure::Distance, sum(|lap| lap.distance)),
        (Measure::HeartRateAverage, beats.zip(duration).map(|(beats, seconds)| beats / seconds)),
        (Measure::HeartRateMax, most),
    ];
    Some(Draft {
        start,
        clock: Clock::Utc,
        sport: Sport::named(&activity.sport),
        measures: measures
            .into_iter()
            .filter_map(|(measure, value)| Some((measure, value?, place.clone())))
            .collect(),
        samples: samples.collect(),
        place,
    })
}
