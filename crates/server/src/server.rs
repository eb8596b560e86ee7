//! Start and stop: what must be there before the first request, and what ends after the last.

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
use holdshort_web::access::{Newest, Used, keep_standing};
use holdshort_web::app::App;
use holdshort_web::auth::AuthState;
use holdshort_web::callbacks::{self, Callbacks};
use holdshort_web::connections::{Connections, Quotas};
use holdshort_web::cors::Cors;
use holdshort_web::feed::{Owners, Recent, keep_reading};
use holdshort_web::front::Front;
use holdshort_web::guard::{Door, Names};
use holdshort_web::identity::jwt::{self, Jwt};
use holdshort_web::identity::oidc::Oidc;
use holdshort_web::kept::keep_swept;
use holdshort_web::limits::{POLLS, RECENT_EVENTS, STOP_TIME, STREAMS};
use holdshort_web::links::{Links, Pressed};
use holdshort_web::logins::Logins;
use holdshort_web::pace::Pace;
use holdshort_web::push::{Push, keep_forgetting};
use holdshort_web::quota::{Allowances, PerMinute};
use holdshort_web::rate::Rates;
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
use crate::packs::Packs;
use crate::telling::Telling;
use crate::{checkpoint_key, library, routes, serving, vapid_key};

/// What a server is started with.
#[derive(Clone, Debug)]
pub struct Options {
    /// Port 0 takes a free one. An address that other machines reach needs a public URL, and people, keys or issuers.
    pub listen: SocketAddr,
    /// The data folder: journal and tokens. Made where it is missing; one server at a time.
    pub data: PathBuf,
    /// A database that holds the journal instead, for several servers at a time.
    pub database: Option<postgres::Config>,
    /// A folder of workflows beside, or instead of, the shipped ones.
    pub workflows: Option<PathBuf>,
    /// Additions of packs.
    pub packs: Packs,
    /// The people file; `None`: the people are as they were.
    pub people: Option<PathBuf>,
    /// The rules file; `None`: the rules of the installation are as they were.
    pub rules: Option<PathBuf>,
    /// The channels file; `None`: people are told over none.
    pub channels: Option<PathBuf>,
    pub model: holdshort_models::Settings,
    /// The program that has the hidden subcommand `sandbox-exec`.
    pub sandbox_program: PathBuf,
    /// Requests a second that each agent may make, on average.
    pub agent_requests: u32,
    /// How often somebody may sign in, and decide.
    pub per_minute: PerMinute,
    /// Issuers whose tokens let somebody in.
    pub issuers: Vec<Jwt>,
    /// Where people sign in.
    pub provider: Option<Oidc>,
    pub front: Front,
    /// Checkpoints that are kept elsewhere; `None`: they are signed when somebody asks.
    pub checkpoints: Option<KeepCheckpoints>,
    /// Where agents may be told of what they asked.
    pub callbacks: callbacks::Settings,
    /// What the crew edge is started with.
    pub crew: crew::Settings,
    /// Where traces of runs go; `None`: nowhere.
    pub otlp: Option<traces::Settings>,
    /// How long what ended runs said is kept; `None`: for ever.
    pub keep_content: Option<Duration>,
    /// Number of acknowledged events that may be missing from the journal of the data folder. Another number is refused.
    pub accept_loss: Option<u64>,
}

/// Why a server does not start. Nothing runs. People of a file may have been taken up by then, and nothing else was changed.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(
        "{0} can be reached from other machines: name the address that they use with --public-url https://NAME, or \
         listen on a loopback address, such as 127.0.0.1:7349"
    )]
    NoPublicUrl(SocketAddr),
    #[error(
        "other machines could reach this server, and nothing but the tokens of its data folder says who somebody is: \
         name people with --people FILE, configure [[identity.jwt]] or [identity.oidc], or serve on a loopback address first and set \
         people (`holdshort people set`) or make keys (`holdshort keys create`)"
    )]
    NoIdentity,
    #[error("checkpoints can not be written to {}: {source}", file.display())]
    Checkpoints { file: PathBuf, source: std::io::Error },
    #[error(
        "`checkpoint_every` says how often, and nothing says where to: name a file with --checkpoint-file, or have a channel \
         of the channels file ask for `events: [checkpoint]`"
    )]
    NoCheckpoints,
    #[error("{0}")]
    Tls(String),
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
    Callbacks(Box<holdshort_notify::Error>),
    #[error(transparent)]
    Traces(#[from] traces::Error),
    #[error(transparent)]
    Store(#[from] holdshort_store::Error),
}

/// A running server.
pub struct Server {
    address: SocketAddr,
    local: SocketAddr,
    app: Arc<App>,
    engine: Engine,
    stop: watch::Sender<bool>,
    serving: JoinHandle<()>,
    /// For all who follow.
    reading: JoinHandle<()>,
    /// For whatever stays open for somebody.
    standing: JoinHandle<()>,
    /// Over channels.
    sending: JoinHandle<()>,
    /// Tasks for registered webhooks, for browsers, for callback addresses, and for the files of the journal.
    registered: JoinHandle<((), (), (), ())>,
    /// Of a certificate.
    certificate: Option<JoinHandle<()>>,
    checkpoints: Option<(PathBuf, JoinHandle<()>)>,
    telling_checkpoints: Option<JoinHandle<()>>,
    /// Of traces.
    telling: Option<JoinHandle<()>>,
    /// Of what was kept long enough.
    erasing: Option<JoinHandle<()>>,
}

/// Opens the data folder, goes on with what was interrupted, and serves. Answers once requests are accepted.
pub async fn start(options: Options) -> Result<Server, StartError> {
    start_tuned(options, Tuning::default()).await
}

/// Limits that no user sets. The defaults are those of `docs/reference/limits.md`; tests meet smaller ones sooner.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tuning {
    /// The most pages (1024 bytes each) that the database may have; `None`: whatever the disk holds.
    pub max_pages: Option<u32>,
    pub pace: Pace,
    /// Connections whose client has not said who it is, at once; `None`: as many as a server has.
    pub unauthenticated_connections: Option<usize>,
    /// Connections of agents at once; `None`: as many as a server has.
    pub agent_connections: Option<usize>,
    /// The last events, which those who follow everything share; `None`: as many as a server has.
    pub recent_events: Option<usize>,
}

/// The same, tuned.
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
            tracing::info!("{missing}; agents play their rehearsal scripts");
            (None, rehearsal())
        }
    };
    // Bound before anything runs, served after everything does: whoever connects in between waits.
    let listening = |source| StartError::Listen { address: options.listen, source };
    let listener = TcpListener::bind(options.listen).await.map_err(listening)?;
    let address = listener.local_addr().map_err(listening)?;
    let inner = inner(address, tls.is_some()).await?;
    let local = match &inner {
        Some(inner) => inner.local_addr().map_err(listening)?,
        None => within(address),
    };
    let mut doors = vec![Door { address, is_tls: tls.is_some() }];
    doors.extend(inner.as_ref().map(|_| Door { address: local, is_tls: false }));
    let cors = Cors { base: holdshort_edges::CREW, origins: options.crew.origins.clone() };
    let front = Front { cors, ..options.front.clone() };
    let names = Names::of(&doors, &front);
    for notice in &options.crew.notices {
        tracing::warn!("{notice}");
    }

    let callbacks = Callbacks::open(&options.data, options.callbacks);
    let of_callbacks = callbacks.channel().map_err(|error| StartError::Callbacks(Box::new(error)))?;
    let traces = options.otlp.map(Traces::new).transpose()?;
    let (workflows, packs) = (options.workflows, options.packs);
    // Its future is large, and whoever starts a server would hold it.
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
    // After the store has locked the folder.
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
        certificate: tls.as_ref().map(|tls| tls.problem()),
        streams: Arc::new(Semaphore::new(STREAMS as usize)),
        polls: Arc::new(Semaphore::new(POLLS)),
        pace: tuning.pace,
        connections: Connections::new(Quotas {
            unauthenticated: tuning.unauthenticated_connections.unwrap_or(quotas.unauthenticated),
            agents: tuning.agent_connections.unwrap_or(quotas.agents),
        }),
        agents: Rates::new(options.agent_requests),
        allowances: Allowances::new(options.per_minute),
        used: Used::default(),
        newest: Newest::default(),
        standing,
        stopping,
    });
    // Apps of Slack are of the file alone.
    let channels = told.borrow().clone();
    let crew = (options.crew, packs.read_case);
    let service = routes::service(AuthState::new(app.clone()), Arc::new(names), channels, crew);
    let reading = tokio::spawn(keep_reading(app.clone(), tell));
    let standing = tokio::spawn(keep_standing(app.clone(), tell_standing));
    let checkpoints = kept.map(|file| {
        let keeping = tokio::spawn(checkpoints::keep(app.clone(), file.clone(), every));
        (file, keeping)
    });
    let telling_checkpoints = tells.then(|| tokio::spawn(checkpoints::keep_telling(app.clone(), every)));
    // Frozen, or without channels, it sends nothing.
    let pages = Arc::new(Telling(app.clone()));
    let sending = keep_sending(app.driver.clone(), told, pages, Arc::new(Network), options.keep_content);
    let sending = tokio::spawn(sending);
    let registered = {
        let (webhooks, push) = (keep_told(app.clone()), keep_forgetting(app.clone()));
        let kept = keep_swept(app.clone());
        let files = keep_checking_files(app.clone());
        tokio::spawn(async move { tokio::join!(webhooks, push, kept, files) })
    };
    let certificate = tls.clone().map(|tls| tokio::spawn(tls.keep()));
    let erasing = options.keep_content.map(|kept| tokio::spawn(keep_erasing(app.driver.clone(), kept)));
    let telling = traces.map(|traces| tokio::spawn(traces.keep_telling(engine.driver.clone())));
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

/// What this server shows, or lets others show.
struct Credentials {
    tokens: Tokens,
    logins: Logins,
    signer: Signer,
    vapid: Vapid,
}

async fn credentials(
    data: &Path,
    port: u16,
    names: &Names,
    store: &Store,
) -> Result<Credentials, StartError> {
    let tokens = Tokens::open(data)?.agree::<StartError>(data, store).await?;
    let logins = Logins::open(data, port, names.base().starts_with("https:"), &tokens.operator)?;
    let (signer, vapid) = (checkpoint_key::open(data)?, vapid_key::open(data, store).await?);
    Ok(Credentials { tokens, logins, signer, vapid })
}

/// The commands of this machine speak plain HTTP over loopback. Where the address takes something else they have one
/// of their own.
async fn inner(address: SocketAddr, is_tls: bool) -> Result<Option<TcpListener>, StartError> {
    if !is_tls && (address.ip().is_loopback() || address.ip().is_unspecified()) {
        return Ok(None);
    }
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let listening = |source| StartError::Listen { address, source };
    Ok(Some(TcpListener::bind(address).await.map_err(listening)?))
}

/// The same door as this machine reaches it.
fn within(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Whether anybody but the holder of the folder's tokens can say who they are.
fn knows_somebody(system: &System, now: Timestamp) -> bool {
    let has_keys = system.keys.all().any(|key| key.status(now) == Status::Live);
    let mut others = system.people.iter().map(|(id, _)| id).filter(|id| *id != LOCAL_OPERATOR);
    has_keys || others.any(|id| !system.people.signs_in(id).is_empty())
}

fn rehearsal() -> Description {
    Description { name: REHEARSAL.to_owned(), provider: REHEARSAL, rehearsal: true, base_url: None }
}

impl Server {
    /// Where it listens, with the port it got.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where the commands of this machine reach it, over plain HTTP.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// What links begin with: the public address, or the one that it listens on.
    pub fn base(&self) -> &str {
        &self.app.base
    }

    /// The operator's token.
    pub fn token(&self) -> &str {
        &self.app.tokens.operator
    }

    /// The token for agents of other frameworks: they ask and read what is theirs.
    pub fn agent_token(&self) -> &str {
        &self.app.tokens.agent
    }

    /// An address that signs one browser in, once, within 15 minutes. Shown to the operator alone.
    /// Whoever starts the server has its tokens: the journal says nothing of it.
    pub fn login_link(&self) -> Result<String, secrets::Error> {
        let (code, _) =
            self.app.logins.invite(LOCAL_OPERATOR, self.app.standing.borrow().seq, self.app.now())?;
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
        // What is being sent stays claimed, and the next start sends it again under the same id.
        self.sending.abort();
        self.registered.abort();
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
            tracing::error!(%error, "the store did not close as it should; the next start repairs it");
        }
    }
}

/// Looks once a second whether the files of the journal are still there: what an idle server holds is saved as well.
async fn keep_checking_files(app: Arc<App>) {
    const EVERY: Duration = Duration::from_secs(1);
    loop {
        tokio::time::sleep(EVERY).await;
        app.journal().check_files();
    }
}
