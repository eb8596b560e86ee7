//! The hand-written loop: what a careful person writes with axum and SQLite for this one purpose. The yardstick.
//!
//! It answers the same addresses as Holdshort with as many durable commits per cycle, and does nothing else: no
//! journal, no hash chain, no projections, no idempotency, no workflows. Start at `desk.rs`.

mod desk;
mod in_process;
mod serve;
mod waiters;
mod writer;

pub(crate) use in_process::in_process;
pub(crate) use serve::{Options, serve};
