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

/// Header in which clients of the source systems send their token.
const INTERNAL_AUTH: &str = "x-internal-auth";

/// Caller that authenticated with a Holdshort token. The token is in `Authorization: Bearer`, in `X-Internal-Auth`, or
/// in the query parameter `token`. The query parameter is for browsers, whose WebSocket API cannot set headers. Query
/// parameters are never logged.
pub(super) struct AuthenticatedCaller {
    known: Authenticated,
    needs: Needs,
}

impl AuthenticatedCaller {
    /// Authorizes the caller. `edge` is recorded as the channel of the caller's events.
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
        let token = token(&parts.headers, query.and_then(|query| query.token))?;
        let known = door.authenticate(&parts.headers, &Credentials::Token(&token)).await?;
        let needs = known.needed(parts)?;
        Ok(Self { known, needs })
    }
}

/// Returns the token of a request. Rejects a request without a token or with several tokens.
fn token(headers: &HeaderMap, query: Option<String>) -> Answer<String> {
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
    let shown: Vec<String> = texts(AUTHORIZATION.as_str())
        .iter()
        .map(|text| bearer(text).unwrap_or_default())
        .chain(texts(INTERNAL_AUTH))
        .chain(query)
        .collect();
    let [token] = &shown[..] else {
        let rule = "send one token, only once: in `Authorization: Bearer`, `X-Internal-Auth` or `?token=`";
        return Err(Refused::new(Code::Unauthenticated, rule));
    };
    Ok(token.clone())
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
            let told = token(&headers(list), query.map(str::to_owned)).ok();
            assert_eq!(told.as_deref(), found, "{list:?} {query:?}");
        }
    }
}
