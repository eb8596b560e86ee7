//! Group commit as seen from outside; `src/sqlite/writer/tests.rs` has one group from inside.

use std::sync::Arc;

use holdshort_store::{AppendError, Log, Sqlite};
use tempfile::TempDir;

use crate::fixture::{run_stream, to};

#[tokio::test(flavor = "multi_thread")]
async fn appends_that_conflict_spare_those_beside_them() {
    let folder = TempDir::new().unwrap();
    let store = Arc::new(Sqlite::open(folder.path()).unwrap());
    let tasks: Vec<_> = (0..200_u64)
        .map(|n| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { (n, store.append(to(&run_stream(n), n % 2, 1)).await) })
        })
        .collect();
    let mut positions = Vec::new();
    for task in tasks {
        match task.await.unwrap() {
            (n, Ok(appended)) if n % 2 == 0 => positions.push(appended.position),
            (n, Err(AppendError::Conflict { found: 0, .. })) if n % 2 == 1 => {}
            other => panic!("{other:?}"),
        }
    }
    positions.sort_unstable();
    assert_eq!(positions, (1..=100).collect::<Vec<_>>());
}

/// A queue that is full makes appends wait; none is lost or refused.
#[tokio::test(flavor = "multi_thread")]
async fn more_appends_than_the_queue_holds_all_commit() {
    let folder = TempDir::new().unwrap();
    let store = Arc::new(Sqlite::open(folder.path()).unwrap());
    let tasks: Vec<_> = (0..3000)
        .map(|n| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.append(to(&run_stream(n), 0, 1)).await.unwrap() })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(*store.watch().borrow(), 3000);
}
