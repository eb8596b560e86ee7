//! What let somebody in, and when it ends: then their open sockets, streams and long polls end too.
//!
//! A request looks at what is committed. Whatever stays open follows [`keep_standing`], one task for all of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use holdshort_core::digest::Digest;
use holdshort_core::id::{KeyId, StreamId};
use holdshort_core::limits::KEYS;
use holdshort_core::system::System;
use holdshort_core::system::keys::{Found, Key};
use holdshort_core::time::Timestamp;
use holdshort_engine::Clock;
use holdshort_identity::Principal;
use holdshort_identity::jwt::{Issuers, Refusal, Verified};
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
    Login(Login),
    /// A secret of a key, by its digest, and until when it counts if nothing happens to the key.
    Key {
        digest: Digest,
        until: Option<Timestamp>,
    },
    /// A token of an issuer, which counts until then.
    Issued {
        until: Timestamp,
    },
}

impl Access {
    /// When it ends if nobody ends it before.
    pub(crate) fn expires_at(&self) -> Option<Timestamp> {
        match self {
            Self::Token => None,
            Self::Login(login) => Some(login.expires_at),
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
    let name = principal.id.to_ascii_lowercase();
    if let Some(who) = app.driver.system().await?.whose(&name, now) {
        let why = format!("the subject of the token can not be used here: `{}` {who}", principal.id);
        return Err(Refused::new(Code::ForbiddenRole, why));
    }
    Ok(Some((principal, Access::Issued { until })))
}

/// Resolves when what let somebody in lets nobody in any more.
pub(crate) async fn ended(app: &App, access: &Access) {
    match access {
        Access::Token => std::future::pending().await,
        Access::Login(login) => {
            let mut logins = app.logins.follow();
            let signed_out = async { logins.wait_for(|logins| !logins.contains(login)).await.is_ok() };
            tokio::select! {
                // A sender that is gone ends with the process.
                true = signed_out => {}
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
