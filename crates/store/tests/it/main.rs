//! The store's tests: one conformance suite on every store, a differential test between them, and what only
//! SQLite (locks, crashes, disks) and only PostgreSQL (nodes, lost connections) promise.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod bodies;
mod conformance;
mod differential;
mod fixture;
mod leases;
mod lists;
mod older;
mod outbox;
mod postgres;
mod sqlite;
mod subject;
