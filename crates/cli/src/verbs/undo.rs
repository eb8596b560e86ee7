//! `undo`: takes back what a run changed. Starts a server in this process where none uses the data folder, for a person
//! has to release the changes.

use holdshort_protocol::{Run, UndoChanges};

use super::Scene;
use super::attach::over_journal;
use super::run::{beside, end_of};
use crate::args::ModelArgs;
use crate::client::{Client, id_of};
use crate::data_dir::DataDir;
use crate::embed;
use crate::exit::Exit;
use crate::output::say;

pub(super) async fn undo(scene: &Scene, run: &str, to: u64) -> anyhow::Result<Exit> {
    let run = id_of(run, "run")?;
    let data_dir = DataDir::of(scene.reach.data.as_deref())?;
    if scene.reach.server.is_some() || data_dir.listening().is_some() {
        return begin(scene, &scene.client()?, run, to, None).await;
    }
    let model = ModelArgs::default();
    let again = embed::again(&data_dir, &model);
    let embedded = over_journal(scene, data_dir, model).await?;
    let exit = begin(scene, &embedded.client()?, run, to, Some(&again)).await;
    end_of(embedded).await;
    exit
}

async fn begin(
    scene: &Scene,
    client: &Client,
    run: &str,
    to: u64,
    again: Option<&str>,
) -> anyhow::Result<Exit> {
    let undo: Run = client.post(&format!("/v1/runs/{run}/undo"), &UndoChanges { to }).await?;
    if !scene.json {
        say(&format!("{}: what {run} changed is taken back once it is released.", undo.id));
    }
    beside(client, &undo.id, scene.json, again, None).await
}
