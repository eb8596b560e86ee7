//! Fetches one response from an identity provider. The size of the response and the allowed network addresses are
//! limited.

use std::time::Duration;

use holdshort_http::guard::Guard;
use reqwest::header::HeaderMap;
use reqwest::{Method, Url};

pub(crate) struct FetchRequest {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

pub(crate) struct FetchResponse {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    #[error(transparent)]
    Address(#[from] holdshort_http::guard::Error),
    /// Error of an HTTP request without the URL, because the URL may contain a secret.
    #[error("{}", causes(.0))]
    Http(reqwest::Error),
    #[error("the response has more than {0} bytes")]
    TooLarge(usize),
}

/// Sends one request to an identity provider and reads the response. `within` is the time limit for the lookup of the
/// host name. The total time is limited by the caller.
pub(crate) async fn fetch(
    guard: &Guard,
    ask: FetchRequest,
    within: Duration,
    bytes: usize,
) -> Result<FetchResponse, Failed> {
    let FetchRequest { method, url, headers, body } = ask;
    let http = |error: reqwest::Error| Failed::Http(error.without_url());
    let client = guard.check(&url, within).await?.client().build().map_err(http)?;
    let mut answer = client.request(method, url).headers(headers).body(body).send().await.map_err(http)?;
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(http)? {
        if body.len() + chunk.len() > bytes {
            return Err(Failed::TooLarge(bytes));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(FetchResponse { status, headers, body })
}

/// Returns the message of an HTTP error, followed by the messages of its causes.
fn causes(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
