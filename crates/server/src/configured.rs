//! What a configuration names, read before anything runs. Nothing is made, and nothing listens yet.

use std::sync::Arc;

use holdshort_core::people::{People, Roster};
use holdshort_core::policy::Rule;
use holdshort_models::Source;
use holdshort_notify::Channels;
use holdshort_web::identity::jwt::Issuers;
use holdshort_web::identity::oidc::Provider;
use holdshort_workflow::Library;

use crate::server::{Options, StartError};
use crate::tls::Tls;
use crate::{checkpoints, library};

/// The variable of the environment that holds the secret of this server at its provider.
const SECRET: &str = "HOLDSHORT_OIDC_SECRET";

pub(crate) struct Configured {
    pub(crate) tls: Option<Arc<Tls>>,
    pub(crate) people: Option<Roster>,
    pub(crate) rules: Option<Vec<Rule>>,
    pub(crate) channels: Channels,
    /// A channel asks for checkpoints.
    pub(crate) tells: bool,
    pub(crate) issuers: Issuers,
    pub(crate) provider: Option<Provider>,
    pub(crate) model: Source,
    /// Other machines reach it, and the configuration itself says of nobody who they are.
    pub(crate) needs_identity: bool,
    /// The workflows, and the people that they were validated for. `None` where a journal may exist.
    pub(crate) library: Option<(People, Library)>,
}

impl Configured {
    pub(crate) fn read(options: &Options) -> Result<Self, StartError> {
        let public_url = options.front.public_url.as_ref();
        let is_local = options.listen.ip().is_loopback();
        if !is_local && public_url.is_none() {
            return Err(StartError::NoPublicUrl(options.listen));
        }
        let is_exposed = !is_local || public_url.is_some_and(|url| !url.is_on_loopback());
        let needs_identity = is_exposed && options.issuers.is_empty() && options.provider.is_none();
        // Where there is no journal yet nobody else can have been set.
        let is_new = options.database.is_none() && !options.data.exists();
        if needs_identity && is_new && options.people.is_none() {
            return Err(StartError::NoIdentity);
        }
        let tls = options.front.tls.clone().map(Tls::open).transpose().map_err(StartError::Tls)?;
        let people = options.people.as_deref().map(library::people).transpose()?;
        let rules = options.rules.as_deref().map(library::rules).transpose()?;
        let channels = options.channels.as_deref().map(library::channels).transpose()?.unwrap_or_default();
        // Where there is no journal yet these are all people: what is wrong is said before a folder is made.
        let library = if is_new {
            let people = People::listed(people.as_ref().unwrap_or(&Roster::default()));
            let library = library::open(options.workflows.as_deref(), &people, &options.packs)?;
            Some((people, library))
        } else {
            None
        };
        let env = |name: &str| std::env::var(name).ok();
        let issuers = Issuers::open(&options.issuers)?;
        let issuers = match &options.provider {
            Some(oidc) => issuers.beside(&oidc.issuer, &oidc.prefix),
            None => issuers,
        };
        let secret = || env(SECRET).filter(|secret| !secret.is_empty());
        let provider = options.provider.as_ref().map(|oidc| Provider::open(oidc, &options.issuers, secret()));
        let provider = provider.transpose()?;
        let model = holdshort_models::from_env(&options.model, &env)?;
        let tells = channels.definitions().iter().any(|channel| channel.rule.takes_checkpoints());
        if options.checkpoints.as_ref().is_some_and(|to| to.file.is_none()) && !tells {
            return Err(StartError::NoCheckpoints);
        }
        Ok(Self { tls, people, rules, channels, tells, issuers, provider, model, needs_identity, library })
    }
}

/// Whether a server would start with these, as far as that is known without starting one: nothing is made, and nothing listens.
/// `people`: those of the journal that is there already, where they are known; they may decide as well.
pub fn check(options: &Options, people: Option<&People>) -> Result<(), StartError> {
    let configured = Configured::read(options)?;
    if let Some(file) = options.checkpoints.as_ref().and_then(|to| to.file.clone()) {
        checkpoints::could_write(&file).map_err(|source| StartError::Checkpoints { file, source })?;
    }
    let Some(folder) = options.workflows.as_deref().filter(|_| configured.library.is_none()) else {
        return Ok(());
    };
    let Some(known) = people else { return Ok(library::can_be_read(folder)?) };
    let mut all: Vec<_> = known.iter().map(|(id, person)| (id.to_owned(), person.clone())).collect();
    all.extend(configured.people.map(|roster| roster.people).unwrap_or_default());
    library::open(Some(folder), &People::of(&all), &options.packs)?;
    Ok(())
}
