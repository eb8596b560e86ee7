//! What the disk does: how often it can be made to keep what was written, and how often it was told to.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::load::count;

const BLOCK: [u8; 4096] = [7; 4096];

/// `fdatasync` per second, each after an appended block of 4 kB.
pub(crate) fn syncs_per_second(folder: &Path, time: Duration) -> Result<f64> {
    let path = folder.join("sync");
    let mut file = File::create(&path)?;
    let began = Instant::now();
    let mut syncs = 0_u64;
    while began.elapsed() < time {
        file.write_all(&BLOCK)?;
        file.sync_data()?;
        syncs += 1;
    }
    let rate = count(syncs) / began.elapsed().as_secs_f64();
    fs::remove_file(path)?;
    Ok(rate)
}

/// Flushes that the folder's disk has carried out since the machine started, by whomever; `None` where the
/// kernel does not count them.
pub(crate) fn flushes(folder: &Path) -> Option<u64> {
    let device = fs::metadata(folder).ok()?.dev();
    // As `gnu_dev_major` and `gnu_dev_minor` take it apart.
    let major = (device >> 8) & 0xfff;
    let minor = (device & 0xff) | ((device >> 12) & !0xff);
    let stat = fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/stat")).ok()?;
    stat.split_whitespace().nth(15)?.parse().ok()
}
