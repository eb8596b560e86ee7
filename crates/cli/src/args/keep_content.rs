//! Time for which the content of a run is stored after the end of the run.

use super::duration;

/// Range of the retention time of content, in days: at least 90 days (contract E19), at most ten years.
const KEPT_DAYS: std::ops::RangeInclusive<u64> = 90..=3_653;

/// Parses the retention time of content into milliseconds, for the flag and for the key of `holdshort.toml`.
pub(crate) fn keep_content(text: &str) -> Result<u64, String> {
    const DAY: u64 = 86_400_000;
    match duration(text)? {
        ms if (KEPT_DAYS.start() * DAY..=KEPT_DAYS.end() * DAY).contains(&ms) => Ok(ms),
        _ => Err(format!("must be from `{}d` to `{}d`", KEPT_DAYS.start(), KEPT_DAYS.end())),
    }
}
