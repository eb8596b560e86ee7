//! Numbers and days that agents may quote. The numbers are sorted by the quantity that they measure.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use jiff::civil::Date;
use serde_json::Value;

use super::rounding::Decimal;
use super::scan::{self, Form, Sign};
use super::unit::Unit;
use crate::report::limits::KNOWN;

/// Largest allowed difference between a number that an agent quotes and a known number, as a share of the quoted
/// number.
const NEAR: f64 = 0.01;

/// Quantity that a number measures. The quantity determines the units in which an agent may write the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// The number has no known unit. An agent may write it with any unit.
    Number,
    /// The number is a count, or a number in a unit that is never converted. An agent cannot write it in the units of
    /// the other quantities.
    Own,
    /// The number is a share of 1. An agent may also write it as a percentage.
    Ratio,
    Percent,
    /// The number is a duration or pace in seconds. An agent may also write it as `h:mm:ss`, in minutes or in hours.
    Seconds,
    /// The number is a distance in metres. An agent may also write it in kilometres.
    Metres,
    Beats,
    Watts,
    Milliseconds,
    Kilograms,
}

fn base_quantity(unit: &str) -> (Quantity, f64) {
    match unit.trim() {
        "" => (Quantity::Number, 1.0),
        "s/km" => (Quantity::Seconds, 1.0),
        "1" | "ratio" => (Quantity::Ratio, 1.0),
        unit if unit.starts_with("share") => (Quantity::Ratio, 1.0),
        unit => match Unit::from_word(unit) {
            Unit::None | Unit::Thousand => (Quantity::Own, 1.0),
            unit => unit.base_quantity(),
        },
    }
}

/// A known number as its absolute value and its sign, so that −3 and 3 are two entries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    quantity: Quantity,
    size: f64,
    is_negative: bool,
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.quantity
            .cmp(&other.quantity)
            .then_with(|| self.size.total_cmp(&other.size))
            .then_with(|| self.is_negative.cmp(&other.is_negative))
    }
}

/// Numbers and days from tool results and inputs, which agents may quote.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownNumbers {
    numbers: BTreeSet<Entry>,
    days: BTreeSet<Date>,
}

impl KnownNumbers {
    /// Adds a number that agents may quote. Ignores a number that is not finite.
    pub fn add_value(&mut self, value: f64, quantity: Quantity) {
        if value.is_finite() && self.numbers.len() + self.days.len() < KNOWN {
            self.numbers.insert(Entry { quantity, size: value.abs(), is_negative: value < 0.0 });
        }
    }

    pub fn add_day(&mut self, day: Date) {
        if self.numbers.len() + self.days.len() < KNOWN {
            self.days.insert(day);
        }
    }

    /// Adds every number, every time such as `45:12`, and every full date in a text of a person or a tool to the
    /// numbers that agents may quote.
    pub fn add_text(&mut self, text: &str) {
        for token in scan::tokens(text) {
            match token.form {
                Form::Number { readings, sign, units } => {
                    for size in readings.iter().filter_map(|text| Decimal::read(text)).map(Decimal::value) {
                        let value = if sign == Sign::Minus { -size } else { size };
                        self.measure(value, units[0]);
                    }
                }
                Form::Times(times) => {
                    for (decimal, unit) in times {
                        let (quantity, factor) = unit.base_quantity();
                        self.add_value(decimal.value() * factor, quantity);
                    }
                }
                Form::Days(days) => {
                    for date in days.iter().filter_map(|day| day.date()) {
                        self.add_day(date);
                    }
                }
                Form::Odd => {}
            }
        }
    }

    /// Adds a known number, converted to the base unit of its quantity. Also adds a number in another unit as it is, as
    /// [`Quantity::Own`].
    fn measure(&mut self, value: f64, unit: Unit) {
        let (quantity, factor) = unit.base_quantity();
        self.scaled(value, quantity, factor);
    }

    fn scaled(&mut self, value: f64, quantity: Quantity, factor: f64) {
        self.add_value(value * factor, quantity);
        if factor.total_cmp(&1.0).is_ne() {
            self.add_value(value, Quantity::Own);
        }
    }

    /// Adds a known number with the unit that a tool result gives: `s`, `km`, `bpm`, `%`, `1`, `share of time`. An
    /// agent may write a number without a unit with any unit.
    pub fn add_in_unit(&mut self, value: f64, unit: &str) {
        let (quantity, factor) = base_quantity(unit);
        self.scaled(value, quantity, factor);
    }

    /// Adds a known number that an agent may write only with its unit: `42 min` in a text does not match a known `42
    /// kg`.
    pub(super) fn add_in_unit_only(&mut self, value: f64, unit: &str) -> Option<Entry> {
        let (quantity, factor) = base_quantity(unit);
        let value = value * factor;
        self.add_value(value, quantity);
        value.is_finite().then_some(Entry { quantity, size: value.abs(), is_negative: value < 0.0 })
    }

    /// Adds every number in a tool result, the numbers in its texts, and the lengths of its lists to the numbers that
    /// agents may quote. The quantity of a number follows from the suffix of its key (`_s`, `_min`, `_m`, `_km`,
    /// `_bpm`, `_w`, `ratio`, `share` and others) or from the `unit` in the same object.
    pub fn add_json(&mut self, value: &Value) {
        self.json_in(value, (Quantity::Number, 1.0));
    }

    fn json_in(&mut self, value: &Value, (quantity, factor): (Quantity, f64)) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => self.scaled(number.as_f64().unwrap_or(f64::NAN), quantity, factor),
            Value::String(text) => self.add_text(text),
            Value::Array(entries) => {
                self.add_value(u32::try_from(entries.len()).map_or(f64::NAN, f64::from), Quantity::Own);
                for entry in entries {
                    self.json_in(entry, (quantity, factor));
                }
            }
            Value::Object(fields) => {
                let beside = fields.get("unit").and_then(Value::as_str).map(base_quantity);
                for (key, value) in fields {
                    self.add_text(key);
                    self.json_in(value, quantity_of_key(key).or(beside).unwrap_or((quantity, factor)));
                }
            }
        }
    }

    pub(super) fn has(&self, form: &Form, column: Option<Unit>) -> bool {
        match form {
            Form::Number { readings, sign, units } => {
                let column = column.filter(|_| *units == [Unit::None]);
                let is_plain = *sign == Sign::None && units.contains(&Unit::None);
                is_plain && readings.iter().any(|text| self.has_year(text))
                    || readings.iter().filter_map(|text| Decimal::read(text)).any(|decimal| {
                        let mut ways = units.iter().copied().chain(column).flat_map(Unit::conversions);
                        ways.any(|way| self.roundings(decimal, *sign, *way).next().is_some())
                    })
            }
            // A time such as `45:12` matches only a duration, and never another quantity with the same digits.
            Form::Times(times) => times.iter().any(|(decimal, unit)| {
                as_time(*unit).any(|way| self.roundings(*decimal, Sign::None, *way).next().is_some())
            }),
            Form::Days(days) => days.iter().any(|day| day.is_in(&self.days)),
            Form::Odd => false,
        }
    }

    /// Returns the known numbers that round to the number in an agent's text and differ from it by at most [`NEAR`].
    pub(super) fn entries(&self, form: &Form, column: Option<Unit>) -> Vec<Entry> {
        match form {
            Form::Number { readings, sign, units } => {
                let column = column.filter(|_| *units == [Unit::None]);
                let decimals = readings.iter().filter_map(|text| Decimal::read(text));
                let ways = || units.iter().copied().chain(column).flat_map(Unit::conversions);
                decimals
                    .flat_map(|decimal| ways().map(move |way| (decimal, *way)))
                    .flat_map(|(decimal, way)| self.close_roundings(decimal, *sign, way))
                    .collect()
            }
            Form::Times(times) => times
                .iter()
                .flat_map(|(decimal, unit)| as_time(*unit).map(move |way| (*decimal, *way)))
                .flat_map(|(decimal, way)| self.close_roundings(decimal, Sign::None, way))
                .collect(),
            Form::Days(_) | Form::Odd => Vec::new(),
        }
    }

    /// Returns those known numbers from [`Self::roundings`] that are close to the number in an agent's text: 9,612 m is
    /// not close to `10 km`.
    fn close_roundings(
        &self,
        decimal: Decimal,
        sign: Sign,
        way: (Quantity, f64),
    ) -> impl Iterator<Item = Entry> {
        let written = decimal.value();
        let is_near = move |known: &Entry| (known.size * way.1 - written).abs() <= written * NEAR;
        self.roundings(decimal, sign, way).filter(is_near)
    }

    fn has_year(&self, text: &str) -> bool {
        let year = text.parse().ok().filter(|_| text.len() == 4);
        year.and_then(|year: i16| Some(Date::new(year, 1, 1).ok()?..=Date::new(year, 12, 31).ok()?))
            .is_some_and(|year| self.days.range(year).next().is_some())
    }

    /// Returns the known numbers of the quantity that give `decimal`, the number in a text, when they are multiplied by
    /// the factor and rounded.
    fn roundings(
        &self,
        decimal: Decimal,
        sign: Sign,
        (quantity, factor): (Quantity, f64),
    ) -> impl Iterator<Item = Entry> {
        let (middle, half) = (decimal.value(), decimal.half());
        let is_of_sign = move |known: &Entry| match sign {
            Sign::None => true,
            Sign::Plus => !known.is_negative,
            Sign::Minus => known.is_negative || known.size == 0.0,
        };
        // The searched range is slightly wider than a rounding. Therefore it contains the values exactly halfway
        // between two roundings. `is_rounding_of` then decides about them.
        let slack = middle * 1e-12;
        let entry = |size: f64, is_negative| Entry { quantity, size: (size / factor).max(0.0), is_negative };
        self.numbers
            .range(entry(middle - half - slack, false)..=entry(middle + half + slack, true))
            .filter(move |known| is_of_sign(known) && decimal.is_rounding_of(known.size * factor))
            .copied()
    }
}

/// Returns the meanings of a written time such as `45:12` in this unit, each as a quantity with a factor.
fn as_time(unit: Unit) -> impl Iterator<Item = &'static (Quantity, f64)> {
    unit.conversions().iter().filter(|(quantity, _)| *quantity == Quantity::Seconds)
}

/// Suffixes of JSON keys in tool results, each with the quantity of the value, and the factor to the base unit of the
/// quantity.
const KEYS: [(&str, Quantity, f64); 25] = [
    ("heart_rate", Quantity::Beats, 1.0),
    ("_bpm", Quantity::Beats, 1.0),
    ("_hr", Quantity::Beats, 1.0),
    ("power", Quantity::Watts, 1.0),
    ("_w", Quantity::Watts, 1.0),
    ("_watts", Quantity::Watts, 1.0),
    ("_ms", Quantity::Milliseconds, 1.0),
    ("_kg", Quantity::Kilograms, 1.0),
    ("percent", Quantity::Percent, 1.0),
    ("_pct", Quantity::Percent, 1.0),
    ("ratio", Quantity::Ratio, 1.0),
    ("share", Quantity::Ratio, 1.0),
    ("shares", Quantity::Ratio, 1.0),
    ("_seconds", Quantity::Seconds, 1.0),
    ("_minutes", Quantity::Seconds, 60.0),
    ("_hours", Quantity::Seconds, 3600.0),
    ("_min", Quantity::Seconds, 60.0),
    ("_km", Quantity::Metres, 1000.0),
    ("_kilometers", Quantity::Metres, 1000.0),
    ("_meters", Quantity::Metres, 1.0),
    ("_metres", Quantity::Metres, 1.0),
    ("_s", Quantity::Seconds, 1.0),
    ("_h", Quantity::Seconds, 3600.0),
    ("_m", Quantity::Metres, 1.0),
    ("_sec", Quantity::Seconds, 1.0),
];

fn quantity_of_key(key: &str) -> Option<(Quantity, f64)> {
    let key = key.to_ascii_lowercase();
    let whole = ["seconds", "minutes", "hours"].contains(&&*key).then(|| format!("_{key}"));
    let key = whole.unwrap_or(key);
    KEYS.iter().find(|(end, ..)| key.ends_with(end)).map(|(_, quantity, factor)| (*quantity, *factor))
}
