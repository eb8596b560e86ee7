//! The demo's run, aborted after each of its commits in turn, started again and finished: the repository ends as
//! if nothing had happened.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::demo::{ABORT_AFTER, Review, check, review, stage, start, undisturbed};

/// Plays with an abort after commit `n`; whether there were that many.
async fn abort_after(n: usize, undisturbed: &BTreeMap<String, Vec<u8>>) -> bool {
    let what = format!("abort after commit {n}");
    let mut server = stage(Some(n));
    server.start().await;
    let mut aborted = false;
    let mut run: Option<String> = None;
    for _ in 0..6_000 {
        let review = match &run {
            Some(run) => review(&server, run).await,
            None => match start(&server).await {
                Some(started) => {
                    run = Some(started);
                    Review::Goes
                }
                None => Review::Gone,
            },
        };
        match review {
            Review::Over => {
                check(&server, run.as_deref().unwrap(), undisturbed, &what).await;
                return aborted;
            }
            Review::Goes => tokio::time::sleep(Duration::from_millis(10)).await,
            Review::Gone => {
                assert!(!aborted, "{what}: it ended again\n{}", server.stderr());
                server.wait_until_ended().await;
                aborted = true;
                server.change(|setup| setup.env(ABORT_AFTER, "0"));
                server.start().await;
            }
        }
    }
    panic!("{what}: the run does not end: {:#?}", server.story(run.as_deref().unwrap()).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_demo_survives_an_abort_after_each_of_its_commits() {
    const AT_ONCE: usize = 4;
    let wanted = Arc::new(undisturbed().await);
    let next = Arc::new(AtomicUsize::new(1));
    let players: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let (wanted, next) = (wanted.clone(), next.clone());
            tokio::spawn(async move {
                loop {
                    let n = next.fetch_add(1, Ordering::SeqCst);
                    if !abort_after(n, &wanted).await {
                        return n;
                    }
                    assert!(n < 500, "the run has no end");
                }
            })
        })
        .collect();
    let mut commits = usize::MAX;
    for player in players {
        commits = commits.min(player.await.unwrap());
    }
    println!("aborted after each of {} commits", commits - 1);
    assert!(commits > 40, "the demo has {commits} commits only");
}
