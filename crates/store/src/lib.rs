//! The stores of the journal. Five small traits describe a store, and there are implementations in memory, with SQLite
//! and with PostgreSQL.
//!
//! A store contains events with their hashes, unique keys and blobs. A store also contains rows, which can be rebuilt
//! from the events. A store never interprets an event. Read [`Log`], [`Tables`], [`Leases`], [`Bodies`] and [`Outbox`]
//! first. Together these traits define what a store must do. `tests/it/conformance.rs` tests all stores against this
//! definition. For the SQL stores, `packed_append.rs` describes how events are stored, `table.rs` how rows are stored,
//! and `index_scan.rs` how lists of rows are read.

mod bodies;
mod check;
mod cursor;
mod folder;
mod index_scan;
mod journal;
mod leases;
mod log;
mod memory;
mod outbox;
mod packed_append;
pub mod postgres;
pub mod sqlite;
mod store;
mod table;
mod tables;

pub use bodies::Bodies;
pub use cursor::{behind_interrupt, behind_run};
pub use journal::{Error, Journal};
pub use leases::{Lease, Leases, NodeRow};
pub use log::{
    Append, AppendError, Appended, Blob, CONTENT_INLINE_LIMIT, Change, Key, Link, Log, Positioned,
    StreamAppend,
};
pub use memory::Memory;
pub use outbox::{
    CHANNEL_PAUSE, Claim, DeliveryChange, DeliveryFilter, Failing, Outbox, SettleOutcome, Settled,
};
pub use postgres::Postgres;
pub use sqlite::Sqlite;
pub use store::{Location, Store};
pub use table::Row;
pub use tables::{
    AnswerFilter, Cursor, Due, GrantFilter, InterruptFilter, Page, Rows, RunFilter, Search, SessionFilter,
    Tables,
};
