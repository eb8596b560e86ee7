//! Converts errors of PostgreSQL and of the connection to errors of the store, about which a user interface can give
//! advice. No error contains a password.

use deadpool_postgres::{HookError, PoolError};
use tokio_postgres::error::SqlState;

use crate::journal::Error;

/// Reason why this store does not support a database. [`Postgres::open`](super::Postgres::open) then fails with an
/// [`Error::Io`] that has this reason as its source.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Unsupported {
    /// The database address is invalid. The message does not repeat the address, because it may contain a password.
    #[error("the address of the database is invalid: write it as postgresql://user:password@host:port/name")]
    Address,
    #[error(
        "the database's address requires TLS, but this machine trusts no certificates ({0}): set \
        SSL_CERT_FILE to a file of trusted certificates"
    )]
    NoTrust(String),
    #[error("the database holds no journal")]
    NoJournal,
    #[error(
        "the journal was restored from another cluster; start a server with this database once, which makes \
        the journal readable here"
    )]
    Restored,
    #[error("this is PostgreSQL {found}; version {needed} or later is needed")]
    Version { found: u32, needed: u32 },
    #[error(
        "the database has the encoding {0}; UTF8 is needed: createdb --encoding UTF8 --template template0"
    )]
    Encoding(String),
}

impl From<Unsupported> for Error {
    fn from(error: Unsupported) -> Self {
        Self::Io(Box::new(error))
    }
}

/// The database did not respond in time.
#[derive(Debug, thiserror::Error)]
#[error("the database did not answer within {0:?}")]
pub(super) struct DatabaseTimeout(pub(super) std::time::Duration);

impl From<DatabaseTimeout> for Error {
    fn from(error: DatabaseTimeout) -> Self {
        Self::Io(Box::new(error))
    }
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.code() {
            Some(&SqlState::DISK_FULL) => Self::Full,
            Some(&SqlState::READ_ONLY_SQL_TRANSACTION) => Self::ReadOnly,
            Some(&(SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED)) => Self::Corrupt(error.to_string()),
            _ => Self::Io(Box::new(error)),
        }
    }
}

impl From<PoolError> for Error {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => error.into(),
            PoolError::Closed => Self::Closed,
            error => Self::Io(Box::new(error)),
        }
    }
}

/// Returns true if the transaction was rolled back because of a concurrent transaction. In this case, a retry can
/// succeed.
pub(super) fn is_race(error: &tokio_postgres::Error) -> bool {
    matches!(
        error.code(),
        Some(
            &(SqlState::T_R_SERIALIZATION_FAILURE
                | SqlState::T_R_DEADLOCK_DETECTED
                | SqlState::UNIQUE_VIOLATION)
        )
    )
}
