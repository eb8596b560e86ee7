//! Bytes of a database by purpose, such as events or indexes, from the `dbstat` table of SQLite.

use std::path::Path;

use anyhow::{Context, Result};
use rusqlite::{Connection, OpenFlags};

use crate::load::count;

/// Bytes of the database on disk, by their purpose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Split {
    /// Bytes of the events and large contents of the journal.
    pub(super) events: u64,
    pub(super) keys: u64,
    /// Bytes of the database rows that can be rebuilt from the journal.
    pub(super) rows: u64,
    pub(super) indexes: u64,
    pub(super) free: u64,
}

impl Split {
    /// Measures the bytes of the only database in a folder. No server may use the database at the same time.
    pub(super) fn measure(folder: &Path) -> Result<Self> {
        let path = super::start::database(folder)?;
        let connection = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let sql =
            "SELECT type, tbl_name, pgsize FROM dbstat JOIN sqlite_schema USING (name) WHERE aggregate = 1";
        let mut split = Self::default();
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (kind, table): (String, String) = (row.get(0)?, row.get(1)?);
            let bytes = u64::try_from(row.get::<_, i64>(2)?)?;
            *split.share_mut(&kind, &table) += bytes;
        }
        let whole = std::fs::metadata(&path).context("the database is gone")?.len();
        split.free = whole.saturating_sub(split.total());
        Ok(split)
    }

    fn share_mut(&mut self, kind: &str, table: &str) -> &mut u64 {
        match (kind, table) {
            ("index", _) => &mut self.indexes,
            (_, "appends" | "blobs") => &mut self.events,
            (_, "keys" | "meta") => &mut self.keys,
            _ => &mut self.rows,
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.events + self.keys + self.rows + self.indexes + self.free
    }

    pub(super) fn each(&self, runs: u64) -> f64 {
        count(self.total()) / count(runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_counted_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let connection = Connection::open(&path).unwrap();
        let sql = "CREATE TABLE appends (id INTEGER PRIMARY KEY, heads BLOB);
                   CREATE TABLE keys (key TEXT PRIMARY KEY) WITHOUT ROWID;
                   CREATE TABLE runs (run BLOB PRIMARY KEY, status TEXT) WITHOUT ROWID;
                   CREATE INDEX runs_by_state ON runs (status);
                   INSERT INTO appends (heads) VALUES (zeroblob(20000));";
        connection.execute_batch(sql).unwrap();
        drop(connection);
        let split = Split::measure(folder.path()).unwrap();
        assert_eq!(split.total(), std::fs::metadata(&path).unwrap().len());
        assert!(split.events > 20_000);
        // Each table has one page, and the schema has another one.
        assert_eq!((split.keys, split.rows, split.indexes, split.free), (4096, 4096, 4096, 4096));
    }
}
