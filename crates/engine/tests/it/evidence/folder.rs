//! A data folder that no server uses, and manipulations that an expert could make in its files.

use std::fs;
use std::path::{Path, PathBuf};

use holdshort_core::digest::Digest;
use holdshort_core::head::{Head, HeadNote};
use holdshort_engine::audit::{self, Report};
use holdshort_store::Sqlite;
use holdshort_testkit::by_hand;
use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;

use super::story::story;

pub(super) const DATABASE: &str = "holdshort.db";
pub(super) const LOG: &str = "holdshort.db-wal";
pub(super) const PIN: &str = "holdshort.head";

/// SQL query for a run that is alone in its session, and whose start created the session.
const LONELY: &str = "SELECT run FROM runs WHERE session IN (SELECT session FROM sessions WHERE seq = 0)
    AND session NOT IN (SELECT session FROM grants) ORDER BY run LIMIT 1";

/// The files of a data folder that no server uses.
pub(super) struct Files {
    folder: TempDir,
}

impl Files {
    /// Copies the files of a prepared data folder.
    pub(super) fn copy(from: &Path) -> Self {
        let folder = TempDir::new().unwrap();
        for name in [DATABASE, PIN] {
            fs::copy(from.join(name), folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn database(&self) -> Connection {
        Connection::open(self.path(DATABASE)).unwrap()
    }

    /// Runs SQL statements that must change something in the database of the folder. In the statements, `events` stands
    /// for a table with one row per event.
    pub(super) fn sql(&self, statements: &str) {
        let run = |file: &Connection| {
            let changes =
                || -> i64 { file.query_row("SELECT total_changes()", [], |row| row.get(0)).unwrap() };
            let before = changes();
            file.execute_batch(statements).unwrap();
            assert!(changes() > before, "{statements}");
        };
        if statements.contains("events") {
            self.with_events(run);
        } else {
            run(&self.database());
        }
    }

    /// Returns the rows of the table `appends` exactly as they are stored.
    pub(super) fn appends(&self) -> Vec<Vec<Value>> {
        let file = self.database();
        let mut statement = file.prepare("SELECT * FROM appends ORDER BY position").unwrap();
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get(column)).collect();
        statement.query_map([], row).unwrap().map(Result::unwrap).collect()
    }

    pub(super) fn with_events<R>(&self, change: impl FnOnce(&Connection) -> R) -> R {
        by_hand::with_events(&self.database(), change)
    }

    pub(super) fn schema(&self, statements: &str) {
        self.database().execute_batch(statements).unwrap();
    }

    /// Rebuilds an index with a different condition, and makes the schema show the original condition.
    pub(super) fn make_anew(&self, index: &str, condition: &str, other: &str) {
        let sql = "SELECT sql FROM sqlite_schema WHERE name = ?1";
        let made: String = self.database().query_row(sql, [index], |row| row.get(0)).unwrap();
        let changed = made.replace(condition, other);
        assert_ne!(changed, made);
        self.schema(&format!("DROP INDEX {index}; {changed}"));
        let file = self.database();
        file.execute_batch("PRAGMA writable_schema = ON").unwrap();
        let put_back = "UPDATE sqlite_schema SET sql = ?2 WHERE name = ?1";
        assert_eq!(file.execute(put_back, [index, &made]).unwrap(), 1);
    }

    /// Overwrites the database page at the root of the index `runs_by_session`.
    pub(super) fn damage_a_page(&self) {
        let page_of = "SELECT rootpage FROM sqlite_schema WHERE name = 'runs_by_session'";
        let page: u32 = self.database().query_row(page_of, [], |row| row.get(0)).unwrap();
        let page = usize::try_from(page).unwrap();
        let mut bytes = fs::read(self.path(DATABASE)).unwrap();
        bytes[(page - 1) * 1024..page * 1024].fill(0x5a);
        fs::write(self.path(DATABASE), bytes).unwrap();
    }

    /// Keeps only the first `kept` commits of the write-ahead log.
    pub(super) fn shorten_the_log(&self, kept: usize) {
        let log = fs::read(self.path(LOG)).unwrap();
        fs::write(self.path(LOG), &log[..commits(&log)[kept - 1]]).unwrap();
    }

    pub(super) fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    /// Replaces the author in the last event, and computes the new hash of that event.
    pub(super) fn rewrite_the_last(&self) {
        self.with_events(|file| {
            let sql =
                "SELECT head, (SELECT hash FROM events WHERE stream = last.stream AND seq = last.seq - 1)
                       FROM events AS last ORDER BY position DESC LIMIT 1";
            let (head, before): (Vec<u8>, Vec<u8>) =
                file.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            let head = String::from_utf8(head).unwrap().replace("\"test\"", "\"else\"").into_bytes();
            let hash = Digest::of_parts(&[&before, &head]);
            let sql =
                "UPDATE events SET head = ?1, hash = ?2 WHERE position = (SELECT max(position) FROM events)";
            file.execute(sql, rusqlite::params![head, hash.as_bytes()]).unwrap();
        });
    }

    /// Replaces a file of the data folder by an earlier version of the file.
    pub(super) fn go_back(&self, name: &str) {
        fs::copy(story().older.path().join(name), self.path(name)).unwrap();
    }

    /// Replaces the files of the data folder by those of a server that was killed after the last events.
    pub(super) fn be_killed(&self) {
        for name in [DATABASE, LOG, PIN] {
            fs::copy(story().killed.path().join(name), self.path(name)).unwrap();
        }
    }

    pub(super) fn take_run_away(&self) {
        let file = self.database();
        let gone: Vec<u8> = file.query_row(LONELY, [], |row| row.get(0)).unwrap();
        let stream = [&[1], &gone[..]].concat();
        assert!(file.execute("DELETE FROM appends WHERE stream = ?1", [stream]).unwrap() > 0);
        for sql in [
            "DELETE FROM sessions WHERE session = (SELECT session FROM runs WHERE run = ?1)",
            "DELETE FROM interrupts WHERE run = ?1",
            "DELETE FROM runs WHERE run = ?1",
        ] {
            assert!(file.execute(sql, [&gone]).unwrap() > 0, "{sql}");
        }
        self.move_up();
    }

    /// Renumbers the positions of events from 1 without a gap.
    pub(super) fn move_up(&self) {
        self.with_events(|file| {
            let mut statement = file.prepare("SELECT position FROM events ORDER BY position").unwrap();
            let positions: Vec<i64> =
                statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
            for (new, old) in (1..).zip(positions) {
                file.execute("UPDATE events SET position = ?1 WHERE position = ?2", [new, old]).unwrap();
            }
        });
    }

    /// Forges one more event of the installation, which freezes everything.
    pub(super) fn forge_at_the_end(&self) {
        self.with_events(|file| {
            let sql = "SELECT seq, head, hash FROM events WHERE stream = x'03' ORDER BY seq DESC LIMIT 1";
            let (seq, head, hash): (i64, Vec<u8>, Vec<u8>) =
                file.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
            let (from, to) = (format!("\"seq\":{seq}"), format!("\"seq\":{}", seq + 1));
            let head = String::from_utf8(head).unwrap().replace(&from, &to).into_bytes();
            let hash = Digest::of_parts(&[&hash, &head]);
            let (events, chained): (u32, [u8; 32]) = file
                .query_row("SELECT position, chained FROM events ORDER BY position DESC LIMIT 1", [], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .unwrap();
            let last = Head { events: events.into(), hash: Digest::from_bytes(chained) }.then(&hash);
            let sql = "INSERT INTO events (position, stream, seq, hash, chained, head) VALUES (?1, x'03', ?2, ?3, ?4, ?5)";
            let values = rusqlite::params![events + 1, seq + 1, hash.as_bytes(), last.hash.as_bytes(), head];
            file.execute(sql, values).unwrap();
        });
    }

    /// Recomputes the hash chain over all events, as an expert would.
    pub(super) fn compute_anew(&self) {
        let head = self.with_events(|file| {
            let mut statement = file.prepare("SELECT hash FROM events ORDER BY position").unwrap();
            let hashes: Vec<[u8; 32]> =
                statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
            let mut head = Head::START;
            for (position, hash) in (1_i64..).zip(hashes) {
                head = head.then(&Digest::from_bytes(hash));
                let sql = "UPDATE events SET chained = ?1 WHERE position = ?2";
                assert_eq!(file.execute(sql, rusqlite::params![head.hash.as_bytes(), position]).unwrap(), 1);
            }
            head
        });
        fs::write(self.path(PIN), format!("{:>20} {}\n", head.events, head.hash)).unwrap();
    }

    pub(super) async fn verify(&self, noted: &[HeadNote]) -> Result<Report, String> {
        let journal = Sqlite::open_to_read(self.folder.path()).map_err(|error| error.to_string())?;
        audit::verify_against(&journal, noted).await.map_err(|error| error.to_string())
    }
}

/// Returns the offsets in the write-ahead log at which commits end. The last frame of a commit contains the size of the
/// database.
fn commits(log: &[u8]) -> Vec<usize> {
    let frame = 24 + 1024;
    let ends = (32..log.len()).step_by(frame).filter(|at| log[at + 4..at + 8] != [0; 4]);
    ends.map(|at| at + frame).collect()
}
