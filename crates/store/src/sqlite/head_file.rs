//! The head file in the data folder, which records the number of events in the journal and their hash. With the head
//! file, Holdshort detects if the database was replaced by an older one, or if SQLite's write-ahead log was lost.
//!
//! The head file is written after each commit, and flushed to disk when the journal is closed. Therefore the database
//! has at least as many events as the head file records. If the database was closed, it has exactly this number of
//! events. The head file gives no protection against a person who can write both files. To detect changes by such a
//! person, keep a copy of the head outside the data folder.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use holdshort_core::head::Head;
use rusqlite::{Connection, OptionalExtension};

use super::error::from_io;
use super::files::{LogState, Unopened};
use super::schema::Layout;
use super::{chain, column, rescue, schema, upgrade};
use crate::folder::private;
use crate::journal::Error;

const NAME: &str = "holdshort.head";
/// Maximum number of attempts to read a complete line from the head file.
const READS: u32 = 3;
/// Name of a row in the table `meta`, which records that the write-ahead log was missing, so that the last writes may
/// be missing. Its value is the number of events when the journal was opened.
const WITHOUT_LOG: &str = "without_log";
/// Name of a row in the table `meta`, which records that the head file was missing after the server was killed, so that
/// the last writes may be missing. Its value is the number of events when the journal was opened.
const WITHOUT_HEAD_FILE: &str = "without_pin";
/// Name of the row in the table `meta` with the number of missing events that the operator accepted with `accept_loss`.
const LOST: &str = "lost";
/// Name of the row in the table `meta` with the number of events that were left after the first accepted loss.
const LOST_AFTER: &str = "lost_after";

/// Head file of a data folder, which is open for writing.
#[derive(Debug)]
pub(super) struct HeadFile {
    file: File,
    /// True after a write of the head file has failed. Only the first of several failures is logged.
    is_behind: bool,
}

/// Data from which missing events are detected: the journal's head in the head file, and the state of `SQLite`'s
/// write-ahead log.
pub(super) struct Evidence {
    folder: PathBuf,
    recorded: Option<Head>,
    log: LogState,
}

/// Difference between a database and its head file, which shows that events are missing.
pub(super) struct Contradiction {
    why: String,
    /// Number of events in the database that agree with the head file.
    left: u64,
    /// Largest possible number of acknowledged events that are missing.
    lost: u64,
}

impl Evidence {
    /// Reads the data from which missing events are detected. Must be called before SQLite opens the database, because
    /// SQLite then creates an empty write-ahead log.
    pub(super) fn gather(unopened: Unopened<'_>) -> Result<Self, Error> {
        let folder = unopened.files().folder().to_owned();
        let log = unopened.log_state().map_err(from_io)?;
        Ok(Self { recorded: read(&folder)?, folder, log })
    }

    /// Rejects a database with an unknown schema version, and a database that does not agree with its head file.
    /// `accept_loss` is the number of missing events that the operator accepts. Changes nothing.
    pub(super) fn check(
        &self,
        database: &Path,
        accept_loss: Option<u64>,
    ) -> Result<Option<Contradiction>, Error> {
        let found = schema::look(database, self.log == LogState::There)?;
        let Some(recorded) = self.recorded else { return Ok(None) };
        let connection = &found.connection;
        let (head, at) = match found.layout {
            Layout::Nothing => (Head::START, (recorded.events == 0).then_some(Head::START)),
            Layout::Events => upgrade::heads_of_events(connection, recorded.events)?,
            Layout::ChainedEvents => upgrade::heads_of_chained_events(connection, recorded.events)?,
            Layout::Appends => (chain::head(connection)?, chain::head_at(connection, recorded.events)?),
        };
        let is_closed = found.layout == Layout::Nothing || is_closed(connection)?;
        let Some(found) = contradiction(recorded, head, at, is_closed) else { return Ok(None) };
        if accept_loss == Some(found.lost) {
            tracing::warn!(lost = found.lost, "{}; the loss was accepted", found.why);
            return Ok(Some(found));
        }
        Err(Error::Corrupt(self.describe(&found)))
    }

    /// Describes how many events are missing, and where copies of the journal are.
    fn describe(&self, found: &Contradiction) -> String {
        let Contradiction { why, left, lost } = found;
        let would_lose = match lost {
            0 => String::new(),
            _ => format!(
                "; a server that starts with this database lacks {} after event {left}, for example \
                    acknowledged interrupts, decisions and started commands",
                count_events(*lost)
            ),
        };
        let path = self.folder.join(NAME);
        let path = path.display();
        let shown = |copy: String| {
            format!("; first check the copy that a server made, {}", self.folder.join(copy).display())
        };
        let copies = rescue::copies(&self.folder).into_iter().map(shown).collect::<Vec<_>>().concat();
        format!(
            "{why} ({path}){would_lose}{copies}; restore a backup, or accept the loss with `serve \
            --accept-loss {lost}`; every later audit reports an accepted loss"
        )
    }

    /// Returns true if the database was copied without its write-ahead log while a server used it. Acknowledged events
    /// may then be missing. Returns false if there is a head file, because a comparison with it detects missing events.
    fn is_without_log(&self, connection: &Connection) -> Result<bool, Error> {
        Ok(self.recorded.is_none() && self.log == LogState::Missing && !is_closed(connection)?)
    }

    /// Returns true if the head file is missing, although the database has a write-ahead log and was not closed
    /// properly. The server was then killed, or the files were copied while it was running.
    fn is_without_pin(&self, connection: &Connection) -> Result<bool, Error> {
        Ok(self.recorded.is_none() && self.log == LogState::There && !is_closed(connection)?)
    }

    /// Records in the database that events are missing, or may be missing, so that every audit reports it.
    pub(super) fn write_notes(
        &self,
        connection: &Connection,
        loss: Option<&Contradiction>,
    ) -> Result<(), Error> {
        let events = chain::head(connection)?.events;
        let once = "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        if self.is_without_log(connection)? {
            tracing::warn!(events, "{}", without_log(events));
            connection.execute(once, rusqlite::params![WITHOUT_LOG, column::Number(events)])?;
        }
        if self.is_without_pin(connection)? {
            tracing::warn!(events, "{}", without_head_file(events));
            connection.execute(once, rusqlite::params![WITHOUT_HEAD_FILE, column::Number(events)])?;
        }
        if let Some(Contradiction { left, lost, .. }) = loss {
            let sum = "INSERT INTO meta (name, value) VALUES (?1, ?2)
                       ON CONFLICT (name) DO UPDATE SET value = value + excluded.value";
            connection.execute(sum, rusqlite::params![LOST, column::Number(*lost)])?;
            connection.execute(once, rusqlite::params![LOST_AFTER, column::Number(*left)])?;
        }
        Ok(())
    }
}

/// Returns the notes in the database about events that are or may be missing.
pub(super) fn notes(connection: &Connection) -> Result<Vec<String>, Error> {
    let mut notes: Vec<String> = value(connection, WITHOUT_LOG)?.map(without_log).into_iter().collect();
    notes.extend(value(connection, WITHOUT_HEAD_FILE)?.map(without_head_file));
    if let (Some(lost), Some(after)) = (value(connection, LOST)?, value(connection, LOST_AFTER)?) {
        let (were, are) = if lost == 1 { ("was", "is") } else { ("were", "are") };
        notes.push(format!(
            "{} that {were} acknowledged after event {after} {are} missing: a server was started with \
             --accept-loss",
            count_events(lost)
        ));
    }
    Ok(notes)
}

/// Compares a database with its head file. `recorded` is the head in the head file. `head` is the present head of the
/// database. `at` is the head of the database after its first `recorded.events` events.
fn contradiction(recorded: Head, head: Head, at: Option<Head>, is_closed: bool) -> Option<Contradiction> {
    let (there, expected) = (head.events, recorded.events);
    let has = count_events(there);
    let were = if expected == 1 { "was" } else { "were" };
    if there < expected {
        let why = format!(
            "the database has {has}, but {expected} {were} written: it is an older copy, its write-ahead log is \
             missing, or its last events were removed"
        );
        Some(Contradiction { why, left: there, lost: expected - there })
    } else if at != Some(recorded) {
        let why = match expected {
            1 => "the first event of the database differs from the event that was written".to_owned(),
            _ => format!("the first {expected} events of the database differ from those that were written"),
        };
        Some(Contradiction { why, left: 0, lost: expected })
    } else if is_closed && there > expected {
        let why = format!(
            "the database has {has}, but Holdshort recorded only {expected}: another program wrote the rest, or \
             {NAME} is an older copy"
        );
        Some(Contradiction { why, left: expected, lost: 0 })
    } else {
        None
    }
}

fn count_events(events: u64) -> String {
    if events == 1 { "1 event".to_owned() } else { format!("{events} events") }
}

fn without_log(events: u64) -> String {
    format!(
        "the last writes may be missing, because the database was copied without its write-ahead log when \
        it had {}",
        count_events(events)
    )
}

fn without_head_file(events: u64) -> String {
    format!(
        "the last writes may be missing, because the journal of a killed server was opened without {NAME} \
        when it had {}",
        count_events(events)
    )
}

impl HeadFile {
    pub(super) fn open(folder: &Path) -> Result<Self, Error> {
        let file = private().open(folder.join(NAME)).map_err(from_io)?;
        Ok(Self { file, is_behind: false })
    }

    /// Writes the head of the journal to the head file, after a commit. A failure loses no event: the file still
    /// records an older head, which is valid.
    pub(super) fn put(&mut self, head: Head) {
        if let Err(error) = self.write(head)
            && !std::mem::replace(&mut self.is_behind, true)
        {
            tracing::warn!(%error, "{NAME} cannot be written, so an audit may not detect lost events");
        }
    }

    /// Writes the head file and flushes it to disk. Returns false if the write or the flush failed.
    pub(super) fn close(&mut self, head: Head) -> bool {
        self.put(head);
        let written = self.write(head).and_then(|()| self.file.sync_all());
        written.is_ok()
    }

    /// Overwrites the single line of the head file. All versions of the line have the same length.
    fn write(&self, head: Head) -> io::Result<()> {
        self.file.write_all_at(format!("{:>20} {}\n", head.events, head.hash).as_bytes(), 0)
    }
}

/// Reads the head file of a folder. If the content is malformed, reads the file again, because a server may just be
/// writing it.
pub(super) fn read(folder: &Path) -> Result<Option<Head>, Error> {
    let path = folder.join(NAME);
    for _ in 0..READS {
        match fs::read_to_string(&path) {
            // If the server ended between the creation of the file and the first write, the file is empty.
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
    Err(Error::Corrupt(format!(
        "{} cannot be read, so missing events cannot be detected; copy the folder without this file, \
        compare `audit head` of the copy with a head that you noted earlier, and then remove the file",
        path.display()
    )))
}

fn parse(text: &str) -> Option<Head> {
    let (events, hash) = text.trim().split_once(' ')?;
    Some(Head { events: events.parse().ok()?, hash: hash.to_owned().try_into().ok()? })
}

/// Returns the problems that the head file reveals, for an audit. `log` is `None` if this process has opened the
/// journal for writing.
pub(super) fn problems(
    folder: &Path,
    connection: &Connection,
    log: Option<LogState>,
) -> Result<Vec<String>, Error> {
    let recorded = match read(folder) {
        Ok(recorded) => recorded,
        Err(Error::Corrupt(why)) => return Ok(vec![why]),
        Err(error) => return Err(error),
    };
    let is_closed = log.is_some() && is_closed(connection)?;
    let mut problems: Vec<String> = contradiction_in(connection, recorded, is_closed)?.into_iter().collect();
    let notes = notes(connection)?;
    // Skipped if the database has notes, because the notes already report the same problem.
    if let Some(log) = log.filter(|_| notes.is_empty()) {
        let evidence = Evidence { folder: folder.to_owned(), recorded, log };
        let events = chain::head(connection)?.events;
        if evidence.is_without_log(connection)? {
            problems.push(without_log(events));
        } else if evidence.is_without_pin(connection)? {
            problems.push(without_head_file(events));
        }
    }
    problems.extend(notes);
    Ok(problems)
}

/// Compares a database of the current schema version with its head file. For a closed database, both must have the same
/// number of events.
pub(super) fn contradiction_in(
    connection: &Connection,
    recorded: Option<Head>,
    is_closed: bool,
) -> Result<Option<String>, Error> {
    let Some(recorded) = recorded else { return Ok(None) };
    let at = chain::head_at(connection, recorded.events)?;
    Ok(contradiction(recorded, chain::head(connection)?, at, is_closed).map(|found| found.why))
}

/// Records in the database that a server uses the journal (1) or that the journal was closed (0).
pub(super) fn set_open(connection: &Connection, open: u8) -> Result<(), Error> {
    connection.execute("UPDATE meta SET value = ?1 WHERE name = 'open'", [open])?;
    Ok(())
}

fn is_closed(connection: &Connection) -> Result<bool, Error> {
    let open: u64 = value(connection, "open")?.unwrap_or(0);
    Ok(open == 0)
}

fn value(connection: &Connection, name: &str) -> Result<Option<u64>, Error> {
    let sql = "SELECT value FROM meta WHERE name = ?1";
    let found = connection.query_row(sql, [name], |row| super::column::number(row, 0)).optional()?;
    Ok(found)
}
