//! Nodes that open the journal at the same time, and keep or lose their leases.

use std::time::Duration;

use futures::future::join_all;
use holdshort_core::id::RunId;
use holdshort_core::projection::RunRow;
use holdshort_store::postgres::Config;
use holdshort_store::{Append, AppendError, Error, Leases, Log, Postgres, Rows, Tables};

use super::{node, short_lived, sql};
use crate::fixture::{PATIENCE, id, run_row, run_stream, to};

const LEASE: Duration = Duration::from_secs(3);

fn drive(n: u64, expected: u64) -> Append {
    let rows = Rows { run: Some(RunRow { runnable: true, ..run_row(n) }), ..Rows::default() };
    Append { rows, drives: true, ..to(&run_stream(n), expected, 1) }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_that_open_an_empty_database_at_once_make_it_once() {
    let url = holdshort_testpg::shared().database();
    let nodes = join_all((0..6).map(|_| node(&url))).await;
    let mut epochs: Vec<_> = nodes.iter().map(Leases::epoch).collect();
    epochs.sort_unstable();
    epochs.dedup();
    assert_eq!(epochs.len(), 6);
    assert_eq!(nodes[0].nodes().await.unwrap().len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_keeps_its_leases_for_as_long_as_it_lives() {
    let url = holdshort_testpg::shared().database();
    let (one, other) = (short_lived(&url, LEASE).await, node(&url).await);
    one.append(drive(1, 0)).await.unwrap();
    tokio::time::sleep(2 * LEASE).await;
    assert!(one.has_valid_leases());
    assert!(other.claim(10).await.unwrap().is_empty());
    // The node dies without releasing its leases, so the leases only end when they expire.
    drop(one);
    let taken = async {
        loop {
            let claimed = other.claim(10).await.unwrap();
            if !claimed.is_empty() {
                return claimed;
            }
            tokio::time::sleep(LEASE / 10).await;
        }
    };
    assert_eq!(tokio::time::timeout(PATIENCE, taken).await.unwrap(), [id::<RunId>(1)]);
    other.append(drive(1, 1)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_without_its_database_does_not_believe_that_it_holds_anything() {
    let server = holdshort_testpg::Server::start().unwrap();
    let one = short_lived(&server.database(), LEASE).await;
    one.append(drive(1, 0)).await.unwrap();
    assert!(one.has_valid_leases());
    server.stop().unwrap();
    let doubt = async {
        while one.has_valid_leases() {
            tokio::time::sleep(LEASE / 10).await;
        }
    };
    tokio::time::timeout(2 * LEASE, doubt).await.unwrap();
    let refused = one.append(drive(1, 1)).await;
    assert!(matches!(refused, Err(AppendError::Store(_))), "{refused:?}");
    server.start_again().unwrap();
    let again = async {
        while !one.has_valid_leases() {
            tokio::time::sleep(LEASE / 10).await;
        }
    };
    tokio::time::timeout(PATIENCE, again).await.unwrap();
    one.append(drive(1, 1)).await.unwrap();
}

/// Only the database's clock decides if a node is alive. Other nodes that have taken over the runs of a node keep these
/// runs.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_comes_back_too_late_finds_its_runs_driven() {
    let url = holdshort_testpg::shared().database();
    let (one, other) = (node(&url).await, node(&url).await);
    one.append(drive(1, 0)).await.unwrap();
    sql(&url, &format!("UPDATE nodes SET alive_until = clock_timestamp() WHERE node = {}", one.epoch()))
        .await;
    assert_eq!(other.claim(10).await.unwrap(), [id::<RunId>(1)]);
    let refused = one.append(drive(1, 1)).await;
    assert!(matches!(refused, Err(AppendError::Driven)), "{refused:?}");
    assert!(one.runnable(10).await.unwrap().is_empty());
}

/// A node that requires exclusive use is the only node. Otherwise work on the journal, such as a rebuild, would miss
/// events that other nodes write.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_is_to_be_alone_is() {
    let url = holdshort_testpg::shared().database();
    let alone = || Postgres::open(Config { alone: true, ..Config::new(&url, "rebuild") });
    let one = node(&url).await;
    let refused = alone().await;
    assert!(matches!(&refused, Err(Error::Nodes(names)) if names == "test"), "{refused:?}");
    one.close().await.unwrap();
    let work = alone().await.unwrap();
    for opened in [alone().await, Postgres::open(Config::new(&url, "test")).await] {
        assert!(matches!(&opened, Err(Error::Nodes(names)) if names == "rebuild"), "{opened:?}");
    }
    // The node can continue its work even if its latest append is not yet visible.
    work.append(drive(1, 0)).await.unwrap();
    let rows = Rows { run: Some(run_row(2)), ..Rows::default() };
    work.replace_rows(vec![rows.clone()]).await.unwrap();
    assert!(work.run(&id(1)).await.unwrap().is_none());
    // After the lease of the exclusive node has expired, other nodes may have written events. The rows in memory would
    // be outdated.
    sql(&url, &format!("UPDATE nodes SET alive_until = clock_timestamp() WHERE node = {}", work.epoch()))
        .await;
    let other = node(&url).await;
    other.append(drive(3, 0)).await.unwrap();
    other.close().await.unwrap();
    let refused = work.replace_rows(vec![rows]).await;
    assert!(matches!(refused, Err(Error::Nodes(_))), "{refused:?}");
    assert!(node(&url).await.run(&id(3)).await.unwrap().is_some());
}
