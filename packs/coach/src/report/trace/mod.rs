//! Numbers that agents write, looked up among those that tools computed and people gave.
//!
//! A written number is traced if it is the rounding of a known one at the precision in which it is written (half up or
//! half to even), or plainly another way to write it: seconds as a clock time, minutes or hours, a ratio as percent,
//! metres as kilometres. No number is computed from two others. `scan.rs` finds what is written, `known.rs` holds what
//! is known, `rounding.rs` compares, `found.rs` says where in the training data a number stands.

mod dates;
mod found;
mod known;
mod rounding;
mod scan;
mod unit;

use std::ops::Range;

pub(crate) use self::found::{Found, Places};
pub use self::known::{Known, Quantity};
use self::unit::Unit;

/// Where in the text numbers stand that are not known.
pub fn untraced(text: &str, known: &Known) -> Vec<Range<usize>> {
    scan::tokens(text)
        .into_iter()
        .filter(|token| !known.has(&token.form, None))
        .map(|token| token.range)
        .collect()
}

/// The unit that a column's header names.
fn unit_named(header: &str) -> Option<Unit> {
    header
        .split(|c: char| !c.is_alphanumeric() && c != '%')
        .map(Unit::of)
        .find(|unit| !matches!(unit, Unit::None | Unit::Other | Unit::Thousand))
}
