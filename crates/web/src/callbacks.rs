//! Callbacks: URLs to which the server sends the decision on an external agent's interrupt.
//!
//! The journal records only that an interrupt has a callback, not the URL. The URL and the signing secret of the
//! callback are [stored](crate::secret_store) outside the journal under the id of the interrupt. They are stored before
//! the event that opens the interrupt. The URL and the secret are deleted after one of three events: the agent was
//! notified, the delivery failed and cannot be retried, or the run was erased. Before each delivery attempt, the server
//! checks that sending to this URL is still allowed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::str::FromStr;

use holdshort_core::channel::{CALLBACKS, Channel as Definition};
use holdshort_core::delivery::DeliveryState;
use holdshort_core::id::{Draw, InterruptId, KeyId, RunId};
use holdshort_core::limits::URL_CHARS;
use holdshort_core::projection::InterruptRow;
use holdshort_core::schema::Problem;
use holdshort_core::system::keys::Status;
use holdshort_core::time::Timestamp;
use holdshort_engine::Clock;
use holdshort_engine::outbox::{Callback, CallbackTarget, NoCallback};
use holdshort_notify::{Channel, Encoding, Error, Secret, Secrets};
use holdshort_protocol::{AskCallback, Code};
use holdshort_store::{DeliveryFilter, InterruptFilter, Outbox, Tables};
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::limits::{CALLBACK_ATTEMPTS, CALLBACK_RETRY_MS, CALLBACK_TIMEOUT_MS, KEPT_UNKNOWN_MS, PAGE};
use crate::problem::{Answer, Refused};
use crate::secret_store::SecretStore;
use crate::view;

const FOLDER: &str = "callbacks";
const MEND: &str = "The stored data cannot be recreated: repair it, and then ask an operator to retry \
    the delivery";
/// Placeholder URL of the channel that the outbox uses for all callbacks. Each delivery replaces it with the URL of its
/// own callback. A name under `.invalid` never resolves to an address.
const NOWHERE: &str = "https://callbacks.invalid/";

/// Error text for a callback whose URL is missing from the secret store or unusable.
const NOT_KEPT: &str = "the callback address is no longer stored or cannot be used; see the server log for \
    the reason";
const NOT_ALLOWED: &str = "the callback address is no longer allowed";
const KEY_ENDED: &str = "the key that made the request is no longer valid";
const ERASED: &str = "the run that made the request was erased";

/// Addresses to which callbacks are allowed to be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Callbacks are sent to all public addresses, and to the networks in the setting `allow`.
    #[default]
    Public,
    /// Callbacks are sent only to the networks in the setting `allow`.
    Allowed,
    Off,
}

impl Reach {
    pub fn wire_name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Allowed => "allowed",
            Self::Off => "off",
        }
    }
}

impl FromStr for Reach {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found =
            [Self::Public, Self::Allowed, Self::Off].into_iter().find(|reach| reach.wire_name() == text);
        found.ok_or_else(|| "must be `public`, `allowed` or `off`".to_owned())
    }
}

#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub reach: Reach,
    /// Networks to which callbacks are allowed to be sent although their addresses are not public.
    pub allow: Vec<String>,
}

/// Error text for a URL with a forbidden address or scheme. The text does not contain the URL, which may be a secret.
const ELSEWHERE: &str = "has an address that is not allowed, or uses `http:` outside the networks in \
    `callback_allow_networks`";

/// Data of a callback that are stored in the secret store, outside the journal.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    url: String,
    secret: String,
    /// API key with which the agent authenticated, if it used one. The key may be revoked before the callback is sent.
    key: Option<KeyId>,
    at: Timestamp,
}

pub struct Callbacks {
    kept: SecretStore,
    definition: Definition,
    reach: Reach,
}

impl Callbacks {
    pub fn open(data: &Path, settings: Settings) -> Self {
        let Settings { reach, allow } = settings;
        let (name, attempts) = (CALLBACKS.to_owned(), CALLBACK_ATTEMPTS);
        let sent = Definition::webhook(name, attempts, CALLBACK_RETRY_MS, CALLBACK_TIMEOUT_MS);
        let definition = Definition { allow, ..sent };
        Self { kept: SecretStore::open(data, FOLDER, MEND), definition, reach }
    }

    /// Returns the single channel through which the outbox sends all callbacks.
    pub fn channel(&self) -> Result<Channel, Error> {
        self.to(NOWHERE.to_owned(), None)
    }

    fn to(&self, url: String, secret: Option<String>) -> Result<Channel, Error> {
        let secrets = Secrets { url, secret, headers: BTreeMap::new() };
        let channel = Channel::registered(self.definition.clone(), secrets, Encoding::default(), None)?;
        Ok(if self.reach == Reach::Allowed { channel.closed() } else { channel })
    }

    /// Checks a callback. The error message contains neither the URL nor the secret.
    pub fn check(&self, callback: &AskCallback) -> Answer<()> {
        if self.reach == Reach::Off {
            let why = "is not accepted, because this server sends no callbacks (`callbacks` is `off`); wait \
                for the resolution instead";
            return Err(Refused::invalid_at("/callback", why));
        }
        let AskCallback { url, secret } = callback;
        let mut problems = Vec::new();
        let why = if url.len() > URL_CHARS {
            Some(format!("is longer than {URL_CHARS} bytes"))
        } else {
            match self.to(url.clone(), None) {
                Ok(to) => to.check_address().err().map(|_| ELSEWHERE.to_owned()),
                Err(Error::Url { why, .. }) => Some(why.to_owned()),
                Err(error) => Some(error.to_string()),
            }
        };
        problems.extend(why.map(|why| Problem::new("/callback/url", why)));
        if let Err(why) = Secret::parse(secret) {
            problems.push(Problem::new("/callback/secret", why.to_string()));
        }
        if problems.is_empty() { Ok(()) } else { Err(Refused::invalid(problems)) }
    }

    /// Stores the callback of an interrupt that is about to be opened. Returns the id with which the interrupt must be
    /// opened. `key` is the API key with which the agent authenticated.
    pub async fn keep(&self, app: &App, callback: AskCallback, key: Option<KeyId>) -> Answer<InterruptId> {
        let id: InterruptId = Draw::new(app.driver.clock().seed(), app.now()).id();
        let AskCallback { url, secret } = callback;
        self.kept.keep(app, id.as_str(), Stored { url, secret, key, at: app.now() }).await?;
        Ok(id)
    }

    /// Deletes the stored callback of an interrupt from the secret store.
    pub async fn forget(&self, app: &App, id: &InterruptId) -> Answer<()> {
        self.kept.forget(app, id.as_str()).await
    }

    /// Deletes the callbacks of all interrupts of erased runs.
    pub async fn forget_runs(&self, app: &App, runs: &[RunId]) -> Answer<()> {
        let kept: BTreeSet<InterruptId> = self.kept.all(app).await?;
        if kept.is_empty() {
            return Ok(());
        }
        for run in runs {
            let filter = InterruptFilter { run: Some(run.clone()), ..InterruptFilter::default() };
            let mut after = None;
            loop {
                let page = app.journal().interrupts(&filter, after.as_ref(), PAGE.into()).await?;
                for row in page.items.iter().filter(|row| kept.contains(&row.interrupt)) {
                    self.forget(app, &row.interrupt).await?;
                }
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Returns the host of a callback, and the agent that opened the interrupt. Returns `None` if the callback is not
    /// stored, or if callbacks are switched off. The host may be forbidden by now: this function does not check it.
    pub async fn find_recipient(
        &self,
        app: &App,
        id: &InterruptId,
    ) -> Result<Option<CallbackTarget>, NoCallback> {
        Box::pin(self.read_recipient(app, id)).await.map_err(|refused| {
            tracing::warn!(
                interrupt = %id, why = refused.0.detail,
                "the address of a callback cannot be read"
            );
            NoCallback::NotNow
        })
    }

    async fn read_recipient(&self, app: &App, id: &InterruptId) -> Answer<Option<CallbackTarget>> {
        if self.reach == Reach::Off {
            return Ok(None);
        }
        let stored: Option<Stored> = self.kept.find(app, id.as_str()).await?;
        let Some(Ok(channel)) = stored.map(|stored| self.to(stored.url, None)) else { return Ok(None) };
        let Some(row) = app.journal().interrupt(id).await? else { return Ok(None) };
        let run = app.driver.load(&row.run).await?;
        let asker = run.starter().unwrap_or_default().to_owned();
        Ok(Some(CallbackTarget { host: channel.host_and_port(), asker }))
    }

    /// Returns the channel of an interrupt's callback, and the resolution of the interrupt to send over it.
    pub async fn find_callback(&self, app: &App, id: &InterruptId) -> Result<Callback, NoCallback> {
        match Box::pin(self.check_callback(app, id)).await {
            Ok(found) => found.map_err(NoCallback::Never),
            Err(refused) => {
                let why = refused.0.detail;
                tracing::warn!(
                    interrupt = %id, why,
                    "the content or the address of a callback cannot be read"
                );
                Err(NoCallback::NotNow)
            }
        }
    }

    /// Implements [`Callbacks::find_callback`]. The inner error is the reason why the callback must not be sent.
    async fn check_callback(&self, app: &App, id: &InterruptId) -> Answer<Result<Callback, &'static str>> {
        if self.reach == Reach::Off {
            return Ok(Err(NOT_ALLOWED));
        }
        let stored: Option<Stored> = self.kept.find(app, id.as_str()).await?;
        let Some(Stored { url, secret, key, .. }) = stored else { return Ok(Err(NOT_KEPT)) };
        if let Some(key) = key {
            // Reads the committed state, because another node may just have revoked the key.
            let system = app.driver.system().await?;
            if system.keys.get(&key).is_none_or(|key| key.status(app.now()) != Status::Live) {
                return Ok(Err(KEY_ENDED));
            }
        }
        // The configuration may have changed since the callback was stored.
        let Ok(channel) = self.to(url, Some(secret)) else { return Ok(Err(NOT_ALLOWED)) };
        // Reads the journal, because a cached run may not contain the resolution yet.
        let row = app.journal().interrupt(id).await?.ok_or_else(|| Refused::not_found("interrupt"))?;
        if is_erased(app, &row).await? {
            return Ok(Err(ERASED));
        }
        let (resolution, approval) = view::interrupt::result_for_asker(app, &row).await?;
        let resolution = resolution.and_then(|resolution| serde_json::to_value(resolution).ok());
        let resolution = resolution.ok_or_else(|| Refused::from_code(Code::Internal))?;
        let approval = approval.and_then(|approval| serde_json::to_value(approval).ok());
        Ok(Ok(Callback { channel, resolution, approval }))
    }

    /// Deletes stored callbacks that are no longer needed. An error for one callback is logged, and the others are
    /// still examined.
    pub(crate) async fn sweep(&self, app: &App) -> Answer<()> {
        let kept: BTreeSet<InterruptId> = self.kept.all(app).await?;
        // If the journal is in a database, callbacks in files of the directory belong to a previous journal and are
        // never sent.
        let lying: BTreeSet<InterruptId> = self.kept.file_ids().await?;
        for id in kept.union(&lying) {
            if let Err(refused) = Box::pin(self.sweep_one(app, id)).await {
                let why = refused.0.detail;
                tracing::warn!(interrupt = %id, why, "a stored callback cannot be checked for deletion");
            }
        }
        self.kept.remove_unfinished(app).await
    }

    async fn sweep_one(&self, app: &App, id: &InterruptId) -> Answer<()> {
        let is_over = match app.journal().interrupt(id).await? {
            None => self.is_left_behind(app, id).await?,
            Some(row) if row.open => false,
            Some(row) => is_over(app, &row).await?,
        };
        if is_over {
            self.forget(app, id).await?;
            self.kept.remove(id.as_str()).await?;
        }
        Ok(())
    }

    /// Returns true if a stored callback is old and its interrupt was never opened, because the server crashed in
    /// between. Returns false for a file if the journal is in a database: the file may belong to another journal that
    /// is used again later.
    async fn is_left_behind(&self, app: &App, id: &InterruptId) -> Answer<bool> {
        let stored: Option<Stored> = self.kept.find(app, id.as_str()).await?;
        Ok(stored.is_some_and(|stored| app.now().ms_since(stored.at) > KEPT_UNKNOWN_MS))
    }
}

/// Returns true if the agent was notified, or if the callback will certainly never be sent. A failed delivery can be
/// retried until its content is deleted or the run is erased.
async fn is_over(app: &App, row: &InterruptRow) -> Answer<bool> {
    let filter = DeliveryFilter {
        channel: Some(CALLBACKS.to_owned()),
        state: None,
        interrupt: Some(row.interrupt.clone()),
    };
    let told = app.journal().deliveries(&filter, None, 1).await?.items;
    let may_follow =
        told.iter().any(|each| each.state != DeliveryState::Delivered && !each.notice.is_empty());
    Ok(!may_follow || is_erased(app, row).await?)
}

async fn is_erased(app: &App, row: &InterruptRow) -> Answer<bool> {
    Ok(app.driver.load(&row.run).await?.erased.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn wrong(allow: &[&str], url: &str, secret: &str) -> Vec<String> {
        let allow = allow.iter().map(|range| (*range).to_owned()).collect();
        let callback = AskCallback { url: url.to_owned(), secret: secret.to_owned() };
        let settings = Settings { allow, ..Settings::default() };
        let refused = Callbacks::open(Path::new("/nowhere"), settings).check(&callback).err();
        let errors = refused.map(|refused| refused.0.errors).unwrap_or_default();
        for error in &errors {
            assert!(!error.message.contains("hunter2") && !error.message.contains(SECRET), "{error:?}");
        }
        errors.into_iter().map(|error| error.pointer).collect()
    }

    #[test]
    fn a_callback_goes_where_one_may_and_is_signed() {
        let (none, private): (&[&str], &[&str]) = (&[], &["10.0.0.0/8"]);
        let (url, signs): (&[&str], &[&str]) = (&["/callback/url"], &["/callback/secret"]);
        let both: &[&str] = &["/callback/url", "/callback/secret"];
        let long = format!("https://example.org/{}", "x".repeat(URL_CHARS));
        for (allow, to, secret, expected) in [
            (none, "https://agent.example.org/hunter2", SECRET, none),
            (none, "https://[2a00:1450:4001::1]/", SECRET, none),
            (none, "http://agent.example.org/hunter2", SECRET, url),
            (none, "https://10.0.0.7/hunter2", SECRET, url),
            (none, "https://[::ffff:10.0.0.7]/hunter2", SECRET, url),
            (none, "https://0x7f.1/hunter2", SECRET, url),
            (private, "http://10.0.0.7/hunter2", SECRET, none),
            (private, "https://127.0.0.1/hunter2", SECRET, url),
            (private, "http://93.184.216.34/hunter2", SECRET, url),
            (private, "http://[2a00:1450:4001::1]/hunter2", SECRET, url),
            (private, "https://93.184.216.34/hunter2", SECRET, none),
            (private, "http://agent.example.org/hunter2", SECRET, none),
            (none, "ftp://agent.example.org/hunter2", SECRET, url),
            (none, "https://me:hunter2@agent.example.org/", SECRET, url),
            (none, "hunter2", SECRET, url),
            (none, long.as_str(), SECRET, url),
            (none, "https://agent.example.org/", "hunter2", signs),
            (none, "https://agent.example.org/", "whsec_aHVudGVyMg==", signs),
            (none, "", "", both),
        ] {
            assert_eq!(wrong(allow, to, secret), expected, "{allow:?} {to}");
        }
    }

    #[test]
    fn the_channel_of_all_leads_nowhere_by_itself() {
        let channel = Callbacks::open(Path::new("/nowhere"), Settings::default()).channel().unwrap();
        assert_eq!(channel.definition().name, CALLBACKS);
    }
}
