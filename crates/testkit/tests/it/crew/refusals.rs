//! Refusals as the clients of the source system read them (contract D10): the words of its own refusals, and 401 before
//! anything else is checked.

use holdshort_testkit::server::TestServer;
use reqwest::Method;
use serde_json::{Value, json};

use super::{BASE, Issuer, ask, key, model, paused, post, server, setup, wait_state};

/// A request with a token, a method, a path and a body, and the status and the beginning of the detail with which the
/// crew edge refuses the request.
type Row<'r> = (&'r str, Method, String, Option<&'r str>, u16, String);

/// Sends a request with this token, or without a token. Returns the status and the detail of the refusal.
async fn refused(
    server: &TestServer,
    token: Option<&str>,
    method: Method,
    path: &str,
    body: Option<&str>,
) -> (u16, String) {
    let client = holdshort_http::plain().no_proxy().build().unwrap();
    let mut request = client.request(method, format!("{}{BASE}{path}", server.base()));
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    if let Some(body) = body {
        request = request.header("content-type", "application/json").body(body.to_owned());
    }
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    let told: Value = answer.json().await.unwrap_or_default();
    (status, told["detail"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_have_the_words_of_the_source_system() {
    let model = model().await;
    let (issuer, server) = Issuer::serving(setup(&model)).await;
    let service = key(&server, "watcher", "agent").await;
    let (task, review) = paused(&server).await;
    let (operator, compliance) = (server.token().to_owned(), issuer.token("carl", "compliance"));
    let none = "run_01k6f0000000000000000000zz";
    let approved = r#"{"status": "approved"}"#;
    let pause = r#"{"findings": "x", "risk_level": "low"}"#;
    let table: Vec<Row<'_>> = vec![
        ("x", Method::GET, format!("/crew/status/{task}"), None, 401, "Not authenticated".into()),
        (
            &compliance,
            Method::POST,
            "/crew/run".into(),
            Some(r#"{"crew_name": "fraud"}"#),
            403,
            "Access denied".into(),
        ),
        (&compliance, Method::GET, format!("/crew/review/{task}"), None, 403, "Access denied".into()),
        (&operator, Method::POST, format!("/crew/pause/{task}"), Some(pause), 403, "Access denied".into()),
        (&operator, Method::GET, "/crew/status/none".into(), None, 404, "Task 'none' not found".into()),
        (
            &operator,
            Method::POST,
            format!("/crew/resume/{none}"),
            Some(approved),
            404,
            format!("Task '{none}' not found"),
        ),
        (
            &operator,
            Method::POST,
            "/crew/run".into(),
            Some(r#"{"crew_name": "none"}"#),
            404,
            "Crew 'none' not found. Available crews: ".into(),
        ),
        (&operator, Method::GET, "/crew/crews/none".into(), None, 404, "Crew 'none' not found".into()),
        (&operator, Method::GET, "/crew/agents/none".into(), None, 404, "Agent 'none' not found".into()),
        (&operator, Method::GET, "/webhooks/none".into(), None, 404, "Webhook none not found".into()),
        (
            &operator,
            Method::DELETE,
            "/webhooks/whk_01k6f0000000000000000000zz".into(),
            None,
            404,
            "Webhook whk_01k6f0000000000000000000zz not found".into(),
        ),
        (
            &operator,
            Method::GET,
            "/webhooks/delivery/none".into(),
            None,
            404,
            "Delivery none not found".into(),
        ),
        (
            &operator,
            Method::POST,
            "/webhooks/retry/dlv_01k6f0000000000000000000zz".into(),
            None,
            404,
            "Delivery dlv_01k6f0000000000000000000zz not found".into(),
        ),
        (&operator, Method::GET, "/webhooks/status/REV-1".into(), None, 404, "Review REV-1 not found".into()),
        (
            &operator,
            Method::POST,
            "/webhooks/callback/REV-01K6F0000000000000000000CC".into(),
            Some(approved),
            404,
            "Review REV-01K6F0000000000000000000CC not found".into(),
        ),
    ];
    for (token, method, path, body, status, words) in table {
        let found = refused(&server, Some(token), method, &path, body).await;
        assert!(found.0 == status && found.1.starts_with(&words), "{path}: {found:?}");
    }
    // The response to a pause of a paused task has `success: false`.
    let pause = json!({"findings": "x", "risk_level": "low"});
    let path = format!("/crew/pause/{task}");
    let (status, told) = ask(&server, &service, Method::POST, &path, Some(&pause)).await;
    assert_eq!((status, &told["success"]), (200, &json!(false)), "{told}");
    assert!(
        told["message"].as_str().unwrap().starts_with(&format!("Task '{task}' is already paused")),
        "{told}"
    );

    post(&server, &format!("/crew/resume/{task}"), &json!({"status": "rejected"})).await;
    wait_state(&server, &task, "FAILED").await;
    let words =
        format!("Task '{task}' is not paused (current state: failed): review {review} is already rejected");
    for path in [format!("/crew/resume/{task}"), format!("/webhooks/callback/{review}")] {
        let (status, told) = post(&server, &path, &json!({"status": "approved"})).await;
        assert_eq!((status, &told["detail"]), (409, &json!(words)), "{path}");
    }
    let (status, told) = ask(&server, &service, Method::POST, &path, Some(&pause)).await;
    let words = format!("Cannot pause task '{task}' in state 'failed'");
    assert_eq!((status, &told["detail"]), (409, &json!(words)), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_without_a_review_says_so() {
    let (model, server) = server().await;
    let task = super::at_the_analyst(&model, &server).await;
    let operator = server.token().to_owned();
    let found = refused(&server, Some(&operator), Method::GET, &format!("/crew/review/{task}"), None).await;
    assert_eq!(found, (404, format!("No compliance review found for task '{task}'")));
    let path = format!("/crew/resume/{task}");
    let found =
        refused(&server, Some(&operator), Method::POST, &path, Some(r#"{"status": "approved"}"#)).await;
    let words = format!("Task '{task}' is not paused (current state: running): it has no open review");
    assert_eq!(found, (409, words));
    model.release();
}

/// A callback without a token or link is 401, whatever else is wrong with the request. A caller without permission is
/// 403. Only then are the query, the id and the body checked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_callback_is_401_before_anything_else_is_wrong() {
    let (_model, server) = server().await;
    let (_, review) = paused(&server).await;
    let wrong = [
        (format!("/webhooks/callback/{review}"), Some("{\"status\": "), 400),
        (format!("/webhooks/callback/{review}"), Some(""), 400),
        (format!("/webhooks/callback/{review}"), Some(r#"{"status": "maybe"}"#), 422),
        (format!("/webhooks/callback/{review}?status=approved"), Some(r#"{"status": "approved"}"#), 400),
        ("/webhooks/callback/none".to_owned(), Some("{"), 404),
        ("/webhooks/callback/REV-01K6F0000000000000000000CC".to_owned(), Some("{"), 404),
    ];
    for (path, body, with_token) in &wrong {
        for (token, expected) in [
            (None, 401),
            (Some("x"), 401),
            (Some(server.agent_token()), 403),
            (Some(server.token()), *with_token),
        ] {
            let found = refused(&server, token, Method::POST, path, *body).await;
            assert_eq!(found.0, expected, "{path} {body:?} {token:?}: {found:?}");
        }
    }
    for (query, expected) in [("?status=approved", 401), ("?link=", 404), ("?link=x", 404), ("", 401)] {
        let path = format!("/webhooks/callback/{review}{query}");
        let found = refused(&server, None, Method::GET, &path, None).await;
        assert_eq!(found.0, expected, "{query}: {found:?}");
    }
    let listed = post(&server, &format!("/webhooks/callback/{review}"), &json!({"status": "approved"})).await;
    assert_eq!(listed.0, 200, "nothing was decided before: {listed:?}");
}
