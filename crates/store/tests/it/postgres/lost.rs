//! Connections that are lost, and database servers that restart, in the middle of appends.

use std::sync::Arc;
use std::time::Duration;

use holdshort_core::digest::Digest;
use holdshort_store::postgres::Config;
use holdshort_store::{AppendError, Error, Log, Postgres};
use holdshort_testpg::Server;
use tokio::sync::watch;
use tokio_postgres::NoTls;

use super::{node, sql};
use crate::fixture::{log, run_stream, to};

const WRITERS: u64 = 8;

/// Starts several tasks, each of which appends to its own stream until `stop` is set, and returns the number of
/// acknowledged appends.
fn write(journal: &Arc<Postgres>, stop: &watch::Receiver<bool>) -> Vec<tokio::task::JoinHandle<u64>> {
    let writer = |n| {
        let (journal, stop) = (Arc::clone(journal), stop.clone());
        tokio::spawn(async move {
            let (mut seq, mut answered) = (0, 0);
            while !*stop.borrow() {
                match journal.append(to(&run_stream(n), seq, 1)).await {
                    Ok(_) => {
                        seq += 1;
                        answered = seq;
                    }
                    // The append may or may not have been written. The end of the stream shows which is the case.
                    Err(AppendError::Store(Error::Io(_))) => match journal.chain(&run_stream(n)).await {
                        Ok(chain) => {
                            assert!(chain.seq == seq || chain.seq == seq + 1, "{seq} became {}", chain.seq);
                            seq = chain.seq;
                        }
                        Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                    },
                    // An earlier append, whose reply was lost, was written only now.
                    Err(AppendError::Conflict { found, .. }) => {
                        assert_eq!(found, seq + 1);
                        seq = found;
                    }
                    Err(other) => panic!("{other:?}"),
                }
            }
            answered
        })
    };
    (0..WRITERS).map(writer).collect()
}

async fn all_is_there(journal: &Postgres, writers: Vec<tokio::task::JoinHandle<u64>>) {
    for (n, writer) in (0..).zip(writers) {
        let answered = writer.await.unwrap();
        assert!(answered > 0);
        assert!(journal.chain(&run_stream(n)).await.unwrap().seq >= answered);
    }
    let log = log(journal).await;
    for n in 0..WRITERS {
        let of_stream = log.iter().filter(|positioned| positioned.event.stream == run_stream(n));
        let seqs: Vec<_> = of_stream.map(|positioned| positioned.event.seq).collect();
        assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    }
    let end = journal.chain(&run_stream(0)).await.unwrap().seq;
    journal.append(to(&run_stream(0), end, 1)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_cut_lose_nothing() {
    let url = holdshort_testpg::shared().database();
    let journal = Arc::new(node(&url).await);
    let (stop, stopped) = watch::channel(false);
    let writers = write(&journal, &stopped);
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                   WHERE datname = current_database() AND pid <> pg_backend_pid()";
        sql(&url, cut).await;
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    stop.send(true).unwrap();
    all_is_there(&journal, writers).await;
}

/// The pending query of a caller that stops waiting does not delay other callers.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_gives_up_waiting_does_not_leave_a_busy_connection_behind() {
    let url = holdshort_testpg::shared().database();
    let journal = Postgres::open(Config { connections: 1, ..Config::new(&url, "test") }).await.unwrap();
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("BEGIN; LOCK TABLE blobs").await.unwrap();
    let nothing = Digest::of_bytes(b"nothing");
    tokio::time::timeout(Duration::from_millis(200), journal.blob(&nothing)).await.unwrap_err();
    // Without this behavior, the caller would wait for half a minute, until the database cancels the pending query.
    let soon = Duration::from_secs(10);
    assert_eq!(tokio::time::timeout(soon, journal.key("s", "k")).await.unwrap().unwrap(), None);
    client.batch_execute("COMMIT").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_restarts_and_one_that_crashes_lose_nothing() {
    let server = Arc::new(Server::start().unwrap());
    let journal = Arc::new(node(&server.database()).await);
    let (stop, stopped) = watch::channel(false);
    let writers = write(&journal, &stopped);
    for power_cut in [false, true] {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let server = Arc::clone(&server);
        let restart = move || {
            if power_cut {
                server.crash().unwrap();
            } else {
                server.stop().unwrap();
            }
            server.start_again().unwrap();
        };
        tokio::task::spawn_blocking(restart).await.unwrap();
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    stop.send(true).unwrap();
    all_is_there(&journal, writers).await;
}
