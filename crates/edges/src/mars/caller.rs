//! Caller of a request of this edge, and the query of the routes that have no parameters.

use holdshort_web::auth::Caller;
use holdshort_web::problem::Answer;
use serde::Deserialize;

use crate::credentials::AuthenticatedCaller;

/// Name of the channel that is recorded with events that arrive through the MARS edge.
const CHANNEL: &str = "mars";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoQuery {
    #[expect(dead_code, reason = "read during authentication")]
    token: Option<String>,
}

/// Returns the caller of the MARS edge if the caller's role has the permission of the route.
pub(super) fn person(guest: AuthenticatedCaller) -> Answer<Caller> {
    guest.authorize(CHANNEL)
}
