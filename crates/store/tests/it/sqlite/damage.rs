//! Bytes that have changed on disk. A write-ahead log with a torn end loses only unacknowledged commits. Any other
//! damage is reported, or does not affect the data that is read.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use holdshort_core::actor::Actor;
use holdshort_core::envelope::{self, Chain, Content, Sealed};
use holdshort_core::event::{self, Event, Fact};
use holdshort_core::id::{Draw, Seed};
use holdshort_core::run;
use holdshort_store::{
    Append, Error, GrantFilter, InterruptFilter, Log, RunFilter, SessionFilter, Sqlite, StreamAppend, Tables,
};
use tempfile::TempDir;

use crate::fixture::{at, content, id, interrupt_row, run_row, run_stream, to};

const DATABASE: &str = "holdshort.db";
const LOG: &str = "holdshort.db-wal";
const COMMITS: u64 = 6;
const PAGE: usize = 1024;
/// Size of a frame in the write-ahead log: a header and a page.
const FRAME: usize = 24 + PAGE;

/// Returns the folder of a store that was killed after `COMMITS` appends, and the length of its write-ahead log after
/// each append.
async fn killed() -> (TempDir, Vec<usize>) {
    let (folder, copy) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    drop(Sqlite::open(folder.path()).unwrap());
    let store = Sqlite::open(folder.path()).unwrap();
    let mut ends = Vec::new();
    for n in 0..COMMITS {
        store.append(append(n)).await.unwrap();
        ends.push(usize::try_from(fs::metadata(folder.path().join(LOG)).unwrap().len()).unwrap());
    }
    for name in [DATABASE, LOG] {
        fs::copy(folder.path().join(name), copy.path().join(name)).unwrap();
    }
    assert!(
        ends.is_sorted() && fs::metadata(copy.path().join(LOG)).unwrap().len() == ends[ends.len() - 1] as u64
    );
    (copy, ends)
}

fn append(n: u64) -> Append {
    let mut append = to(&run_stream(1), n, 1);
    // Every second append has an event that is larger than a page.
    append.streams[0].events[0].content =
        Some(content(vec![b'x'; if n.is_multiple_of(2) { 100 } else { 9_000 }]));
    append
}

/// Copies the folder, replaces the write-ahead log in the copy, and opens the copy.
fn with_log(folder: &Path, log: &[u8]) -> (TempDir, Result<Sqlite, Error>) {
    let copy = TempDir::new().unwrap();
    fs::copy(folder.join(DATABASE), copy.path().join(DATABASE)).unwrap();
    fs::write(copy.path().join(LOG), log).unwrap();
    let opened = Sqlite::open(copy.path());
    (copy, opened)
}

/// Truncating the write-ahead log loses only the commits after the cut. The log is cut at each frame and within frames.
#[tokio::test]
async fn a_log_that_is_cut_off_loses_what_was_cut_and_nothing_before_it() {
    let (folder, ends) = killed().await;
    let log = fs::read(folder.path().join(LOG)).unwrap();
    let cuts = (0..=log.len()).filter(|cut| {
        let in_frame = cut.saturating_sub(32) % FRAME;
        *cut <= 33 || [0, 1, 8, 23, 24, 2_000, FRAME - 1].contains(&in_frame) || ends.contains(cut)
    });
    for cut in cuts {
        let (_copy, store) = with_log(folder.path(), &log[..cut]);
        let store = store.unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        let whole = ends.iter().filter(|end| **end <= cut).count() as u64;
        let events = store.read(&run_stream(1), 0, 100).await.unwrap();
        let expected: Vec<_> = (0..whole).flat_map(|n| append(n).streams.remove(0).events).collect();
        assert!(events == expected, "cut at {cut}: {} events, not {whole}", events.len());
        // Appends still work after the recovery.
        store.append(append(whole)).await.unwrap();
    }
}

#[tokio::test]
async fn damage_in_the_log_before_its_last_commit_is_called_damage() {
    let (folder, ends) = killed().await;
    let log = fs::read(folder.path().join(LOG)).unwrap();
    let last = ends[ends.len() - 2];
    let places = (0..log.len()).filter(|at| *at < 32 || (at - 32) % FRAME < 24 || at % 3989 == 0);
    for at in places {
        let mut log = log.clone();
        log[at] ^= 0x55;
        let (copy, store) = with_log(folder.path(), &log);
        if at < last {
            let Err(Error::Corrupt(why)) = store else { panic!("byte {at}: {store:?}") };
            assert!(why.contains("is damaged at byte"), "{why}");
            // A rejected log must stay unchanged, because a specialist may be able to recover more data.
            assert!(fs::read(copy.path().join(LOG)).unwrap() == log);
            assert!(
                fs::read(copy.path().join(DATABASE)).unwrap()
                    == fs::read(folder.path().join(DATABASE)).unwrap()
            );
        } else {
            // A damaged last commit cannot be distinguished from an unacknowledged commit, unless the damage makes it
            // look like two commits.
            let says_commit = (4..8).contains(&((at - 32) % FRAME));
            match store {
                Ok(store) => {
                    assert_eq!(store.chain(&run_stream(1)).await.unwrap().seq, COMMITS - 1, "byte {at}");
                }
                Err(error) => {
                    assert!(says_commit && matches!(error, Error::Corrupt(_)), "byte {at}: {error}");
                }
            }
        }
    }
}

/// After a page of a closed database is overwritten, every read returns the written data or an error.
#[tokio::test]
async fn a_damaged_page_is_found_or_holds_nothing() {
    let folder = TempDir::new().unwrap();
    let store = Sqlite::open(folder.path()).unwrap();
    for n in 0..12 {
        let mut append = Append::default();
        let texts = ["short".to_owned(), "x".repeat(if n == 3 { 70_000 } else { 900 }), "end".to_owned()];
        append.streams = vec![StreamAppend { stream: run_stream(n), expected: 0, events: sealed(n, &texts) }];
        append.rows.run = Some(run_row(n));
        append.rows.interrupts = vec![interrupt_row(n)];
        store.append(append).await.unwrap();
    }
    let written = everything(&store).await.unwrap();
    store.close().await.unwrap();
    let database = fs::read(folder.path().join(DATABASE)).unwrap();
    let pages = database.len() / PAGE;
    let mut found = 0;
    for page in 0..pages {
        for noise in [false, true] {
            let mut damaged = database.clone();
            for (i, byte) in damaged[page * PAGE..(page + 1) * PAGE].iter_mut().enumerate() {
                *byte = if noise { u8::try_from(i * 31 % 251).unwrap() ^ *byte } else { 0 };
            }
            let copy = TempDir::new().unwrap();
            fs::write(copy.path().join(DATABASE), &damaged).unwrap();
            let read = match Sqlite::open(copy.path()) {
                Ok(store) => everything(&store).await,
                Err(error) => Err(error),
            };
            match read {
                Ok(read) => {
                    assert!(read == written, "page {page} of {pages}: read as if nothing had happened");
                }
                Err(Error::Corrupt(_)) => found += 1,
                Err(other) => panic!("page {page} of {pages}: {other:?}"),
            }
        }
    }
    // Damage must be detected at least once per page, because every page contains data.
    assert!(found >= pages, "{found} of {pages}");
}

/// Returns events with valid hashes, so that readers can detect damage inside an event.
fn sealed(n: u64, texts: &[String]) -> Vec<Sealed> {
    let (mut chain, mut draw) = (Chain::START, Draw::new(Seed([7; 16]), at(n)));
    let events = texts.iter().map(|text| Event {
        stream: run_stream(n),
        at: at(n),
        actor: Actor::engine(),
        fact: Fact::Run(run::Fact::MessageAdded),
        content: Content::text(text),
    });
    events.map(|event| envelope::seal(&event, &mut chain, &mut draw)).collect()
}

/// Returns all data of a store as text, with decoded events.
async fn everything(store: &Sqlite) -> Result<String, Error> {
    let mut all = String::new();
    for found in store.tail(0, 1_000).await? {
        let event = event::decode(&found.event).map_err(|error| Error::Corrupt(error.to_string()))?;
        write!(all, "{} {event:?}", found.position).unwrap();
    }
    for stream in store.streams(None, 1_000).await? {
        let mut chain = Chain::START;
        for event in store.read(&stream, 0, 1_000).await? {
            event::open(&event, &mut chain).map_err(|error| Error::Corrupt(error.to_string()))?;
        }
        write!(all, "{stream} {chain:?} {:?}", store.chain(&stream).await?).unwrap();
    }
    for n in 0..12 {
        write!(all, "{:?} {:?}", store.run(&id(n)).await?, store.interrupt(&id(n)).await?).unwrap();
    }
    write!(all, "{:?}", store.runs(&RunFilter::default(), None, 100).await?).unwrap();
    write!(all, "{:?}", store.sessions(&SessionFilter::default(), None, 100).await?).unwrap();
    write!(all, "{:?}", store.interrupts(&InterruptFilter::default(), None, 100).await?).unwrap();
    write!(all, "{:?}", store.grants(&GrantFilter::default(), None, 100).await?).unwrap();
    Ok(all)
}
