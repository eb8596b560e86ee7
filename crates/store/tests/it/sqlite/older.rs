//! Folders of older versions are migrated and keep their data.

use holdshort_core::digest::Digest;
use holdshort_core::head::Head;
use holdshort_store::{CONTENT_INLINE_LIMIT, Sqlite};
use rusqlite::{Connection, params};
use tempfile::TempDir;

use crate::older::{DAMAGES, OldEvent, is_damaged_and_nothing_else, is_read_as_it_was, written};

/// Returns a folder of the older version that stored the head of the journal after each event.
fn folder(events: &[OldEvent]) -> TempDir {
    let folder = TempDir::new().unwrap();
    let file = Connection::open(folder.path().join("holdshort.db")).unwrap();
    for migration in [
        include_str!("../../../migrations/sqlite/0001_journal.sql"),
        include_str!("../../../migrations/sqlite/0002_grants_by_state.sql"),
        include_str!("../../../migrations/sqlite/0003_fewer_pages.sql"),
        include_str!("../../../migrations/sqlite/0004_sessions.sql"),
        include_str!("../../../migrations/sqlite/0005_chain.sql"),
        "DROP TABLE events; ALTER TABLE chained_events RENAME TO events",
        include_str!("../../../migrations/sqlite/0006_rows.sql"),
    ] {
        file.execute_batch(migration).unwrap();
    }
    file.pragma_update(None, "user_version", 6).unwrap();
    let large = vec![b'x'; CONTENT_INLINE_LIMIT + 1];
    let digest = Digest::of_bytes(&large);
    file.execute("INSERT INTO blobs VALUES (?1, ?2)", params![digest.as_bytes(), large]).unwrap();
    let mut head = Head::START;
    for event in events {
        let hash = event.hash.as_slice().try_into();
        head = hash.map_or(head, |hash| head.then(&Digest::from_bytes(hash)));
        let OldEvent { position, stream, seq, hash, salt, large, head: bytes, content } = event;
        let sql = "INSERT INTO events (position, stream, seq, hash, chained, salt, large, head, content)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let large = large.map(|digest| digest.as_bytes().to_vec());
        let (position, seq) = (i64::try_from(*position).unwrap(), i64::try_from(*seq).unwrap());
        let stream = packed(&stream.to_string());
        let values = params![position, stream, seq, hash, head.hash.as_bytes(), salt, large, bytes, content];
        file.execute(sql, values).unwrap();
    }
    folder
}

/// Packs the id of a run's stream as the database does: one byte for the kind of stream, then 26 characters with five
/// bits each in 17 bytes.
fn packed(stream: &str) -> Vec<u8> {
    let value = |char| b"0123456789abcdefghjkmnpqrstvwxyz".iter().position(|known| *known == char).unwrap();
    let mut values = stream.strip_prefix("run_").unwrap().bytes().map(value);
    let first = u8::try_from(values.next().unwrap()).unwrap();
    let rest = values.fold(0_u128, |bits, value| bits << 5 | value as u128);
    [&[1, first], &rest.to_be_bytes()[..]].concat()
}

#[tokio::test]
async fn events_of_a_row_each_are_read_as_they_were() {
    let written = written(1);
    let folder = folder(&written.iter().map(OldEvent::from_positioned).collect::<Vec<_>>());
    is_read_as_it_was(&Sqlite::open(folder.path()).unwrap(), &written).await;
    // Open the folder again, now that it is migrated.
    is_read_as_it_was(&Sqlite::open(folder.path()).unwrap(), &written).await;
}

#[tokio::test]
async fn what_was_damaged_stays_damage() {
    for damage in DAMAGES {
        let folder = folder(&damage.done(1));
        is_damaged_and_nothing_else(&Sqlite::open(folder.path()).unwrap(), damage.what).await;
    }
}
