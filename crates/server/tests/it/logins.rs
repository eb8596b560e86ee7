//! Sign-in of a browser, and the credentials of a signed-in browser.

use reqwest::Method;
use serde_json::json;

use crate::harness::{Login, Served, created, ok, read, refusal, send_request, text};

#[tokio::test]
async fn a_browser_gets_in_once_per_link_and_out_again() {
    let served = Served::new().await;
    let link = created(served.operator().post("/v1/login-links", &json!({})).await);
    let code = text(&link, "url").strip_prefix(&format!("http://{}/login#", served.address())).unwrap();

    let entered = served.api(None).redeem(code).await;
    let port = served.address().port();
    let cookie = entered.headers()["set-cookie"].to_str().unwrap().to_owned();
    let (pair, attributes) = cookie.split_once("; ").unwrap();
    assert_eq!(attributes, "HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000");
    assert!(pair.starts_with(&format!("holdshort_{port}=")), "{pair}");
    let login = ok(read(entered).await);
    assert_eq!((&login["person"], &login["role"]), (&json!("operator"), &json!("operator")));
    let again = read(served.api(None).redeem(code).await).await;
    assert_eq!(refusal(&again), (403, "login_code_spent", vec![]));

    let login_of = Login { cookie: pair.to_owned(), secret: text(&login, "secret").to_owned() };
    let browser = served.signed_in(login_of);
    let who = json!({
        "person": "operator", "role": "operator", "roles": ["admin", "operator"], "expires_at": login["expires_at"],
    });
    assert_eq!(ok(browser.get("/v1/login").await), who);

    let response = browser.request(Method::DELETE, "/v1/login").send().await.unwrap();
    assert_eq!(response.status(), 204);
    let cleared = format!("holdshort_{port}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
    assert_eq!(response.headers()["set-cookie"].to_str().unwrap(), cleared);
    assert_eq!(refusal(&browser.get("/v1/login").await), (401, "unauthenticated", vec![]));
}

#[tokio::test]
async fn a_browser_decides_as_the_operator_and_the_journal_says_how() {
    let served = Served::new().await;
    let browser = served.browser().await;
    let asked = browser.ask().await;
    ok(browser.decide(&asked, &json!({"option": "approve"})).await);
    let events = ok(browser.get(&format!("/v1/runs/{}/events", text(&asked, "run"))).await);
    let made = events["items"].as_array().unwrap().iter().find(|event| event["type"] == "decision_made");
    assert_eq!(made.unwrap()["actor"], json!({"id": "operator", "role": "operator", "via": "web"}));
    let login = browser.login();
    let (_, cookie) = login.cookie.split_once('=').unwrap();
    assert!(!events.to_string().contains(cookie) && !events.to_string().contains(&login.secret));
}

#[tokio::test]
async fn cookie_and_secret_count_together_and_nothing_else_does() {
    let served = Served::new().await;
    let (one, other) = (served.browser().await, served.browser().await);
    let (cookie, secret) = (&*one.login().cookie, &*one.login().secret);
    let another_port = cookie.replacen("holdshort_", "holdshort_1", 1);
    let table: &[(&[(&str, &str)], u16)] = &[
        (&[("cookie", cookie), ("x-holdshort-secret", secret)], 200),
        (&[("cookie", cookie)], 401),
        (&[("x-holdshort-secret", secret)], 401),
        (&[("cookie", cookie), ("x-holdshort-secret", "")], 401),
        (&[("cookie", cookie), ("x-holdshort-secret", &other.login().secret)], 401),
        (&[("cookie", &other.login().cookie), ("x-holdshort-secret", secret)], 401),
        (&[("cookie", &another_port), ("x-holdshort-secret", secret)], 401),
        (&[("cookie", cookie), ("x-holdshort-secret", secret), ("x-holdshort-secret", secret)], 401),
        (&[("cookie", cookie), ("authorization", &format!("Bearer {secret}"))], 401),
        // A request with both kinds of credentials is rejected.
        (&[("cookie", cookie), ("x-holdshort-secret", secret), ("authorization", "Bearer x")], 400),
    ];
    for (headers, expected) in table {
        let mut request = served.api(None).request(Method::GET, "/v1/runs");
        for (name, value) in *headers {
            request = request.header(*name, *value);
        }
        assert_eq!(send_request(request).await.0, *expected, "{headers:?}");
    }
    let by_query = served.api(None).request(Method::GET, &format!("/v1/runs?secret={secret}"));
    assert_eq!(send_request(by_query.header("cookie", cookie)).await.0, 401);
}

#[tokio::test]
async fn a_login_outlives_the_server_and_not_the_token() {
    let served = Served::new().await;
    let login = served.browser().await.login().clone();
    let code = served.code();

    let served = served.restart_here().await;
    ok(served.signed_in(login.clone()).get("/v1/login").await);
    let spent = read(served.api(None).redeem(&code).await).await;
    assert_eq!(refusal(&spent), (403, "login_code_spent", vec![]), "codes end with the process");

    std::fs::remove_file(served.data().join("tokens.json")).unwrap();
    let served = served.restart_here().await;
    let said = served.signed_in(login).get("/v1/login").await;
    assert_eq!(refusal(&said), (401, "unauthenticated", vec![]));
}

#[tokio::test]
async fn only_the_operator_makes_links_and_only_our_pages_redeem_them() {
    let served = Served::new().await;
    let made = served.agent().post("/v1/login-links", &json!({})).await;
    assert_eq!(refusal(&made), (403, "forbidden_role", vec![]));
    let who = json!({"person": "agent", "role": "agent", "roles": ["agent"]});
    assert_eq!(ok(served.agent().get("/v1/login").await), who);
    let left = served.operator().delete("/v1/login").await;
    assert_eq!(refusal(&left), (404, "not_found", vec![]), "a token has no login to end");

    let code = served.code();
    let enter = || served.api(None).request(Method::POST, "/v1/login").json(&json!({"code": code}));
    for (header, value) in [
        ("origin", "http://evil.example"),
        ("origin", "null"),
        ("sec-fetch-site", "same-site"),
        ("sec-fetch-site", "cross-site"),
    ] {
        let refused = send_request(enter().header(header, value)).await;
        assert_eq!(refusal(&refused), (403, "wrong_origin", vec![]), "{header}: {value}");
    }
    let own = enter().header("origin", format!("http://{}", served.address()));
    ok(send_request(own.header("sec-fetch-site", "same-origin")).await);
}
