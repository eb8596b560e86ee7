//! The actions of a person who decides: with the link in a mail, or signed in with the cookie of a browser.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use reqwest::{Method, Url};
use serde_json::{Value, json};

use crate::mailbox::{Mailbox, PASSWORD, tls};
use crate::server::{Setup, TestServer};

/// Returns the content of a channels file with one mail channel. `more` contains further keys of this channel.
pub fn channel(mailbox: &Mailbox, more: &str) -> String {
    let server = mailbox.server();
    format!(
        "channels:\n  mail: {{type: email, server: \"{server}\", from: Holdshort <holdshort@example.org>, \
         allow: [127.0.0.0/8, \"::1/128\"]{more}}}\n"
    )
}

/// Returns the configuration of a server that sends a mail when an interrupt is opened.
pub fn mailed(mailbox: &Mailbox, more: &str) -> Setup {
    TestServer::setup()
        .channels(&channel(mailbox, more))
        .env("SSL_CERT_FILE", &tls("authority.pem"))
        .env("MAIL_PASSWORD", PASSWORD)
}

/// Returns the text at a JSON pointer in a parsed mail. Panics if the mail has no text there.
pub fn text<'v>(mail: &'v Value, pointer: &str) -> &'v str {
    mail.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("no {pointer}: {mail:#}"))
}

/// Returns the path of the decision page that is linked in a mail.
pub fn link(server: &TestServer, mail: &Value) -> String {
    let text = text(mail, "/text");
    let line = text.lines().find(|line| line.contains("/d/")).unwrap_or_else(|| panic!("no link: {text}"));
    line.strip_prefix(server.base()).expect("a link to us").to_owned()
}

/// Opens a page of the server, or sends `form` to it if a form is given. Returns the status and the HTML of the
/// response.
pub async fn page(server: &TestServer, path: &str, form: Option<&[(&str, &str)]>) -> (u16, String) {
    let http = holdshort_http::plain().no_proxy().build().unwrap();
    let url = format!("{}{path}", server.base());
    let request = match form {
        None => http.get(url),
        Some(fields) => {
            let encoded = Url::parse_with_params("http://x", fields).unwrap();
            http.post(url)
                .header("content-type", "application/x-www-form-urlencoded")
                .body(encoded.query().unwrap_or_default().to_owned())
        }
    };
    let answer = request.header("accept", "text/html").send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

/// Returns the four-digit number that a decision page shows. To decide, a person must type this number.
pub fn number(page: &str) -> &str {
    page.split("Type this number to decide: <strong>")
        .nth(1)
        .unwrap_or_else(|| panic!("{page}"))
        .get(..4)
        .unwrap()
}

/// A browser in which a person is signed in.
pub struct Login {
    cookie: String,
    secret: String,
}

/// Signs a person in by means of a login link.
pub async fn sign_in(server: &TestServer, who: &str) -> Login {
    let link = server.post("/v1/login-links", &json!({"person": who})).await.ok();
    let code = link["url"].as_str().unwrap().split_once('#').unwrap().1.to_owned();
    let http = holdshort_http::plain().no_proxy().build().unwrap();
    let entering = http.post(format!("{}/v1/login", server.base())).json(&json!({"code": code}));
    let answer = entering.send().await.unwrap();
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let login: Value = answer.json().await.unwrap();
    Login { cookie, secret: login["secret"].as_str().unwrap().to_owned() }
}

/// Sends a request to the server as a person who is signed in.
pub async fn as_person(
    server: &TestServer,
    login: &Login,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> (u16, Value) {
    let http = holdshort_http::plain().no_proxy().build().unwrap();
    let request = http
        .request(method, format!("{}{path}", server.base()))
        .header("cookie", &login.cookie)
        .header("x-holdshort-secret", &login.secret)
        .header("origin", server.base());
    let request = match &body {
        Some(body) => request.json(body),
        None => request,
    };
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}
