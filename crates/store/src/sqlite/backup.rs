//! Copies a journal, also while a server uses it. A complete copy is a valid data folder. An interrupted copy contains
//! no database.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use holdshort_core::head::Head;
use rusqlite::Connection;

use super::error::from_io;
use super::files::Files;
use super::head_file::{self, HeadFile};
use super::{chain, schema, wal};
use crate::folder::{self, private};
use crate::journal::Error;

/// File name of the copied database while the copy is incomplete. With this name, no server can start from an
/// interrupted copy.
const UNFINISHED: &str = "holdshort.db.unfinished";
/// Name of a file that marks a folder as a copy from which no server has been started. The file contains the timestamp
/// of the copy.
const MADE: &str = "holdshort.backup";

/// Reason why no copy of a journal was made.
#[derive(Debug, thiserror::Error)]
pub enum NotCopied {
    #[error("the folder is not empty")]
    NotEmpty,
    #[error(transparent)]
    Store(#[from] Error),
}

/// Copies the journal of the folder `from` into the folder `into`, which must be empty or missing. Returns the head of
/// the copied journal. All data is read from one snapshot. A server can use the journal at the same time without delay.
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
    // The head file is read first. Therefore it is never ahead of the database.
    let pinned = head_file::read(from)?;
    let journal = schema::lone_reader(&files.database(), lock.is_none() || files.has_log())?;
    // If the files were replaced while a server is running, that server uses other files than this function reads.
    if let Some(why) = head_file::contradiction_in(&journal, pinned, false)? {
        return Err(Error::Corrupt(why).into());
    }
    if !folder::make_empty(into)? {
        return Err(NotCopied::NotEmpty);
    }
    let copied = copy(&journal, into);
    if copied.is_err() {
        // An error of this clean-up is ignored, because the error of the copy is returned.
        let _ = fs::remove_file(into.join(UNFINISHED));
    }
    Ok(copied?)
}

/// Copies the database to which the connection belongs into an empty folder, and returns the head of the copied
/// journal.
pub(super) fn copy(journal: &Connection, into: &Path) -> Result<Head, Error> {
    let unfinished = into.join(UNFINISHED);
    // `VACUUM INTO` accepts an existing empty file and keeps the file's mode.
    private().open(&unfinished).map_err(from_io)?;
    journal.execute("VACUUM INTO ?1", [path_of(&unfinished)?])?;
    let head = close(&unfinished)?;
    if !HeadFile::open(into)?.close(head) {
        return Err(Error::Io(format!("the head file in {} cannot be written", into.display()).into()));
    }
    fs::write(into.join(MADE), format!("{}\n", super::now())).map_err(from_io)?;
    fs::rename(&unfinished, Files::in_folder(into).database()).map_err(from_io)?;
    File::open(into).and_then(|folder| folder.sync_all()).map_err(from_io)?;
    Ok(head)
}

/// Returns the timestamp of a copied journal from which no server has been started yet. Returns `None` for any other
/// folder. Such a copy lacks the later events of the original journal.
pub fn copied_at(folder: &Path) -> Result<Option<String>, Error> {
    match fs::read_to_string(folder.join(MADE)) {
        Ok(at) => Ok(Some(at.trim().to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(from_io(error)),
    }
}

/// Removes the file that marks a folder as a copy, because a server has been started from the copy.
pub fn taken_up(folder: &Path) -> Result<(), Error> {
    fs::remove_file(folder.join(MADE)).map_err(from_io)
}

/// Marks the copied database as closed, and returns the head of its journal. The head file of a closed database must
/// record exactly as many events as the database has.
fn close(database: &Path) -> Result<Head, Error> {
    let copy = Connection::open(database)?;
    head_file::set_open(&copy, 0)?;
    let head = chain::head(&copy)?;
    copy.close().map_err(|(_, error)| error)?;
    File::open(database).and_then(|file| file.sync_all()).map_err(from_io)?;
    Ok(head)
}

fn path_of(path: &Path) -> Result<&str, Error> {
    path.to_str().ok_or_else(|| Error::Io(format!("{} is not UTF-8", path.display()).into()))
}
