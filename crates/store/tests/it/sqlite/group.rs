//! Group commit as seen from outside; `src/sqlite/writer/tests.rs` has one group from inside.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use holdshort_store::sqlite::Config;
use holdshort_store::{AppendError, Log, Sqlite};
use tempfile::TempDir;
use tokio::sync::Mutex;

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

/// What waits for the writer is counted; what it works on is not.
#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_the_writer_is_counted() {
    /// Whoever holds it holds the writer up behind its next COMMIT.
    static GATE: Mutex<()> = Mutex::const_new(());
    static COMMITS: AtomicUsize = AtomicUsize::new(0);
    fn after_commit() {
        COMMITS.fetch_add(1, Ordering::SeqCst);
        drop(GATE.blocking_lock());
    }
    async fn until(is_so: impl Fn() -> bool) {
        let wait = async {
            while !is_so() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.unwrap();
    }
    let folder = TempDir::new().unwrap();
    let config = Config { after_commit: Some(after_commit), ..Config::default() };
    let store = Arc::new(Sqlite::open_with(folder.path(), config).unwrap());
    let append = |n| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.append(to(&run_stream(n), 0, 1)).await.unwrap() })
    };
    // Let go before the store is, whose end waits for the writer.
    let held = GATE.lock().await;
    let mut tasks = vec![append(0)];
    until(|| COMMITS.load(Ordering::SeqCst) == 1).await;
    assert_eq!(store.writes_waiting(), Some(0));
    tasks.extend((1..4).map(append));
    until(|| store.writes_waiting() == Some(3)).await;
    drop(held);
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(store.writes_waiting(), Some(0));
    store.close().await.unwrap();
    drop(store);
    let read = Sqlite::open_to_read(folder.path()).unwrap();
    assert_eq!(read.writes_waiting(), None, "nobody writes");
}
