//! Copying a journal from one store to another: either everything is imported, or nothing.

use std::io::Cursor;
use std::sync::Arc;

use holdshort_core::digest::Digest;
use holdshort_core::id::RunId;
use holdshort_engine::IdempotencyKey;
use holdshort_engine::transfer::{self, Error, TransferCounts};
use holdshort_store::{Append, Journal, Key, Log, Memory, Sqlite};
use holdshort_testkit::by_hand;
use holdshort_testkit::clock::SimClock;

use crate::stage::{SOLO, Stage, command, option};
use crate::world::{Say, World};

/// A page size larger than the number of events.
const PAGE: usize = 10_000;

fn on<J: Journal>(journal: Arc<J>, seed: u64) -> Stage<J> {
    let world = World::default();
    world.script("solo", vec![Say::Calls(vec![command("touch a")]), Say::Text("Done.")]);
    Stage::on(journal, world, SimClock::new(seed))
}

async fn export<J: Journal>(stage: &Stage<J>, runs: &[RunId]) -> Vec<u8> {
    let mut file = Vec::new();
    transfer::export(&**stage.driver.journal(), runs, &mut file).await.unwrap();
    transfer::check(&*file).unwrap();
    file
}

async fn import(journal: &Memory, file: &[u8]) -> Result<TransferCounts, Error> {
    transfer::import(journal, Cursor::new(file)).await
}

fn position(journal: &Memory) -> u64 {
    *journal.watch().borrow()
}

/// Returns a journal with more events than one batch. Its last run was started with an idempotency key.
async fn many() -> (Stage<Memory>, RunId) {
    let stage = on(Arc::new(Memory::new()), 1);
    for _ in 0..120 {
        stage.play().await;
    }
    assert!(position(stage.driver.journal()) > 600);
    let key = IdempotencyKey { scope: "s".into(), key: "k".into(), digest: Digest::of_bytes(b"one") };
    let run = stage.try_start(SOLO, None, Some(key), "do it").await.unwrap().run;
    stage.world.settle().await;
    (stage, run)
}

/// The copy of a whole journal has the same head, even if the events of two concurrent runs alternate.
#[tokio::test]
async fn a_whole_journal_keeps_its_head() {
    let stage = on(Arc::new(Memory::new()), 1);
    let (one, other) = (stage.play().await, stage.play().await);
    for run in [&one, &other] {
        stage.decide_only(run, option("approve")).await;
    }
    let (from, there) = (stage.driver.journal(), Memory::new());
    let moved = import(&there, &export(&stage, &[]).await).await.unwrap();
    assert_eq!(moved.events, from.head().await.unwrap().events);
    assert_eq!(there.head().await.unwrap(), from.head().await.unwrap());
    assert_eq!(there.links(0, PAGE).await.unwrap(), from.links(0, PAGE).await.unwrap());
}

#[tokio::test]
async fn what_grew_since_is_added_and_nothing_else() {
    let (stage, run) = many().await;
    let there = Memory::new();
    let part = import(&there, &export(&stage, std::slice::from_ref(&run)).await).await.unwrap();
    assert_eq!((part.streams, part.keys), (1, 1));
    stage.decide_only(&run, option("approve")).await;
    let file = export(&stage, &[]).await;
    let whole = transfer::check(&*file).unwrap();
    let rest = import(&there, &file).await.unwrap();
    assert_eq!((rest.events, rest.keys, rest.blobs), (whole.events - part.events, 0, 0));
    assert_eq!(rest.streams, whole.streams, "the one that was there grew");
    assert_eq!(import(&there, &file).await.unwrap(), TransferCounts::default());
}

#[tokio::test]
async fn a_stream_that_differs_at_its_end_is_found_before_anything_is_written() {
    let (stage, run) = many().await;
    let there = Arc::new(Memory::new());
    import(&there, &export(&stage, std::slice::from_ref(&run)).await).await.unwrap();
    let elsewhere = on(there.clone(), 2);
    stage.decide_only(&run, option("approve")).await;
    elsewhere.decide_only(&run, option("reject")).await;
    let before = position(&there);
    let refused = import(&there, &export(&stage, &[]).await).await;
    assert!(matches!(&refused, Err(Error::Differs { .. })), "{refused:?}");
    assert_eq!(position(&there), before);
}

#[tokio::test]
async fn a_key_of_another_request_is_found_before_anything_is_written() {
    let (stage, _) = many().await;
    let there = Memory::new();
    let key = Key {
        scope: "s".into(),
        key: "k".into(),
        digest: Digest::of_bytes(b"other"),
        reference: String::new(),
    };
    there.append(Append { keys: vec![key], ..Append::default() }).await.unwrap();
    let refused = import(&there, &export(&stage, &[]).await).await;
    assert!(matches!(&refused, Err(Error::KeyDiffers { .. })), "{refused:?}");
    assert_eq!(position(&there), 0);
}

#[tokio::test]
async fn a_run_whose_last_events_are_lost_is_not_exported() {
    let folder = tempfile::tempdir().unwrap();
    let stage = on(Arc::new(Sqlite::open(folder.path()).unwrap()), 1);
    let run = stage.play().await;
    stage.driver.journal().close().await.unwrap();
    let file = rusqlite::Connection::open(folder.path().join("holdshort.db")).unwrap();
    let last = "DELETE FROM events WHERE position = (SELECT max(position) FROM events)";
    assert_eq!(by_hand::change_events(&file, last, &[]), 1);
    drop(file);
    std::fs::remove_file(folder.path().join("holdshort.head")).unwrap();
    let reopened = Sqlite::open(folder.path()).unwrap();
    for runs in [vec![], vec![run]] {
        let refused = transfer::export(&reopened, &runs, &mut Vec::new()).await;
        assert!(matches!(&refused, Err(Error::Damaged(_))), "{refused:?}");
    }
}
