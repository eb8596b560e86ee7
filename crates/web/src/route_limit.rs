//! Rate limit of a route, declared where the route is registered, as its permission is.
//!
//! Limits of an address count a request before its handler runs. Limits of a principal count it during authentication.
//! Sockets count each frame that decides, with [`Caller::count_decision`](crate::auth::Caller::count_decision).

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
    /// No limit beyond those of agents and connections.
    None,
    /// Sign-in requests of each address.
    SignIns,
    /// Decisions of each address: the caller is not authenticated yet.
    DecisionsOfAddress,
    /// Decisions of each principal.
    Decisions,
}

impl RouteLimit {
    /// Name in the API document.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::SignIns => "sign-in",
            Self::DecisionsOfAddress => "decisions of the address",
            Self::Decisions => "decisions",
        }
    }

    /// Counts each request of these routes by the address of its client.
    pub fn on<S: Clone + Send + Sync + 'static>(self, routes: MethodRouter<S>) -> MethodRouter<S> {
        match self {
            Self::SignIns | Self::DecisionsOfAddress => {
                routes.route_layer(from_fn(move |request: Request, next: Next| count(self, request, next)))
            }
            Self::None | Self::Decisions => routes,
        }
    }
}

/// Origin of a request, as the guard has read it.
#[derive(Clone)]
pub(crate) struct Arrival {
    pub(crate) auth: AuthState,
    pub(crate) client: IpAddr,
    pub(crate) meter: Arc<Meter>,
    /// Renders a refusal for a browser.
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
        tracing::error!(path = request.uri().path(), "a request reached a route without passing the guard");
        return Err((Refused::from_code(Code::Internal), None));
    };
    let counted: Answer<()> = auth.app().allowances.arrives(limit, *client, meter);
    counted.map_err(|refused| (refused, Some(*pages)))
}
