//! Counts durable commits in SQLite's write-ahead log, which marks the last frame of each commit.
//!
//! Format: <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// Content of SQLite's write-ahead log since its last restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Log {
    salt: [u8; 8],
    pub(crate) commits: u64,
    pub(crate) bytes: u64,
}

/// Returns the numbers of commits and bytes that were added to the write-ahead log between two reads. Returns `None` if
/// SQLite restarted the log in between.
pub(crate) fn since(before: Log, after: Log) -> Option<(u64, u64)> {
    let same = before.salt == after.salt && before.commits <= after.commits;
    same.then(|| (after.commits - before.commits, after.bytes - before.bytes))
}

/// Reads the write-ahead log of the only SQLite database in the folder.
pub(crate) fn read(folder: &Path) -> Result<Log> {
    let path = find(folder)?;
    parse(&fs::read(&path)?).with_context(|| format!("{} is no write-ahead log", path.display()))
}

fn find(folder: &Path) -> Result<PathBuf> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with("-wal") {
            return Ok(path);
        }
    }
    anyhow::bail!("no write-ahead log in {}", folder.display())
}

fn parse(log: &[u8]) -> Option<Log> {
    let number = |bytes: &[u8], at: usize| {
        bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes)
    };
    let header = log.get(..HEADER)?;
    // The lowest bit of the magic number gives the byte order of the checksums.
    if number(header, 0)? & !1 != 0x377f_0682 {
        return None;
    }
    let page = usize::try_from(number(header, 8)?).ok()?;
    let salt: [u8; 8] = header[16..24].try_into().ok()?;
    let mut found = Log { salt, commits: 0, bytes: 0 };
    for frame in log[HEADER..].chunks_exact(FRAME_HEADER + page) {
        // Frames with another salt are older than the last restart of the log.
        if frame[8..16] != salt {
            break;
        }
        found.bytes += frame.len() as u64;
        if number(frame, 4)? != 0 {
            found.commits += 1;
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn commits_are_counted_until_the_log_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let connection = Connection::open(folder.path().join("a.db")).unwrap();
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
        connection.execute_batch("CREATE TABLE t (x)").unwrap();
        let first = read(folder.path()).unwrap();
        for _ in 0..7 {
            connection.execute("INSERT INTO t VALUES (zeroblob(9000))", []).unwrap();
        }
        let second = read(folder.path()).unwrap();
        assert_eq!(since(first, second).map(|(commits, _)| commits), Some(7));
        connection.execute_batch("PRAGMA wal_checkpoint(RESTART)").unwrap();
        connection.execute("INSERT INTO t VALUES (1)", []).unwrap();
        let third = read(folder.path()).unwrap();
        assert_eq!((third.commits, since(second, third)), (1, None));
    }
}
