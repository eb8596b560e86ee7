//! Axes of charts: ranges of numbers, durations or days, with ticks at round values.

use jiff::civil::Date;

use crate::report::number::{duration, exponent, fixed};

/// Maximum number of ticks on the vertical axis of a chart.
const TICKS: f64 = 6.0;
const DAY_TICKS: usize = 6;
/// Maximum number of intervals between ticks on a chart's axis of days. A longer interval is used if this number is
/// exceeded.
const SPAN: i32 = 12;

/// A range of values for the axis of a chart, whose ends are ticks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    pub low: f64,
    pub high: f64,
    pub ticks: Vec<(f64, String)>,
}

/// Intervals between ticks on a chart's axis of durations, in seconds.
const SECONDS: [f64; 16] = [
    1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 18_000.0,
    36_000.0,
];

impl Scale {
    /// Returns a scale of a chart that includes all values. The scale starts at zero if the smallest value is small
    /// compared with the largest.
    pub(crate) fn around(values: impl Iterator<Item = f64> + Clone, unit: &str) -> Self {
        let mut low = values.clone().fold(f64::INFINITY, f64::min);
        let mut high = values.fold(f64::NEG_INFINITY, f64::max);
        if low > 0.0 && low <= 0.4 * high {
            low = 0.0;
        }
        if high < 0.0 && high >= 0.4 * low {
            high = 0.0;
        }
        Self::from_range(low, high, unit)
    }

    pub(crate) fn from_zero(values: impl Iterator<Item = f64>, unit: &str) -> Self {
        let (low, high) = values.fold((0.0, 0.0), |(low, high), value| (value.min(low), value.max(high)));
        Self::from_range(low, high, unit)
    }

    fn from_range(mut low: f64, mut high: f64, unit: &str) -> Self {
        if low >= high {
            let pad = if low == 0.0 { 1.0 } else { low.abs() * 0.1 };
            if low != 0.0 {
                low -= pad;
            }
            high += pad;
        }
        let step = step((high - low) / (TICKS - 1.0), unit);
        let (first, last) = ((low / step).floor(), (high / step).ceil());
        let mut ticks = Vec::new();
        let mut at = first;
        while at <= last {
            ticks.push((at * step, label(at * step, step, unit)));
            at += 1.0;
        }
        Self { low: first * step, high: last * step, ticks }
    }

    /// Returns the position of a value on the chart's axis: 0 at the lower end, 1 at the upper end.
    pub(crate) fn position(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }
}

/// Returns the smallest round interval between the ticks of a chart's axis that is at least `least`.
fn step(least: f64, unit: &str) -> f64 {
    if unit == "s"
        && let Some(step) = SECONDS.into_iter().find(|step| *step >= least)
    {
        return step;
    }
    // A duration above the intervals in `SECONDS` gets a round number of hours as its interval.
    let base = if unit == "s" { 3600.0 } else { 1.0 };
    let least = least / base;
    let power: f64 = format!("1e{}", exponent(least)).parse().unwrap_or(1.0);
    let factor =
        [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|factor| factor * power >= least).unwrap_or(10.0);
    factor * power * base
}

fn label(value: f64, step: f64, unit: &str) -> String {
    if unit == "s" {
        let text = duration(value);
        return match text.strip_suffix(":00") {
            _ if value == 0.0 => "0".to_owned(),
            // A duration with hours is shown with its minutes and without its seconds.
            Some(short) if text.matches(':').count() == 2 => short.to_owned(),
            _ => text,
        };
    }
    let decimals = usize::try_from(-exponent(step)).unwrap_or(0);
    // A tick interval of 2.5 needs one decimal more than an interval of 2.
    let more = usize::from(format!("{step:e}").starts_with("2.5"));
    fixed(value, decimals + if step < 10.0 { more } else { 0 })
}

/// Axis of days in a chart, with the positions and labels of its ticks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Days {
    pub first: Date,
    pub last: Date,
    pub ticks: Vec<(Date, String)>,
}

#[derive(Clone, Copy)]
enum TickInterval {
    Days(i32),
    Months(i8),
    Years(i16),
}

const TICK_INTERVALS: [TickInterval; 17] = [
    TickInterval::Days(1),
    TickInterval::Days(2),
    TickInterval::Days(3),
    TickInterval::Days(7),
    TickInterval::Days(14),
    TickInterval::Months(1),
    TickInterval::Months(2),
    TickInterval::Months(3),
    TickInterval::Months(6),
    TickInterval::Years(1),
    TickInterval::Years(2),
    TickInterval::Years(5),
    TickInterval::Years(10),
    TickInterval::Years(50),
    TickInterval::Years(100),
    TickInterval::Years(1000),
    TickInterval::Years(5000),
];

impl Days {
    pub(crate) fn new(first: Date, last: Date) -> Self {
        let ticks = TICK_INTERVALS
            .into_iter()
            .filter(|every| every.is_for(first, last))
            .map(|every| every.ticks(first, last))
            .find(|ticks| ticks.len() <= DAY_TICKS)
            .unwrap_or_default();
        Self { first, last, ticks }
    }

    /// Returns the position of a day on the chart's axis: 0 at the first day, 1 at the last day.
    pub(crate) fn position(&self, day: Date) -> f64 {
        let whole = days_between(self.first, self.last);
        if whole == 0 { 0.5 } else { f64::from(days_between(self.first, day)) / f64::from(whole) }
    }
}

pub(crate) fn days_between(first: Date, last: Date) -> i32 {
    first
        .duration_until(last)
        .as_hours()
        .checked_div(24)
        .and_then(|days| i32::try_from(days).ok())
        .unwrap_or(0)
}

impl TickInterval {
    /// Returns true if this interval between ticks divides the period into at most [`SPAN`] parts. For example, a year
    /// gets no tick per day.
    fn is_for(self, first: Date, last: Date) -> bool {
        let days = days_between(first, last);
        let each = match self {
            Self::Days(days) => days,
            Self::Months(months) => i32::from(months) * 28,
            Self::Years(years) => i32::from(years) * 365,
        };
        days / each <= SPAN
    }

    fn ticks(self, first: Date, last: Date) -> Vec<(Date, String)> {
        let mut ticks = Vec::new();
        let mut day = Some(first);
        while let Some(at) = day.filter(|at| *at <= last) {
            if self.has(at) {
                ticks.push((at, self.label(at)));
            }
            day = match self {
                Self::Days(_) => at.tomorrow().ok(),
                Self::Months(_) | Self::Years(_) => at.last_of_month().tomorrow().ok(),
            };
        }
        ticks
    }

    /// Returns true if a tick of the chart's axis falls on this day. Weeks begin on Mondays.
    fn has(self, day: Date) -> bool {
        const MONDAY: Date = Date::constant(2000, 1, 3);
        match self {
            Self::Days(days) => days_between(MONDAY, day).rem_euclid(days) == 0,
            Self::Months(months) => day.day() == 1 && (day.month() - 1) % months == 0,
            Self::Years(years) => day.day() == 1 && day.month() == 1 && day.year() % years == 0,
        }
    }

    fn label(self, day: Date) -> String {
        match self {
            Self::Days(_) => format!("{} {}", day.day(), month(day)),
            Self::Months(_) => format!("{} {}", month(day), day.year()),
            Self::Years(_) => day.year().to_string(),
        }
    }
}

/// Formats a day as `12 Mar 2026`.
pub(crate) fn date(day: Date) -> String {
    format!("{} {} {}", day.day(), month(day), day.year())
}

fn month(day: Date) -> &'static str {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    usize::try_from(day.month() - 1).ok().and_then(|at| MONTHS.get(at)).copied().unwrap_or_default()
}
