//! Reads the files and settings of a configuration, before the server starts. Reading creates no file and opens no
//! socket.

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

/// Environment variable that contains the client secret with which the server authenticates at the identity provider.
const SECRET: &str = "HOLDSHORT_OIDC_SECRET";

pub(crate) struct Configured {
    pub(crate) tls: Option<Arc<Tls>>,
    pub(crate) people: Option<Roster>,
    pub(crate) rules: Option<Vec<Rule>>,
    pub(crate) channels: Channels,
    /// True if a channel is configured to receive checkpoints.
    pub(crate) tells: bool,
    pub(crate) issuers: Issuers,
    pub(crate) provider: Option<Provider>,
    pub(crate) model: Source,
    /// True if other machines can reach the server although neither a token issuer nor an identity provider is
    /// configured.
    pub(crate) needs_identity: bool,
    /// Validated workflows, and the people against whom they were checked. `None` if a journal may exist already,
    /// because this journal may contain more people.
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
        // A new installation has no journal, so all its people are in the configuration.
        let is_new = options.database.is_none() && !options.data.exists();
        if needs_identity && is_new && options.people.is_none() {
            return Err(StartError::NoIdentity);
        }
        let tls = options.front.tls.clone().map(Tls::open).transpose().map_err(StartError::Tls)?;
        let people = options.people.as_deref().map(library::people).transpose()?;
        let rules = options.rules.as_deref().map(library::rules).transpose()?;
        let channels = options.channels.as_deref().map(library::channels).transpose()?.unwrap_or_default();
        // All people of a new installation are in its configuration. Therefore the workflows can be validated before
        // any directory is created.
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
            Some(oidc) => issuers.with_other_issuer(&oidc.issuer, &oidc.prefix),
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

/// Returns an error if a server with these options could not start. Creates no file and opens no socket. `people` are
/// the people of the existing journal, who may be approvers in workflows, or `None` if the journal was not read.
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
    library::open(Some(folder), &People::from_entries(&all), &options.packs)?;
    Ok(())
}
