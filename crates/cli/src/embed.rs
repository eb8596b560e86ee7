//! A server in this process, for `serve`, `run`, `demo` and `attach`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use holdshort_server::jwt::Jwt;
use holdshort_server::oidc::Oidc;
use holdshort_server::{
    Callbacks, Crew, KeepCheckpoints, Options, Otlp, PerMinute, PublicEndpoint, Server, StartError,
};
use holdshort_store::postgres;

use crate::args::{ModelArgs, StoreArgs};
use crate::client::Client;
use crate::data_dir::{Announced, DataDir};
use crate::exit::{damage, no_server, usage};
use crate::model;
use crate::pack::Packs;
use crate::program_name::holdshort;
use crate::shell::quoted;

/// Settings of a server that is about to start in the process of the command line.
pub(crate) struct Plan {
    pub listen: SocketAddr,
    pub data_dir: DataDir,
    pub workflows: Option<PathBuf>,
    pub packs: Packs,
    pub people: Option<PathBuf>,
    pub rules: Option<PathBuf>,
    pub channels: Option<PathBuf>,
    pub model: ModelArgs,
    pub database: Option<postgres::Config>,
    /// Average number of requests per second that each agent may send.
    pub agent_requests: u32,
    pub per_minute: PerMinute,
    pub issuers: Vec<Jwt>,
    pub provider: Option<Oidc>,
    /// Public address of the server, its trusted proxies and its TLS settings.
    pub front: PublicEndpoint,
    pub callbacks: Callbacks,
    pub checkpoints: Option<KeepCheckpoints>,
    /// Time for which the content of a run is kept after the run has ended.
    pub keep_content: Option<Duration>,
    /// Settings of the crew edge (`/crew/…`), an API for clients of an earlier system.
    pub crew: Crew,
    /// Collector to which traces of runs are sent.
    pub otlp: Option<Otlp>,
    /// Number of acknowledged events that may be missing from a damaged journal, because the operator has accepted
    /// their loss.
    pub accept_loss: Option<u64>,
    /// True if the command line prints errors as JSON.
    pub json: bool,
}

impl Plan {
    pub(crate) fn options(self) -> anyhow::Result<Options> {
        Ok(Options {
            listen: self.listen,
            data: self.data_dir.path,
            database: self.database,
            workflows: self.workflows,
            packs: self.packs.for_server(),
            people: self.people,
            rules: self.rules,
            channels: self.channels,
            model: model::settings(&self.model),
            agent_requests: self.agent_requests,
            per_minute: self.per_minute,
            issuers: self.issuers,
            provider: self.provider,
            front: self.front,
            callbacks: self.callbacks,
            checkpoints: self.checkpoints,
            keep_content: self.keep_content,
            crew: self.crew,
            otlp: self.otlp,
            accept_loss: self.accept_loss,
            sandbox_program: std::env::current_exe().context("the path of this program is unknown")?,
        })
    }
}

pub(crate) struct Embedded {
    pub server: Server,
    /// Address at which commands on this machine reach the server of this process.
    pub local: SocketAddr,
    /// Command-line arguments with which another command selects the server of this process, for use in messages.
    words: String,
    // Declared after the server so that it is dropped last: the address file must exist as long as the server listens.
    announced: Announced,
}

impl Embedded {
    pub(crate) async fn start(plan: Plan) -> anyhow::Result<Self> {
        let (data_dir, json) = (plan.data_dir.clone(), plan.json);
        let options = plan.options()?;
        let (kept, journal) = match &options.database {
            Some(config) => ("the database", database_words(&config.url)),
            None => ("the data folder", format!("the data folder {}", data_dir.path.display())),
        };
        // The future is boxed, because it is large and would be part of the future of each verb.
        let started = Box::pin(holdshort_server::start(options)).await;
        let server = started.map_err(|error| not_started(error, kept, &journal))?;
        let local = server.local();
        let announced = data_dir.announce(local)?;
        tokio::spawn(end_with(server.failed(), journal, json));
        Ok(Self { server, local, words: data_dir.arguments(), announced })
    }

    /// Returns a client of the server in this process. Another server may run on this machine too.
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        Client::with_token(&format!("http://{}", self.local), self.server.token(), &self.words)
    }

    /// Waits a short time for running work of the server to end, and then closes the journal.
    pub(crate) async fn stop(self) {
        let Self { server, announced, .. } = self;
        server.stop().await;
        drop(announced);
    }
}

/// Waits until the journal cannot be written, and then ends the process, because the server can record nothing more.
/// The server first rejects requests for one second, so that monitoring sees the reason.
async fn end_with(failed: impl Future<Output = String>, journal: String, json: bool) {
    const NOTICE: Duration = Duration::from_secs(1);
    let why = failed.await;
    tokio::time::sleep(NOTICE).await;
    crate::log::flush();
    let error = anyhow::anyhow!(
        "{journal}: {why}. Every confirmed request is stored; start the server again to \
         recover the running work"
    );
    crate::output::failed(&error, json);
    std::process::exit(crate::exit::Exit::Failed.code().into());
}

/// Returns the URL of the database from `HOLDSHORT_STORE`. Returns `None` if the journal is in the data folder.
pub(crate) fn store_of_environment() -> Option<String> {
    std::env::var("HOLDSHORT_STORE").ok().filter(|url| !url.is_empty())
}

/// Returns an error if `HOLDSHORT_STORE` names a database. A server in this process would write its runs into the data
/// folder instead, and people who read the database would not see them.
pub(crate) fn in_the_folder() -> anyhow::Result<()> {
    match store_of_environment() {
        Some(_) => Err(no_server(format!(
            "no server was found for the database of HOLDSHORT_STORE: start `{} serve`",
            holdshort()
        ))),
        None => Ok(()),
    }
}

/// Returns the database in which a server stores its journal. Returns `None` if the journal is in the data folder.
pub(crate) fn database(store: &StoreArgs) -> Option<postgres::Config> {
    let url = store.store.as_ref()?;
    let host = || {
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        Some(name.trim().to_owned()).filter(|name| !name.is_empty())
    };
    let name = store.node.clone().or_else(host).unwrap_or_else(|| "node".to_owned());
    let mut config = postgres::Config::new(url, name);
    if let Some(ms) = store.lease {
        config.lease = Duration::from_millis(ms);
    }
    Some(config)
}

/// Describes a database by its host and name. The URL of the database is not shown, because it may contain a password.
pub(crate) fn database_words(url: &str) -> String {
    let url = reqwest::Url::parse(url).ok();
    let named = url.as_ref().and_then(|url| {
        let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
        Some(format!("the database {}{port}{}", url.host_str()?, url.path()))
    });
    named.unwrap_or_else(|| "the database".to_owned())
}

/// Converts an error from the start of a server. A damaged journal has its own error code, so that scripts can alert a
/// person. `kept` names the data to restore from a backup, and `journal` describes the journal's location.
fn not_started(error: StartError, kept: &str, journal: &str) -> anyhow::Error {
    let of_store = match &error {
        StartError::Engine(holdshort_engine::Error::Store(error)) | StartError::Store(error) => Some(error),
        _ => None,
    };
    let damaged = matches!(of_store, Some(holdshort_store::Error::Corrupt(_)));
    let in_use = matches!(of_store, Some(holdshort_store::Error::InUse));
    let is_of_journal =
        matches!(error, StartError::Engine(_) | StartError::Secrets(_) | StartError::Store(_));
    let mut text = crate::output::error(&anyhow::Error::new(error));
    if is_of_journal {
        text = format!("{journal}: {text}");
    }
    if in_use {
        text = format!("{text}. Stop that server, or name another folder with `--data DIR`");
    }
    if damaged { damage(format!("{text}. Restore {kept} from a backup.")) } else { usage(text) }
}

/// Returns the command-line arguments that start the same server in this process again.
pub(crate) fn again(data_dir: &DataDir, model: &ModelArgs) -> String {
    let mut text = data_dir.arguments();
    for (name, value) in [("model", &model.model), ("base-url", &model.base_url)] {
        if let Some(value) = value {
            text = format!("{text} --{name} {}", quoted(value));
        }
    }
    text
}
