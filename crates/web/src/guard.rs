//! Checks the headers `Host` and `Origin` of each request before its handler runs. Sets headers in every response,
//! including the request id, and logs the request. This module must never read tokens or bodies.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, ORIGIN, REFERRER_POLICY,
    UPGRADE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use holdshort_protocol::Code;
use tracing::Instrument;

use crate::auth::AuthState;
use crate::connections;
use crate::cors::{self, Cors};
use crate::edge_page::{EdgePage, SEC_FETCH_SITE};
use crate::problem::{Answer, Refused};
use crate::public_endpoint::{Forwarded, Proxies, PublicEndpoint, PublicUrl};
use crate::quota::Meter;
use crate::request_id::{self, RequestId};
use crate::route_limit::Arrival;

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Host names that requests to this server are allowed to have.
pub struct ServerNames {
    hosts: Vec<String>,
    origins: Vec<String>,
    proxies: Proxies,
    cors: Cors,
    page: Option<EdgePage>,
    /// Base URL of the links that this server creates.
    base: String,
    /// Scheme with which clients must connect to the proxy in front of this server.
    scheme: Option<&'static str>,
}

/// Address that the server listens on.
#[derive(Clone, Copy, Debug)]
pub struct ListenAddress {
    pub address: SocketAddr,
    pub is_tls: bool,
}

impl ListenAddress {
    fn url_scheme(self) -> &'static str {
        if self.is_tls { "https" } else { "http" }
    }

    /// Returns the local host names of this address. The unspecified address (`0.0.0.0`, `::`) is not one of them,
    /// because a page from any machine could use it as its host.
    fn hosts(self) -> Vec<String> {
        let port = self.address.port();
        let mut hosts =
            vec![format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")];
        if self.address.ip().is_loopback() {
            hosts.push(self.address.to_string());
        }
        if port == if self.is_tls { 443 } else { 80 } {
            hosts.extend(["127.0.0.1", "localhost", "[::1]"].map(str::to_owned));
        }
        hosts
    }
}

impl ServerNames {
    pub fn new(doors: &[ListenAddress], front: &PublicEndpoint) -> Self {
        let (mut hosts, mut origins) = (Vec::new(), Vec::new());
        for door in doors {
            let of_door = door.hosts();
            origins.extend(of_door.iter().map(|host| format!("{}://{host}", door.url_scheme())));
            hosts.extend(of_door);
        }
        let listens = doors.first().map(|door| format!("{}://{}", door.url_scheme(), door.address));
        let base = front.public_url.as_ref().map(PublicUrl::origin).or(listens).unwrap_or_default();
        let mut scheme = None;
        if let Some(url) = &front.public_url {
            hosts.extend(url.hosts());
            origins.push(url.origin());
            scheme = Some(if url.is_https() { "https" } else { "http" });
        }
        let (proxies, cors, page) = (front.proxies.clone(), front.cors.clone(), front.page.clone());
        Self { hosts, origins, proxies, cors, page, base, scheme }
    }

    /// Returns the base URL of the links that this server creates.
    pub fn base(&self) -> &str {
        &self.base
    }

    fn allows_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|each| each.eq_ignore_ascii_case(host))
    }
}

/// Function that renders an error as a page for a person in a browser.
pub type Page = fn(&Refused) -> Response;

/// Checks a request, runs its handler, and logs the request. All of this is one layer, because each further layer would
/// copy the service for each request.
pub async fn check_origin(
    State((names, auth, pages)): State<(Arc<ServerNames>, AuthState, Page)>,
    request: Request,
    next: Next,
) -> Response {
    let id = RequestId::from_headers(request.headers());
    // The span has the level `error`, so that every log line of the request contains the request id.
    let span = tracing::error_span!("request", request_id = %id);
    let mut response =
        request_id::serving(id.clone(), answer(names, auth, pages, request, next)).instrument(span).await;
    if let Some(id) = id.value() {
        response.headers_mut().insert(request_id::HEADER, id);
    }
    response
}

async fn answer(
    names: Arc<ServerNames>,
    auth: AuthState,
    pages: Page,
    mut request: Request,
    next: Next,
) -> Response {
    // Every request that arrives here has a connection. If it were missing, the unspecified address would make no proxy
    // trusted.
    let peer = connections::current()
        .map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |connection| connection.ends.peer.ip());
    let forwarded = names.proxies.read(peer, request.headers());
    let line = Line::begin(&request, forwarded.client);
    let (meter, client) = (Arc::new(Meter::default()), forwarded.client);
    let page = names.cors.origin(&request);
    let is_of_edge_page = |page: &EdgePage| page.covers(request.uri().path()) && page.sent(request.headers());
    let may_call = page.is_some() || names.page.as_ref().is_some_and(is_of_edge_page);
    let checked = check(&names, &request, forwarded, may_call);
    let mut response = match checked {
        Ok(()) if page.is_some() && cors::is_preflight(&request) => cors::preflight(),
        Ok(()) => {
            request.extensions_mut().insert(Arrival { auth, client, meter: meter.clone(), pages });
            next.run(request).await
        }
        Err(refused) => refused.into_response(),
    };
    seal(response.headers_mut());
    meter.add_headers(response.headers_mut());
    if let Some(origin) = page {
        cors::add_headers(response.headers_mut(), origin);
    }
    line.end(&response);
    response
}

/// Checks the host, scheme and origin of a request. `may_call` is true if the request comes from an origin in the
/// configuration. The check of the host prevents DNS rebinding, an attack in which the host name of a foreign page
/// resolves to this machine.
fn check(names: &ServerNames, request: &Request, forwarded: Forwarded<'_>, may_call: bool) -> Answer<()> {
    // A request target in absolute form contains a host, which takes precedence over the `Host` header (RFC 9112,
    // 3.2.2).
    let target = request.uri().authority().map(Authority::as_str);
    let target_is_ours = target.is_none_or(|target| names.allows_host(target));
    // The page's own server terminates TLS for its browsers, so the scheme of the page applies to them.
    let is_for_page = |page: &&EdgePage| {
        page.covers(request.uri().path()) && forwarded.host.is_some_and(|host| page.is_host(host))
    };
    let page = names.page.as_ref().filter(is_for_page);
    let host_is_ours = match forwarded.host {
        Some(host) => page.is_some() || names.allows_host(host),
        None => has_one_of(request.headers(), &HOST, &names.hosts),
    };
    // A client that used plain HTTP to reach the proxy is rejected, and the error contains the correct URL.
    let expected = page.map_or(names.scheme, |page| page.is_https().then_some("https"));
    let scheme_is_ours = match (forwarded.scheme, expected) {
        (Some(used), Some(expected)) => used.eq_ignore_ascii_case(expected),
        _ => true,
    };
    if !(target_is_ours && host_is_ours || is_probe(request)) || !scheme_is_ours {
        return Err(Refused::new(Code::WrongHost, format!("address the server as {}", names.base)));
    }
    // A WebSocket begins with a GET request, but its frames can make changes.
    let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS)
        && !request.headers().contains_key(UPGRADE);
    if !reads && !may_call && !is_from_here(request.headers(), names) {
        return Err(Refused::from_code(Code::WrongOrigin));
    }
    Ok(())
}

/// Returns true for a request of a probe, a load balancer or a metrics collector. Such clients address a server by its
/// IP address. A page that reaches this server by DNS rebinding learns only if the server is ready, because the page has
/// no token for the metrics.
fn is_probe(request: &Request) -> bool {
    let has_token = || request.headers().contains_key(AUTHORIZATION);
    matches!(*request.method(), Method::GET | Method::HEAD)
        && match request.uri().path() {
            "/healthz" | "/readyz" => true,
            "/metrics" => has_token(),
            _ => false,
        }
}

/// Returns true if a page of this server, or a client that is not a browser, sent the request. Browsers send `Origin`,
/// `Sec-Fetch-Site`, or both.
fn is_from_here(headers: &HeaderMap, names: &ServerNames) -> bool {
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

/// Sets headers that keep a response out of caches, frames and other pages. They also forbid the browser to guess the
/// media type. A page of this server has its own content policy, and sets the headers for caching and referrers itself.
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

/// Log entry of a request. A log entry contains the client and the pattern of the route, but never the path, the query,
/// the headers or the body.
///
/// With `access=debug` each request is logged. A request that failed because of a fault in this server is always
/// logged.
struct Line {
    started: Instant,
    client: IpAddr,
    method: Method,
    route: Option<MatchedPath>,
}

impl Line {
    fn begin(request: &Request, client: IpAddr) -> Self {
        let route = request.extensions().get::<MatchedPath>().cloned();
        Self { started: Instant::now(), client, method: request.method().clone(), route }
    }

    fn end(self, response: &Response) {
        let Self { started, client, method, route } = self;
        let route = route.as_ref().map_or("-", MatchedPath::as_str);
        let status = response.status().as_u16();
        let code = response.extensions().get::<Code>().copied();
        if status >= 500 && !code.is_some_and(is_passing) {
            let code = code.map_or("-", Code::as_str);
            tracing::error!(%method, route, status, code, "a request failed");
        }
        let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::debug!(target: "access", %client, %method, route, status, ms, "answered");
    }
}

/// Returns true if the error code means that the server is busy, stopping or outdated. Such a rejection is not logged
/// as a fault.
fn is_passing(code: Code) -> bool {
    matches!(
        code,
        Code::Busy | Code::Stopping | Code::Outdated | Code::TooManyStreams | Code::TooManyConnections
    )
}
