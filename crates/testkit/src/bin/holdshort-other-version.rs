//! A server that behaves like another version of the program: it uses a database with another schema version. For tests
//! only.
//!
//! `HOLDSHORT_PLAYS_SCHEMA` sets this schema version: `N`, or `N breaks` if migration N makes the database unusable for
//! older binaries. If this program does not have a migration up to that version, the migration changes nothing.
//!
//! Accepts the arguments with which a test server starts `holdshort serve`, and prints the same output.

#![expect(clippy::print_stdout, reason = "a test server reads where it listens")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use holdshort_server::{AGENT_REQUESTS, Callbacks, Crew, Options, PerMinute, PublicEndpoint};
use holdshort_store::postgres::{Config, Migration, Reach, Schema};
use holdshort_tools::sandbox;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|verb| verb == sandbox::SUBCOMMAND) {
        return sandbox::exec(arguments.into_iter().skip(2));
    }
    let served = tokio::runtime::Runtime::new().map_err(anyhow::Error::from).and_then(|runtime| {
        let served = runtime.block_on(serve());
        runtime.shutdown_background();
        served
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("holdshort-other-version: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let server = Box::pin(holdshort_server::start(options()?)).await?;
    let started = json!({
        "listening": format!("http://{}", server.address()), "token": server.token(),
        "agent_token": server.agent_token(),
    });
    println!("{started}");
    let failed = server.failed();
    tokio::select! {
        _ = terminate.recv() => {
            server.stop().await;
            Ok(())
        }
        why = failed => bail!(why),
    }
}

fn options() -> Result<Options> {
    let given = parse_arguments()?;
    let text = |name: &str| given.get(name).cloned();
    let needed = |name: &str| text(name).with_context(|| format!("--{name} is missing"));
    let lease = needed("lease")?;
    let lease = lease.strip_suffix('s').and_then(|seconds| seconds.parse().ok()).context("--lease")?;
    let database = Config {
        lease: Duration::from_secs(lease),
        schema: schema()?,
        ..Config::new(needed("store")?, needed("node")?)
    };
    Ok(Options {
        listen: needed("listen")?.parse()?,
        data: std::env::var_os("HOLDSHORT_DATA").context("HOLDSHORT_DATA is not set")?.into(),
        database: Some(database),
        workflows: text("workflows").map(PathBuf::from),
        people: None,
        rules: None,
        channels: None,
        model: holdshort_models::Settings {
            model: text("model"),
            base_url: text("base-url"),
            ..holdshort_models::Settings::default()
        },
        sandbox_program: std::env::current_exe()?,
        agent_requests: AGENT_REQUESTS,
        per_minute: PerMinute::default(),
        issuers: Vec::new(),
        provider: None,
        front: PublicEndpoint::default(),
        checkpoints: None,
        callbacks: Callbacks::default(),
        crew: Crew::default(),
        otlp: None,
        keep_content: None,
        packs: holdshort_server::Packs::default(),
        accept_loss: None,
    })
}

/// Parses the arguments after `serve` as pairs of name and value. Skips `--json`, which has no value.
fn parse_arguments() -> Result<BTreeMap<String, String>> {
    let mut given = BTreeMap::new();
    let mut arguments = std::env::args().skip(2).filter(|argument| argument != "--json");
    while let Some(name) = arguments.next() {
        let name = name.strip_prefix("--").with_context(|| format!("`{name}` is no option"))?.to_owned();
        let value = arguments.next().with_context(|| format!("--{name} has no value"))?;
        given.insert(name, value);
    }
    Ok(given)
}

fn schema() -> Result<Schema> {
    let text = std::env::var("HOLDSHORT_PLAYS_SCHEMA")?;
    let (version, last) = match text.split_once(' ') {
        Some((version, "breaks")) => (version, (Reach::Breaks, "")),
        Some(_) => bail!("HOLDSHORT_PLAYS_SCHEMA is {text:?}"),
        None => (&*text, (Reach::Expands, "")),
    };
    let version = version.parse()?;
    let mut migrations: Vec<Migration> = Schema::default().migrations().to_vec();
    migrations.truncate(version);
    while migrations.len() < version {
        let is_last = migrations.len() + 1 == version;
        migrations.push(if is_last { last } else { (Reach::Expands, "") });
    }
    Ok(Schema::new(migrations))
}
