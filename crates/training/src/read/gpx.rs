//! GPX 1.0 and 1.1: each track with times is an activity. Routes and waypoints are none.
//!
//! Source: <https://www.topografix.com/GPX/1/1/>; heart rate and power as the extensions of Garmin (`hr`, `power`)
//! and `ClueTrust` (`hr`) name them. Namespaces are not looked at: programs write them in many ways.

use jiff::Timestamp;

use super::draft::{Clock, Draft, Drafts};
use super::xml::{self, Path, Visitor};
use super::{Context, Refused};
use crate::limits;
use crate::model::{Place, Sample, Sport};
use crate::problem::Code;

/// Metres: the mean radius of the earth (IUGG).
const EARTH_M: f64 = 6_371_008.8;

#[derive(Default)]
struct Gpx {
    /// More than is read: nothing more is kept, and the file is refused.
    beyond: Option<Code>,
    tracks: Vec<Track>,
    /// Times that are none: line and text.
    bad_times: Vec<(u64, String)>,
}

#[derive(Default)]
struct Track {
    line: u64,
    kind: String,
    points: Vec<Point>,
    /// The next point is the first of its segment.
    begins: bool,
}

#[derive(Clone, Copy, Default)]
struct Point {
    line: u64,
    /// Degrees.
    latitude: Option<f64>,
    longitude: Option<f64>,
    time: Option<Timestamp>,
    heart_rate: Option<f64>,
    power: Option<f64>,
    /// A segment begins with it: nothing was travelled to get there.
    begins: bool,
}

impl Visitor for Gpx {
    fn open(&mut self, path: &Path, attributes: &[(String, String)], line: u64) {
        if self.tracks.last().is_some_and(|track| track.points.len() > limits::SAMPLES) {
            self.beyond = Some(Code::TooManySamples);
        } else if self.tracks.len() > limits::ACTIVITIES {
            self.beyond = Some(Code::TooManyActivities);
        }
        if self.beyond.is_some() {
            return;
        }
        let within: Vec<&str> = path.iter().map(|name| &**name).collect();
        match within[..] {
            ["gpx", "trk"] => self.tracks.push(Track { line, ..Track::default() }),
            ["gpx", "trk", "trkseg"] => {
                self.tracks.last_mut().into_iter().for_each(|track| track.begins = true);
            }
            ["gpx", "trk", "trkseg", "trkpt"] => {
                let of = |wanted: &str| {
                    let found = attributes.iter().find(|(name, _)| name == wanted);
                    found.and_then(|(_, value)| xml::number(value))
                };
                if let Some(track) = self.tracks.last_mut() {
                    let begins = std::mem::take(&mut track.begins);
                    let (latitude, longitude) = (of("lat"), of("lon"));
                    track.points.push(Point { line, latitude, longitude, begins, ..Point::default() });
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, path: &Path, text: &str, line: u64) {
        let within: Vec<&str> = path.iter().map(|name| &**name).collect();
        let Some(track) = self.tracks.last_mut() else { return };
        match within[..] {
            ["gpx", "trk", "type"] => text.clone_into(&mut track.kind),
            ["gpx", "trk", "trkseg", "trkpt", "time"] => match text.parse() {
                Ok(time) => track.points.last_mut().into_iter().for_each(|point| point.time = Some(time)),
                Err(_) => self.bad_times.push((line, text.to_owned())),
            },
            ["gpx", "trk", "trkseg", "trkpt", "extensions", .., name] => {
                let Some(point) = track.points.last_mut() else { return };
                match name {
                    "hr" => point.heart_rate = xml::number(text).filter(|bpm| *bpm > 0.0),
                    "power" | "PowerInWatts" => point.power = xml::number(text),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

pub(super) fn read(text: &str, context: &mut Context<'_>, drafts: &mut Drafts) -> Result<(), Refused> {
    let mut gpx = Gpx::default();
    xml::walk(text, context, &mut gpx)?;
    if let Some(code) = gpx.beyond {
        return Err(context.refuse(code, Place::File, "more than is read of one file"));
    }
    for (line, text) in gpx.bad_times {
        context.warn(Code::BadDate, Place::Line(line), format!("`{text}` is no time"));
    }
    for track in gpx.tracks {
        drafts.activities.extend(draft(track));
    }
    Ok(())
}

/// None without a time.
fn draft(mut track: Track) -> Option<Draft> {
    track.points.retain(|point| point.time.is_some());
    track.points.sort_by_key(|point| (point.time, point.line));
    let start = track.points.first()?.time?;
    let mut travelled = 0.0;
    let mut before: Option<Point> = None;
    let mut samples = Vec::with_capacity(track.points.len());
    for point in track.points {
        let step = before.filter(|_| !point.begins).and_then(|before| metres(&before, &point));
        travelled += step.unwrap_or(0.0);
        samples.push(Sample {
            at_s: point.time?.duration_since(start).as_secs_f64(),
            heart_rate: point.heart_rate,
            power: point.power,
            speed: None,
            distance: point.latitude.map(|_| travelled),
        });
        before = Some(point);
    }
    let sport = strava(&track.kind).unwrap_or_else(|| Sport::named(&track.kind));
    Some(Draft {
        start,
        clock: Clock::Utc,
        sport,
        measures: Vec::new(),
        samples,
        place: Place::Line(track.line),
    })
}

/// Strava writes numbers.
fn strava(kind: &str) -> Option<Sport> {
    match kind {
        "1" => Some(Sport::Cycling),
        "9" => Some(Sport::Running),
        "10" => Some(Sport::Walking),
        _ => None,
    }
}

/// Along a great circle (haversine).
fn metres(from: &Point, to: &Point) -> Option<f64> {
    let (a, b) = (from.latitude?.to_radians(), to.latitude?.to_radians());
    let across = (to.longitude? - from.longitude?).to_radians();
    let half = ((b - a) / 2.0).sin().powi(2) + a.cos() * b.cos() * (across / 2.0).sin().powi(2);
    Some(2.0 * EARTH_M * half.sqrt().min(1.0).asin())
}
