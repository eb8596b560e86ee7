//! Full or read-only disks: the store returns a typed error, no append is partly written, and writes continue when
//! there is room again.
//!
//! Two tests mount tiny real file systems in a child process with its own namespace. If the kernel does not allow this,
//! they print a message and pass.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use holdshort_core::id::StreamId;
use holdshort_store::sqlite::Config;
use holdshort_store::{Append, AppendError, Error, Log, Sqlite, Tables};
use tempfile::TempDir;

use super::{child, command};
use crate::fixture::{content, id, run_row, run_stream, to};

const FOLDER: &str = "STORE_TEST_MOUNT";
const STARTED: &str = "the child has its file system";

#[tokio::test]
async fn a_database_at_its_limit_refuses_and_goes_on_with_more_room() {
    let folder = TempDir::new().unwrap();
    let tight =
        Sqlite::open_with(folder.path(), Config { max_pages: Some(160), ..Config::default() }).unwrap();
    let written = fill(&tight).await;
    assert_eq!(tight.read(&run_stream(1), 0, 1000).await.unwrap().len() as u64, written);
    drop(tight);
    let roomy = Sqlite::open(folder.path()).unwrap();
    assert_eq!(roomy.chain(&run_stream(1)).await.unwrap().seq, written);
    roomy.append(large(written)).await.unwrap();
}

#[test]
fn a_full_disk_refuses_and_goes_on_with_more_room() {
    on_a_small_disk("sqlite::disk::fills_its_disk");
}

/// When the database becomes full in the middle of a group of concurrent appends, each append is written completely or
/// not at all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_fills_in_the_middle_of_a_group_writes_each_append_or_nothing_of_it() {
    let folder = TempDir::new().unwrap();
    let tight = Config { max_pages: Some(400), ..Config::default() };
    let written = fill_together(Arc::new(Sqlite::open_with(folder.path(), tight).unwrap())).await;
    go_on_together(Arc::new(Sqlite::open(folder.path()).unwrap()), &written).await;
}

#[test]
fn a_disk_that_fills_in_the_middle_of_a_group_writes_each_append_or_nothing_of_it() {
    on_a_small_disk("sqlite::disk::fills_its_disk_with_groups");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "runs on a small disk that another test mounts"]
async fn fills_its_disk_with_groups() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    println!("{STARTED}");
    let folder = Path::new(&folder);
    let ballast = folder.join("ballast");
    fs::write(&ballast, vec![0; 2_000_000]).unwrap();
    let data = folder.join("data");
    let store = Arc::new(Sqlite::open(&data).unwrap());
    let written = fill_together(Arc::clone(&store)).await;
    fs::remove_file(ballast).unwrap();
    go_on_together(store, &written).await;
}

#[test]
fn a_read_only_disk_is_said_to_be_one() {
    on_a_small_disk("sqlite::disk::has_its_disk_made_read_only");
}

#[tokio::test]
#[ignore = "runs on a small disk that another test mounts"]
async fn fills_its_disk() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    println!("{STARTED}");
    let folder = Path::new(&folder);
    let ballast = folder.join("ballast");
    fs::write(&ballast, vec![0; 2_000_000]).unwrap();
    let data = folder.join("data");
    let store = Sqlite::open(&data).unwrap();
    let written = fill(&store).await;
    assert_eq!(store.read(&run_stream(1), 0, 1000).await.unwrap().len() as u64, written);
    fs::remove_file(ballast).unwrap();
    assert_eq!(store.append(large(written)).await.unwrap().position, written + 1);
    drop(store);
    let store = Sqlite::open(&data).unwrap();
    assert_eq!(store.chain(&run_stream(1)).await.unwrap().seq, written + 1);
}

#[tokio::test]
#[ignore = "runs on a small disk that another test mounts"]
async fn has_its_disk_made_read_only() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    println!("{STARTED}");
    let folder = Path::new(&folder);
    let store = Sqlite::open(folder).unwrap();
    store.append(large(0)).await.unwrap();
    drop(store);
    let remount = ["mount", "-o", "remount,ro", &folder.display().to_string()].map(str::to_owned);
    assert!(command(&remount).status().unwrap().success());
    assert!(matches!(Sqlite::open(folder), Err(Error::ReadOnly)));
}

/// Appends until the store has reported a full disk several times. Returns the number of acknowledged appends.
async fn fill(store: &Sqlite) -> u64 {
    let mut written = 0;
    let mut refused = 0;
    while refused < 5 {
        match store.append(large(written)).await {
            Ok(_) => written += 1,
            Err(AppendError::Store(Error::Full)) => refused += 1,
            Err(other) => panic!("{other:?}"),
        }
        assert!(written < 1000, "it never fills");
        assert_eq!(*store.watch().borrow(), written);
        assert_eq!(store.chain(&run_stream(1)).await.unwrap().seq, written);
    }
    assert!(written > 0);
    written
}

/// Number of concurrent writers. More would only wait for the next group commit.
const TOGETHER: u64 = 40;

/// Lets each writer append to its own stream until it is rejected three times. Returns the last acknowledged sequence
/// of each.
async fn fill_together(store: Arc<Sqlite>) -> Vec<u64> {
    let each = (0..TOGETHER).map(|n| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let (mut written, mut refused) = (0, 0);
            while refused < 3 {
                match store.append(two_streams(n, written)).await {
                    Ok(_) => written += 1,
                    Err(AppendError::Store(Error::Full)) => refused += 1,
                    Err(other) => panic!("{other:?}"),
                }
                assert!(written < 1_000, "it never fills");
            }
            written
        })
    });
    let mut written = Vec::new();
    for task in each.collect::<Vec<_>>() {
        written.push(task.await.unwrap());
    }
    assert!(written.iter().sum::<u64>() > 0);
    is_whole(&store, &written).await;
    written
}

/// Checks that each writer can continue after its last acknowledged sequence when there is room again.
async fn go_on_together(store: Arc<Sqlite>, written: &[u64]) {
    is_whole(&store, written).await;
    let each = (0..TOGETHER).zip(written.to_vec()).map(|(n, written)| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.append(two_streams(n, written)).await.map(|_| written + 1).unwrap() })
    });
    let mut now = Vec::new();
    for task in each.collect::<Vec<_>>() {
        now.push(task.await.unwrap());
    }
    is_whole(&store, &now).await;
}

/// Checks that both streams and the row of each writer end at the last acknowledged sequence.
async fn is_whole(store: &Sqlite, written: &[u64]) {
    for (n, written) in (0..TOGETHER).zip(written) {
        let (run, session) = (run_stream(n), StreamId::Session(id(n)));
        let events = store.read(&run, 0, 1_000).await.unwrap().len() as u64;
        let ends = (store.chain(&run).await.unwrap().seq, store.chain(&session).await.unwrap().seq);
        let row = store.run(&id(n)).await.unwrap().map_or(0, |row| row.seq);
        assert_eq!((events, ends, row), (*written, (*written, *written), *written), "writer {n}");
    }
    assert_eq!(*store.watch().borrow(), 2 * written.iter().sum::<u64>());
}

/// Returns an append with one event in a run, one in a session, and the row of the run, by which a partly written
/// append is noticed.
fn two_streams(n: u64, seq: u64) -> Append {
    let mut append = to(&run_stream(n), seq, 1);
    append.streams[0].events[0].content = Some(content(vec![b'x'; 2_000]));
    append.streams.extend(to(&StreamId::Session(id(n)), seq, 1).streams);
    let mut row = run_row(n);
    row.seq = seq + 1;
    append.rows.run = Some(row);
    append
}

fn large(seq: u64) -> Append {
    let mut append = to(&run_stream(1), seq, 1);
    append.streams[0].events[0].content = Some(content(vec![b'x'; 30_000]));
    append
}

fn on_a_small_disk(test: &str) {
    let folder = TempDir::new().unwrap();
    let script = r#"mount -t tmpfs -o size=4m tmpfs "$0" && exec "$@""#;
    let mount = folder.path().display().to_string();
    let namespace = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, &mount];
    let mut words = namespace.map(str::to_owned).to_vec();
    words.extend(child(test));
    let output = command(&words).env(FOLDER, folder.path()).output();
    let (said, passed) = match output {
        Ok(output) => (format!("{output:?}"), output.status.success()),
        Err(error) => (error.to_string(), false),
    };
    if said.contains(STARTED) {
        assert!(passed, "{said}");
    } else {
        eprintln!("not tested: no file system of our own to be had here: {said}");
    }
}
