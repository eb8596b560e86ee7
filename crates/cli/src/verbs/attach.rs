//! `attach`: follows a live run. Starts a server in this process if no server uses the data folder.

use std::path::Path;

use holdshort_engine::real::REHEARSAL;
use holdshort_protocol::{Info, Run};
use holdshort_server::{AGENT_REQUESTS, PerMinute};

use super::Scene;
use super::demo::PlayedDemo;
use super::links::invitation;
use super::run::{end_of, follow_run};
use crate::args::ModelArgs;
use crate::client::{Client, id_of};
use crate::data_dir::DataDir;
use crate::embed::{self, Embedded, Plan};
use crate::exit::{Exit, no_server, usage};
use crate::log;
use crate::output::print_lines;
use crate::terminal::paint::Paint;

pub(super) async fn attach(
    scene: &Scene,
    run: &str,
    files: Option<&Path>,
    model: ModelArgs,
) -> anyhow::Result<Exit> {
    let run = id_of(run, "run")?;
    let data_dir = DataDir::resolve(scene.reach.data.as_deref())?;
    if scene.reach.server.is_some() || data_dir.listening().is_some() {
        return follow_run(scene, &scene.client()?, run, None, files).await;
    }
    let again = embed::again(&data_dir, &model);
    let embedded = over_journal(scene, data_dir.clone(), model).await?;
    let (exit, played) = match can_go_on(&embedded.client()?, run).await {
        Ok(found) => {
            let played = PlayedDemo::from_run(scene.packs, &found).filter(|_| !scene.json);
            if played.is_some() {
                let browser = invitation(&embedded, &data_dir.arguments(), Paint::stdout())?;
                print_lines(&Paint::stdout().labelled("browser", &browser));
            }
            (follow_run(scene, &embedded.client()?, run, Some(&again), files).await, played)
        }
        Err(error) => (Err(error), None),
    };
    end_of(embedded).await;
    if let Some(played) = played {
        played.farewell(scene.packs, &data_dir);
    }
    exit
}

/// Starts a server in this process for the existing journal in a data folder.
pub(super) async fn over_journal(
    scene: &Scene,
    data_dir: DataDir,
    model: ModelArgs,
) -> anyhow::Result<Embedded> {
    embed::in_the_folder()?;
    if !data_dir.holds_journal() {
        return Err(no_server(format!(
            "no server answers, and {} holds no journal; name the data folder with --data DIR",
            data_dir.path.display()
        )));
    }
    bring_along(scene, data_dir, model).await
}

/// Starts a server in this process. The server stops when the command ends.
pub(super) async fn bring_along(
    scene: &Scene,
    data_dir: DataDir,
    model: ModelArgs,
) -> anyhow::Result<Embedded> {
    embed::in_the_folder()?;
    log::start("off", log::Format::of_environment()?.unwrap_or_default())?;
    let plan = Plan {
        listen: super::run::ANY_PORT,
        data_dir,
        workflows: None,
        people: None,
        rules: None,
        channels: None,
        model,
        database: None,
        agent_requests: AGENT_REQUESTS,
        per_minute: PerMinute::default(),
        issuers: Vec::new(),
        provider: None,
        front: holdshort_server::PublicEndpoint::default(),
        callbacks: holdshort_server::Callbacks::default(),
        checkpoints: None,
        keep_content: None,
        crew: holdshort_server::Crew::default(),
        otlp: None,
        packs: scene.packs,
        accept_loss: None,
        json: scene.json,
    };
    Embedded::start(plan).await
}

/// Returns a run that is to continue. Returns an error if the run needs a model and the server has none, because the
/// next step of the run would fail.
async fn can_go_on(client: &Client, run: &str) -> anyhow::Result<Run> {
    let run: Run = client.get(&format!("/v1/runs/{run}")).await?;
    let info: Info = client.get("/v1/info").await?;
    if run.status.is_terminal() || !info.rehearsal || run.config.model.as_deref() == Some(REHEARSAL) {
        return Ok(run);
    }
    Err(usage(
        "this run uses a model, and no model is configured here: name the run's model with --model NAME",
    ))
}
