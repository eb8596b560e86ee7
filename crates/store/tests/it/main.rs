//! The store's tests: one conformance suite on every store, a differential test between them, and what only
//! SQLite promises (locks, crashes, disks).
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod conformance;
mod differential;
mod fixture;
mod lists;
mod sqlite;
mod subject;
