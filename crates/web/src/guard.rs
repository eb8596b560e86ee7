//! Checks of every request before a handler runs: the Host and the Origin. Also the headers of every answer. Never
//! looks at tokens or bodies.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, ORIGIN, REFERRER_POLICY, UPGRADE,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use holdshort_protocol::Code;

use crate::problem::{Answer, Refused};

/// Fetch Metadata, 2.4.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// The names under which this server may be addressed.
pub struct Names {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Names {
    pub fn of(address: SocketAddr) -> Arc<Self> {
        let port = address.port();
        let mut hosts = vec![
            format!("127.0.0.1:{port}"),
            format!("localhost:{port}"),
            format!("[::1]:{port}"),
            address.to_string(),
        ];
        if port == 80 {
            hosts.extend(["127.0.0.1", "localhost", "[::1]"].map(str::to_owned));
        }
        let origins = hosts.iter().map(|host| format!("http://{host}")).collect();
        Arc::new(Self { hosts, origins })
    }
}

/// Around every handler, as one layer: each more would copy the service once more for each request.
pub async fn check_origin(State(names): State<Arc<Names>>, request: Request, next: Next) -> Response {
    let line = Line::begin(&request);
    let mut response = match check(&names, &request) {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    };
    seal(response.headers_mut());
    if let Some(line) = line {
        line.end(&response);
    }
    response
}

/// A page that made a name of its own point at this machine sends that name as the host (DNS rebinding).
fn check(names: &Names, request: &Request) -> Answer<()> {
    // A target in absolute form names a host too, and that one wins (RFC 9112, 3.2.2).
    let target = request.uri().authority().map(Authority::as_str);
    let target_is_ours =
        target.is_none_or(|target| names.hosts.iter().any(|each| each.eq_ignore_ascii_case(target)));
    if !target_is_ours || !has_one_of(request.headers(), &HOST, &names.hosts) {
        return Err(Refused::new(
            Code::WrongHost,
            format!("address the server as http://{}", names.hosts[0]),
        ));
    }
    // Whatever a socket does begins with a GET.
    let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS)
        && !request.headers().contains_key(UPGRADE);
    if !reads && !is_from_here(request.headers(), names) {
        return Err(Refused::of(Code::WrongOrigin));
    }
    Ok(())
}

/// Whether a change comes from a page of ours, or from no page. Browsers say which with one header or both.
fn is_from_here(headers: &HeaderMap, names: &Names) -> bool {
    let site = headers.get(SEC_FETCH_SITE).map(HeaderValue::as_bytes);
    let origin = !headers.contains_key(ORIGIN) || has_one_of(headers, &ORIGIN, &names.origins);
    origin && matches!(site, None | Some(b"same-origin" | b"none"))
}

fn has_one_of(headers: &HeaderMap, name: &HeaderName, allowed: &[String]) -> bool {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => {
            value.to_str().is_ok_and(|value| allowed.iter().any(|each| each.eq_ignore_ascii_case(value)))
        }
        _ => false,
    }
}

/// Headers that keep answers out of caches, frames, other pages and guesses about their type. A page brings a
/// policy of its own, and with it what else it needs.
fn seal(headers: &mut HeaderMap) {
    if !headers.contains_key(CONTENT_SECURITY_POLICY) {
        for (name, value) in [
            (CACHE_CONTROL, "no-store"),
            (REFERRER_POLICY, "no-referrer"),
            (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    for (name, value) in [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (OPENER_POLICY, "same-origin"),
        (RESOURCE_POLICY, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// One line per request: the route as a pattern, never the path, query, headers or body.
struct Line {
    started: Instant,
    method: Method,
    route: Option<MatchedPath>,
}

impl Line {
    /// `None`: nobody reads it.
    fn begin(request: &Request) -> Option<Self> {
        tracing::enabled!(tracing::Level::DEBUG).then(|| Self {
            started: Instant::now(),
            method: request.method().clone(),
            route: request.extensions().get::<MatchedPath>().cloned(),
        })
    }

    fn end(self, response: &Response) {
        let Self { started, method, route } = self;
        let route = route.as_ref().map_or("-", MatchedPath::as_str);
        let status = response.status().as_u16();
        let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::debug!(%method, route, status, ms, "answered");
    }
}
