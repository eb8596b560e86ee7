//! The whole journal: events, rows, leases, contents of files, and notifications to send (design, parts 3 and 5). One
//! conformance suite checks it.

use crate::bodies::Bodies;
use crate::leases::Leases;
use crate::log::Log;
use crate::outbox::Outbox;
use crate::tables::Tables;

/// A store: everything that a node needs to keep its journal.
pub trait Journal: Log + Tables + Leases + Bodies + Outbox {}

impl<T: Log + Tables + Leases + Bodies + Outbox> Journal for T {}

/// Error of the store itself. Each variant is typed so that a user interface can say what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the disk is full: nothing was written")]
    Full,
    #[error("the data folder is read-only: nothing was written")]
    ReadOnly,
    #[error("another server uses this data folder")]
    InUse,
    #[error("the database is in use by {0}")]
    Nodes(String),
    #[error("the database has schema version {found}; this binary knows {known}: update it")]
    FromTheFuture { found: u32, known: u32 },
    #[error(
        "the database has schema version {found}, and this binary reads version {known}: start its server once, which brings it up to date"
    )]
    Outdated { found: u32, known: u32 },
    #[error(
        "{others} still work with this database, and cannot with schema version {least}: stop them first"
    )]
    OlderNodes { others: String, least: u32 },
    #[error("the database is damaged: {0}")]
    Corrupt(String),
    /// A file of the journal was deleted or replaced while the journal was open. The write may still have succeeded.
    #[error("whether this was written is not known: {0}")]
    FilesReplaced(String),
    #[error("the store failed: {0}")]
    Io(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the store is shut down")]
    Closed,
    #[error("this is not a cursor of this list: start without one")]
    BadCursor,
}
