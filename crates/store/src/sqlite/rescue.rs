//! Makes a rescue copy of a journal if its files were deleted or replaced while it was open. Until the process ends,
//! SQLite can still read the old files through its open file descriptors.

use std::fs;
use std::time::{Duration, Instant};

use holdshort_core::head::Head;
use rusqlite::Connection;

use super::backup;
use super::files::Files;
use super::status::{Copy, Status};
use crate::folder;
use crate::journal::Error;

/// Beginning of the names of folders with rescue copies. A number follows this beginning.
pub(super) const NAME: &str = "holdshort.rescued-";
/// Minimum time between two attempts to make a rescue copy.
const PAUSE: Duration = Duration::from_secs(5);

/// Copies the journal into a new folder inside its data folder, if the files of the journal were deleted or replaced.
/// Does nothing if there is a copy already. After a failure, the first call after [`PAUSE`] tries again.
pub(super) fn run(status: &Status, connection: &Connection, head: Head) {
    run_after(PAUSE, status, connection, head);
}

/// Makes a rescue copy as [`run`] does, directly before the process ends. After a failed attempt, tries again without a
/// pause.
pub(super) fn run_last(status: &Status, connection: &Connection, head: Head) {
    run_after(Duration::ZERO, status, connection, head);
}

fn run_after(pause: Duration, status: &Status, connection: &Connection, head: Head) {
    match status.copy() {
        Some(Copy::Pending) => {}
        Some(Copy::Failed { at, .. }) if at.elapsed() >= pause => {}
        // If the rescue copy itself was deleted, another copy is made.
        Some(Copy::Made { folder, .. })
            if matches!(Files::in_folder(&folder).database().try_exists(), Ok(false)) => {}
        Some(Copy::Failed { .. } | Copy::Made { .. }) | None => return,
    }
    status.set_copy(copy(status, connection, head).unwrap_or_else(|error| {
        tracing::error!(%error, "the journal could not be copied, so only this process has its last events");
        Copy::Failed { why: error.to_string(), at: Instant::now() }
    }));
}

fn copy(status: &Status, connection: &Connection, head: Head) -> Result<Copy, Error> {
    let within = status.files().files().folder();
    let free = (1..u32::MAX).map(|number| within.join(format!("{NAME}{number}"))).find(|path| !path.exists());
    let into = free.unwrap_or_else(|| within.join(NAME));
    folder::make_empty(&into)?;
    let copied = backup::copy(connection, &into).and_then(|copied| {
        if copied == head {
            Ok(Copy::Made { folder: into.clone(), events: copied.events })
        } else {
            let (found, written) = (copied.events, head.events);
            Err(Error::Corrupt(format!(
                "the copy ends with event {found}, which does not match the written event {written}"
            )))
        }
    });
    match &copied {
        Ok(_) => tracing::error!(
            folder = %into.display(), events = head.events,
            "the journal was copied to {}; stop this server and start a server from the copy", into.display()
        ),
        // An incomplete copy is useless, so it is deleted. The next attempt makes another copy.
        Err(_) => drop(fs::remove_dir_all(&into)),
    }
    copied
}

/// Rejects a data folder that contains a rescue copy but no database. Otherwise a server would start there with an
/// empty journal.
pub(super) fn refuse_empty(files: &Files) -> Result<(), Error> {
    let copies = copies(files.folder());
    if copies.is_empty() || files.database().exists() {
        return Ok(());
    }
    Err(Error::Corrupt(format!(
        "the database is missing, but a server saved its journal in {}; start the server from that folder \
        (`--data`), or move the folder elsewhere",
        copies.join(", ")
    )))
}

/// Returns the names of the rescue copies in a data folder.
pub(super) fn copies(folder: &std::path::Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with(NAME))
        .collect();
    names.sort();
    names
}
