//! Measures of activities and of days: one table with names, units and plausible ranges.

use serde::Serialize;

use self::Level::{Activity, Day};
use holdshort_tools::named;

/// Kind of object that a measure describes: an activity or a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Activity,
    Day,
}

/// Unit of a measure, the kind of object (activity or day) that it describes, and its smallest and largest plausible
/// value.
struct Row(&'static str, Level, f64, f64);

named! {
    /// Measure of an activity or of a day.
    Measure: Row;
    /// Time during which the device's timer ran in an activity. Pauses are excluded.
    Duration "duration" ("s", Activity, 1.0, 7.0 * 86_400.0)
    Distance "distance" ("m", Activity, 0.0, 3_000_000.0)
    HeartRateAverage "heart_rate_average" ("bpm", Activity, 25.0, 250.0)
    HeartRateMax "heart_rate_max" ("bpm", Activity, 25.0, 250.0)
    PowerAverage "power_average" ("W", Activity, 0.0, 2_500.0)
    /// Normalised power of an activity, as the device computed it. If the activity has samples,
    /// [`crate::training::metrics::power::normalised_power`] computes it from them instead.
    PowerNormalised "power_normalised" ("W", Activity, 0.0, 2_500.0)
    /// Perceived exertion of the whole session on the CR-10 scale (0 to 10).
    Exertion "exertion" ("CR-10", Activity, 0.0, 10.0)
    RestingHeartRate "resting_heart_rate" ("bpm", Day, 20.0, 150.0)
    /// Heart-rate variability as rMSSD, measured in the night or in the morning.
    Hrv "hrv" ("ms", Day, 1.0, 400.0)
    Sleep "sleep" ("h", Day, 0.0, 24.0)
    Weight "weight" ("kg", Day, 20.0, 400.0)
    /// Stress from 0 (none) to 100, in the scale of Garmin devices.
    Stress "stress" ("0-100", Day, 0.0, 100.0)
}

impl Measure {
    pub const fn unit(self) -> &'static str {
        self.row().0
    }

    pub const fn level(self) -> Level {
        self.row().1
    }

    /// Returns the smallest and the largest plausible value of the measure. Values outside are left out and reported.
    pub const fn plausible(self) -> (f64, f64) {
        let Row(_, _, least, most) = self.row();
        (least, most)
    }

    pub fn is_plausible(self, value: f64) -> bool {
        let (least, most) = self.plausible();
        value.is_finite() && (least..=most).contains(&value)
    }
}
