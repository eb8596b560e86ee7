//! `web_fetch`: fetches one web page by GET and returns it as text.
//!
//! Only the URL and a constant user agent are sent, never cookies or credentials. No proxy is used, and no connection
//! is made to an address that `guard` rejects. A redirect to another host is reported to the agent and not followed. A
//! redirect within the same host is followed only if the approval rules allow the new URL ([`Follow`]). The fetched
//! page is marked as content from outside.

mod body;
mod page;
mod quote;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use holdshort_core::tool::{Inspection, Outcome};
use holdshort_core::web::Target;
use holdshort_http::answers::innermost;
use holdshort_http::guard::{self, Guard};
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION,
};
use reqwest::{Response, StatusCode};
use serde_json::json;

use crate::limits;
use crate::refusal::Refusal;
use crate::request::WebFetch;
use crate::tools::Settings;

const USER_AGENT: &str = concat!("holdshort/", env!("CARGO_PKG_VERSION"));
const ACCEPTS: &str = "text/html, application/xhtml+xml, text/plain;q=0.9, application/json;q=0.9, \
                       application/xml;q=0.8, text/*;q=0.8, */*;q=0.1";

/// Function that asks the approval rules if a call may follow a redirect to a different URL on the same host.
#[derive(Clone)]
pub struct Follow(Arc<dyn Fn(String) -> RedirectAnswer + Send + Sync>);

type RedirectAnswer = Pin<Box<dyn Future<Output = bool> + Send>>;

impl Follow {
    pub fn new<F: Future<Output = bool> + Send + 'static>(
        asks: impl Fn(String) -> F + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(move |url| Box::pin(asks(url))))
    }

    /// Returns a `Follow` that allows no redirect.
    pub fn never() -> Self {
        Self::new(|_| async { false })
    }

    async fn may(&self, target: &Target) -> bool {
        (self.0)(target.to_string()).await
    }
}

impl fmt::Debug for Follow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Follow")
    }
}

fn target(request: &WebFetch) -> Result<Target, Refusal> {
    Target::parse(&request.url).map_err(|why| Refusal::new("bad_url", why))
}

fn guard(allowed: &[String]) -> Result<Guard, Refusal> {
    Guard::new(allowed).map_err(|error| Refusal::new("internal", error.to_string()))
}

/// Builds the data about a web request that a person sees (the card). The host name is not looked up, because a DNS
/// query could disclose data.
pub(crate) fn look(
    request: &WebFetch,
    allowed: &[String],
    inspection: &mut Inspection,
) -> Result<(), Refusal> {
    let target = target(request)?;
    let address = target.host().trim_start_matches('[').trim_end_matches(']').parse();
    if let Ok(address) = address
        && let Some(what) = guard(allowed)?.refuses(address)
    {
        let host = target.host().to_owned();
        return Err(refused(&guard::Error::Refused { host, address, what }));
    }
    inspection.card = json!({"fetch": {
        "method": "GET",
        "host": target.host(),
        "port": target.port(),
        "scheme": target.url().scheme(),
        "path": target.url().path(),
        "query": target.url().query(),
    }});
    Ok(())
}

fn refused(error: &guard::Error) -> Refusal {
    let code = match error {
        guard::Error::Refused { .. } | guard::Error::InClear { .. } | guard::Error::Addresses { .. } => {
            "address_refused"
        }
        guard::Error::Slow { .. } => "timed_out",
        guard::Error::NoHost | guard::Error::Range { .. } => "bad_url",
        guard::Error::NotFound { .. } => "not_reached",
    };
    Refusal::new(code, error.to_string())
}

/// Fetches a web page. If the future is dropped, the connection is closed.
pub(crate) async fn run(request: &WebFetch, settings: &Settings) -> Outcome {
    let within = settings.fetch_time;
    match tokio::time::timeout(within, fetch(request, &settings.allow_addresses, &settings.follow)).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(refusal)) => refusal.into(),
        Err(_) => {
            Refusal::new("timed_out", format!("the page did not arrive within {} ms", within.as_millis()))
                .into()
        }
    }
}

async fn fetch(request: &WebFetch, allowed: &[String], follow: &Follow) -> Result<Outcome, Refusal> {
    let guard = guard(allowed)?;
    let mut target = target(request)?;
    for hops in 0..=limits::FETCH_REDIRECTS {
        let response = get(&guard, &target).await?;
        let Some(next) = redirect(&response, &target) else { return answer(&target, response, hops).await };
        let status = response.status();
        let next = next.map_err(|why| {
            Refusal::new(
                "bad_redirect",
                format!("`{target}` answered {status} with an invalid redirect: {why}"),
            )
        })?;
        if !target.leads_home(&next) || !follow.may(&next).await {
            return Ok(led_away(&target, status, &next));
        }
        target = next;
    }
    let most = limits::FETCH_REDIRECTS;
    Err(Refusal::new("too_many_redirects", format!("more than {most} redirects, the last one to `{target}`")))
}

async fn get(guard: &Guard, target: &Target) -> Result<Response, Refusal> {
    let checked = guard.check(target.url(), limits::FETCH_CONNECT_TIME).await.map_err(|e| refused(&e))?;
    let client = checked
        .client()
        .user_agent(USER_AGENT)
        .connect_timeout(limits::FETCH_CONNECT_TIME)
        .pool_max_idle_per_host(0)
        .build()
        .map_err(|error| not_reached(target, &error))?;
    let get = client.get(checked.url().clone()).header(ACCEPT, ACCEPTS).header(ACCEPT_ENCODING, "gzip");
    get.send().await.map_err(|error| not_reached(target, &error))
}

fn not_reached(target: &Target, error: &reqwest::Error) -> Refusal {
    let why = innermost(error);
    let code = if error.is_timeout() { "timed_out" } else { "not_reached" };
    Refusal::new(code, format!("`{}` did not answer: {why}", target.origin()))
}

/// Returns the target of the redirect in a response. Returns `None` if the response is not a redirect.
fn redirect(response: &Response, from: &Target) -> Option<Result<Target, String>> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = header(response.headers(), LOCATION)?;
    Some(from.join(location))
}

fn led_away(from: &Target, status: StatusCode, to: &Target) -> Outcome {
    let text = format!(
        "`{from}` answered {status}: the page is at `{to}`. This redirect was not approved with this call \
         and is not followed. If you need the page, call {} with that URL.",
        holdshort_core::web::FETCH
    );
    let data = json!({"url": from.as_str(), "status": status.as_u16(), "redirect": to.as_str()});
    Outcome::Done { text, data }
}

async fn answer(target: &Target, response: Response, redirects: usize) -> Result<Outcome, Refusal> {
    let status = response.status();
    let kind = header(response.headers(), CONTENT_TYPE).unwrap_or_default().to_owned();
    let length = header(response.headers(), CONTENT_LENGTH).and_then(|text| text.parse::<u64>().ok());
    let media = page::Media::parse(&kind);
    let mut data = json!({
        "url": target.as_str(),
        "status": status.as_u16(),
        "content_type": media.name(),
        "redirects": redirects,
    });
    let about = format!("`{target}` answered {status}");
    let text = if media.is_text() {
        let body = body::read(target, response).await?;
        let bytes = body.bytes.len();
        data["bytes"] = json!(bytes);
        match read(body, media).await? {
            Some(read) => {
                data["text_bytes"] = json!(read.len());
                quote::quoted(&about, &read)
            }
            None => format!("{about} with {bytes} bytes that are declared as {kind} but are not text."),
        }
    } else {
        let kind = if media.name().is_empty() { "content of an unnamed type" } else { media.name() };
        let size = length.map_or("of unknown size".to_owned(), |bytes| format!("of {bytes} bytes"));
        format!("{about} with {kind}, {size}. Only text can be read, so the content was not fetched.")
    };
    Ok(if status.is_success() { Outcome::Done { text, data } } else { Outcome::Failed { text } })
}

/// Extracts the text of a fetched page on a thread for blocking work, because this takes long for a large page.
async fn read(body: body::Body, media: page::Media) -> Result<Option<quote::Page>, Refusal> {
    tokio::task::spawn_blocking(move || page::read(&body, &media))
        .await
        .map_err(|error| Refusal::new("internal", format!("the tool stopped unexpectedly: {error}")))
}

fn header(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
