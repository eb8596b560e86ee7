//! The season: the data structure into which all file formats are converted. Every value has its source.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;
use serde::{Serialize, Serializer};

use crate::training::measure::Measure;
use crate::training::sport::Sport;
use holdshort_tools::named;

/// Location of a value within a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileLocation {
    File,
    /// The value is in the line with this number, from 1.
    Line(u64),
    /// The value is in the FIT record at this offset from the start of the file, in bytes.
    Byte(u64),
    /// The value is at this JSON pointer (RFC 6901) of the file.
    Pointer(String),
}

/// File and location from which a value of the training data was read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Source {
    pub file: Arc<str>,
    pub place: FileLocation,
}

impl Source {
    pub(crate) fn new(file: &Arc<str>, place: FileLocation) -> Self {
        Self { file: Arc::clone(file), place }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            FileLocation::File => write!(f, "{}", self.file),
            FileLocation::Line(line) => write!(f, "{}:{line}", self.file),
            FileLocation::Byte(byte) => write!(f, "{}@{byte}", self.file),
            FileLocation::Pointer(pointer) => write!(f, "{}#{pointer}", self.file),
        }
    }
}

/// Value of the training data with the source from which it was read.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SourcedValue {
    pub value: f64,
    pub source: Source,
}

/// Measurements at one moment of an activity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// Seconds since the activity's start.
    pub at_s: f64,
    /// Heart rate of the sample in bpm.
    pub heart_rate: Option<f64>,
    /// Power of the sample in W.
    pub power: Option<f64>,
    /// Speed of the sample in m/s.
    pub speed: Option<f64>,
    /// Distance of the sample from the start of the activity in m.
    pub distance: Option<f64>,
}

/// Origin of an activity's UTC offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OffsetFrom {
    /// The training file states the UTC offset of the activity.
    File,
    /// The training file has only UTC. The athlete's time zone ([`crate::training::Options::zone`]) gives the offset.
    Zone,
    /// The training file has only local time. The athlete's time zone gives UTC.
    LocalTime,
}

/// Activity of one sport.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Activity {
    /// Id of the activity, made from start and sport, such as `2026-03-01T06:30:00Z running`. Other files do not change
    /// it.
    pub id: String,
    pub start: Timestamp,
    /// Offset of the activity's local time from UTC, positive in the east.
    #[serde(serialize_with = "seconds")]
    pub offset: Offset,
    pub offset_from: OffsetFrom,
    pub sport: Sport,
    pub measures: BTreeMap<Measure, SourcedValue>,
    /// Samples of the activity, sorted by time, at most one per moment.
    pub samples: Vec<Sample>,
    /// Pauses of the activity's timer, sorted and without overlap, as seconds since the start. They are not part of the
    /// duration.
    pub pauses: Vec<(f64, f64)>,
    /// Sources of the activity, one per file that contains the activity.
    pub sources: Vec<Source>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn seconds<S: Serializer>(offset: &Offset, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i32(offset.seconds())
}

impl Activity {
    /// Returns the local day on which the activity began.
    pub fn day(&self) -> Date {
        self.offset.to_datetime(self.start).date()
    }

    /// Returns the value of a measure of the activity. Returns `None` if the value is unknown or implausible.
    pub fn measure(&self, measure: Measure) -> Option<f64> {
        self.sourced_value(measure).map(|known| known.value)
    }

    pub fn sourced_value(&self, measure: Measure) -> Option<&SourcedValue> {
        self.measures.get(&measure).filter(|known| measure.is_plausible(known.value))
    }

    pub(crate) fn update_id(&mut self) {
        self.id = format!("{} {}", self.start, self.sport.name());
    }
}

/// Measures of one day of the season.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Day {
    pub measures: BTreeMap<Measure, SourcedValue>,
}

impl Day {
    /// Returns the value of a measure of the day. Returns `None` if the value is unknown or implausible.
    pub fn measure(&self, measure: Measure) -> Option<f64> {
        self.sourced_value(measure).map(|known| known.value)
    }

    pub fn sourced_value(&self, measure: Measure) -> Option<&SourcedValue> {
        self.measures.get(&measure).filter(|known| measure.is_plausible(known.value))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sex {
    Female,
    Male,
}

/// Unit of a fact about the athlete, and its smallest and largest plausible value.
struct Row(&'static str, f64, f64);

named! {
    /// Numeric fact about the athlete.
    AthleteNumber: Row;
    MaxHeartRate "max_heart_rate" ("bpm", 60.0, 250.0)
    RestingHeartRate "resting_heart_rate" ("bpm", 20.0, 150.0)
    /// Athlete's heart rate at the lactate threshold, or average heart rate of the best hour.
    ThresholdHeartRate "threshold_heart_rate" ("bpm", 40.0, 250.0)
    /// Athlete's average power of the best hour.
    ThresholdPower "threshold_power" ("W", 10.0, 1_000.0)
}

impl AthleteNumber {
    pub const fn unit(self) -> &'static str {
        self.row().0
    }

    pub const fn plausible(self) -> (f64, f64) {
        let Row(_, least, most) = self.row();
        (least, most)
    }

    pub fn is_plausible(self, value: f64) -> bool {
        let (least, most) = self.plausible();
        (least..=most).contains(&value)
    }

    /// Returns a sentence that says why the value of a fact about the athlete was rejected.
    pub(crate) fn implausible(self, value: f64) -> String {
        let (least, most) = self.plausible();
        format!("{} {value} {} is not within {least} to {most}", self.name(), self.unit())
    }
}

/// Facts about the athlete. A metric that cannot be computed names the fact that is missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Athlete {
    pub sex: Option<Sex>,
    pub birth_date: Option<Date>,
    /// Maximal heart rate of the athlete in bpm.
    pub max_heart_rate: Option<f64>,
    /// Resting heart rate of the athlete in bpm.
    pub resting_heart_rate: Option<f64>,
    /// Heart rate of the athlete at the lactate threshold, or average heart rate of the best hour, in bpm.
    pub threshold_heart_rate: Option<f64>,
    /// Average power of the athlete's best hour, in W.
    pub threshold_power: Option<f64>,
}

impl Athlete {
    pub const fn number(&self, number: AthleteNumber) -> Option<f64> {
        match number {
            AthleteNumber::MaxHeartRate => self.max_heart_rate,
            AthleteNumber::RestingHeartRate => self.resting_heart_rate,
            AthleteNumber::ThresholdHeartRate => self.threshold_heart_rate,
            AthleteNumber::ThresholdPower => self.threshold_power,
        }
    }
}

/// All training data that was read together, merged.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Season {
    /// Facts about the athlete that the training files state.
    pub athlete: Athlete,
    /// Sources of the facts in `athlete`, by the name of the fact.
    pub athlete_sources: BTreeMap<&'static str, Source>,
    /// Activities of the season, sorted by their starts.
    pub activities: Vec<Activity>,
    pub days: BTreeMap<Date, Day>,
}
