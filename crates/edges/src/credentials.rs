//! Authentication at the edges: reads the token from the places where clients of the source systems send it.

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use holdshort_protocol::Code;
use holdshort_web::auth::{AuthState, Authenticated, Caller, Credentials};
use holdshort_web::needs::Needs;
use holdshort_web::problem::{Answer, Refused};
use serde::Deserialize;

/// Header in which existing clients of the emulated systems send their token.
const INTERNAL_AUTH: &str = "x-internal-auth";

/// Caller that authenticated with a Holdshort token. The token is in the header `Authorization: Bearer`, in the header
/// `X-Internal-Auth`, or in the query parameter `token`. The query parameter is for browsers, whose WebSocket API
/// cannot set headers. Query parameters are never logged. On the routes of a page that an edge serves, the cookie of
/// the page authenticates a person without a token.
pub(super) struct AuthenticatedCaller {
    known: Authenticated,
    needs: Needs,
}

impl AuthenticatedCaller {
    /// Authorizes the caller for the route. `edge` is recorded as the channel of the caller's events.
    pub(super) fn authorize(self, edge: &str) -> Answer<Caller> {
        self.known.through(edge).authorize(self.needs)
    }
}

#[derive(Deserialize)]
struct Query {
    token: Option<String>,
}

impl FromRequestParts<AuthState> for AuthenticatedCaller {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, door: &AuthState) -> Answer<Self> {
        let query: Option<Query> = parts.uri.query().and_then(|query| serde_urlencoded::from_str(query).ok());
        let headers = &parts.headers;
        let tokens = tokens(headers, query.and_then(|query| query.token));
        let has_page = parts.extensions.get::<PageRoute>().is_some();
        let known = if tokens.is_empty() && has_page && door.has_page_cookie(headers) {
            door.authenticate_page(headers).await?
        } else {
            let [token] = &tokens[..] else { return Err(no_token(door.page_sign_in().filter(|_| has_page))) };
            door.authenticate(headers, &Credentials::Token(token)).await?
        };
        let needs = known.needed(parts)?;
        Ok(Self { known, needs })
    }
}

/// Request extension that marks the routes which the page of an edge uses. On these routes, the cookie of the page
/// authenticates a person.
#[derive(Clone, Copy)]
pub(super) struct PageRoute;

/// Returns all tokens that a request contains. A valid request contains exactly one.
fn tokens(headers: &HeaderMap, query: Option<String>) -> Vec<String> {
    let bearer = |text: &str| {
        let (scheme, token) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_start_matches(' ').to_owned())
    };
    let texts = |name: &str| {
        headers
            .get_all(name)
            .iter()
            .map(|value| value.to_str().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let bearers = texts(AUTHORIZATION.as_str());
    let bearers = bearers.iter().map(|text| bearer(text).unwrap_or_default());
    bearers.chain(texts(INTERNAL_AUTH)).chain(query).collect()
}

/// Returns the error for a request that has no token or several tokens. `sign_in` is the URL at which a person can sign
/// in instead.
fn no_token(sign_in: Option<String>) -> Refused {
    let rule = "send one token, only once: in `Authorization: Bearer`, `X-Internal-Auth` or `?token=`";
    let sign_in = sign_in.map(|url| format!("; in a browser, sign in at {url}"));
    Refused::new(Code::Unauthenticated, format!("{rule}{}", sign_in.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_token_in_one_place() {
        type Headers = &'static [(&'static str, &'static str)];
        let headers = |list: Headers| -> HeaderMap {
            list.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
        };
        let table: [(Headers, Option<&str>, Option<&str>); 6] = [
            (&[("authorization", "Bearer a")], None, Some("a")),
            (&[("x-internal-auth", "b")], None, Some("b")),
            (&[], Some("c"), Some("c")),
            (&[], None, None),
            (&[("authorization", "bearer a")], Some("a"), None),
            (&[("x-internal-auth", "a"), ("authorization", "Bearer a")], None, None),
        ];
        for (list, query, found) in table {
            let tokens = tokens(&headers(list), query.map(str::to_owned));
            let told = <[String; 1]>::try_from(tokens).ok().map(|[token]| token);
            assert_eq!(told.as_deref(), found, "{list:?} {query:?}");
        }
    }
}
