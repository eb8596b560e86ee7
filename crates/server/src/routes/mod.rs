//! The routes of the native API, one file per group of verbs.

pub(crate) mod audit;
mod decisions;
mod docs;
mod events;
mod health;
mod interrupts;
mod links;
mod logins;
mod plans;
mod runs;
mod sessions;
mod socket;
pub(crate) mod steer;
mod system;
mod workflows;

use std::sync::Arc;

use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use axum::{Router, middleware};
use holdshort_protocol::Code;
use holdshort_web::accept::prefers_html;
use holdshort_web::auth::AuthState;
use holdshort_web::guard::{self, Names};
use holdshort_web::problem::Refused;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::openapi::Base;
use crate::pages;

pub(crate) fn router() -> OpenApiRouter<AuthState> {
    OpenApiRouter::with_openapi(Base::openapi())
        .routes(routes!(runs::start, runs::list))
        .routes(routes!(runs::read))
        .routes(routes!(runs::result))
        .routes(routes!(events::read))
        .routes(routes!(events::all))
        .routes(routes!(socket::open))
        .routes(routes!(steer::message))
        .routes(routes!(steer::pause))
        .routes(routes!(steer::resume))
        .routes(routes!(steer::cancel))
        .routes(routes!(steer::finish))
        .routes(routes!(plans::of_run))
        .routes(routes!(plans::replace))
        .routes(routes!(plans::layout))
        .routes(routes!(plans::model_request))
        .routes(routes!(interrupts::ask, interrupts::list))
        .routes(routes!(interrupts::read))
        .routes(routes!(decisions::decide))
        .routes(routes!(links::make))
        .routes(routes!(sessions::open, sessions::list))
        .routes(routes!(sessions::read))
        .routes(routes!(sessions::suspend))
        .routes(routes!(sessions::resume))
        .routes(routes!(sessions::close))
        .routes(routes!(sessions::interrupts))
        .routes(routes!(plans::of_session))
        .routes(routes!(sessions::grants))
        .routes(routes!(sessions::all_grants))
        .routes(routes!(sessions::revoke))
        .routes(routes!(logins::invite))
        .routes(routes!(logins::enter, logins::read, logins::leave))
        .routes(routes!(workflows::list))
        .routes(routes!(system::read))
        .routes(routes!(system::freeze))
        .routes(routes!(system::unfreeze))
        .routes(routes!(system::info))
        .routes(routes!(system::nodes))
        .routes(routes!(audit::verify))
        .routes(routes!(audit::head))
        .routes(routes!(health::alive))
        .routes(routes!(health::ready))
        .routes(routes!(health::document))
        .routes(routes!(health::frames))
        .routes(routes!(docs::list))
        .routes(routes!(docs::explain))
}

/// The whole service, guards included.
pub(crate) fn service(door: AuthState, names: Arc<Names>) -> Router {
    let (router, _) = router().split_for_parts();
    router
        .merge(pages::router())
        .merge(holdshort_edges::router())
        .fallback(nothing)
        .method_not_allowed_fallback(|| async { Refused::of(Code::MethodNotAllowed) })
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn_with_state(names, guard::check_origin))
        .with_state(door)
}

async fn nothing(uri: Uri, headers: HeaderMap) -> Response {
    if prefers_html(&headers) { pages::nothing(&uri) } else { Refused::not_found("address").into_response() }
}

#[expect(clippy::needless_pass_by_value, reason = "the layer hands the box over")]
fn panicked(panic: Box<dyn std::any::Any + Send>) -> Response {
    let message =
        panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(|text| &**text));
    tracing::error!(message, "a handler panicked");
    Refused::of(Code::Internal).into_response()
}
