//! PostgreSQL goes away under load, and nodes come and go: whoever asks again gets what was promised.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::Cluster;
use super::load::{assert_followed, follow, play};
use crate::play::done;

const CLIENTS: usize = 6;
const ASKS: usize = 25;

/// The clients' work beside what happens to the cluster.
async fn under_load(cluster: &Cluster, trouble: impl AsyncFnOnce()) {
    let stop = Arc::new(AtomicBool::new(false));
    let followers = async {
        let (a, b) = (&cluster.nodes[0], &cluster.nodes[2]);
        tokio::join!(follow(a, stop.clone()), follow(b, stop.clone()))
    };
    let work = async {
        let clients = (0..CLIENTS).map(|client| play(cluster, client, ASKS));
        let (runs, ()) = tokio::join!(futures::future::join_all(clients), trouble());
        stop.store(true, Ordering::SeqCst);
        runs.concat()
    };
    let (runs, (one, other)) = tokio::join!(work, followers);
    assert_eq!(runs.iter().collect::<BTreeSet<_>>().len(), CLIENTS * ASKS);
    assert_followed(&cluster.nodes[1], &runs, &one).await;
    assert_followed(&cluster.nodes[1], &runs, &other).await;
    assert_eq!(cluster.nodes[0].get("/v1/audit/verify").await.ok()["intact"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_restarts_under_load() {
    let cluster = Cluster::start([done()]).await;
    under_load(&cluster, async || {
        tokio::time::sleep(Duration::from_millis(500)).await;
        cluster.postgres.stop().unwrap();
        tokio::time::sleep(Duration::from_millis(500)).await;
        cluster.postgres.start_again().unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        // As a power cut of the database's machine.
        cluster.postgres.crash().unwrap();
        cluster.postgres.start_again().unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_cut_under_load() {
    let cluster = Cluster::start([done()]).await;
    under_load(&cluster, async || {
        for name in ["a", "b", "c", "a"] {
            tokio::time::sleep(Duration::from_millis(300)).await;
            let of = format!("application_name = 'holdshort {name}'");
            cluster.sql(&format!("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE {of}"));
        }
    })
    .await;
}
