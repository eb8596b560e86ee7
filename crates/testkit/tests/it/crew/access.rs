//! Access to the crew edge: the order of 401, 403 and 404 (contract D9), roles (D6), rate limits (D5, D6), and pages of
//! other origins.

use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};

use super::socket::{connected, frames};
use super::{BASE, Issuer, ask, get, key, model, paused, post, server, setup};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_role_may_what_it_may_and_who_may_not_is_told_before_what_is_not_there() {
    let model = model().await;
    let (issuer, server) = Issuer::serving(setup(&model)).await;
    let (task, review) = paused(&server).await;
    let service = key(&server, "watcher", "agent").await;
    let people = [
        ("admin", issuer.token("ann", "admin")),
        ("analyst", issuer.token("andy", "analyst")),
        ("compliance", issuer.token("carl", "compliance")),
        ("auditor", issuer.token("olga", "audit")),
        ("robot", issuer.token("robot-7", "robot")),
        ("service", service),
        ("nobody", issuer.token("eve", "visitor")),
    ];
    let run = json!({"crew_name": "none"});
    let pause = json!({"findings": "x", "risk_level": "low"});
    let resume = json!({"status": "maybe"});
    // Each request names a missing target or is invalid. A caller without permission still gets 403, because 403 takes
    // precedence.
    let none = "run_01k6f0000000000000000000zz";
    let table: Vec<(Method, String, Option<&Value>, [u16; 7])> = vec![
        (Method::POST, "/crew/run".into(), Some(&run), [404, 404, 403, 403, 403, 403, 403]),
        (Method::POST, format!("/crew/pause/{none}"), Some(&pause), [403, 403, 403, 403, 404, 404, 403]),
        (Method::POST, format!("/crew/resume/{none}"), Some(&resume), [404, 404, 404, 403, 403, 403, 403]),
        (Method::POST, format!("/crew/resume/{task}"), Some(&resume), [422, 422, 422, 403, 403, 403, 403]),
        (Method::GET, format!("/crew/status/{none}"), None, [404, 404, 404, 404, 404, 404, 403]),
        (Method::GET, format!("/crew/status/{task}"), None, [200, 200, 403, 200, 403, 403, 403]),
        (Method::GET, format!("/crew/review/{task}"), None, [200, 200, 403, 200, 403, 403, 403]),
        (Method::GET, "/crew/tasks".into(), None, [200, 200, 200, 200, 200, 200, 403]),
        (Method::GET, "/crew/reviews".into(), None, [200, 200, 200, 200, 200, 200, 403]),
        (
            Method::POST,
            format!("/webhooks/callback/{review}"),
            Some(&resume),
            [422, 422, 422, 403, 403, 403, 403],
        ),
    ];
    for (method, path, body, expected) in table {
        let mut found = Vec::new();
        for (who, token) in &people {
            let (status, told) = ask(&server, token, method.clone(), &path, body).await;
            assert!(status < 400 || told["detail"].is_string(), "{who} {path}: {told}");
            found.push(status);
        }
        let who: Vec<&str> = people.iter().map(|(who, _)| *who).collect();
        assert_eq!(found, expected, "{method} {path}: {who:?}");
    }
    // A reviewer does not see reviews that are assigned to other people, nor their tasks.
    for (path, list) in [("/crew/reviews", "reviews"), ("/crew/tasks", "tasks")] {
        let listed = ask(&server, &people[2].1, Method::GET, path, None).await.1;
        assert_eq!((&listed[list], &listed["count"]), (&json!([]), &json!(0)));
    }

    // An expired token and an invalid token.
    let dead = issuer.token_until("andy", "analyst", holdshort_testkit::issuer::now() - 5);
    for token in [dead.as_str(), "nonsense"] {
        let (status, told) = ask(&server, token, Method::GET, &format!("/crew/status/{none}"), None).await;
        assert_eq!(status, 401, "{told}");
        assert!(told["detail"].is_string());
    }
    // The local operator is also a person.
    assert_eq!(post(&server, &format!("/crew/pause/{task}"), &pause).await.0, 403);
}

/// A reviewer sees the reviews that are assigned to them. In a reviewed task, a reviewer sees only what belongs to the
/// review.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reviewer_sees_what_is_theirs_to_review() {
    let model = model().await;
    let gated = "gates:\n  review: {assignment: {groups: [compliance], quorum: {required: 1}}}\n  withhold: [{from: [reviewer], fields: [/details/iban]}]\n";
    let setup = setup(&model).workflow("fraud", &(super::WORKFLOW.to_owned() + gated));
    let people = "people:\n  carl: {roles: [reviewer], groups: [compliance]}\n  dora: {roles: [reviewer], groups: [other]}\n";
    let (issuer, server) = Issuer::serving(setup.people(people)).await;
    let (task, review) = paused(&server).await;
    let (carl, dora) = (issuer.token("carl", "compliance"), issuer.token("dora", "compliance"));
    let (status, shown) = ask(&server, &carl, Method::GET, &format!("/crew/status/{task}"), None).await;
    assert_eq!(
        (status, &shown["status"], &shown["inputs"]),
        (200, &json!("PAUSED"), &Value::Null),
        "{shown}"
    );
    let listed = ask(&server, &carl, Method::GET, "/crew/reviews", None).await.1;
    assert_eq!(listed["reviews"][0]["review_id"], json!(review), "{listed}");
    // The list of tasks has the tasks of these reviews, without inputs and results.
    let (other, _) = paused(&server).await;
    server.post(&format!("/v1/runs/{other}/cancel"), &json!({})).await.ok();
    let listed = ask(&server, &carl, Method::GET, "/crew/tasks?state=paused", None).await.1;
    let tasks = json!([listed["count"], listed["tasks"][0]["task_id"], listed["tasks"][0].get("inputs")]);
    assert_eq!(tasks, json!([1, task, null]), "{listed}");
    let listed = ask(&server, &dora, Method::GET, "/crew/tasks", None).await.1;
    assert_eq!(listed["tasks"], json!([]), "nothing of another group: {listed}");
    assert_eq!(ask(&server, &carl, Method::GET, &format!("/crew/review/{task}"), None).await.0, 200);
    let mut socket = connected(&server, &carl, &task).await.unwrap();
    let frame = frames(&mut socket, "hitl_review_requested").await.remove(0);
    assert_eq!((&frame["status"], &frame["inputs"]), (&json!("PAUSED"), &Value::Null), "{frame}");
    assert_eq!(connected(&server, &dora, &task).await.err(), Some(403));
    // A service adds findings to a review. Access to these findings follows the rules of the review.
    let service = key(&server, "watcher", "agent").await;
    let details = json!({"iban": "DE02-1203-0000", "amount": 14});
    let found = json!({"findings": "Another account", "risk_level": "high", "details": details});
    let told = ask(&server, &service, Method::POST, &format!("/crew/pause/{task}"), Some(&found)).await;
    assert_eq!(told.0, 200, "{}", told.1);
    let (status, shown) = ask(&server, &carl, Method::GET, &format!("/crew/review/{task}"), None).await;
    let said = shown["comments"][0]["text"].as_str().unwrap_or_default();
    assert!(status == 200 && said.contains("Another account") && said.contains("14"), "{shown}");
    assert!(said.contains("/details/iban") && !shown.to_string().contains("DE02-1203"), "{shown}");
    assert!(get(&server, &format!("/crew/review/{task}")).await.to_string().contains("DE02-1203-0000"));
    for path in [format!("/crew/status/{task}"), format!("/crew/review/{task}")] {
        assert_eq!(ask(&server, &dora, Method::GET, &path, None).await.0, 403, "{path}");
    }
    let path = format!("/crew/resume/{task}");
    let decision = json!({"status": "approved"});
    assert_eq!(ask(&server, &dora, Method::POST, &path, Some(&decision)).await.0, 403);
    // If the crew names its reviewers, neither the person who starts crews nor an admin may decide (lesson 57), whether
    // by the native API or by this edge.
    for (who, role) in [("andy", "analyst"), ("ann", "admin")] {
        let token = issuer.token(who, role);
        for path in [&path, &format!("/webhooks/callback/{review}")] {
            let (status, told) = ask(&server, &token, Method::POST, path, Some(&decision)).await;
            assert_eq!((status, &told["code"]), (403, &json!("not_an_approver")), "{who} {path}: {told}");
        }
    }
    let (status, told) = ask(&server, &carl, Method::POST, &path, Some(&decision)).await;
    assert_eq!((status, &told["status"]), (200, &json!("resuming")), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_crews_a_minute_and_what_is_left_is_told() {
    let model = model().await;
    let server = holdshort_testkit::server::TestServer::setup()
        .workflow("fraud", super::WORKFLOW)
        .model(&model)
        .env("CREW_RESUMES_PER_MINUTE", "2")
        .start()
        .await;
    let send = async |path: String, body: Value| {
        let answer = server.request(Method::POST, &format!("{BASE}{path}")).json(&body).send().await.unwrap();
        (answer.status().as_u16(), answer.headers().clone())
    };
    let number = |headers: &HeaderMap, name: &str| -> u64 {
        headers
            .get(name)
            .unwrap_or_else(|| panic!("no {name}: {headers:?}"))
            .to_str()
            .unwrap()
            .parse()
            .unwrap()
    };
    let body = json!({"crew_name": "none"});
    for left in (0..5).rev() {
        let (status, headers) = send("/crew/run".to_owned(), body.clone()).await;
        assert_eq!(status, 404);
        assert_eq!(
            (number(&headers, "x-ratelimit-limit"), number(&headers, "x-ratelimit-remaining")),
            (5, left)
        );
        assert!(number(&headers, "x-ratelimit-reset") > 1_700_000_000);
    }
    let (status, headers) = send("/crew/run".to_owned(), body.clone()).await;
    assert_eq!(status, 429);
    assert!((1..=12).contains(&number(&headers, "retry-after")), "{headers:?}");

    // A refused request does not count against a rate limit. Each caller has a separate rate limit.
    let path = "/crew/resume/run_01k6f0000000000000000000zz".to_owned();
    let codes: Vec<u16> = [
        send(path.clone(), json!({})).await.0,
        send(path.clone(), json!({})).await.0,
        send(path.clone(), json!({})).await.0,
    ]
    .into();
    assert_eq!(codes, [404, 404, 429]);
    let service = key(&server, "portal", "operator").await;
    assert_eq!(ask(&server, &service, Method::POST, &path, Some(&json!({}))).await.0, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_named_origins_may_call_the_edge_and_nothing_else() {
    let model = model().await;
    let server = setup(&model).env("CORS_ALLOWED_ORIGINS", "https://reviews.example.org").start().await;
    let call = async |method: Method, path: &str, origin: &str| {
        let request =
            server.request(method, path).header("origin", origin).header("sec-fetch-site", "cross-site");
        let request =
            request.header("access-control-request-method", "POST").json(&json!({"crew_name": "none"}));
        let answer = request.send().await.unwrap();
        let allowed = answer
            .headers()
            .get("access-control-allow-origin")
            .map(|value| value.to_str().unwrap().to_owned());
        (answer.status().as_u16(), allowed)
    };
    let (ours, other) = ("https://reviews.example.org", "https://evil.example.org");
    let run = format!("{BASE}/crew/run");
    assert_eq!(call(Method::OPTIONS, &run, ours).await, (204, Some(ours.to_owned())));
    // The client also sends the header that protects its own cookie.
    let asks = server.request(Method::OPTIONS, &run).header("origin", ours);
    let asks = asks.header("access-control-request-method", "POST").send().await.unwrap();
    let allowed = asks.headers()["access-control-allow-headers"].to_str().unwrap().to_ascii_lowercase();
    assert!(allowed.split(", ").any(|name| name == "x-csrf-token"), "{allowed}");
    assert_eq!(call(Method::POST, &run, ours).await, (404, Some(ours.to_owned())));
    assert_eq!(call(Method::POST, &run, other).await, (403, None));
    assert_eq!(call(Method::OPTIONS, &run, other).await.1, None);
    assert_eq!(call(Method::POST, "/v1/runs", ours).await, (403, None));
    assert_eq!(get(&server, "/crew/tasks").await["count"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_origin_may_where_none_is_named() {
    let (_model, server) = server().await;
    let request =
        server.request(Method::POST, &format!("{BASE}/crew/run")).header("origin", "https://a.example");
    let answer = request.json(&json!({"crew_name": "fraud"})).send().await.unwrap();
    assert_eq!(answer.status(), 403);
    assert!(!answer.headers().contains_key("access-control-allow-origin"));
}
