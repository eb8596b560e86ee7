//! Measures the disk: syncs per second, and the number of flushes since the machine started.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::load::count;

const BLOCK: [u8; 4096] = [7; 4096];

/// Returns the number of blocks of 4 kB that can be appended per second on the disk, each with an `fdatasync`.
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

/// Returns the number of flushes of the folder's disk by all processes since the start of the machine. Returns `None`
/// if the kernel does not count flushes.
pub(crate) fn flushes(folder: &Path) -> Option<u64> {
    let device = fs::metadata(folder).ok()?.dev();
    // Takes the same bits as `gnu_dev_major` and `gnu_dev_minor`.
    let major = (device >> 8) & 0xfff;
    let minor = (device & 0xff) | ((device >> 12) & !0xff);
    let stat = fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/stat")).ok()?;
    stat.split_whitespace().nth(15)?.parse().ok()
}
