//! Webhooks that were registered over the API: which there are says the journal, where they are and what signs there says a
//! file of this node's data folder that its owner alone may read.
//!
//! The file is written before the event, so an event without its secrets is of another node: that node sends, and this one
//! only writes the deliveries down. What the file holds and the journal does not is forgotten.

use std::collections::BTreeMap;
use std::path::PathBuf;
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

use crate::app::{App, blocking, detached};
use crate::problem::{Answer, Refused};
use crate::secrets;

const FILE: &str = "webhooks.json";

/// What the journal does not hold.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
}

/// How they are sent to (contract D5).
#[derive(Clone, Debug)]
pub struct Sending {
    pub timeout: Duration,
    pub attempts: u64,
    pub retry_delay: Duration,
    /// Ranges of addresses that are not public and may be reached all the same.
    pub allow: Vec<String>,
    pub encoding: Encoding,
}

impl Default for Sending {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(10),
            attempts: 3,
            retry_delay: Duration::from_secs(5),
            allow: Vec::new(),
            encoding: Encoding::default(),
        }
    }
}

/// A webhook to register.
pub struct New {
    pub is: Webhook,
    pub url: String,
    pub secret: Option<String>,
    pub headers: BTreeMap<String, String>,
}

pub struct Webhooks {
    path: PathBuf,
    sending: Sending,
    /// Those of the channels file.
    configured: Channels,
    tell: watch::Sender<Arc<Channels>>,
    /// One at a time changes the file.
    kept: Mutex<BTreeMap<WebhookId, Stored>>,
}

impl Webhooks {
    /// Reads the file. What is sent to follows the receiver.
    pub fn open(
        data: &std::path::Path,
        configured: Channels,
        sending: Sending,
    ) -> Result<(Self, watch::Receiver<Arc<Channels>>), secrets::Error> {
        let path = data.join(FILE);
        let kept: BTreeMap<WebhookId, Stored> = secrets::read(&path)?.unwrap_or_default();
        let (tell, channels) = watch::channel(Arc::new(configured.clone()));
        Ok((Self { path, sending, configured, tell, kept: Mutex::new(kept) }, channels))
    }

    fn channel(&self, id: &WebhookId, is: &Webhook, stored: Stored) -> Result<Channel, String> {
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let definition = Definition {
            allow: self.sending.allow.clone(),
            attempts: self.sending.attempts,
            retry_ms: ms(self.sending.retry_delay),
            timeout_ms: ms(self.sending.timeout),
            ..is.channel(id)
        };
        let Stored { url, secret, headers } = stored;
        Channel::registered(definition, Secrets { url, secret, headers }, self.sending.encoding)
            .map_err(|error| error.to_string())
    }

    /// Tells driver and outbox of those that there are now.
    pub async fn refresh(&self, app: &App, system: &System) {
        let definitions = self.configured.definitions().into_iter().chain(system.registered_channels());
        app.driver.tell_channels(definitions.collect());
        let kept = self.kept.lock().await;
        let mut channels = Vec::new();
        for (id, registered) in system.webhooks.iter().filter(|(_, registered)| registered.is.active) {
            let Some(stored) = kept.get(id) else {
                tracing::debug!(webhook = %id, "another node has the secrets of a webhook, and sends to it");
                continue;
            };
            match self.channel(id, &registered.is, stored.clone()) {
                Ok(channel) => channels.push(channel),
                Err(why) => tracing::error!(webhook = %id, why, "nothing is sent to a webhook"),
            }
        }
        self.tell.send_replace(Arc::new(self.configured.beside(channels)));
        app.driver.ring_outbox();
    }

    /// The names of the headers that are sent along, and whether a secret signs.
    pub async fn about(&self, id: &WebhookId) -> (Vec<String>, bool) {
        let kept = self.kept.lock().await;
        let stored = kept.get(id);
        let headers = stored.map(|stored| stored.headers.keys().cloned().collect()).unwrap_or_default();
        (headers, stored.is_some_and(|stored| stored.secret.is_some()))
    }

    /// Registers one: from here on it is told.
    pub async fn register(app: &Arc<App>, new: New, actor: Actor) -> Answer<WebhookId> {
        let id: WebhookId = Draw::new(app.driver.clock().seed(), app.now()).id();
        let New { is, url, secret, headers } = new;
        let stored = Stored { url, secret, headers };
        app.webhooks.channel(&id, &is, stored.clone()).map_err(|why| {
            Refused::invalid_at("/url", why.split_once("its URL ").map_or(&*why, |(_, why)| why))
        })?;
        let app = app.clone();
        detached(async move {
            app.webhooks.keep(&app, &id, Some(stored)).await?;
            let input = Input::RegisterWebhook { webhook: id.clone(), is };
            let done = app.driver.change_system(input, actor).await;
            if done.is_err() {
                app.webhooks.keep(&app, &id, None).await?;
            }
            done?;
            app.webhooks.refresh(&app, &*app.driver.system().await?).await;
            Ok(id)
        })
        .await
    }

    /// Removes one: nothing more is written for it, and what waits is not sent.
    pub async fn remove(app: &Arc<App>, id: WebhookId, actor: Actor) -> Answer<()> {
        let app = app.clone();
        detached(async move {
            app.driver.change_system(Input::RemoveWebhook { webhook: id.clone() }, actor).await?;
            app.webhooks.refresh(&app, &*app.driver.system().await?).await;
            app.webhooks.keep(&app, &id, None).await
        })
        .await
    }

    /// Writes the file, with these secrets or without them.
    async fn keep(&self, app: &App, id: &WebhookId, stored: Option<Stored>) -> Answer<()> {
        let mut kept = self.kept.lock().await;
        let mut next = kept.clone();
        // What a crash left behind between the file and the event.
        let system = app.driver.system().await?;
        next.retain(|known, _| system.webhooks.contains_key(known));
        match stored {
            Some(stored) => {
                next.insert(id.clone(), stored);
            }
            None => {
                next.remove(id);
            }
        }
        let (path, written) = (self.path.clone(), next.clone());
        blocking(move || secrets::write(&path, &written)).await?;
        *kept = next;
        Ok(())
    }
}

/// Follows the installation: a webhook that another node registered is written for here, too. Runs until the store closes.
pub async fn keep_told(app: Arc<App>) {
    let mut standing = app.standing.clone();
    let mut known = None;
    loop {
        let system = standing.borrow_and_update().clone();
        if known.as_ref() != Some(&system.webhooks) {
            app.webhooks.refresh(&app, &system).await;
            known = Some(system.webhooks.clone());
        }
        if standing.changed().await.is_err() {
            return;
        }
    }
}
