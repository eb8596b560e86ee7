//! History of the journals that the tests manipulate: several data folders with one history, up to different points.

use std::fs;
use std::sync::{Arc, LazyLock};

use holdshort_core::head::HeadNote;
use holdshort_core::run::Origin;
use holdshort_core::system;
use holdshort_store::{Append, Journal, Log, Sqlite};
use tempfile::TempDir;

use super::folder::{DATABASE, LOG, PIN};
use crate::keys::{ask, external, key};
use crate::stage::{Stage, operator};
use crate::upkeep::play;

/// Data folders with one history, up to different points.
pub(super) struct Story {
    /// The data folder after the journal was closed.
    pub(super) whole: TempDir,
    /// A copy of the data folder `whole` from an earlier close of the journal.
    pub(super) older: TempDir,
    /// The data folder of a server that was killed while its write-ahead log contained events.
    pub(super) killed: TempDir,
    /// Heads of the journal in `whole`, noted at earlier points and at its end.
    pub(super) heads: Vec<HeadNote>,
}

pub(super) fn story() -> &'static Story {
    static STORY: LazyLock<Story> = LazyLock::new(|| {
        // The story runs on a separate thread, because each test has its own async runtime.
        let thread = std::thread::spawn(|| {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap()
                .block_on(record_story())
        });
        thread.join().unwrap()
    });
    &STORY
}

/// Sends a request with an idempotency key.
pub(super) async fn ask_with_a_key<J: Journal>(stage: &Stage<J>) {
    let start = external(Origin::ExternalOnce, Some(ask("Which?")), Some(key("a")));
    stage.driver.start(start, operator()).await.unwrap();
}

async fn record_story() -> Story {
    let (folder, older, killed) = (TempDir::new().unwrap(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let stage = play(Arc::new(Sqlite::open(folder.path()).unwrap())).await;
    ask_with_a_key(&stage).await;
    let mut heads = vec![stage.driver.journal().head().await.unwrap()];
    stage.driver.change_system(system::Input::freeze("a look is needed"), operator()).await.unwrap();
    stage.driver.journal().close().await.unwrap();
    for name in [DATABASE, PIN] {
        fs::copy(folder.path().join(name), older.path().join(name)).unwrap();
    }
    let journal = Arc::new(Sqlite::open(folder.path()).unwrap());
    let stage = Stage::on(journal, stage.world.clone(), stage.clock.clone());
    for _ in 0..2 {
        stage.driver.change_system(system::Input::unfreeze(), operator()).await.unwrap();
        stage.driver.change_system(system::Input::freeze("a look is needed"), operator()).await.unwrap();
    }
    stage.driver.change_system(system::Input::unfreeze(), operator()).await.unwrap();
    heads.push(stage.driver.journal().head().await.unwrap());
    // A kill leaves the files in their current state.
    for name in [DATABASE, LOG, PIN] {
        fs::copy(folder.path().join(name), killed.path().join(name)).unwrap();
    }
    stage.driver.journal().close().await.unwrap();
    let heads = heads.iter().map(|head| head.to_string().parse().unwrap()).collect();
    Story { whole: folder, older, killed, heads }
}

/// Writes more events. Returns the heads of the journal after them.
pub(super) async fn noted_in<J: Journal>(stage: &Stage<J>) -> Vec<HeadNote> {
    let mut heads = Vec::new();
    for _ in 0..2 {
        stage.driver.change_system(system::Input::freeze("a look is needed"), operator()).await.unwrap();
        stage.driver.change_system(system::Input::unfreeze(), operator()).await.unwrap();
        let written = stage.driver.journal().append(Append::default()).await.unwrap().position;
        stage.driver.journal().watch().wait_for(|visible| *visible >= written).await.unwrap();
        heads.push(stage.driver.journal().head().await.unwrap().to_string().parse().unwrap());
    }
    heads
}
