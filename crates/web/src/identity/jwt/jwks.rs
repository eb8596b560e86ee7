//! The public keys of an issuer (RFC 7517). The key set is fetched and cached. The key set is fetched again when it is
//! old or does not contain a key.
//!
//! A fetched key set replaces the cached key set as a whole. If the issuer is unreachable or sends an invalid response,
//! the cached keys stay valid up to a maximum age.

use std::fs::{File, Metadata};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use holdshort_core::json;
use holdshort_http::guard::Guard;
use holdshort_http::secret_file;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey};
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use reqwest::{Method, Url};
use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

use super::config::{ConfigError, Jwt, TABLE, is_of_this_machine};
use crate::identity::fetch::{FetchRequest, fetch};
use crate::identity::limits::{JWKS_BYTES, JWKS_KEYS, JWKS_TIME};

pub(super) struct Jwks {
    issuer: String,
    source: Source,
    max_age: Duration,
    pause: Duration,
    keep: Duration,
    known: Mutex<CachedKeySet>,
    /// Mutex that is locked while the issuer's key set is being fetched.
    fetching: tokio::sync::Mutex<()>,
}

enum Source {
    File(PathBuf),
    Url { url: Url, guard: Guard },
}

#[derive(Default)]
struct CachedKeySet {
    set: Arc<Vec<Jwk>>,
    /// Time at which the issuer's key set was fetched; `None` if it was never fetched.
    fetched: Option<Instant>,
    tried: Option<Instant>,
}

/// Reason why no key was found for the signature of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoKey {
    /// The key set of the issuer has no key with the id in the token for the algorithm of the token.
    Unknown,
    /// More than one key of the issuer's key set matches the token.
    Ambiguous,
    /// The issuer's key set cannot be fetched, and the cached key set is too old or was never fetched.
    Unavailable,
}

#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Fetch(#[from] crate::identity::fetch::Failed),
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error("the response has the status {0}")]
    Status(u16),
    #[error("the key set has more than {JWKS_BYTES} bytes")]
    TooLarge,
    #[error(
        "other users can write to the file (mode {0:03o}) and could add their own keys: run `chmod go-w`"
    )]
    Writable(u32),
    #[error("the fetch took longer than {} s", JWKS_TIME.as_secs())]
    Slow,
    #[error("it is not a key set: {0}")]
    Malformed(String),
}

impl Jwks {
    /// Creates the cache for the key set of an issuer whose configuration was checked.
    pub(super) fn new(jwt: &Jwt) -> Result<Option<Self>, ConfigError> {
        let wrong =
            |why: String| ConfigError { table: TABLE, at: jwt.issuer.clone(), steps: Vec::new(), why };
        let source = match (&jwt.jwks_file, &jwt.jwks_url) {
            (Some(file), _) => {
                // The file is read now, so that an invalid file is reported when the server starts.
                let at = format!("`jwks_file` {}", file.display());
                keys_of(file).map_err(|error| ConfigError {
                    table: TABLE,
                    at,
                    steps: Vec::new(),
                    why: error.to_string(),
                })?;
                Source::File(file.clone())
            }
            (None, Some(url)) => {
                let url: Url = url.parse().map_err(|_| wrong("`jwks_url` is not a URL".to_owned()))?;
                let mut networks = jwt.jwks_networks.clone();
                if is_of_this_machine(&url) {
                    networks.extend(["127.0.0.0/8".to_owned(), "::1/128".to_owned()]);
                }
                let guard = Guard::new(&networks).map_err(|error| wrong(error.to_string()))?;
                Source::Url { url, guard }
            }
            (None, None) => return Ok(None),
        };
        Ok(Some(Self {
            issuer: jwt.issuer.clone(),
            source,
            max_age: Duration::from_secs(jwt.jwks_max_age_s),
            pause: Duration::from_secs(jwt.jwks_pause_s),
            keep: Duration::from_secs(jwt.jwks_keep_s),
            known: Mutex::default(),
            fetching: tokio::sync::Mutex::new(()),
        }))
    }

    /// Returns the key of the issuer with the id `kid` for the signature algorithm of a token. Fetches the key set
    /// again if it is old or lacks the key.
    pub(super) async fn key(&self, kid: Option<&str>, algorithm: Algorithm) -> Result<DecodingKey, NoKey> {
        match self.age() {
            None => self.fetch_in_turn().await,
            // A caller that can use cached keys does not wait while another caller fetches new keys.
            Some(age) if age >= self.max_age => {
                if let Ok(_turn) = self.fetching.try_lock() {
                    self.fetch().await;
                }
            }
            Some(_) => {}
        }
        match self.find(kid, algorithm) {
            Err(NoKey::Unknown) => {
                self.fetch_in_turn().await;
                self.find(kid, algorithm)
            }
            found => found,
        }
    }

    fn age(&self) -> Option<Duration> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.fetched.map(|at| at.elapsed())
    }

    fn find(&self, kid: Option<&str>, algorithm: Algorithm) -> Result<DecodingKey, NoKey> {
        if self.age().is_none_or(|age| age > self.keep) {
            return Err(NoKey::Unavailable);
        }
        let set = self.known.lock().unwrap_or_else(PoisonError::into_inner).set.clone();
        let mut fitting = set.iter().filter(|key| {
            is_for(key, algorithm) && kid.is_none_or(|kid| key.common.key_id.as_deref() == Some(kid))
        });
        match (fitting.next(), fitting.next()) {
            (Some(key), None) => DecodingKey::from_jwk(key).map_err(|_| NoKey::Unknown),
            (Some(_), Some(_)) => Err(NoKey::Ambiguous),
            (None, _) => Err(NoKey::Unknown),
        }
    }

    async fn fetch_in_turn(&self) {
        let _turn = self.fetching.lock().await;
        self.fetch().await;
    }

    /// Fetches the issuer's key set. Does nothing if the previous fetch began less than `jwks_pause_s` ago. The caller
    /// must have locked `fetching`.
    async fn fetch(&self) {
        {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.tried.is_some_and(|at| at.elapsed() < self.pause) {
                return;
            }
            known.tried = Some(Instant::now());
        }
        let fetched = timeout(JWKS_TIME, self.read()).await.map_err(|_| Failed::Slow);
        match fetched.and_then(|read| read).and_then(|bytes| understand(&bytes)) {
            Ok(set) => {
                let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
                known.set = Arc::new(set);
                known.fetched = Some(Instant::now());
            }
            Err(error) => {
                tracing::warn!(issuer = self.issuer, %error, "the keys of a token issuer cannot be fetched");
            }
        }
    }

    async fn read(&self) -> Result<Vec<u8>, Failed> {
        match &self.source {
            Source::File(path) => {
                let file = tokio::fs::File::open(path).await?;
                owned(&file.metadata().await?)?;
                let mut bytes = Vec::new();
                file.take(JWKS_BYTES as u64 + 1).read_to_end(&mut bytes).await?;
                if bytes.len() > JWKS_BYTES { Err(Failed::TooLarge) } else { Ok(bytes) }
            }
            Source::Url { url, guard } => {
                let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
                let ask = FetchRequest { method: Method::GET, url: url.clone(), headers, body: Vec::new() };
                let came = fetch(guard, ask, JWKS_TIME, JWKS_BYTES).await?;
                if (200..300).contains(&came.status) {
                    Ok(came.body)
                } else {
                    Err(Failed::Status(came.status))
                }
            }
        }
    }
}

fn keys_of(path: &Path) -> Result<Vec<Jwk>, Failed> {
    let file = File::open(path)?;
    owned(&file.metadata()?)?;
    let bytes = secret_file::bounded(file, JWKS_BYTES as u64).map_err(|error| match error {
        secret_file::Error::Io(error) => Failed::Io(error),
        _ => Failed::TooLarge,
    })?;
    understand(&bytes)
}

/// Rejects a file with a token issuer's keys to which other users may write, because they could add a key and sign any
/// token with it.
fn owned(file: &Metadata) -> Result<(), Failed> {
    let mode = file.permissions().mode() & 0o777;
    if mode & 0o022 == 0 { Ok(()) } else { Err(Failed::Writable(mode)) }
}

/// Returns the usable public keys of an issuer's key set. All other keys are skipped, such as symmetric keys and keys
/// for unknown algorithms.
fn understand(bytes: &[u8]) -> Result<Vec<Jwk>, Failed> {
    let malformed = |why: String| Failed::Malformed(why);
    let value = json::parse(bytes).map_err(|error| malformed(error.to_string()))?;
    let keys = value.get("keys").and_then(Value::as_array);
    let keys = keys.ok_or_else(|| malformed("it has no list `keys`".to_owned()))?;
    if keys.len() > JWKS_KEYS {
        return Err(malformed(format!("it has more than {JWKS_KEYS} keys")));
    }
    let is_public = |key: &Jwk| {
        matches!(
            key.algorithm,
            AlgorithmParameters::RSA(_)
                | AlgorithmParameters::EllipticCurve(_)
                | AlgorithmParameters::OctetKeyPair(_)
        )
    };
    let read = keys.iter().filter_map(|key| serde_json::from_value(key.clone()).ok());
    let set: Vec<Jwk> = read.filter(is_public).collect();
    // An empty key set is rejected, because it would make all tokens invalid and is probably a mistake of the issuer.
    if set.is_empty() { Err(malformed("it has no key that can be used".to_owned())) } else { Ok(set) }
}

fn is_for(key: &Jwk, algorithm: Algorithm) -> bool {
    let common = &key.common;
    let is_named = common.key_algorithm.is_none_or(|named| named.to_string() == format!("{algorithm:?}"));
    let is_used = common.public_key_use.as_ref().is_none_or(|used| *used == PublicKeyUse::Signature)
        && common.key_operations.as_ref().is_none_or(|may| may.contains(&KeyOperations::Verify));
    let is_of_its_kind = match (&key.algorithm, algorithm.family()) {
        (AlgorithmParameters::RSA(_), AlgorithmFamily::Rsa) => true,
        (AlgorithmParameters::EllipticCurve(key), AlgorithmFamily::Ec) => {
            key.curve == if algorithm == Algorithm::ES256 { EllipticCurve::P256 } else { EllipticCurve::P384 }
        }
        (AlgorithmParameters::OctetKeyPair(key), AlgorithmFamily::Ed) => key.curve == EllipticCurve::Ed25519,
        // Rejects all other keys, such as a symmetric secret.
        _ => false,
    };
    is_named && is_used && is_of_its_kind
}
