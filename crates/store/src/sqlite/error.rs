//! Converts errors of SQLite and the file system to errors of the store, about which a user interface can give advice.

use std::io::ErrorKind;

use rusqlite::ErrorCode;

use crate::journal::Error;

/// `SQLITE_IOERR_SHMSIZE`: the index of the write-ahead log could not grow, because the disk is full.
const CANNOT_GROW: i32 = rusqlite::ffi::SQLITE_IOERR_SHMSIZE;

/// The writer thread panicked. The process ends soon after this.
#[derive(Debug, thiserror::Error)]
#[error("the writer of the journal stopped unexpectedly, so it is unknown whether the write succeeded")]
pub(super) struct WriterDied;

impl From<WriterDied> for Error {
    fn from(error: WriterDied) -> Self {
        Self::Io(Box::new(error))
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        if let rusqlite::Error::SqliteFailure(failure, _) = &error {
            match failure.code {
                ErrorCode::DiskFull => return Self::Full,
                ErrorCode::SystemIoFailure if failure.extended_code == CANNOT_GROW => return Self::Full,
                ErrorCode::ReadOnly => return Self::ReadOnly,
                ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
                    return Self::Corrupt(error.to_string());
                }
                _ => {}
            }
        }
        match error {
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..) => Self::Corrupt(error.to_string()),
            error => Self::Io(Box::new(error)),
        }
    }
}

/// Converts an error of the file system that occurred when a file or folder was opened.
pub(crate) fn from_io(error: std::io::Error) -> Error {
    match error.kind() {
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => Error::ReadOnly,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::Full,
        _ => Error::Io(Box::new(error)),
    }
}

/// Returns a copy of the error. Every append of a failed group gets one.
pub(super) fn again(error: &Error) -> Error {
    match error {
        Error::Full => Error::Full,
        Error::ReadOnly => Error::ReadOnly,
        Error::InUse => Error::InUse,
        Error::Nodes(names) => Error::Nodes(names.clone()),
        Error::FromTheFuture { found, known } => Error::FromTheFuture { found: *found, known: *known },
        Error::OlderNodes { others, least } => Error::OlderNodes { others: others.clone(), least: *least },
        Error::Outdated { found, known } => Error::Outdated { found: *found, known: *known },
        Error::Corrupt(what) => Error::Corrupt(what.clone()),
        Error::FilesReplaced(why) => Error::FilesReplaced(why.clone()),
        Error::Io(source) => Error::Io(source.to_string().into()),
        Error::Closed => Error::Closed,
        Error::BadCursor => Error::BadCursor,
    }
}
