//! Webhooks that clients register with the API (contracts D4, D7; cases 39 to 41 and 43).

use std::process::Command;

use holdshort_testkit::mailbox::{Mailbox, PASSWORD, SmtpSecurity, tls};
use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::{Setup, TestServer, eventually};
use holdshort_testkit::sink::{ReceivedRequest, WebhookSink};
use reqwest::Method;
use ring::hmac;
use serde_json::{Value, json};

use crate::mails::channel;

use super::{BASE, Issuer, ask, get, model, paused, post, setup, wait_state};

pub(super) const SECRET: &str = "any text will do";

pub(super) fn allow_local_webhooks(setup: Setup) -> Setup {
    setup.env("WEBHOOK_ALLOW_NETWORKS", "127.0.0.0/8").env("RETRY_DELAY_SECONDS", "1")
}

async fn server() -> (WebhookSink, TestServer, ScriptedModel) {
    let model = model().await;
    let server = allow_local_webhooks(setup(&model)).start().await;
    (WebhookSink::start().await, server, model)
}

pub(super) async fn register(server: &TestServer, sink: &WebhookSink, more: Value) -> Value {
    let mut body = json!({"name": "aml", "type": "custom_url", "url": sink.url("/hook"), "secret": SECRET});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    let (status, made) = post(server, "/webhooks/register", &body).await;
    assert_eq!(status, 201, "{made}");
    made
}

pub(super) fn hmac(body: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()), body).as_ref().to_vec()
}

async fn deliveries(server: &TestServer, review: &str, status: &str) -> Vec<Value> {
    eventually(&format!("a delivery is {status}"), async || {
        let found = get(server, &format!("/webhooks/status/{review}")).await;
        let found: Vec<Value> = found["deliveries"].as_array().unwrap().clone();
        found.iter().any(|each| each["status"] == status).then_some(found)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_40_a_webhook_is_told_until_it_is_there_and_its_signature_is_of_the_raw_body() {
    let (sink, server, _model) = server().await;
    sink.answer([500, 500]);
    let hook = register(&server, &sink, json!({"headers": {"Authorization": "Bearer its own"}})).await;
    let (task, review) = paused(&server).await;
    let received = sink.wait_for(3).await;
    let gaps: Vec<_> = received.windows(2).map(|two| two[1].at - two[0].at).collect();
    assert!(gaps[1] > gaps[0], "{gaps:?}");
    let first = &received[0];
    for each in &received {
        assert_eq!(each.body, first.body);
        assert_eq!(each.header("x-event-id"), first.header("x-event-id"));
        assert_eq!(each.header("x-webhook-id"), hook["webhook_id"].as_str().unwrap());
        assert_eq!(each.header("x-event-type"), "compliance_review");
        assert_eq!(each.header("authorization"), "Bearer its own");
        assert_eq!(each.header("x-webhook-signature"), data_encoding::HEXLOWER.encode(&hmac(&each.body)));
        assert!(each.header("x-webhook-timestamp").parse::<i64>().unwrap() > 1_700_000_000);
    }
    let body = first.json();
    let told = json!([
        body["event_type"],
        body["task_id"],
        body["review_id"],
        body["risk_level"],
        body["status"],
        body["crew_name"],
        body["event_id"],
    ]);
    let expected =
        json!(["compliance_review", task, review, "high", "PENDING", "fraud", first.header("x-event-id")]);
    assert_eq!(told, expected, "{body}");
    assert_eq!(body["summary"], "Three transfers below the threshold: structuring; velocity");
    assert!(body["expires_at"].is_string(), "{body}");
    let text = body.to_string();
    assert!(!text.contains("14,000") && !text.contains("Account"), "only derived findings: {text}");

    let shown = deliveries(&server, &review, "DELIVERED").await.remove(0);
    let told = json!([shown["webhook_id"], shown["attempts"], shown["response_code"], shown["error"]]);
    assert_eq!(told, json!([hook["id"], 3, 200, null]), "{shown}");
    assert_eq!(shown["payload"], body, "as it was sent");
    let of_review = get(&server, &format!("/webhooks/status/{review}")).await;
    let told =
        json!([of_review["review_id"], of_review["status"], of_review["expires_at"], of_review["count"]]);
    assert_eq!(told, json!([review, "pending", body["expires_at"], 1]), "{of_review}");
    let id = shown["delivery_id"].as_str().unwrap();
    assert_eq!(
        get(&server, &format!("/webhooks/delivery/{id}")).await["history"].as_array().unwrap().len(),
        3
    );

    post(&server, &format!("/crew/resume/{task}"), &json!({"status": "rejected", "comments": "no"})).await;
    let last = sink.wait_for(4).await.remove(3);
    assert_eq!(last.header("x-event-type"), "compliance_review_rejected", "case 39");
    assert_eq!(last.json()["status"], "REJECTED");
    assert_eq!(last.json()["reviewers"], json!(["operator"]));
    assert!(body.get("reviewers").is_none(), "nobody had decided: {body}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_41_a_dead_webhook_holds_up_nothing_and_is_tried_again_by_hand() {
    let (sink, server, _model) = server().await;
    sink.answer([400]);
    register(&server, &sink, json!({})).await;
    let (task, review) = paused(&server).await;
    let failed = deliveries(&server, &review, "FAILED").await.remove(0);
    assert_eq!(
        (&failed["response_code"], &failed["attempts"]),
        (&json!(400), &json!(1)),
        "4xx is not repeated"
    );
    assert_eq!(get(&server, &format!("/crew/status/{task}")).await["status"], "PAUSED");
    let path = format!("/webhooks/retry/{}", failed["id"].as_str().unwrap());
    let (status, told) = post(&server, &path, &json!({})).await;
    assert_eq!((status, &told["success"]), (200, &json!(true)), "{told}");
    let received = sink.wait_for(2).await;
    assert_eq!(received[0].header("x-event-id"), received[1].header("x-event-id"));
    deliveries(&server, &review, "DELIVERED").await;
    let (status, _) = post(&server, &format!("/crew/resume/{task}"), &json!({"status": "approved"})).await;
    assert_eq!(status, 200);
}

/// Environment variables set the number of attempts and the timeout. A delivery to a webhook that never responds fails
/// after these attempts. The task keeps waiting for its decision.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_41_a_webhook_that_never_answers_has_failed_after_the_attempts_that_the_environment_says() {
    let (model, sink) = (model().await, WebhookSink::start().await);
    let setup = allow_local_webhooks(setup(&model))
        .env("WEBHOOK_TIMEOUT_SECONDS", "1")
        .env("MAX_RETRY_ATTEMPTS", "2");
    let server = setup.start().await;
    sink.hold();
    register(&server, &sink, json!({})).await;
    let (task, review) = paused(&server).await;
    let failed = deliveries(&server, &review, "FAILED").await.remove(0);
    assert_eq!((&failed["attempts"], &failed["response_code"]), (&json!(2), &Value::Null), "{failed}");
    assert!(
        failed["error"].as_str().unwrap().starts_with("the receiver did not answer within 1000 ms"),
        "{failed}"
    );
    let id = failed["id"].as_str().unwrap();
    let shown = get(&server, &format!("/webhooks/delivery/{id}")).await;
    let history = shown["history"].as_array().unwrap();
    assert_eq!(history.len(), 2, "{shown}");
    assert!(history.iter().all(|attempt| attempt["error"].is_string()), "{shown}");
    assert_eq!(get(&server, &format!("/crew/status/{task}")).await["status"], "PAUSED");

    sink.release();
    let (status, told) = post(&server, &format!("/webhooks/retry/{id}"), &json!({})).await;
    assert_eq!((status, &told["success"]), (200, &json!(true)), "{told}");
    let there = deliveries(&server, &review, "DELIVERED").await.remove(0);
    assert_eq!((&there["id"], &there["attempts"]), (&failed["id"], &json!(3)), "{there}");
    let (status, _) = post(&server, &format!("/crew/resume/{task}"), &json!({"status": "approved"})).await;
    assert_eq!(status, 200);
    wait_state(&server, &task, "COMPLETED").await;
}

/// An inactive webhook is registered and listed, but receives nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_is_not_active_is_told_nothing() {
    let (sink, server, _model) = server().await;
    let off = json!({"name": "off", "url": sink.url("/off"), "active": false});
    let hook = register(&server, &sink, off).await;
    register(&server, &sink, json!({})).await;
    let shown = get(&server, &format!("/webhooks/{}", hook["id"].as_str().unwrap())).await;
    assert_eq!(shown["active"], false, "{shown}");
    let (task, review) = paused(&server).await;
    deliveries(&server, &review, "DELIVERED").await;
    post(&server, &format!("/crew/resume/{task}"), &json!({"status": "approved"})).await;
    let paths: Vec<String> = sink.wait_for(2).await.into_iter().map(|each| each.path).collect();
    assert_eq!(paths, ["/hook", "/hook"]);
    assert_eq!(get(&server, &format!("/webhooks/status/{review}")).await["count"], 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_43_a_webhook_survives_a_restart_and_its_secret_is_in_no_journal() {
    let (sink, mut server, _model) = server().await;
    let hook = register(&server, &sink, json!({})).await;
    server.restart().await;
    let listed = get(&server, "/webhooks").await;
    assert_eq!(listed["webhooks"][0]["webhook_id"], hook["webhook_id"]);
    let (task, review) = paused(&server).await;
    deliveries(&server, &review, "DELIVERED").await;
    server.restart().await;
    post(&server, &format!("/crew/resume/{task}"), &json!({"status": "approved"})).await;
    let received = sink.wait_for(2).await;
    let verifies = |each: &ReceivedRequest| {
        each.header("x-webhook-signature") == data_encoding::HEXLOWER.encode(&hmac(&each.body))
    };
    assert!(received.iter().all(verifies));

    // The secret is stored in only one file, which only the file's owner can read.
    let events = server.get("/v1/audit/events?stream=sys&limit=200").await.ok().to_string();
    assert!(events.contains("webhook_registered"), "{events}");
    let found = Command::new("grep").args(["-rlFe", SECRET]).arg(server.data()).output().unwrap();
    let found = String::from_utf8_lossy(&found.stdout).into_owned();
    assert_eq!(found.lines().count(), 1, "{found}");
    assert!(found.trim().ends_with("webhooks.json"), "{found}");
    for text in [events, listed.to_string(), hook.to_string(), server.stderr()] {
        assert!(!text.contains(SECRET) && !text.contains("/hook"), "{text}");
    }
    let id = hook["id"].as_str().unwrap();
    server.send(server.request(Method::DELETE, &format!("{BASE}/webhooks/{id}"))).await.ok();
    let kept = std::fs::read_to_string(server.data().join("webhooks.json")).unwrap();
    assert!(!kept.contains(SECRET), "{kept}");
    server.restart().await;
    assert_eq!(get(&server, "/webhooks").await["count"], 0);
    paused(&server).await;
    assert_eq!(sink.received().len(), 2, "one that is removed is told nothing");
}

/// If a webhook is removed while its delivery waits for a retry, the delivery is not retried, and the task can still be
/// decided.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_is_removed_is_tried_no_more() {
    let (sink, server, _model) = server().await;
    sink.answer([500]);
    let hook = register(&server, &sink, json!({})).await;
    let (task, review) = paused(&server).await;
    deliveries(&server, &review, "RETRYING").await;
    let path = format!("{BASE}/webhooks/{}", hook["id"].as_str().unwrap());
    server.send(server.request(Method::DELETE, &path)).await.ok();
    let told = sink.count();
    let (status, _) = post(&server, &format!("/crew/resume/{task}"), &json!({"status": "approved"})).await;
    assert_eq!(status, 200);
    wait_state(&server, &task, "COMPLETED").await;
    // Wait longer than the delay of the retry.
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    assert_eq!(sink.count(), told);
    let shown = &get(&server, &format!("/webhooks/status/{review}")).await["deliveries"][0];
    assert_eq!((&shown["webhook_id"], &shown["response_code"]), (&hook["id"], &json!(500)), "{shown}");
}

/// The response to a retry names a webhook that is removed, and the delivery stays failed. The native API
/// refuses such a retry.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retry_for_a_webhook_that_is_gone_says_so_and_stays_failed() {
    let (sink, server, _model) = server().await;
    sink.answer([400]);
    let hook = register(&server, &sink, json!({})).await;
    let (_, review) = paused(&server).await;
    let failed = deliveries(&server, &review, "FAILED").await.remove(0);
    let hook = hook["id"].as_str().unwrap();
    server.send(server.request(Method::DELETE, &format!("{BASE}/webhooks/{hook}"))).await.ok();
    let id = failed["id"].as_str().unwrap();
    for _ in 0..2 {
        let (status, told) = post(&server, &format!("/webhooks/retry/{id}"), &json!({})).await;
        assert_eq!(
            (status, &told["success"], &told["status"]),
            (200, &json!(false), &json!("FAILED")),
            "{told}"
        );
        let why = told["message"].as_str().unwrap();
        assert!(why.contains(hook) && why.contains("removed"), "{told}");
    }
    let native = server.post(&format!("/v1/deliveries/{id}/retry"), &json!({})).await;
    assert_eq!(native.refusal(), (409, "not_retriable"), "{native:?}");
    let shown = get(&server, &format!("/webhooks/delivery/{id}")).await;
    assert_eq!(shown, failed, "nothing has changed");
    assert_eq!(sink.count(), 1);
    // A delivered notification is not sent again either, and the response says why.
    register(&server, &sink, json!({"name": "other"})).await;
    let (_, review) = paused(&server).await;
    let there = deliveries(&server, &review, "DELIVERED").await.remove(0);
    let (status, told) =
        post(&server, &format!("/webhooks/retry/{}", there["id"].as_str().unwrap()), &json!({})).await;
    assert_eq!(
        (status, &told["success"], &told["status"]),
        (200, &json!(false), &json!("DELIVERED")),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expired_review_is_an_event_of_its_own() {
    let (model, sink) = (model().await, WebhookSink::start().await);
    let gates = super::WORKFLOW.to_owned() + "gates: {review: {expires_in: 300ms}}\n";
    let server = allow_local_webhooks(setup(&model).workflow("fraud", &gates)).start().await;
    register(&server, &sink, json!({})).await;
    post(&server, "/crew/run", &json!({"crew_name": "fraud"})).await;
    let kinds: Vec<String> =
        sink.wait_for(2).await.iter().map(|each| each.header("x-event-type").to_owned()).collect();
    assert_eq!(kinds, ["compliance_review", "compliance_review_expired"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slack_and_teams_are_told_in_their_words_and_upstreams_encoding_is_a_setting() {
    let (model, sink) = (model().await, WebhookSink::start().await);
    let server =
        allow_local_webhooks(setup(&model)).env("WEBHOOK_SIGNATURE_ENCODING", "base64").start().await;
    register(&server, &sink, json!({})).await;
    for kind in ["slack", "teams"] {
        register(
            &server,
            &sink,
            json!({"name": kind, "type": kind, "url": sink.url(&format!("/{kind}")), "secret": null}),
        )
        .await;
    }
    register(&server, &sink, json!({"name": "bare", "url": sink.url("/bare"), "secret": null})).await;
    paused(&server).await;
    let received = sink.wait_for(4).await;
    let of = |path: &str| received.iter().find(|each| each.path == path).unwrap();
    assert!(of("/slack").json()["blocks"].is_array());
    assert_eq!(of("/teams").json()["type"], "message");
    let custom = of("/hook");
    assert_eq!(custom.header("x-webhook-signature"), data_encoding::BASE64.encode(&hmac(&custom.body)));
    let bare = of("/bare");
    assert!(bare.headers.keys().all(|name| !name.as_str().ends_with("signature")), "{:?}", bare.headers);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_is_registered_and_told_over_the_server_of_mails() {
    let mailbox = Mailbox::start(SmtpSecurity::Starttls, true);
    let model = model().await;
    let setup = allow_local_webhooks(setup(&model))
        .channels(&channel(&mailbox, ", kinds: [question], user: holdshort, password_env: MAIL_PASSWORD"))
        .env("MAIL_PASSWORD", PASSWORD)
        .env("SSL_CERT_FILE", &tls("authority.pem"));
    let mut server = setup.start().await;
    let hook = json!({"name": "legal", "type": "email", "url": "mailto:legal@example.org"});
    for url in ["mailto:", "mailto:a@example.org,b@example.org", "mailto:a@example.org?bcc=b@example.org"] {
        let mut wrong = hook.clone();
        wrong["url"] = url.into();
        let (status, told) = post(&server, "/webhooks/register", &wrong).await;
        assert_eq!((status, &told["errors"][0]["pointer"]), (422, &json!("/url")), "{url}: {told}");
    }
    let (status, made) = post(&server, "/webhooks/register", &hook).await;
    assert_eq!((status, &made["url"]), (201, &json!("mailto:…@example.org")), "{made}");
    server.restart().await;
    let (_, review) = paused(&server).await;
    let mail = mailbox.wait_for(1).await.remove(0);
    assert_eq!(mail["to"], json!(["legal@example.org"]), "{mail:#}");
    let text = mail["text"].as_str().unwrap();
    assert!(text.contains("/inbox/") && !text.contains("/d/"), "whoever reads it signs in: {text}");
    assert!(!text.contains("14,000"), "no content of the run: {text}");
    let delivered = deliveries(&server, &review, "DELIVERED").await.remove(0);
    assert_eq!(delivered["webhook_id"], made["id"], "{delivered}");
    let events = server.get("/v1/audit/events?stream=sys&limit=200").await.ok().to_string();
    assert!(events.contains("webhook_registered") && !events.contains("legal@"), "{events}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_not_be_a_webhook_is_refused_where_it_stands() {
    let (sink, server, _model) = server().await;
    register(&server, &sink, json!({})).await;
    let url = sink.url("/hook");
    let table = [
        (json!({"name": "a", "type": "custom_url", "url": "ftp://x.example"}), "/url"),
        (json!({"name": "a", "type": "custom_url"}), "/url"),
        (json!({"name": "a", "type": "custom_url", "url": "http://93.184.216.34/hook"}), "/url"),
        (json!({"name": "a", "type": "custom_url", "url": "https://u:p@x.example"}), "/url"),
        (json!({"name": "", "type": "custom_url", "url": url}), "/name"),
        (json!({"name": "aml", "type": "custom_url", "url": url}), "/name"),
        (json!({"name": "a", "type": "carrier_pigeon", "url": url}), "/type"),
        (json!({"name": "a", "type": "email", "url": url}), "/url"),
        // The server has no mail configuration.
        (json!({"name": "a", "type": "email", "url": "mailto:a@example.org"}), "/type"),
        (
            json!({"name": "a", "type": "email", "url": "mailto:a@example.org", "headers": {"X": "x"}}),
            "/headers",
        ),
        (json!({"name": "a", "type": "custom_url", "url": url, "headers": {"Host": "x"}}), "/headers/Host"),
        (
            json!({"name": "a", "type": "custom_url", "url": url, "headers": {"X-Event-ID": "x"}}),
            "/headers/X-Event-ID",
        ),
        (
            json!({"name": "a", "type": "custom_url", "url": url, "headers": {"Content-Type": "text/plain"}}),
            "/headers/Content-Type",
        ),
        (json!({"name": "a", "type": "custom_url", "url": url, "headers": {"X": "ü"}}), "/headers/X"),
        (json!({"name": "a", "type": "custom_url", "url": url, "more": 1}), "/more"),
        (json!({"type": "custom_url", "url": url}), "/name"),
    ];
    for (body, pointer) in table {
        let (status, told) = post(&server, "/webhooks/register", &body).await;
        assert_eq!((status, &told["errors"][0]["pointer"]), (422, &json!(pointer)), "{body}: {told}");
        assert!(told["detail"].is_string());
    }
    assert_eq!(get(&server, "/webhooks").await["count"], 1);
    for path in [
        "/webhooks/none",
        "/webhooks/whk_01k6f0000000000000000000zz",
        "/webhooks/delivery/none",
        "/webhooks/status/none",
    ] {
        assert_eq!(server.get(&format!("{BASE}{path}")).await.status, 404, "{path}");
    }
    // An interrupt of a different kind is not a review of a task.
    let id = crate::notifications::ask(&server, json!({})).await;
    let path = format!("{BASE}/webhooks/status/{}", id.replace("int_", "REV-").to_uppercase());
    assert_eq!(server.get(&path).await.status, 404, "{path}");
}

/// Without an allowed network, a webhook must not have a loopback address. If the URL contains such an address, the
/// registration is refused. If a host name resolves to such an address, the delivery is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_is_not_public_is_refused() {
    let (model, sink) = (model().await, WebhookSink::start().await);
    let server = setup(&model).env("RETRY_DELAY_SECONDS", "1").start().await;
    let secure = sink.url("/hook").replacen("http", "https", 1);
    let addresses =
        [sink.url("/hook"), secure.clone(), "https://[::1]/hook".to_owned(), "https://10.0.0.7/".to_owned()];
    for url in addresses {
        let body = json!({"name": "a", "type": "custom_url", "url": url});
        let (status, told) = post(&server, "/webhooks/register", &body).await;
        assert_eq!((status, &told["errors"][0]["pointer"]), (422, &json!("/url")), "{url}: {told}");
    }
    assert_eq!(get(&server, "/webhooks").await["count"], 0);
    let url = secure.replacen("127.0.0.1", "localhost", 1);
    let body = json!({"name": "a", "type": "custom_url", "url": url});
    let (status, told) = post(&server, "/webhooks/register", &body).await;
    assert_eq!(status, 201, "it is looked up when it is sent: {told}");
    let (_, review) = paused(&server).await;
    let tried = eventually("it was tried", async || {
        let found = get(&server, &format!("/webhooks/status/{review}")).await["deliveries"][0].clone();
        (found["attempts"].as_u64() > Some(0)).then_some(found)
    })
    .await;
    assert!(tried["error"].as_str().unwrap().contains("this machine"), "{tried}");
    assert!(sink.received().is_empty());
}

/// A delivery about a checkpoint contains neither a task nor a review.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delivery_of_a_checkpoint_names_no_review() {
    let sink = WebhookSink::start().await;
    let channels = format!(
        "channels:\n  kept: {{type: webhook, url: \"{}\", secret_env: HOOK_SECRET, allow: [127.0.0.0/8], events: [checkpoint]}}\n",
        sink.url("/kept")
    );
    let setup = TestServer::setup().channels(&channels).env("HOOK_SECRET", crate::notifications::SECRET);
    let server = setup.checkpoint_every(std::time::Duration::from_secs(1)).start().await;
    let asks = server.agent_request(Method::POST, "/v1/interrupts");
    server.send(asks.json(&json!({"kind": "question", "title": "When?"}))).await.ok();
    sink.wait_for(1).await;
    let listed = server.get("/v1/deliveries").await.ok();
    let id = listed["items"][0]["id"].as_str().unwrap();
    let shown = get(&server, &format!("/webhooks/delivery/{id}")).await;
    let told = json!([shown["event"], shown["review_id"], shown["task_id"]]);
    assert_eq!(told, json!(["checkpoint", null, null]), "{shown}");
    assert!(shown["payload"].is_object(), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_registered_is_shown_as_it_is_kept() {
    let (sink, server, _model) = server().await;
    // Example of the source system: a secret that is not used for signatures, and a header that is always sent.
    let theirs = json!({
        "name": "compliance-review-slack", "type": "slack", "headers": {"Content-Type": "application/json"},
    });
    let made = register(&server, &sink, theirs).await;
    assert_eq!((&made["has_secret"], &made["headers"]), (&json!(false), &json!([])), "{made}");
    assert!(made["message"].as_str().unwrap().contains("is not stored"), "{made}");
    assert_eq!(get(&server, "/webhooks/list").await, get(&server, "/webhooks").await);
    let host = sink.url("").replacen("http://", "", 1);
    let plain = register(&server, &sink, json!({})).await;
    assert_eq!(plain["url"], json!(format!("http://{host}/…")));
    let secure = register(&server, &sink, json!({"name": "b", "url": "https://example.org/hook"})).await;
    assert_eq!(secure["url"], "https://example.org/…");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn administrators_register_and_whoever_sees_everything_looks() {
    let model = model().await;
    let (issuer, server) = Issuer::serving(setup(&model)).await;
    let body = json!({"name": "a", "type": "custom_url", "url": "https://example.org/hook"});
    let people = [
        ("admin", 201, 200),
        ("analyst", 403, 200),
        ("compliance", 403, 403),
        ("audit", 403, 200),
        ("robot", 403, 403),
    ];
    for (role, registers, looks) in people {
        let token = issuer.token(&format!("somebody-of-{role}"), role);
        let path = "/webhooks/register";
        let (status, told) = ask(&server, &token, Method::POST, path, Some(&body)).await;
        assert_eq!(status, registers, "{role}: {told}");
        assert_eq!(ask(&server, &token, Method::GET, "/webhooks", None).await.0, looks, "{role}");
    }
}
