//! The demo's run. The server is aborted after each commit, one commit per play, and is started again to finish the
//! run. The repository ends as it does without an abort.

use std::collections::BTreeMap;

use holdshort_testkit::server::TestServer;

use crate::aborts::{StoryProgress, play_each, play_until_over};
use crate::demo::{ABORT_AFTER, check, review, stage, start, undisturbed};

/// Plays the demo's run with an abort of the server after commit number `n`. Returns true if the abort happened.
async fn abort_after(n: usize, undisturbed: &BTreeMap<String, Vec<u8>>) -> bool {
    let what = format!("abort after commit {n}");
    let mut server = stage(Some(n));
    server.start().await;
    let mut run: Option<String> = None;
    let look = async |server: &TestServer| {
        if let Some(run) = &run {
            return review(server, run).await;
        }
        run = start(server).await;
        StoryProgress::from_answer(run.as_ref().map(|_| false))
    };
    let aborted = play_until_over(&mut server, ABORT_AFTER, &what, look).await;
    check(&server, run.as_deref().unwrap(), undisturbed, &what).await;
    aborted
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_demo_survives_an_abort_after_each_of_its_commits() {
    const ENDLESS: usize = 500;
    let wanted = undisturbed().await;
    let commits = play_each(1..ENDLESS, async |n| abort_after(n, &wanted).await).await;
    println!("aborted after each of {commits} commits");
    assert!((40..ENDLESS - 1).contains(&commits), "the demo has {commits} commits");
}
