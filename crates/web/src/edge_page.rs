//! Page of another system whose scripts use one edge (a compatible API of this server) from a browser, such as the web
//! UI of MARS. The server of this page forwards the requests below two paths to the edge, without a token. A person
//! signs the browser in, and the browser then sends a cookie with each request.
//!
//! The cookie of the page is the only credential. The cookie is therefore valid only on this edge, only for requests
//! that the page sends, and only in the role of an operator. `docs/security.md` describes the risks of a cookie without
//! a second credential.

use axum::http::header::{ORIGIN, REFERER};
use axum::http::{HeaderMap, HeaderName};
use url::Url;

/// Request header `Sec-Fetch-Site` (Fetch Metadata, 2.4).
pub(crate) const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Sign-in path of an edge's page. It is appended to the first of the two paths that the page's server forwards.
const SIGN_IN: &str = "/holdshort/sign-in";

/// Page of another system that may use one edge with a cookie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgePage {
    /// Prefix of the edge's paths on the Holdshort server.
    base: &'static str,
    /// The two paths below which the page's server forwards requests to the edge.
    paths: [&'static str; 2],
    /// Origin of the edge's page, in the form in which browsers write it.
    origin: String,
    /// Accepted values of the `Host` header of requests to the server of the edge's page.
    hosts: Vec<String>,
}

impl EdgePage {
    pub(crate) fn new(
        base: &'static str,
        paths: [&'static str; 2],
        (origin, hosts): (String, Vec<String>),
    ) -> Self {
        Self { base, paths, origin, hosts }
    }

    /// Returns the origin of the edge's page, in the form in which browsers write it.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    pub(crate) fn is_https(&self) -> bool {
        self.origin.starts_with("https:")
    }

    /// Returns the URL at which a person signs a browser in, so that the edge's page can use the edge.
    pub fn sign_in_url(&self) -> String {
        format!("{}{}{SIGN_IN}", self.origin, self.paths[0])
    }

    /// Returns true if a path of the Holdshort server belongs to the edge of this page.
    pub(crate) fn covers(&self, path: &str) -> bool {
        path.starts_with(self.base)
    }

    /// Returns true if `host` is the host of the page's server. That server reports this host for a request that it
    /// forwards as a trusted proxy.
    pub(crate) fn is_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host))
    }

    /// Returns true if the page sent the request, according to the headers `Origin` and `Sec-Fetch-Site`. Browsers omit
    /// `Origin` when a page reads from its own origin; then `Referer` names the page. A script can set none of these
    /// headers.
    pub(crate) fn sent(&self, headers: &HeaderMap) -> bool {
        let origin = &self.origin;
        let is_origin = match (&values(headers, &ORIGIN)[..], &values(headers, &REFERER)[..]) {
            ([said], _) => said.eq_ignore_ascii_case(origin),
            ([], [page]) => Url::parse(page).is_ok_and(|page| page.origin().ascii_serialization() == *origin),
            _ => false,
        };
        is_origin && matches!(values(headers, &SEC_FETCH_SITE)[..], [] | ["same-origin"])
    }

    /// Returns the `Set-Cookie` values for a sign-in at the edge's page: one for each forwarded path, because the
    /// browser must not send the cookie to other paths of the page's server.
    pub(crate) fn set_cookies(&self, name: &str, value: &str, seconds: u64) -> [String; 2] {
        let secure = if self.is_https() { "; Secure" } else { "" };
        self.paths.map(|path| {
            format!("{name}={value}; HttpOnly; SameSite=Strict; Path={path}; Max-Age={seconds}{secure}")
        })
    }
}

/// Returns the values of a request header, with an empty text for each value that is not readable text.
fn values<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Vec<&'h str> {
    headers.get_all(name).iter().map(|value| value.to_str().unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(url: &str) -> EdgePage {
        let host = url.split_once("://").unwrap().1;
        let hosts = vec![host.to_owned(), format!("{host}:443")];
        EdgePage::new("/edges/mars/", ["/api", "/ws"], (url.to_owned(), hosts))
    }

    #[test]
    fn only_the_page_itself_sent_it() {
        let (own, other) = ("http://localhost:3000", "http://localhost:4000");
        let at = |origin: &str| format!("{origin}/sessions?x=1");
        let table: [(&[(&HeaderName, &str)], bool); 14] = [
            (&[(&ORIGIN, own)], true),
            (&[(&ORIGIN, "HTTP://LOCALHOST:3000")], true),
            (&[(&ORIGIN, own), (&SEC_FETCH_SITE, "same-origin")], true),
            (&[(&REFERER, &at(own))], true),
            (&[(&REFERER, &at(own)), (&SEC_FETCH_SITE, "same-origin")], true),
            (&[(&ORIGIN, own), (&SEC_FETCH_SITE, "same-site")], false),
            (&[(&REFERER, &at(own)), (&SEC_FETCH_SITE, "none")], false),
            (&[(&ORIGIN, other)], false),
            (&[(&ORIGIN, other), (&REFERER, &at(own))], false),
            (&[(&ORIGIN, own), (&ORIGIN, own)], false),
            (&[(&ORIGIN, "null")], false),
            (&[(&REFERER, &at(other))], false),
            (&[(&SEC_FETCH_SITE, "same-origin")], false),
            (&[], false),
        ];
        let page = page(own);
        for (list, expected) in table {
            let mut headers = HeaderMap::new();
            for (name, value) in list {
                headers.append(*name, value.parse().unwrap());
            }
            assert_eq!(page.sent(&headers), expected, "{list:?}");
        }
    }

    #[test]
    fn a_cookie_is_for_the_forwarded_paths_alone() {
        let [api, ws] = page("http://localhost:3000").set_cookies("c", "v", 60);
        assert_eq!(api, "c=v; HttpOnly; SameSite=Strict; Path=/api; Max-Age=60");
        assert_eq!(ws, "c=v; HttpOnly; SameSite=Strict; Path=/ws; Max-Age=60");
        let [api, _] = page("https://mars.example").set_cookies("c", "v", 60);
        assert!(api.ends_with("; Secure"), "{api}");
        let page = page("https://mars.example");
        assert_eq!(page.sign_in_url(), "https://mars.example/api/holdshort/sign-in");
        assert_eq!(
            ["mars.example", "MARS.example:443", "other.example"].map(|host| page.is_host(host)),
            [true, true, false]
        );
        let covered = ["/edges/mars/ws/t", "/edges/crew/x", "/v1/runs", "/edges/marsh/x"];
        assert_eq!(covered.map(|path| page.covers(path)), [true, false, false, false]);
    }
}
