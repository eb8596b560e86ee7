//! Decisions: who may decide, how often a decision takes effect, and whose name is recorded (contracts E17, E29, E36).

use holdshort_testkit::server::{TestServer, eventually};
use reqwest::Method;
use serde_json::{Value, json};

use super::{Issuer, ask, at_the_analyst, get, key, model, paused, post, server, setup, wait_state};

/// Maximum number of comments on one interrupt (`core/src/limits/content.rs`).
const COMMENTS: usize = 200;

async fn resume(server: &TestServer, token: &str, task: &str, body: &Value) -> (u16, Value) {
    ask(server, token, Method::POST, &format!("/crew/resume/{task}"), Some(body)).await
}

/// A decision that names a different review is refused. A repeated decision may arrive when the task already waits for
/// its next review.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_that_names_another_review_decides_nothing() {
    let (_model, server) = server().await;
    let ((task, _), (_, other)) = (paused(&server).await, paused(&server).await);
    let of = |review: &str| json!({"status": "approved", "review_id": review});
    let (status, told) = post(&server, &format!("/crew/resume/{task}"), &of(&other)).await;
    assert_eq!(status, 409, "{told}");
    assert_eq!(get(&server, &format!("/crew/status/{task}")).await["status"], "PAUSED");
    let review =
        get(&server, &format!("/crew/review/{task}")).await["review_id"].as_str().unwrap().to_owned();
    assert_eq!(post(&server, &format!("/crew/resume/{task}"), &of(&review)).await.0, 200);
}

/// If the task stays paused after an approval, the response says why.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approval_says_what_the_task_still_waits_for() {
    let (_model, server) = server().await;
    let ((one, _), (other, _), (third, _)) =
        (paused(&server).await, paused(&server).await, paused(&server).await);
    let approved = json!({"status": "approved"});
    server.post(&format!("/v1/runs/{one}/pause"), &json!({})).await.ok();
    let (status, told) = post(&server, &format!("/crew/resume/{one}"), &approved).await;
    assert_eq!((status, &told["status"]), (200, &json!("resuming")), "{told}");
    assert!(told["message"].as_str().unwrap().contains("Paused by a person"), "{told}");
    assert_eq!(get(&server, &format!("/crew/status/{one}")).await["status"], "PAUSED");

    // Freeze only the next agent of one task, and freeze the second task completely.
    for (task, part) in [(third, json!({"agent": "report_writer"})), (other, json!({}))] {
        let mut freeze = part;
        freeze["reason"] = "a look".into();
        server.post("/v1/system/freeze", &freeze).await.ok();
        let (status, told) = post(&server, &format!("/crew/resume/{task}"), &approved).await;
        assert_eq!(status, 200, "{told}");
        assert!(told["message"].as_str().unwrap().contains("frozen"), "{told}");
    }
}

/// The review id may be omitted. An invalid id is refused with a JSON pointer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_that_is_none_is_refused_where_it_stands() {
    let (_model, server) = server().await;
    let (task, review) = paused(&server).await;
    let resume = format!("/crew/resume/{task}");
    for (member, id) in [
        ("review_id", json!("x")),
        ("review_id", json!("")),
        ("review_id", json!(5)),
        ("reviewId", json!("REV-1")),
        ("reviewId", json!({})),
    ] {
        let mut body = json!({"status": "approved"});
        body[member] = id;
        for path in [&resume, &format!("/webhooks/callback/{review}")] {
            let (status, told) = post(&server, path, &body).await;
            let at = &told["errors"][0]["pointer"];
            assert_eq!((status, at), (422, &json!(format!("/{member}"))), "{path} {body}: {told}");
        }
    }
    assert_eq!(get(&server, &format!("/crew/status/{task}")).await["status"], "PAUSED");
    let null = json!({"status": "approved", "review_id": null});
    assert_eq!(post(&server, &resume, &null).await.0, 200);
}

/// The decision on the first review is repeated, as after a timeout, while the task waits for its second review. The
/// repeated decision decides nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_sent_again_never_decides_on_the_next_review() {
    let (model, server) = server().await;
    let service = key(&server, "watcher", "agent").await;
    let task = at_the_analyst(&model, &server).await;
    let held = json!({"findings": "Sanctions", "risk_level": "high"});
    let path = format!("/crew/pause/{task}");
    let (_, held) = ask(&server, &service, Method::POST, &path, Some(&held)).await;
    model.release();
    // Otherwise the reviewer's comment would reach the analyst during its work, which would cause one more model
    // request.
    let replies = async || server.events_of(&task, "model_replied").await.len();
    eventually("the analyst is done", async || (replies().await == 2).then_some(())).await;

    let resume = format!("/crew/resume/{task}");
    let answer = json!({"status": "approved", "comments": "a namesake"});
    // If a task has only one review, the decision needs no id.
    assert_eq!(post(&server, &resume, &answer).await.0, 200);
    let next = eventually("the next review is open", async || {
        let shown = get(&server, &format!("/crew/status/{task}")).await;
        (shown["status"] == "PAUSED" && shown["review_id"] != held["review_id"])
            .then_some(shown["review_id"].clone())
    })
    .await;
    let (status, told) = post(&server, &resume, &answer).await;
    assert_eq!((status, &told["errors"][0]["pointer"]), (422, &json!("/review_id")), "{told}");
    let named = |id: &Value| json!({"status": "approved", "comments": "a namesake", "review_id": id});
    let (status, told) = post(&server, &resume, &named(&held["review_id"])).await;
    assert_eq!((status, &told["review_id"]), (200, &held["review_id"]), "told again: {told}");
    // The callback URL belongs to one review.
    let callback = format!("/webhooks/callback/{}", held["review_id"].as_str().unwrap());
    let (status, told) = post(&server, &callback, &named(&next)).await;
    assert_eq!((status, &told["errors"][0]["pointer"]), (422, &json!("/review_id")), "{told}");
    assert_eq!(post(&server, &callback, &answer).await.0, 200, "told again there, too");
    assert_eq!(get(&server, &format!("/crew/status/{task}")).await["status"], "PAUSED");
    assert_eq!(server.events_of(&task, "decision_made").await.len(), 1);

    assert_eq!(post(&server, &resume, &named(&next)).await.0, 200);
    wait_state(&server, &task, "COMPLETED").await;
    assert_eq!(post(&server, &resume, &answer).await.0, 409, "nothing waits any more");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_decision_counts_the_same_again_is_told_again_and_another_is_refused() {
    let (_model, server) = server().await;
    let (task, review) = paused(&server).await;
    let decision = json!({"status": "approved", "comments": "fine"});
    let first = post(&server, &format!("/crew/resume/{task}"), &decision).await;
    assert_eq!((first.0, &first.1["status"]), (200, &json!("resuming")));
    assert_eq!(post(&server, &format!("/crew/resume/{task}"), &decision).await, first);
    // A repeated decision over the callback gets the same response as over the resume request.
    assert_eq!(post(&server, &format!("/webhooks/callback/{review}"), &decision).await, first);
    for other in [json!({"status": "rejected"}), json!({"status": "approved", "comments": "different"})] {
        let (status, told) = post(&server, &format!("/crew/resume/{task}"), &other).await;
        assert_eq!(status, 409, "{told}");
        assert!(told["detail"].is_string(), "{told}");
    }
    assert_eq!(server.events_of(&task, "decision_made").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_actor_is_whoever_is_signed_in() {
    let model = model().await;
    let (issuer, server) = Issuer::serving(setup(&model)).await;
    let alice = issuer.token("alice@example.com", "analyst");
    let body = json!({"crew_name": "fraud", "async_execution": false});
    let run = async || {
        let (status, run) = ask(&server, &alice, Method::POST, "/crew/run", Some(&body)).await;
        assert_eq!(status, 200, "{run}");
        run["task_id"].as_str().unwrap().to_owned()
    };
    let task = run().await;
    let as_bob = json!({"status": "approved", "reviewer": "bob@example.com"});
    let (status, told) = resume(&server, &alice, &task, &as_bob).await;
    assert_eq!(status, 403, "{told}");
    assert!(told["detail"].as_str().unwrap().contains("bob@example.com"));
    assert_eq!(get(&server, &format!("/crew/status/{task}")).await["status"], "PAUSED");
    // The reviewer's own name is accepted in any letter case.
    let as_alice = json!({"status": "approved", "reviewer": "Alice@Example.com", "comments": "ok"});
    assert_eq!(resume(&server, &alice, &task, &as_alice).await.0, 200);
    let review = get(&server, &format!("/crew/review/{task}")).await;
    assert_eq!(review["responses"][0]["reviewer"], "alice@example.com");

    // A form without a signed-in user sends these names, and also sends fields that have no effect.
    for nobody in ["Unknown Reviewer", "unknown_reviewer", ""] {
        let task = run().await;
        let sent = json!({
            "status": "approved", "reviewer": nobody, "comments": "", "reviewId": null, "decision": "rejected",
            "confidence": 0.4,
        });
        let (status, told) = resume(&server, &alice, &task, &sent).await;
        assert_eq!((status, &told["status"]), (200, &json!("resuming")), "{nobody}: {told}");
        let made = server.events_of(&task, "decision_made").await.remove(0);
        assert_eq!(made["actor"]["id"], "alice@example.com");
        let recorded = made["data"].get("on_behalf_of").and_then(Value::as_str).unwrap_or_default();
        assert_eq!(recorded, nobody, "what was sent is recorded: {made:#}");
    }
}

/// The name of the reviewer may be any name that the token states for its own person.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reviewer_is_named_by_the_names_of_their_token() {
    let model = model().await;
    let (issuer, server) = Issuer::serving(setup(&model)).await;
    let token = |more: &Value| issuer.token_with("u-17", "analyst", more);
    let names = json!({"email": "alice@example.com", "preferred_username": "alice", "name": "Alice A."});
    let unverified = json!({"email": "bob@example.com", "email_verified": false});
    let table = [
        (&names, "alice@example.com", 200),
        (&names, "ALICE@example.com ", 200),
        (&names, "alice", 200),
        (&names, "Alice A.", 200),
        (&names, "u-17", 200),
        // Near misses: names of others, and an address that the issuer has not verified.
        (&names, "alice@example.org", 403),
        (&names, "alice@", 403),
        (&unverified, "bob@example.com", 403),
    ];
    let body = json!({"crew_name": "fraud"});
    for (claims, reviewer, expected) in table {
        let token = token(claims);
        let (_, run) = ask(&server, &token, Method::POST, "/crew/run", Some(&body)).await;
        let task = run["task_id"].as_str().unwrap();
        let decision = json!({"status": "approved", "reviewer": reviewer});
        let (status, told) = resume(&server, &token, task, &decision).await;
        assert_eq!(status, expected, "{claims} {reviewer}: {told}");
        let made = server.events_of(task, "decision_made").await;
        // The subject is the actor, whatever the client calls the person.
        assert!(made.iter().all(|made| made["actor"]["id"] == "u-17"), "{made:?}");
        assert!(made.iter().all(|made| made["data"].get("on_behalf_of").is_none()), "{made:?}");
        assert_eq!(made.len(), usize::from(expected == 200));
    }
}

/// If a service decides for a person, the event of the decision and all its views contain that person's name as the
/// service sent it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_whose_behalf_a_service_decides_is_told_with_its_decision() {
    let (_model, server) = server().await;
    let (task, _) = paused(&server).await;
    let [opened] = &server.events_of(&task, "interrupt_opened").await[..] else { panic!("one review") };
    let interrupt = opened["data"]["interrupt"].as_str().expect("an id").to_owned();
    // The list of comments is full, which does not affect a decision.
    for n in 0..COMMENTS {
        let path = format!("/v1/interrupts/{interrupt}/comments");
        server.post(&path, &json!({"text": n.to_string()})).await.ok();
    }
    let service = key(&server, "portal", "operator").await;
    let of = |name: &str| json!({"status": "approved", "reviewer": name});
    let (status, told) = resume(&server, &service, &task, &of(&"x".repeat(201))).await;
    assert_eq!((status, &told["errors"][0]["pointer"]), (422, &json!("/reviewer")), "{told}");
    let (status, told) = resume(&server, &service, &task, &of(" bob@example.com ")).await;
    assert_eq!(status, 200, "{told}");
    // The first decision takes effect, and the name in its request is recorded.
    assert_eq!(resume(&server, &service, &task, &of("bob@example.com")).await.0, 200);
    assert_eq!(resume(&server, &service, &task, &of("carl@example.com")).await.0, 409);

    let [made] = &server.events_of(&task, "decision_made").await[..] else { panic!("one decision") };
    let by = (&made["actor"]["id"], &made["data"]["on_behalf_of"]);
    assert_eq!(by, (&json!("portal"), &json!("bob@example.com")), "{made:#}");
    assert_eq!(server.events_of(&task, "comment_added").await.len(), COMMENTS);
    let resolution = server.interrupt(&interrupt).await["resolution"].clone();
    assert_eq!(resolution["by"], json!(["portal"]));
    assert_eq!(resolution["on_behalf_of"], json!({"portal": "bob@example.com"}));
    let response = get(&server, &format!("/crew/review/{task}")).await["responses"][0].clone();
    let reviewer = (&response["reviewer"], &response["on_behalf_of"]);
    assert_eq!(reviewer, (&json!("portal"), &json!("bob@example.com")));

    let receipt = server.get(&format!("/v1/receipts/{interrupt}")).await.ok();
    let heads = receipt["events"].as_array().unwrap().iter().map(|each| each["head"].as_str().unwrap());
    let named: Vec<&str> = heads.filter(|head| head.contains("bob@example.com")).collect();
    assert!(named.len() == 1 && named[0].contains("\"on_behalf_of\""), "{named:#?}");
    let page = server.request(Method::GET, &format!("/v1/receipts/{interrupt}/page"));
    let page = page.send().await.unwrap().text().await.unwrap();
    assert!(page.contains("on behalf of <bdi>bob@example.com</bdi>, as the client says"), "{page}");
    assert!(page.contains("portal (on behalf of bob@example.com, according to their client)"), "{page}");
}
