//! Sign-in at an OpenID provider. Browsers sign in with a code (RFC 6749, PKCE, nonce), terminals with the device flow
//! (RFC 8628).
//!
//! `oauth2` implements the protocol. ID tokens are verified like tokens of any issuer ([`super::jwt`]).
//! [`Provider::begin`] returns values that belong to one sign-in in one browser. The caller passes them to
//! [`Provider::finish`]. This module stores no state of a sign-in.

mod config;
mod discovery;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use holdshort_core::time::Timestamp;
use holdshort_http::guard::Guard;
use oauth2::basic::{
    BasicErrorResponse, BasicRevocationErrorResponse, BasicTokenIntrospectionResponse, BasicTokenType,
};
use oauth2::{
    AuthType, AuthUrl, AuthorizationCode, Client, ClientId, ClientSecret, CsrfToken, DeviceAuthorizationUrl,
    ExtraTokenFields, HttpRequest, HttpResponse, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl,
    RequestTokenError, Scope, StandardDeviceAuthorizationResponse, StandardRevocableToken,
    StandardTokenResponse, TokenUrl,
};
use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::sync::Notify;
use tokio::time::timeout;

pub use config::Oidc;

use crate::identity::fetch::{FetchRequest, fetch};
use crate::identity::jwt::{ConfigError, Jwt, Refusal, Verified, read_secret};
use crate::identity::limits::{PROVIDER_BYTES, PROVIDER_TIME};
use discovery::{Discovery, ProviderMetadata};

/// Identity provider at which people sign in.
pub struct Provider {
    config: Oidc,
    /// Configured issuers of other tokens. A token of the identity provider is rejected if its subject has the prefix
    /// of one of these issuers.
    others: Vec<Jwt>,
    secret: Option<ClientSecret>,
    way: Arc<ProviderTransport>,
    discovery: Discovery,
}

/// Sign-in that a browser has begun: the URL to which the browser is sent, and the values that are later compared with
/// the provider's response.
pub struct AuthorizationRequest {
    pub url: Url,
    pub state: String,
    pub nonce: String,
    pub verifier: String,
}

/// Sign-in that a terminal has begun at the identity provider.
#[derive(Clone, Debug)]
pub struct Device {
    /// Device code (RFC 8628) with which the terminal polls the identity provider. Only the client that began the
    /// sign-in can redeem this code.
    pub code: String,
    /// Code that the person types on the identity provider's page, at the URL in `page`.
    pub user_code: String,
    pub page: String,
    /// URL of the provider's sign-in page, with the user code included.
    pub page_with_code: Option<String>,
    pub expires_in: Duration,
    pub interval: Duration,
}

/// Result of polling the identity provider once for the sign-in of a terminal.
pub enum Polled {
    /// The person has not completed the sign-in. Contains the time that the terminal must wait before each further
    /// poll.
    Pending(Duration),
    SignedIn(Box<SignedInPerson>),
}

/// Person who signed in at the identity provider.
#[derive(Debug)]
pub struct SignedInPerson {
    pub verified: Verified,
    /// Subject of the person at the identity provider. A logout notice names either the subject or the session.
    pub subject: String,
    pub session: Option<String>,
}

/// Logout notice of the identity provider, about one session or about all sessions of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Id of the logout notice: its claim `jti`.
    pub id: String,
    pub of: LogoutScope,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogoutScope {
    Session(String),
    AllOf(String),
}

/// Event type in a logout token (`OpenID` Connect Back-Channel Logout 1.0).
const LOGGED_OUT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// Reason why a sign-in at the identity provider failed.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    #[error("the provider cannot be reached; see the server's log for the reason")]
    Unavailable,
    /// Error message of the identity provider, truncated.
    #[error("the provider reported the error `{0}`")]
    Said(String),
    #[error("the provider sent no ID token")]
    NoToken,
    #[error("the issuer in the response is not the configured provider")]
    Issuer,
    #[error("the token belongs to another sign-in (`nonce`)")]
    Nonce,
    #[error("its token: {0}")]
    Token(Refusal),
    #[error("the provider does not support sign-in from terminals (no `device_authorization_endpoint`)")]
    NoDevices,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Fields {
    #[serde(default)]
    id_token: Option<String>,
}

impl ExtraTokenFields for Fields {}

type Response = StandardTokenResponse<Fields, BasicTokenType>;
type Registered<Auth, Dev, Tok> = Client<
    BasicErrorResponse,
    Response,
    BasicTokenIntrospectionResponse,
    StandardRevocableToken,
    BasicRevocationErrorResponse,
    Auth,
    Dev,
    oauth2::EndpointNotSet,
    oauth2::EndpointNotSet,
    Tok,
>;

impl Provider {
    /// Creates the identity provider from its configuration. Reads the client secret from its file, unless an
    /// environment variable contains it. The provider is not contacted before the first sign-in.
    pub fn open(config: &Oidc, issuers: &[Jwt], said: Option<String>) -> Result<Self, ConfigError> {
        config.check(issuers)?;
        let wrong = |why: String| ConfigError {
            table: "[identity.oidc]",
            at: "`client_secret_file`".to_owned(),
            steps: Vec::new(),
            why,
        };
        let secret = match (&config.client_secret_file, said) {
            (Some(_), Some(_)) => {
                return Err(wrong(
                    "is set, but HOLDSHORT_OIDC_SECRET is set too: set only one of them".to_owned(),
                ));
            }
            (Some(path), None) => {
                let bytes = read_secret(path).map_err(|why| wrong(format!("{} {why}", path.display())))?;
                let text = String::from_utf8(bytes).ok().filter(|text| !text.is_empty());
                Some(text.ok_or_else(|| wrong(format!("the file {} contains no text", path.display())))?)
            }
            (None, said) => said,
        };
        let mut networks = config.networks.clone();
        if Url::parse(&config.issuer).is_ok_and(|url| crate::identity::jwt::is_of_this_machine(&url)) {
            networks.extend(["127.0.0.0/8".to_owned(), "::1/128".to_owned()]);
        }
        let guard = Guard::new(&networks).map_err(|error| wrong(error.to_string()))?;
        Ok(Self {
            config: config.clone(),
            others: issuers.to_vec(),
            secret: secret.map(ClientSecret::new),
            way: Arc::new(ProviderTransport { issuer: config.issuer.clone(), guard }),
            discovery: Discovery::default(),
        })
    }

    pub fn config(&self) -> &Oidc {
        &self.config
    }

    /// Begins the sign-in of a browser at the identity provider, which sends the browser back to `redirect`.
    pub async fn begin(&self, redirect: &Url) -> Result<AuthorizationRequest, SignInError> {
        let said = self.metadata().await?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let nonce = CsrfToken::new_random();
        let client = self.client(&said).set_redirect_uri(RedirectUrl::from_url(redirect.clone()));
        let (url, state) = client
            .authorize_url(CsrfToken::new_random)
            .add_scopes(self.scopes())
            .add_extra_param("nonce", nonce.secret())
            .set_pkce_challenge(challenge)
            .url();
        Ok(AuthorizationRequest {
            url,
            state: state.into_secret(),
            nonce: nonce.into_secret(),
            verifier: verifier.into_secret(),
        })
    }

    /// Rejects a response of the identity provider that names a different issuer than the provider (RFC 9207).
    pub async fn check_issuer(&self, iss: Option<&str>) -> Result<(), SignInError> {
        match iss {
            Some(iss) if iss == self.config.issuer => Ok(()),
            None if !self.metadata().await?.names_itself => Ok(()),
            Some(_) | None => Err(SignInError::Issuer),
        }
    }

    /// Exchanges the code that the browser brings back from the identity provider for the tokens of the person. Returns
    /// the person who signed in.
    pub async fn finish(
        &self,
        code: String,
        (verifier, nonce): (String, &str),
        redirect: &Url,
        now: Timestamp,
    ) -> Result<SignedInPerson, SignInError> {
        let said = self.metadata().await?;
        let client = self.client(&said).set_redirect_uri(RedirectUrl::from_url(redirect.clone()));
        let response = client
            .exchange_code(AuthorizationCode::new(code))
            .set_pkce_verifier(PkceCodeVerifier::new(verifier))
            .request_async(&self.http_client())
            .await
            .map_err(|error| sign_in_error(&error))?;
        self.signed_in(&said, &response, Some(nonce), now).await
    }

    /// Begins the sign-in of a terminal at the identity provider.
    pub async fn device(&self) -> Result<Device, SignInError> {
        let said = self.metadata().await?;
        let place = said.device.clone().ok_or(SignInError::NoDevices)?;
        let client = self.client(&said).set_device_authorization_url(DeviceAuthorizationUrl::from_url(place));
        let began: StandardDeviceAuthorizationResponse = client
            .exchange_device_code()
            .add_scopes(self.scopes())
            .request_async(&self.http_client())
            .await
            .map_err(|error| sign_in_error(&error))?;
        Ok(Device {
            code: began.device_code().secret().clone(),
            user_code: began.user_code().secret().clone(),
            page: began.verification_uri().to_string(),
            page_with_code: began.verification_uri_complete().map(|url| url.secret().clone()),
            expires_in: began.expires_in(),
            interval: began.interval(),
        })
    }

    /// Polls the identity provider once for the result of a terminal's sign-in. `interval` is the minimum time between
    /// two polls that the provider has requested so far. The response may request a longer time. The response is always
    /// read completely, because the provider returns a token only once.
    pub async fn poll(&self, code: &str, interval: Duration, now: Timestamp) -> Result<Polled, SignInError> {
        let said = self.metadata().await?;
        let place = said.device.clone().ok_or(SignInError::NoDevices)?;
        let began = json!({
            "device_code": code, "user_code": "-", "verification_uri": self.config.issuer, "expires_in": 600,
            "interval": interval.as_secs().max(1),
        });
        let began: StandardDeviceAuthorizationResponse =
            serde_json::from_value(began).map_err(|_| SignInError::Unavailable)?;
        let client = self.client(&said).set_device_authorization_url(DeviceAuthorizationUrl::from_url(place));
        let (waits, wait) = (Arc::new(Notify::new()), Arc::new(std::sync::Mutex::new(Duration::ZERO)));
        // The library would poll until the sign-in has a result. Here the terminal determines when to poll, so only
        // one poll is made.
        let pause = {
            let (waits, wait) = (waits.clone(), wait.clone());
            move |time: Duration| {
                *wait.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = time;
                waits.notify_one();
                std::future::pending::<()>()
            }
        };
        let http = self.http_client();
        let asked = client.exchange_device_access_token(&began).request_async(&http, pause, None);
        let response = tokio::select! {
            biased;
            response = asked => response.map_err(|error| sign_in_error(&error))?,
            () = waits.notified() => {
                let wait = *wait.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                return Ok(Polled::Pending(wait));
            }
        };
        self.signed_in(&said, &response, None, now).await.map(|it| Polled::SignedIn(Box::new(it)))
    }

    /// Returns the URL at which a browser signs out at the identity provider (RP-Initiated Logout 1.0). Returns `None`
    /// if the provider has no URL for signing out.
    pub async fn sign_out(&self, back: &Url) -> Option<Url> {
        let mut url = self.metadata().await.ok()?.end_session.clone()?;
        url.query_pairs_mut()
            .append_pair("client_id", &self.config.client_id)
            .append_pair("post_logout_redirect_uri", back.as_str());
        Some(url)
    }

    async fn metadata(&self) -> Result<Arc<ProviderMetadata>, SignInError> {
        self.discovery.metadata(&self.config, &self.others, &self.way.guard).await
    }

    fn scopes(&self) -> impl Iterator<Item = Scope> + use<> {
        let beside = self.config.scopes.clone().into_iter().filter(|scope| scope != "openid");
        std::iter::once("openid".to_owned()).chain(beside).map(Scope::new)
    }

    fn client(
        &self,
        said: &ProviderMetadata,
    ) -> Registered<oauth2::EndpointSet, oauth2::EndpointNotSet, oauth2::EndpointSet> {
        let client = Client::new(ClientId::new(self.config.client_id.clone()))
            .set_auth_uri(AuthUrl::from_url(said.authorization.clone()))
            .set_token_uri(TokenUrl::from_url(said.token.clone()))
            .set_auth_type(if said.secret_in_body { AuthType::RequestBody } else { AuthType::BasicAuth });
        match &self.secret {
            Some(secret) => client.set_client_secret(secret.clone()),
            None => client,
        }
    }

    /// Returns an HTTP client for the `oauth2` library.
    fn http_client(&self) -> impl Fn(HttpRequest) -> Sent + Send + Sync + 'static {
        let way = self.way.clone();
        move |request| {
            let way = way.clone();
            Box::pin(async move { way.send(request).await })
        }
    }

    /// Verifies the ID token in a response of the identity provider. `nonce` is the random value of a browser's
    /// sign-in, which the token must contain. The device flow has no nonce, so `nonce` is then `None`.
    async fn signed_in(
        &self,
        said: &ProviderMetadata,
        response: &Response,
        nonce: Option<&str>,
        now: Timestamp,
    ) -> Result<SignedInPerson, SignInError> {
        let token = response.extra_fields().id_token.as_deref().ok_or(SignInError::NoToken)?;
        let (verified, claims) = said.tokens.read(token, now).await.map_err(|refusal| match refusal {
            Refusal::Unavailable => SignInError::Unavailable,
            refusal => SignInError::Token(refusal),
        })?;
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        if nonce.is_some() && text("nonce") != nonce {
            return Err(SignInError::Nonce);
        }
        // In a token with several audiences, `azp` must name the client that requested the token (OpenID Connect Core
        // 1.0, 3.1.3.7).
        let is_ours = claims.get("azp").is_none_or(|azp| azp == &*self.config.client_id);
        if !is_ours || is_shared_without_azp(&claims) {
            return Err(SignInError::Token(Refusal::Audience));
        }
        let subject = text("sub").filter(|_| verified.issued_at.is_some());
        let subject = subject.ok_or(SignInError::Token(Refusal::Claim))?.to_owned();
        Ok(SignedInPerson { subject, session: text("sid").map(str::to_owned), verified })
    }

    /// Verifies a logout token of the identity provider, and returns the notice in this token.
    pub async fn notice(&self, token: &str, now: Timestamp) -> Result<Notice, SignInError> {
        let said = self.metadata().await?;
        let claims = said.tokens.notice(token, now).await.map_err(|refusal| match refusal {
            Refusal::Unavailable => SignInError::Unavailable,
            refusal => SignInError::Token(refusal),
        })?;
        let text = |name: &str| claims.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let is_logout = claims.get("events").is_some_and(|events| events[LOGGED_OUT].is_object());
        // An ID token must not be accepted as a logout token (Back-Channel Logout 1.0, 2.4 and 2.6).
        if !is_logout || claims.contains_key("nonce") || !claims.contains_key("iat") {
            return Err(SignInError::Token(Refusal::Claim));
        }
        let of = match (text("sid"), text("sub")) {
            (Some(session), _) => LogoutScope::Session(session.to_owned()),
            (None, Some(subject)) => LogoutScope::AllOf(subject.to_owned()),
            (None, None) => return Err(SignInError::Token(Refusal::Claim)),
        };
        let id = text("jti").ok_or(SignInError::Token(Refusal::Claim))?.to_owned();
        Ok(Notice { id, of })
    }
}

fn is_shared_without_azp(claims: &Map<String, Value>) -> bool {
    let is_shared = claims.get("aud").and_then(Value::as_array).is_some_and(|audience| audience.len() > 1);
    is_shared && !claims.contains_key("azp")
}

struct ProviderTransport {
    issuer: String,
    guard: Guard,
}

type Sent = Pin<Box<dyn Future<Output = Result<HttpResponse, Away>> + Send>>;

impl ProviderTransport {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Away> {
        let (parts, body) = request.into_parts();
        let url = Url::parse(&parts.uri.to_string()).map_err(|_| Away)?;
        let ask = FetchRequest { method: parts.method, url, headers: parts.headers, body };
        let away = |why: String| {
            tracing::warn!(issuer = self.issuer, why, "the identity provider does not answer");
            Away
        };
        let came = timeout(PROVIDER_TIME, fetch(&self.guard, ask, PROVIDER_TIME, PROVIDER_BYTES)).await;
        let came = came.map_err(|_| away("it took too long".to_owned()))?;
        let came = came.map_err(|error| away(error.to_string()))?;
        if came.status >= 500 {
            return Err(away(format!("it responded with the status {}", came.status)));
        }
        let mut response = HttpResponse::new(came.body);
        *response.status_mut() = came.status.try_into().map_err(|_| Away)?;
        *response.headers_mut() = came.headers;
        Ok(response)
    }
}

/// Error of a request to the identity provider that received no response.
#[derive(Debug, thiserror::Error)]
#[error("no answer")]
struct Away;

fn sign_in_error<E, T>(error: &RequestTokenError<E, T>) -> SignInError
where
    E: std::error::Error + 'static,
    T: oauth2::ErrorResponse + std::fmt::Display + 'static,
{
    match error {
        // The message is cut to 200 visible characters, because the person who signs in reads it.
        RequestTokenError::ServerResponse(said) => SignInError::Said(
            said.to_string().chars().filter(|c| c.is_ascii_graphic() || *c == ' ').take(200).collect(),
        ),
        RequestTokenError::Request(_) => SignInError::Unavailable,
        RequestTokenError::Parse(..) | RequestTokenError::Other(_) => {
            tracing::warn!("the identity provider sent a response that cannot be parsed");
            SignInError::Unavailable
        }
    }
}
