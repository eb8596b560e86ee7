//! The hand-written loop, which is the baseline of the bench: code that a careful developer would write with axum and a
//! database for this single purpose.
//!
//! The loop serves the same URLs as Holdshort, without journal, hash chain, projections, idempotency or workflows. In
//! SQLite, it makes as many durable commits per cycle as Holdshort. In PostgreSQL, it makes three transactions per
//! cycle. Start reading at `desk.rs`.

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
