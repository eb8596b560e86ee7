//! Sign-in of the web UI (contract A33). A person pastes the link that `holdshort login` prints into a form. This
//! server serves the form at an address of the web UI. The browser then receives a cookie that is valid for the web UI.
//! The routes of the sign-in exist only if the server was started with `--edge-origin`.

use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, LOCATION, REFERRER_POLICY, SET_COOKIE};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{AppendHeaders, Html, IntoResponse, Response};
use holdshort_web::auth::AuthState;
use holdshort_web::body::Body;
use holdshort_web::problem::{Answer, Refused};
use serde::Deserialize;

/// Path to which the browser goes after the sign-in at the MARS page.
const AFTER: &str = "/";
/// Marker in the HTML of the sign-in form. If the sign-in is rejected, the marker is replaced with the reason.
const REFUSED: &str = "<!-- refused -->";
const FORM: &str = r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sign in</title>
<h1>Sign in</h1>
<!-- refused -->
<p>Run <code>holdshort login</code>, and paste the link that it prints. The link works once.</p>
<form method="post">
<p><label>Link or code <input name="code" required autofocus autocomplete="off" size="60"></label></p>
<p><button>Sign in</button></p>
</form>
</html>
"#;

const POLICY: &str = "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Returns the HTTP headers of the sign-in form. With the server's default `Referrer-Policy: no-referrer`, a browser
/// would send the form with the origin `null`, and the server would reject it.
fn headers() -> [(HeaderName, &'static str); 3] {
    [(CACHE_CONTROL, "no-store"), (CONTENT_SECURITY_POLICY, POLICY), (REFERRER_POLICY, "same-origin")]
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    code: String,
}

/// `GET /api/holdshort/sign-in`: returns the form into which a person pastes a login link.
pub(super) async fn form(State(door): State<AuthState>) -> Answer<Response> {
    check_page(&door)?;
    Ok((headers(), Html(FORM)).into_response())
}

/// `POST /api/holdshort/sign-in`: exchanges the code of a login link for a cookie. If the code is rejected, the reason
/// is shown above the form.
pub(super) async fn enter(State(door): State<AuthState>, sent: HeaderMap, body: Body) -> Answer<Response> {
    check_page(&door)?;
    let Fields { code } = body.form().await?;
    match door.redeem_for_page(&sent, code_of(&code)).await {
        Ok(cookies) => {
            let cookies = AppendHeaders(cookies.map(|cookie| (SET_COOKIE, cookie)));
            Ok((StatusCode::SEE_OTHER, [(LOCATION, AFTER)], cookies).into_response())
        }
        Err(refused) => {
            let status = StatusCode::from_u16(refused.code().status()).unwrap_or(StatusCode::FORBIDDEN);
            Ok((status, headers(), Html(with_refusal(&refused))).into_response())
        }
    }
}

fn check_page(door: &AuthState) -> Answer<()> {
    door.page_sign_in()
        .map(drop)
        .ok_or_else(|| Refused::not_found("page: start the server with --edge-origin"))
}

/// Returns the login code in a text that a person pasted, such as a login link. In a login link, the code follows the
/// `#`.
fn code_of(text: &str) -> &str {
    let text = text.trim();
    text.rsplit_once('#').map_or(text, |(_, code)| code)
}

fn with_refusal(refused: &Refused) -> String {
    let title = refused.code().title();
    let why = refused.0.detail.trim_end_matches('.').replace('&', "&amp;").replace('<', "&lt;");
    FORM.replace(REFUSED, &format!("<p role=\"alert\">{title}: {why}.</p>"))
}

#[cfg(test)]
mod tests {
    use holdshort_protocol::Code;

    use super::*;

    #[test]
    fn a_code_is_what_follows_the_hash() {
        for (text, code) in
            [("http://127.0.0.1:7349/login#abc", "abc"), (" abc\r\n", "abc"), ("#abc", "abc"), ("", "")]
        {
            assert_eq!(code_of(text), code, "{text}");
        }
    }

    #[test]
    fn a_refusal_is_shown_as_text() {
        let shown = with_refusal(&Refused::new(Code::ForbiddenRole, "`<b>` & more"));
        assert!(shown.contains(" this request: `&lt;b>` &amp; more.</p>"), "{shown}");
    }
}
