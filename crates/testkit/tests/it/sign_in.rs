//! Sign-in with a certified provider, over the real binary: browsers with a code, terminals with the device flow, and
//! attempts to use a response that belongs to a different browser.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use futures::{SinkExt, StreamExt};
use holdshort_testkit::provider::{Page, Provider, Visitor};
use holdshort_testkit::server::{Setup, TestServer, eventually};
use reqwest::Method;
use serde_json::{Value, json};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

fn people() -> Value {
    json!({
        "ada": {"name": "Ada Berg", "roles": ["deciders"], "groups": ["ops"]},
        "ben": {"roles": ["visitors"]},
        "robot": {"roles": ["robots"]},
        "operator": {"roles": ["deciders"]},
    })
}

/// Starts a server whose people sign in through this provider.
async fn believing(provider: &Provider) -> TestServer {
    started(TestServer::setup(), provider).await
}

/// Starts a server with this setup, to which people sign in through this provider.
pub(crate) async fn started(setup: Setup, provider: &Provider) -> TestServer {
    let mut server = setup.env("HOLDSHORT_OIDC_SECRET", "a secret of this test").stopped();
    let config = format!(
        r#"
        # Tests ask the provider until it answers.
        sign_in_rate = 10000

        [identity.oidc]
        issuer = "{}"
        name = "Example"
        client_id = "holdshort"
        session_s = 3600
        roles = {{ deciders = "operator", robots = "agent", owners = "admin" }}
        "#,
        provider.issuer()
    );
    let path = server.data().join("holdshort.toml");
    std::fs::write(&path, config).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("changed");
    server.start().await;
    server
}

/// Credentials of a browser that is signed in: the session cookie and the secret.
struct Login {
    cookie: String,
    secret: String,
    answer: Value,
}

/// Begins a sign-in at the server. Returns the address of the provider's sign-in page.
async fn begin_sign_in(server: &TestServer, visitor: &mut Visitor) -> String {
    let page = visitor.get(&format!("{}/login/oidc?to=/inbox/int_1", server.base())).await;
    assert_eq!(page.status, 303, "{}", page.text);
    let [cookie] = &page.set[..] else { panic!("one cookie: {:?}", page.set) };
    assert!(cookie.contains("HttpOnly; SameSite=Lax; Path=/; Max-Age=600"), "{cookie}");
    page.location.expect("an address").into()
}

async fn sign_in_at_provider(server: &TestServer, visitor: &mut Visitor, address: &str) -> String {
    let callback = format!("{}/login/oidc/callback", server.base());
    match visitor.signs_in(address, &callback).await {
        Ok(back) => back,
        Err(Page { url, status, text, .. }) => panic!("{status} at {url}: {text}"),
    }
}

/// Redeems the code of a sign-in as the page of the app does, with the browser's cookies.
async fn redeem(server: &TestServer, visitor: &Visitor, code: &str) -> reqwest::Response {
    let request = server.request(Method::POST, "/v1/login").json(&json!({"code": code}));
    request.header("cookie", visitor.cookie_line()).send().await.expect("an answer")
}

/// Follows the provider's redirect back to the server, and redeems its code.
async fn redeemed(server: &TestServer, visitor: &mut Visitor, back: &str) -> Login {
    let page = visitor.get(back).await;
    assert_eq!(page.status, 303, "{}", page.text);
    let to = page.location.expect("an address");
    let code = to.as_str().strip_prefix(&format!("{}/login#", server.base())).expect("a login").to_owned();
    let answer = redeem(server, visitor, &code).await;
    assert_eq!(answer.status().as_u16(), 200);
    let cookie = answer.headers()["set-cookie"].to_str().expect("text").split(';').next().unwrap_or_default();
    let cookie = cookie.to_owned();
    let answer: Value = answer.json().await.expect("JSON");
    Login { cookie, secret: answer["secret"].as_str().expect("a secret").to_owned(), answer }
}

async fn signed_in(server: &TestServer, visitor: &mut Visitor) -> Login {
    let address = begin_sign_in(server, visitor).await;
    let back = sign_in_at_provider(server, visitor, &address).await;
    redeemed(server, visitor, &back).await
}

async fn ask(server: &TestServer, login: &Login, method: Method, path: &str) -> (u16, Value) {
    let client = holdshort_http::plain().no_proxy().build().expect("a client");
    let request = client.request(method, format!("{}{path}", server.base()));
    let request = request.header("cookie", &login.cookie).header("x-holdshort-secret", &login.secret);
    let answer = request.send().await.expect("an answer");
    (answer.status().as_u16(), answer.json().await.unwrap_or_default())
}

/// Opens the stream of all events as a signed-in browser does.
async fn followed(server: &TestServer, login: &Login) -> reqwest::Response {
    let client = holdshort_http::plain().no_proxy().build().expect("a client");
    let request = client.request(Method::GET, format!("{}/v1/events", server.base()));
    let request = request.header("cookie", &login.cookie).header("x-holdshort-secret", &login.secret);
    let mut stream = request.header("accept", "text/event-stream").send().await.expect("a stream");
    assert_eq!(stream.status().as_u16(), 200);
    stream.chunk().await.expect("a stream").expect("where it starts");
    stream
}

/// Returns 200 if the server knows the person, or 404 if not.
async fn person_status(server: &TestServer, id: &str) -> u16 {
    server.get(&format!("/v1/people/{id}")).await.status
}

/// Opens a page of the server that must refuse the sign-in. Returns the status, code and text of the page.
async fn refused(visitor: &mut Visitor, url: &str) -> (u16, String) {
    let page = visitor.get(url).await;
    assert_eq!(page.location, None, "{url}");
    let text = page.text.replace("&#x2f;", "/").replace("<code>", "`").replace("</code>", "`");
    let code = text.split("/docs/errors/").nth(1).and_then(|rest| rest.split('"').next());
    let said = text.split("<p>").nth(1).and_then(|rest| rest.split("</p>").next());
    (page.status, format!("{}: {}", code.unwrap_or("-"), said.unwrap_or("-")))
}

/// Returns the URL with a different value for one parameter, or without that parameter.
fn with(url: &str, name: &str, value: Option<&str>) -> String {
    let mut url: reqwest::Url = url.parse().expect("a URL");
    let pairs: Vec<(String, String)> = url.query_pairs().into_owned().filter(|(it, _)| it != name).collect();
    url.query_pairs_mut().clear().extend_pairs(pairs);
    if let Some(value) = value {
        url.query_pairs_mut().append_pair(name, value);
    }
    url.into()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_signs_in_decides_and_signs_out_everywhere() {
    let provider = Provider::start(&people());
    let server = believing(&provider).await;
    let about = server.get("/v1/login/provider").await.ok();
    assert_eq!(about["name"], "Example");
    assert_eq!(about["sign_in"], format!("{}/login/oidc", server.base()));
    let mut visitor = Visitor::new("ada");
    let login = signed_in(&server, &mut visitor).await;
    assert_eq!(login.answer["to"], "/inbox/int_1");
    let (status, who) = ask(&server, &login, Method::GET, "/v1/login").await;
    assert_eq!(
        (status, json!([who["person"], who["roles"], who["groups"], who["name"]])),
        (200, json!(["ada", ["operator"], ["ops"], "Ada Berg"]))
    );
    assert_eq!(person_status(&server, "ada").await, 200, "they are among the people");

    // A second browser signs in. The first browser has an open socket and an open stream.
    let other = signed_in(&server, &mut Visitor::new("ada")).await;
    let of_ben = ask(&server, &login, Method::DELETE, "/v1/people/ben/logins").await;
    assert_eq!((of_ben.0, &of_ben.1["code"]), (403, &json!("forbidden_role")), "of others an admin says it");
    let url = server.base().replacen("http", "ws", 1) + "/v1/ws";
    let mut request = tokio_tungstenite::tungstenite::client::IntoClientRequest::into_client_request(&*url)
        .expect("a request");
    request.headers_mut().insert("cookie", login.cookie.parse().expect("a header"));
    let (mut socket, _) = connect_async(request).await.expect("a socket");
    let hello = json!({"type": "hello", "secret": login.secret});
    socket.send(Message::text(hello.to_string())).await.expect("it is open");
    let first = socket.next().await.expect("a frame").expect("a frame");
    assert!(first.to_text().is_ok_and(|text| text.contains("\"welcome\"")), "{first:?}");
    let mut stream = followed(&server, &login).await;
    assert_eq!(ask(&server, &other, Method::DELETE, "/v1/logins").await.0, 204);
    let mut last = String::new();
    while let Some(Ok(frame)) = socket.next().await {
        match frame {
            Message::Text(text) => last = text.to_string(),
            Message::Close(close) => assert_eq!(close.map(|it| u16::from(it.code)), Some(4401)),
            _ => {}
        }
    }
    assert!(last.contains("access_ended"), "{last}");
    let mut told = String::new();
    while let Ok(Some(chunk)) = stream.chunk().await {
        told.push_str(&String::from_utf8_lossy(&chunk));
    }
    assert!(told.contains("event: problem") && told.contains("access_ended"), "{told}");
    for login in [&login, &other] {
        assert_eq!(ask(&server, login, Method::GET, "/v1/login").await.0, 401);
    }
    let again = signed_in(&server, &mut Visitor::new("ada")).await;
    assert_eq!(ask(&server, &again, Method::GET, "/v1/login").await.0, 200);

    // Signing out also ends the session at the provider.
    let out = visitor.get(&format!("{}/login/oidc/out", server.base())).await;
    let place = out.location.expect("an address").to_string();
    assert!(place.starts_with(&format!("{}/session/end", provider.issuer())), "{place}");
    let back = visitor.signs_in(&place, &format!("{}/login", server.base())).await;
    assert!(back.is_ok(), "{back:?}");
    let text = std::fs::read_to_string(server.data().join("logins.json")).expect("a file");
    assert!(!text.contains(&again.secret) && !server.stderr().contains("a secret of this test"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_is_of_the_browser_that_began_and_counts_once() {
    let provider = Provider::start(&people());
    let server = believing(&provider).await;
    let mut visitor = Visitor::new("ada");
    let failed = |why: &str| (403, format!("sign_in_failed: {why}"));
    let ended = failed("this browser has not started a sign-in, or the sign-in has already ended");

    // A replayed response is refused in the same browser, and in a copy of the browser that kept its cookie.
    let address = begin_sign_in(&server, &mut visitor).await;
    let back = sign_in_at_provider(&server, &mut visitor, &address).await;
    let mut keeping = visitor.clone();
    drop(redeemed(&server, &mut visitor, &back).await);
    assert_eq!(refused(&mut visitor, &back).await, failed("the sign-in has already ended"));
    assert_eq!(refused(&mut keeping, &back).await, failed("the sign-in has already ended"));

    // The response is refused in a different browser, even if that browser has begun its own sign-in.
    let address = begin_sign_in(&server, &mut visitor).await;
    let back = sign_in_at_provider(&server, &mut visitor, &address).await;
    let mut other = Visitor::new("ada");
    assert_eq!(refused(&mut other, &back).await, ended);
    begin_sign_in(&server, &mut other).await;
    let of_another = failed("the response belongs to another sign-in (its `state` does not match)");
    assert_eq!(refused(&mut other, &back).await, of_another);
    // The code in the first browser's address works only in the first browser, and only once.
    let to = visitor.get(&back).await.location.expect("an address");
    let code = to.fragment().expect("a code").to_owned();
    assert_eq!(redeem(&server, &other, &code).await.status().as_u16(), 403);
    assert_eq!(redeem(&server, &visitor, &code).await.status().as_u16(), 403);
    let address = begin_sign_in(&server, &mut visitor).await;
    let back = sign_in_at_provider(&server, &mut visitor, &address).await;
    // A cookie that this server has not sealed is refused.
    let mut forged = visitor.clone();
    for value in forged.cookies.values_mut() {
        value.insert(4, 'A');
    }
    assert_eq!(refused(&mut forged, &back).await, ended);

    // Two tabs of one browser may return from the provider in any order. A response with an unknown `state`, or without
    // `state`, ends neither sign-in.
    let mut tabs = Visitor::new("ada");
    let (first, second) = (begin_sign_in(&server, &mut tabs).await, begin_sign_in(&server, &mut tabs).await);
    let (first, second) = (
        sign_in_at_provider(&server, &mut tabs, &first).await,
        sign_in_at_provider(&server, &mut tabs, &second).await,
    );
    for state in [Some("another"), None] {
        assert_eq!(refused(&mut tabs, &with(&second, "state", state)).await, of_another, "{state:?}");
    }
    drop(redeemed(&server, &mut tabs, &second).await);
    drop(redeemed(&server, &mut tabs, &first).await);

    // A faulty response ends its sign-in.
    let table: [(&str, Option<&str>, (u16, String)); 4] = [
        (
            "iss",
            Some("https://evil.example"),
            failed("the issuer in the response is not the configured provider"),
        ),
        ("iss", None, failed("the issuer in the response is not the configured provider")),
        ("code", None, failed("the response has no `code`")),
        (
            "code",
            Some("guessed"),
            failed("the provider reported the error `invalid_grant: grant request is invalid`"),
        ),
    ];
    for (name, value, expected) in table {
        let mut visitor = Visitor::new("ada");
        let address = begin_sign_in(&server, &mut visitor).await;
        let back = sign_in_at_provider(&server, &mut visitor, &address).await;
        let answer = refused(&mut visitor, &with(&back, name, value)).await;
        assert_eq!(answer, expected, "{name} {value:?}");
        assert_eq!(refused(&mut visitor, &back).await, ended, "{name} {value:?}");
    }

    // The request at the provider was modified, so its response does not match the sign-in that was begun here.
    for (name, value, why) in [
        ("nonce", "another", "the token belongs to another sign-in (`nonce`)"),
        (
            "code_challenge",
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
            "the provider reported the error `invalid_grant: grant request is invalid`",
        ),
    ] {
        let address = begin_sign_in(&server, &mut visitor).await;
        let back = sign_in_at_provider(&server, &mut visitor, &with(&address, name, Some(value))).await;
        assert_eq!(refused(&mut visitor, &back).await, failed(why), "{name}");
    }

    // The person refused the sign-in at the provider.
    let address = begin_sign_in(&server, &mut visitor).await;
    let state = address.split("state=").nth(1).and_then(|rest| rest.split('&').next()).expect("a state");
    let iss: String = reqwest::Url::parse_with_params("http://x", [("iss", provider.issuer())])
        .expect("a URL")
        .query()
        .unwrap_or_default()
        .to_owned();
    let no = format!("{}/login/oidc/callback?state={state}&{iss}&error=access_denied<b>", server.base());
    assert_eq!(
        refused(&mut visitor, &no).await,
        failed("the identity provider reported the error `access_denied&lt;b&gt;`")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_do_nothing_here_does_not_get_in() {
    let provider = Provider::start(&people());
    let server = believing(&provider).await;
    for (person, code) in
        [("ben", "forbidden_role"), ("robot", "forbidden_role"), ("operator", "forbidden_role")]
    {
        let mut visitor = Visitor::new(person);
        let address = begin_sign_in(&server, &mut visitor).await;
        let back = sign_in_at_provider(&server, &mut visitor, &address).await;
        let (status, said) = refused(&mut visitor, &back).await;
        assert_eq!((status, said.split(':').next()), (403, Some(code)), "{person}: {said}");
    }
    // A person is removed while they are at the provider. The person's logins end, and the provider's response is
    // refused.
    let mut visitor = Visitor::new("ada");
    let first = signed_in(&server, &mut visitor).await;
    let address = begin_sign_in(&server, &mut visitor).await;
    let back = sign_in_at_provider(&server, &mut visitor, &address).await;
    let removed = server.send(server.request(Method::DELETE, "/v1/people/ada")).await;
    assert_eq!(removed.status, 200);
    assert_eq!(ask(&server, &first, Method::GET, "/v1/login").await.0, 401);
    let (status, said) = refused(&mut visitor, &back).await;
    assert_eq!((status, said.split(':').next()), (401, Some("unauthenticated")), "{said}");

    // If the provider no longer gives a person any role, the person's next sign-in signs them out.
    provider.says("ben", &json!({"roles": ["deciders"]})).await;
    let mut ben = Visitor::new("ben");
    let login = signed_in(&server, &mut ben).await;
    provider.says("ben", &json!({"roles": []})).await;
    let address = begin_sign_in(&server, &mut ben).await;
    let back = sign_in_at_provider(&server, &mut ben, &address).await;
    assert_eq!(refused(&mut ben, &back).await.0, 403);
    assert_eq!(ask(&server, &login, Method::GET, "/v1/login").await.0, 401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_is_away_lets_nobody_in_and_stops_nothing_else() {
    let mut provider = Provider::start(&people());
    provider.stop();
    let server = believing(&provider).await;
    let mut visitor = Visitor::new("ada");
    let (status, said) = refused(&mut visitor, &format!("{}/login/oidc", server.base())).await;
    assert_eq!((status, said.split(':').next()), (503, Some("identity_unavailable")), "{said}");
    let asked = server.send(server.request(Method::POST, "/v1/device-logins")).await;
    assert_eq!(asked.refusal(), (503, "identity_unavailable"));
    server.get("/v1/info").await.ok();
    provider.again(&people());
    eventually("the provider is asked again", || {
        let (mut asking, url) = (Visitor::new("ada"), format!("{}/login/oidc", server.base()));
        async move { (asking.get(&url).await.status == 303).then_some(()) }
    })
    .await;
    // The provider becomes unavailable while the person signs in there.
    let address = begin_sign_in(&server, &mut visitor).await;
    let back = sign_in_at_provider(&server, &mut visitor, &address).await;
    provider.stop();
    let (status, said) = refused(&mut visitor, &back).await;
    assert_eq!((status, said.split(':').next()), (503, Some("identity_unavailable")), "{said}");
}

/// Returns a terminal command as a person on a different machine would run it, with a separate data folder.
fn terminal(server: &TestServer, folder: &std::path::Path) -> Command {
    let mut command = server.client_command();
    command.env("HOLDSHORT_DATA", folder).env("HOLDSHORT_SERVER", server.base());
    command
}

fn run(server: &TestServer, folder: &std::path::Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = terminal(server, folder).args(arguments).output().expect("it runs");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).expect("text"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminal_signs_in_by_the_device_flow() {
    let provider = Provider::start(&people());
    let server = believing(&provider).await;
    let own = tempfile::tempdir().expect("a folder");
    let folder = own.path().join("data");
    let (status, said) = run(&server, &folder, &["inbox"]);
    assert_ne!(status, Some(0), "{said}");
    assert!(said.contains("login --server"), "{said}");

    let mut login = terminal(&server, &folder)
        .arg("login")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut stdout = BufReader::new(login.stdout.take().expect("a pipe"));
    let mut page = String::new();
    stdout.read_line(&mut page).expect("a line");
    assert!(page.starts_with(provider.issuer()), "{page}");
    let mut visitor = Visitor::new("ada");
    let end = visitor.signs_in(page.trim(), server.base()).await.expect_err("a page of the provider");
    assert_eq!(end.status, 200, "{}", end.text);
    let status = login.wait().expect("it ends");
    let mut said = String::new();
    login.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
    assert!(status.success() && said.contains("Signed in as ada"), "{said}");

    let kept = folder.join("servers.json");
    let mode = std::fs::metadata(&kept).expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    let (status, said) = run(&server, &folder, &["inbox"]);
    assert_eq!(status, Some(0), "{said}");
    let (status, said) = run(&server, &folder, &["--json", "sessions"]);
    assert_eq!(status, Some(0), "{said}");
    // The token is accepted as a bearer token, but not as the secret of a browser.
    let text: Value = serde_json::from_str(&std::fs::read_to_string(&kept).expect("text")).expect("JSON");
    let token = text[server.base()]["token"].as_str().expect("a token").to_owned();
    let of_browser = Login { cookie: String::new(), secret: token, answer: Value::Null };
    assert_eq!(ask(&server, &of_browser, Method::GET, "/v1/login").await.0, 401);

    let (status, said) = run(&server, &folder, &["logout"]);
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(std::fs::read_to_string(&kept).expect("text").trim(), "{}");
    let bearer = holdshort_http::plain().no_proxy().build().expect("a client");
    let asked = bearer.get(format!("{}/v1/login", server.base())).bearer_auth(&of_browser.secret);
    assert_eq!(asked.send().await.expect("an answer").status().as_u16(), 401, "it has ended at the server");
    assert_ne!(run(&server, &folder, &["inbox"]).0, Some(0));
}

/// If a handle was not issued by this server, the request for the progress of its sign-in is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_asks_about_a_sign_in_that_was_not_begun_here() {
    let provider = Provider::start(&people());
    let server = believing(&provider).await;
    let about = async |device: &str| {
        let answer = server.post("/v1/device-logins/progress", &json!({"device": device})).await;
        let (status, code) = answer.refusal();
        (status, code.to_owned())
    };
    let begun = server.send(server.request(Method::POST, "/v1/device-logins")).await.ok();
    let device = begun["device"].as_str().expect("a handle");
    let altered = format!("A{device}");
    for wrong in ["", "guessed", &altered] {
        assert_eq!(about(wrong).await, (403, "sign_in_failed".to_owned()), "{wrong}");
    }
    let waits = server.post("/v1/device-logins/progress", &json!({"device": device})).await.ok();
    assert!(waits["wait_ms"].as_u64().is_some_and(|ms| ms > 0) && waits.get("login").is_none(), "{waits}");
    let plain = TestServer::setup().start().await;
    assert_eq!(plain.get("/v1/login/provider").await.refusal(), (404, "not_found"));
    let asked = plain.send(plain.request(Method::POST, "/v1/device-logins")).await;
    assert_eq!(asked.refusal(), (404, "not_found"));
}

/// A terminal that did not receive the response to its sign-in can ask again, although the provider issues the token
/// only once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminal_that_missed_the_answer_asks_again() {
    let provider = Provider::start(&people());
    let server = believing(&provider).await;
    let begun = server.send(server.request(Method::POST, "/v1/device-logins")).await.ok();
    let page = begun["page_with_code"].as_str().expect("a page");
    let end = Visitor::new("ada").signs_in(page, server.base()).await.expect_err("a page of the provider");
    assert_eq!(end.status, 200, "{}", end.text);
    let ask =
        async || server.post("/v1/device-logins/progress", &json!({"device": begun["device"]})).await.ok();
    let login = ask().await["login"].clone();
    assert_eq!(login["person"], "ada", "{login}");
    assert_eq!(ask().await["login"], login);
}

/// If a person signs out at the provider, the logins that began in the same provider session end here, together with
/// their open connections.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_signs_out_at_the_provider_is_signed_out_here() {
    let provider = Provider::start(&people());
    let server = believing(&provider).await;
    provider.notifies(&[server.base()]).await;
    let mut visitor = Visitor::new("ada");
    let login = signed_in(&server, &mut visitor).await;
    // A login that began in a different provider session stays valid.
    let other = signed_in(&server, &mut Visitor::new("ada")).await;
    let url = server.base().replacen("http", "ws", 1) + "/v1/ws";
    let mut request = tokio_tungstenite::tungstenite::client::IntoClientRequest::into_client_request(&*url)
        .expect("a request");
    request.headers_mut().insert("cookie", login.cookie.parse().expect("a header"));
    let (mut socket, _) = connect_async(request).await.expect("a socket");
    let hello = json!({"type": "hello", "secret": login.secret});
    socket.send(Message::text(hello.to_string())).await.expect("it is open");
    let first = socket.next().await.expect("a frame").expect("a frame");
    assert!(first.to_text().is_ok_and(|text| text.contains("\"welcome\"")), "{first:?}");

    let out = visitor.get(&format!("{}/login/oidc/out", server.base())).await.location.expect("an address");
    let end = format!("{}/login", server.base());
    assert_eq!(visitor.signs_in(out.as_str(), &end).await.map_err(|page| page.text), Ok(end));
    assert_eq!(ask(&server, &login, Method::GET, "/v1/login").await.0, 401);
    assert_eq!(ask(&server, &other, Method::GET, "/v1/login").await.0, 200);
    let mut last = String::new();
    while let Some(Ok(frame)) = socket.next().await {
        match frame {
            Message::Text(text) => last = text.to_string(),
            Message::Close(close) => assert_eq!(close.map(|it| u16::from(it.code)), Some(4401)),
            _ => {}
        }
    }
    assert!(last.contains("access_ended"), "{last}");

    // A repeated logout notice changes nothing. An invalid notice is refused.
    let [notice] = &provider.notices().await[..] else { panic!("one notice") };
    let notify = async |token: &str| {
        let request = server.request(Method::POST, "/v1/login/backchannel");
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let answer = request.body(format!("logout_token={token}")).send().await.expect("an answer");
        (answer.status().as_u16(), answer.text().await.expect("text"))
    };
    assert_eq!(notify(notice).await.0, 200);
    let altered = format!("{notice}x");
    for token in ["", "x", "e30.e30.e30", &altered] {
        let (status, text) = notify(token).await;
        assert!(status == 400 && text.contains("logout_token_refused"), "{token}: {status} {text}");
    }
    let events = server.get("/v1/audit/events?type=signed_out_by_provider").await.ok();
    assert_eq!(events["items"].as_array().expect("a list").len(), 1, "{events}");
    // Search for whole words only, because a digest may contain these letters.
    let text = events.to_string();
    assert!(text.split(|c: char| !c.is_alphanumeric()).all(|word| word != "ada"), "{text}");
    let again = signed_in(&server, &mut Visitor::new("ada")).await;
    assert_eq!(ask(&server, &again, Method::GET, "/v1/login").await.0, 200);
}
