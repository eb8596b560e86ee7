//! Who speaks on this edge: a bearer token, `X-Internal-Auth`, or `?token=`, one of them. An IDE decides for the
//! person before it, so the agents' token does not get in.

use axum::extract::{FromRequestParts, Query};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use holdshort_protocol::Code;
use serde::Deserialize;

use crate::auth::{Credentials, Door, Operator};
use crate::problem::{Answer, Refused};

const INTERNAL_AUTH: &str = "x-internal-auth";
/// What its decisions are recorded with.
pub(super) const VIA: &str = "codelab";

/// Somebody with the operator's token.
pub(super) struct Person(pub(super) Operator);

#[derive(Deserialize)]
struct TokenQuery {
    token: Option<String>,
}

impl FromRequestParts<Door> for Person {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, door: &Door) -> Answer<Self> {
        let query: Query<TokenQuery> = Query::try_from_uri(&parts.uri)
            .map_err(|error| Refused::new(Code::InvalidQuery, error.body_text()))?;
        let token = token(&parts.headers, query.0.token)?;
        let mut operator = door.caller(&parts.headers, &Credentials::Token(&token))?.operator()?;
        operator.actor.via = Some(VIA.to_owned());
        Ok(Self(operator))
    }
}

fn token(headers: &HeaderMap, query: Option<String>) -> Answer<String> {
    let internal: Vec<_> = headers.get_all(INTERNAL_AUTH).iter().collect();
    match (headers.contains_key(AUTHORIZATION), &internal[..], query) {
        (true, [], None) => match Credentials::of(headers)? {
            Credentials::Token(token) => Ok(token.to_owned()),
            Credentials::Secret(_) => Err(Refused::of(Code::Unauthenticated)),
        },
        (false, [token], None) => {
            token.to_str().map(str::to_owned).map_err(|_| Refused::of(Code::Unauthenticated))
        }
        (false, [], Some(token)) => Ok(token),
        (false, [], None) => Err(Refused::of(Code::Unauthenticated)),
        _ => {
            let rule = "Authorization, X-Internal-Auth and `token`: send one of them, once";
            Err(Refused::new(Code::InvalidHeader, rule))
        }
    }
}
