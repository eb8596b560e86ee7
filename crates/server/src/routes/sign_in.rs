//! Sign-in at the identity provider: the name of the provider, and the sign-in of terminals (RFC 8628). Browsers use
//! the pages in `pages/sign_in.rs` to sign in.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use holdshort_protocol::{
    DeviceHandle, DeviceLogin, DeviceProgress, LoginProvider, LogoutNotice, TokenLogin,
};
use holdshort_web::app::detached;
use holdshort_web::auth::AuthState;
use holdshort_web::body::Body;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::sign_in::{BEGIN, Progress, SIGN_OUT, SignedIn};
use holdshort_web::view;

use super::steer::nothing;
use crate::openapi::{EntersByProvider, NoticesLogout, OpenPages};

/// Read the name of the identity provider at which people sign in.
#[utoipa::path(
    get, path = "/v1/login/provider", tag = "logins", operation_id = "read_login_provider",
    responses((status = 200, description = "The provider", body = LoginProvider), OpenPages)
)]
pub(crate) async fn provider(State(auth): State<AuthState>) -> Answer<Json<LoginProvider>> {
    let name = auth
        .provider()
        .ok_or_else(|| Refused::not_found("provider: no identity provider is configured on this server"))?;
    Ok(Json(LoginProvider { name, sign_in: auth.address(BEGIN), sign_out: auth.address(SIGN_OUT) }))
}

/// Receive a logout notice of the identity provider.
///
/// Back-channel logout of OpenID Connect. Only the identity provider sends this request. Register this URL at the
/// provider as `backchannel_logout_uri`. The logout token names a session of the provider. All logins that were created
/// in this session end on every node. Open streams and sockets of these logins are closed. If the token names no
/// session, all logins of its subject end. If the notice is repeated, it has no effect.
#[utoipa::path(
    post, path = "/v1/login/backchannel", tag = "logins", operation_id = "sign_out_by_provider",
    request_body(content = LogoutNotice, content_type = "application/x-www-form-urlencoded"),
    responses((status = 200, description = "The logins are ended"), NoticesLogout)
)]
pub(crate) async fn back_channel(State(auth): State<AuthState>, body: Body) -> Answer<StatusCode> {
    let LogoutNotice { logout_token } = body.form().await?;
    auth.handle_logout_notice(&logout_token).await?;
    Ok(StatusCode::OK)
}

/// Begin the sign-in of a terminal.
///
/// The person opens the page of the provider in any browser, types the code and signs in. The terminal polls for the
/// result.
#[utoipa::path(
    post, path = "/v1/device-logins", tag = "logins", operation_id = "begin_device_login",
    responses((status = 201, description = "The started sign-in", body = DeviceLogin), EntersByProvider)
)]
pub(crate) async fn begin(
    State(auth): State<AuthState>,
    body: Body,
) -> Answer<(StatusCode, Json<DeviceLogin>)> {
    nothing(body).await?;
    let begun = auth.begin_device().await?;
    let device = begun.device;
    let told = DeviceLogin {
        device: begun.handle,
        user_code: device.user_code,
        page: device.page,
        page_with_code: device.page_with_code,
        interval_ms: u64::try_from(device.interval.as_millis()).unwrap_or(u64::MAX),
        expires_at: begun.expires_at.to_string(),
    };
    Ok((StatusCode::CREATED, Json(told)))
}

/// Poll the sign-in of a terminal.
///
/// The result can be read for a minute, so that a client that missed the response can send the request again.
#[utoipa::path(
    post, path = "/v1/device-logins/progress", tag = "logins", operation_id = "read_device_login",
    request_body = DeviceHandle,
    responses((status = 200, description = "The login, or the state of the sign-in", body = DeviceProgress), EntersByProvider)
)]
pub(crate) async fn progress(State(auth): State<AuthState>, body: Body) -> Answer<Json<DeviceProgress>> {
    let DeviceHandle { device } = body.json().await?;
    // The poll continues even if the client disconnects, because the provider issues its token only once. The client
    // can then repeat the request.
    Ok(Json(match detached(async move { auth.poll_device(&device).await }).await? {
        Progress::Pending { wait_ms, handle } => {
            DeviceProgress { wait_ms: Some(wait_ms), device: handle, login: None }
        }
        Progress::SignedIn(SignedIn { person, role, token }) => {
            let role = view::event::role(role);
            let expires_at = token.expires_at.to_string();
            let login = Some(TokenLogin { token: token.token, person, role, expires_at });
            DeviceProgress { wait_ms: None, device: None, login }
        }
    }))
}
