//! Arguments of `serve` for checkpoints that are stored outside the journal.

use std::path::PathBuf;

use super::duration;

#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct KeepCheckpoints {
    /// Append signed checkpoints of the journal to this file. Choose a file that this machine can only append to.
    #[arg(long, value_name = "FILE")]
    pub checkpoint_file: Option<PathBuf>,
    /// Interval between checkpoints while the journal grows, from `1s` to `7d`, for the file and for channels with the
    /// event `checkpoint` [default: 1h].
    #[arg(long, value_name = "TIME", value_parser = checkpoint_every)]
    pub checkpoint_every: Option<u64>,
}

/// Parses the interval between checkpoints into milliseconds, for the flag and for the key of `holdshort.toml`.
pub(crate) fn checkpoint_every(text: &str) -> Result<u64, String> {
    match duration(text)? {
        ms @ 1_000..=604_800_000 => Ok(ms),
        _ => Err("must be from `1s` to `7d`".to_owned()),
    }
}
