//! `serve --edge-origin` (contract A33): the web UI uses the edge with a cookie. The cookie works only on this edge,
//! only from the page, and only as an operator. The requests are those that the page's own server forwards: with the
//! browser's headers, below the edge's prefix.

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{Setup, TestServer};
use reqwest::{Method, RequestBuilder, redirect};
use serde_json::{Value, json};

use super::copilot_reload::message;
use super::ui::form;
use super::{Mars, planned, reader};
use crate::play::{count, done, one};

const ORIGIN: &str = "http://localhost:3000";
const OTHER: &str = "http://localhost:4000";
const API: &str = "/edges/mars/api";
const SIGN_IN: &str = "/edges/mars/api/holdshort/sign-in";

/// Browser that shows the page.
struct Browser<'s> {
    server: &'s TestServer,
    http: reqwest::Client,
    /// Cookie of the page. The test sends the cookie as the browser would.
    cookie: Option<String>,
}

impl<'s> Browser<'s> {
    fn new(server: &'s TestServer) -> Self {
        let http = holdshort_http::plain().no_proxy().redirect(redirect::Policy::none()).build().unwrap();
        Self { server, http, cookie: None }
    }

    fn request(&self, method: Method, path: &str, headers: &[(&'static str, &str)]) -> RequestBuilder {
        let mut request = self.http.request(method, format!("{}{path}", self.server.base()));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        match &self.cookie {
            Some(cookie) => request.header("cookie", cookie),
            None => request,
        }
    }

    async fn status(&self, method: Method, path: &str, headers: &[(&'static str, &str)]) -> u16 {
        self.request(method, path, headers).send().await.unwrap().status().as_u16()
    }

    /// Sends the form of the sign-in. Returns the status, the text, and the `Set-Cookie` values.
    async fn enter(&self, code: &str, origin: &str) -> (u16, String, Vec<String>) {
        let request = self.request(Method::POST, SIGN_IN, &[("origin", origin)]);
        let encoded = code.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02X}"));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let response = request.body(format!("code={encoded}")).send().await.unwrap();
        let status = response.status().as_u16();
        let cookies = response.headers().get_all("set-cookie").iter();
        let cookies = cookies.map(|value| value.to_str().unwrap().to_owned()).collect();
        (status, response.text().await.unwrap(), cookies)
    }

    async fn sign_in(&mut self) {
        let (status, _, cookies) = self.enter(&link(self.server, None).await, ORIGIN).await;
        assert_eq!(status, 303, "{cookies:?}");
        self.cookie = cookies[0].split(';').next().map(str::to_owned);
    }

    async fn socket(&self, task: &str, headers: &[(&'static str, &str)]) -> Result<Mars, u16> {
        let cookie = self.cookie.iter().map(|cookie| ("cookie", cookie.as_str()));
        let headers: Vec<_> = headers.iter().copied().chain(cookie).collect();
        Mars::open(self.server, &format!("/edges/mars/ws/{task}"), &headers).await
    }
}

/// Creates a login link, as `holdshort login` does.
async fn link(server: &TestServer, person: Option<&str>) -> String {
    let link = server.post("/v1/login-links", &json!({ "person": person.unwrap_or("operator") })).await.ok();
    link["url"].as_str().unwrap().to_owned()
}

fn with_page(setup: Setup) -> Setup {
    setup.argument("--edge-origin").argument(ORIGIN)
}

/// From the sign-in to a decision: the page needs no proxy with a token.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_signs_in_and_runs_a_task_with_its_cookie() {
    let (model, mut server) = planned(&[]).await;
    model.script("engineer", [one(count("one")), done()]);
    server.stop().await;
    server.change(with_page);
    server.start().await;
    let mut browser = Browser::new(&server);
    let navigation = [("sec-fetch-site", "none")];
    let shown = browser.request(Method::GET, SIGN_IN, &navigation).send().await.unwrap();
    // Only with this policy does a browser send the form with the page's origin.
    assert_eq!(
        (shown.status().as_u16(), &shown.headers()["referrer-policy"]),
        (200, &"same-origin".parse().unwrap())
    );
    let (status, _, cookies) = browser.enter(&link(&server, None).await, ORIGIN).await;
    assert_eq!((status, cookies.len()), (303, 2));
    for (cookie, path) in cookies.iter().zip(["/api", "/ws"]) {
        assert!(cookie.contains(&format!("; HttpOnly; SameSite=Strict; Path={path}; ")), "{cookie}");
    }
    browser.cookie = cookies[0].split(';').next().map(str::to_owned);

    let referer = format!("{ORIGIN}/sessions");
    let reads = [("referer", referer.as_str()), ("sec-fetch-site", "same-origin")];
    for path in ["credentials/status", "models/config", "sessions?limit=100"] {
        let path = format!("{API}/{path}");
        let response = browser.request(Method::GET, &path, &reads).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        reader::answer(&path, &response.json().await.unwrap());
    }
    let mut mars = browser.socket("t1", &[("origin", ORIGIN)]).await.unwrap();
    let mut config = form("one-shot", &json!({"toolApproval": "prompt"}));
    config["workDir"] = json!(server.workspace());
    mars.say(&json!({ "task": "Build it.", "config": config })).await;
    let asked = mars.wait_for_request().await;
    let received = mars.resolve(&asked, "allow", json!({})).await;
    assert_eq!((&received["approved"], &received["by"]), (&json!(true), &json!("operator")));
    mars.wait("workflow_completed").await;
    assert_eq!(server.lines("count.txt"), 1);
    let decided = server.events_of(&mars.run(), "decision_made").await;
    assert_eq!(decided[0]["actor"]["role"], "operator", "{decided:#?}");
    // Changes of sessions come from the page, too.
    let session = server.run(&mars.run()).await["session"].as_str().unwrap().to_owned();
    let path = format!("{API}/sessions/{session}");
    assert_eq!(browser.status(Method::DELETE, &path, &[("origin", OTHER)]).await, 403);
    assert_eq!(browser.status(Method::DELETE, &path, &[]).await, 403);
    assert_eq!(browser.status(Method::DELETE, &path, &[("origin", ORIGIN)]).await, 200);
    // The sign-in outlives a restart of the server.
    drop(mars);
    let (_, value) = browser.cookie.as_deref().unwrap().split_once('=').unwrap();
    let value = value.to_owned();
    server.restart().await;
    // The name of the cookie contains the port, which is another one after the restart of this test's server.
    let port = server.base().rsplit_once(':').unwrap().1.to_owned();
    let cookie = Some(format!("holdshort_{port}_page={value}"));
    let browser = Browser { cookie, ..Browser::new(&server) };
    assert_eq!(browser.status(Method::GET, &format!("{API}/sessions"), &reads).await, 200);
}

/// The cookie is no credential anywhere else, and without the page's origin it is none at all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cookie_works_on_this_edge_from_this_page_and_nowhere_else() {
    let server = with_page(TestServer::setup()).start().await;
    let mut browser = Browser::new(&server);
    browser.sign_in().await;
    let own = [("origin", ORIGIN)];
    let sessions = format!("{API}/sessions");
    assert_eq!(browser.status(Method::GET, &sessions, &own).await, 200);
    for headers in [
        &[][..],
        &[("origin", OTHER)],
        &[("origin", "null")],
        &[("referer", "http://localhost:4000/")],
        &[("origin", ORIGIN), ("sec-fetch-site", "cross-site")],
        &[("origin", ORIGIN), ("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "same-origin")],
    ] {
        assert_eq!(browser.status(Method::GET, &sessions, headers).await, 403, "{headers:?}");
        let socket = browser.socket("t1", headers).await;
        assert_eq!(socket.err(), Some(403), "{headers:?}");
    }
    for (method, path) in [
        (Method::GET, "/v1/runs"),
        (Method::GET, "/v1/login"),
        (Method::GET, "/v1/people"),
        (Method::GET, "/edges/codelab/sessions"),
        (Method::GET, "/edges/crew/crew/tasks"),
    ] {
        assert_eq!(browser.status(method, path, &own).await, 401, "{path}");
    }
    // A page of this origin changes nothing outside the edge, not even with a token.
    let run = browser.request(Method::POST, "/v1/runs", &own).bearer_auth(server.token());
    assert_eq!(run.json(&json!({})).send().await.unwrap().status(), 403);
    let value = browser.cookie.as_deref().unwrap().split_once('=').unwrap().1.to_owned();
    let bearer = Browser::new(&server).request(Method::GET, &sessions, &own).bearer_auth(&value);
    assert_eq!(bearer.send().await.unwrap().status(), 401, "the cookie is no token");
    // A forged cookie, a missing cookie, and the cookie with another name.
    for cookie in [None, Some(format!("{}x", browser.cookie.as_deref().unwrap())), Some(format!("c={value}"))]
    {
        let other = Browser { cookie: cookie.clone(), ..Browser::new(&server) };
        assert_eq!(other.status(Method::GET, &sessions, &own).await, 401, "{cookie:?}");
        assert_eq!(other.socket("t1", &own).await.err(), Some(401), "{cookie:?}");
    }
    // A token still works, and the refusal without credentials names the sign-in.
    assert_eq!(server.get(&sessions).await.status, 200);
    let stale = Some(format!("{}x", browser.cookie.as_deref().unwrap()));
    for cookie in [None, stale] {
        let nobody = Browser { cookie: cookie.clone(), ..Browser::new(&server) };
        let response = nobody.request(Method::GET, &sessions, &own).send().await.unwrap();
        let told = reader::refusal(&response.json().await.unwrap());
        assert!(
            told.contains("sign in at http://localhost:3000/api/holdshort/sign-in"),
            "{cookie:?}: {told}"
        );
    }
}

/// The page's own server may be a trusted proxy. It then reports the host and scheme of the page.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pages_own_server_may_be_a_trusted_proxy() {
    let server = with_page(TestServer::setup().argument("--proxy").argument("127.0.0.1")).start().await;
    let mut browser = Browser::new(&server);
    browser.sign_in().await;
    let sessions = format!("{API}/sessions");
    for (host, path, status) in [
        ("localhost:3000", sessions.as_str(), 200),
        ("localhost:3000", SIGN_IN, 200),
        ("localhost:4000", &sessions, 421),
        ("localhost:3000", "/v1/runs", 421),
    ] {
        let headers = [("origin", ORIGIN), ("x-forwarded-host", host), ("x-forwarded-proto", "https")];
        assert_eq!(browser.status(Method::GET, path, &headers).await, status, "{host} {path}");
    }
}

/// For a page with `https`, the proxy must not have received the request over plain HTTP.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_with_https_is_not_served_over_plain_http() {
    let origin = "https://mars.example";
    let setup = TestServer::setup().argument("--proxy").argument("127.0.0.1");
    let server = setup.argument("--edge-origin").argument(origin).start().await;
    let browser = Browser::new(&server);
    for (scheme, status) in [("https", 200), ("HTTPS", 200), ("http", 421)] {
        let headers =
            [("origin", origin), ("x-forwarded-host", "mars.example"), ("x-forwarded-proto", scheme)];
        assert_eq!(browser.status(Method::GET, SIGN_IN, &headers).await, status, "{scheme}");
    }
}

/// A sign-in needs a link that works once, the page's origin, and an operator. Signing out ends open sockets.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_an_operator_signs_in_and_a_sign_out_ends_it() {
    let people =
        "people:\n  anna: {roles: [operator]}\n  rita: {roles: [reviewer]}\n  adam: {roles: [admin]}\n";
    let server = with_page(TestServer::setup().people(people)).start().await;
    let mut browser = Browser::new(&server);
    let code = link(&server, Some("anna")).await;
    let (status, _, cookies) = browser.enter(&code, OTHER).await;
    assert_eq!((status, cookies.len()), (403, 0), "a page of another origin signs nobody in");
    let (status, _, cookies) = browser.enter(&code, ORIGIN).await;
    assert_eq!((status, cookies.len()), (303, 2), "and does not use the code up");
    browser.cookie = cookies[0].split(';').next().map(str::to_owned);
    for (code, words) in [
        (code, "already used"),
        ("nonsense".to_owned(), "already used"),
        (link(&server, Some("rita")).await, "`rita` is not an operator"),
        (link(&server, Some("adam")).await, "`adam` is not an operator"),
    ] {
        let (status, text, cookies) = browser.enter(&code, ORIGIN).await;
        assert_eq!((status, cookies.len()), (403, 0), "{text}");
        assert!(text.contains(words) && text.contains("<form"), "{text}");
    }
    // A link of a person with another role is not used up: it still signs the person in at this server's own page.
    let code = link(&server, Some("rita")).await;
    assert_eq!(browser.enter(&code, ORIGIN).await.0, 403);
    let body = json!({ "code": code.rsplit_once('#').unwrap().1 });
    let own_page = || browser.http.post(format!("{}/v1/login", server.base())).json(&body).send();
    assert_eq!(own_page().await.unwrap().status(), 200);
    assert_eq!(own_page().await.unwrap().status(), 403, "once");
    let mut socket = browser.socket("t1", &[("origin", ORIGIN)]).await.unwrap();
    socket.say(&json!({"type": "ping"})).await;
    socket.wait("pong").await;
    let out = server.request(Method::DELETE, "/v1/people/anna/logins");
    let out = server.send(out).await;
    assert!(out.status < 300, "{out:?}");
    assert!(socket.receive().await.is_err(), "the socket ends");
    assert_eq!(browser.status(Method::GET, &format!("{API}/sessions"), &[("origin", ORIGIN)]).await, 401);
}

/// A message of a copilot attaches to a run of its own person, and never to the run of another person.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_attaches_to_no_run_of_another_person() {
    let model = ScriptedModel::start().await;
    model.script("copilot_control", [Scripted::status(400).repeat()]);
    model.script("engineer", [one(count("one")), one(count("two"))]);
    let people = "people:\n  anna: {roles: [operator]}\n";
    let server = with_page(TestServer::setup().people(people)).model(&model).start().await;
    let mut anna = Browser::new(&server);
    let (_, _, cookies) = anna.enter(&link(&server, Some("anna")).await, ORIGIN).await;
    anna.cookie = cookies[0].split(';').next().map(str::to_owned);
    let mut hers = anna.socket("t1", &[("origin", ORIGIN)]).await.unwrap();
    hers.say(&message("count the files of the folder", &Value::Null)).await;
    let asked = hers.wait("approval_requested").await;
    let session = hers.frames[0]["session_id"].clone();
    drop(hers);

    let mut other = Mars::connect(&server, "t1").await;
    other.say(&message("count the lines of the files", &session)).await;
    assert_ne!(other.wait("approval_requested").await["approval_id"], asked["approval_id"]);
    let mut hers = anna.socket("t2", &[("origin", ORIGIN)]).await.unwrap();
    hers.say(&message("go on with the files", &session)).await;
    assert_eq!(hers.wait("approval_requested").await["approval_id"], asked["approval_id"]);
    assert_ne!(hers.run(), other.run());
}

/// Without the option, there is no sign-in, and a cookie means nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_option_there_is_no_page() {
    let mut server = with_page(TestServer::setup()).start().await;
    let mut browser = Browser::new(&server);
    browser.sign_in().await;
    let cookie = browser.cookie.clone();
    server.stop().await;
    server.change(|_| TestServer::setup());
    server.start().await;
    let browser = Browser { cookie, ..Browser::new(&server) };
    assert_eq!(browser.status(Method::GET, SIGN_IN, &[]).await, 404);
    assert_eq!(browser.enter("x", ORIGIN).await.0, 403, "the origin is unknown");
    assert_eq!(browser.status(Method::GET, &format!("{API}/sessions"), &[("origin", ORIGIN)]).await, 401);
    assert_eq!(browser.socket("t1", &[("origin", ORIGIN)]).await.err(), Some(403));
}
