//! Databases of older versions are migrated and keep their data.

use holdshort_core::digest::Digest;
use holdshort_core::id::RunId;
use holdshort_core::projection::SessionRow;
use holdshort_store::{CONTENT_INLINE_LIMIT, SessionFilter, Tables};

use super::{node, sql};
use crate::fixture::{at, id};
use crate::older::{DAMAGES, OldEvent, is_damaged_and_nothing_else, is_read_as_it_was, written};

#[tokio::test(flavor = "multi_thread")]
async fn the_sessions_of_the_first_version_are_listed() {
    let url = holdshort_testpg::shared().database();
    sql(&url, include_str!("../../../migrations/postgres/0001_journal.sql")).await;
    sql(&url, "UPDATE meta SET value = 1 WHERE name = 'version'").await;
    let session = "ses_00000000000000000000000001";
    for (run, at) in [(id::<RunId>(1), 40), (id(2), 30)] {
        let row = format!("('{run}', '{session}', 'pair', 'completed', false, 1, {at}, {at})");
        let columns = "run, session, workflow, status, runnable, seq, created_at, updated_at";
        sql(&url, &format!("INSERT INTO runs ({columns}) VALUES {row}")).await;
    }
    let store = node(&url).await;
    let found = store.sessions(&SessionFilter::default(), None, 9).await.unwrap().items;
    assert_eq!(found, [SessionRow::from_run(session.parse().unwrap(), at(30), at(40))]);
    assert_eq!(store.run(&id(1)).await.unwrap().map(|row| row.updated_at), Some(at(40)));
}

/// Returns a database of the older schema version, with these events.
async fn database(events: &[OldEvent]) -> String {
    let url = holdshort_testpg::shared().database();
    for migration in [
        include_str!("../../../migrations/postgres/0001_journal.sql"),
        include_str!("../../../migrations/postgres/0002_sessions.sql"),
        include_str!("../../../migrations/postgres/0003_chain.sql"),
        include_str!("../../../migrations/postgres/0004_rows.sql"),
        "UPDATE meta SET value = 4 WHERE name = 'version'",
    ] {
        sql(&url, migration).await;
    }
    let bytes =
        |bytes: Option<&[u8]>| bytes.map_or("NULL".to_owned(), |bytes| format!("'\\x{}'", hex(bytes)));
    let large = vec![b'x'; CONTENT_INLINE_LIMIT + 1];
    let digest = Digest::of_bytes(&large);
    sql(&url, &format!("INSERT INTO blobs VALUES ('\\x{digest}', '\\x{}')", hex(&large))).await;
    for event in events {
        let OldEvent { position, stream, seq, hash, salt, large, head, content } = event;
        let large = large.map(|digest| digest.as_bytes().to_vec());
        let values = [Some(hash), salt.as_ref(), large.as_ref(), Some(head), content.as_ref()];
        let values = values.map(|value| bytes(value.map(Vec::as_slice))).join(", ");
        let columns = "position, stream, seq, hash, salt, large, head, content";
        sql(
            &url,
            &format!("INSERT INTO events ({columns}) VALUES ({position}, '{stream}', {seq}, {values})"),
        )
        .await;
    }
    url
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn events_of_a_row_each_are_read_as_they_were() {
    let written = written(3 << 14);
    let url = database(&written.iter().map(OldEvent::from_positioned).collect::<Vec<_>>()).await;
    is_read_as_it_was(&node(&url).await, &written).await;
    is_read_as_it_was(&node(&url).await, &written).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_damaged_stays_damage() {
    for damage in DAMAGES {
        let url = database(&damage.done(3 << 14)).await;
        is_damaged_and_nothing_else(&node(&url).await, damage.what).await;
    }
}
