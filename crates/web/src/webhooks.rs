//! Webhooks that clients register through the API. The journal records only which webhooks exist. The URLs and signing
//! secrets of webhooks are stored outside the journal.
//!
//! The URLs and secrets are in a file of the data folder that only its owner may read. If several nodes share a
//! database, the URLs and secrets are in the database, together with the nodes' tokens, because any node may have to
//! send. The URL and the secret of a webhook are written before its event. If the journal does not contain the webhook,
//! they are deleted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use holdshort_core::actor::Actor;
use holdshort_core::channel::Channel as Definition;
use holdshort_core::id::{Draw, WebhookId};
use holdshort_core::system::webhooks::Webhook;
use holdshort_core::system::{Input, System};
use holdshort_engine::Clock;
use holdshort_notify::{Channel, Channels, Encoding, Secrets};
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, watch};
use tokio::time::timeout;

use crate::app::{App, blocking, detached};
use crate::limits::WEBHOOK_TIME;
use crate::problem::{Answer, Refused};
use crate::secret_store::SecretStore;
use crate::secrets;

const FILE: &str = "webhooks.json";
const MEND: &str = "The stored data cannot be recreated. If others may have read it, or it cannot be \
    repaired, delete it, then remove its webhooks and register them again. Until then, nothing is sent \
    to these webhooks";
/// Prefix of the names of the database rows with webhooks.
const ROWS: &str = "webhooks";

/// URL, signing secret and headers of a webhook, which are stored outside the journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
}

/// Settings for deliveries to registered webhooks (contract D5).
#[derive(Clone, Debug)]
pub struct Sending {
    pub timeout: Duration,
    pub attempts: u64,
    pub retry_delay: Duration,
    /// Networks to which webhooks may send although the addresses in these networks are not public.
    pub allow: Vec<String>,
    pub encoding: Encoding,
    /// True if notifications to webhooks include the redacted summary of the findings.
    pub has_summaries: bool,
}

impl Default for Sending {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(10),
            attempts: 3,
            retry_delay: Duration::from_secs(5),
            allow: Vec::new(),
            encoding: Encoding::default(),
            has_summaries: true,
        }
    }
}

/// Webhook to register: its public description, and the URL, secret and headers.
pub struct New {
    pub is: Webhook,
    pub url: String,
    pub secret: Option<String>,
    pub headers: BTreeMap<String, String>,
}

/// Details of a webhook's URL and headers that responses may show. The URL itself and the values of the headers stay
/// secret.
#[derive(Default)]
pub struct WebhookDetails {
    /// Scheme of the webhook's URL.
    pub scheme: Option<String>,
    /// Names of the headers that are added to each delivery of the webhook.
    pub headers: Vec<String>,
    pub is_signed: bool,
}

pub struct Webhooks {
    path: PathBuf,
    /// Database rows with the URLs and secrets of webhooks. Used only if the journal is in a database.
    rows: SecretStore,
    sending: Sending,
    configured: Channels,
    /// Channels that exist without registration: those of the channels file, and the channel for all callbacks.
    standing: Channels,
    tell: watch::Sender<Arc<Channels>>,
    /// Lock that allows one change of webhooks at a time. A change first stores the secrets and then records the event.
    changing: Mutex<()>,
    /// URLs and secrets of webhooks, by webhook, from the webhooks file, or from the database rows read so far.
    kept: Mutex<BTreeMap<WebhookId, Stored>>,
}

impl Webhooks {
    /// Reads the file with the registered webhooks. Also returns a receiver of the list of all channels.
    pub fn open(
        data: &Path,
        configured: Channels,
        callbacks: Channel,
        sending: Sending,
    ) -> Result<(Self, watch::Receiver<Arc<Channels>>), secrets::Error> {
        let (path, rows) = (data.join(FILE), SecretStore::open(data, ROWS, MEND));
        let kept: BTreeMap<WebhookId, Stored> = secrets::read(&path, MEND)?.unwrap_or_default();
        let standing = configured.with_channels(vec![callbacks]);
        let (tell, channels) = watch::channel(Arc::new(standing.clone()));
        let (changing, kept) = (Mutex::default(), Mutex::new(kept));
        Ok((Self { path, rows, sending, configured, standing, tell, changing, kept }, channels))
    }

    fn channel(
        &self,
        id: &WebhookId,
        is: &Webhook,
        stored: Stored,
    ) -> Result<Channel, holdshort_notify::Error> {
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let definition = Definition {
            allow: self.sending.allow.clone(),
            attempts: self.sending.attempts,
            retry_ms: ms(self.sending.retry_delay),
            timeout_ms: ms(self.sending.timeout),
            summary: self.sending.has_summaries,
            ..Definition::of_webhook(id, is)
        };
        let Stored { url, secret, headers } = stored;
        let (secrets, mails) = (Secrets { url, secret, headers }, self.configured.of_mails());
        Channel::registered(definition, secrets, self.sending.encoding, mails)
    }

    /// Passes the current list of webhooks to the driver and the outbox. Returns true if the URL and the secrets of
    /// every active webhook were found.
    pub async fn refresh(&self, app: &App, system: &System) -> bool {
        let definitions = self.configured.definitions().into_iter().chain(Definition::registered(system));
        app.driver.set_channels(definitions.collect());
        if let Err(refused) = self.look_up(app, system).await {
            tracing::warn!(why = refused.0.detail, "the stored webhook secrets cannot be read");
        }
        let kept = self.kept.lock().await;
        let (mut channels, mut is_whole) = (Vec::new(), true);
        for (id, registered) in system.webhooks.iter().filter(|(_, registered)| registered.is.active) {
            let Some(stored) = kept.get(id) else {
                tracing::debug!(webhook = %id, "the URL and the secrets of a webhook are not stored on this \
                    server");
                is_whole = false;
                continue;
            };
            match self.channel(id, &registered.is, stored.clone()) {
                Ok(channel) => channels.push(channel),
                Err(why) => tracing::error!(webhook = %id, %why, "a webhook cannot be used"),
            }
        }
        self.tell.send_replace(Arc::new(self.standing.with_channels(channels)));
        app.driver.ring_outbox();
        is_whole
    }

    /// Reads the webhooks' URLs and secrets from the database. Entries of a webhooks file from the time before the
    /// database was used are moved into the database. Does nothing if the journal is not in a database.
    async fn look_up(&self, app: &App, system: &System) -> Answer<()> {
        if app.journal().database().is_none() {
            return Ok(());
        }
        let mut kept = self.kept.lock().await;
        let path = self.path.clone();
        let lying = blocking(move || secrets::read::<BTreeMap<WebhookId, Stored>>(&path, MEND)).await?;
        // Entries of webhooks of a different journal stay in the file, because that journal may be used again.
        let (known, of_others): (BTreeMap<_, _>, BTreeMap<_, _>) =
            lying.unwrap_or_default().into_iter().partition(|(id, _)| system.webhooks.contains_key(id));
        for (id, stored) in &known {
            self.rows.keep(app, id.as_str(), stored.clone()).await?;
        }
        if !known.is_empty() {
            let path = self.path.clone();
            blocking(move || secrets::write(&path, &of_others)).await?;
        }
        kept.retain(|known, _| system.webhooks.contains_key(known));
        for id in system.webhooks.keys() {
            if !kept.contains_key(id)
                && let Some(stored) = self.rows.find(app, id.as_str()).await?
            {
                kept.insert(id.clone(), stored);
            }
        }
        Ok(())
    }

    /// Returns true if notifications to registered webhooks include the summary of the findings.
    pub fn has_summaries(&self) -> bool {
        self.sending.has_summaries
    }

    /// Returns the details of a webhook that responses may show. The details are empty if the URL and secrets of this
    /// webhook are not stored on this node.
    pub async fn details(&self, id: &WebhookId) -> WebhookDetails {
        let kept = self.kept.lock().await;
        let Some(stored) = kept.get(id) else { return WebhookDetails::default() };
        WebhookDetails {
            scheme: stored.url.split_once("://").map(|(scheme, _)| scheme.to_owned()),
            headers: stored.headers.keys().cloned().collect(),
            is_signed: stored.secret.is_some(),
        }
    }

    /// Registers a webhook, which receives all later notifications about reviews while it is active.
    pub async fn register(app: &Arc<App>, new: New, actor: Actor) -> Answer<WebhookId> {
        let id: WebhookId = Draw::new(app.driver.clock().seed(), app.now()).id();
        let New { is, url, secret, headers } = new;
        let stored = Stored { url, secret, headers };
        let opened = app.webhooks.channel(&id, &is, stored.clone());
        opened.and_then(|channel| channel.check_address()).map_err(|error| match error {
            holdshort_notify::Error::Url { why, .. } => Refused::invalid_at("/url", why),
            holdshort_notify::Error::NoServer { .. } => {
                let rule = "needs a mail server: add a channel of the type `email` to the channels file";
                Refused::invalid_at("/type", rule)
            }
            holdshort_notify::Error::Guard { source, .. } => {
                let rule = format!("is not allowed: {source}; allow a network with WEBHOOK_ALLOW_NETWORKS");
                Refused::invalid_at("/url", rule)
            }
            error => Refused::invalid_at("/url", error.to_string()),
        })?;
        let app = app.clone();
        detached(async move {
            let _one = app.webhooks.changing.lock().await;
            app.webhooks.keep(&app, &id, Some(stored)).await?;
            let input = Input::RegisterWebhook { webhook: id.clone(), is };
            if let Err(error) = app.driver.change_system(input, actor).await {
                let refused = Refused::from(error);
                // The URL and secrets are deleted only if it is certain that the event was not written. After other
                // errors the event may be in the journal, and the webhook needs its URL and secrets.
                if refused.wrote_nothing() {
                    app.webhooks.keep(&app, &id, None).await?;
                }
                return Err(refused);
            }
            app.webhooks.refresh(&app, &*app.driver.system().await?).await;
            Ok(id)
        })
        .await
    }

    /// Removes a webhook. No further deliveries to this webhook are created or sent.
    pub async fn remove(app: &Arc<App>, id: WebhookId, actor: Actor) -> Answer<()> {
        let app = app.clone();
        detached(async move {
            let _one = app.webhooks.changing.lock().await;
            app.driver.change_system(Input::RemoveWebhook { webhook: id.clone() }, actor).await?;
            app.webhooks.refresh(&app, &*app.driver.system().await?).await;
            app.webhooks.keep(&app, &id, None).await
        })
        .await
    }

    async fn keep(&self, app: &App, id: &WebhookId, stored: Option<Stored>) -> Answer<()> {
        let mut kept = self.kept.lock().await;
        let mut next = self.of_journal(app, &kept).await?;
        if app.journal().database().is_some() {
            match &stored {
                Some(stored) => self.rows.keep(app, id.as_str(), stored.clone()).await?,
                None => self.rows.forget(app, id.as_str()).await?,
            }
        }
        match stored {
            Some(stored) => {
                next.insert(id.clone(), stored);
            }
            None => {
                next.remove(id);
            }
        }
        self.write(app, &next).await?;
        *kept = next;
        Ok(())
    }

    /// Deletes stored URLs and secrets of webhooks that the journal does not contain. A crash before the event of a
    /// webhook is written leaves such an entry.
    pub(crate) async fn sweep(&self, app: &App) -> Answer<()> {
        let _one = self.changing.lock().await;
        if app.journal().database().is_some() {
            // The journal is read after the list of entries, because another node may be about to write the event of an
            // entry.
            let settled: BTreeSet<WebhookId> = self.rows.settled(app).await?;
            let system = app.driver.system().await?;
            for id in settled.iter().filter(|id| !system.webhooks.contains_key(*id)) {
                self.rows.forget(app, id.as_str()).await?;
            }
            return Ok(());
        }
        let mut kept = self.kept.lock().await;
        let next = self.of_journal(app, &kept).await?;
        if next != *kept {
            self.write(app, &next).await?;
            *kept = next;
        }
        Ok(())
    }

    /// Returns the entries of `kept` whose webhooks the journal contains.
    async fn of_journal(
        &self,
        app: &App,
        kept: &BTreeMap<WebhookId, Stored>,
    ) -> Answer<BTreeMap<WebhookId, Stored>> {
        let system = app.driver.system().await?;
        let mut known = kept.clone();
        known.retain(|id, _| system.webhooks.contains_key(id));
        Ok(known)
    }

    /// Writes the file with the registered webhooks, if the journal is not in a database.
    async fn write(&self, app: &App, kept: &BTreeMap<WebhookId, Stored>) -> Answer<()> {
        if app.journal().database().is_some() {
            return Ok(());
        }
        let (path, kept) = (self.path.clone(), kept.clone());
        blocking(move || secrets::write(&path, &kept)).await
    }
}

/// Follows the registrations of webhooks, so that this node also sends to webhooks that were registered on another
/// node. As long as a URL or secret is missing, the database is read repeatedly. Runs until the store closes.
pub async fn keep_told(app: Arc<App>) {
    let mut standing = app.standing.clone();
    let mut known = None;
    loop {
        let system = standing.borrow_and_update().clone();
        if known.as_ref() != Some(&system.webhooks) {
            let is_whole = app.webhooks.refresh(&app, &system).await || app.journal().database().is_none();
            known = is_whole.then(|| system.webhooks.clone());
        }
        let changed = if known.is_some() {
            standing.changed().await
        } else {
            timeout(WEBHOOK_TIME, standing.changed()).await.unwrap_or(Ok(()))
        };
        if changed.is_err() {
            return;
        }
    }
}
