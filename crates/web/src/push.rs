//! Browsers that tell their person: which there are says the journal, where they are and what encrypts for them does not.
//!
//! That is [kept](crate::kept) beside the journal. It is written before the event, and what the journal does not know is
//! forgotten.

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
use crate::kept::Kept;
use crate::problem::{Answer, Refused};

const FOLDER: &str = "push";
const MEND: &str = "It can not be made anew: once it is mended, an operator sends the delivery again; or its person \
                    switches that browser off and on again";

/// What the journal does not hold.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    endpoint: String,
    p256dh: String,
    auth: String,
}

pub struct Push {
    kept: Kept,
    vapid: Arc<Vapid>,
    /// One change at a time, from what is kept to the event.
    changing: Mutex<()>,
}

impl Push {
    pub fn open(data: &Path, vapid: Vapid) -> Self {
        Self { kept: Kept::open(data, FOLDER, MEND), vapid: Arc::new(vapid), changing: Mutex::default() }
    }

    /// What browsers subscribe with; `None` where no channel tells any.
    pub fn key(&self, channels: &[Channel]) -> Option<String> {
        channels.iter().any(|channel| channel.via == Via::Push).then(|| self.vapid.public())
    }

    /// Whether some channel here tells such a browser.
    fn takes(&self, channels: &[Channel], browser: &Browser) -> Answer<()> {
        if self.key(channels).is_none() {
            let why = "no channel here tells browsers: name one of the type `push`";
            return Err(Refused::invalid_at("", why));
        }
        let mut push = channels.iter().filter(|channel| channel.via == Via::Push);
        if browser.is_plain() && push.all(|channel| channel.allow.is_empty()) {
            return Err(Refused::invalid_at("/endpoint", "is no `https:` URL of a push service"));
        }
        Ok(())
    }

    /// One that can be sent to; `None`: nothing is known of it here.
    pub async fn browser(&self, app: &App, push: &PushId) -> Answer<Option<Browser>> {
        let stored: Option<Stored> = self.kept.find(app, push.as_str()).await?;
        let Some(Stored { endpoint, p256dh, auth }) = stored else { return Ok(None) };
        Ok(Browser::open(&endpoint, &p256dh, &auth, self.vapid.clone()).ok())
    }

    /// From here on this browser tells whoever asks. Once more under the same endpoint keeps its id.
    pub async fn subscribe(
        app: &Arc<App>,
        new: SubscribePush,
        actor: Actor,
    ) -> Answer<(PushId, Arc<System>)> {
        let SubscribePush { endpoint, p256dh, auth } = new;
        let browser = Browser::open(&endpoint, &p256dh, &auth, app.push.vapid.clone())
            .map_err(|wrong| Refused::invalid_at(wrong.pointer(), wrong.to_string()))?;
        app.push.takes(&app.driver.channels(), &browser)?;
        let is = Subscription {
            person: actor.id.clone(),
            host: browser.host().to_owned(),
            endpoint: Digest::of(endpoint.as_bytes()),
        };
        let (app, stored) = (app.clone(), Stored { endpoint, p256dh, auth });
        detached(async move {
            let _one = app.push.changing.lock().await;
            let system = app.driver.system().await?;
            let known = known(&system, &is);
            let is_known = known.is_some();
            let id = known.unwrap_or_else(|| Draw::new(app.driver.clock().seed(), app.now()).id());
            app.push.kept.keep(&app, id.as_str(), stored).await?;
            let input = Input::SubscribePush { push: id.clone(), is };
            match app.driver.change_system(input, actor).await {
                Ok(system) => Ok((id, system)),
                Err(error) => {
                    let refused = Refused::from(error);
                    // Of what may be in the journal nothing is forgotten: the sweep looks there.
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

    /// Forgets what the journal does not know any more, of these and of what is kept.
    pub(crate) async fn sweep(&self, app: &App, before: &BTreeSet<PushId>) -> Answer<BTreeSet<PushId>> {
        let _one = self.changing.lock().await;
        // Nobody but this process writes into the folder; what is in a database another node may be writing down now.
        let kept: BTreeSet<PushId> = if app.journal().database().is_some() {
            self.kept.settled(app).await?
        } else {
            self.kept.lying().await?
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

/// The same browser of the same person, where it tells them already.
fn known(system: &System, is: &Subscription) -> Option<PushId> {
    system.push.iter().find(|(_, known)| known.is == *is).map(|(id, _)| id.clone())
}

/// Follows the installation: whoever leaves, or signs out everywhere, takes what is kept of their browsers along. Runs until
/// the store closes.
pub async fn keep_forgetting(app: Arc<App>) {
    let mut standing = app.standing.clone();
    let mut before = BTreeSet::new();
    loop {
        let there: BTreeSet<PushId> = standing.borrow_and_update().push.keys().cloned().collect();
        if there != before {
            match app.push.sweep(&app, &before).await {
                Ok(known) => before = known,
                Err(refused) => {
                    tracing::warn!(
                        why = refused.0.detail,
                        "what is kept of browsers can not be looked through"
                    );
                }
            }
        }
        if standing.changed().await.is_err() {
            return;
        }
    }
}
