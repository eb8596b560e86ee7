//! Requests of the hook to the server, with the agent key of the installation. The environment selects nothing: no
//! proxy, no other server and no other token.

use std::time::{Duration, Instant};

use holdshort_protocol::{Problem, header};
use reqwest::{Method, RequestBuilder, StatusCode, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::limits::HOOK_RESPONSE_BYTES;

const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Timeout of a request that does not wait for a decision.
const REQUEST_TIME: Duration = Duration::from_secs(20);
/// Shortest and longest pause before a request is repeated.
const PAUSE: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));

/// Reason why a request got no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// A later request may succeed.
    #[error("{why}")]
    Passing { why: String, after: Option<Duration> },
    #[error("the server refuses it: {} [{}]", .0.detail, .0.code.as_str())]
    Refused(Box<Problem>),
    #[error("{0}")]
    Foreign(String),
}

#[derive(Debug)]
pub(super) struct Server {
    http: reqwest::Client,
    base: Url,
    key: String,
}

impl Server {
    pub(super) fn new(base: Url, key: String) -> anyhow::Result<Self> {
        let http = holdshort_http::client_to(&base)
            .user_agent(concat!("holdshort-hook/", env!("CARGO_PKG_VERSION")))
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIME)
            .build()?;
        Ok(Self { http, base, key })
    }

    /// Returns the page on which a person decides. It contains no token, because the model reads it.
    pub(super) fn page(&self, interrupt: &str) -> String {
        format!("{}/inbox/{interrupt}", self.base.as_str().trim_end_matches('/'))
    }

    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str, wait: Duration) -> Result<T, Failure> {
        self.send(self.request(Method::GET, path)?.timeout(REQUEST_TIME + wait)).await
    }

    /// Sends a request. With the same `key`, the server carries it out once. `wait`: time that the server needs to carry
    /// it out.
    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        key: &str,
        body: &impl Serialize,
        wait: Duration,
    ) -> Result<T, Failure> {
        let request = self.request(Method::POST, path)?.header(header::IDEMPOTENCY_KEY, key);
        self.send(request.json(body).timeout(REQUEST_TIME + wait)).await
    }

    /// Withdraws a request that nobody waits for. An error is ignored, because the request then stays open.
    pub(super) async fn withdraw(&self, interrupt: &str) {
        if let Ok(request) = self.request(Method::POST, &format!("/v1/interrupts/{interrupt}/cancel")) {
            let _ = self.send::<Value>(request.timeout(REQUEST_TIME)).await;
        }
    }

    fn request(&self, method: Method, path: &str) -> Result<RequestBuilder, Failure> {
        let url = self.base.join(path).map_err(|error| Failure::Foreign(error.to_string()))?;
        Ok(self.http.request(method, url).bearer_auth(&self.key))
    }

    async fn send<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, Failure> {
        let at = self.base.as_str().trim_end_matches('/');
        let passing = |error: reqwest::Error| {
            let why = if error.is_connect() {
                format!("no server answers at {at}: start it with `holdshort serve`")
            } else {
                format!("the server at {at} did not answer: {}", error.without_url())
            };
            Failure::Passing { why, after: None }
        };
        let mut response = request.send().await.map_err(passing)?;
        let status = response.status();
        let after = response.headers().get(reqwest::header::RETRY_AFTER);
        let after = after.and_then(|value| value.to_str().ok()?.parse().ok()).map(Duration::from_secs);
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(passing)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > HOOK_RESPONSE_BYTES {
                return Err(Failure::Foreign(format!("the answer of {at} is too long")));
            }
        }
        if status.is_success() {
            return serde_json::from_slice(&bytes).map_err(|error| {
                Failure::Foreign(format!(
                    "the answer of {at} is not one of a Holdshort server of this version: {error}"
                ))
            });
        }
        let problem: Option<Problem> = serde_json::from_slice(&bytes).ok();
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            let why = problem.map_or_else(String::new, |problem| format!(": {}", problem.detail));
            return Err(Failure::Passing { why: format!("the server at {at} answers {status}{why}"), after });
        }
        Err(match problem {
            Some(problem) => Failure::Refused(Box::new(problem)),
            None => Failure::Foreign(format!("{at} answers {status}, and is not a Holdshort server")),
        })
    }
}

/// Repeats a request until it has a result, or until `end`.
pub(super) async fn persist<T>(
    end: Instant,
    mut send: impl AsyncFnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut pause = PAUSE.0;
    loop {
        match send().await {
            Err(Failure::Passing { why, after }) => {
                let wait = after.unwrap_or(pause).max(pause);
                if Instant::now() + wait >= end {
                    return Err(Failure::Passing { why, after });
                }
                tokio::time::sleep(wait).await;
                pause = (pause * 2).min(PAUSE.1);
            }
            other => return other,
        }
    }
}
