//! Rebuilding rows, audits, and the cost of waiting runs. Tested over memory and over SQLite.

use std::collections::BTreeSet;
use std::sync::Arc;

use holdshort_core::id::StreamId;
use holdshort_core::projection::Status;
use holdshort_core::run::Input;
use holdshort_core::session::{End, Open};
use holdshort_core::system;
use holdshort_engine::{OpenSession, audit, rebuild};
use holdshort_store::{
    AnswerFilter, InterruptFilter, Journal, Log, Memory, RunFilter, SessionFilter, Sqlite, Tables,
};
use holdshort_testkit::by_hand;
use holdshort_testkit::clock::SimClock;

use crate::stage::{Stage, command, operator, option, read, text};
use crate::world::{Say, World};

fn script() -> Vec<Say> {
    vec![
        Say::Calls(vec![read("a"), command("git add a")]),
        Say::Calls(vec![("ask_human", serde_json::json!({"question": "Which?"}))]),
        Say::Text("Done."),
    ]
}

/// Creates runs in every state, a valid grant, and a revoked grant.
pub(crate) async fn play<J: Journal>(journal: Arc<J>) -> Stage<J> {
    let world = World::default();
    world.script("solo", script());
    world.write("a", "alpha");
    let stage = Stage::on(journal, world, SimClock::new(4));
    let waiting = stage.play().await;
    let session = stage.run(&waiting).await.session().unwrap().clone();
    stage.clock.advance_ms(1);
    let done = stage.start_in(&session).await;
    stage.world.settle().await;
    stage.decide_only(&done, option("approve_session")).await;
    stage.decide_only(&done, text("answer", "this")).await;
    let grant = stage.driver.session(&session).await.unwrap().grants.values().next().unwrap().id.clone();
    stage.driver.revoke(&session, &grant, operator()).await.unwrap();
    stage.clock.advance_ms(1);
    let granted = stage.play().await;
    stage.decide_only(&granted, option("approve_session")).await;
    let cancelled = stage.play().await;
    stage.send(&cancelled, Input::Cancel { text: None }).await.unwrap();
    let paused = stage.play().await;
    stage.send(&paused, Input::Pause).await.unwrap();
    // Adds sessions in every state. Some were created by a run, and some were opened separately.
    stage.clock.advance_ms(1);
    let suspended = stage.run(&granted).await.session().unwrap().clone();
    stage.driver.suspend_session(&suspended, operator()).await.unwrap();
    let closed = stage.run(&cancelled).await.session().unwrap().clone();
    stage.driver.close_session(&closed, End::Completed, operator()).await.unwrap();
    let open = || Open { idle_ms: Some(5), workflow: Some("solo".to_owned()), ..Open::default() };
    for _ in 0..2 {
        let opening = OpenSession { open: open(), key: None };
        let opened = stage.driver.open_session(opening, operator()).await.unwrap().session;
        stage.driver.suspend_session(&opened, operator()).await.unwrap();
    }
    stage.clock.advance_ms(5);
    assert_eq!(stage.driver.expire_sessions().await.unwrap(), 2);
    stage.driver.open_session(OpenSession { open: open(), key: None }, operator()).await.unwrap();
    assert_eq!(stage.status(&done).await, Status::Completed);
    stage
}

/// Returns all rows from which lists are read.
async fn rows<J: Journal>(stage: &Stage<J>) -> String {
    let journal = stage.driver.journal();
    let runs = journal.runs(&RunFilter::default(), None, 100).await.unwrap();
    let sessions = journal.sessions(&SessionFilter::default(), None, 100).await.unwrap();
    let interrupts = journal.interrupts(&InterruptFilter::default(), None, 100).await.unwrap();
    let mut grants = Vec::new();
    for run in &runs.items {
        for grant in stage.driver.session(&run.session).await.unwrap().grants.keys() {
            grants.push(journal.grant(grant).await.unwrap());
        }
    }
    let answers = journal.answers(&AnswerFilter::default(), None, 100).await.unwrap();
    assert!(!answers.items.is_empty(), "one was answered");
    format!("{runs:#?}\n{sessions:#?}\n{interrupts:#?}\n{grants:#?}\n{answers:#?}")
}

async fn rebuild_changes_nothing<J: Journal>(journal: Arc<J>) {
    let stage = play(journal).await;
    let before = rows(&stage).await;
    let rebuilt = rebuild::rebuild(&stage.driver).await.unwrap();
    assert_eq!(rows(&stage).await, before);
    assert_eq!((rebuilt.runs, rebuilt.sessions, rebuilt.grants), (5, 7, 2));
    // Rebuilds the rows once more, starting from empty tables.
    stage.driver.journal().replace_rows(Vec::new()).await.unwrap();
    rebuild::rebuild(&stage.driver).await.unwrap();
    assert_eq!(rows(&stage).await, before);
}

#[tokio::test]
async fn rebuild_yields_the_rows_that_were_there_in_memory() {
    rebuild_changes_nothing(Arc::new(Memory::new())).await;
}

#[tokio::test]
async fn rebuild_yields_the_rows_that_were_there_in_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    rebuild_changes_nothing(Arc::new(Sqlite::open(folder.path()).unwrap())).await;
}

#[tokio::test]
async fn a_run_on_sqlite_goes_on_after_the_store_was_closed_and_opened() {
    let folder = tempfile::tempdir().unwrap();
    let stage = play(Arc::new(Sqlite::open(folder.path()).unwrap())).await;
    let filter = InterruptFilter { open: Some(true), ..InterruptFilter::default() };
    let open = stage.driver.journal().interrupts(&filter, None, 100).await.unwrap();
    stage.driver.journal().close().await.unwrap();

    let reopened = Arc::new(Sqlite::open(folder.path()).unwrap());
    let stage = Stage::on(reopened, stage.world.clone(), stage.clock.clone());
    assert_eq!(stage.driver.sweep().await.unwrap(), 0);
    for row in &open.items {
        if stage.status(&row.run).await == Status::Waiting {
            stage.approve_all(&row.run).await;
            assert_eq!(stage.status(&row.run).await, Status::Completed);
        }
    }
    let report = audit::verify(&**stage.driver.journal()).await.unwrap();
    assert_eq!((report.problems.len(), report.streams), (0, 11));
}

#[tokio::test]
async fn audit_finds_an_event_that_was_changed() {
    let changes = [
        (
            "head",
            "UPDATE events SET head = CAST(replace(CAST(head AS TEXT), 'operator', 'somebody') AS BLOB) WHERE seq = 1",
        ),
        ("content", "UPDATE events SET content = CAST('{}' AS BLOB) WHERE seq = 1"),
        ("missing", "DELETE FROM events WHERE seq = 2"),
        ("the last of a run", "DELETE FROM events WHERE position = (SELECT max(position) FROM events)"),
        ("a whole run", "DELETE FROM events"),
    ];
    for (what, sql) in changes {
        let folder = tempfile::tempdir().unwrap();
        let stage = play(Arc::new(Sqlite::open(folder.path()).unwrap())).await;
        let clean = audit::verify(&**stage.driver.journal()).await.unwrap();
        assert_eq!(clean.problems, [], "{what}");
        stage.driver.journal().close().await.unwrap();
        let file = rusqlite::Connection::open(folder.path().join("holdshort.db")).unwrap();
        assert!(by_hand::change_events(&file, sql, &[]) > 0, "{what}");
        drop(file);
        // Without its head file the database opens, even though its last events are missing.
        std::fs::remove_file(folder.path().join("holdshort.head")).unwrap();
        let reopened = Arc::new(Sqlite::open(folder.path()).unwrap());
        let found = audit::verify(&*reopened).await.unwrap();
        assert!(!found.problems.is_empty(), "{what}: {found:?}");
        // The damaged run stops, and no other run is affected.
        let stage = Stage::on(reopened, stage.world.clone(), stage.clock.clone());
        stage.driver.sweep().await.unwrap();
    }
}

/// An audit finds a session whose last event is lost. Only the session's row shows the loss, because the hash chain
/// stays valid.
#[tokio::test]
async fn audit_finds_a_session_whose_last_event_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let stage = play(Arc::new(Sqlite::open(folder.path()).unwrap())).await;
    stage.driver.journal().close().await.unwrap();
    let file = rusqlite::Connection::open(folder.path().join("holdshort.db")).unwrap();
    let revoked = "DELETE FROM events WHERE CAST(head AS TEXT) LIKE '%\"grant_revoked\"%'";
    assert_eq!(by_hand::change_events(&file, revoked, &[]), 1);
    drop(file);
    let found = audit::verify(&Sqlite::open(folder.path()).unwrap()).await.unwrap();
    let of_sessions = found.problems.iter().filter(|problem| problem.stream.starts_with("ses_"));
    let told: Vec<&str> = of_sessions.map(|problem| problem.message.as_str()).collect();
    assert_eq!(told, ["events of the session are missing: the session had at least 2 events and has 1"]);
}

/// An audit reports one finding per stream with many faults. Here, events of a session and several runs imply the same
/// missing row.
#[tokio::test]
async fn audit_tells_one_finding_of_each_stream() {
    let folder = tempfile::tempdir().unwrap();
    let stage = play(Arc::new(Sqlite::open(folder.path()).unwrap())).await;
    stage.driver.journal().close().await.unwrap();
    let file = rusqlite::Connection::open(folder.path().join("holdshort.db")).unwrap();
    let taken = "UPDATE events SET content = NULL, salt = NULL WHERE content IS NOT NULL";
    assert!(by_hand::change_events(&file, taken, &[]) > 1);
    for rows in ["sessions", "interrupts"] {
        assert!(file.execute(&format!("DELETE FROM {rows}"), []).unwrap() > 1, "{rows}");
    }
    drop(file);
    let found = audit::verify(&Sqlite::open(folder.path()).unwrap()).await.unwrap();
    let streams: BTreeSet<&str> = found.problems.iter().map(|problem| problem.stream.as_str()).collect();
    assert_eq!(streams.len(), found.problems.len(), "{:#?}", found.problems);
    for kind in ["run_", "ses_"] {
        assert!(streams.iter().any(|stream| stream.starts_with(kind)), "{kind}: {streams:?}");
    }
}

#[tokio::test]
async fn runs_that_wait_are_not_held_in_memory() {
    let stage = Stage::solo(script());
    stage.world.write("a", "alpha");
    let mut runs = Vec::new();
    for _ in 0..400 {
        runs.push(stage.play().await);
    }
    assert!(stage.driver.loaded_runs() <= 256, "{}", stage.driver.loaded_runs());
    // A run that was dropped from memory can be continued.
    stage.approve_all(&runs[0]).await;
    assert_eq!(stage.status(&runs[0]).await, Status::Completed);
}

#[tokio::test]
async fn watchers_hear_of_commits() {
    let stage = Stage::solo(script());
    stage.world.write("a", "alpha");
    let run = stage.play().await;
    let mut seq = stage.driver.watch(&run);
    stage.decide_only(&run, option("approve")).await;
    assert!(seq.has_changed().unwrap());
    let last = stage.events(&run).await.len() as u64;
    assert_eq!(*seq.borrow_and_update(), last);
    let page = stage.driver.journal().read(&StreamId::Run(run), last - 1, 10).await.unwrap();
    assert_eq!(page.len(), 1);
}

/// Starts a run with two calls: one is running, and the inspection of the other is about to return.
async fn one_of_two<J: Journal>(journal: Arc<J>) -> Stage<J> {
    let world = World::default();
    world.script("solo", vec![Say::Calls(vec![read("a"), read("b")]), Say::Text("Done.")]);
    let stage = Stage::on(journal, world, SimClock::new(7));
    stage.start().await;
    for _ in ["the model", "the look at a"] {
        let (job, deliver) = stage.world.take().unwrap();
        deliver(stage.world.work(&job)).await.unwrap();
    }
    assert_eq!(stage.world.waiting(), ["inspect/call_2/0", "tool/call_1/1"]);
    stage
}

async fn look_at_the_other<J: Journal>(stage: &Stage<J>) {
    let (job, deliver) = stage.world.take().unwrap();
    deliver(stage.world.work(&job)).await.unwrap();
}

#[tokio::test]
async fn what_a_freeze_held_back_begins_after_it_beside_what_is_under_way() {
    let stage = one_of_two(Arc::new(Memory::new())).await;
    stage.driver.change_system(system::Input::freeze("a look is needed"), operator()).await.unwrap();
    look_at_the_other(&stage).await;
    assert_eq!(stage.world.waiting(), ["tool/call_1/1"]);
    stage.driver.change_system(system::Input::unfreeze(), operator()).await.unwrap();
    assert_eq!(stage.world.waiting(), ["tool/call_1/1", "tool/call_2/1"]);
}

#[tokio::test]
async fn what_a_lost_lease_held_back_begins_when_it_stands_again() {
    let journal = Arc::new(Memory::shared());
    let stage = one_of_two(journal.clone()).await;
    journal.lapse();
    look_at_the_other(&stage).await;
    assert_eq!(stage.world.waiting(), ["tool/call_1/1"]);
    journal.renew();
    stage.driver.sweep().await.unwrap();
    assert_eq!(stage.world.waiting(), ["tool/call_1/1", "tool/call_2/1"]);
}
