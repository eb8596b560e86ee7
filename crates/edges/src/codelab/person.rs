//! Who speaks on this edge. An IDE decides for the person before it, so the agents' token does not get in.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use holdshort_web::auth::{AuthState, Caller};
use holdshort_web::problem::{Answer, Refused};

use crate::who::Guest;

/// What its decisions are recorded with.
pub(super) const VIA: &str = "codelab";

/// Somebody with a token whose role has what the route needs.
pub(super) struct Person(pub(super) Caller);

impl FromRequestParts<AuthState> for Person {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, door: &AuthState) -> Answer<Self> {
        let guest = Guest::from_request_parts(parts, door).await?;
        guest.through(VIA).map(Self)
    }
}
