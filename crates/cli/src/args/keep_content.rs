//! How long a server keeps what runs said.

use super::duration;

/// The least that what was said is kept (E19), and the most: ten years.
const KEPT_DAYS: std::ops::RangeInclusive<u64> = 90..=3_653;

/// In milliseconds; as a key of `holdshort.toml`, too.
pub(crate) fn keep_content(text: &str) -> Result<u64, String> {
    const DAY: u64 = 86_400_000;
    match duration(text)? {
        ms if (KEPT_DAYS.start() * DAY..=KEPT_DAYS.end() * DAY).contains(&ms) => Ok(ms),
        _ => Err(format!("must be from `{}d` to `{}d`", KEPT_DAYS.start(), KEPT_DAYS.end())),
    }
}
