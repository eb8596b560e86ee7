//! The pin: a file beside the database that says where its journal ended, so that an older database, or one
//! without its log, is noticed.
//!
//! It is written after each commit and never before, and flushed when the journal is closed. So a database is at
//! least as long as its pin says; and exactly as long, once it was closed. Whoever can write the database can write
//! the pin, too: a head that is kept elsewhere says more.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use holdshort_core::head::Head;
use rusqlite::{Connection, OptionalExtension};

use super::error::from_io;
use super::schema::Layout;
use super::{chain, schema, upgrade};
use crate::folder::{database_of, private};
use crate::journal::Error;

const NAME: &str = "holdshort.head";
/// Attempts to read it whole.
const READS: u32 = 3;
/// Beside `open`: how many events a database had that came without its log.
const WITHOUT_LOG: &str = "without_log";

/// The open file.
#[derive(Debug)]
pub(super) struct Pin {
    file: File,
    /// A write failed, and that was logged.
    is_behind: bool,
}

/// What is known of a database by its pin, its log, and what it says of itself.
pub(super) struct Evidence {
    pin: Option<Head>,
    has_log: bool,
    /// The file says that a log belongs to it. SQLite's `VACUUM INTO` makes one that is whole by itself.
    wants_log: bool,
    path: PathBuf,
}

impl Evidence {
    /// Looked for before SQLite opens the database, which makes an empty log.
    pub(super) fn gather(folder: &Path, database: &Path) -> Result<Self, Error> {
        let path = folder.join(NAME);
        let (has_log, wants_log) = (has_log(database), wants_log(database).map_err(from_io)?);
        Ok(Self { pin: read(&path)?, has_log, wants_log, path })
    }

    /// Refuses a database that is not the one that the pin tells of, or of a version that is not known. Changes nothing.
    pub(super) fn check(&self, database: &Path) -> Result<(), Error> {
        let found = schema::look(database, self.has_log)?;
        let Some(pin) = self.pin else { return Ok(()) };
        let connection = &found.connection;
        let (head, at) = match found.layout {
            Layout::Nothing => (Head::START, (pin.events == 0).then_some(Head::START)),
            Layout::Events => upgrade::heads_of_events(connection, pin.events)?,
            Layout::ChainedEvents => upgrade::heads_of_chained_events(connection, pin.events)?,
            Layout::Appends => (chain::head(connection)?, chain::head_at(connection, pin.events)?),
        };
        let is_closed = found.layout == Layout::Nothing || is_closed(connection)?;
        match contradiction(pin, head, at, is_closed) {
            None => Ok(()),
            Some(why) => Err(Error::Corrupt(format!(
                "{why}; to go on with it all the same, remove {}",
                self.path.display()
            ))),
        }
    }

    /// How the database contradicts its pin. One that `is_closed` is exactly as long as that.
    fn contradiction(&self, connection: &Connection, is_closed: bool) -> Result<Option<String>, Error> {
        let Some(pin) = self.pin else { return Ok(None) };
        let at = chain::head_at(connection, pin.events)?;
        Ok(contradiction(pin, chain::head(connection)?, at, is_closed))
    }

    /// Whether events may be missing that were answered: the database was in use when it was copied, and its log
    /// did not come along. Where the pin is there, it says more.
    fn is_without_log(&self, connection: &Connection) -> Result<bool, Error> {
        Ok(self.pin.is_none() && self.wants_log && !self.has_log && !is_closed(connection)?)
    }

    /// Writes down that the log did not come along, so that no later audit takes the journal for whole.
    pub(super) fn note_missing_log(&self, connection: &Connection) -> Result<(), Error> {
        if self.is_without_log(connection)? {
            let events = chain::head(connection)?.events;
            tracing::warn!(events, "the database came without its log: what was written last may be missing");
            let sql = "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
            connection.execute(sql, rusqlite::params![WITHOUT_LOG, super::column::Number(events)])?;
        }
        Ok(())
    }

    /// What is wrong, for an audit. `is_closed`: no server has the folder, and the last one closed the journal.
    fn problems(&self, connection: &Connection, is_closed: bool) -> Result<Vec<String>, Error> {
        let mut problems: Vec<String> = self.contradiction(connection, is_closed)?.into_iter().collect();
        if let Some(events) = noted_without_log(connection)? {
            problems.push(without_log(events));
        } else if self.is_without_log(connection)? {
            problems.push(without_log(chain::head(connection)?.events));
        }
        Ok(problems)
    }
}

/// How a database contradicts its pin that has this head, and had that one `at` the number of events of the pin.
fn contradiction(pin: Head, head: Head, at: Option<Head>, is_closed: bool) -> Option<String> {
    let (there, pinned) = (head.events, pin.events);
    if there < pinned {
        Some(format!(
            "the database has {there} events, and {pinned} were written: it is an older one, its log is missing, \
             or its last events were taken away"
        ))
    } else if at != Some(pin) {
        Some(format!("the first {pinned} events of the database are not those that were written"))
    } else if is_closed && there > pinned {
        Some(format!(
            "the database has {there} events, and {pinned} were written: the others came from elsewhere"
        ))
    } else {
        None
    }
}

fn without_log(events: u64) -> String {
    format!(
        "the database was copied without its log when it had {events} events: what was written last may be missing"
    )
}

impl Pin {
    pub(super) fn open(folder: &Path) -> Result<Self, Error> {
        let file = private().open(folder.join(NAME)).map_err(from_io)?;
        Ok(Self { file, is_behind: false })
    }

    /// After a commit. What fails here loses nothing: an older pin is still one.
    pub(super) fn put(&mut self, head: Head) {
        if let Err(error) = self.write(head)
            && !std::mem::replace(&mut self.is_behind, true)
        {
            tracing::warn!(%error, "{NAME} can not be written: an audit knows less");
        }
    }

    /// The same, on disk. `false`: it failed.
    pub(super) fn close(&mut self, head: Head) -> bool {
        self.put(head);
        let written = self.write(head).and_then(|()| self.file.sync_all());
        written.is_ok()
    }

    /// One line of a length that never changes, so that it is overwritten in its place.
    fn write(&self, head: Head) -> io::Result<()> {
        self.file.write_all_at(format!("{:>20} {}\n", head.events, head.hash).as_bytes(), 0)
    }
}

/// The pin that is there. Read once more where it makes no sense: a server may just be writing it.
fn read(path: &Path) -> Result<Option<Head>, Error> {
    for _ in 0..READS {
        match fs::read_to_string(path) {
            // Made, and the process ended before it was written.
            Ok(text) if text.is_empty() => return Ok(None),
            Ok(text) => {
                if let Some(head) = parse(&text) {
                    return Ok(Some(head));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {}
            Err(error) => return Err(from_io(error)),
        }
    }
    Err(Error::Corrupt(format!("{} is not readable: remove it to go on", path.display())))
}

fn parse(text: &str) -> Option<Head> {
    let (events, hash) = text.trim().split_once(' ')?;
    Some(Head { events: events.parse().ok()?, hash: hash.to_owned().try_into().ok()? })
}

/// For an audit, beside or without a server. `is_stopped`: no server has the folder.
pub(super) fn problems(
    folder: &Path,
    connection: &Connection,
    is_stopped: bool,
) -> Result<Vec<String>, Error> {
    match Evidence::gather(folder, &database_of(folder)) {
        Ok(evidence) => {
            let is_closed = is_stopped && is_closed(connection)?;
            evidence.problems(connection, is_closed)
        }
        Err(Error::Corrupt(why)) => Ok(vec![why]),
        Err(error) => Err(error),
    }
}

/// Says in the database that a server has it, or that it was closed.
pub(super) fn set_open(connection: &Connection, open: u8) -> Result<(), Error> {
    connection.execute("UPDATE meta SET value = ?1 WHERE name = 'open'", [open])?;
    Ok(())
}

fn is_closed(connection: &Connection) -> Result<bool, Error> {
    let open: u64 = value(connection, "open")?.unwrap_or(0);
    Ok(open == 0)
}

fn noted_without_log(connection: &Connection) -> Result<Option<u64>, Error> {
    value(connection, WITHOUT_LOG)
}

fn value(connection: &Connection, name: &str) -> Result<Option<u64>, Error> {
    let sql = "SELECT value FROM meta WHERE name = ?1";
    let found = connection.query_row(sql, [name], |row| super::column::number(row, 0)).optional()?;
    Ok(found)
}

/// Whether there is a log with something in it.
pub(super) fn has_log(database: &Path) -> bool {
    fs::metadata(log_of(database)).is_ok_and(|log| log.len() > 0)
}

/// Whether the header of the file names the write-ahead log: <https://www.sqlite.org/fileformat2.html>, offset 18.
fn wants_log(database: &Path) -> io::Result<bool> {
    const WRITE_VERSION: u64 = 18;
    const LOG: u8 = 2;
    let mut version = [0];
    match File::open(database)?.read_exact_at(&mut version, WRITE_VERSION) {
        Ok(()) => Ok(version == [LOG]),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// The file of a database's log.
pub(super) fn log_of(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push("-wal");
    PathBuf::from(path)
}
