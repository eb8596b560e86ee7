//! Copy of a journal whose files were deleted or replaced while it was open. SQLite still reads them through its open
//! descriptors, until the process ends.

use std::fs;
use std::time::{Duration, Instant};

use holdshort_core::head::Head;
use rusqlite::Connection;

use super::backup;
use super::files::Files;
use super::status::{Copy, Status};
use crate::folder;
use crate::journal::Error;

/// Prefix of the folders of copies; a number follows.
pub(super) const NAME: &str = "holdshort.rescued-";
/// Pause after a copy that failed.
const PAUSE: Duration = Duration::from_secs(5);

/// Copies the journal of a displaced writer into a new data folder within its own, once. Tries again after a pause if
/// the copy fails.
pub(super) fn run(status: &Status, connection: &Connection, head: Head) {
    run_after(PAUSE, status, connection, head);
}

/// Copies the journal before the process ends, also right after a copy that failed.
pub(super) fn run_last(status: &Status, connection: &Connection, head: Head) {
    run_after(Duration::ZERO, status, connection, head);
}

fn run_after(pause: Duration, status: &Status, connection: &Connection, head: Head) {
    match status.copy() {
        Some(Copy::Pending) => {}
        Some(Copy::Failed { at, .. }) if at.elapsed() >= pause => {}
        // Another program may have deleted the copy too.
        Some(Copy::Made { folder, .. })
            if matches!(Files::in_folder(&folder).database().try_exists(), Ok(false)) => {}
        Some(Copy::Failed { .. } | Copy::Made { .. }) | None => return,
    }
    status.set_copy(copy(status, connection, head).unwrap_or_else(|error| {
        tracing::error!(%error, "the journal could not be copied: only this process has its last events");
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
                "the copy has {found} events, but its end does not match the {written} written events"
            )))
        }
    });
    match &copied {
        Ok(_) => tracing::error!(
            folder = %into.display(), events = head.events,
            "the journal was copied to {}: stop this server and serve the copy", into.display()
        ),
        // An incomplete copy has no use; the next attempt makes another one.
        Err(_) => drop(fs::remove_dir_all(&into)),
    }
    copied
}

/// Rejects a folder whose database is gone and that contains a copy saved by a server. Otherwise the server would start
/// with an empty journal.
pub(super) fn refuse_empty(files: &Files) -> Result<(), Error> {
    let copies = copies(files.folder());
    if copies.is_empty() || files.database().exists() {
        return Ok(());
    }
    Err(Error::Corrupt(format!(
        "the database is missing, but a server saved its journal in {}: serve that folder (`--data`), or \
        move it elsewhere",
        copies.join(", ")
    )))
}

/// Returns the names of the copies in a data folder.
pub(super) fn copies(folder: &std::path::Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with(NAME))
        .collect();
    names.sort();
    names
}
