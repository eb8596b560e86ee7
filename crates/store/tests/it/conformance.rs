//! Promises that every store must keep, one per test. `on_every_store!` lists the stores.

use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::digest::Digest;
use holdshort_core::envelope::{self, Chain, Content, Sealed};
use holdshort_core::event::{self, Event, Fact};
use holdshort_core::head::Head;
use holdshort_core::id::{Draw, Seed, SessionId, StreamId};
use holdshort_core::projection::{AnswerRow, GrantRow, InterruptRow, RunRow, SessionRow};
use holdshort_core::session::{End, State};
use holdshort_core::system;
use holdshort_store::{
    Append, AppendError, Blob, CONTENT_INLINE_LIMIT, Change, Error, Journal, Leases, Link, Log, Positioned,
    Rows, StreamAppend, Tables,
};

use crate::fixture::{
    answer_row, at, comparable_outcome, content, event, events, id, interrupt_row, key, log, put, put_run,
    put_session, run_row, run_stream, session_row, to,
};
use crate::subject::Subject;

macro_rules! on_stores {
    ($promises:tt: $($store:ident $subject:ident),*) => {
        $(mod $store {
            crate::conformance::on_store! { $subject $promises }
        })*
    };
}
macro_rules! on_store {
    ($subject:ident { $($promise:ident),* $(,)? }) => {
        $(#[tokio::test(flavor = "multi_thread")] async fn $promise() {
            super::$promise::<crate::subject::$subject>().await;
        })*
    };
}
macro_rules! on_every_store {
    ($($promise:ident),* $(,)?) => {
        crate::conformance::on_stores! {
            { $($promise),* }:
            memory InMemory, own_memory InOwnMemory, sqlite InSqlite, postgres InPostgres
        }
    };
}
pub(crate) use {on_every_store, on_store, on_stores};

on_every_store! {
    what_is_written_is_read_back,
    a_stream_is_read_in_pages,
    pages_end_within_appends,
    an_append_compares_the_streams_sequence,
    a_guard_compares_without_writing,
    a_guard_holds_until_the_commit,
    an_append_is_all_or_nothing,
    a_key_is_taken_once,
    a_taken_key_is_told_before_a_conflict,
    a_blob_is_written_once,
    large_content_comes_back_like_small,
    an_append_that_contradicts_itself_is_refused,
    positions_grow_and_pages_by_them_are_complete,
    one_chain_covers_all_events,
    an_append_without_events_tells_the_last_position,
    a_chain_ends_where_the_stream_ends,
    streams_are_listed_in_order,
    content_is_erased_with_an_append_and_the_chain_stays,
    rows_are_replaced_by_their_id,
    rows_of_a_session_become_one_in_any_order,
    all_rows_can_be_rebuilt,
    a_restart_keeps_everything_and_draws_an_epoch,
    a_commit_is_told_to_who_watches,
    a_stream_of_ones_own_never_conflicts,
    of_many_who_fight_for_a_sequence_one_wins,
    real_events_open_as_they_were_sealed,
}

mod one_after_the_other {
    use super::positions_have_no_gap;
    crate::conformance::on_stores! { { positions_have_no_gap }: memory InMemory, sqlite InSqlite }
}

async fn what_is_written_is_read_back<S: Subject>() {
    let store = S::open().await;
    let stream = run_stream(1);
    let mut chain = Chain::START;
    let contents = [Vec::new(), "\"né\"".into(), vec![0, 255, 0]].map(|bytes| Some(content(bytes)));
    let contents = contents.into_iter().chain([None]);
    let written: Vec<_> = contents.map(|content| event(&stream, &mut chain, content)).collect();
    let part = StreamAppend { stream: stream.clone(), expected: 0, events: written.clone() };
    let append = Append { streams: vec![part], ..Append::default() };
    store.journal().append(append).await.unwrap();
    assert_eq!(store.journal().read(&stream, 0, usize::MAX).await.unwrap(), written);
    assert_eq!(store.journal().read(&run_stream(2), 0, 10).await.unwrap(), []);
}

async fn a_stream_is_read_in_pages<S: Subject>() {
    let store = S::open().await;
    store.journal().append(to(&run_stream(1), 0, 5)).await.unwrap();
    let seqs = async |after, limit| {
        let events = store.journal().read(&run_stream(1), after, limit).await.unwrap();
        events.iter().map(|event| event.seq).collect::<Vec<_>>()
    };
    assert_eq!(seqs(0, 2).await, [1, 2]);
    assert_eq!(seqs(2, 2).await, [3, 4]);
    assert_eq!(seqs(4, 2).await, [5]);
    assert!(seqs(u64::MAX, 2).await.is_empty());
    assert!(seqs(0, 0).await.is_empty());
}

/// Every page of events except the last is full, however many events each append has.
async fn pages_end_within_appends<S: Subject>() {
    let store = S::open().await;
    let (stream, mut end) = (run_stream(1), 0);
    for count in [1, 70, 2, 3] {
        let other = events(&run_stream(2), end, count);
        let streams = vec![events(&stream, end, count), other];
        store.journal().append(Append { streams, ..Append::default() }).await.unwrap();
        end += count;
    }
    let (all, log) = (store.journal().read(&stream, 0, 100).await.unwrap(), log(&**store.journal()).await);
    assert_eq!((all.len() as u64, log.len() as u64), (end, 2 * end));
    for size in [1, 2, 3, 31, 32, 33, 75, 76] {
        for page in all.chunks(size) {
            assert_eq!(store.journal().read(&stream, page[0].seq - 1, size).await.unwrap(), page);
        }
        let mut after = 0;
        for page in log.chunks(size) {
            assert_eq!(store.journal().tail(after, size).await.unwrap(), page);
            let positions: Vec<u64> = page.iter().map(|each| each.position).collect();
            let changes = store.journal().changes(after, size).await.unwrap();
            assert_eq!(changes.iter().map(|change| change.position).collect::<Vec<_>>(), positions);
            let links = store.journal().links(after, size).await.unwrap();
            assert_eq!(links.iter().map(|link| link.position).collect::<Vec<_>>(), positions);
            after = page[page.len() - 1].position;
        }
    }
}

async fn an_append_compares_the_streams_sequence<S: Subject>() {
    let store = S::open().await;
    let stream = run_stream(1);
    let ahead = store.journal().append(to(&stream, 1, 1)).await;
    assert!(matches!(ahead, Err(AppendError::Conflict { expected: 1, found: 0, .. })), "{ahead:?}");
    store.journal().append(to(&stream, 0, 2)).await.unwrap();
    let behind = store.journal().append(to(&stream, 1, 1)).await;
    assert!(matches!(behind, Err(AppendError::Conflict { expected: 1, found: 2, .. })), "{behind:?}");
    store.journal().append(to(&stream, 2, 1)).await.unwrap();
    assert_eq!(store.journal().chain(&stream).await.unwrap().seq, 3);
}

async fn a_guard_compares_without_writing<S: Subject>() {
    let store = S::open().await;
    let session = StreamId::Session(id::<SessionId>(1));
    let guarded = |expected, seq| Append {
        guards: vec![(StreamId::System, 0), (session.clone(), seq)],
        ..to(&run_stream(1), expected, 1)
    };
    store.journal().append(guarded(0, 0)).await.unwrap();
    store.journal().append(to(&session, 0, 1)).await.unwrap();
    let late = comparable_outcome(store.journal().append(guarded(1, 0)).await);
    let conflict = AppendError::Conflict { stream: session.clone(), expected: 0, found: 1 };
    assert_eq!(late, Err(format!("{conflict:?}")));
    store.journal().append(guarded(1, 1)).await.unwrap();
    assert_eq!(store.journal().chain(&run_stream(1)).await.unwrap().seq, 2);
}

/// The guard of an append holds until the commit. In the order of commits, each append must come after the event that
/// its guard names, and before the next event of that stream. Writers and guards of one stream run concurrently here.
async fn a_guard_holds_until_the_commit<S: Subject>() {
    let store = S::open().await;
    let session = StreamId::Session(id::<SessionId>(1));
    let tasks: Vec<_> = (0..6)
        .map(|n| {
            let (journal, session) = (Arc::clone(store.journal()), session.clone());
            tokio::spawn(async move {
                let mut guarded = Vec::new();
                while guarded.len() < 20 {
                    let seq = journal.chain(&session).await.unwrap().seq;
                    let expected = guarded.len() as u64;
                    let append =
                        Append { guards: vec![(session.clone(), seq)], ..to(&run_stream(n), expected, 1) };
                    match journal.append(append).await {
                        Ok(_) => guarded.push(seq),
                        Err(AppendError::Conflict { .. }) => {}
                        Err(other) => panic!("{other:?}"),
                    }
                    if expected.is_multiple_of(4) {
                        // An error is expected, because only one of the concurrent writers succeeds.
                        let _lost = journal.append(to(&session, seq, 1)).await;
                    }
                }
                (n, guarded)
            })
        })
        .collect();
    let mut guarded = Vec::new();
    for task in tasks {
        guarded.push(task.await.unwrap());
    }
    let log = log(&**store.journal()).await;
    let position = |stream: &StreamId, seq| {
        log.iter().find(|p| p.event.stream == *stream && p.event.seq == seq).map(|p| p.position)
    };
    for (n, guarded) in guarded {
        for (expected, guard) in (1..).zip(guarded) {
            let found = position(&run_stream(n), expected).unwrap();
            assert!(position(&session, guard).is_none_or(|before| before < found));
            assert!(position(&session, guard + 1).is_none_or(|after| found < after));
        }
    }
}

/// Either everything in an append is written, or nothing. A guard on a stream that the append also writes applies to
/// the state before the append.
async fn an_append_is_all_or_nothing<S: Subject>() {
    let store = S::open().await;
    let journal = store.journal();
    let whole = |expected, guard| Append {
        streams: vec![events(&run_stream(1), 0, 2), events(&StreamId::System, expected, 1)],
        guards: vec![(run_stream(1), guard)],
        keys: vec![key("once", "run_1")],
        blobs: vec![Blob::new(b"definition".to_vec())],
        rows: Rows {
            run: Some(run_row(1)),
            session: Some(session_row(1)),
            interrupts: vec![interrupt_row(1)],
            grants: vec![GrantRow { grant: id(1), session: id(1), added_seq: 1, revoked: false }],
            answers: vec![answer_row(1)],
        },
        drives: false,
        erased: Vec::new(),
        forgets: None,
        deliveries: Vec::new(),
    };
    for refused in [whole(7, 0), whole(0, 2)] {
        let error = journal.append(refused).await.unwrap_err();
        assert!(matches!(error, AppendError::Conflict { .. }), "{error:?}");
    }
    assert_eq!(journal.tail(0, 10).await.unwrap(), []);
    assert_eq!(journal.streams(None, 10).await.unwrap(), []);
    assert_eq!(journal.key("tests", "once").await.unwrap(), None);
    assert_eq!(journal.blob(&Digest::of_bytes(b"definition")).await.unwrap(), None);
    assert_eq!(journal.run(&id(1)).await.unwrap(), None);
    assert_eq!(journal.session(&id(1)).await.unwrap(), None);
    assert_eq!(journal.interrupt(&id(1)).await.unwrap(), None);
    assert_eq!(journal.grant(&id(1)).await.unwrap(), None);
    assert_eq!(journal.answer(&id(1)).await.unwrap(), None);

    let written = journal.append(whole(0, 0)).await.unwrap();
    let log = log(&**journal).await;
    assert_eq!((log.len(), log[2].position), (3, written.position));
    assert_eq!(journal.key("tests", "once").await.unwrap(), Some(key("once", "run_1")));
    assert_eq!(journal.blob(&Digest::of_bytes(b"definition")).await.unwrap(), Some(b"definition".to_vec()));
    assert_eq!(journal.run(&id(1)).await.unwrap(), Some(run_row(1)));
    assert_eq!(journal.session(&id(1)).await.unwrap(), Some(session_row(1)));
    assert_eq!(journal.interrupt(&id(1)).await.unwrap(), Some(interrupt_row(1)));
    assert!(journal.grant(&id(1)).await.unwrap().is_some());
}

async fn a_key_is_taken_once<S: Subject>() {
    let store = S::open().await;
    let start =
        |stream, reference| Append { keys: vec![key("start", reference)], ..to(&run_stream(stream), 0, 1) };
    store.journal().append(start(1, "run_1")).await.unwrap();
    match store.journal().append(start(2, "run_2")).await {
        Err(AppendError::KeyTaken(first)) => assert_eq!(first, key("start", "run_1")),
        other => panic!("{other:?}"),
    }
    assert_eq!(store.journal().chain(&run_stream(2)).await.unwrap(), Chain::START);
    assert_eq!(store.journal().key("others", "start").await.unwrap(), None);
}

async fn a_taken_key_is_told_before_a_conflict<S: Subject>() {
    let store = S::open().await;
    let start = || Append { keys: vec![key("start", "run_1")], ..to(&run_stream(1), 0, 1) };
    store.journal().append(start()).await.unwrap();
    let repeat = store.journal().append(start()).await;
    assert!(matches!(repeat, Err(AppendError::KeyTaken(_))), "{repeat:?}");
}

async fn a_blob_is_written_once<S: Subject>() {
    let store = S::open().await;
    let blob = Blob::new(vec![1; 100_000]);
    let append = Append { blobs: vec![blob.clone(), blob.clone()], ..Append::default() };
    store.journal().append(append.clone()).await.unwrap();
    store.journal().append(append).await.unwrap();
    assert_eq!(store.journal().blob(&blob.digest).await.unwrap(), Some(blob.bytes));
    assert_eq!(store.journal().blob(&Digest::of_bytes(b"unknown")).await.unwrap(), None);
}

async fn large_content_comes_back_like_small<S: Subject>() {
    let store = S::open().await;
    let stream = run_stream(1);
    let mut chain = Chain::START;
    let sizes = [CONTENT_INLINE_LIMIT, CONTENT_INLINE_LIMIT + 1, CONTENT_INLINE_LIMIT + 1, 3_000_000];
    let written = sizes.map(|size| event(&stream, &mut chain, Some(content(vec![b'x'; size])))).to_vec();
    let part = StreamAppend { stream: stream.clone(), expected: 0, events: written.clone() };
    store.journal().append(Append { streams: vec![part], ..Append::default() }).await.unwrap();
    assert_eq!(store.journal().read(&stream, 0, 10).await.unwrap(), written);
    let log = log(&**store.journal()).await;
    assert_eq!(log.into_iter().map(|positioned| positioned.event).collect::<Vec<_>>(), written);
    for (size, is_blob) in [(CONTENT_INLINE_LIMIT, false), (3_000_000, true)] {
        let blob = store.journal().blob(&Digest::of_bytes(&vec![b'x'; size])).await.unwrap();
        assert_eq!(blob.map(|bytes| bytes.len()), is_blob.then_some(size));
    }
}

async fn an_append_that_contradicts_itself_is_refused<S: Subject>() {
    let store = S::open().await;
    let stream = run_stream(1);
    let part = events(&stream, 0, 2);
    let foreign = StreamAppend { stream: run_stream(2), ..part.clone() };
    let gap = StreamAppend { expected: 1, ..part.clone() };
    let end = StreamAppend { expected: u64::MAX, ..part.clone() };
    let reversed = StreamAppend { events: part.events.iter().rev().cloned().collect(), ..part.clone() };
    let wrong = Blob { digest: Digest::of_bytes(b"a"), bytes: b"b".to_vec() };
    let streams = |parts: Vec<StreamAppend>| Append { streams: parts, ..Append::default() };
    let contradictions = [
        streams(vec![foreign]),
        streams(vec![gap]),
        streams(vec![end]),
        streams(vec![reversed]),
        streams(vec![part.clone(), part]),
        Append { keys: vec![key("k", "a"), key("k", "b")], ..Append::default() },
        Append { blobs: vec![wrong], ..Append::default() },
    ];
    for append in contradictions {
        let refused = store.journal().append(append).await;
        assert!(matches!(refused, Err(AppendError::Malformed(_))), "{refused:?}");
    }
    assert_eq!(store.journal().tail(0, 10).await.unwrap(), []);
}

async fn positions_have_no_gap<S: Subject>() {
    let store = S::open().await;
    append_some(&**store.journal()).await;
    let positions: Vec<_> = log(&**store.journal()).await.iter().map(|event| event.position).collect();
    assert_eq!(positions, (1..=positions.len() as u64).collect::<Vec<_>>());
}

async fn one_chain_covers_all_events<S: Subject>() {
    let store = S::open().await;
    assert_eq!(store.journal().head().await.unwrap(), Head::START);
    append_some(&**store.journal()).await;
    is_chained(&**store.journal()).await;
    // A rejected append does not change the chain.
    let head = store.journal().head().await.unwrap();
    let refused = store.journal().append(to(&run_stream(1), 99, 1)).await;
    assert!(matches!(refused, Err(AppendError::Conflict { .. })), "{refused:?}");
    assert_eq!(store.journal().head().await.unwrap(), head);
    let store = store.restart().await;
    assert_eq!(store.journal().head().await.unwrap(), head);
    store.journal().append(to(&run_stream(77), 0, 2)).await.unwrap();
    is_chained(&**store.journal()).await;
    assert_eq!(store.journal().head().await.unwrap().events, head.events + 2);
    assert_eq!(store.journal().inspect().await.unwrap(), [""; 0]);
}

/// Checks that the stored hash chain matches all events.
async fn is_chained(journal: &impl Journal) {
    let all = log(journal).await;
    let told = journal.head().await.unwrap();
    let (mut head, mut sealed) = (Head::START, Head::START);
    let mut links = Vec::new();
    for event in &all {
        head = head.then(&event.event.hash);
        let page = journal.links(links.last().map_or(0, |link: &Link| link.position), 1).await.unwrap();
        let [link] = &page[..] else { panic!("{page:?}") };
        assert_eq!((link.position, link.hash), (event.position, event.event.hash));
        if let Some(kept) = link.sealed {
            assert_eq!(kept, head);
            sealed = kept;
        }
        links.extend(page);
    }
    assert_eq!((told, sealed), (head, head));
    assert_eq!(journal.links(0, usize::MAX >> 1).await.unwrap(), links);
}

async fn positions_grow_and_pages_by_them_are_complete<S: Subject>() {
    let store = S::open().await;
    let ends = append_some(&**store.journal()).await;
    let all = log(&**store.journal()).await;
    assert!(ends.is_sorted() && all.is_sorted_by(|a, b| a.position < b.position));
    for Positioned { position, event } in &all {
        let found = store.journal().position(&event.stream, event.seq).await.unwrap();
        assert_eq!(found, Some(*position), "{}/{}", event.stream, event.seq);
        let end = store.journal().chain(&event.stream).await.unwrap().seq;
        assert_eq!(store.journal().position(&event.stream, end + 1).await.unwrap(), None);
        assert_eq!(store.journal().position(&event.stream, 0).await.unwrap(), None);
    }
    // An append must return the position of its last event.
    let last_of_each =
        all.chunk_by(|a, b| ends.binary_search(&a.position).is_err() && a.position < b.position);
    assert_eq!(last_of_each.map(|events| events[events.len() - 1].position).collect::<Vec<_>>(), ends);
    let mut pages: Vec<Positioned> = Vec::new();
    let mut changes: Vec<Change> = Vec::new();
    loop {
        let after = pages.last().map_or(0, |last| last.position);
        let page = store.journal().tail(after, 3).await.unwrap();
        changes.extend(store.journal().changes(after, 3).await.unwrap());
        if page.is_empty() {
            break;
        }
        pages.extend(page);
    }
    let change = |Positioned { position, event }: &Positioned| Change {
        position: *position,
        stream: event.stream.clone(),
        seq: event.seq,
    };
    assert_eq!(changes, all.iter().map(change).collect::<Vec<_>>());
    assert_eq!(pages, all);
}

/// Appends some events, and returns the position that each successful append returned.
async fn append_some(journal: &impl Journal) -> Vec<u64> {
    let mut ends = Vec::new();
    for n in 0..20 {
        // Every third append has a conflict. Such an append must not use up a position.
        let append = to(&run_stream(n / 3), if n % 3 == 2 { 9 } else { n % 3 }, 1 + n % 3 % 2);
        ends.extend(journal.append(append).await.ok().map(|appended| appended.position));
    }
    ends
}

async fn an_append_without_events_tells_the_last_position<S: Subject>() {
    let store = S::open().await;
    assert_eq!(store.journal().append(Append::default()).await.unwrap().position, 0);
    let last = store.journal().append(to(&run_stream(1), 0, 3)).await.unwrap();
    assert_eq!(store.journal().append(to(&run_stream(2), 0, 0)).await.unwrap(), last);
    assert_eq!(store.journal().streams(None, 10).await.unwrap(), [run_stream(1)]);
}

async fn a_chain_ends_where_the_stream_ends<S: Subject>() {
    let store = S::open().await;
    assert_eq!(store.journal().chain(&StreamId::System).await.unwrap(), Chain::START);
    let append = to(&StreamId::System, 0, 4);
    let last = append.streams[0].events[3].clone();
    store.journal().append(append).await.unwrap();
    let end = Chain { seq: 4, hash: last.hash };
    assert_eq!(store.journal().chain(&StreamId::System).await.unwrap(), end);
}

async fn streams_are_listed_in_order<S: Subject>() {
    let store = S::open().await;
    let mut streams: Vec<_> = (0..5).rev().map(run_stream).collect();
    streams.extend([StreamId::System, StreamId::Session(id(2)), StreamId::Session(id(1))]);
    for stream in &streams {
        store.journal().append(to(stream, 0, 1)).await.unwrap();
    }
    streams.sort();
    let mut listed: Vec<StreamId> = Vec::new();
    loop {
        let page = store.journal().streams(listed.last(), 3).await.unwrap();
        if page.is_empty() {
            break;
        }
        listed.extend(page);
    }
    assert_eq!(listed, streams);
}

/// An append can erase contents of events and keeps all others. A rejected append erases nothing.
async fn content_is_erased_with_an_append_and_the_chain_stays<S: Subject>() {
    let store = S::open().await;
    let journal = &**store.journal();
    let large = vec![b'x'; CONTENT_INLINE_LIMIT + 1];
    let shared = vec![b'y'; CONTENT_INLINE_LIMIT + 1];
    let (one, other) = (run_stream(1), run_stream(2));
    let written = |stream: &StreamId, contents: Vec<Option<Vec<u8>>>| {
        let mut part = events(stream, 0, contents.len() as u64);
        for (event, bytes) in part.events.iter_mut().zip(contents) {
            event.content = bytes.map(content);
        }
        part
    };
    // More events than fit into one row.
    let mut contents = vec![Some(b"short".to_vec()), None, Some(large.clone()), Some(shared.clone())];
    contents.extend((4..40).map(|n: u8| Some(vec![n])));
    let streams = vec![written(&one, contents), written(&other, vec![Some(shared.clone())])];
    journal.append(Append { streams, ..Append::default() }).await.unwrap();
    let before = log(journal).await;

    let erasing = |expected, erased: &[u64]| Append {
        streams: vec![events(&one, expected, 1)],
        erased: erased.iter().map(|seq| (one.clone(), *seq)).collect(),
        ..Append::default()
    };
    let refused = journal.append(erasing(39, &[1])).await.unwrap_err();
    assert!(matches!(refused, AppendError::Conflict { .. }), "{refused:?}");
    for (stream, seq) in [(&one, 0), (&one, 41), (&other, 1)] {
        let append = Append { erased: vec![(stream.clone(), seq)], ..erasing(40, &[]) };
        let refused = journal.append(append).await.unwrap_err();
        assert!(matches!(refused, AppendError::Malformed(_)), "{stream}/{seq}: {refused:?}");
    }
    assert_eq!(log(journal).await, before);

    let gone = [1, 2, 3, 4, 33, 40];
    journal.append(erasing(40, &gone)).await.unwrap();
    let mut expected = before.clone();
    for each in expected.iter_mut().filter(|each| each.event.stream == one) {
        each.event.content = each.event.content.take().filter(|_| !gone.contains(&each.event.seq));
    }
    assert_eq!(log(journal).await[..41], expected);
    assert_eq!(journal.read(&other, 0, 9).await.unwrap()[0].content.as_ref().unwrap().bytes, shared);
    assert_eq!(journal.blob(&Digest::of_bytes(&large)).await.unwrap(), None);
    assert_eq!(journal.blob(&Digest::of_bytes(&shared)).await.unwrap(), Some(shared));
    // Erasing the same contents again changes nothing, even after a restart.
    journal.append(erasing(41, &gone)).await.unwrap();
    assert_eq!(journal.inspect().await.unwrap(), [""; 0]);
    let store = store.restart().await;
    assert_eq!(log(&**store.journal()).await[..41], expected);
}

async fn rows_are_replaced_by_their_id<S: Subject>() {
    let store = S::open().await;
    let grant = |revoked| GrantRow { grant: id(1), session: id(1), added_seq: 3, revoked };
    let rows = |n| Rows {
        run: Some(RunRow { run: id(1), ..run_row(n) }),
        session: Some(SessionRow { session: id(1), seq: n, created_at: at(1), ..session_row(n) }),
        interrupts: vec![InterruptRow { interrupt: id(1), ..interrupt_row(n) }],
        grants: vec![grant(n == 3)],
        answers: vec![AnswerRow { interrupt: id(1), ..answer_row(n) }],
    };
    for n in [1, 2, 2, 3] {
        put(&**store.journal(), rows(n)).await;
        let found = Rows {
            run: store.journal().run(&id(1)).await.unwrap(),
            session: store.journal().session(&id(1)).await.unwrap(),
            interrupts: store.journal().interrupt(&id(1)).await.unwrap().into_iter().collect(),
            grants: store.journal().grant(&id(1)).await.unwrap().into_iter().collect(),
            answers: store.journal().answer(&id(1)).await.unwrap().into_iter().collect(),
        };
        assert_eq!(found, rows(n));
    }
    // A run that has new events keeps its position in every list. A run that has ended does not.
    let moved = RunRow { seq: 99, updated_at: at(99), ..rows(3).run.unwrap() };
    put_run(&**store.journal(), moved.clone()).await;
    assert_eq!(store.journal().run(&id(1)).await.unwrap(), Some(moved));
}

/// The row of a session does not depend on the order of writing its events and the starts of its runs. The later event
/// and the earlier creation time win.
async fn rows_of_a_session_become_one_in_any_order<S: Subject>() {
    let store = S::open().await;
    let active = |seq, state, created_at, changed_at, idle_since| SessionRow {
        session: id(1),
        workflow: (seq > 0).then(|| "mars".to_owned()),
        state,
        seq,
        created_at: at(created_at),
        changed_at: at(changed_at),
        idle_ms: (seq > 0).then_some(7),
        front_run: (seq == 2).then(|| id(9)),
        idle_since: at(idle_since),
    };
    let told = |seq, state, created_at, changed_at| active(seq, state, created_at, changed_at, changed_at);
    let run = |at| told(0, State::Open, at, at);
    let closed = State::Closed(End::Completed);
    let found = async || store.journal().session(&id(1)).await.unwrap();
    for (row, expected) in [
        (run(50), run(50)),
        (run(60), active(0, State::Open, 50, 50, 60)),
        (run(40), active(0, State::Open, 40, 40, 60)),
        (told(2, State::Suspended, 30, 70), told(2, State::Suspended, 30, 70)),
        (told(1, State::Open, 30, 30), told(2, State::Suspended, 30, 70)),
        (run(20), told(2, State::Suspended, 20, 70)),
        (told(2, State::Suspended, 30, 70), told(2, State::Suspended, 20, 70)),
        (told(3, closed, 30, 90), told(3, closed, 20, 90)),
    ] {
        put_session(&**store.journal(), row.clone()).await;
        assert_eq!(found().await, Some(expected), "after {row:?}");
    }
    let parts = [told(3, closed, 30, 90), run(20), run(50)];
    let rows = |row: &SessionRow| Rows { session: Some(row.clone()), ..Rows::default() };
    store.journal().replace_rows(parts.iter().map(rows).collect()).await.unwrap();
    assert_eq!(found().await, Some(told(3, closed, 20, 90)));
}

async fn all_rows_can_be_rebuilt<S: Subject>() {
    let store = S::open().await;
    let rows = |n| Rows {
        run: Some(run_row(n)),
        session: Some(session_row(n)),
        interrupts: vec![interrupt_row(n)],
        grants: vec![GrantRow { grant: id(n), session: id(1), added_seq: n, revoked: false }],
        answers: vec![answer_row(n)],
    };
    let append = Append { keys: vec![key("start", "run_1")], rows: rows(1), ..to(&run_stream(1), 0, 1) };
    store.journal().append(append).await.unwrap();
    store.journal().replace_rows(vec![rows(2), rows(3)]).await.unwrap();
    let found: Vec<bool> = vec![
        store.journal().run(&id(1)).await.unwrap().is_some(),
        store.journal().session(&id(1)).await.unwrap().is_some(),
        store.journal().interrupt(&id(1)).await.unwrap().is_some(),
        store.journal().grant(&id(1)).await.unwrap().is_some(),
        store.journal().answer(&id(1)).await.unwrap().is_some(),
        store.journal().run(&id(2)).await.unwrap().is_some(),
        store.journal().session(&id(3)).await.unwrap().is_some(),
        store.journal().interrupt(&id(3)).await.unwrap().is_some(),
        store.journal().grant(&id(3)).await.unwrap().is_some(),
        store.journal().answer(&id(3)).await.unwrap().is_some(),
        store.journal().key("tests", "start").await.unwrap().is_some(),
        store.journal().chain(&run_stream(1)).await.unwrap().seq == 1,
    ];
    assert_eq!(found, [false, false, false, false, false, true, true, true, true, true, true, true]);
}

async fn a_restart_keeps_everything_and_draws_an_epoch<S: Subject>() {
    let store = S::open().await;
    let mut epochs = vec![store.journal().epoch(), store.journal().draw_epoch().await.unwrap()];
    assert_eq!(store.journal().epoch(), epochs[1]);
    let append = Append { keys: vec![key("start", "run_1")], ..to(&run_stream(1), 0, 2) };
    store.journal().append(append).await.unwrap();
    put_run(&**store.journal(), run_row(1)).await;
    let before = log(&**store.journal()).await;
    let old = Arc::clone(store.journal());

    let store = store.restart().await;
    epochs.push(store.journal().epoch());
    assert_eq!(log(&**store.journal()).await, before);
    assert_eq!(*store.journal().watch().borrow(), before[1].position);
    assert_eq!(store.journal().key("tests", "start").await.unwrap(), Some(key("start", "run_1")));
    assert_eq!(store.journal().run(&id(1)).await.unwrap(), Some(run_row(1)));
    store.journal().append(to(&run_stream(1), 2, 1)).await.unwrap();
    assert_eq!(log(&**store.journal()).await.len(), 3);

    assert!(matches!(old.append(to(&run_stream(1), 3, 1)).await, Err(AppendError::Store(Error::Closed))));
    assert!(matches!(old.tail(0, 1).await, Err(Error::Closed)));
    epochs.push(store.restart().await.journal().epoch());
    assert!(epochs.is_sorted_by(|a, b| a < b), "{epochs:?}");
}

async fn a_commit_is_told_to_who_watches<S: Subject>() {
    let store = S::open().await;
    let mut position = store.journal().watch();
    let writer = Arc::clone(store.journal());
    let writing = tokio::spawn(async move {
        for n in 0..50 {
            writer.append(to(&run_stream(1), n * 2, 2)).await.unwrap();
        }
    });
    let (mut seen, mut seqs) = (0, Vec::new());
    while seqs.len() < 100 {
        let told = *position.wait_for(|position| *position > seen).await.unwrap();
        let events = store.journal().tail(seen, usize::MAX).await.unwrap();
        seqs.extend(events.iter().map(|positioned| positioned.event.seq));
        seen = events[events.len() - 1].position;
        assert!(seen >= told, "told of {told} before it could be read");
    }
    assert_eq!(seqs, (1..=100).collect::<Vec<_>>());
    writing.await.unwrap();
    let last = store.journal().append(Append::default()).await.unwrap().position;
    assert_eq!(seen, last);
}

async fn a_stream_of_ones_own_never_conflicts<S: Subject>() {
    let store = S::open().await;
    let tasks: Vec<_> = (0..64)
        .map(|n| {
            let journal = Arc::clone(store.journal());
            tokio::spawn(async move {
                for seq in 0..8 {
                    let append = Append {
                        guards: vec![(StreamId::System, 0)],
                        rows: Rows { run: Some(run_row(n)), ..Rows::default() },
                        ..to(&run_stream(n), seq, 1)
                    };
                    journal.append(append).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let all = log(&**store.journal()).await;
    assert_eq!(all.len(), 64 * 8);
    for n in 0..64 {
        let seqs: Vec<_> =
            all.iter().filter(|p| p.event.stream == run_stream(n)).map(|p| p.event.seq).collect();
        assert_eq!(seqs, (1..=8).collect::<Vec<_>>());
    }
}

async fn of_many_who_fight_for_a_sequence_one_wins<S: Subject>() {
    let store = S::open().await;
    let tasks: Vec<_> = (0..16_u64)
        .map(|_| {
            let journal = Arc::clone(store.journal());
            tokio::spawn(async move {
                let mut won = Vec::new();
                while let seq @ 0..50 = journal.chain(&run_stream(1)).await.unwrap().seq {
                    match journal.append(to(&run_stream(1), seq, 1)).await {
                        Ok(_) => won.push(seq + 1),
                        Err(AppendError::Conflict { expected, found, .. }) => assert!(found > expected),
                        Err(other) => panic!("{other:?}"),
                    }
                }
                won
            })
        })
        .collect();
    let mut won = Vec::new();
    for task in tasks {
        won.extend(task.await.unwrap());
    }
    won.sort_unstable();
    assert_eq!(won, (1..=50).collect::<Vec<_>>());
}

async fn real_events_open_as_they_were_sealed<S: Subject>() {
    let store = S::open().await;
    let mut draw = Draw::new(Seed([3; 16]), at(1));
    let stream = StreamId::System;
    let (mut written, mut read) = (Chain::START, Chain::START);
    let texts = ["short".to_owned(), "long".repeat(CONTENT_INLINE_LIMIT)];
    let events = texts.map(|text| Event {
        stream: stream.clone(),
        at: at(1),
        actor: Actor::engine(),
        fact: Fact::System(system::Fact::Frozen),
        content: Content::text(text),
    });
    let sealed: Vec<Sealed> =
        events.iter().map(|event| envelope::seal(event, &mut written, &mut draw)).collect();
    let part = StreamAppend { stream: stream.clone(), expected: 0, events: sealed };
    store.journal().append(Append { streams: vec![part], ..Append::default() }).await.unwrap();
    let found = store.journal().read(&stream, 0, 10).await.unwrap();
    let opened: Vec<_> = found.iter().map(|sealed| event::open(sealed, &mut read).unwrap()).collect();
    assert_eq!(opened, events);
    assert_eq!(store.journal().chain(&stream).await.unwrap(), written);
}
