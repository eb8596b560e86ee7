//! `undo` and `merge`: start a run with a single call whose changes a person must approve. If no server uses the data
//! folder, these commands start a server in this process.

use std::collections::BTreeSet;

use holdshort_protocol::{MergeChanges, Run, UndoChanges};
use serde::Serialize;

use super::Scene;
use super::attach::over_journal;
use super::run::{end_of, follow_run};
use crate::args::ModelArgs;
use crate::client::{Client, id_of};
use crate::data_dir::DataDir;
use crate::embed;
use crate::exit::Exit;
use crate::output::print_text;

pub(super) async fn undo(scene: &Scene, run: &str, to: u64) -> anyhow::Result<Exit> {
    let run = id_of(run, "run")?;
    let says = format!("the changes of {run} are undone after you approve the undo.");
    let asked = BeginRequest { path: format!("/v1/runs/{run}/undo"), body: UndoChanges { to }, says };
    begin_somewhere(scene, &asked).await
}

pub(super) async fn merge(scene: &Scene, run: &str, paths: Vec<String>) -> anyhow::Result<Exit> {
    let run = id_of(run, "run")?;
    let says = format!("files of {run} that Git ignores are copied into the workspace after you approve.");
    let paths: BTreeSet<String> = paths.into_iter().collect();
    let asked = BeginRequest { path: format!("/v1/runs/{run}/merge"), body: MergeChanges { paths }, says };
    begin_somewhere(scene, &asked).await
}

struct BeginRequest<T> {
    path: String,
    body: T,
    says: String,
}

async fn begin_somewhere<T: Serialize>(scene: &Scene, asked: &BeginRequest<T>) -> anyhow::Result<Exit> {
    let data_dir = DataDir::resolve(scene.reach.data.as_deref())?;
    if scene.reach.server.is_some() || data_dir.listening().is_some() {
        return begin(scene, &scene.client()?, asked, None).await;
    }
    let model = ModelArgs::default();
    let again = embed::again(&data_dir, &model);
    let embedded = over_journal(scene, data_dir, model).await?;
    let exit = begin(scene, &embedded.client()?, asked, Some(&again)).await;
    end_of(embedded).await;
    exit
}

async fn begin<T: Serialize>(
    scene: &Scene,
    client: &Client,
    asked: &BeginRequest<T>,
    again: Option<&str>,
) -> anyhow::Result<Exit> {
    let begun: Run = client.post(&asked.path, &asked.body).await?;
    if !scene.json {
        print_text(&format!("{}: {}", begun.id, asked.says));
    }
    follow_run(scene, client, &begun.id, again, None).await
}
