//! What every request passes before it reaches a handler: the host it names, the page it comes from. And what
//! every answer carries. Never looks at tokens or bodies.

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

use crate::problem::Refused;

/// Fetch Metadata, 2.4.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// The names under which this server may be addressed.
pub(crate) struct Names {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Names {
    pub(crate) fn of(address: SocketAddr) -> Arc<Self> {
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

/// A page that made a name of its own point at this machine sends that name as the host (DNS rebinding).
pub(crate) async fn check(State(names): State<Arc<Names>>, request: Request, next: Next) -> Response {
    // A target in absolute form names a host too, and that one wins (RFC 9112, 3.2.2).
    let target = request.uri().authority().map(Authority::as_str);
    let target_is_ours =
        target.is_none_or(|target| names.hosts.iter().any(|each| each.eq_ignore_ascii_case(target)));
    if !target_is_ours || !has_one_of(request.headers(), &HOST, &names.hosts) {
        return Refused::new(Code::WrongHost, format!("address the server as http://{}", names.hosts[0]))
            .into_response();
    }
    // Whatever a socket does begins with a GET.
    let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS)
        && !request.headers().contains_key(UPGRADE);
    if !reads && !is_from_here(request.headers(), &names) {
        return Refused::of(Code::WrongOrigin).into_response();
    }
    next.run(request).await
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
pub(crate) async fn seal(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
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
    response
}

/// One line per request: the route as a pattern, never the path, query, headers or body.
pub(crate) async fn log(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let response = next.run(request).await;
    let status = response.status().as_u16();
    let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::debug!(%method, route = route.as_deref().unwrap_or("-"), status, ms, "answered");
    response
}
