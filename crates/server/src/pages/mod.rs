//! Pages for browsers: the app, and the pages that need no scripts.
//!
//! Only serves and renders; the data of a form is handled like a request of the API. `app.rs` has the files of the app,
//! and `frame.rs` the frame of every other page. `decision/` has the page behind a decision link, and `sign_in.rs` the
//! redirects to the identity provider and back.

mod app;
pub(crate) mod decision;
pub(crate) mod errors;
mod frame;
mod sign_in;

pub(crate) use decision::card_text;

use axum::Router;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use axum::routing::{get, post};
use holdshort_web::auth::AuthState;
use holdshort_web::guard::Page;
use holdshort_web::route_limit::RouteLimit;
use holdshort_web::sign_in::{BEGIN, CALLBACK, DECIDE, SIGN_OUT};
use minijinja::context;

/// Page of a request that is refused before it reaches a page.
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

/// Returns the page for an address that does not exist.
pub(crate) fn nothing(uri: &Uri) -> Response {
    frame::page(StatusCode::NOT_FOUND, "Nothing here", "nothing.html", context! { path => uri.path() })
}
