//! What is measured of an activity and of a day: one table of names, units and plausible values.

use serde::Serialize;

/// What a measure belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Activity,
    Day,
}

/// A number that is known of an activity or of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Time with the timer running.
    Duration,
    Distance,
    HeartRateAverage,
    HeartRateMax,
    PowerAverage,
    /// What the device computed. Where there are samples, [`crate::metrics::power::normalised_power`] computes it.
    PowerNormalised,
    /// Perceived exertion of the whole session, on the CR-10 scale.
    Exertion,
    RestingHeartRate,
    /// rMSSD of the night or the morning.
    Hrv,
    Sleep,
    Weight,
    /// 0 (none) to 100, as Garmin devices give it.
    Stress,
}

/// A row of the table: name, unit, what it belongs to, the smallest and the largest plausible value.
struct Row(&'static str, &'static str, Level, f64, f64);

impl Measure {
    pub const ALL: [Self; 12] = [
        Self::Duration,
        Self::Distance,
        Self::HeartRateAverage,
        Self::HeartRateMax,
        Self::PowerAverage,
        Self::PowerNormalised,
        Self::Exertion,
        Self::RestingHeartRate,
        Self::Hrv,
        Self::Sleep,
        Self::Weight,
        Self::Stress,
    ];

    const fn row(self) -> Row {
        use Level::{Activity, Day};
        match self {
            Self::Duration => Row("duration", "s", Activity, 1.0, 7.0 * 86_400.0),
            Self::Distance => Row("distance", "m", Activity, 0.0, 3_000_000.0),
            Self::HeartRateAverage => Row("heart_rate_average", "bpm", Activity, 25.0, 250.0),
            Self::HeartRateMax => Row("heart_rate_max", "bpm", Activity, 25.0, 250.0),
            Self::PowerAverage => Row("power_average", "W", Activity, 0.0, 2_500.0),
            Self::PowerNormalised => Row("power_normalised", "W", Activity, 0.0, 2_500.0),
            Self::Exertion => Row("exertion", "CR-10", Activity, 0.0, 10.0),
            Self::RestingHeartRate => Row("resting_heart_rate", "bpm", Day, 20.0, 150.0),
            Self::Hrv => Row("hrv", "ms", Day, 1.0, 400.0),
            Self::Sleep => Row("sleep", "h", Day, 0.0, 24.0),
            Self::Weight => Row("weight", "kg", Day, 20.0, 400.0),
            Self::Stress => Row("stress", "0-100", Day, 0.0, 100.0),
        }
    }

    pub const fn name(self) -> &'static str {
        self.row().0
    }

    pub const fn unit(self) -> &'static str {
        self.row().1
    }

    pub const fn level(self) -> Level {
        self.row().2
    }

    /// The smallest and the largest value that is taken; a value outside is left out, and told.
    pub const fn plausible(self) -> (f64, f64) {
        let Row(_, _, _, least, most) = self.row();
        (least, most)
    }

    pub fn takes(self, value: f64) -> bool {
        let (least, most) = self.plausible();
        value.is_finite() && (least..=most).contains(&value)
    }
}
