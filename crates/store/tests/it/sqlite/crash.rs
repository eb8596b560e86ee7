//! Processes that are killed while they write: all acknowledged events are there, and no append is partly written.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use holdshort_core::envelope::Chain;
use holdshort_core::id::StreamId;
use holdshort_store::{Append, Log, Rows, Sqlite, StreamAppend, Tables};
use tempfile::TempDir;

use super::{child, command};
use crate::fixture::{content, event, id, run_row, run_stream};

const FOLDER: &str = "STORE_TEST_FOLDER";
const WRITERS: u64 = 8;

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill_and_nothing_is_torn() {
    let folder = TempDir::new().unwrap();
    for acknowledged_before_the_kill in [1, 40, 250, 90, 400] {
        let acknowledged = run_and_kill(folder.path(), acknowledged_before_the_kill);
        let store = Sqlite::open(folder.path()).unwrap();
        for writer in 0..WRITERS {
            let acknowledged = acknowledged.get(&writer).copied().unwrap_or_default();
            check(&store, writer, acknowledged).await;
        }
    }
}

/// Runs a child process and kills it. Returns the highest acknowledged sequence of each writer in it.
fn run_and_kill(folder: &Path, lines: usize) -> BTreeMap<u64, u64> {
    let mut process = command(&child("sqlite::crash::writes_until_it_is_killed"))
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut acknowledged = BTreeMap::new();
    for (count, (writer, seq)) in output.filter_map(|line| acknowledgement(&line)).enumerate() {
        acknowledged.insert(writer, seq);
        if count + 1 == lines {
            process.kill().unwrap();
        }
    }
    process.wait().unwrap();
    assert!(acknowledged.values().sum::<u64>() >= lines as u64, "the child ended by itself");
    acknowledged
}

/// Parses a line of the child process. Returns `None` for an incomplete line, such as a last line that is cut off.
fn acknowledgement(line: &str) -> Option<(u64, u64)> {
    let (writer, seq) = line.strip_prefix("durable ")?.strip_suffix(" .")?.split_once(' ')?;
    Some((writer.parse().unwrap(), seq.parse().unwrap()))
}

/// Checks the two streams and the row that every append writes. Both streams end at the same sequence, at most one
/// append after the last acknowledged one. Both hash chains are valid, and the row is that of the last append.
async fn check(store: &Sqlite, writer: u64, acknowledged: u64) {
    let run = store.chain(&run_stream(writer)).await.unwrap();
    let session = store.chain(&StreamId::Session(id(writer))).await.unwrap();
    assert_eq!(run.seq, session.seq, "an append was torn");
    assert!(
        (acknowledged..=acknowledged + 1).contains(&run.seq) || acknowledged == 0,
        "{acknowledged} {run:?}"
    );
    let row = store.run(&id(writer)).await.unwrap();
    assert_eq!(row.map_or(0, |row| row.seq), run.seq);
    for (stream, end) in [(run_stream(writer), run), (StreamId::Session(id(writer)), session)] {
        let mut chain = Chain::START;
        for found in store.read(&stream, 0, usize::MAX).await.unwrap() {
            let expected = event(&stream, &mut chain, found.content.clone());
            assert_eq!(found, expected);
            if let Some(content) = found.content {
                assert_eq!(content.bytes.len(), size(found.seq));
            }
        }
        assert_eq!(chain, end);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the process that another test kills"]
async fn writes_until_it_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let store = Arc::new(Sqlite::open(Path::new(&folder)).unwrap());
    let writers: Vec<_> = (0..WRITERS).map(|n| tokio::spawn(write(Arc::clone(&store), n))).collect();
    for writer in writers {
        writer.await.unwrap();
    }
}

async fn write(store: Arc<Sqlite>, writer: u64) {
    let streams = [run_stream(writer), StreamId::Session(id(writer))];
    let mut chains = [store.chain(&streams[0]).await.unwrap(), store.chain(&streams[1]).await.unwrap()];
    loop {
        let parts = streams.iter().zip(&mut chains).map(|(stream, chain)| {
            let expected = chain.seq;
            let content = Some(content(vec![b'x'; size(expected + 1)]));
            StreamAppend { stream: stream.clone(), expected, events: vec![event(stream, chain, content)] }
        });
        let streams = parts.collect();
        let seq = chains[0].seq;
        let mut row = run_row(writer);
        row.seq = seq;
        let rows = Rows { run: Some(row), ..Rows::default() };
        store.append(Append { streams, rows, ..Append::default() }).await.unwrap();
        let line = format!("durable {writer} {seq} .\n");
        std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
    }
}

/// Returns the size of an event's content. That of every seventh event is large enough for a blob.
fn size(seq: u64) -> usize {
    if seq.is_multiple_of(7) { 70_000 } else { 100 }
}
