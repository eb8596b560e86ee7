//! The journal's stores: one small trait, implemented in memory, in SQLite and in PostgreSQL.
//!
//! A store keeps sealed bytes, unique keys and blobs, and beside them rows that can be rebuilt. It never
//! interprets an event. Read [`Journal`] first: it is the whole promise; `tests/it/conformance.rs` checks it.

mod check;
mod cursor;
mod folder;
mod journal;
mod memory;
pub mod postgres;
pub mod sqlite;
mod store;

pub use journal::{
    Append, AppendError, Appended, Blob, CONTENT_INLINE_LIMIT, Change, Cursor, Due, Error, GrantFilter,
    InterruptFilter, Journal, Key, Lease, Link, NodeRow, Page, Positioned, Rows, RunFilter, SessionFilter,
    StreamAppend,
};
pub use memory::Memory;
pub use postgres::Postgres;
pub use sqlite::Sqlite;
pub use store::{Location, Store};
