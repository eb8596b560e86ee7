//! Tests of the stores: a conformance suite for every store, and a differential test that compares them. Further tests
//! cover only SQLite (locks, crashes, disks) or only PostgreSQL (nodes, lost connections).
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
