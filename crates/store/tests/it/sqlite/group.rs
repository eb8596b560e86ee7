//! Group commit, tested through the public API. `src/sqlite/writer/tests.rs` tests the jobs inside a group.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use holdshort_store::{AppendError, Log, Sqlite};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::fixture::{PATIENCE, run_stream, to};

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

/// Appends wait while the queue is full, and none is lost or rejected.
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

/// The number of waiting jobs excludes jobs that the writer is executing.
#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_the_writer_is_counted() {
    async fn until(is_so: impl Fn() -> bool) {
        let wait = async {
            while !is_so() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.unwrap();
    }
    let folder = TempDir::new().unwrap();
    let store = Arc::new(Sqlite::open(folder.path()).unwrap());
    // Block the writer at the beginning of its transaction.
    let holder = Connection::open(folder.path().join("holdshort.db")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut first = Box::pin(store.append(to(&run_stream(0), 0, 1)));
    assert!((&mut first).now_or_never().is_none(), "it is in the queue, and is not committed");
    until(|| store.writes_waiting() == Some(0)).await;
    let append = |n| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.append(to(&run_stream(n), 0, 1)).await.unwrap() })
    };
    let tasks: Vec<_> = (1..4).map(append).collect();
    until(|| store.writes_waiting() == Some(3)).await;
    holder.execute_batch("ROLLBACK").unwrap();
    first.await.unwrap();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(store.writes_waiting(), Some(0));
    store.close().await.unwrap();
    drop(store);
    let read = Sqlite::open_to_read(folder.path()).unwrap();
    assert_eq!(read.writes_waiting(), None, "nobody writes");
}
