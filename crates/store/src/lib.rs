//! The journal's stores: one small trait, an implementation in memory and one in SQLite.
//!
//! A store keeps sealed bytes, unique keys and blobs, and beside them rows that can be rebuilt. It never
//! interprets an event. Read [`Journal`] first: it is the whole promise; `tests/it/conformance.rs` checks it.

mod check;
mod cursor;
mod journal;
mod memory;
pub mod sqlite;

pub use journal::{
    Append, AppendError, Appended, Blob, CONTENT_INLINE_LIMIT, Cursor, Error, GrantFilter, InterruptFilter,
    Journal, Key, KeyRecord, Page, Positioned, Rows, RunFilter, StreamAppend,
};
pub use memory::Memory;
pub use sqlite::Sqlite;
