//! Findings of an audit: each manipulation in the table of `docs/journal.md` is made in a real SQLite file and a real
//! PostgreSQL database. A test compares the table with the one here.
//!
//! `manipulations` contains the table, and `story` the history of the journals. `folder` contains a data folder and the
//! manipulations of its files.

mod folder;
mod manipulations;
mod story;

use std::fs;
use std::sync::Arc;

use holdshort_core::head::HeadNote;
use holdshort_engine::audit::{self, Report};
use holdshort_store::{Log, Memory, Postgres, Sqlite, postgres};
use holdshort_testkit::by_hand;
use holdshort_testpg::Server;
use tempfile::TempDir;

use self::folder::{Files, LOG};
use self::manipulations::{Change, Detection, MANIPULATIONS};
use self::story::{ask_with_a_key, noted_in, story};
use crate::stage::{operator, option};
use crate::upkeep::play;

/// Classifies a manipulation by the reports of an audit without and with a stored head. A manipulation that makes the
/// journal unreadable is found.
fn classify(alone: &Result<Report, String>, against: &Result<Report, String>) -> Detection {
    let is_found = |report: &Result<Report, String>| match report {
        Ok(report) => !report.problems.is_empty(),
        Err(_) => true,
    };
    match (is_found(alone), is_found(against)) {
        (true, _) => Detection::Alone,
        (false, true) => Detection::Head,
        (false, false) => Detection::No,
    }
}

#[tokio::test]
async fn an_audit_of_a_data_folder_reads_and_nothing_else() {
    let heads = &story().heads;
    let untouched = Files::copy(story().whole.path());
    let report = untouched.verify(heads).await.unwrap();
    assert_eq!(report.problems, []);
    assert!(report.against.iter().all(|compared| compared.holds));
    assert_eq!(report.head.to_string(), heads[1].to_string());
    untouched.be_killed();
    assert_eq!(untouched.verify(heads).await.unwrap(), report);
    assert_eq!(fs::read(untouched.path(LOG)).unwrap(), fs::read(story().killed.path().join(LOG)).unwrap());
}

/// Unpacking events and packing them again restores the same rows.
#[test]
fn events_that_are_unpacked_are_packed_as_they_were() {
    let files = Files::copy(story().whole.path());
    let before = files.appends();
    files.with_events(|file| {
        let events = "SELECT count(*) > (SELECT count(*) FROM appends) FROM events";
        assert!(file.query_row(events, [], |row| row.get::<_, bool>(0)).unwrap());
    });
    assert_eq!(files.appends(), before);
}

#[tokio::test]
async fn an_audit_finds_in_a_data_folder_what_the_table_says() {
    let mut wrong = Vec::new();
    for manipulation in MANIPULATIONS {
        let files = Files::copy(story().whole.path());
        let (change, expected) = manipulation.folder;
        match change {
            Change::Sql(sql) => files.sql(sql),
            Change::Code(change) => change(&files),
        }
        let (alone, against) = (files.verify(&[]).await, files.verify(&story().heads).await);
        let found = classify(&alone, &against);
        if found != expected {
            wrong.push(format!("{}: {found}, not {expected}: {alone:?}", manipulation.what));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_audit_finds_in_a_database_what_the_table_says() {
    let server = holdshort_testpg::shared();
    let url = server.database();
    let stage = play(Arc::new(Postgres::open(postgres::Config::new(&url, "story")).await.unwrap())).await;
    ask_with_a_key(&stage).await;
    let heads = noted_in(&stage).await;
    stage.driver.journal().close().await.unwrap();
    drop(stage);
    let mut wrong = Vec::new();
    let rows = MANIPULATIONS.iter().filter_map(|each| Some((each.what, each.database?)));
    let untouched = ("nothing is changed", ("SELECT 1", Detection::No));
    let packed = ("events are unpacked and packed", ("SELECT FROM events", Detection::No));
    for (n, (what, (statements, expected))) in [untouched, packed].into_iter().chain(rows).enumerate() {
        let copy = changed(server, &url, n, statements);
        let (alone, against) = (verify(&copy, &[]).await, verify(&copy, &heads).await);
        let found = classify(&alone, &against);
        if found != expected {
            wrong.push(format!("{what}: {found}, not {expected}: {alone:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the URL of the `n`th copy of the database, in which the statements have run.
fn changed(server: &Server, url: &str, n: usize, statements: &str) -> String {
    let name = url.rsplit('/').next().unwrap().split('?').next().unwrap();
    let copy = format!("{name}_{n}");
    let psql = |url: &str, statements: &str| {
        let arguments = ["--quiet", "-v", "ON_ERROR_STOP=1", "--dbname", url, "--command", statements];
        server.run("psql", &arguments).unwrap();
    };
    psql(&server.url("postgres"), &format!("CREATE DATABASE {copy} TEMPLATE {name}"));
    let copy = server.url(&copy);
    if statements.contains("events") {
        psql(&copy, &by_hand::with_events_in_postgres(statements));
    } else {
        psql(&copy, statements);
    }
    copy
}

async fn verify(url: &str, noted: &[HeadNote]) -> Result<Report, String> {
    let journal = Postgres::open_to_read(&postgres::Config::new(url, "audit")).await.unwrap();
    let report = audit::verify_against(&journal, noted).await.map_err(|error| error.to_string());
    journal.close().await.unwrap();
    report
}

#[test]
fn the_table_in_the_docs_is_this_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/journal.md");
    let docs = fs::read_to_string(path).unwrap();
    let rows = MANIPULATIONS.iter().map(|each| {
        let in_database = each.database.map_or("–".to_owned(), |(_, found)| found.to_string());
        format!("| {} | {} | {in_database} |", each.what, each.folder.1)
    });
    let table = rows.collect::<Vec<_>>().join("\n");
    assert!(
        docs.contains(&format!("|---|---|---|\n{table}\n\n")),
        "docs/journal.md needs these rows:\n{table}"
    );
}

/// Equal events have equal heads in every store.
#[tokio::test]
async fn a_head_is_a_function_of_the_events() {
    let folder = TempDir::new().unwrap();
    let on_disk = play(Arc::new(Sqlite::open(folder.path()).unwrap())).await;
    let in_memory = play(Arc::new(Memory::new())).await;
    let head = on_disk.driver.journal().head().await.unwrap();
    assert_eq!(head, in_memory.driver.journal().head().await.unwrap());
    assert_eq!(audit::verify(&**on_disk.driver.journal()).await.unwrap().head, head);
}

/// An audit of a running server reports no false error, although it compares rows with streams that are still growing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_audit_beside_a_server_that_works_finds_nothing() {
    let folder = TempDir::new().unwrap();
    let stage = Arc::new(play(Arc::new(Sqlite::open(folder.path()).unwrap())).await);
    let working = tokio::spawn({
        let stage = stage.clone();
        async move {
            for _ in 0..30 {
                let run = stage.play().await;
                // A grant is the first event of its session's stream, and further events follow.
                let asked = stage.open(&run).await.swap_remove(0).opened.interrupt;
                stage.decide(&run, &asked, option("approve_session")).await.unwrap();
                stage.approve_all(&run).await;
                let session = stage.run(&run).await.session().unwrap().clone();
                stage.driver.suspend_session(&session, operator()).await.unwrap();
                stage.driver.resume_session(&session, operator()).await.unwrap();
            }
        }
    });
    let mut verified = 0;
    while !working.is_finished() || verified == 0 {
        let before = stage.driver.journal().head().await.unwrap().to_string().parse().unwrap();
        let report = audit::verify_against(&**stage.driver.journal(), &[before]).await.unwrap();
        assert_eq!(report.problems, []);
        verified += 1;
    }
    working.await.unwrap();
}
