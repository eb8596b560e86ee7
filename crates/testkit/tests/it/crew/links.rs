//! A signed link allows one decision, by one person, on one review (contract E18).

use reqwest::redirect::Policy;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use super::{get, paused, post, server, wait_state};

fn client() -> reqwest::Client {
    holdshort_http::plain().no_proxy().redirect(Policy::limited(3)).build().unwrap()
}

async fn send(method: Method, url: &str, body: Option<&Value>) -> (u16, Value) {
    let mut request = client().request(method, url);
    if let Some(body) = body {
        request = request.json(body);
    }
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap_or_default())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_shows_with_get_and_decides_with_post() {
    let (_model, server) = server().await;
    let (task, review) = paused(&server).await;
    let path = format!("/webhooks/callback/{review}/links");
    let (status, made) = post(&server, &path, &json!({"decision": "approved"})).await;
    assert_eq!(status, 201, "{made}");
    let url = made["url"].as_str().unwrap();
    let (_, rejecting) = post(&server, &path, &json!({"decision": "rejected"})).await;
    let rejecting = rejecting["url"].as_str().unwrap();

    // A link scanner may open the link several times without deciding.
    for _ in 0..3 {
        for method in [Method::GET, Method::HEAD] {
            let answer = client().request(method, url).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::OK);
            let page = answer.text().await.unwrap();
            assert!(page.is_empty() || page.contains("Three transfers"), "{page}");
            assert!(!page.contains("value=\"reject\""), "one way alone: {page}");
            assert!(page.is_empty() || page.contains("name=\"number\""), "no robot types it: {page}");
        }
    }
    assert_eq!(get(&server, &format!("/crew/status/{task}")).await["status"], "PAUSED");

    // A different decision, a different review, an altered link, and a missing link are refused.
    let (status, told) = send(Method::POST, url, Some(&json!({"status": "rejected"}))).await;
    assert_eq!(status, 422, "{told}");
    let (_, other) = paused(&server).await;
    let (status, told) = send(Method::POST, url, Some(&json!({"review_id": other}))).await;
    assert_eq!((status, &told["errors"][0]["pointer"]), (422, &json!("/review_id")), "{told}");
    assert_eq!(send(Method::POST, &url.replace(&review, &other), None).await.0, 404);
    assert_eq!(send(Method::POST, &url[..url.len() - 2], None).await.0, 404);
    assert_eq!(
        send(Method::POST, url.split('?').next().unwrap(), Some(&json!({"status": "approved"}))).await.0,
        401
    );

    // The link cannot decide in the name of a person other than its recipient.
    for (reviewer, expected) in [("carl".to_owned(), 403), ("x".repeat(257), 422)] {
        let (status, told) = send(Method::POST, url, Some(&json!({"reviewer": reviewer}))).await;
        assert_eq!(status, expected, "{told}");
    }
    // This is the request body that receivers of the source system send.
    let body = json!({
        "review_id": review, "status": "approved", "reviewer": "Unknown Reviewer", "comments": "by link",
        "timestamp": "2026-11-27T22:00:00",
    });
    let (status, told) = send(Method::POST, url, Some(&body)).await;
    assert_eq!(
        (status, &told["status"], &told["task_id"]),
        (200, &json!("resuming"), &json!(task)),
        "{told}"
    );
    wait_state(&server, &task, "COMPLETED").await;
    // Both links are used up when the review is decided.
    assert_eq!(send(Method::POST, rejecting, None).await.0, 409);
    let shown = get(&server, &format!("/crew/review/{task}")).await;
    let response = &shown["responses"][0];
    assert_eq!((&response["reviewer"], &response["comments"]), (&json!("operator"), &json!("by link")));
    assert_eq!(response["on_behalf_of"], "Unknown Reviewer");
    let via = server.events_of(&task, "decision_made").await[0]["actor"]["via"].clone();
    assert_eq!(via, "link");
}

/// The link to a page decides only through that page. The page shows the content, and asks for an input that a robot
/// does not make. The callback endpoint refuses this link, because a callback decides at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_to_a_page_decides_on_the_page_alone() {
    let (_model, server) = server().await;
    let (task, review) = paused(&server).await;
    let id = review.replace("REV-", "int_").to_lowercase();
    let made = server.post(&format!("/v1/interrupts/{id}/links"), &json!({})).await.ok();
    let link = made["url"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let url = format!("{}{}/webhooks/callback/{review}?link={link}", server.base(), super::BASE);
    assert_eq!(send(Method::GET, &url, None).await.0, 404);
    assert_eq!(send(Method::POST, &url, Some(&json!({"status": "approved"}))).await.0, 404);
    assert_eq!(get(&server, &format!("/crew/status/{task}")).await["status"], "PAUSED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_is_made_by_whoever_may_and_for_what_is_open() {
    let (_model, server) = server().await;
    let (task, review) = paused(&server).await;
    let path = format!("/webhooks/callback/{review}/links");
    for (body, expected) in [
        (json!({"decision": "maybe"}), 422),
        (json!({}), 422),
        (json!({"decision": "approved", "expires_in_ms": 0}), 422),
        (json!({"decision": "approved", "expires_in_ms": 1_u64 << 50}), 422),
    ] {
        assert_eq!(post(&server, &path, &body).await.0, expected, "{body}");
    }
    let agent = server.agent_request(Method::POST, &format!("{}{path}", super::BASE));
    assert_eq!(server.send(agent.json(&json!({"decision": "approved"}))).await.status, 403);
    let (_, brief) = post(&server, &path, &json!({"decision": "approved", "expires_in_ms": 1})).await;
    let url = brief["url"].as_str().unwrap();
    holdshort_testkit::server::eventually("the link has expired", async || {
        (send(Method::GET, url, None).await.0 == 410).then_some(())
    })
    .await;
    assert_eq!(send(Method::POST, url, None).await.0, 410);
    post(&server, &format!("/crew/resume/{task}"), &json!({"status": "rejected"})).await;
    assert_eq!(post(&server, &path, &json!({"decision": "approved"})).await.0, 409);
}
