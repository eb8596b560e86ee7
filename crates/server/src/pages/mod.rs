//! Pages for browsers: the app, and pages without scripts.
//!
//! This module only serves files and renders pages. A submitted form is handled like a request of the API. `app.rs`
//! serves the files of the app. `frame.rs` renders the frame of the pages without scripts. `decision/` contains the
//! page of a decision link. `sign_in.rs` redirects browsers to the identity provider and back.

mod app;
pub(crate) mod decision;
pub(crate) mod errors;
mod frame;
mod sign_in;

use axum::Router;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use axum::routing::{get, post};
use holdshort_web::auth::AuthState;
use holdshort_web::guard::Page;
use holdshort_web::route_limit::RouteLimit;
use holdshort_web::sign_in::{BEGIN, CALLBACK, DECIDE, SIGN_OUT};
use minijinja::context;

/// Function that renders the page for a request that the server rejected before it reached a page handler.
pub(crate) const REFUSED: Page = frame::refused;

pub(crate) fn router() -> Router<AuthState> {
    let mut router = Router::new()
        .route("/page.css", get(frame::style))
        .route(
            "/d/{token}",
            get(decision::show).merge(RouteLimit::DecisionsOfAddress.on(post(decision::decide))),
        )
        .route(&format!("{DECIDE}{{id}}"), RouteLimit::SignIns.on(get(sign_in::decide)))
        .route(BEGIN, RouteLimit::SignIns.on(get(sign_in::begin)))
        .route(CALLBACK, RouteLimit::SignIns.on(get(sign_in::finish)))
        .route(SIGN_OUT, RouteLimit::SignIns.on(get(sign_in::sign_out)))
        .route("/assets/{*path}", get(app::file))
        .route("/sw.js", get(app::file))
        .route("/favicon.svg", get(app::file));
    for place in app::PLACES {
        router = router.route(place, get(app::page));
    }
    router
}

/// Returns the page for a path that does not exist.
pub(crate) fn nothing(uri: &Uri) -> Response {
    frame::page(StatusCode::NOT_FOUND, "Nothing here", "nothing.html", context! { path => uri.path() })
}
