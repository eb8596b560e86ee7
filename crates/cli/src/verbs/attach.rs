//! `attach`: beside a run that is under way. Brings a server along where none uses the data folder.

use super::Scene;
use super::run::{beside, end_of};
use crate::args::ModelArgs;
use crate::client::id;
use crate::embed::{self, Embedded, Plan};
use crate::exit::{Exit, usage};
use crate::place::Place;

pub(super) async fn attach(scene: &Scene, run: &str) -> anyhow::Result<Exit> {
    let run = id(run)?;
    let place = Place::of(scene.reach.data.as_deref())?;
    let is_named = scene.reach.server.is_some() || place.listening().is_some();
    if is_named || super::run::answers(&scene.reach).await {
        return beside(&scene.client()?, run, scene.json, None).await;
    }
    if !place.holds_journal() {
        return Err(usage(format!(
            "no server answers, and {} holds no journal; name the data folder with --data DIR",
            place.path.display()
        )));
    }
    embed::log("off");
    let plan = Plan {
        listen: super::run::ANY_PORT,
        place: place.clone(),
        workflows: None,
        model: ModelArgs::default(),
        hooks: scene.hooks,
    };
    let embedded = Embedded::start(plan).await?;
    let exit = beside(&embedded.client()?, run, scene.json, Some(&place)).await;
    end_of(embedded).await;
    exit
}
