//! Medians, ranges, percentiles.

use std::fmt;
use std::time::Duration;

/// Median, lowest and highest value of a figure over all rounds of a measurement.
#[derive(Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    low: f64,
    high: f64,
}

impl Spread {
    /// Computes the median, lowest and highest of the values, of which there must be at least one.
    pub(crate) fn from_values(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
        let half = values.len() / 2;
        let median = if values.len().is_multiple_of(2) {
            f64::midpoint(at(half.wrapping_sub(1)), at(half))
        } else {
            at(half)
        };
        Self { median, low: at(0), high: at(values.len().wrapping_sub(1)) }
    }

    /// Formats the median and the range of a figure with a unit and the given number of decimals.
    pub(crate) fn in_unit(self, decimals: usize, unit: &str) -> String {
        let Self { median, low, high } = self;
        format!("{median:.decimals$} {unit} ({low:.decimals$} to {high:.decimals$})")
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { median, low, high } = self;
        write!(f, "{median:.0} ({low:.0} to {high:.0})")
    }
}

/// Returns the percentile: the smallest of `values` for which `percent` percent of all values are not larger.
pub(crate) fn percentile(values: &mut [Duration], percent: usize) -> Duration {
    values.sort_unstable();
    let place = (values.len() * percent).div_ceil(100).max(1) - 1;
    values.get(place).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_percentiles() {
        assert_eq!(Spread::from_values([3.0, 1.0, 2.0]).to_string(), "2 (1 to 3)");
        assert_eq!(Spread::from_values([1.0, 4.0]).to_string(), "2 (1 to 4)");
        let mut values: Vec<Duration> = (1..=200).rev().map(Duration::from_millis).collect();
        let of = |percent, values: &mut [Duration]| percentile(values, percent).as_millis();
        assert_eq!([50, 99, 100].map(|percent| of(percent, &mut values)), [100, 198, 200]);
        assert_eq!(percentile(&mut [], 50), Duration::ZERO);
    }
}
