//! Looks up each number that an agent writes among the numbers that tools computed and people gave.
//!
//! A written number is traced if a known number, rounded to as many decimals (half up or half to even), equals it. The
//! number may have another notation: seconds as `h:mm:ss`, minutes or hours, a ratio as a percentage, metres as
//! kilometres. A sum or a difference of known numbers is not a known number. `scan.rs` finds written numbers.
//! `known_numbers.rs` contains the known numbers. `rounding.rs` compares a written number with a known number.
//! `number_lookup.rs` finds the places of a number in the training data.

mod dates;
mod known_numbers;
mod number_lookup;
mod rounding;
mod scan;
mod unit;

use std::ops::Range;

pub use self::known_numbers::{KnownNumbers, Quantity};
pub(crate) use self::number_lookup::{FoundNumber, NumberLookup};
use self::unit::Unit;

/// Returns the ranges of those numbers in an agent's text that are not among the known numbers.
pub fn untraced(text: &str, known: &KnownNumbers) -> Vec<Range<usize>> {
    scan::tokens(text)
        .into_iter()
        .filter(|token| !known.has(&token.form, None))
        .map(|token| token.range)
        .collect()
}

/// Returns the unit that a table column's header contains, such as `km` in `Distance (km)`.
fn unit_named(header: &str) -> Option<Unit> {
    header
        .split(|c: char| !c.is_alphanumeric() && c != '%')
        .map(Unit::from_word)
        .find(|unit| !matches!(unit, Unit::None | Unit::Other | Unit::Thousand))
}
