//! The hand-written loop, the baseline of the bench: the code that a careful person writes with axum and a
//! database for this one purpose.
//!
//! The loop has the same addresses as Holdshort, and no journal, hash chain, projections, idempotency or workflows.
//! In SQLite it makes as many durable commits per cycle as Holdshort, in PostgreSQL three transactions. Start reading
//! at `desk.rs`.

mod desk;
mod in_process;
mod postgres;
mod serve;
mod sqlite;
mod store;
mod waiters;

pub(crate) use in_process::in_process;
pub(crate) use serve::{Options, serve};
pub(crate) use store::Database;
