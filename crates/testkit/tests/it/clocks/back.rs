//! A server whose wall clock is set back, while the server runs and while it is down. Everything that has expired stays
//! expired: an approval, a decision link, a login link, a sign-in, and a key.

use holdshort_core::digest::Digest;
use holdshort_testkit::server::{TestServer, eventually};
use reqwest::header::{COOKIE, SET_COOKIE};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use super::{ClockedServer, at, path, text};

const TEN_MINUTES: u64 = 600_000;

/// Credentials and approvals that expire after ten minutes. Only the sign-in expires after 30 days.
struct ExpiringAccess {
    client: Client,
    approval: Value,
    link: String,
    key: String,
    login_link: String,
    cookie: String,
    secret: String,
}

impl ExpiringAccess {
    async fn begin(office: &ClockedServer) -> Self {
        let server = &office.server;
        let client = holdshort_http::plain().no_proxy().build().expect("a client");
        let ends = |more: Value| {
            let mut body = json!({"title": "May it go?", "kind": "tool_approval", "payload": {"n": 1}});
            body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            body
        };
        let asked = server.agent_request(Method::POST, "/v1/interrupts");
        let approval = server.send(asked.json(&ends(json!({"usable_ms": TEN_MINUTES})))).await.ok();
        server.choose(&approval, "approve").await;
        let open = office.ask(&ends(json!({}))).await;
        let link = server.post(&path(&open, "/links"), &json!({"expires_in_ms": TEN_MINUTES})).await.ok();
        let bot = json!({"name": "bot", "role": "auditor", "expires_in_ms": TEN_MINUTES});
        let key = server.post("/v1/keys", &bot).await.ok();
        let code = async || code(&server.post("/v1/login-links", &json!({})).await.ok());
        let entered = client.post(format!("{}/v1/login", server.base())).json(&json!({"code": code().await}));
        let entered = entered.send().await.expect("an answer");
        let cookie =
            entered.headers()[SET_COOKIE].to_str().expect("text").split(';').next().map(str::to_owned);
        let login: Value = entered.json().await.expect("a login");
        Self {
            approval,
            // Keep only the path, because the port changes with a restart.
            link: text(&link["url"]).trim_start_matches(server.base()).to_owned(),
            key: text(&key["secret"]).to_owned(),
            login_link: code().await,
            cookie: cookie.expect("a cookie"),
            secret: text(&login["secret"]).to_owned(),
            client,
        }
    }

    /// Returns the HTTP status of each attempt to use a credential or an approval that expires.
    async fn used(&self, office: &ClockedServer) -> Vec<(&'static str, u16)> {
        let url = |path: &str| format!("{}{path}", office.server.base());
        let digest = json!({"digest": Digest::of_json(&self.approval["payload"]).to_string()});
        let login = self.client.get(url("/v1/login"));
        let uses: [(&str, RequestBuilder); 5] = [
            (
                "approval",
                office.server.agent_request(Method::POST, &path(&self.approval, "/consume")).json(&digest),
            ),
            ("decision link", self.client.get(url(&self.link))),
            ("key", self.client.get(url("/v1/login")).bearer_auth(&self.key)),
            ("sign-in", login.header(COOKIE, &self.cookie).header("x-holdshort-secret", &self.secret)),
            ("login link", self.client.post(url("/v1/login")).json(&json!({"code": self.login_link}))),
        ];
        let mut found = Vec::new();
        for (what, request) in uses {
            found.push((what, request.send().await.expect("an answer").status().as_u16()));
        }
        found
    }
}

fn code(link: &Value) -> String {
    text(&link["url"]).split_once('#').expect("a code").1.rsplit('=').next().unwrap_or_default().to_owned()
}

const ENDED: [(&str, u16); 5] =
    [("approval", 409), ("decision link", 410), ("key", 401), ("sign-in", 401), ("login link", 403)];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_ended_stays_ended_when_the_clock_is_set_back() {
    let mut office = ClockedServer::open("2026-06-01T12:00:00Z", TestServer::setup()).await;
    let live = ExpiringAccess::begin(&office).await;
    assert!(live.used(&office).await.iter().all(|(_, status)| *status == 200), "all of it counts");
    let ends = ExpiringAccess {
        login_link: code(&office.server.post("/v1/login-links", &json!({})).await.ok()),
        ..live
    };
    let asked =
        json!({"kind": "tool_approval", "title": "Again?", "payload": {"n": 1}, "usable_ms": TEN_MINUTES});
    let asked = office.server.agent_request(Method::POST, "/v1/interrupts").json(&asked);
    let approval = office.server.send(asked).await.ok();
    office.server.choose(&approval, "approve").await;
    let ends = ExpiringAccess { approval, ..ends };

    office.clock.set("2026-07-02T12:00:00Z");
    assert_eq!(ends.used(&office).await, ENDED, "their time is over");
    office.clock.set("2026-06-01T12:05:00Z");
    assert_eq!(ends.used(&office).await, ENDED, "set back while it runs");
    let mark = office.server.data().join("clock");
    let noted = async || {
        let mark = std::fs::read_to_string(&mark).ok()?;
        (at(mark.trim()) > at("2026-07-02T12:00:00Z")).then_some(())
    };
    eventually("the time is noted", noted).await;
    office.server.kill();
    office.server.start().await;
    assert_eq!(ends.used(&office).await, ENDED, "set back while it is down");
    // Deadlines still pass before the wall clock has caught up.
    let next = office.ask(&json!({"kind": "question", "title": "Is it time?", "expires_in_ms": 300})).await;
    office.settled(&next).await;

    // Without the file of the latest time, as after a restore, the server takes the latest time from the journal.
    office.server.kill();
    std::fs::remove_file(&mark).expect("it is there");
    office.server.start().await;
    assert_eq!(ends.used(&office).await, ENDED, "without the file");
    let info = office.server.get("/v1/info").await.ok();
    let warnings = info["warnings"].to_string();
    assert!(warnings.contains("the clock of this machine is 30 d"), "{warnings}");
    office.server.wait_for_log("behind the latest time").await;
    office.assert_verified();
}
