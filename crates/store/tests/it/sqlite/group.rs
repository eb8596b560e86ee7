//! Group commit as seen from outside; `src/sqlite/writer.rs` tests one group from inside.

use std::sync::Arc;
use std::time::Instant;

use holdshort_store::{AppendError, Journal, Sqlite};
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

/// Not a promise about speed: it prints what this machine does.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement: run with --release --ignored --nocapture"]
async fn throughput() {
    let folder = TempDir::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let store = Arc::new(Sqlite::open(folder.path()).unwrap());
    for (tasks, each) in [(1, 2000), (64, 500), (256, 200)] {
        let started = Instant::now();
        let running: Vec<_> = (0..tasks)
            .map(|n| {
                let store = Arc::clone(&store);
                tokio::spawn(async move {
                    for seq in 0..each {
                        store.append(to(&run_stream(tasks * 1000 + n), seq, 1)).await.unwrap();
                    }
                })
            })
            .collect();
        for task in running {
            task.await.unwrap();
        }
        let seconds = started.elapsed().as_secs_f64();
        println!("{tasks} at once: {} appends in {seconds:.2} s", tasks * each);
    }
}
