//! The order of commits, with several nodes that write and several that follow the journal.

use std::collections::BTreeMap;
use std::sync::Arc;

use holdshort_core::head::Head;
use holdshort_core::id::StreamId;
use holdshort_store::{Append, Log, Positioned};
use tokio_postgres::NoTls;

use super::{node, sql};
use crate::fixture::{id, log, run_stream, seen, to};

const WRITERS: u64 = 8;
const APPENDS: u64 = 25;
/// Number of events that the writers append. Each append has two events.
const EVENTS: u64 = 2 * APPENDS;

#[tokio::test(flavor = "multi_thread")]
async fn whoever_follows_misses_nothing_and_sees_nothing_twice() {
    let url = holdshort_testpg::shared().database();
    let nodes = [Arc::new(node(&url).await), Arc::new(node(&url).await), Arc::new(node(&url).await)];
    let followers: Vec<_> = nodes
        .iter()
        .map(|node| {
            let node = Arc::clone(node);
            tokio::spawn(async move {
                let (mut log, mut told) = (Vec::<Positioned>::new(), node.watch());
                while (log.len() as u64) < 3 * WRITERS * EVENTS {
                    let after = log.last().map_or(0, |last| last.position);
                    told.wait_for(|told| *told > after).await.unwrap();
                    log.extend(node.tail(after, 7).await.unwrap());
                }
                log
            })
        })
        .collect();
    let mut writers = Vec::new();
    for (n, node) in (0..).zip(&nodes) {
        for writer in 0..WRITERS {
            let node = Arc::clone(node);
            writers.push(tokio::spawn(async move {
                let stream = run_stream(n * WRITERS + writer);
                for i in 0..APPENDS {
                    let guards = vec![(StreamId::System, 0), (StreamId::Session(id(n)), 0)];
                    node.append(Append { guards, ..to(&stream, 2 * i, 2) }).await.unwrap();
                }
            }));
        }
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let all = log(&*nodes[0]).await;
    for follower in followers {
        assert_eq!(follower.await.unwrap(), all);
    }
    let mut streams: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    for positioned in &all {
        streams.entry(&positioned.event.stream).or_default().push(positioned.event.seq);
    }
    assert_eq!(streams.len() as u64, 3 * WRITERS);
    assert!(streams.values().all(|seqs| *seqs == (1..=EVENTS).collect::<Vec<_>>()));
    assert!(all.is_sorted_by(|a, b| a.position < b.position));
    // All nodes report the same chain, no matter which nodes sealed it.
    let head = all.iter().fold(Head::START, |head, each| head.then(&each.event.hash));
    for node in &nodes {
        assert_eq!(node.head().await.unwrap(), head);
    }
    let mut chain = Head::START;
    for link in nodes[0].links(0, usize::MAX >> 1).await.unwrap() {
        chain = chain.then(&link.hash);
        assert!(link.sealed.is_none_or(|sealed| sealed == chain), "{link:?}");
    }
    assert_eq!(nodes[0].inspect().await.unwrap(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stands_behind_an_older_transaction_comes_when_that_has_ended() {
    let url = holdshort_testpg::shared().database();
    let journal = node(&url).await;
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("BEGIN; SELECT pg_current_xact_id()").await.unwrap();
    let last = journal.append(to(&run_stream(1), 0, 2)).await.unwrap().position;
    // Reads of the stream see the events at once. Reads by position do not, because the order of commits is not final
    // yet.
    assert_eq!(journal.read(&run_stream(1), 0, 10).await.unwrap().len(), 2);
    assert_eq!(journal.tail(0, 10).await.unwrap(), []);
    // A node that opens the journal now does not see the events either.
    assert_eq!(node(&url).await.tail(0, 10).await.unwrap(), []);
    client.batch_execute("COMMIT").await.unwrap();
    seen(&journal, last).await;
    assert_eq!(journal.tail(0, 10).await.unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_journal_restored_into_another_cluster_goes_on_beyond_its_positions() {
    let url = holdshort_testpg::shared().database();
    let journal = node(&url).await;
    journal.append(to(&run_stream(1), 0, 2)).await.unwrap();
    journal.close().await.unwrap();
    sql(&url, "UPDATE appends SET position = position + (1::bigint << 50)").await;
    let journal = node(&url).await;
    let before = journal.append(Append::default()).await.unwrap().position;
    assert!(before > 1 << 50);
    seen(&journal, before).await;
    assert!(journal.append(to(&run_stream(1), 2, 1)).await.unwrap().position > before);
    let seqs: Vec<_> = log(&journal).await.iter().map(|positioned| positioned.event.seq).collect();
    assert_eq!(seqs, [1, 2, 3]);
}
