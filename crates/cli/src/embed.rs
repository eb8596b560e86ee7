//! A server in this process: what `serve` runs, and what `run`, `demo` and `attach` bring along.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context;
use holdshort_models::Settings;
use holdshort_server::{Options, Server, Tuning};
use tracing_subscriber::EnvFilter;

use crate::Hooks;
use crate::args::ModelArgs;
use crate::client::Client;
use crate::exit::usage;
use crate::place::{Announced, Place, quoted};

/// What a server is started with.
pub(crate) struct Plan {
    pub listen: SocketAddr,
    pub place: Place,
    pub workflows: Option<PathBuf>,
    pub model: ModelArgs,
    pub hooks: Hooks,
}

pub(crate) struct Embedded {
    pub server: Server,
    pub address: SocketAddr,
    /// How other commands name it.
    words: String,
    // After the server: the address is taken away once nothing listens there.
    announced: Announced,
}

impl Embedded {
    pub(crate) async fn start(plan: Plan) -> anyhow::Result<Self> {
        if !plan.listen.ip().is_loopback() {
            return Err(usage(format!(
                "{} can be reached from other machines, and there are no sign-ins yet: listen on a loopback address, \
                 such as 127.0.0.1:7349",
                plan.listen
            )));
        }
        let options = Options {
            listen: plan.listen,
            data: plan.place.path.clone(),
            workflows: plan.workflows,
            model: settings(&plan.model),
            sandbox_program: std::env::current_exe().context("the path of this program is not known")?,
        };
        let Hooks { store, rehearsal_word_ms } = plan.hooks;
        let server =
            holdshort_server::start_tuned(options, Tuning { store, rehearsal_word_ms, ..Tuning::default() })
                .await
                .map_err(|error| usage(crate::output::error(&anyhow::Error::new(error))))?;
        let address = server.address();
        let announced = plan.place.announce(address)?;
        Ok(Self { server, address, words: plan.place.words(), announced })
    }

    /// A client of this server, whatever else listens on this machine.
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        Client::of(&format!("http://{}", self.address), self.server.token(), &self.words)
    }

    /// Lets what runs end for a moment, and closes the journal.
    pub(crate) async fn stop(self) {
        let Self { server, announced, .. } = self;
        server.stop().await;
        drop(announced);
    }
}

/// The arguments with which the same server comes along again.
pub(crate) fn again(place: &Place, model: &ModelArgs) -> String {
    let mut text = place.words();
    for (name, value) in [("model", &model.model), ("base-url", &model.base_url)] {
        if let Some(value) = value {
            text = format!("{text} --{name} {}", quoted(value));
        }
    }
    text
}

pub(crate) fn settings(model: &ModelArgs) -> Settings {
    Settings { model: model.model.clone(), base_url: model.base_url.clone(), ..Settings::default() }
}

/// What the server writes to its log; `HOLDSHORT_LOG` says which (`debug`, `holdshort_engine=debug` …).
pub(crate) fn log(default: &str) {
    let filter = std::env::var("HOLDSHORT_LOG").unwrap_or_else(|_| default.to_owned());
    // A client library that logs what providers answer has no place in our log.
    let quiet = |filter: &str| format!("{filter},genai=off");
    let filter = EnvFilter::try_new(quiet(&filter)).unwrap_or_else(|_| EnvFilter::new(quiet(default)));
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A program that embeds this crate may have one already.
    let _ = subscriber.try_init();
}
