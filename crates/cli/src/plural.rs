//! Formats numbers with their unit, in the singular or the plural.

use std::fmt::Display;

/// Formats a number with its unit: `1 event`, `2 events`.
pub(crate) fn count<N: Display + PartialEq + Copy + From<u8>>(n: N, thing: &str) -> String {
    let plural = if n == N::from(1) { "" } else { "s" };
    format!("{n} {thing}{plural}")
}
