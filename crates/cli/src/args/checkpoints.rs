//! Arguments of `serve` about checkpoints that it keeps elsewhere, and about how long it keeps what was said.

use std::path::PathBuf;

use super::duration;

#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct KeepCheckpoints {
    /// Append signed checkpoints of the journal to this file: best one that this machine can add to and not change.
    #[arg(long, value_name = "FILE")]
    pub checkpoint_file: Option<PathBuf>,
    /// How often, while the journal grows, from `1s` to `7d` [default: 1h].
    #[arg(long, value_name = "TIME", value_parser = checkpoint_every)]
    pub checkpoint_every: Option<u64>,
}

/// In milliseconds; as a key of `holdshort.toml`, too.
pub(crate) fn checkpoint_every(text: &str) -> Result<u64, String> {
    match duration(text)? {
        ms @ 1_000..=604_800_000 => Ok(ms),
        _ => Err("must be from `1s` to `7d`".to_owned()),
    }
}

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
