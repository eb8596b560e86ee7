//! The whole journal: events, rows, leases, contents of files, and notifications to send. All stores are tested with
//! one set of conformance tests.

use crate::bodies::Bodies;
use crate::leases::Leases;
use crate::log::Log;
use crate::outbox::Outbox;
use crate::tables::Tables;

/// All traits that a store implements. A server process needs all of them.
pub trait Journal: Log + Tables + Leases + Bodies + Outbox {}

impl<T: Log + Tables + Leases + Bodies + Outbox> Journal for T {}

/// Error of the store. Each variant requires a different reaction of the user.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("nothing was written because the disk is full")]
    Full,
    #[error("nothing was written because the data folder is read-only")]
    ReadOnly,
    #[error("another server uses this data folder")]
    InUse,
    #[error("other programs use the database: {0}")]
    Nodes(String),
    #[error("the database has schema version {found}, but this binary only knows {known}: update Holdshort")]
    FromTheFuture { found: u32, known: u32 },
    #[error(
        "the database has schema version {found}, but this binary reads version {known}: start its server \
        once to upgrade the database"
    )]
    Outdated { found: u32, known: u32 },
    #[error(
        "these servers use the database, but do not support schema version {least}: {others}. Stop them first"
    )]
    OlderNodes { others: String, least: u32 },
    #[error("the database is damaged: {0}")]
    Corrupt(String),
    /// A file of the journal was deleted or replaced while the journal was open. It is unknown whether the last write
    /// succeeded.
    #[error("it is unknown whether the write succeeded: {0}")]
    FilesReplaced(String),
    #[error("the store failed: {0}")]
    Io(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the store is closed")]
    Closed,
    #[error("the cursor does not belong to this list: start without a cursor")]
    BadCursor,
}
