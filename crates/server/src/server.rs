//! Start and stop: what must be there before the first request, and what ends after the last.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use holdshort_core::actor::{LOCAL_OPERATOR, Role};
use holdshort_core::system::people::People;
use holdshort_engine::real::{self, Engine, REHEARSAL, Rehearsing, Setup};
use holdshort_identity::jwt::{self, Issuers, Jwt};
use holdshort_models::{Description, Source};
use holdshort_store::{Location, Store, postgres, sqlite};
use holdshort_web::access::{Newest, Used, keep_standing};
use holdshort_web::app::App;
use holdshort_web::auth::AuthState;
use holdshort_web::connections::{Connections, Quotas};
use holdshort_web::feed::{Owners, Recent, keep_reading};
use holdshort_web::guard::Names;
use holdshort_web::limits::{POLLS, RECENT_EVENTS, STOP_TIME, STREAMS};
use holdshort_web::links::Links;
use holdshort_web::logins::Logins;
use holdshort_web::pace::Pace;
use holdshort_web::rate::Rates;
use holdshort_web::secrets;
use holdshort_web::tokens::Tokens;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::{library, routes, serving};

/// What a server is started with.
#[derive(Clone, Debug)]
pub struct Options {
    /// A loopback address; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The data folder: journal and tokens. Made where it is missing; one server at a time.
    pub data: PathBuf,
    /// A database that holds the journal instead, for several servers at a time.
    pub database: Option<postgres::Config>,
    /// A folder of workflows beside, or instead of, the shipped ones.
    pub workflows: Option<PathBuf>,
    /// The people file; `None`: the people are as they were.
    pub people: Option<PathBuf>,
    pub model: holdshort_models::Settings,
    /// The program that has the hidden subcommand `sandbox-exec`.
    pub sandbox_program: PathBuf,
    /// Requests a second that each agent may make, on average.
    pub agent_requests: u32,
    /// Issuers whose tokens let somebody in.
    pub issuers: Vec<Jwt>,
}

/// Why a server does not start. Nothing was changed, and nothing runs.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(
        "{0} is not a loopback address: the API has no authentication for other machines yet, so it listens \
             on this one only; use 127.0.0.1 or [::1]"
    )]
    NotLoopback(SocketAddr),
    #[error("can not listen on {address}: {source}; name another address with --listen")]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error(transparent)]
    Issuers(#[from] jwt::Wrong),
    #[error(transparent)]
    Library(#[from] library::Error),
    #[error(transparent)]
    Model(#[from] holdshort_models::Error),
    #[error(transparent)]
    Engine(#[from] holdshort_engine::Error),
    #[error(transparent)]
    Secrets(#[from] secrets::Error),
    #[error(transparent)]
    Store(#[from] holdshort_store::Error),
}

/// A running server.
pub struct Server {
    address: SocketAddr,
    app: Arc<App>,
    engine: Engine,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
    /// For all who follow.
    reading: JoinHandle<()>,
    /// For whatever stays open for somebody.
    standing: JoinHandle<()>,
}

/// Opens the data folder, goes on with what was interrupted, and serves. Answers once requests are accepted.
pub async fn start(options: Options) -> Result<Server, StartError> {
    start_tuned(options, Tuning::default()).await
}

/// What no user sets: it lets tests fill the disk, abort after a commit or in one, play a rehearsal at once, lose patience,
/// and fall behind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tuning {
    pub store: sqlite::Config,
    pub rehearsing: Rehearsing,
    pub pace: Pace,
    /// Connections whose client has not said who it is, at once; `None`: as many as a server has.
    pub unauthenticated_connections: Option<usize>,
    /// Connections of agents at once; `None`: as many as a server has.
    pub agent_connections: Option<usize>,
    /// Tokens of roles that a local start hands out none for.
    pub tokens: &'static [(&'static str, Role)],
    /// The last events, which those who follow everything share; `None`: as many as a server has.
    pub recent_events: Option<usize>,
}

/// The same, tuned.
pub async fn start_tuned(options: Options, tuning: Tuning) -> Result<Server, StartError> {
    if !options.listen.ip().is_loopback() {
        return Err(StartError::NotLoopback(options.listen));
    }
    let people = options.people.as_deref().map(library::people).transpose()?;
    // Where there is no journal yet these are all people: what is wrong is said before a folder is made.
    if options.database.is_none() && !options.data.exists() {
        let people = People::of(people.as_deref().unwrap_or_default());
        library::open(options.workflows.as_deref(), &people)?;
    }
    let issuers = Issuers::open(&options.issuers)?;
    let env = |name: &str| std::env::var(name).ok();
    let (model, described) = match holdshort_models::from_env(&options.model, &env)? {
        Source::Provider(model) => {
            let described = model.describe();
            (Some(model), described)
        }
        Source::Missing(missing) => {
            tracing::info!("{missing}; agents play their rehearsal scripts");
            (None, rehearsal())
        }
    };
    // Bound before anything runs, served after everything does: whoever connects in between waits.
    let listening = |source| StartError::Listen { address: options.listen, source };
    let listener = TcpListener::bind(options.listen).await.map_err(listening)?;
    let address = listener.local_addr().map_err(listening)?;

    let workflows = options.workflows;
    let engine = real::open(Setup {
        data: options.data.clone(),
        people,
        library: |people: &People| -> Result<_, StartError> {
            Ok(library::open(workflows.as_deref(), people)?)
        },
        model,
        sandbox_program: options.sandbox_program,
        store: options.database.map_or(Location::Folder(tuning.store), Location::Database),
        rehearsing: tuning.rehearsing,
    })
    .await?;
    // After the store has locked the folder.
    let (mut tokens, logins) = match credentials(&options.data, address, engine.driver.journal()).await {
        Ok(credentials) => credentials,
        Err(error) => {
            engine.stop().await?;
            return Err(error);
        }
    };
    tokens.more = tuning.tokens;
    let (stop, stopping) = watch::channel(false);
    let quotas = Quotas::of_this_process();
    let (tell_standing, standing) = watch::channel(Arc::default());
    let (recent, tell) = Recent::new(tuning.recent_events.unwrap_or(RECENT_EVENTS));
    let app = Arc::new(App {
        driver: engine.driver.clone(),
        previews: engine.previews.clone(),
        recent,
        owners: Owners::default(),
        library: engine.library.clone(),
        model: described,
        sandbox: engine.sandbox,
        data: options.data,
        links: Links::new(&tokens.operator),
        tokens,
        logins,
        issuers,
        address,
        streams: Arc::new(Semaphore::new(STREAMS as usize)),
        polls: Arc::new(Semaphore::new(POLLS)),
        pace: tuning.pace,
        connections: Connections::new(Quotas {
            unauthenticated: tuning.unauthenticated_connections.unwrap_or(quotas.unauthenticated),
            agents: tuning.agent_connections.unwrap_or(quotas.agents),
        }),
        agents: Rates::new(options.agent_requests),
        used: Used::default(),
        newest: Newest::default(),
        standing,
        stopping,
    });
    let service = routes::service(AuthState::new(app.clone()), Names::of(address));
    let reading = tokio::spawn(keep_reading(app.clone(), tell));
    let standing = tokio::spawn(keep_standing(app.clone(), tell_standing));
    let serving = tokio::spawn(serving::serve(listener, service, app.clone()));
    tracing::info!(%address, "listening");
    Ok(Server { address, app, engine, stop, serving, reading, standing })
}

async fn credentials(
    data: &Path,
    address: SocketAddr,
    store: &Store,
) -> Result<(Tokens, Logins), StartError> {
    let tokens = Tokens::open(data)?.agree::<StartError>(data, store).await?;
    let logins = Logins::open(data, address.port(), &tokens.operator)?;
    Ok((tokens, logins))
}

fn rehearsal() -> Description {
    Description { name: REHEARSAL.to_owned(), provider: REHEARSAL, rehearsal: true, base_url: None }
}

impl Server {
    /// Where it listens, with the port it got.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The operator's token.
    pub fn token(&self) -> &str {
        &self.app.tokens.operator
    }

    /// The token for agents of other frameworks: they ask and read what is theirs.
    pub fn agent_token(&self) -> &str {
        &self.app.tokens.agent
    }

    /// Long polls that wait now.
    pub fn polls(&self) -> usize {
        POLLS - self.app.polls.available_permits()
    }

    /// An address that signs one browser in, once, within 15 minutes. Shown to the operator alone.
    /// Whoever starts the server has its tokens: the journal says nothing of it.
    pub fn login_link(&self) -> Result<String, secrets::Error> {
        let (code, _) = self.app.logins.invite(LOCAL_OPERATOR, self.app.now())?;
        Ok(self.app.login_url(&code))
    }

    /// Resolves when the journal can not be written any more for as long as this process lives, with the reason: then
    /// the process has to end, and the next one settles what was under way.
    pub fn failed(&self) -> impl Future<Output = String> + Send + use<> {
        let app = self.app.clone();
        async move { app.journal().failed().await }
    }

    /// Accepts no more, begins nothing more, ends streams and long polls, lets requests and tools under way finish,
    /// then closes the store. What still runs then is settled at the next start.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        let abort = self.serving.abort_handle();
        let served = async {
            let _ = self.serving.await;
            // Sockets have left the service behind; each holds a place.
            let _ = self.app.streams.acquire_many(STREAMS).await;
        };
        let (served, ()) = tokio::join!(timeout(STOP_TIME, served), self.engine.drain());
        if served.is_err() {
            tracing::warn!("some requests did not come to their end");
            abort.abort();
        }
        self.reading.abort();
        self.standing.abort();
        if let Err(error) = self.engine.stop().await {
            tracing::error!(%error, "the store did not close as it should; the next start repairs it");
        }
    }
}
