//! Configuration of an issuer (a service that issues tokens): `[[identity.jwt]]` in `holdshort.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use holdshort_core::actor::Role;
use jsonwebtoken::{Algorithm, AlgorithmFamily};
use reqwest::Url;
use serde::Deserialize;

use crate::identity::limits::{
    ISSUERS, JWKS_AGE_SECONDS, JWKS_KEPT_SECONDS, JWKS_PAUSE_SECONDS, LEEWAY_MOST_SECONDS, LEEWAY_SECONDS,
};

pub(super) const TABLE: &str = "[[identity.jwt]]";

/// Issuer of JWTs (an external identity service) whose tokens this server accepts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jwt {
    /// Value that the claim `iss` of the issuer's tokens must have exactly.
    pub issuer: String,
    /// Accepted audiences of the issuer's tokens. The claim `aud` of a token must contain one of these values.
    pub audience: Vec<String>,
    /// Accepted signature algorithms of tokens: `HS256`, `HS384` and `HS512` if `secret_file` is set, all others if a
    /// key set is configured.
    pub algorithms: Vec<Algorithm>,
    /// File with the secret that the token issuer shares with this server, at least 32 bytes long. No user but the
    /// owner of the file may be able to read it.
    #[serde(default)]
    pub secret_file: Option<PathBuf>,
    /// File with the key set of the token issuer (RFC 7517).
    #[serde(default)]
    pub jwks_file: Option<PathBuf>,
    /// URL of the token issuer's key set: `https`, or `http` on this machine.
    #[serde(default)]
    pub jwks_url: Option<String>,
    /// Networks from which the issuer's key set is allowed to be fetched although their addresses are not public, such
    /// as `10.0.0.0/8`.
    #[serde(default)]
    pub jwks_networks: Vec<String>,
    #[serde(default = "jwks_age")]
    pub jwks_max_age_s: u64,
    #[serde(default = "jwks_pause")]
    pub jwks_pause_s: u64,
    #[serde(default = "jwks_kept")]
    pub jwks_keep_s: u64,
    /// Required value of the token header `typ`, such as `at+jwt`. By default, the header may have any value.
    #[serde(default)]
    pub typ: Option<String>,
    #[serde(default = "leeway")]
    pub leeway_s: u64,
    /// Text that is put before each subject of the token issuer, so that people of different issuers have different
    /// ids.
    #[serde(default)]
    pub prefix: String,
    #[serde(default)]
    pub claims: Claims,
    /// Map from each value of the token's roles claim to a role of Holdshort.
    pub roles: BTreeMap<String, Role>,
}

/// Names of the token claims from which this server reads the subject, the display name, the roles and the groups. A
/// claim is given by its name, or by a JSON pointer that begins with `/`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Claims {
    pub subject: String,
    pub name: String,
    pub roles: String,
    pub groups: String,
}

impl Default for Claims {
    fn default() -> Self {
        Self {
            subject: "sub".to_owned(),
            name: "name".to_owned(),
            roles: "roles".to_owned(),
            groups: "groups".to_owned(),
        }
    }
}

fn jwks_age() -> u64 {
    JWKS_AGE_SECONDS
}

fn jwks_pause() -> u64 {
    JWKS_PAUSE_SECONDS
}

fn jwks_kept() -> u64 {
    JWKS_KEPT_SECONDS
}

fn leeway() -> u64 {
    LEEWAY_SECONDS
}

/// Error in the configuration of a token issuer, with its location and advice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{table} {at}: {why}")]
pub struct ConfigError {
    /// Name of the table in `holdshort.toml` that contains the error.
    pub table: &'static str,
    /// Number of the token issuer, counted from 1, and the configuration key that is wrong.
    pub at: String,
    /// Path of the wrong configuration key, in parts below `identity`. Empty if the error is about several keys or
    /// none.
    pub steps: Vec<String>,
    pub why: String,
}

/// Checks the configuration of each token issuer. Also checks that a person of one issuer cannot have the id of a
/// person of another issuer.
pub fn check(issuers: &[Jwt]) -> Result<(), ConfigError> {
    if issuers.len() > ISSUERS {
        return Err(ConfigError {
            table: TABLE,
            at: "all".to_owned(),
            steps: vec!["jwt".to_owned()],
            why: format!("more than {ISSUERS} issuers are configured"),
        });
    }
    for (index, jwt) in issuers.iter().enumerate() {
        let wrong = |key: &str, why: &str| {
            let steps = vec!["jwt".to_owned(), index.to_string(), key.to_owned()];
            Err(ConfigError {
                table: TABLE,
                at: format!("{} `{key}`", index + 1),
                steps,
                why: why.to_owned(),
            })
        };
        if let Err((key, why)) = jwt.check() {
            return wrong(key, why);
        }
        for other in &issuers[..index] {
            if other.issuer == jwt.issuer {
                return wrong("issuer", "is used by an earlier issuer");
            }
            if are_mixed_up(&other.prefix, &jwt.prefix) {
                return wrong("prefix", MIXED_UP);
            }
        }
    }
    Ok(())
}

/// Error message for two token issuers with equal or overlapping prefixes, so that their people could have the same
/// ids.
pub(crate) const MIXED_UP: &str = "each issuer needs its own prefix, such as `partner:`, and no prefix may \
    begin with another prefix; otherwise people of one issuer could impersonate people of another issuer";

/// Returns true if a person of one token issuer could have the id of a person of the other issuer. `one` and `two` are
/// the prefixes of the issuers.
pub(crate) fn are_mixed_up(one: &str, two: &str) -> bool {
    one == two || (!one.is_empty() && !two.is_empty() && (one.starts_with(two) || two.starts_with(one)))
}

type Fault = (&'static str, &'static str);

impl Jwt {
    pub(crate) fn check(&self) -> Result<(), Fault> {
        if self.issuer.is_empty() {
            return Err((
                "issuer",
                "is empty; set it to the exact value of the claim `iss` in the issuer's tokens",
            ));
        }
        if self.audience.is_empty() || self.audience.iter().any(String::is_empty) {
            return Err((
                "audience",
                "is empty; without it, tokens issued for other services would be accepted",
            ));
        }
        self.check_keys()?;
        if self.typ.as_ref().is_some_and(String::is_empty) {
            return Err(("typ", "is empty; omit it, or set it to a type such as `at+jwt`"));
        }
        if self.leeway_s > LEEWAY_MOST_SECONDS {
            return Err(("leeway_s", "is more than 600: synchronize the clocks instead"));
        }
        let is_prefix = self.prefix.is_empty()
            || self.prefix.strip_suffix(':').is_some_and(|name| {
                !name.is_empty() && name.bytes().all(|c| c.is_ascii_alphanumeric() || b"._-".contains(&c))
            });
        if !is_prefix {
            return Err((
                "prefix",
                "is not a prefix such as `partner:`: use letters, digits, `.`, `_`, `-`, and `:` at its end",
            ));
        }
        let claims = [&self.claims.subject, &self.claims.name, &self.claims.roles, &self.claims.groups];
        if claims.into_iter().any(String::is_empty) {
            return Err((
                "claims",
                "is empty; omit it, or set it to the name of a claim such as `groups` or `/realm/roles`",
            ));
        }
        if self.roles.is_empty() {
            return Err((
                "roles",
                "is empty, so no principal would have a role; add a line such as `admins = \"admin\"`",
            ));
        }
        if self.roles.values().any(|role| *role == Role::Engine) {
            return Err(("roles", "the role `engine` belongs to Holdshort itself and cannot be assigned"));
        }
        Ok(())
    }

    fn check_keys(&self) -> Result<(), Fault> {
        let algorithms: BTreeSet<String> = self.algorithms.iter().map(|alg| format!("{alg:?}")).collect();
        if algorithms.is_empty() || algorithms.len() != self.algorithms.len() {
            return Err(("algorithms", "is empty, or contains an algorithm twice"));
        }
        let of_secrets = self.algorithms.iter().filter(|alg| alg.family() == AlgorithmFamily::Hmac).count();
        if self.jwks_url.is_none() && !self.jwks_networks.is_empty() {
            return Err((
                "jwks_networks",
                "are only allowed together with `jwks_url`, because nothing else is fetched",
            ));
        }
        match (&self.secret_file, &self.jwks_file, &self.jwks_url) {
            (Some(_), None, None) if of_secrets == self.algorithms.len() => Ok(()),
            (Some(_), None, None) => {
                Err(("algorithms", "with `secret_file` use only `HS256`, `HS384`, `HS512`"))
            }
            (None, Some(_), None) | (None, None, Some(_)) if of_secrets > 0 => Err((
                "algorithms",
                "HS algorithms need a secret: with public keys, anyone who knows a key could sign tokens",
            )),
            (None, Some(_), None) => self.check_ages(),
            (None, None, Some(url)) => self.check_url(url),
            _ => Err(("secret_file", "name one of `secret_file`, `jwks_file`, `jwks_url`")),
        }
    }

    fn check_ages(&self) -> Result<(), Fault> {
        if self.jwks_pause_s == 0
            || self.jwks_max_age_s < self.jwks_pause_s
            || self.jwks_keep_s < self.jwks_max_age_s
        {
            return Err((
                "jwks_pause_s",
                "must be at least 1 and at most `jwks_max_age_s`, which must be at most `jwks_keep_s`",
            ));
        }
        Ok(())
    }

    fn check_url(&self, url: &str) -> Result<(), Fault> {
        let url: Url = url.parse().map_err(|_| ("jwks_url", "is not a URL"))?;
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err(("jwks_url", "has a user, a password or a fragment"));
        }
        if url.scheme() != "https" && !is_of_this_machine(&url) {
            return Err(("jwks_url", "must be `https`; `http` is allowed only to this machine"));
        }
        self.check_ages()?;
        holdshort_http::guard::Guard::new(&self.jwks_networks)
            .map(drop)
            .map_err(|_| ("jwks_networks", "must be ranges of addresses such as `10.0.0.0/8`"))
    }
}

/// Returns true for an `http` URL with a loopback address. A request to such an address does not leave this machine, so
/// it needs no encryption.
pub(crate) fn is_of_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    url.scheme() == "http" && (host == "localhost" || address.is_ok_and(|address| address.is_loopback()))
}
