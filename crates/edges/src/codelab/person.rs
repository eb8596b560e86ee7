//! Caller of this edge. An IDE sends the decisions of its user, so the token must be a person's: an agent's token is
//! rejected.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use holdshort_web::auth::{AuthState, Caller};
use holdshort_web::problem::{Answer, Refused};

use crate::credentials::AuthenticatedCaller;

/// Name of the channel that is recorded with each decision that arrives through the codelab edge.
pub(super) const VIA: &str = "codelab";

/// Authenticated caller whose role has the permission that the route of the codelab edge needs.
pub(super) struct Person(pub(super) Caller);

impl FromRequestParts<AuthState> for Person {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, door: &AuthState) -> Answer<Self> {
        let guest = AuthenticatedCaller::from_request_parts(parts, door).await?;
        guest.authorize(VIA).map(Self)
    }
}
