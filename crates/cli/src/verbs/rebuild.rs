//! `rebuild`: every list new from the journal. The one verb that opens a data folder itself; it takes its lock.

use anyhow::Context;
use holdshort_core::definition::Definition;
use holdshort_core::id::RunId;
use holdshort_core::run::{ActionId, Config, Run};
use holdshort_core::schema::Problem;
use holdshort_core::tool::Precondition;
use holdshort_engine::{Deliver, Driver, Executor, Job, SystemClock, rebuild as rows};
use holdshort_store::Sqlite;
use serde_json::json;

use super::Scene;
use crate::exit::{Exit, usage};
use crate::output::{document, say};
use crate::place::Place;

pub(super) async fn rebuild(scene: &Scene) -> anyhow::Result<Exit> {
    let place = Place::of(scene.reach.data.as_deref())?;
    if !place.holds_journal() {
        return Err(usage(format!("{} holds no journal", place.path.display())));
    }
    let (path, config) = (place.path.clone(), scene.hooks.store);
    let opened = tokio::task::spawn_blocking(move || Sqlite::open_with(&path, config)).await?;
    let journal = match opened {
        Ok(journal) => std::sync::Arc::new(journal),
        Err(holdshort_store::Error::InUse) => {
            return Err(usage(format!("a server uses {}: stop it first", place.path.display())));
        }
        Err(error) => return Err(error).context(format!("{} can not be opened", place.path.display())),
    };
    let driver = Driver::new(journal.clone(), SystemClock, Idle);
    let rebuilt = rows::rebuild(&driver).await;
    journal.close().await.context("the journal did not close")?;
    let rebuilt = rebuilt.context("nothing was changed")?;
    if scene.json {
        document(&json!({"runs": rebuilt.runs, "interrupts": rebuilt.interrupts, "grants": rebuilt.grants}))?;
    } else {
        let (runs, interrupts, grants) = (rebuilt.runs, rebuilt.interrupts, rebuilt.grants);
        say(&format!("Made new from the journal: {runs} runs, {interrupts} interrupts, {grants} grants."));
    }
    Ok(Exit::Ok)
}

/// Performs nothing: reading the journal must not let any run go on.
struct Idle;

impl Executor for Idle {
    async fn prepare(&self, _: &Definition, config: Config) -> Result<Config, Vec<Problem>> {
        Ok(config)
    }

    async fn observe(&self, _: &Run, _: &[String]) -> Vec<Precondition> {
        Vec::new()
    }

    fn has_model(&self, _: &Run) -> bool {
        false
    }

    fn perform(&self, _: Job, _: Deliver) {}

    fn abort(&self, _: &RunId, _: &ActionId) {}
}
