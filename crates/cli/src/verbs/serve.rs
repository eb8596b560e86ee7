//! `serve`: runs a server until a signal stops it.

use holdshort_protocol::Info;
use holdshort_server::{Crew, EdgePage};
use holdshort_store::postgres;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use super::Scene;
use super::links::invitation;
use crate::args::{ModelArgs, Serve};
use crate::config_file::{self, EffectiveSettings};
use crate::data_dir::DataDir;
use crate::embed::{self, Embedded, Plan};
use crate::exit::{Exit, usage};
use crate::log;
use crate::model;
use crate::output;
use crate::program_name::holdshort;
use crate::terminal::paint::Paint;

pub(super) async fn serve(scene: &Scene, serve: Serve) -> anyhow::Result<Exit> {
    raise_files();
    // Signal handlers are installed before the server starts, so that an early signal stops the server as well.
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let data_dir = DataDir::resolve(scene.reach.data.as_deref())?;
    let settled = config_file::resolve_settings(&serve, &data_dir)?;
    log::start("warn", settled.log_format)?;
    let model = settled.model.clone();
    let public_url = settled.front.public_url.as_ref().map(ToString::to_string);
    let page = settled.front.page.as_ref().map(EdgePage::sign_in_url);
    let scheme = if settled.front.tls.is_some() { "https" } else { "http" };
    let mut plan = plan(scene, &data_dir, settled)?;
    plan.accept_loss = serve.accept_loss;
    let embedded = Embedded::start(plan).await?;
    let listening = format!("{scheme}://{}", embedded.server.address());
    let local = format!("http://{}", embedded.local);
    if scene.json {
        let mut started = json!({
            "listening": listening,
            "token": embedded.server.token(),
            "agent_token": embedded.server.agent_token(),
            "login": embedded.server.login_link()?,
        });
        if let Some(url) = public_url {
            started["public_url"] = url.into();
        }
        if let Some(url) = page {
            started["edge_sign_in"] = url.into();
        }
        if local != listening {
            started["local"] = local.into();
        }
        output::print_json(&started)?;
    } else {
        let info: Info = embedded.client()?.get("/v1/info").await?;
        greet(&embedded, (&listening, page.as_deref()), &info, &model, &data_dir)?;
    }
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    if log::is_json() {
        tracing::info!("stopping: open requests and unfinished runs are kept in the journal");
    } else if !scene.json {
        output::print_message("\nStopping. Open requests and unfinished runs are kept in the journal.");
    }
    embedded.stop().await;
    Ok(Exit::Ok)
}

pub(super) fn plan(scene: &Scene, data_dir: &DataDir, settled: EffectiveSettings) -> anyhow::Result<Plan> {
    let crew =
        Crew::from_variables(&|name| std::env::var(name).ok()).map_err(|wrong| usage(wrong.to_string()))?;
    let database = embed::database(&settled.store);
    if let Some(config) = &database {
        postgres::check(&config.url).map_err(|wrong| usage(wrong.to_string()))?;
    }
    Ok(Plan {
        listen: settled.listen,
        data_dir: data_dir.clone(),
        workflows: settled.workflows,
        people: settled.people,
        rules: settled.rules,
        channels: settled.channels,
        model: settled.model,
        database,
        agent_requests: settled.agent_requests,
        per_minute: settled.per_minute,
        issuers: settled.issuers,
        provider: settled.provider,
        front: settled.front,
        callbacks: settled.callbacks,
        checkpoints: settled.checkpoints,
        keep_content: settled.keep_content,
        crew,
        otlp: settled.otlp,
        packs: scene.packs,
        accept_loss: None,
        json: scene.json || log::is_json(),
    })
}

/// Raises this process's limit of open files as far as the system allows, because each event stream needs an open file.
fn raise_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // An error is ignored: streams beyond the old limit then wait until other streams end.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

fn greet(
    embedded: &Embedded,
    (listening, page): (&str, Option<&str>),
    info: &Info,
    model: &ModelArgs,
    data_dir: &DataDir,
) -> anyhow::Result<()> {
    let paint = Paint::stdout();
    let line = |label: &str, text: &str| output::print_lines(&paint.labelled(label, text));
    output::print_text(&paint.bold(&format!("Holdshort {} listens on {listening}", info.version)));
    if let Some(url) = &info.public_url {
        line("public", url);
    }
    line("data", &info.data);
    line("model", &answering(info, model));
    line("sandbox", &sandbox(&info.sandbox));
    line(
        "tokens",
        "tokens.json in the data folder; its field `agent` is the token for agents of other frameworks",
    );
    let data = data_dir.arguments();
    line("browser", &invitation(embedded, &data, paint)?);
    if let Some(url) = page {
        line("MARS page", &format!("sign in at {url} with the link of `{} login{data}`", holdshort()));
    }
    output::print_text("");
    output::print_text("  In another terminal:");
    output::print_text(&format!("    {} run pair --workspace PATH \"task\"{data}", holdshort()));
    output::print_text(&format!("    {} inbox{data}", holdshort()));
    output::print_text(&paint.dim("  Ctrl-C stops the server; open requests are kept."));
    Ok(())
}

fn answering(info: &Info, args: &ModelArgs) -> String {
    if info.rehearsal {
        return model::rehearses(args).unwrap_or_default();
    }
    let at = info.model.base_url.as_deref().map(|url| format!(" at {url}")).unwrap_or_default();
    format!("{} ({}){at}", info.model.name, info.model.provider)
}

/// Describes the protection that a sandbox level gives, such as `full`.
pub(super) fn sandbox(level: &str) -> String {
    match level {
        "full" => "full: commands write only in the workspace, and have no network",
        "partial" => "partial: this machine cannot confine commands fully, so every command needs approval",
        _ => "none: this machine cannot confine commands, so every command needs approval",
    }
    .to_owned()
}
