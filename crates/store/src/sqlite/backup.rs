//! A copy of a journal, made beside the server that uses it: a data folder of its own, whole or not there at all.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use holdshort_core::head::Head;
use rusqlite::Connection;

use super::error::from_io;
use super::files::Files;
use super::pin::{self, Pin};
use super::{chain, schema, wal};
use crate::folder::{self, private};
use crate::journal::Error;

/// Until it is whole. A copy that was cut off holds no database.
const UNFINISHED: &str = "holdshort.db.unfinished";
/// Says that the folder is a copy, and of when, until a server has taken it up.
const MADE: &str = "holdshort.backup";

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum NotCopied {
    #[error("the folder is not empty")]
    NotEmpty,
    #[error(transparent)]
    Store(#[from] Error),
}

/// Copies the journal of `from`, as it is at one moment, into the folder `into`, which must be empty or not there. Answers
/// with the head of the copy. A server may use the journal meanwhile, and is not held up: it is read from a snapshot.
/// Blocks.
pub fn back_up(from: &Path, into: &Path) -> Result<Head, NotCopied> {
    let lock = match folder::claim_to_read(from) {
        Ok(lock) => Some(lock),
        Err(Error::InUse) => None,
        Err(error) => return Err(error.into()),
    };
    let files = Files::in_folder(from);
    if let Some(lock) = &lock {
        wal::check(files.unopened(lock))?;
    }
    // Before the database is read: the pin never runs ahead of it.
    let pinned = pin::read(from)?;
    let journal = schema::lone_reader(&files.database(), lock.is_none() || files.has_log())?;
    // A server whose files were replaced reads others than these.
    if let Some(why) = pin::contradiction_in(&journal, pinned, false)? {
        return Err(Error::Corrupt(why).into());
    }
    if !folder::make_empty(into)? {
        return Err(NotCopied::NotEmpty);
    }
    let copied = copy(&journal, into);
    if copied.is_err() {
        // What failed is told, not that it could not be tidied.
        let _ = fs::remove_file(into.join(UNFINISHED));
    }
    Ok(copied?)
}

/// Copies what the connection reads into an empty folder, and answers with the head of the copy.
pub(super) fn copy(journal: &Connection, into: &Path) -> Result<Head, Error> {
    let unfinished = into.join(UNFINISHED);
    // SQLite takes a file that is there and empty, and its mode.
    private().open(&unfinished).map_err(from_io)?;
    journal.execute("VACUUM INTO ?1", [path_of(&unfinished)?])?;
    let head = close(&unfinished)?;
    if !Pin::open(into)?.close(head) {
        return Err(Error::Io(format!("the pin in {} can not be written", into.display()).into()));
    }
    fs::write(into.join(MADE), format!("{}\n", super::now())).map_err(from_io)?;
    fs::rename(&unfinished, Files::in_folder(into).database()).map_err(from_io)?;
    File::open(into).and_then(|folder| folder.sync_all()).map_err(from_io)?;
    Ok(head)
}

/// When the folder was copied, where no server has taken the copy up yet. What happened after that is not in it.
pub fn copied_at(folder: &Path) -> Result<Option<String>, Error> {
    match fs::read_to_string(folder.join(MADE)) {
        Ok(at) => Ok(Some(at.trim().to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(from_io(error)),
    }
}

/// A server has taken it up.
pub fn taken_up(folder: &Path) -> Result<(), Error> {
    fs::remove_file(folder.join(MADE)).map_err(from_io)
}

/// No server has the copy, so it is exactly as long as its pin says.
fn close(database: &Path) -> Result<Head, Error> {
    let copy = Connection::open(database)?;
    pin::set_open(&copy, 0)?;
    let head = chain::head(&copy)?;
    copy.close().map_err(|(_, error)| error)?;
    File::open(database).and_then(|file| file.sync_all()).map_err(from_io)?;
    Ok(head)
}

fn path_of(path: &Path) -> Result<&str, Error> {
    path.to_str().ok_or_else(|| Error::Io(format!("{} is no UTF-8", path.display()).into()))
}
