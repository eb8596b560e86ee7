//! Sends a browser to the identity provider and receives it back. Afterwards, either the app signs the person in with a
//! code, or the browser opens a decision page.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header::{CACHE_CONTROL, LOCATION, REFERRER_POLICY, SET_COOKIE};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{AppendHeaders, IntoResponse, Response};
use holdshort_core::id::InterruptId;
use holdshort_web::auth::AuthState;
use holdshort_web::problem::Refused;
use holdshort_web::query::Id;
use holdshort_web::sign_in::{BrowserRedirect, CallbackQuery, DECIDE};
use minijinja::context;
use serde::Deserialize;

use super::frame;

#[derive(Debug, Default, Deserialize)]
pub(super) struct Begin {
    to: Option<String>,
}

pub(super) async fn begin(
    State(auth): State<AuthState>,
    headers: HeaderMap,
    query: Result<Query<Begin>, QueryRejection>,
) -> Response {
    let to = query.ok().and_then(|Query(begin)| begin.to);
    go(&auth, &headers, to.as_deref()).await
}

/// Opens a decision link that a notification sent to several people, and redirects the browser. If an identity provider
/// is configured, the browser goes to the provider and, after the sign-in, to the decision page without scripts. Before
/// the sign-in, the reader sees no content and cannot decide. Without an identity provider, the browser goes to the
/// inbox of the app, where people sign in.
pub(super) async fn decide(
    State(auth): State<AuthState>,
    headers: HeaderMap,
    Id(id): Id<InterruptId>,
) -> Response {
    if auth.provider().is_none() {
        return see(&auth.inbox(&id)).into_response();
    }
    go(&auth, &headers, Some(&format!("{DECIDE}{id}"))).await
}

async fn go(auth: &AuthState, headers: &HeaderMap, to: Option<&str>) -> Response {
    match auth.begin_sign_in(headers, to).await {
        Ok(BrowserRedirect { to, cookies }) => (set(cookies), see(&to)).into_response(),
        Err(refused) => failed(&refused),
    }
}

/// Completes a sign-in at the identity provider. The browser keeps the cookie of this sign-in until the code is used or
/// the sign-in fails. A repeated response of the provider has no effect.
pub(super) async fn finish(
    State(auth): State<AuthState>,
    headers: HeaderMap,
    query: Result<Query<CallbackQuery>, QueryRejection>,
) -> Response {
    let back = query.map(|Query(back)| back).unwrap_or_default();
    let state = back.state.clone();
    match auth.finish_sign_in(&headers, back).await {
        Ok(to) => see(&to).into_response(),
        Err(refused) => {
            (set(auth.forget_sign_in(&headers, state.as_deref())), failed(&refused)).into_response()
        }
    }
}

fn set(cookies: Vec<String>) -> AppendHeaders<Vec<(HeaderName, String)>> {
    AppendHeaders(cookies.into_iter().map(|cookie| (SET_COOKIE, cookie)).collect())
}

pub(super) async fn sign_out(State(auth): State<AuthState>) -> Response {
    auth.provider_sign_out_url().await.map_or_else(|refused| failed(&refused), |to| see(&to).into_response())
}

/// Returns a redirect for a browser. A header forbids the browser to send the current URL as the referrer, because this
/// URL contains a code.
fn see(to: &str) -> (StatusCode, [(HeaderName, String); 3]) {
    let headers = [
        (LOCATION, to.to_owned()),
        (CACHE_CONTROL, "no-store".to_owned()),
        (REFERRER_POLICY, "no-referrer".to_owned()),
    ];
    (StatusCode::SEE_OTHER, headers)
}

fn failed(refused: &Refused) -> Response {
    let problem = &refused.0;
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let values = context! { title => &problem.title, detail => &problem.detail, page => problem.code.page() };
    frame::page(status, &problem.title, "sign_in.html", values)
}
