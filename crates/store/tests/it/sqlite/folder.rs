//! The data folder, which one server at a time can use, and only with a binary that knows its schema version.

use std::fs;
use std::path::Path;

use holdshort_core::digest::Digest;
use holdshort_core::envelope::Chain;
use holdshort_core::head::Head;
use holdshort_core::projection::SessionRow;
use holdshort_store::{Error, GrantFilter, Leases, Log, RunFilter, SessionFilter, Sqlite, Tables};
use tempfile::TempDir;

use crate::fixture::{at, run_stream, to};

#[tokio::test]
async fn a_second_server_is_refused_until_the_first_is_gone() {
    let folder = TempDir::new().unwrap();
    let first = Sqlite::open(folder.path()).unwrap();
    assert!(matches!(Sqlite::open(folder.path()), Err(Error::InUse)));
    drop(first);
    let second = Sqlite::open(folder.path()).unwrap();
    assert!(matches!(Sqlite::open(folder.path()), Err(Error::InUse)));
    second.close().await.unwrap();
    assert_eq!(Sqlite::open(folder.path()).unwrap().epoch(), 3);
}

#[tokio::test]
async fn a_closed_journal_is_one_file_and_its_pin() {
    let folder = TempDir::new().unwrap();
    let store = Sqlite::open(folder.path()).unwrap();
    store.append(to(&run_stream(1), 0, 1)).await.unwrap();
    store.chain(&run_stream(1)).await.unwrap();
    store.close().await.unwrap();
    store.close().await.unwrap();
    let mut files: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["holdshort.db", "holdshort.head", "holdshort.lock"]);
}

#[tokio::test]
async fn a_missing_folder_is_made_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let parent = TempDir::new().unwrap();
    let folder = parent.path().join("data/holdshort");
    let store = Sqlite::open(&folder).unwrap();
    store.append(to(&run_stream(1), 0, 1)).await.unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for file in fs::read_dir(&folder).unwrap() {
        assert_eq!(mode(&file.unwrap().path()), 0o600);
    }
}

#[test]
fn a_database_from_the_future_is_refused_untouched() {
    let folder = TempDir::new().unwrap();
    drop(Sqlite::open(folder.path()).unwrap());
    let database = folder.path().join("holdshort.db");
    rusqlite::Connection::open(&database).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(&database).unwrap();
    match Sqlite::open(folder.path()) {
        Err(Error::FromTheFuture { found: 99, .. }) => {}
        other => panic!("{other:?}"),
    }
    assert!(fs::read(&database).unwrap() == before);
}

#[tokio::test]
async fn a_folder_of_the_first_schema_keeps_its_events() {
    let folder = TempDir::new().unwrap();
    let first = rusqlite::Connection::open(folder.path().join("holdshort.db")).unwrap();
    first.execute_batch(include_str!("../../../migrations/sqlite/0001_journal.sql")).unwrap();
    first.pragma_update(None, "user_version", 1).unwrap();
    let packed = |kind: u8| [[kind].as_slice(), &[0; 17]].concat();
    first
        .execute("INSERT INTO streams (stream, id) VALUES (7, ?1), (8, ?2)", [packed(1), packed(2)])
        .unwrap();
    let sql =
        "INSERT INTO events (position, stream, seq, hash, head) VALUES (?1, ?2, ?3, zeroblob(32), x'7b7d')";
    for (position, stream, seq) in [(1, 8, 1), (2, 7, 1), (3, 8, 2)] {
        first.execute(sql, [position, stream, seq]).unwrap();
    }
    // Two runs in one session. The migration must use the creation time of the older run for the session.
    let sql = "INSERT INTO runs (run, session, workflow, status, runnable, seq, created_at, updated_at)
               VALUES (?1, ?2, 'pair', 'completed', 0, 1, ?3, ?3)";
    for n in [4, 3] {
        let (run, session) = (key_of(n), key_of(1));
        first.execute(sql, rusqlite::params![run, session, n * 10]).unwrap();
    }
    drop(first);
    let store = Sqlite::open(folder.path()).unwrap();
    let tail = store.tail(0, 9).await.unwrap();
    let zeros = "0".repeat(26);
    let told: Vec<_> =
        tail.iter().map(|each| (each.position, each.event.stream.to_string(), each.event.seq)).collect();
    let (run, session) = (format!("run_{zeros}"), format!("ses_{zeros}"));
    assert_eq!(told, [(1, session.clone(), 1), (2, run, 1), (3, session.clone(), 2)]);
    assert_eq!(store.chain(&session.parse().unwrap()).await.unwrap().seq, 2);
    // The migration must chain the existing events.
    let heads = tail.iter().scan(Head::START, |head, each| {
        *head = head.then(&each.event.hash);
        Some(Some(*head))
    });
    let heads: Vec<_> = heads.collect();
    let links = store.links(0, 9).await.unwrap();
    assert_eq!(links.iter().map(|link| link.sealed).collect::<Vec<_>>(), heads);
    assert_eq!(Some(store.head().await.unwrap()), heads[2]);
    assert_eq!(store.grants(&GrantFilter::default(), None, 1).await.unwrap().items, []);
    let runs = store.runs(&RunFilter::default(), None, 9).await.unwrap().items;
    let session = SessionRow::from_run(runs[0].session.clone(), at(30), at(40));
    assert_eq!(store.sessions(&SessionFilter::default(), None, 9).await.unwrap().items, [session]);
}

/// Folders of earlier versions (`crates/testkit/tests/versions`) keep their hash chains and heads. A test in `testkit`
/// compares their HTTP responses.
#[tokio::test]
async fn folders_of_the_versions_before_keep_their_chains_and_their_heads() {
    let versions = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/tests/versions");
    let versions: Vec<_> = fs::read_dir(versions).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(versions.len() >= 2, "{versions:?}");
    for version in versions {
        keeps_its_chains_and_its_head(&version.join("sqlite")).await;
    }
}

async fn keeps_its_chains_and_its_head(before: &Path) {
    let folder = TempDir::new().unwrap();
    for name in ["holdshort.db", "holdshort.head"] {
        fs::copy(before.join(name), folder.path().join(name)).unwrap();
    }
    let pinned = fs::read_to_string(before.join("holdshort.head")).unwrap();
    let store = Sqlite::open(folder.path()).unwrap();
    let head = store.head().await.unwrap();
    assert_eq!(format!("{:>20} {}\n", head.events, head.hash), pinned);
    let tail = store.tail(0, usize::MAX).await.unwrap();
    let ends = ends_of_rows(folder.path());
    let links = store.links(0, usize::MAX).await.unwrap();
    assert_eq!(links.len(), tail.len());
    let mut chained = Head::START;
    for (each, link) in tail.iter().zip(links) {
        chained = chained.then(&each.event.hash);
        // A row of `appends` contains only the head after its last event.
        let sealed = ends.contains(&each.position).then_some(chained);
        assert_eq!((link.position, link.sealed), (each.position, sealed));
    }
    assert_eq!(chained, head);
    for stream in store.streams(None, usize::MAX).await.unwrap() {
        let mut hash = Chain::START.hash;
        for event in store.read(&stream, 0, usize::MAX).await.unwrap() {
            hash = Digest::of_parts(&[hash.as_bytes(), &event.head]);
            assert_eq!(event.hash, hash, "{stream}/{}", event.seq);
        }
    }
    assert_eq!(store.inspect().await.unwrap(), Vec::<String>::new());
    store.close().await.unwrap();
}

/// Returns the keys of the rows of `appends`: the position of the last event in each row.
fn ends_of_rows(folder: &Path) -> Vec<u64> {
    let database = rusqlite::Connection::open(folder.join("holdshort.db")).unwrap();
    let mut rows = database.prepare("SELECT position FROM appends").unwrap();
    let ends = rows.query_map([], |row| row.get::<_, i64>(0)).unwrap();
    ends.map(|end| u64::try_from(end.unwrap()).unwrap()).collect()
}

/// Returns the packed form of the id number `n`: 17 bytes that end with `n`.
fn key_of(n: i64) -> Vec<u8> {
    let mut packed = vec![0; 17];
    packed[9..].copy_from_slice(&n.to_be_bytes());
    packed
}

#[test]
fn a_file_that_is_no_database_is_called_damaged() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("holdshort.db"), "not a database, but long enough for a header".repeat(200))
        .unwrap();
    assert!(matches!(Sqlite::open(folder.path()), Err(Error::Corrupt(_))));
}

#[tokio::test]
async fn a_value_that_no_store_writes_is_called_damaged() {
    let folder = TempDir::new().unwrap();
    let store = Sqlite::open(folder.path()).unwrap();
    store.append(to(&run_stream(1), 0, 1)).await.unwrap();
    drop(store);
    let database = rusqlite::Connection::open(folder.path().join("holdshort.db")).unwrap();
    database.execute("UPDATE appends SET hashes = x'00'", []).unwrap();
    drop(database);
    let store = Sqlite::open(folder.path()).unwrap();
    assert!(matches!(store.chain(&run_stream(1)).await, Err(Error::Corrupt(_))));
}

/// The lock of a process that only checks for a running server is brief, and does not prevent a server from starting.
#[tokio::test]
async fn a_lock_that_is_held_for_an_instant_is_waited_for() {
    let folder = TempDir::new().unwrap();
    Sqlite::open(folder.path()).unwrap().close().await.unwrap();
    let looking = std::fs::File::open(folder.path().join("holdshort.lock")).unwrap();
    looking.try_lock_shared().unwrap();
    let looks = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        drop(looking);
    });
    let opened = Sqlite::open(folder.path());
    looks.join().unwrap();
    opened.unwrap().close().await.unwrap();
}
