//! Disks that are full or read-only: a typed error, nothing torn, and all goes on when there is room again.
//!
//! The real ones are tiny file systems that a child mounts in a namespace of its own; where the kernel does
//! not let us, those two tests say so and pass.

use std::fs;
use std::path::Path;

use holdshort_store::sqlite::Config;
use holdshort_store::{Append, AppendError, Error, Journal, Sqlite};
use tempfile::TempDir;

use super::{child, command};
use crate::fixture::{content, run_stream, to};

const FOLDER: &str = "STORE_TEST_MOUNT";
const STARTED: &str = "the child has its file system";

#[tokio::test]
async fn a_database_at_its_limit_refuses_and_goes_on_with_more_room() {
    let folder = TempDir::new().unwrap();
    let tight =
        Sqlite::open_with(folder.path(), Config { max_pages: Some(80), ..Config::default() }).unwrap();
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

/// Appends until the store says that it is full, a few times over; how many it acknowledged.
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
