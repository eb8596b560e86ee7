//! The configuration that a provider publishes (OpenID Connect Discovery 1.0). The configuration contains the URLs for
//! sign-ins and for exchanging codes for tokens.
//!
//! The configuration is fetched at the first sign-in, so that the server starts even if the provider is unreachable. If
//! a later fetch fails, the cached configuration stays valid up to a maximum age.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use holdshort_core::json;
use holdshort_http::guard::Guard;
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use reqwest::{Method, Url};
use serde_json::Value;
use tokio::time::timeout;

use super::SignInError;
use super::config::{Oidc, check_url};
use crate::identity::fetch::{FetchRequest, fetch};
use crate::identity::jwt::{Issuers, Jwt, is_of_this_machine};
use crate::identity::limits::{
    DISCOVERY_AGE, DISCOVERY_BYTES, DISCOVERY_KEPT, DISCOVERY_PAUSE, PROVIDER_TIME,
};

pub(super) struct ProviderMetadata {
    pub(super) authorization: Url,
    pub(super) token: Url,
    pub(super) device: Option<Url>,
    pub(super) end_session: Option<Url>,
    /// True if the identity provider adds its issuer to each response (RFC 9207).
    pub(super) names_itself: bool,
    /// True if this server sends its client secret in the body of a request instead of a header.
    pub(super) secret_in_body: bool,
    /// Settings and keys that verify the identity provider's ID tokens.
    pub(super) tokens: Issuers,
}

#[derive(Default)]
pub(super) struct Discovery {
    known: Mutex<CachedMetadata>,
    /// Mutex that is locked while the identity provider's configuration is being fetched.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct CachedMetadata {
    said: Option<(Arc<ProviderMetadata>, Instant)>,
    tried: Option<Instant>,
}

impl Discovery {
    pub(super) async fn metadata(
        &self,
        config: &Oidc,
        others: &[Jwt],
        guard: &Guard,
    ) -> Result<Arc<ProviderMetadata>, SignInError> {
        if let Some(said) = self.fresh() {
            return Ok(said);
        }
        let _asking = self.asking.lock().await;
        if let Some(said) = self.fresh() {
            return Ok(said);
        }
        {
            let mut known = self.lock();
            if known.tried.is_some_and(|at| at.elapsed() < DISCOVERY_PAUSE) {
                return unexpired_metadata(&known).ok_or(SignInError::Unavailable);
            }
            known.tried = Some(Instant::now());
        }
        let asked = timeout(PROVIDER_TIME, ask(config, others, guard)).await;
        let said = asked.unwrap_or_else(|_| Err(format!("it took more than {} s", PROVIDER_TIME.as_secs())));
        let mut known = self.lock();
        match said {
            Ok(said) => {
                let said = Arc::new(said);
                known.said = Some((said.clone(), Instant::now()));
                Ok(said)
            }
            Err(why) => {
                tracing::warn!(issuer = config.issuer, why, "the identity provider cannot be reached");
                unexpired_metadata(&known).ok_or(SignInError::Unavailable)
            }
        }
    }

    fn fresh(&self) -> Option<Arc<ProviderMetadata>> {
        let known = self.lock();
        known.said.as_ref().filter(|(_, at)| at.elapsed() < DISCOVERY_AGE).map(|(said, _)| said.clone())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, CachedMetadata> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unexpired_metadata(known: &CachedMetadata) -> Option<Arc<ProviderMetadata>> {
    known.said.as_ref().filter(|(_, at)| at.elapsed() < DISCOVERY_KEPT).map(|(said, _)| said.clone())
}

async fn ask(config: &Oidc, others: &[Jwt], guard: &Guard) -> Result<ProviderMetadata, String> {
    // The path is appended to the issuer without a slash at its end (OpenID Connect Discovery 1.0, 4).
    let place = format!("{}/.well-known/openid-configuration", config.issuer.trim_end_matches('/'));
    let url = Url::parse(&place).map_err(|error| error.to_string())?;
    let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
    let ask = FetchRequest { method: Method::GET, url, headers, body: Vec::new() };
    let came = fetch(guard, ask, PROVIDER_TIME, DISCOVERY_BYTES).await.map_err(|error| error.to_string())?;
    if came.status != 200 {
        return Err(format!(
            "the response to the request for its configuration had the status {}",
            came.status
        ));
    }
    let value = json::parse(&came.body).map_err(|error| format!("its configuration is not JSON: {error}"))?;
    understand(config, others, &value)
}

fn understand(config: &Oidc, others: &[Jwt], value: &Value) -> Result<ProviderMetadata, String> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    // Rejects a configuration of a different issuer, because it would send people, codes and the secret to a
    // different server.
    if text("issuer") != Some(&config.issuer) {
        return Err("its configuration contains a different `issuer`".to_owned());
    }
    let place = |name: &str| match text(name) {
        None => Ok(None),
        Some(url) => check_url(url).map(Some).map_err(|why| format!("`{name}` {why}")),
    };
    let needed =
        |name: &str| place(name)?.ok_or_else(|| format!("its configuration does not contain `{name}`"));
    let takes = |name: &str, wanted: &str| match value.get(name).and_then(Value::as_array) {
        None => true,
        Some(list) => list.iter().any(|item| item == wanted),
    };
    if !takes("response_types_supported", "code") {
        return Err("it does not support the authorisation code flow".to_owned());
    }
    if !takes("code_challenge_methods_supported", "S256") {
        return Err("it does not support PKCE with S256".to_owned());
    }
    let methods = "token_endpoint_auth_methods_supported";
    let keys = needed("jwks_uri")?;
    // A `jwks_uri` on this machine is allowed only if the configured issuer is also on this machine.
    let is_issuer_here = Url::parse(&config.issuer).is_ok_and(|url| is_of_this_machine(&url));
    if is_of_this_machine(&keys) && !is_issuer_here {
        return Err("its `jwks_uri` points to this machine".to_owned());
    }
    let tokens = Issuers::open(&[config.tokens(keys.as_str())]).map_err(|wrong| wrong.to_string())?;
    let tokens = others.iter().fold(tokens, |tokens, it| tokens.with_other_issuer(&it.issuer, &it.prefix));
    Ok(ProviderMetadata {
        authorization: needed("authorization_endpoint")?,
        token: needed("token_endpoint")?,
        device: place("device_authorization_endpoint")?,
        end_session: place("end_session_endpoint")?,
        names_itself: value.get("authorization_response_iss_parameter_supported") == Some(&Value::Bool(true)),
        secret_in_body: !takes(methods, "client_secret_basic") && takes(methods, "client_secret_post"),
        tokens,
    })
}
