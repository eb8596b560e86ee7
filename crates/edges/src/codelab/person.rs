//! Caller of this edge. An IDE decides for its user, so the agents' token is rejected.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use holdshort_web::auth::{AuthState, Caller};
use holdshort_web::problem::{Answer, Refused};

use crate::credentials::AuthenticatedCaller;

/// Channel that is recorded with decisions.
pub(super) const VIA: &str = "codelab";

/// Authenticated caller whose role has the permission that the route needs.
pub(super) struct Person(pub(super) Caller);

impl FromRequestParts<AuthState> for Person {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, door: &AuthState) -> Answer<Self> {
        let guest = AuthenticatedCaller::from_request_parts(parts, door).await?;
        guest.authorize(VIA).map(Self)
    }
}
