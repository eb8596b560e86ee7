//! The head file, which records the head of the journal: a server does not start with a database that contradicts it,
//! and a copy without its write-ahead log is reported.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use holdshort_store::sqlite::Config;
use holdshort_store::{AppendError, Error, Log, Sqlite};
use tempfile::TempDir;

use crate::fixture::{run_stream, to};

const DATABASE: &str = "holdshort.db";
const LOG: &str = "holdshort.db-wal";
const PIN: &str = "holdshort.head";

fn copy(from: &Path, names: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for name in names {
        fs::copy(from.join(name), folder.path().join(name)).unwrap();
    }
    folder
}

/// Appends events after the sequence `seq`, in one append.
async fn write(store: &Sqlite, seq: u64, events: u64) {
    store.append(to(&run_stream(1), seq, events)).await.unwrap();
}

fn refusal(folder: &Path) -> String {
    match Sqlite::open(folder) {
        Err(Error::Corrupt(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_older_database_does_not_start_beside_its_pin() {
    let folder = TempDir::new().unwrap();
    let store = Sqlite::open(folder.path()).unwrap();
    write(&store, 0, 2).await;
    store.close().await.unwrap();
    let older = copy(folder.path(), &[DATABASE]);
    let store = Sqlite::open(folder.path()).unwrap();
    write(&store, 2, 3).await;
    store.close().await.unwrap();
    fs::copy(older.path().join(DATABASE), folder.path().join(DATABASE)).unwrap();
    let before = fs::read(folder.path().join(DATABASE)).unwrap();
    let why = refusal(folder.path());
    assert!(why.starts_with("the database has 2 events, but 5 were written"), "{why}");
    assert!(why.contains("3 events after event 2") && why.contains("`serve --accept-loss 3`"), "{why}");
    assert_eq!(fs::read(folder.path().join(DATABASE)).unwrap(), before);
    // The accepted number of events must be exactly the number of missing events.
    assert!(matches!(open_with_loss(folder.path(), 2), Err(Error::Corrupt(_))));
    let told =
        "3 events that were acknowledged after event 2 are missing: a server was started with --accept-loss";
    let opened = open_with_loss(folder.path(), 3).unwrap();
    assert_eq!(opened.head().await.unwrap().events, 2);
    opened.close().await.unwrap();
    // `accept_loss` is needed only once. Every later audit reports the loss.
    let opened = Sqlite::open(folder.path()).unwrap();
    assert_eq!(opened.inspect().await.unwrap(), [told]);
    opened.close().await.unwrap();
    assert_eq!(Sqlite::open_to_read(folder.path()).unwrap().inspect().await.unwrap(), [told]);
}

fn open_with_loss(folder: &Path, events: u64) -> Result<Sqlite, Error> {
    Sqlite::open_with(folder, Config { accept_loss: Some(events), ..Config::default() })
}

/// Every audit reports that the head file was missing after a kill of the server. Only this file shows how many events
/// the server wrote.
#[tokio::test]
async fn a_killed_server_whose_pin_was_removed_is_noticed() {
    let folder = TempDir::new().unwrap();
    let store = Sqlite::open(folder.path()).unwrap();
    write(&store, 0, 2).await;
    let killed = copy(folder.path(), &[DATABASE, LOG]);
    let told = ["the last writes may be missing, because the journal of a killed server was opened without \
         holdshort.head when it had 2 events"];
    let read = Sqlite::open_to_read(killed.path()).unwrap();
    assert_eq!(read.inspect().await.unwrap(), told);
    drop(read);
    for _ in 0..2 {
        let opened = Sqlite::open(killed.path()).unwrap();
        assert_eq!(opened.inspect().await.unwrap(), told);
        opened.close().await.unwrap();
    }
}

/// Returns the files of a folder without those that opening the folder can create.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let name = |entry: &fs::DirEntry| entry.file_name().into_string().unwrap();
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let kept = entries.filter(|entry| !["holdshort.db-shm", "holdshort.lock"].contains(&&*name(entry)));
    kept.map(|entry| (name(&entry), fs::read(entry.path()).unwrap())).collect()
}

/// A rejected database is evidence, so it is neither migrated nor is its write-ahead log checkpointed.
#[tokio::test]
async fn a_database_that_is_refused_is_byte_for_byte_what_it_was() {
    let folder = TempDir::new().unwrap();
    let store = Sqlite::open(folder.path()).unwrap();
    write(&store, 0, 2).await;
    let older_with_its_log = copy(folder.path(), &[DATABASE, LOG]);
    write(&store, 2, 3).await;
    store.close().await.unwrap();
    let log = fs::metadata(older_with_its_log.path().join(LOG)).unwrap();
    assert!(log.len() > 0);

    // Backups with an earlier schema: one backup with one event, and one backup without events.
    let of_earlier_schema = |events: i64| {
        let folder = TempDir::new().unwrap();
        let first = rusqlite::Connection::open(folder.path().join(DATABASE)).unwrap();
        first.execute_batch(include_str!("../../../migrations/sqlite/0001_journal.sql")).unwrap();
        first.pragma_update(None, "user_version", 1).unwrap();
        let run = [[1].as_slice(), &[0; 17]].concat();
        first.execute("INSERT INTO streams (stream, id) VALUES (7, ?1)", [run]).unwrap();
        let sql = "INSERT INTO events (position, stream, seq, hash, head) VALUES (?1, 7, ?1, zeroblob(32), x'7b7d')";
        for position in 1..=events {
            first.execute(sql, [position]).unwrap();
        }
        folder
    };
    let from_the_future = copy(folder.path(), &[DATABASE]);
    let newer = rusqlite::Connection::open(from_the_future.path().join(DATABASE)).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);

    let table = [
        (&older_with_its_log, "the database has 2 events, but 5 were written"),
        (&of_earlier_schema(1), "the database has 1 event, but 5 were written"),
        (&of_earlier_schema(0), "the database has 0 events, but 5 were written"),
        (&of_earlier_schema(5), "the first 5 events of the database differ from those that were written"),
        (&of_earlier_schema(6), "the first 5 events of the database differ from those that were written"),
        (&from_the_future, "schema version 99"),
    ];
    for (refused, why) in table {
        fs::copy(folder.path().join(PIN), refused.path().join(PIN)).unwrap();
        let before = files(refused.path());
        for _ in 0..2 {
            let error = Sqlite::open(refused.path()).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
            assert!(files(refused.path()) == before, "{why}");
        }
    }
}

#[tokio::test]
async fn a_killed_server_that_lost_its_log_does_not_start_again() {
    let folder = TempDir::new().unwrap();
    let store = Sqlite::open(folder.path()).unwrap();
    write(&store, 0, 2).await;
    let killed = copy(folder.path(), &[DATABASE, LOG, PIN]);
    fs::remove_file(killed.path().join(LOG)).unwrap();
    assert!(refusal(killed.path()).contains("its write-ahead log is missing"));
    // Together with its log, the database is accepted.
    fs::copy(folder.path().join(LOG), killed.path().join(LOG)).unwrap();
    assert_eq!(Sqlite::open(killed.path()).unwrap().head().await.unwrap(), store.head().await.unwrap());
}

/// The head file may name an event in the middle of an append: the head file can lag behind, and an import may write
/// the same events in fewer appends.
#[tokio::test]
async fn a_pin_within_an_append_is_compared_with_what_is_there() {
    let parts = TempDir::new().unwrap();
    let store = Sqlite::open(parts.path()).unwrap();
    write(&store, 0, 2).await;
    let pin = fs::read(parts.path().join(PIN)).unwrap();
    drop(store);
    for (before, opens) in [(0, true), (1, false)] {
        let folder = TempDir::new().unwrap();
        let store = Sqlite::open(folder.path()).unwrap();
        for n in 0..before {
            store.append(to(&run_stream(9), n, 1)).await.unwrap();
        }
        write(&store, 0, 5).await;
        let killed = copy(folder.path(), &[DATABASE, LOG]);
        fs::write(killed.path().join(PIN), &pin).unwrap();
        let opened = Sqlite::open(killed.path()).map_err(|error| error.to_string());
        match opened {
            Ok(store) => assert_eq!((store.head().await.unwrap().events, opens), (5, true)),
            Err(why) => {
                assert!(
                    !opens && why.contains("the first 2 events of the database differ from those"),
                    "{why}"
                );
            }
        }
    }
}

#[tokio::test]
async fn what_was_written_to_a_closed_database_is_not_taken_over() {
    let folder = TempDir::new().unwrap();
    let store = Sqlite::open(folder.path()).unwrap();
    write(&store, 0, 2).await;
    store.close().await.unwrap();
    let pin = fs::read(folder.path().join(PIN)).unwrap();
    let store = Sqlite::open(folder.path()).unwrap();
    write(&store, 2, 1).await;
    store.close().await.unwrap();
    fs::write(folder.path().join(PIN), pin).unwrap();
    let why = refusal(folder.path());
    assert!(
        why.starts_with(
            "the database has 3 events, but Holdshort recorded only 2: another program wrote the rest"
        ),
        "{why}"
    );
}

/// A copy without its write-ahead log is noticed. Every later audit reports the missing log, whatever is written later.
#[tokio::test]
async fn a_copy_without_its_log_is_noticed() {
    let folder = TempDir::new().unwrap();
    let store = Sqlite::open(folder.path()).unwrap();
    assert_eq!(store.inspect().await.unwrap(), [""; 0]);
    write(&store, 0, 2).await;
    for log in [false, true] {
        let copied = copy(folder.path(), &[DATABASE]);
        if log {
            // An empty log has the same effect as a missing log.
            fs::write(copied.path().join(LOG), "").unwrap();
        }
        let told = [
            "the last writes may be missing, because the database was copied without its write-ahead log when \
             it had 0 events",
        ];
        let read = Sqlite::open_to_read(copied.path()).unwrap();
        assert_eq!(read.inspect().await.unwrap(), told);
        drop(read);
        for _ in 0..2 {
            let copy = Sqlite::open(copied.path()).unwrap();
            assert_eq!(copy.inspect().await.unwrap(), told);
            let seq = copy.chain(&run_stream(1)).await.unwrap().seq;
            write(&copy, seq, 1).await;
            copy.close().await.unwrap();
        }
        assert_eq!(Sqlite::open_to_read(copied.path()).unwrap().inspect().await.unwrap(), told);
    }
    // A copy of a closed database is complete. A copy that SQLite made is complete too.
    let whole = TempDir::new().unwrap();
    let into = whole.path().join(DATABASE).display().to_string();
    rusqlite::Connection::open(folder.path().join(DATABASE))
        .unwrap()
        .execute("VACUUM INTO ?1", [into])
        .unwrap();
    assert_eq!(Sqlite::open(whole.path()).unwrap().inspect().await.unwrap(), [""; 0]);
    store.close().await.unwrap();
    let closed = copy(folder.path(), &[DATABASE]);
    assert_eq!(Sqlite::open(closed.path()).unwrap().inspect().await.unwrap(), [""; 0]);
}

/// The next append fails after another process has written an event, because both writers would continue from different
/// heads.
#[tokio::test]
async fn an_event_that_somebody_else_writes_stops_the_next_append() {
    let folder = TempDir::new().unwrap();
    let store = Sqlite::open(folder.path()).unwrap();
    write(&store, 0, 2).await;
    let other = rusqlite::Connection::open(folder.path().join(DATABASE)).unwrap();
    let forged = "INSERT INTO appends (position, stream, seq, chained, hashes, heads)
                  SELECT position + 1, stream, seq + 1, chained, hashes, heads FROM appends WHERE position = 2";
    assert_eq!(other.execute(forged, []).unwrap(), 1);
    match store.append(to(&run_stream(2), 0, 1)).await {
        Err(AppendError::Store(Error::Corrupt(why))) => {
            assert_eq!(why, "another process wrote the event at position 3");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_journal_that_is_read_is_left_as_it_is() {
    let folder = TempDir::new().unwrap();
    let store = Sqlite::open(folder.path()).unwrap();
    write(&store, 0, 2).await;
    assert!(matches!(Sqlite::open_to_read(folder.path()), Err(Error::InUse)));
    store.close().await.unwrap();
    let all = |folder: &Path| {
        let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        files.into_iter().map(|path| (fs::read(&path).unwrap(), path)).collect::<Vec<_>>()
    };
    let before = all(folder.path());
    let read = Sqlite::open_to_read(folder.path()).unwrap();
    assert_eq!(read.tail(0, 9).await.unwrap().len(), 2);
    let refused = read.append(to(&run_stream(1), 2, 1)).await;
    assert!(matches!(refused, Err(AppendError::Store(Error::Closed))), "{refused:?}");
    drop(read);
    assert_eq!(all(folder.path()), before);
}

#[tokio::test]
async fn a_pin_that_is_none_is_said_to_be_one() {
    let folder = TempDir::new().unwrap();
    drop(Sqlite::open(folder.path()).unwrap());
    for text in ["?", "1 2 3", "-1 00", "\u{0}\u{0}"] {
        fs::write(folder.path().join(PIN), text).unwrap();
        assert!(refusal(folder.path()).contains("cannot be read, so missing events"), "{text}");
    }
    // An empty head file, as left by a process that ended immediately after it had created the file.
    fs::write(folder.path().join(PIN), "").unwrap();
    assert!(Sqlite::open(folder.path()).is_ok());
}

#[test]
fn a_database_of_an_older_schema_is_not_read_as_if_it_were_one_of_this() {
    let folder = TempDir::new().unwrap();
    let first = rusqlite::Connection::open(folder.path().join(DATABASE)).unwrap();
    first.execute_batch(include_str!("../../../migrations/sqlite/0001_journal.sql")).unwrap();
    first.pragma_update(None, "user_version", 1).unwrap();
    drop(first);
    assert!(matches!(Sqlite::open_to_read(folder.path()), Err(Error::Outdated { found: 1, .. })));
}
