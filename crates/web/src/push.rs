//! Subscriptions with which browsers receive push notifications. The journal records only which subscriptions exist.
//! The endpoints and encryption keys of subscriptions are [stored](crate::secret_store) outside the journal.
//!
//! The endpoint and the keys of a subscription are written before its event. Endpoints and keys without a subscription
//! in the journal are deleted.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::channel::{Channel, Via};
use holdshort_core::digest::Digest;
use holdshort_core::id::{Draw, PushId};
use holdshort_core::system::push::Subscription;
use holdshort_core::system::{Input, System};
use holdshort_engine::Clock;
use holdshort_notify::{Browser, Vapid};
use holdshort_protocol::SubscribePush;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::app::{App, detached};
use crate::problem::{Answer, Refused};
use crate::secret_store::SecretStore;

const FOLDER: &str = "push";
const MEND: &str = "The stored data cannot be recreated: repair it and retry the delivery, or ask the \
    person to turn notifications off and on again in that browser";

/// Endpoint and keys of a browser's push subscription, which are stored in the secret store, outside the journal.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    endpoint: String,
    p256dh: String,
    auth: String,
}

pub struct Push {
    kept: SecretStore,
    vapid: Arc<Vapid>,
    /// Lock that allows one change of push subscriptions at a time. A change first stores the secrets and then records
    /// the event.
    changing: Mutex<()>,
}

impl Push {
    pub fn open(data: &Path, vapid: Vapid) -> Self {
        Self {
            kept: SecretStore::open(data, FOLDER, MEND),
            vapid: Arc::new(vapid),
            changing: Mutex::default(),
        }
    }

    /// Returns the public key with which browsers subscribe to push notifications, or `None` if no channel has the type
    /// `push`.
    pub fn key(&self, channels: &[Channel]) -> Option<String> {
        channels.iter().any(|channel| channel.via == Via::Push).then(|| self.vapid.public())
    }

    /// Returns an error if no channel of this server can send push notifications to the browser.
    fn check_browser(&self, channels: &[Channel], browser: &Browser) -> Answer<()> {
        if self.key(channels).is_none() {
            let why = "this server has no channel that sends notifications to browsers: configure a channel \
                of the type `push`";
            return Err(Refused::invalid_at("", why));
        }
        let mut push = channels.iter().filter(|channel| channel.via == Via::Push);
        if browser.is_plain() && push.all(|channel| channel.allow.is_empty()) {
            return Err(Refused::invalid_at("/endpoint", "is not an `https:` URL of a push service"));
        }
        Ok(())
    }

    /// Returns the browser of a push subscription, or `None` if the data of the subscription is missing or cannot be
    /// used.
    pub async fn browser(&self, app: &App, push: &PushId) -> Answer<Option<Browser>> {
        let stored: Option<Stored> = self.kept.find(app, push.as_str()).await?;
        let Some(Stored { endpoint, p256dh, auth }) = stored else { return Ok(None) };
        Ok(Browser::open(&endpoint, &p256dh, &auth, self.vapid.clone()).ok())
    }

    /// Subscribes a browser of the caller to push notifications. If a subscription with this endpoint exists, it is
    /// replaced and keeps its id.
    pub async fn subscribe(
        app: &Arc<App>,
        new: SubscribePush,
        actor: Actor,
    ) -> Answer<(PushId, Arc<System>)> {
        let SubscribePush { endpoint, p256dh, auth } = new;
        let browser = Browser::open(&endpoint, &p256dh, &auth, app.push.vapid.clone())
            .map_err(|wrong| Refused::invalid_at(wrong.pointer(), wrong.to_string()))?;
        app.push.check_browser(&app.driver.channels(), &browser)?;
        let is = Subscription {
            person: actor.id.clone(),
            host: browser.host().to_owned(),
            endpoint: Digest::of_bytes(endpoint.as_bytes()),
        };
        let (app, stored) = (app.clone(), Stored { endpoint, p256dh, auth });
        detached(async move {
            let _one = app.push.changing.lock().await;
            let system = app.driver.system().await?;
            let known = find_subscription(&system, &is);
            let is_known = known.is_some();
            let id = known.unwrap_or_else(|| Draw::new(app.driver.clock().seed(), app.now()).id());
            app.push.kept.keep(&app, id.as_str(), stored).await?;
            let input = Input::SubscribePush { push: id.clone(), is };
            match app.driver.change_system(input, actor).await {
                Ok(system) => Ok((id, system)),
                Err(error) => {
                    let refused = Refused::from(error);
                    // After other errors the event may be in the journal. The secrets are then kept, and the sweep
                    // deletes them if the journal has no such event.
                    if !is_known && refused.wrote_nothing() {
                        app.push.kept.forget(&app, id.as_str()).await?;
                    }
                    Err(refused)
                }
            }
        })
        .await
    }

    pub async fn unsubscribe(app: &Arc<App>, push: PushId, actor: Actor) -> Answer<()> {
        let app = app.clone();
        detached(async move {
            let _one = app.push.changing.lock().await;
            app.driver.change_system(Input::UnsubscribePush { push: push.clone() }, actor).await?;
            app.push.kept.forget(&app, push.as_str()).await
        })
        .await
    }

    /// Deletes the stored endpoints and keys of push subscriptions that the journal does not contain. Checks the
    /// subscriptions in `before` and all stored subscriptions. Returns the subscriptions that the journal contains.
    pub(crate) async fn sweep(&self, app: &App, before: &BTreeSet<PushId>) -> Answer<BTreeSet<PushId>> {
        let _one = self.changing.lock().await;
        // Only this process writes into the directory. In a database, another node may be about to record its
        // subscription, so only older entries are checked.
        let kept: BTreeSet<PushId> = if app.journal().database().is_some() {
            self.kept.settled(app).await?
        } else {
            self.kept.file_ids().await?
        };
        let known: BTreeSet<PushId> = app.driver.system().await?.push.keys().cloned().collect();
        let gone: Vec<PushId> = (before | &kept).difference(&known).cloned().collect();
        for gone in &gone {
            self.kept.forget(app, gone.as_str()).await?;
        }
        self.kept.remove_unfinished(app).await?;
        Ok(known)
    }
}

/// Returns the id of the push subscription with this person and endpoint, or `None` if the journal contains none.
fn find_subscription(system: &System, is: &Subscription) -> Option<PushId> {
    system.push.iter().find(|(_, known)| known.is == *is).map(|(id, _)| id.clone())
}

/// Deletes the stored push endpoints and keys of people who were removed or signed out everywhere. Runs until the store
/// closes.
pub async fn keep_forgetting(app: Arc<App>) {
    let mut standing = app.standing.clone();
    let mut before = BTreeSet::new();
    loop {
        let there: BTreeSet<PushId> = standing.borrow_and_update().push.keys().cloned().collect();
        if there != before {
            match app.push.sweep(&app, &before).await {
                Ok(known) => before = known,
                Err(refused) => {
                    tracing::warn!(why = refused.0.detail, "the stored browser subscriptions cannot be read");
                }
            }
        }
        if standing.changed().await.is_err() {
            return;
        }
    }
}
