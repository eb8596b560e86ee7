//! Rate limit of a route. The rate limit is declared where the route is defined, together with the permission that the
//! route needs.
//!
//! If the limit is per address, a request is counted before its handler runs. If the limit is per principal, a request
//! is counted when the caller authenticates. For a WebSocket,
//! [`Caller::count_decision`](crate::auth::Caller::count_decision) counts each frame with a decision.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;
use holdshort_protocol::Code;

use crate::accept::prefers_html;
use crate::auth::AuthState;
use crate::guard::Page;
use crate::problem::{Answer, Refused};
use crate::quota::Meter;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteLimit {
    /// The route has no rate limit of its own. The limits on agents' requests and on connections still apply.
    None,
    /// Rate limit of sign-in requests per address.
    SignIns,
    /// Rate limit of decisions per address, for callers that have not authenticated.
    DecisionsOfAddress,
    /// Rate limit of decisions per principal.
    Decisions,
}

impl RouteLimit {
    /// Returns the name of the rate limit as the API document shows it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::SignIns => "sign-in",
            Self::DecisionsOfAddress => "decisions of the address",
            Self::Decisions => "decisions",
        }
    }

    /// Counts each request of these routes against the rate limit per address.
    pub fn on<S: Clone + Send + Sync + 'static>(self, routes: MethodRouter<S>) -> MethodRouter<S> {
        match self {
            Self::SignIns | Self::DecisionsOfAddress => {
                routes.route_layer(from_fn(move |request: Request, next: Next| count(self, request, next)))
            }
            Self::None | Self::Decisions => routes,
        }
    }
}

/// Data about the sender of a request, which `guard.rs` has determined.
#[derive(Clone)]
pub(crate) struct Arrival {
    pub(crate) auth: AuthState,
    pub(crate) client: IpAddr,
    pub(crate) meter: Arc<Meter>,
    /// Function that renders the error for a rejected request as a page for a browser.
    pub(crate) pages: Page,
}

async fn count(limit: RouteLimit, request: Request, next: Next) -> Response {
    match arrive(limit, &request) {
        Ok(()) => next.run(request).await,
        Err((refused, pages)) => match pages.filter(|_| prefers_html(request.headers())) {
            Some(pages) => pages(&refused),
            None => refused.into_response(),
        },
    }
}

fn arrive(limit: RouteLimit, request: &Request) -> Result<(), (Refused, Option<Page>)> {
    let Some(Arrival { auth, client, meter, pages }) = request.extensions().get() else {
        tracing::error!(
            path = request.uri().path(),
            "a request was not checked by the guard before it reached its route"
        );
        return Err((Refused::from_code(Code::Internal), None));
    };
    let counted: Answer<()> = auth.app().allowances.arrives(limit, *client, meter);
    counted.map_err(|refused| (refused, Some(*pages)))
}
