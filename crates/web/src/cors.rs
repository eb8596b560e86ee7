//! Cross-origin access (the Fetch standard, 3.2). Pages of configured origins may call one edge from a browser. Routes
//! that do not belong to the edge can be called only by pages of this server.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use axum::response::{IntoResponse, Response};

const METHODS: &str = "GET, POST, DELETE, OPTIONS";
const HEADERS: &str =
    "Authorization, Content-Type, Idempotency-Key, X-CSRF-Token, X-Internal-Auth, X-Requested-With";
const EXPOSED: &str =
    "Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Idempotency-Replayed";

/// Origins whose web pages may call an edge.
#[derive(Clone, Debug, Default)]
pub struct Cors {
    /// Prefix of the paths that pages from these origins may call.
    pub base: &'static str,
    pub origins: Vec<HeaderValue>,
}

impl Cors {
    /// Returns the origin of the web page that sent a request. Returns `None` if this page is not allowed to read the
    /// response.
    pub(crate) fn origin<B>(&self, request: &Request<B>) -> Option<HeaderValue> {
        let mut said = request.headers().get_all(ORIGIN).iter();
        let (Some(origin), None) = (said.next(), said.next()) else { return None };
        let is_theirs = !self.base.is_empty() && request.uri().path().starts_with(self.base);
        let is_named = |named: &&HeaderValue| named.as_bytes().eq_ignore_ascii_case(origin.as_bytes());
        self.origins.iter().find(is_named).filter(|_| is_theirs).map(|_| origin.clone())
    }
}

/// Returns true for a preflight request, with which a browser asks for permission before it sends the request of a web
/// page.
pub(crate) fn is_preflight<B>(request: &Request<B>) -> bool {
    request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Returns the response to a preflight request of a browser. Such a request needs no authentication, because its
/// response does not reveal if a resource exists.
pub(crate) fn preflight() -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(HEADERS));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

/// Adds the headers to a response with which the browser lets a web page of the origin read the response.
pub(crate) fn add_headers(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    headers.append(VARY, HeaderValue::from_static("Origin"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_origin_may_call_the_edge_and_nothing_else() {
        let cors =
            Cors { base: "/edges/crew/", origins: vec![HeaderValue::from_static("https://a.example")] };
        let table = [
            ("/edges/crew/crew/run", &["https://a.example"][..], true),
            ("/edges/crew/crew/run", &["HTTPS://A.example"], true),
            ("/edges/crew/crew/run", &["https://b.example"], false),
            ("/edges/crew/crew/run", &["https://a.example", "https://a.example"], false),
            ("/edges/crew/crew/run", &["null"], false),
            ("/edges/crew/crew/run", &[], false),
            ("/v1/runs", &["https://a.example"], false),
            ("/edges/crews", &["https://a.example"], false),
        ];
        for (path, origins, may) in table {
            let mut request = Request::builder().uri(path);
            for origin in origins {
                request = request.header(ORIGIN, *origin);
            }
            let request = request.body(()).unwrap();
            assert_eq!(cors.origin(&request).is_some(), may, "{path} {origins:?}");
            assert!(Cors::default().origin(&request).is_none());
        }
    }
}
