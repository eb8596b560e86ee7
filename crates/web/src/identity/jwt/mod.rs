//! Tokens of issuers (JWT, RFC 7519, under the rules of RFC 8725). Verifies a token, or returns the reason why the
//! token is invalid.
//!
//! Before the signature of a token is verified, only the names of its issuer and its key are read from the token.
//! `jwks.rs` fetches the keys, `verifier.rs` checks signatures, and `config.rs` defines the configuration of an
//! issuer.

mod config;
mod jwks;
mod verifier;

use std::collections::BTreeSet;
use std::path::Path;
use std::str::FromStr;

use data_encoding::BASE64URL_NOPAD;
use holdshort_core::actor::Role;
use holdshort_core::json;
use holdshort_core::name::is_name;
use holdshort_core::time::Timestamp;
use holdshort_http::secret_file;
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde_json::{Map, Value};

pub use config::{Claims, ConfigError, Jwt, check};
pub(crate) use config::{MIXED_UP, are_mixed_up, is_of_this_machine};

use crate::identity::limits::{
    CLAIM_VALUE_BYTES, CLAIM_VALUES, NAME_BYTES, SECRET_BYTES, SECRET_FILE_BYTES, SUBJECT_BYTES, TOKEN_BYTES,
};
use crate::identity::{AuthMethod, Principal};
use jwks::{Jwks, NoKey};

/// Issuers (external identity services) whose tokens the server accepts.
#[derive(Default)]
pub struct Issuers {
    all: Vec<Issuer>,
    /// Name and prefix of every token issuer of this server. A subject with the prefix of one issuer is rejected in the
    /// tokens of all other issuers.
    others: Vec<(String, String)>,
}

struct Issuer {
    jwt: Jwt,
    keys: Keys,
}

enum Keys {
    Secret(DecodingKey),
    Public(Box<Jwks>),
}

/// Principal of a verified token, and the time until which the token is accepted: its expiry plus the leeway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    pub principal: Principal,
    pub until: Timestamp,
    /// Time at which the verified token was issued. `None` if the token does not contain this time.
    pub issued_at: Option<Timestamp>,
}

/// Reason why the token of an issuer is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("it is not a token of a configured issuer")]
    Malformed,
    #[error("its `alg` is not allowed for its issuer")]
    Algorithm,
    #[error("its `kid` is not a key of its issuer")]
    NoKey,
    #[error("its signature is wrong")]
    Signature,
    #[error("its `aud` is not an audience of this server")]
    Audience,
    #[error("its `typ` is wrong")]
    Type,
    #[error("its header contains `crit`, or says that the token is encrypted or compressed")]
    Critical,
    #[error("it has expired")]
    Expired,
    #[error("it is not valid yet")]
    NotYet,
    #[error("a claim is missing or invalid")]
    Claim,
    #[error(
        "its subject is not a valid id: use 1 to {SUBJECT_BYTES} visible ASCII characters, without the \
        prefix of another issuer"
    )]
    Subject,
    #[error(
        "its `email` identifies its subject, but its issuer has not verified it (`email_verified` is not \
         true)"
    )]
    Unverified,
    #[error("it has the agent role and another role: a principal is either an agent or a person")]
    Roles,
    /// The key set of the token's issuer cannot be fetched.
    #[error("the keys of its issuer cannot be fetched")]
    Unavailable,
}

impl Issuers {
    /// Creates the token issuers from their configuration. Reads the files with shared secrets; public keys are fetched
    /// when the first token arrives.
    pub fn open(configured: &[Jwt]) -> Result<Self, ConfigError> {
        check(configured)?;
        verifier::install();
        let mut issuers = Vec::new();
        for jwt in configured {
            let keys = match (&jwt.secret_file, Jwks::new(jwt)?) {
                (Some(path), None) => Keys::Secret(secret(path).map_err(|why| ConfigError {
                    table: config::TABLE,
                    at: format!("`secret_file` {}", path.display()),
                    steps: Vec::new(),
                    why,
                })?),
                (None, Some(jwks)) => Keys::Public(Box::new(jwks)),
                _ => {
                    return Err(ConfigError {
                        table: config::TABLE,
                        at: jwt.issuer.clone(),
                        steps: Vec::new(),
                        why: "has no keys".to_owned(),
                    });
                }
            };
            issuers.push(Issuer { jwt: jwt.clone(), keys });
        }
        let others = configured.iter().map(|jwt| (jwt.issuer.clone(), jwt.prefix.clone())).collect();
        Ok(Self { all: issuers, others })
    }

    /// Adds the name and prefix of an issuer whose tokens other code verifies. A token of a configured issuer is then
    /// rejected if its subject has this prefix.
    #[must_use]
    pub fn with_other_issuer(mut self, issuer: &str, prefix: &str) -> Self {
        self.others.push((issuer.to_owned(), prefix.to_owned()));
        self
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns true if `token` has the form of a JWT: three parts of base64url.
    pub fn could_be(token: &str) -> bool {
        let is_part = |part: &str| part.bytes().all(|c| c.is_ascii_alphanumeric() || b"-_".contains(&c));
        token.starts_with("ey") && token.split('.').count() == 3 && token.split('.').all(is_part)
    }

    /// Verifies the token of an issuer, and returns the principal of this token.
    pub async fn verify(&self, token: &str, now: Timestamp) -> Result<Verified, Refusal> {
        self.read(token, now).await.map(|(verified, _)| verified)
    }

    /// Like [`Issuers::verify`], but also returns all claims of the token.
    pub(crate) async fn read(
        &self,
        token: &str,
        now: Timestamp,
    ) -> Result<(Verified, Map<String, Value>), Refusal> {
        let (issuer, claims) = self.signed(token).await?;
        let verified = issuer.understand(&claims, now)?;
        let id = &verified.principal.id;
        let is_others = self.others.iter().any(|(other, prefix)| {
            *other != issuer.jwt.issuer && !prefix.is_empty() && id.starts_with(prefix)
        });
        if is_others { Err(Refusal::Subject) } else { Ok((verified, claims)) }
    }

    /// Verifies a token that does not authenticate a caller, such as the logout notice of an issuer. Returns the claims
    /// of the token.
    pub(crate) async fn notice(&self, token: &str, now: Timestamp) -> Result<Map<String, Value>, Refusal> {
        let (issuer, claims) = self.signed(token).await?;
        issuer.times(&claims, now)?;
        Ok(claims)
    }

    /// Verifies the signature, audience and expiry of an issuer's token. Returns the issuer and the claims of the
    /// token.
    async fn signed(&self, token: &str) -> Result<(&Issuer, Map<String, Value>), Refusal> {
        if token.len() > TOKEN_BYTES || !Self::could_be(token) {
            return Err(Refusal::Malformed);
        }
        let mut parts = token.split('.').map(object);
        let (header, claimed) = (parts.next().flatten(), parts.next().flatten());
        let (header, claimed) = header.zip(claimed).ok_or(Refusal::Malformed)?;
        let of = claimed.get("iss").and_then(Value::as_str);
        let issuer =
            self.all.iter().find(|issuer| Some(&*issuer.jwt.issuer) == of).ok_or(Refusal::Malformed)?;
        let algorithm = issuer.algorithm(&header)?;
        let key = match &issuer.keys {
            Keys::Secret(key) => key.clone(),
            Keys::Public(jwks) => {
                let kid = match header.get("kid") {
                    None => None,
                    Some(kid) => Some(kid.as_str().ok_or(Refusal::Malformed)?),
                };
                jwks.key(kid, algorithm).await.map_err(|error| match error {
                    NoKey::Unknown | NoKey::Ambiguous => Refusal::NoKey,
                    NoKey::Unavailable => Refusal::Unavailable,
                })?
            }
        };
        // From here on, only claims that the issuer has signed are used.
        let token = jsonwebtoken::decode::<Map<String, Value>>(token, &key, &issuer.validation(algorithm));
        let claims = token.map_err(|error| refusal(&error))?.claims;
        // The library also accepts a list of issuers in `iss`, so the issuer is compared again.
        if claims.get("iss").and_then(Value::as_str) != Some(&issuer.jwt.issuer) {
            return Err(Refusal::Claim);
        }
        Ok((issuer, claims))
    }
}

impl Issuer {
    /// Returns the signature algorithm in the token's header, if the issuer may use this algorithm.
    fn algorithm(&self, header: &Map<String, Value>) -> Result<Algorithm, Refusal> {
        if ["crit", "enc", "zip", "b64"].into_iter().any(|name| header.contains_key(name)) {
            return Err(Refusal::Critical);
        }
        if let Some(wanted) = &self.jwt.typ {
            let plain = |text: &str| text.to_ascii_lowercase().trim_start_matches("application/").to_owned();
            let is_it =
                header.get("typ").and_then(Value::as_str).is_some_and(|typ| plain(typ) == plain(wanted));
            if !is_it {
                return Err(Refusal::Type);
            }
        }
        let named = header.get("alg").and_then(Value::as_str).ok_or(Refusal::Algorithm)?;
        let algorithm = Algorithm::from_str(named).map_err(|_| Refusal::Algorithm)?;
        if self.jwt.algorithms.contains(&algorithm) { Ok(algorithm) } else { Err(Refusal::Algorithm) }
    }

    /// Returns the settings for the checks of a token that the library makes in addition to the signature.
    fn validation(&self, algorithm: Algorithm) -> Validation {
        let mut validation = Validation::new(algorithm);
        validation.leeway = self.jwt.leeway_s;
        validation.validate_nbf = true;
        validation.set_issuer(&[&self.jwt.issuer]);
        validation.set_audience(&self.jwt.audience);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        validation
    }

    /// Returns the time until which a token with these claims is accepted (its expiry plus the leeway), and the time at
    /// which the token was issued.
    fn times(
        &self,
        claims: &Map<String, Value>,
        now: Timestamp,
    ) -> Result<(Timestamp, Option<Timestamp>), Refusal> {
        let leeway_ms = self.jwt.leeway_s * 1_000;
        let until = claims.get("exp").and_then(seconds).ok_or(Refusal::Claim)?.plus_ms(leeway_ms);
        // The library still accepts a token in the second of its expiry, which RFC 7519, 4.1.4 forbids.
        if until <= now {
            return Err(Refusal::Expired);
        }
        let issued_at = claims.get("iat").map(|at| seconds(at).ok_or(Refusal::Claim)).transpose()?;
        if issued_at.is_some_and(|at| at > now.plus_ms(leeway_ms)) {
            return Err(Refusal::NotYet);
        }
        Ok((until, issued_at))
    }

    /// Checks the claims of a token whose signature is valid, and builds the principal from the claims. Checks the
    /// issue time, the subject, the roles and the groups.
    fn understand(&self, claims: &Map<String, Value>, now: Timestamp) -> Result<Verified, Refusal> {
        let (until, issued_at) = self.times(claims, now)?;
        let named = &self.jwt.claims;
        // The owner of an unverified email address is unknown.
        let is_verified = matches!(claims.get("email_verified"), Some(Value::Bool(true)))
            || claims.get("email_verified").and_then(Value::as_str) == Some("true");
        let is_email = |name: &String| name.trim_start_matches('/') == "email";
        if !is_verified && [&named.subject, &named.roles, &named.groups].into_iter().any(is_email) {
            return Err(Refusal::Unverified);
        }
        let subject = claim(claims, &named.subject).and_then(Value::as_str).ok_or(Refusal::Claim)?;
        let id = format!("{}{subject}", self.jwt.prefix);
        let is_visible = subject.bytes().all(|c| c.is_ascii_graphic());
        if subject.is_empty() || id.len() > SUBJECT_BYTES || !is_visible {
            return Err(Refusal::Subject);
        }
        let roles: BTreeSet<Role> = values(claims, &named.roles)?
            .iter()
            .filter_map(|value| self.jwt.roles.get(*value).copied())
            .collect();
        if roles.len() > 1 && roles.contains(&Role::Agent) {
            return Err(Refusal::Roles);
        }
        let groups = values(claims, &named.groups)?.into_iter().map(str::to_owned).collect();
        let name = claim(claims, &named.name)
            .and_then(Value::as_str)
            .filter(|name| is_name(name, NAME_BYTES) && (is_verified || !is_email(&named.name)));
        let principal = Principal {
            id,
            name: name.map(str::to_owned),
            aliases: aliases(claims),
            roles,
            groups,
            how: AuthMethod::Jwt { issuer: self.jwt.issuer.clone() },
        };
        Ok(Verified { principal, until, issued_at })
    }
}

/// Claims in which a token may contain other names of the principal besides the subject.
const ALIASES: [&str; 3] = ["email", "preferred_username", "username"];

/// Returns the other names of the principal in a token besides the subject. Does not include an e-mail address that the
/// issuer marks as unverified.
fn aliases(claims: &Map<String, Value>) -> BTreeSet<String> {
    let is_refuted = match claims.get("email_verified") {
        None => false,
        Some(Value::Bool(is_verified)) => !is_verified,
        Some(other) => other.as_str() != Some("true"),
    };
    let stated = ALIASES.iter().filter(|name| !(is_refuted && **name == "email"));
    let names = stated.filter_map(|name| claims.get(*name)?.as_str());
    names.filter(|name| is_name(name, NAME_BYTES)).map(str::to_owned).collect()
}

/// Decodes one part of an untrusted token. Rejects duplicate JSON members, because two parsers could read different
/// values.
fn object(part: &str) -> Option<Map<String, Value>> {
    let bytes = BASE64URL_NOPAD.decode(part.as_bytes()).ok()?;
    match json::parse(&bytes).ok()? {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// Returns a claim of a token by its name, or by its JSON pointer.
fn claim<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    match name.strip_prefix('/') {
        None => claims.get(name),
        Some(pointer) => {
            let (first, rest) =
                pointer.split_once('/').map_or((pointer, None), |(first, rest)| (first, Some(rest)));
            let value = claims.get(&first.replace("~1", "/").replace("~0", "~"))?;
            rest.map_or(Some(value), |rest| value.pointer(&format!("/{rest}")))
        }
    }
}

/// Returns the strings of a token's claim that is a list or a single string. Returns an empty list if the claim is
/// missing.
fn values<'a>(claims: &'a Map<String, Value>, name: &str) -> Result<Vec<&'a str>, Refusal> {
    let texts: Option<Vec<&str>> = match claim(claims, name) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::String(text)) => Some(vec![text.as_str()]),
        Some(Value::Array(items)) => items.iter().map(Value::as_str).collect(),
        Some(_) => None,
    };
    let texts = texts.ok_or(Refusal::Claim)?;
    let fits = texts.len() <= CLAIM_VALUES && texts.iter().all(|text| text.len() <= CLAIM_VALUE_BYTES);
    if fits { Ok(texts) } else { Err(Refusal::Claim) }
}

/// Parses a time in a token, which is a `NumericDate` (RFC 7519, 2).
fn seconds(value: &Value) -> Option<Timestamp> {
    const END: f64 = 253_402_207_200.0;
    let seconds = value.as_f64().filter(|seconds| (0.0..=END).contains(seconds))?;
    #[expect(clippy::cast_possible_truncation, reason = "the time is between 0 and the year 9999")]
    Some(Timestamp::from_millis((seconds * 1_000.0) as i64))
}

fn refusal(error: &Error) -> Refusal {
    match error.kind() {
        ErrorKind::ExpiredSignature => Refusal::Expired,
        ErrorKind::ImmatureSignature => Refusal::NotYet,
        ErrorKind::InvalidAudience => Refusal::Audience,
        ErrorKind::InvalidSignature => Refusal::Signature,
        ErrorKind::InvalidAlgorithm | ErrorKind::InvalidKeyFormat => Refusal::Algorithm,
        ErrorKind::MissingRequiredClaim(_) | ErrorKind::InvalidClaimFormat(_) | ErrorKind::InvalidIssuer => {
            Refusal::Claim
        }
        _ => Refusal::Malformed,
    }
}

/// Reads a secret that a token issuer shares with this server. Rejects a secret that is short enough to be guessed.
fn secret(path: &Path) -> Result<DecodingKey, String> {
    let secret = read_secret(path)?;
    if secret.len() < SECRET_BYTES {
        return Err(format!("has fewer than {SECRET_BYTES} bytes and could be guessed"));
    }
    Ok(DecodingKey::from_secret(&secret))
}

/// Reads a secret from a file that only its owner may read. Removes a line break at the end of the content.
pub(crate) fn read_secret(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = secret_file::read(path, SECRET_FILE_BYTES).map_err(|error| error.to_string())?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    Ok(bytes)
}
