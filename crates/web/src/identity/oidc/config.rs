//! Configuration of the identity provider at which people sign in: `[identity.oidc]` in `holdshort.toml`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use holdshort_core::actor::Role;
use holdshort_core::name::is_name;
use jsonwebtoken::Algorithm;
use reqwest::Url;
use serde::Deserialize;

use crate::identity::jwt::{self, Claims, ConfigError, Jwt, is_of_this_machine};
use crate::identity::limits::{
    JWKS_AGE_SECONDS, JWKS_KEPT_SECONDS, JWKS_PAUSE_SECONDS, LEEWAY_SECONDS, NAME_BYTES,
    SESSION_MOST_SECONDS, SESSION_SECONDS,
};

/// `OpenID` provider (identity provider) at which people sign in.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Oidc {
    /// URL of the identity provider's issuer, which must equal the claim `iss` in the provider's tokens.
    pub issuer: String,
    /// Name of the identity provider that people are shown when they sign in. The default is the host of the issuer.
    #[serde(default)]
    pub name: Option<String>,
    /// Client id under which this server is registered at the identity provider.
    pub client_id: String,
    /// File with the client secret for the identity provider, which no user but its owner may be able to read. An
    /// environment variable may contain the secret instead. Without a secret, this server is a public client in the
    /// sense of OAuth.
    #[serde(default)]
    pub client_secret_file: Option<PathBuf>,
    /// Scopes that the server requests at the identity provider, in addition to `openid`.
    #[serde(default = "scopes")]
    pub scopes: Vec<String>,
    /// Accepted signature algorithms of the identity provider's ID tokens.
    #[serde(default = "algorithms")]
    pub algorithms: Vec<Algorithm>,
    /// Networks to which requests to the identity provider are allowed although their addresses are not public, such as
    /// `10.0.0.0/8`.
    #[serde(default)]
    pub networks: Vec<String>,
    /// Number of seconds for which a login through the identity provider is valid.
    #[serde(default = "session")]
    pub session_s: u64,
    #[serde(default = "leeway")]
    pub leeway_s: u64,
    #[serde(default)]
    pub prefix: String,
    #[serde(default)]
    pub claims: Claims,
    pub roles: BTreeMap<String, Role>,
}

fn scopes() -> Vec<String> {
    ["profile", "email"].map(str::to_owned).to_vec()
}

fn algorithms() -> Vec<Algorithm> {
    vec![Algorithm::RS256, Algorithm::PS256, Algorithm::ES256, Algorithm::EdDSA]
}

fn session() -> u64 {
    SESSION_SECONDS
}

fn leeway() -> u64 {
    LEEWAY_SECONDS
}

impl Oidc {
    /// Returns the name of the identity provider that people are shown when they sign in.
    pub fn called(&self) -> String {
        let host = || Url::parse(&self.issuer).ok().and_then(|url| url.host_str().map(str::to_owned));
        self.name.clone().or_else(host).unwrap_or_else(|| self.issuer.clone())
    }

    /// Returns the settings with which the identity provider's ID tokens are verified in the same way as the tokens of
    /// any issuer.
    pub(super) fn tokens(&self, jwks_url: &str) -> Jwt {
        Jwt {
            issuer: self.issuer.clone(),
            audience: vec![self.client_id.clone()],
            algorithms: self.algorithms.clone(),
            secret_file: None,
            jwks_file: None,
            jwks_url: Some(jwks_url.to_owned()),
            jwks_networks: self.networks.clone(),
            jwks_max_age_s: JWKS_AGE_SECONDS,
            jwks_pause_s: JWKS_PAUSE_SECONDS,
            jwks_keep_s: JWKS_KEPT_SECONDS,
            typ: None,
            leeway_s: self.leeway_s,
            prefix: self.prefix.clone(),
            claims: self.claims.clone(),
            roles: self.roles.clone(),
        }
    }

    /// Checks that the configuration of the identity provider is complete, and that a person of the provider cannot
    /// have the id of a person of an issuer.
    pub fn check(&self, issuers: &[Jwt]) -> Result<(), ConfigError> {
        let wrong = |key: &str, why: String| {
            let steps = vec!["oidc".to_owned(), key.to_owned()];
            Err(ConfigError { table: "[identity.oidc]", at: format!("`{key}`"), steps, why })
        };
        if let Err(why) = check_url(&self.issuer) {
            return wrong("issuer", why.to_owned());
        }
        if self.client_id.is_empty() {
            return wrong(
                "client_id",
                "is empty; register this server at the provider, which then issues the client id".to_owned(),
            );
        }
        if self.name.as_ref().is_some_and(|name| !is_name(name, NAME_BYTES)) {
            return wrong(
                "name",
                format!("must be a line of at most {NAME_BYTES} bytes of visible characters"),
            );
        }
        let is_scope = |scope: &String| {
            !scope.is_empty() && scope.bytes().all(|c| c.is_ascii_graphic() && c != b'"' && c != b'\\')
        };
        if !self.scopes.iter().all(is_scope) {
            return wrong("scopes", "must be words such as `profile`".to_owned());
        }
        if !(60..=SESSION_MOST_SECONDS).contains(&self.session_s) {
            return wrong("session_s", format!("must be from 60 to {SESSION_MOST_SECONDS}"));
        }
        // Settings that are also part of an issuer's configuration are checked with the code for issuers.
        let tokens = self.tokens(&self.issuer);
        if let Err((key, why)) = tokens.check() {
            let key = key.replace("jwks_", "");
            return wrong(&key, why.to_owned());
        }
        for other in issuers {
            if other.issuer == self.issuer {
                if other.prefix != self.prefix {
                    let why = "must equal the prefix of `[[identity.jwt]]` with the same issuer; otherwise \
                        each person would have two ids";
                    return wrong("prefix", why.to_owned());
                }
            } else if jwt::are_mixed_up(&other.prefix, &self.prefix) {
                return wrong("prefix", jwt::MIXED_UP.to_owned());
            }
        }
        Ok(())
    }
}

/// Checks the URL of an identity service to which tokens or secrets are sent. The URL must use `https`, or `http` with
/// a loopback address.
pub(super) fn check_url(text: &str) -> Result<Url, &'static str> {
    let url = Url::parse(text).map_err(|_| "is not a URL such as `https://login.example.org`")?;
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Err("has a user, a password or a fragment");
    }
    if url.scheme() != "https" && !is_of_this_machine(&url) {
        return Err("must be `https`; `http` is allowed only to this machine");
    }
    Ok(url)
}
