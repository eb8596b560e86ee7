//! The hand-written loop: what a careful person writes with axum and a database for this one purpose. The yardstick.
//!
//! It answers the same addresses as Holdshort, in SQLite with as many durable commits per cycle, in PostgreSQL with
//! three transactions, and does nothing else: no journal, no hash chain, no projections, no idempotency, no workflows. Start at `desk.rs`.

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
