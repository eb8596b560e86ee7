//! GPX 1.0 and 1.1: each track with timestamps is an activity. Routes and waypoints are ignored.
//!
//! Source: <https://www.topografix.com/GPX/1/1/>. Heart rate and power are found by the element names of the extensions
//! of Garmin (`hr`, `power`) and `ClueTrust` (`hr`). Namespaces are ignored, because programs write them differently.

use super::draft::{Draft, Drafts, Moment, too_many};
use super::xml::{self, Element, Visitor};
use super::{Context, Refused};
use crate::training::limits;
use crate::training::model::{FileLocation, Sample};
use crate::training::problem::Code;
use crate::training::sport::Sport;

/// Mean radius of the earth (IUGG), in metres.
const EARTH_M: f64 = 6_371_008.8;

#[derive(Default)]
struct Gpx {
    tracks: Vec<Track>,
    points: usize,
}

#[derive(Default)]
struct Track {
    line: u64,
    kind: String,
    points: Vec<Point>,
    /// True if the next point of the track is the first of a segment.
    begins: bool,
}

#[derive(Clone, Copy, Default)]
struct Point {
    line: u64,
    /// Latitude of the track point in degrees, positive in the north.
    latitude: Option<f64>,
    longitude: Option<f64>,
    time: Option<Moment>,
    heart_rate: Option<f64>,
    power: Option<f64>,
    /// True if this track point is the first of a segment. The distance from the previous point is then not counted.
    begins: bool,
}

impl Visitor for Gpx {
    fn open(&mut self, element: &Element<'_>, context: &mut Context<'_>) -> Result<(), Refused> {
        let refuse = |context: &Context<'_>, code: Code, most: usize, what: &str| {
            Err(context.refuse(code, element.location(), too_many(most, what)))
        };
        match element.within()[..] {
            ["gpx", "trk"] if self.tracks.len() >= limits::ACTIVITIES => {
                return refuse(context, Code::TooManyActivities, limits::ACTIVITIES, "tracks");
            }
            ["gpx", "trk"] => self.tracks.push(Track { line: element.line, ..Track::default() }),
            ["gpx", "trk", "trkseg"] => {
                self.tracks.last_mut().into_iter().for_each(|track| track.begins = true);
            }
            ["gpx", "trk", "trkseg", "trkpt"] => {
                let Some(track) = self.tracks.last_mut() else { return Ok(()) };
                if self.points >= limits::FILE_SAMPLES {
                    return refuse(context, Code::TooManySamples, limits::FILE_SAMPLES, "points in one file");
                }
                if track.points.len() >= limits::SAMPLES {
                    return refuse(context, Code::TooManySamples, limits::SAMPLES, "points in one track");
                }
                self.points += 1;
                track.points.push(Point {
                    line: element.line,
                    latitude: degrees(element, "lat", 90.0, context),
                    longitude: degrees(element, "lon", 180.0, context),
                    begins: std::mem::take(&mut track.begins),
                    ..Point::default()
                });
            }
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, element: &Element<'_>, text: &str, context: &mut Context<'_>) {
        let Some(track) = self.tracks.last_mut() else { return };
        let point = track.points.last_mut();
        match (&element.within()[..], point) {
            (["gpx", "trk", "type"], _) => text.clone_into(&mut track.kind),
            (["gpx", "trk", "trkseg", "trkpt", "time"], Some(point)) => {
                point.time = element.time(text, context);
            }
            (["gpx", "trk", "trkseg", "trkpt", "extensions", .., name @ "hr"], Some(point)) => {
                point.heart_rate = element.number(name, text, context).filter(|bpm| *bpm > 0.0);
            }
            (
                ["gpx", "trk", "trkseg", "trkpt", "extensions", .., name @ ("power" | "PowerInWatts")],
                Some(point),
            ) => point.power = element.number(name, text, context),
            _ => {}
        }
    }
}

/// Parses an angle in degrees of a track point. An angle outside ±`most` is reported and left out.
fn degrees(element: &Element<'_>, name: &str, most: f64, context: &mut Context<'_>) -> Option<f64> {
    let degrees = element.number(name, element.attribute(name)?, context)?;
    if degrees.abs() <= most {
        return Some(degrees);
    }
    let message = format!("{name} {degrees} ° is not within -{most} to {most}");
    context.warn(Code::Implausible, element.location(), message);
    None
}

pub(super) fn read(text: &str, context: &mut Context<'_>, drafts: &mut Drafts) -> Result<(), Refused> {
    let mut gpx = Gpx::default();
    xml::walk(text, context, &mut gpx)?;
    for track in gpx.tracks {
        if let Some(draft) = draft(track, context) {
            drafts.activity(draft, context)?;
        }
    }
    Ok(())
}

/// Converts a track of a GPX file to an unchecked activity. Returns `None` for a track without timestamps.
fn draft(mut track: Track, context: &mut Context<'_>) -> Option<Draft> {
    let place = FileLocation::Line(track.line);
    let all = track.points.len();
    track.points.retain(|point| point.time.is_some());
    if track.points.len() < all {
        let message = format!("points without a time: {} of {all}", all - track.points.len());
        context.warn(Code::NoTime, place.clone(), message);
    }
    track.points.sort_by_key(|point| (point.time.map(|time| time.at), point.line));
    let start = track.points.first()?.time?;
    start.warn_clock_change(&place, context);
    let mut travelled = 0.0;
    let mut before: Option<Point> = None;
    let mut samples = Vec::with_capacity(track.points.len());
    for point in track.points {
        let step = before.filter(|_| !point.begins).and_then(|before| metres(&before, &point));
        travelled += step.unwrap_or(0.0);
        samples.push(Sample {
            at_s: point.time?.at.duration_since(start.at).as_secs_f64(),
            heart_rate: point.heart_rate,
            power: point.power,
            speed: None,
            distance: point.latitude.map(|_| travelled),
        });
        before = Some(point);
    }
    let sport = strava(&track.kind).unwrap_or_else(|| Sport::from_name(&track.kind));
    Some(Draft {
        start: start.at,
        clock: start.clock,
        sport,
        measures: Vec::new(),
        samples,
        pauses: Vec::new(),
        place,
    })
}

/// Returns the sport for Strava's number of an activity type.
fn strava(kind: &str) -> Option<Sport> {
    match kind {
        "1" => Some(Sport::Cycling),
        "9" => Some(Sport::Running),
        "10" => Some(Sport::Walking),
        _ => None,
    }
}

/// Returns the distance between two track points along a great circle in metres (haversine formula).
fn metres(from: &Point, to: &Point) -> Option<f64> {
    let (a, b) = (from.latitude?.to_radians(), to.latitude?.to_radians());
    let across = (to.longitude? - from.longitude?).to_radians();
    let half = ((b - a) / 2.0).sin().powi(2) + a.cos() * b.cos() * (across / 2.0).sin().powi(2);
    Some(2.0 * EARTH_M * half.sqrt().min(1.0).asin())
}
