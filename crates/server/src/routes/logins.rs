//! Logins of browsers: create a login link, sign in, read who the caller is, sign out.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{AppendHeaders, IntoResponse, Response};
use holdshort_core::system::Input;
use holdshort_protocol::{Identity, Link, Login, LoginLinkRequest, Redeem};
use holdshort_web::app::{blocking, detached};
use holdshort_web::auth::{AuthState, Caller};
use holdshort_web::body::{Body, read_strict};
use holdshort_web::limits::LOGIN_CODE_MS;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::{access, logins, view};

use crate::openapi::{Enters, Invites, Leaves, Reads};

/// Create a login link, which signs in one browser.
///
/// The link works once, within 15 minutes. The code of the link follows the `#`. Therefore the browser does not send
/// the code when it opens the page. The page sends it afterwards, to sign in. If `person` is missing, the link signs in
/// the caller.
#[utoipa::path(
    post, path = "/v1/login-links", tag = "logins", operation_id = "make_login_link",
    request_body(content = Option<LoginLinkRequest>, description = "Optional"),
    responses((status = 201, description = "The link", body = Link), Invites)
)]
pub(crate) async fn invite(caller: Caller, body: Body) -> Answer<(StatusCode, Json<Link>)> {
    let Caller { app, actor, .. } = caller;
    let request: LoginLinkRequest =
        body.optional().await?.map(|value| read_strict(&value)).transpose()?.unwrap_or_default();
    let person = request.person.unwrap_or_else(|| actor.id.clone());
    let let_in_by = Some(actor.hand()).filter(|by| *by != person).map(str::to_owned);
    // The event is written before the code is created. Therefore the journal records every code.
    let (driver, input) = (app.driver.clone(), Input::MakeLoginLink { person: person.clone() });
    let system = detached(async move { driver.change_system(input, actor).await }).await?;
    let invited = logins::Invitation { let_in_by, ..logins::Invitation::for_login_link(&person, system.seq) };
    let (code, expires_at) = app.logins.invite_as(invited, app.now(), LOGIN_CODE_MS)?;
    let link = Link { url: app.login_url(&code), expires_at: expires_at.to_string() };
    Ok((StatusCode::CREATED, Json(link)))
}

/// Sign in with the code of a login link.
///
/// The response sets a cookie that scripts cannot read, and contains a secret. The cookie and the secret together form
/// a login, which is valid for 30 days. For each request, send the secret as `X-Holdshort-Secret`; the browser adds the
/// cookie.
#[utoipa::path(
    post, path = "/v1/login", tag = "logins", operation_id = "sign_in",
    request_body = Redeem,
    responses(
        (status = 200, description = "The login", body = Login,
         headers(("Set-Cookie" = String, description = "`holdshort_PORT`, HttpOnly, SameSite=Strict; if the public URL is https, `__Host-holdshort_PORT` and Secure"))),
        Enters
    )
)]
pub(crate) async fn enter(State(auth): State<AuthState>, headers: HeaderMap, body: Body) -> Answer<Response> {
    let Redeem { code } = body.json().await?;
    let (logins::Issued { person, cookie, secret, expires_at, to }, role) =
        auth.redeem(&headers, code).await?;
    let role = view::event::role(role);
    let login = Login { secret, person, role, expires_at: expires_at.to_string(), to };
    Ok((AppendHeaders([(SET_COOKIE, cookie)]), Json(login)).into_response())
}

/// Read who the caller is.
#[utoipa::path(
    get, path = "/v1/login", tag = "logins", operation_id = "read_login",
    responses((status = 200, description = "Who asks", body = Identity), Reads)
)]
pub(crate) async fn read(caller: Caller) -> Json<Identity> {
    let role = view::event::role(caller.actor.role);
    let roles = caller.principal.roles.iter().map(|role| view::event::role(*role)).collect();
    let expires_at = caller.expires_at().map(|at| at.to_string());
    let groups = caller.principal.groups.iter().cloned().collect();
    let name = caller.principal.name.clone();
    Json(Identity { person: caller.actor.id, name, role, roles, groups, expires_at })
}

/// Sign out.
///
/// Ends only the browser or terminal login that authenticates this request. Other credentials, such as keys, cannot be
/// signed out.
#[utoipa::path(
    delete, path = "/v1/login", tag = "logins", operation_id = "sign_out",
    responses((status = 204, description = "Signed out, and the cookie is cleared"), Leaves)
)]
pub(crate) async fn leave(caller: Caller) -> Answer<Response> {
    let login = caller.login().cloned().ok_or_else(|| {
        Refused::not_found(
            "login: the request was sent with a token, and only a browser login can be signed out",
        )
    })?;
    let app = caller.app;
    let forget = app.logins.forget();
    blocking(move || app.logins.end(&login)).await?;
    Ok((StatusCode::NO_CONTENT, AppendHeaders([(SET_COOKIE, forget)])).into_response())
}

/// Sign out everywhere.
///
/// Ends all your browser and terminal logins on every node, and closes their open streams and sockets. Login links for
/// you that were not used become invalid. Tokens of a token issuer, keys and decision links stay valid.
#[utoipa::path(
    delete, path = "/v1/logins", tag = "logins", operation_id = "sign_out_everywhere",
    responses((status = 204, description = "Signed out, and the cookie is cleared"), Leaves)
)]
pub(crate) async fn leave_everywhere(caller: Caller) -> Answer<Response> {
    let forget = caller.app.logins.forget();
    let person = caller.actor.id.clone();
    end_all(caller, person).await?;
    Ok((StatusCode::NO_CONTENT, AppendHeaders([(SET_COOKIE, forget)])).into_response())
}

/// Sign out another person everywhere.
///
/// Use this request if a browser or terminal of a person was lost or stolen. The person keeps their roles and can
/// sign in again.
#[utoipa::path(
    delete, path = "/v1/people/{person}/logins", tag = "people", operation_id = "sign_person_out",
    params(("person" = String, Path, example = "anna")),
    responses((status = 204, description = "Signed out"), Leaves)
)]
pub(crate) async fn sign_out(caller: Caller, Path(person): Path<String>) -> Answer<StatusCode> {
    end_all(caller, person).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ends all logins of a person. Waits until this server has published the change to its open streams and sockets.
async fn end_all(caller: Caller, person: String) -> Answer<()> {
    let Caller { app, actor, .. } = caller;
    let driver = app.driver.clone();
    let change = async move { driver.change_system(Input::SignOut { person }, actor).await };
    let system = detached(change).await?;
    access::wait_until_published(&app, system.seq).await;
    Ok(())
}
