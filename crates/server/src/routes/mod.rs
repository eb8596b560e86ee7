//! The routes of the native API, one file per group of verbs.

mod actions;
mod answers;
mod approvals;
pub(crate) mod audit;
mod audit_events;
mod conversation;
mod decisions;
mod deliveries;
mod docs;
mod events;
mod evidence;
mod groups;
mod health;
mod interrupts;
mod keeping;
mod keys;
mod links;
mod logins;
mod metrics;
mod people;
mod plans;
mod policy;
mod push;
mod record;
mod runs;
mod sessions;
mod sign_in;
mod socket;
pub(crate) mod steer;
mod system;
mod trials;
mod workflows;

use std::sync::Arc;

use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use axum::{Router, middleware};
use holdshort_core::rights::Permission;
use holdshort_edges::crew::{ReadCase, Settings};
use holdshort_notify::Channels;
use holdshort_protocol::Code;
use holdshort_web::accept::prefers_html;
use holdshort_web::auth::AuthState;
use holdshort_web::guard::{self, ServerNames};
use holdshort_web::needs::{Needs, all, any};
use holdshort_web::problem::Refused;
use holdshort_web::route_limit::RouteLimit;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_axum::routes;

use crate::openapi;
use crate::{mcp, pages, slack};

/// Returns all routes, each with the permission that it needs (`core/src/rights.rs`). Adds the operations of the routes
/// to the OpenAPI document.
pub(crate) fn router(document: utoipa::openapi::OpenApi) -> OpenApiRouter<AuthState> {
    use Permission::{Administer, Ask, Assign, Audit, Decide, Halt, Read, SignIn, Steer};

    OpenApiRouter::with_openapi(document)
        .routes(needs(any(Steer), routes!(runs::start)))
        .routes(needs(any(Read), routes!(runs::list)))
        .routes(needs(any(Read), routes!(runs::read)))
        .routes(needs(any(Read), routes!(runs::result)))
        .routes(needs(all(Read), routes!(runs::work)))
        .routes(needs(all(Read), routes!(runs::layer)))
        .routes(needs(any(Read), routes!(events::read)))
        .routes(needs(any(Read), routes!(events::all)))
        .routes(needs(crate::socket::NEEDS, routes!(socket::open)))
        .routes(needs(any(Steer), routes!(steer::message)))
        .routes(needs(any(Steer), routes!(steer::pause)))
        .routes(needs(all(Steer), routes!(steer::interrupt)))
        .routes(needs(any(Halt), routes!(steer::resume)))
        .routes(needs(any(Steer), routes!(steer::cancel)))
        .routes(needs(any(Steer), routes!(steer::finish)))
        .routes(needs(all(Steer), routes!(steer::stop)))
        .routes(needs(all(Steer), routes!(steer::undo)))
        .routes(needs(all(Steer), routes!(steer::merge)))
        .routes(needs(all(Read), routes!(plans::list_for_run)))
        .routes(needs(all(Steer), routes!(plans::replace)))
        .routes(needs(any(Decide), routes!(plans::layout)))
        .routes(needs(all(Read), routes!(plans::model_calls)))
        .routes(needs(all(Read), routes!(plans::model_request)))
        .routes(needs(any(Ask), routes!(interrupts::ask)))
        .routes(needs(any(Read), routes!(interrupts::list)))
        .routes(needs(any(Read), routes!(interrupts::read)))
        .routes(needs(any(Ask), routes!(policy::check)))
        .routes(needs(any(Ask), routes!(approvals::list)))
        .routes(needs(any(Ask), routes!(approvals::consume)))
        .routes(needs(any(Ask), routes!(trials::body)))
        .routes(needs(any(Ask), routes!(trials::report)))
        .routes(needs(any(Steer), routes!(approvals::withdraw)))
        .routes(needs(any(Decide).with_decision_limit(), routes!(decisions::decide)))
        .routes(needs(any(Decide), routes!(decisions::take_back)))
        .routes(needs(any(Assign), routes!(actions::reassign)))
        .routes(needs(any(Assign), routes!(actions::delegate)))
        .routes(needs(any(Decide), routes!(actions::claim)))
        .routes(needs(any(Decide).with_decision_limit(), routes!(actions::look)))
        .routes(needs(any(Decide), routes!(actions::release)))
        .routes(needs(any(Decide), routes!(actions::snooze)))
        .routes(needs(any(Decide), routes!(actions::comment)))
        .routes(needs(any(Read), routes!(actions::comments)))
        .routes(needs(all(Read), routes!(answers::list)))
        .routes(needs(all(Steer), routes!(answers::correct)))
        .routes(needs(all(Steer), routes!(answers::erase)))
        .routes(needs(all(Read), routes!(keeping::read)))
        .routes(needs(all(Administer), routes!(keeping::hold)))
        .routes(needs(all(Administer), routes!(keeping::lift)))
        .routes(needs(all(Administer), routes!(keeping::erase)))
        .routes(needs(all(Read), routes!(deliveries::list)))
        .routes(needs(all(Read), routes!(deliveries::read)))
        .routes(needs(all(Halt), routes!(deliveries::retry)))
        .routes(needs(all(Read), routes!(deliveries::channels)))
        .routes(needs(any(Decide), routes!(push::subscribe, push::list)))
        .routes(needs(any(Decide), routes!(push::unsubscribe)))
        .routes(needs(all(Assign), routes!(links::make)))
        .routes(needs(all(Steer), routes!(sessions::open)))
        .routes(needs(all(Read), routes!(sessions::list)))
        .routes(needs(all(Read), routes!(sessions::read)))
        .routes(needs(all(Steer), routes!(conversation::say)))
        .routes(needs(all(Read), routes!(conversation::read)))
        .routes(needs(all(Steer), routes!(sessions::suspend)))
        .routes(needs(all(Halt), routes!(sessions::resume)))
        .routes(needs(all(Steer), routes!(sessions::close)))
        .routes(needs(all(Read), routes!(sessions::interrupts)))
        .routes(needs(all(Read), routes!(plans::of_session)))
        .routes(needs(all(Read), routes!(sessions::grants)))
        .routes(needs(all(Read), routes!(sessions::refusals)))
        .routes(needs(all(Halt), routes!(sessions::revoke_refusal)))
        .routes(needs(all(Read), routes!(sessions::all_grants)))
        .routes(needs(all(Halt), routes!(sessions::revoke)))
        .routes(needs(all(Administer), routes!(keys::make, keys::list)))
        .routes(needs(all(Administer), routes!(keys::read, keys::revoke)))
        .routes(needs(all(Administer), routes!(keys::rotate)))
        .routes(needs(all(SignIn), routes!(logins::invite)))
        .routes(limited(RouteLimit::SignIns, routes!(logins::enter)))
        .routes(limited(RouteLimit::None, routes!(sign_in::provider)))
        .routes(limited(RouteLimit::SignIns, routes!(sign_in::begin)))
        .routes(limited(RouteLimit::SignIns, routes!(sign_in::progress)))
        .routes(limited(RouteLimit::DecisionsOfAddress, routes!(sign_in::back_channel)))
        .routes(needs(any(Read), routes!(logins::leave_everywhere)))
        .routes(needs(all(Administer), routes!(logins::sign_out)))
        .routes(needs(any(Read), routes!(logins::read, logins::leave)))
        .routes(needs(all(Read), routes!(people::list)))
        .routes(needs(any(Read), routes!(people::read)))
        .routes(needs(all(Administer), routes!(people::set)))
        .routes(needs(all(Administer), routes!(people::remove)))
        .routes(needs(any(Decide), routes!(people::leave)))
        .routes(needs(any(Decide), routes!(people::come_back)))
        .routes(needs(all(Read), routes!(groups::list)))
        .routes(needs(all(Administer), routes!(groups::set, groups::unset)))
        .routes(needs(all(Read), routes!(workflows::list)))
        .routes(needs(all(Read), routes!(system::read)))
        .routes(needs(all(Halt), routes!(system::freeze)))
        .routes(needs(all(Halt), routes!(system::unfreeze)))
        .routes(needs(all(Read), routes!(system::info)))
        .routes(needs(all(Read), routes!(system::nodes)))
        .routes(needs(all(Audit), routes!(audit::verify)))
        .routes(needs(all(Audit), routes!(audit::head)))
        .routes(needs(all(Audit), routes!(evidence::sign)))
        .routes(needs(all(Audit), routes!(evidence::consistency)))
        .routes(needs(all(Audit), routes!(evidence::receipt)))
        .routes(needs(all(Audit), routes!(record::read)))
        .routes(needs(all(Audit), routes!(metrics::measure)))
        .routes(needs(all(Audit), routes!(audit_events::list)))
        .routes(needs(all(Audit), routes!(audit_events::read)))
        .routes(limited(RouteLimit::None, routes!(health::alive)))
        .routes(limited(RouteLimit::None, routes!(health::ready)))
        .routes(limited(RouteLimit::None, routes!(health::document)))
        .routes(limited(RouteLimit::None, routes!(health::frames)))
        .routes(limited(RouteLimit::None, routes!(docs::list)))
        .routes(limited(RouteLimit::None, routes!(docs::explain)))
}

/// Sets the rate limit of routes that need no authentication, and names the limit in the OpenAPI document.
fn limited(
    limit: RouteLimit,
    (schemas, mut paths, routes): UtoipaMethodRouter<AuthState>,
) -> UtoipaMethodRouter<AuthState> {
    for operation in paths.paths.values_mut().flat_map(openapi::operations) {
        openapi::tell_limit(operation, limit);
    }
    (schemas, paths, limit.on(routes))
}

/// Sets the permission that the routes need, and names the permission in the OpenAPI document.
fn needs(
    needs: Needs,
    (schemas, mut paths, routes): UtoipaMethodRouter<AuthState>,
) -> UtoipaMethodRouter<AuthState> {
    for operation in paths.paths.values_mut().flat_map(openapi::operations) {
        openapi::add_requirements(operation, needs);
    }
    (schemas, paths, needs.on(routes))
}

/// Returns the complete HTTP service, including all checks that run before the routes.
pub(crate) fn service(
    auth: AuthState,
    names: Arc<ServerNames>,
    channels: Arc<Channels>,
    (crew, read_case): (Settings, Option<ReadCase>),
) -> Router {
    let (router, _) = router(utoipa::openapi::OpenApi::default()).split_for_parts();
    let native = router.clone().with_state(auth.clone());
    router
        .merge(pages::router())
        .merge(mcp::router(native))
        .merge(slack::router(channels))
        .merge(holdshort_edges::router(crew, read_case))
        .fallback(nothing)
        .method_not_allowed_fallback(|| async { Refused::from_code(Code::MethodNotAllowed) })
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn_with_state((names, auth.clone(), pages::REFUSED), guard::check_origin))
        .with_state(auth)
}

async fn nothing(uri: Uri, headers: HeaderMap) -> Response {
    if prefers_html(&headers) { pages::nothing(&uri) } else { Refused::not_found("address").into_response() }
}

/// Responds to a request whose handler panicked. The message of the panic is not sent to the client, because it may
/// contain confidential data. The server's panic hook has already logged the location of the panic.
fn panicked(_panic: Box<dyn std::any::Any + Send>) -> Response {
    tracing::error!("a handler panicked");
    Refused::from_code(Code::Internal).into_response()
}
