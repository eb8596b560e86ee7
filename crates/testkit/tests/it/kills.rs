//! The demo's run is killed at random moments. A seed determines these moments, so that a failing round can be
//! repeated.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use holdshort_testkit::clock::mix;
use tokio::time::{Instant, timeout_at};

use crate::aborts::StoryProgress;
use crate::demo::{check, review, stage, start, undisturbed};

const ROUNDS: u64 = 2;
const CAMPAIGN: u64 = 40;
const KILLS: u32 = 6;

async fn round(seed: u64, undisturbed: &BTreeMap<String, Vec<u8>>) {
    let what = format!("seed {seed}");
    let mut dice = seed;
    let mut until_next = || {
        dice = mix(dice);
        Duration::from_millis(20 + dice % 600)
    };
    let mut server = stage(None);
    server.start().await;
    let mut run: Option<String> = None;
    let mut kills = 0;
    let mut killed_at = Instant::now() + until_next();
    for _ in 0..6_000 {
        let step = async {
            match &run {
                Some(run) => (None, review(&server, run).await),
                None => (start(&server).await, StoryProgress::Goes),
            }
        };
        // The kill also interrupts operations and requests that are running.
        let stepped = if kills < KILLS { timeout_at(killed_at, step).await.ok() } else { Some(step.await) };
        match stepped {
            Some((_, StoryProgress::Over)) => {
                check(&server, run.as_deref().unwrap(), undisturbed, &what).await;
                return;
            }
            Some((_, StoryProgress::Gone)) => panic!("{what}: nobody killed it\n{}", server.stderr()),
            Some((started, StoryProgress::Goes)) => {
                run = run.or(started);
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            None => {
                kills += 1;
                server.restart().await;
                killed_at = Instant::now() + until_next();
            }
        }
    }
    panic!("{what}: the run does not end: {:#?}", server.story(run.as_deref().unwrap()).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_demo_survives_being_killed_at_any_moment() {
    play(ROUNDS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a campaign: cargo xtask verify --long"]
async fn campaign_of_kills() {
    play(CAMPAIGN).await;
}

async fn play(rounds: u64) {
    const AT_ONCE: u64 = 4;
    let wanted = Arc::new(undisturbed().await);
    let players: Vec<_> = (0..AT_ONCE)
        .map(|player| {
            let wanted = wanted.clone();
            tokio::spawn(async move {
                for seed in (player..rounds).step_by(usize::try_from(AT_ONCE).unwrap()) {
                    round(seed, &wanted).await;
                }
            })
        })
        .collect();
    for player in players {
        player.await.unwrap();
    }
}
