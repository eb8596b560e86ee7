//! Access of authenticated callers: which credential a caller used, and when the access ends. The caller's open
//! sockets, streams and long polls end with the access.
//!
//! Each request reads the committed state of the journal. A single task, [`publish_system_changes`], reports changes to
//! open sockets, streams and long polls.

mod issued;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use holdshort_core::actor::Role;
use holdshort_core::digest::Digest;
use holdshort_core::id::{KeyId, StreamId};
use holdshort_core::limits::KEYS;
use holdshort_core::people::People;
use holdshort_core::system::System;
use holdshort_core::system::keys::{Key, KeyLookup};
use holdshort_core::time::Timestamp;
use holdshort_engine::{Clock, Error};
use holdshort_protocol::Code;
pub use issued::Newest;
pub(crate) use issued::{admit, by_issuer};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::app::{App, blocking};
use crate::identity::{AuthMethod, Principal};
use crate::logins::Login;
use crate::problem::{Answer, Refused};
use crate::secrets;

/// Prefix of the secret of every access key.
const KEY_PREFIX: &str = "hs_key_";
/// Length of the secret of an access key: the prefix and 256 bits in hexadecimal.
const KEY_CHARS: usize = KEY_PREFIX.len() + 64;
/// Delay before the server reads the journal again after a read error.
const PAUSE: Duration = Duration::from_secs(1);
/// Longest sleep between two readings of the clock. If the machine's clock is set forward, the access of a caller ends
/// at most this much too late.
const NAP: Duration = Duration::from_mins(1);

/// Credential with which a caller authenticated. `since` is the number of the last installation event (a change to
/// people, keys or settings) that was known when the caller authenticated.
#[derive(Clone, Debug)]
pub enum Access {
    /// Token that is stored in the data folder. The caller's access is valid until the process ends.
    Token,
    /// Login of a browser or terminal, with the roles and groups that the person had when the caller authenticated.
    Login { login: Login, is: RolesAndGroups, since: u64 },
    /// Digest of the secret of an access key, and the expiry of this secret. A change to the key may end the access
    /// earlier.
    Key { digest: Digest, until: Option<Timestamp>, since: u64 },
    /// Token of an issuer (an external identity service), and the expiry of this token. `is` contains the roles and
    /// groups of the token's subject, or `None` if the subject is not a known person.
    Issued { id: String, is: Option<RolesAndGroups>, until: Timestamp, since: u64 },
}

/// Roles and groups that a person had when the caller authenticated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RolesAndGroups {
    roles: BTreeSet<Role>,
    groups: BTreeSet<String>,
}

impl RolesAndGroups {
    fn for_person(people: &People, id: &str) -> Self {
        let groups = people.get(id).map(|person| person.groups.clone()).unwrap_or_default();
        Self { roles: people.signs_in(id), groups }
    }
}

impl Access {
    pub(crate) fn expires_at(&self) -> Option<Timestamp> {
        match self {
            Self::Token => None,
            Self::Login { login, .. } => Some(login.expires_at),
            Self::Key { until, .. } => *until,
            Self::Issued { until, .. } => Some(*until),
        }
    }
}

/// Time at which each access key was last used on this node. The times are kept only in memory, because no decision
/// depends on them.
#[derive(Default)]
pub struct KeyUsage(Mutex<BTreeMap<KeyId, Timestamp>>);

impl KeyUsage {
    pub fn last_used_at(&self, key: &KeyId) -> Option<Timestamp> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    fn record_use(&self, key: &KeyId, now: Timestamp) {
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if used.len() >= KEYS && !used.contains_key(key) {
            used.clear();
        }
        used.insert(key.clone(), now);
    }
}

/// Creates a random secret for an access key, and returns the secret with its digest. Only the digest is stored, so the
/// secret cannot be shown again.
pub fn draw() -> Result<(String, Digest), secrets::Error> {
    let secret = format!("{KEY_PREFIX}{}", secrets::draw()?);
    let digest = Digest::of_bytes(secret.as_bytes());
    Ok((secret, digest))
}

/// Returns the person of a login, with the person's current roles. Returns `None` if the login has ended.
pub(crate) async fn by_login(app: &App, login: Login) -> Answer<Option<(Principal, Access)>> {
    let system = app.driver.system().await?;
    let people = &system.people;
    if login.is_over(&system) {
        return Ok(None);
    }
    let is = RolesAndGroups::for_person(people, &login.person);
    let RolesAndGroups { roles, groups } = is.clone();
    let name = people.get(&login.person).and_then(|person| person.name.clone());
    let how = AuthMethod::Login { let_in_by: login.let_in_by.clone() };
    let aliases = BTreeSet::new();
    let principal = Principal { id: login.person.clone(), name, aliases, roles, groups, how };
    Ok(Some((principal, Access::Login { login, is, since: system.seq })))
}

/// Finds the access key that has this secret. Returns the value that `of` computes from the key, and the access that
/// the key gives. Returns `None` if no key has this secret. The lookup compares digests, so its duration reveals
/// nothing about a secret.
pub(crate) async fn by_key<T>(
    app: &App,
    secret: &str,
    of: impl FnOnce(&Key) -> T,
) -> Answer<Option<(T, Access)>> {
    if secret.len() != KEY_CHARS || !secret.starts_with(KEY_PREFIX) {
        return Ok(None);
    }
    let digest = Digest::of_bytes(secret.as_bytes());
    // Reads the committed state, so that a change on another node takes effect at once.
    let system = app.driver.system().await?;
    let now = app.now();
    match system.keys.find(&digest, now) {
        KeyLookup::Live { key, until } => {
            app.used.record_use(&key.id, now);
            Ok(Some((of(key), Access::Key { digest, until, since: system.seq })))
        }
        KeyLookup::Expired => {
            Err(Refused::new(Code::CredentialExpired, "the key has expired; create a new one"))
        }
        KeyLookup::Unknown => Ok(None),
    }
}

/// Resolves when the caller's access has ended. Never resolves for the token of the data folder.
pub(crate) async fn ended(app: &App, access: &Access) {
    match access {
        Access::Token => std::future::pending().await,
        Access::Login { login, is, since } => {
            let mut logins = app.logins.follow();
            let signed_out = async { logins.wait_for(|logins| !logins.contains(login)).await.is_ok() };
            // A person whose roles or groups have changed must authenticate again.
            let changed = changes(app, *since, |system| {
                login.is_over(system) || RolesAndGroups::for_person(&system.people, &login.person) != *is
            });
            tokio::select! {
                // The result is false if the sender was dropped, which happens when the process ends.
                true = signed_out => {}
                () = changed => {}
                () = until(app, login.expires_at) => {}
                else => std::future::pending().await,
            }
        }
        Access::Issued { id, is, until: end, since } => {
            let changed = changes(app, *since, |system| match is {
                Some(is) => RolesAndGroups::for_person(&system.people, id) != *is,
                None => system.people.is_removed(id) || system.describe_name_owner(id, app.now()).is_some(),
            });
            tokio::select! {
                () = changed => {}
                () = until(app, *end) => {}
            }
        }
        Access::Key { digest, until: first, since } => {
            let mut standing = app.standing.clone();
            loop {
                let found = {
                    let system = standing.borrow_and_update();
                    match system.keys.find(digest, app.now()) {
                        // The published state is older than the change that made the secret valid.
                        _ if system.seq < *since => Some(*first),
                        KeyLookup::Live { until, .. } => Some(until),
                        KeyLookup::Expired | KeyLookup::Unknown => None,
                    }
                };
                let Some(end) = found else { return };
                let over = async {
                    match end {
                        Some(end) => until(app, end).await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    Ok(()) = standing.changed() => {}
                    () = over => {}
                    else => std::future::pending().await,
                }
            }
        }
    }
}

/// Waits until `is_so` returns true for a published state of the installation (its people, keys and settings). States
/// before the event with the number `since` are not examined.
async fn changes(app: &App, since: u64, is_so: impl Fn(&System) -> bool) {
    let mut standing = app.standing.clone();
    // The state may still be older than the change that authenticated the caller.
    if standing.wait_for(|system| system.seq >= since && is_so(system)).await.is_err() {
        // The sender is dropped when the process ends.
        std::future::pending::<()>().await;
    }
}

/// Waits until the clock of this server shows the time `end`.
async fn until(app: &App, end: Timestamp) {
    loop {
        let now = app.now();
        if now >= end {
            return;
        }
        sleep(Duration::from_millis(end.ms_since(now)).min(NAP)).await;
    }
}

/// Publishes each change to people, keys and settings that any node has made, and signs out people who were removed.
/// Runs until the store is closed.
pub async fn publish_system_changes(app: Arc<App>, tell: watch::Sender<Arc<System>>) {
    let mut commits = app.driver.watch_stream(&StreamId::System);
    loop {
        match app.driver.system().await {
            Ok(system) => {
                let (logins, known) = (app.clone(), system.clone());
                // Logins of removed people are rejected even if the deletion fails. The next change repeats the
                // deletion.
                if blocking(move || logins.logins.purge(&known)).await.is_err() {
                    tracing::error!("the logins of removed people cannot be deleted from the login file");
                }
                tell.send_if_modified(|known| {
                    let is_news = known.seq < system.seq;
                    if is_news {
                        *known = system;
                    }
                    is_news
                });
                if commits.changed().await.is_err() {
                    return;
                }
            }
            Err(Error::Store(holdshort_store::Error::Closed)) => return,
            Err(error) => {
                tracing::error!(%error, "changes of the installation cannot be read, so connections of \
                    revoked keys stay open");
                app.driver.clock().sleep(PAUSE).await;
            }
        }
    }
}

/// Waits until this node has published the installation event `seq` to its open sockets, streams and long polls. Also
/// returns when the server stops.
pub async fn wait_until_published(app: &App, seq: u64) {
    let mut standing = app.standing.clone();
    let told = async { standing.wait_for(|system| system.seq >= seq).await.is_ok() };
    tokio::select! {
        _ = told => {}
        () = app.stopped() => {}
    }
}
