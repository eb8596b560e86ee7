//! What let somebody in, and when it ends: then their open sockets, streams and long polls end too.
//!
//! A request looks at what is committed. Whatever stays open follows [`keep_standing`], one task for all of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use holdshort_core::actor::{Actor, Role};
use holdshort_core::digest::Digest;
use holdshort_core::id::{KeyId, StreamId};
use holdshort_core::limits::KEYS;
use holdshort_core::system::keys::{Found, Key};
use holdshort_core::system::people::{PeopleSource, Person};
use holdshort_core::system::{Input, System};
use holdshort_core::time::Timestamp;
use holdshort_engine::Clock;
use holdshort_identity::jwt::{Issuers, Refusal, Verified};
use holdshort_identity::{How, Principal};
use holdshort_protocol::Code;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::app::App;
use crate::logins::Login;
use crate::problem::{Answer, Refused};
use crate::secrets;

/// What the secret of a key begins with.
const KEY_PREFIX: &str = "hs_key_";
/// With the 256 bits behind it.
const KEY_CHARS: usize = KEY_PREFIX.len() + 64;
/// After the journal could not be read.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest sleep before the clock is looked at again: a clock that is set takes nobody's time away for long.
const NAP: Duration = Duration::from_mins(1);

/// What let somebody in.
#[derive(Clone, Debug)]
pub enum Access {
    /// A token of the data folder. It ends with the process.
    Token,
    /// A browser's, with the roles that its person had.
    Login(Login, BTreeSet<Role>),
    /// A secret of a key, by its digest, and until when it counts if nothing happens to the key.
    Key { digest: Digest, until: Option<Timestamp> },
    /// A token of an issuer, which counts until then.
    Issued { until: Timestamp },
}

impl Access {
    /// When it ends if nobody ends it before.
    pub(crate) fn expires_at(&self) -> Option<Timestamp> {
        match self {
            Self::Token => None,
            Self::Login(login, _) => Some(login.expires_at),
            Self::Key { until, .. } => *until,
            Self::Issued { until } => Some(*until),
        }
    }
}

/// When each key was shown here last. In memory alone: nothing is decided by it.
#[derive(Default)]
pub struct Used(Mutex<BTreeMap<KeyId, Timestamp>>);

impl Used {
    pub fn at(&self, key: &KeyId) -> Option<Timestamp> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    fn now(&self, key: &KeyId, now: Timestamp) {
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if used.len() >= KEYS && !used.contains_key(key) {
            used.clear();
        }
        used.insert(key.clone(), now);
    }
}

/// A new secret of a key, and its digest. Nobody can be shown it a second time.
pub fn draw() -> Result<(String, Digest), secrets::Error> {
    let secret = format!("{KEY_PREFIX}{}", secrets::draw()?);
    let digest = Digest::of(secret.as_bytes());
    Ok((secret, digest))
}

/// Who a browser is signed in as, with the roles that they have now; `None` where that is nobody any more.
pub(crate) async fn by_login(app: &App, login: Login) -> Answer<Option<(Principal, Access)>> {
    let system = app.driver.system().await?;
    let roles = system.people.roles(&login.person);
    let known = system.people.get(&login.person);
    let groups = known.map(|person| person.groups.clone()).unwrap_or_default();
    let name = known.and_then(|person| person.name.clone());
    let principal =
        Principal { id: login.person.clone(), name, roles: roles.clone(), groups, how: How::Login };
    Ok((!roles.is_empty()).then_some((principal, Access::Login(login, roles))))
}

/// The key of a secret, and what it is let in by; `None` where it is no secret of a key. A digest is looked up, so the
/// time that it takes tells nothing about a secret.
pub(crate) async fn by_key<T>(
    app: &App,
    secret: &str,
    of: impl FnOnce(&Key) -> T,
) -> Answer<Option<(T, Access)>> {
    if secret.len() != KEY_CHARS || !secret.starts_with(KEY_PREFIX) {
        return Ok(None);
    }
    let digest = Digest::of(secret.as_bytes());
    // What is committed now, on whichever node.
    let system = app.driver.system().await?;
    let now = app.now();
    match system.keys.find(&digest, now) {
        Found::Live { key, until } => {
            app.used.now(&key.id, now);
            Ok(Some((of(key), Access::Key { digest, until })))
        }
        Found::Expired => Err(Refused::new(Code::CredentialExpired, "the key has expired; make another one")),
        Found::Unknown => Ok(None),
    }
}

/// Whose token of an issuer it is, and what it is let in by; `None` where it is no such token.
pub(crate) async fn by_issuer(app: &App, token: &str) -> Answer<Option<(Principal, Access)>> {
    if app.issuers.is_empty() || !Issuers::could_be(token) {
        return Ok(None);
    }
    let now = app.now();
    let Verified { principal, until } = match app.issuers.verify(token, now).await {
        Ok(verified) => verified,
        Err(refusal) => {
            tracing::debug!(%refusal, "a token is refused");
            return match refusal {
                Refusal::Expired => Err(Refused::new(Code::CredentialExpired, "the token has expired")),
                Refusal::Unavailable => Err(Refused::of(Code::IdentityUnavailable)),
                // The issuer has signed it, so whoever shows it may be told.
                Refusal::Audience | Refusal::NotYet | Refusal::Claim | Refusal::Subject => {
                    Err(Refused::new(Code::Unauthenticated, format!("the token: {refusal}")))
                }
                Refusal::Malformed
                | Refusal::Algorithm
                | Refusal::NoKey
                | Refusal::Signature
                | Refusal::Type
                | Refusal::Critical => Ok(None),
            };
        }
    };
    // An issuer may call somebody like one of ours; they are somebody else all the same.
    let system = app.driver.system().await?;
    let name = principal.id.to_ascii_lowercase();
    let elsewhere = match system.people.get(&principal.id) {
        Some(_) if principal.is_person() => None,
        _ => system.whose(&name, now).or_else(|| system.whose(&principal.id, now)),
    };
    if let Some(who) = elsewhere {
        let why = format!("the subject of the token can not be used here: `{}` {who}", principal.id);
        return Err(Refused::new(Code::ForbiddenRole, why));
    }
    let principal = if principal.is_person() { taken_up(app, &system, principal).await? } else { principal };
    Ok(Some((principal, Access::Issued { until })))
}

/// A person as the token says, among the people from here on. Where the people file or an admin says who somebody is, that
/// counts, and what the token says of roles and groups does not.
async fn taken_up(app: &App, system: &System, principal: Principal) -> Answer<Principal> {
    let said = Person {
        roles: principal.roles.iter().copied().filter(|role| *role != Role::Agent).collect(),
        groups: principal.groups.clone(),
        time_zone: None,
        language: None,
        source: PeopleSource::Provider,
        name: principal.name.clone(),
        addresses: BTreeMap::new(),
        away: None,
    };
    match system.people.get(&principal.id) {
        Some(known) if known.source != PeopleSource::Provider => {
            let (roles, groups) = (known.roles.clone(), known.groups.clone());
            return Ok(Principal { roles, groups, ..principal });
        }
        Some(known) if known.is_as(&said) => {}
        Some(_) | None => {
            let input = Input::SetPerson { id: principal.id.clone(), person: said };
            app.driver.change_system(input, Actor::engine()).await?;
        }
    }
    Ok(principal)
}

/// Resolves when what let somebody in lets nobody in any more.
pub(crate) async fn ended(app: &App, access: &Access) {
    match access {
        Access::Token => std::future::pending().await,
        Access::Login(login, roles) => {
            let mut standing = app.standing.clone();
            // Whoever may do something else than before is looked at anew.
            let changed = async {
                standing.wait_for(|system| system.people.roles(&login.person) != *roles).await.is_ok()
            };
            let mut logins = app.logins.follow();
            let signed_out = async { logins.wait_for(|logins| !logins.contains(login)).await.is_ok() };
            tokio::select! {
                // A sender that is gone ends with the process.
                true = signed_out => {}
                true = changed => {}
                () = until(app, login.expires_at) => {}
                else => std::future::pending().await,
            }
        }
        Access::Issued { until: end } => until(app, *end).await,
        Access::Key { digest, .. } => {
            let mut standing = app.standing.clone();
            loop {
                let found = match standing.borrow_and_update().keys.find(digest, app.now()) {
                    Found::Live { until, .. } => Some(until),
                    Found::Expired | Found::Unknown => None,
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

/// Until the clock of this server shows a time.
async fn until(app: &App, end: Timestamp) {
    loop {
        let now = app.now();
        if now >= end {
            return;
        }
        sleep(Duration::from_millis(end.ms_since(now)).min(NAP)).await;
    }
}

/// Tells those who follow of each change to the installation, on whichever node. Runs until the store is closed.
pub async fn keep_standing(app: Arc<App>, tell: watch::Sender<Arc<System>>) {
    let mut commits = app.driver.watch_stream(&StreamId::System);
    loop {
        match app.driver.system().await {
            Ok(system) => {
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
            Err(holdshort_engine::Error::Store(holdshort_store::Error::Closed)) => return,
            Err(error) => {
                tracing::error!(%error, "the keys can not be read; what is revoked stays open until they can");
                app.driver.clock().sleep(PAUSE).await;
            }
        }
    }
}

/// Waits until whatever is open here has been told of a change that was committed.
pub async fn told(app: &App, seq: u64) {
    let mut standing = app.standing.clone();
    let told = async { standing.wait_for(|system| system.seq >= seq).await.is_ok() };
    tokio::select! {
        _ = told => {}
        () = app.stopped() => {}
    }
}
