//! The store's tests: one conformance suite on every store, and a differential test between them. Further tests cover
//! promises of SQLite only (locks, crashes, disks) and of PostgreSQL only (nodes, lost connections).
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
