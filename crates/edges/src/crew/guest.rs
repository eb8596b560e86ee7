//! Caller of the crew edge. The errors about authentication and permissions begin with the words that the source system
//! uses (contract D10).

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use holdshort_protocol::Code;
use holdshort_web::auth::{AuthState, Caller};
use holdshort_web::problem::{Answer, Refused};

use super::refusals;
use crate::credentials::AuthenticatedCaller;

/// Name of the channel that is recorded with events that arrive through the crew edge.
const CHANNEL: &str = "crew";

/// Authenticated caller of the crew edge whose permissions are not checked yet.
pub(super) struct Guest(AuthenticatedCaller);

impl Guest {
    pub(super) fn authorize(self) -> Answer<Caller> {
        self.0.authorize(CHANNEL).map_err(|refused| match refused.code() {
            Code::Unauthenticated => refusals::unauthenticated(refused),
            _ => refusals::forbidden(refused),
        })
    }
}

impl FromRequestParts<AuthState> for Guest {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, door: &AuthState) -> Answer<Self> {
        let caller = AuthenticatedCaller::from_request_parts(parts, door).await;
        caller.map(Self).map_err(refusals::unauthenticated)
    }
}
