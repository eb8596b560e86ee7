//! Starts and stops a server. Everything that a request may need is opened before the first request and closed after
//! the last request.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use holdshort_core::actor::LOCAL_OPERATOR;
use holdshort_core::people::People;
use holdshort_core::system::System;
use holdshort_core::system::keys::Status;
use holdshort_core::time::Timestamp;
use holdshort_edges::crew;
use holdshort_engine::evidence::{Evidence, Signer};
use holdshort_engine::outbox::{Network, keep_sending};
use holdshort_engine::real::{self, Engine, REHEARSAL, Setup};
use holdshort_engine::traces::{self, Traces};
use holdshort_engine::{Clock, keep_erasing};
use holdshort_models::{Description, Source};
use holdshort_notify::Vapid;
use holdshort_store::{Location, Store, postgres, sqlite};
use holdshort_web::access::{KeyUsage, Newest, publish_system_changes};
use holdshort_web::app::App;
use holdshort_web::auth::AuthState;
use holdshort_web::callbacks::{self, Callbacks};
use holdshort_web::connections::{Connections, Quotas};
use holdshort_web::cors::Cors;
use holdshort_web::feed::{Owners, Recent, keep_reading};
use holdshort_web::guard::{ListenAddress, ServerNames};
use holdshort_web::identity::jwt::{self, Jwt};
use holdshort_web::identity::oidc::Oidc;
use holdshort_web::limits::{POLLS, RECENT_EVENTS, STOP_TIME, STREAMS, TRIALS};
use holdshort_web::links::{Links, Pressed};
use holdshort_web::logins::Logins;
use holdshort_web::pace::Pace;
use holdshort_web::public_endpoint::PublicEndpoint;
use holdshort_web::push::{Push, keep_forgetting};
use holdshort_web::quota::{Allowances, PerMinute};
use holdshort_web::rate::Rates;
use holdshort_web::secret_store::sweep_periodically;
use holdshort_web::secrets;
use holdshort_web::sign_in::SignIns;
use holdshort_web::tokens::Tokens;
use holdshort_web::webhooks::{Webhooks, keep_told};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::checkpoints::{self, CHECKPOINT_EVERY_MS, KeepCheckpoints};
use crate::configured::Configured;
use crate::notification_pages::NotificationPages;
use crate::packs::Packs;
use crate::{checkpoint_key, library, routes, serving, vapid_key};

/// Options with which a server is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// Address on which the server listens. Port 0 selects a free port. If other machines can reach this address, the
    /// server needs a public URL. It then also needs people, keys or token issuers, so that callers can be
    /// authenticated.
    pub listen: SocketAddr,
    /// Data directory with the journal and the tokens, created if it is missing. Only one server at a time may use this
    /// directory.
    pub data: PathBuf,
    /// Database that contains the journal, and that several servers can share. `None` if the journal is in the data
    /// folder.
    pub database: Option<postgres::Config>,
    /// Directory with workflows that are added to the shipped workflows. A workflow of this directory replaces a
    /// shipped workflow with the same name.
    pub workflows: Option<PathBuf>,
    /// Tools, workflows and readers of cases that packs add to the server.
    pub packs: Packs,
    /// Path of the people file. If `None`, the people of the last people file that a server loaded stay valid.
    pub people: Option<PathBuf>,
    /// Path of the rules file. If `None`, the rules of the last rules file that a server loaded stay valid.
    pub rules: Option<PathBuf>,
    /// Path of the channels file. If `None`, no notifications are sent.
    pub channels: Option<PathBuf>,
    pub model: holdshort_models::Settings,
    /// Path of the program with the hidden subcommand `sandbox-exec`, which runs commands in the sandbox.
    pub sandbox_program: PathBuf,
    /// Average number of requests per second that each agent may send.
    pub agent_requests: u32,
    /// Rate limits of sign-ins and decisions.
    pub per_minute: PerMinute,
    /// Issuers (external identity services) whose tokens authenticate callers.
    pub issuers: Vec<Jwt>,
    /// Identity provider at which people sign in.
    pub provider: Option<Oidc>,
    pub front: PublicEndpoint,
    /// File for checkpoints, and the interval between checkpoints. `None` if checkpoints are signed only when a client
    /// requests one.
    pub checkpoints: Option<KeepCheckpoints>,
    /// Settings for callbacks to agents, such as the allowed addresses.
    pub callbacks: callbacks::Settings,
    /// Settings of the crew edge (`/crew/…`), an API for clients of an earlier system.
    pub crew: crew::Settings,
    /// Destination of traces of runs. `None` if no traces are exported.
    pub otlp: Option<traces::Settings>,
    /// Time for which the content of ended runs is kept. `None` if the content is kept forever.
    pub keep_content: Option<Duration>,
    /// Number of confirmed events that may be missing in the journal of the data folder. The server starts only if
    /// exactly this number is missing. If `None`, no event may be missing.
    pub accept_loss: Option<u64>,
}

/// Error that prevents the start of a server. Before some of these errors, the people and rules of the files were
/// already recorded, and interrupted runs were continued. In this case, the engine is stopped again.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(
        "{0} can be reached from other machines: set the address that they use with --public-url \
         https://NAME, or listen on a loopback address, such as 127.0.0.1:7349"
    )]
    NoPublicUrl(SocketAddr),
    #[error(
        "other machines can reach this server, but without people and keys only the tokens of its data \
        folder can authenticate; name people with --people FILE, configure [[identity.jwt]] or \
        [identity.oidc], or serve on a loopback address first and add people (`holdshort people set`) or \
        keys (`holdshort keys create`)"
    )]
    NoIdentity,
    #[error("cannot write checkpoints to {}: {source}", file.display())]
    Checkpoints { file: PathBuf, source: std::io::Error },
    #[error(
        "`checkpoint_every` is set, but checkpoints have no destination: name a file with --checkpoint-file, \
         or set `events: [checkpoint]` for a channel in the channels file"
    )]
    NoCheckpoints,
    #[error("{0}")]
    Tls(String),
    #[error("cannot listen on {address}: {source}; choose another address, such as --listen 127.0.0.1:7350")]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error(transparent)]
    Issuers(#[from] jwt::ConfigError),
    #[error(transparent)]
    Library(#[from] library::Error),
    #[error(transparent)]
    Model(#[from] holdshort_models::Error),
    #[error(transparent)]
    Engine(#[from] holdshort_engine::Error),
    #[error(transparent)]
    Secrets(#[from] secrets::Error),
    #[error(transparent)]
    Callbacks(Box<holdshort_notify::Error>),
    #[error(transparent)]
    Traces(#[from] traces::Error),
    #[error(transparent)]
    Store(#[from] holdshort_store::Error),
}

/// Running server: its addresses, its engine, and its background tasks.
pub struct Server {
    address: SocketAddr,
    local: SocketAddr,
    app: Arc<App>,
    engine: Engine,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
    /// Task that reads new events of the journal once and shares them with all open streams and sockets.
    reading: JoinHandle<()>,
    /// Task that tells open streams and sockets about changes to people, keys and settings. The stream of a caller who
    /// loses access then ends.
    standing: JoinHandle<()>,
    /// Task that delivers notifications through channels such as mail and Slack.
    sending: JoinHandle<()>,
    /// Tasks for registered webhooks, subscribed browsers, callbacks to agents, and checks of the journal's files.
    registered: JoinHandle<((), (), (), ())>,
    /// Task that reloads the TLS certificate when its files change.
    certificate: Option<JoinHandle<()>>,
    checkpoints: Option<(PathBuf, JoinHandle<()>)>,
    telling_checkpoints: Option<JoinHandle<()>>,
    /// Task that exports traces of runs to a collector.
    telling: Option<JoinHandle<()>>,
    /// Task that erases the content of runs after the retention time.
    erasing: Option<JoinHandle<()>>,
}

/// Starts a server: opens the data folder, continues interrupted work, and serves requests. Returns when the server
/// accepts requests.
pub async fn start(options: Options) -> Result<Server, StartError> {
    start_tuned(options, Tuning::default()).await
}

/// Limits of a server that users cannot set. A test sets lower limits, so that it reaches them sooner.
/// `docs/reference/limits.md` lists the defaults.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tuning {
    /// Maximum number of pages in the journal's database, of 1024 bytes each. If `None`, the size is limited only by
    /// the disk.
    pub max_pages: Option<u32>,
    pub pace: Pace,
    /// Maximum number of open unauthenticated connections to the server. `None` selects the default.
    pub unauthenticated_connections: Option<usize>,
    /// Maximum number of open connections of agents to the server. `None` selects the default.
    pub agent_connections: Option<usize>,
    /// Number of recent events that are buffered for all open streams and sockets. `None` selects the default.
    pub recent_events: Option<usize>,
}

/// Starts a server like [`start`], but with the limits in `tuning`.
pub async fn start_tuned(options: Options, tuning: Tuning) -> Result<Server, StartError> {
    let Configured {
        tls,
        people,
        rules,
        channels,
        tells,
        issuers,
        provider,
        model,
        needs_identity,
        library: validated,
    } = Configured::read(&options)?;
    let (model, described) = match model {
        Source::Provider(model) => {
            let described = model.describe();
            (Some(model), described)
        }
        Source::Missing(missing) => {
            tracing::info!("{missing}; until then, agents replay their rehearsal scripts");
            (None, rehearsal())
        }
    };
    // The address is bound before interrupted work continues. Requests are served only after that. Clients that connect
    // in the meantime wait.
    let listening = |source| StartError::Listen { address: options.listen, source };
    let listener = TcpListener::bind(options.listen).await.map_err(listening)?;
    let address = listener.local_addr().map_err(listening)?;
    let inner = inner(address, tls.is_some()).await?;
    let local = match &inner {
        Some(inner) => inner.local_addr().map_err(listening)?,
        None => within(address),
    };
    let mut doors = vec![ListenAddress { address, is_tls: tls.is_some() }];
    doors.extend(inner.as_ref().map(|_| ListenAddress { address: local, is_tls: false }));
    let cors = Cors { base: holdshort_edges::CREW, origins: options.crew.origins.clone() };
    let front = PublicEndpoint { cors, ..options.front.clone() };
    let names = ServerNames::new(&doors, &front);
    for notice in &options.crew.notices {
        tracing::warn!("{notice}");
    }

    let callbacks = Callbacks::open(&options.data, options.callbacks);
    let of_callbacks = callbacks.channel().map_err(|error| StartError::Callbacks(Box::new(error)))?;
    let traces = options.otlp.map(Traces::new).transpose()?;
    let (workflows, packs) = (options.workflows, options.packs);
    // The future of `open` is boxed. It is large, and would otherwise be part of the caller's future.
    let usual = Duration::from_millis(CHECKPOINT_EVERY_MS);
    let every = options.checkpoints.as_ref().map_or(usual, |to| to.every);
    let kept = options.checkpoints.as_ref().and_then(|to| to.file.clone());
    if let Some(file) = &kept {
        let file = file.clone();
        checkpoints::try_file(&file).map_err(|source| StartError::Checkpoints { file, source })?;
    }
    let in_folder = sqlite::Config { max_pages: tuning.max_pages, accept_loss: options.accept_loss };
    let engine = Box::pin(real::open(Setup {
        data: options.data.clone(),
        people,
        rules,
        channels: channels.definitions(),
        library: |people: &People| match validated {
            Some((validated_for, library)) if validated_for == *people => Ok(library),
            _ => library::open(workflows.as_deref(), people, &packs).map_err(StartError::from),
        },
        toolsets: packs.toolsets.clone(),
        model,
        sandbox_program: options.sandbox_program,
        store: options.database.map_or(Location::Folder(in_folder), Location::Database),
        traces: traces.as_ref().map(|traces| traces.queue().clone()),
    }))
    .await?;
    // Runs after the store has locked the data folder.
    let ready = async {
        if needs_identity && !knows_somebody(&*engine.driver.system().await?, engine.driver.clock().now()) {
            return Err(StartError::NoIdentity);
        }
        if let Some(traces) = &traces {
            traces.keep_in(&options.data)?;
        }
        credentials(&options.data, address.port(), &names, engine.driver.journal()).await
    };
    let Credentials { tokens, logins, signer, vapid } = match ready.await {
        Ok(credentials) => credentials,
        Err(error) => {
            engine.stop().await?;
            return Err(error);
        }
    };
    let sending = options.crew.sending();
    let (webhooks, told) = match Webhooks::open(&options.data, channels, of_callbacks, sending) {
        Ok(opened) => opened,
        Err(error) => {
            engine.stop().await?;
            return Err(error.into());
        }
    };
    let (stop, stopping) = watch::channel(false);
    let quotas = Quotas::of_this_process();
    let (tell_standing, standing) = watch::channel(Arc::default());
    let (recent, tell) = Recent::new(tuning.recent_events.unwrap_or(RECENT_EVENTS));
    let app = Arc::new(App {
        evidence: Evidence::new(engine.driver.journal().clone(), signer),
        driver: engine.driver.clone(),
        previews: engine.previews.clone(),
        recent,
        owners: Owners::default(),
        library: engine.library.clone(),
        model: described,
        sandbox: engine.sandbox,
        links: Links::new(&tokens.operator),
        pressed: Pressed::new(&tokens.operator),
        webhooks,
        callbacks,
        push: Push::open(&options.data, vapid),
        data: options.data,
        traces: traces.clone(),
        sign_ins: SignIns::new(provider, &logins, &tokens.operator),
        tokens,
        logins,
        issuers,
        base: names.base().to_owned(),
        public_url: options.front.public_url.as_ref().map(ToString::to_string),
        page: options.front.page,
        certificate: tls.as_ref().map(|tls| tls.problem()),
        streams: Arc::new(Semaphore::new(STREAMS as usize)),
        polls: Arc::new(Semaphore::new(POLLS)),
        trials: Arc::new(Semaphore::new(TRIALS)),
        pace: tuning.pace,
        connections: Connections::new(Quotas {
            unauthenticated: tuning.unauthenticated_connections.unwrap_or(quotas.unauthenticated),
            agents: tuning.agent_connections.unwrap_or(quotas.agents),
        }),
        agents: Rates::new(options.agent_requests),
        allowances: Allowances::new(options.per_minute),
        used: KeyUsage::default(),
        newest: Newest::default(),
        standing,
        stopping,
    });
    // Only the channels file can configure a Slack app, so the registered webhooks are not needed here.
    let channels = told.borrow().clone();
    let crew = (options.crew, packs.read_case);
    let service = routes::service(AuthState::new(app.clone()), Arc::new(names), channels, crew);
    let reading = tokio::spawn(keep_reading(app.clone(), tell));
    let standing = tokio::spawn(publish_system_changes(app.clone(), tell_standing));
    let checkpoints = kept.map(|file| {
        let keeping = tokio::spawn(checkpoints::keep(app.clone(), file.clone(), every));
        (file, keeping)
    });
    let telling_checkpoints = tells.then(|| tokio::spawn(checkpoints::send_at_intervals(app.clone(), every)));
    // While the installation is frozen or has no channels, the task sends nothing.
    let pages = Arc::new(NotificationPages(app.clone()));
    let sending = keep_sending(app.driver.clone(), told, pages, Arc::new(Network), options.keep_content);
    let sending = tokio::spawn(sending);
    let registered = {
        let (webhooks, push) = (keep_told(app.clone()), keep_forgetting(app.clone()));
        let kept = sweep_periodically(app.clone());
        let files = keep_checking_files(app.clone());
        tokio::spawn(async move { tokio::join!(webhooks, push, kept, files) })
    };
    let certificate = tls.clone().map(|tls| tokio::spawn(tls.keep()));
    let erasing = options.keep_content.map(|kept| tokio::spawn(keep_erasing(app.driver.clone(), kept)));
    let telling = traces.map(|traces| tokio::spawn(traces.keep_exporting(engine.driver.clone())));
    let inner = inner.map(|inner| tokio::spawn(serving::serve(inner, None, service.clone(), app.clone())));
    let outer = serving::serve(listener, tls, service, app.clone());
    let serving = tokio::spawn(async move {
        outer.await;
        if let Some(inner) = inner {
            let _ = inner.await;
        }
    });
    tracing::info!(%address, "listening");
    Ok(Server {
        address,
        local,
        app,
        engine,
        stop,
        serving,
        reading,
        standing,
        sending,
        registered,
        certificate,
        checkpoints,
        telling_checkpoints,
        telling,
        erasing,
    })
}

struct Credentials {
    tokens: Tokens,
    logins: Logins,
    signer: Signer,
    vapid: Vapid,
}

async fn credentials(
    data: &Path,
    port: u16,
    names: &ServerNames,
    store: &Store,
) -> Result<Credentials, StartError> {
    let tokens = Tokens::open(data)?.agree::<StartError>(data, store).await?;
    let logins = Logins::open(data, port, names.base().starts_with("https:"), &tokens.operator)?;
    let (signer, vapid) = (checkpoint_key::open(data)?, vapid_key::open(data, store).await?);
    Ok(Credentials { tokens, logins, signer, vapid })
}

/// Opens a second listener on the loopback interface, through which commands of this machine reach the server over
/// plain HTTP. Returns `None` if the main listener already accepts plain HTTP there.
async fn inner(address: SocketAddr, is_tls: bool) -> Result<Option<TcpListener>, StartError> {
    if !is_tls && (address.ip().is_loopback() || address.ip().is_unspecified()) {
        return Ok(None);
    }
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let listening = |source| StartError::Listen { address, source };
    Ok(Some(TcpListener::bind(address).await.map_err(listening)?))
}

/// Returns the address at which programs on this machine can reach a listener with the address `address`.
fn within(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Returns true if a person or a key can authenticate without the tokens in the data folder. The local operator is not
/// counted.
fn knows_somebody(system: &System, now: Timestamp) -> bool {
    let has_keys = system.keys.all().any(|key| key.status(now) == Status::Live);
    let mut others = system.people.iter().map(|(id, _)| id).filter(|id| *id != LOCAL_OPERATOR);
    has_keys || others.any(|id| !system.people.signs_in(id).is_empty())
}

fn rehearsal() -> Description {
    Description { name: REHEARSAL.to_owned(), provider: REHEARSAL, rehearsal: true, base_url: None }
}

impl Server {
    /// Returns the address on which the server listens, with the port that the system assigned.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address at which the commands of this machine reach the server over plain HTTP.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// Returns the base URL of the links that the server creates: the public URL, or the address on which the server
    /// listens.
    pub fn base(&self) -> &str {
        &self.app.base
    }

    /// Returns the token with which the operator authenticates at the server.
    pub fn token(&self) -> &str {
        &self.app.tokens.operator
    }

    /// Returns the token with which external agents authenticate. With this token, an agent may ask people for
    /// decisions, and read the runs that it started.
    pub fn agent_token(&self) -> &str {
        &self.app.tokens.agent
    }

    /// Returns a login link for the operator. The link signs in one browser, once, within 15 minutes, so the caller
    /// must show it only to the operator. The link is not recorded in the journal, because the person who starts the
    /// server has the operator's token anyway.
    pub fn login_link(&self) -> Result<String, secrets::Error> {
        let (code, _) =
            self.app.logins.invite(LOCAL_OPERATOR, self.app.standing.borrow().seq, self.app.now())?;
        Ok(self.app.login_url(&code))
    }

    /// Waits until this process can no longer write to the journal, and returns the reason. The process must then end.
    /// The next start of the server determines the outcome of unfinished work.
    pub fn failed(&self) -> impl Future<Output = String> + Send + use<> {
        let app = self.app.clone();
        async move { app.journal().failed().await }
    }

    /// Stops the server, which accepts no more work, ends streams and long polls, and waits for open requests and
    /// running tools. Then the store is closed. Work that is still running after the time limit is ended; the next
    /// start determines its outcome.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        // A delivery that is being sent stays claimed. The next server process sends it again with the same id.
        self.sending.abort();
        self.registered.abort();
        let abort = self.serving.abort_handle();
        let served = async {
            let _ = self.serving.await;
            // The service does not wait for sockets. Each socket holds one permit for a stream, so the server waits
            // until it can acquire all permits.
            let _ = self.app.streams.acquire_many(STREAMS).await;
        };
        let (served, ()) = tokio::join!(timeout(STOP_TIME, served), self.engine.drain());
        if served.is_err() {
            tracing::warn!(
                "some requests were aborted because they did not end before the time limit of the stop"
            );
            abort.abort();
        }
        if let (Some(traces), Some(telling)) = (&self.app.traces, &self.telling) {
            traces.drained().await;
            telling.abort();
        }
        self.reading.abort();
        self.standing.abort();
        for task in [self.certificate, self.erasing, self.telling_checkpoints].into_iter().flatten() {
            task.abort();
        }
        if let Some((file, keeping)) = self.checkpoints {
            keeping.abort();
            Box::pin(checkpoints::keep_last(&self.app, &file)).await;
        }
        if let Err(error) = self.engine.stop().await {
            tracing::error!(%error, "the store did not close cleanly and is repaired at the next start");
        }
    }
}

/// Checks once a second if the files of the journal were deleted or replaced. An idle server would otherwise not notice
/// the loss, and would not save a copy of the journal.
async fn keep_checking_files(app: Arc<App>) {
    const EVERY: Duration = Duration::from_secs(1);
    loop {
        tokio::time::sleep(EVERY).await;
        app.journal().check_files();
    }
}
