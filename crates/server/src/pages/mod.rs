//! What browsers load: the app, and the pages that need no scripts.
//!
//! Only gives out and draws; what a form sends goes the way of the API. `app.rs` has the app's files, `frame.rs`
//! what every other page stands in, `decision/` the page behind a decision link.

mod app;
mod decision;
pub(crate) mod errors;
mod frame;

use axum::Router;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use axum::routing::get;
use holdshort_web::auth::AuthState;
use minijinja::context;

pub(crate) fn router() -> Router<AuthState> {
    let mut router = Router::new()
        .route("/page.css", get(frame::style))
        .route("/d/{token}", get(decision::show).post(decision::decide))
        .route("/assets/{*path}", get(app::file))
        .route("/favicon.svg", get(app::file));
    for place in app::PLACES {
        router = router.route(place, get(app::page));
    }
    router
}

/// For a browser that looks for something that is not there.
pub(crate) fn nothing(uri: &Uri) -> Response {
    frame::page(StatusCode::NOT_FOUND, "Nothing here", "nothing.html", context! { path => uri.path() })
}
