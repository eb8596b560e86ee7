//! PostgreSQL fails under load, and nodes come and go. Clients that retry lose no acknowledged work.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use holdshort_testpg::Server;
use tokio::sync::watch;

use super::load::{Played, ask_and_decide, assert_followed, follow, play};
use super::{Cluster, database, sql};
use crate::play::done;

const CLIENTS: usize = 6;

/// Runs clients and readers of the cluster until `trouble` is over. Returns the number of repeated requests.
async fn under_load(cluster: Cluster, trouble: impl Future<Output = ()>) -> usize {
    let cluster = Arc::new(cluster);
    let (stop, stopped) = watch::channel(false);
    let (last, told) = watch::channel(None);
    let followers = [0, 2].map(|node| tokio::spawn(follow(cluster.clone(), node, told.clone())));
    let client = |client| tokio::spawn(play(cluster.clone(), client, stopped.clone()));
    let clients: Vec<_> = (0..CLIENTS).map(client).collect();
    trouble.await;
    stop.send(true).unwrap();
    let mut all = Played::default();
    for client in clients {
        let played = client.await.unwrap();
        assert!(!played.runs.is_empty());
        all.runs.extend(played.runs);
        all.repeats += played.repeats;
    }
    let run = ask_and_decide(&cluster, CLIENTS, &mut all).await;
    last.send(Some(run.clone())).unwrap();
    all.runs.push(run);
    assert_eq!(all.runs.iter().collect::<BTreeSet<_>>().len(), all.runs.len(), "an ask had two runs");
    for follower in followers {
        assert_followed(&cluster.nodes[1], &all.runs, &follower.await.unwrap()).await;
    }
    assert_eq!(cluster.nodes[0].get("/v1/audit/verify").await.ok()["intact"], true);
    all.repeats
}

/// Runs a blocking command that controls PostgreSQL, in a thread of its own, so that clients are not blocked.
async fn control_postgres(postgres: &Arc<Server>, order: impl FnOnce(&Server) + Send + 'static) {
    let postgres = Arc::clone(postgres);
    tokio::task::spawn_blocking(move || order(&postgres)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_restarts_under_load() {
    let postgres = tokio::task::spawn_blocking(Server::start).await.unwrap().unwrap();
    let postgres = Arc::new(postgres);
    let cluster = Cluster::start_on(&postgres.database(), [done()], |node| node).await;
    let repeats = under_load(cluster, async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        control_postgres(&postgres, |postgres| postgres.stop().unwrap()).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        control_postgres(&postgres, |postgres| postgres.start_again().unwrap()).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        // Simulate a power cut of the database's machine.
        control_postgres(&postgres, |postgres| postgres.crash().unwrap()).await;
        control_postgres(&postgres, |postgres| postgres.start_again().unwrap()).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
    })
    .await;
    assert!(repeats > 0, "nobody noticed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_cut_under_load() {
    let url = database().await;
    let cluster = Cluster::start_on(&url, [done()], |node| node).await;
    under_load(cluster, async {
        for name in ["a", "b", "c", "a"] {
            tokio::time::sleep(Duration::from_millis(300)).await;
            let cut = format!(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                 WHERE datname = current_database() AND application_name = 'holdshort {name}'"
            );
            let cut = sql(&url, &cut).await;
            assert!(cut.parse::<u32>().unwrap() > 0, "node {name} had no connection");
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    })
    .await;
}
