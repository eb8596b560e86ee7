//! Databases of older versions: they are brought up to date, and what they hold stays.

use holdshort_core::id::RunId;
use holdshort_core::projection::SessionRow;
use holdshort_store::{SessionFilter, Tables};

use super::{node, sql};
use crate::fixture::{at, id};

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
    assert_eq!(found, [SessionRow::of_run(session.parse().unwrap(), at(30), at(40))]);
    assert_eq!(store.run(&id(1)).await.unwrap().map(|row| row.updated_at), Some(at(40)));
}
