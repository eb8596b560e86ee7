//! Durations such as `500ms`, `30s`, `30m`, `2h`, `7d`. Uses no clock.

use crate::bounds;
use crate::item::Item;
use crate::problem::Problems;
use crate::yaml::Value;

const UNITS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 24 * 3_600_000)];

/// Reads a duration of a configuration file in milliseconds, from 1 to [`bounds::DURATION_MS`].
pub(crate) fn read(item: &Item<'_>, problems: &mut Problems) -> Option<u64> {
    let parsed = match &item.node.value {
        Value::Text(text) => parse(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => None,
    };
    match parsed {
        Some(ms) if (1..=bounds::DURATION_MS).contains(&ms) => return Some(ms),
        Some(_) => problems.at(item, format!("a duration is from 1ms to 366d, found {}", item.found())),
        None => {
            let message =
                format!("expected a duration such as `30s`, `30m`, `2h` or `7d`, found {}", item.found());
            problems.at(item, message);
        }
    }
    None
}

/// Returns a duration such as `30m` in milliseconds. Returns `None` if the text is not a number with one unit.
pub fn parse(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
    Some(number.parse::<u64>().ok()?.saturating_mul(*factor))
}
