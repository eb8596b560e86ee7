//! Parts of an interrupt's record that are not events and not covered by the proof: the deliveries of its channels, and
//! how long the approver saw the card.

use holdshort_core::digest::Digest;
use holdshort_testkit::server::TestServer;
use holdshort_testkit::sink::{ReceivedRequest, WebhookSink};
use reqwest::Method;
use serde_json::{Value, json};

use crate::mails::person;
use crate::notifications::{SECRET, ask, resolve, wait_state, webhook_setup};

async fn page(server: &TestServer, interrupt: &str) -> String {
    let request = server.request(Method::GET, &format!("/v1/receipts/{interrupt}/page"));
    request.send().await.unwrap().text().await.unwrap()
}

/// The client reports for how long the request was shown. This duration is recorded with the vote, and limited to one
/// day. A repeated decision with a different duration is still a repetition.
#[tokio::test(flavor = "multi_thread")]
async fn how_long_a_card_was_shown_is_told_with_the_decision() {
    let server = TestServer::setup().start().await;
    let day: u64 = 24 * 3_600 * 1_000;
    for (said, recorded, shown) in [
        (json!(4_250), json!(4_250), Some("after 4.2 s with the card on screen, as the client says")),
        (json!(10 * day), json!(day), Some("after 86400.0 s with the card on screen, as the client says")),
        (Value::Null, Value::Null, None),
    ] {
        let one = ask(&server, json!({})).await;
        let interrupt = server.interrupt(&one).await;
        let decision = json!({"option": "approve", "viewed_ms": said});
        server.decide(&interrupt, &decision).await.ok();
        server.decide(&interrupt, &json!({"option": "approve", "viewed_ms": 1})).await.ok();
        let run = interrupt["run"].as_str().unwrap();
        let [made] = &server.events_of(run, "decision_made").await[..] else { panic!("one decision") };
        assert_eq!(made["data"].get("viewed_ms").unwrap_or(&Value::Null), &recorded, "{made:#}");
        let receipt = server.get(&format!("/v1/receipts/{one}")).await.ok();
        let heads = receipt["events"].as_array().unwrap().iter().map(|each| each["head"].as_str().unwrap());
        let told: Vec<&str> = heads.filter(|head| head.contains("\"viewed_ms\"")).collect();
        assert_eq!(told.len(), usize::from(shown.is_some()), "{told:#?}");
        let page = page(&server, &one).await;
        match shown {
            Some(words) => assert!(page.contains(words), "{page}"),
            None => assert!(!page.contains("with the card on screen"), "{page}"),
        }
    }
    // A vote that does not resolve the interrupt also records the duration.
    person(&server, "anna", json!({})).await;
    let two = json!({"assignment": {"approvers": ["anna", "operator"], "quorum": {"required": 2}}});
    let interrupt = server.interrupt(&ask(&server, two).await).await;
    let refused = server.decide(&interrupt, &json!({"option": "approve", "viewed_ms": -1})).await;
    assert_eq!(refused.status, 422, "{refused:#?}");
    let open = server.decide(&interrupt, &json!({"option": "approve", "viewed_ms": 900})).await.ok();
    assert_eq!((&open["status"], &open["votes"][0]["viewed_ms"]), (&json!("open"), &json!(900)), "{open:#}");
}

/// The receipt lists the deliveries of an interrupt with their channel and the digest of their content, and says that
/// the proof does not cover deliveries.
#[tokio::test(flavor = "multi_thread")]
async fn the_record_of_an_interrupt_says_what_its_channels_were_told() {
    let sink = WebhookSink::start().await;
    sink.answer([500]);
    let server = webhook_setup(&sink, ", retry_delay: 100ms").start().await;
    let other = ask(&server, json!({})).await;
    let id = ask(&server, json!({})).await;
    wait_state(&server, "delivered", 2).await;
    server.post(&format!("/v1/interrupts/{id}/views"), &json!({})).await.ok();
    resolve(&server, &id).await;
    wait_state(&server, "delivered", 3).await;

    let receipt = server.get(&format!("/v1/receipts/{id}")).await.ok();
    let recorded = receipt["not_covered"]["deliveries"].as_array().unwrap();
    let events: Vec<_> = recorded.iter().map(|each| each["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["opened", "resolved"]);
    assert!(receipt["not_covered"].get("has_older").is_none(), "{receipt:#}");
    let page = page(&server, &id).await;
    assert!(page.contains("The checkpoint does not cover these notifications"), "{page}");
    assert!(page.contains("interrupt viewed</strong> by <bdi>operator</bdi> (<bdi>rest</bdi>)"), "{page}");
    for delivery in recorded {
        assert_eq!((&delivery["channel"], &delivery["state"]), (&json!("hook"), &json!("delivered")));
        for attempt in delivery["tried"].as_array().unwrap() {
            let digest = attempt["digest"].as_str().unwrap();
            let is_of = |received: &ReceivedRequest| Digest::of_bytes(&received.body).to_string() == digest;
            assert!(sink.received().iter().any(is_of), "{delivery:#}");
            assert!(page.contains(digest), "{page}");
        }
    }
    let receipt = server.get(&format!("/v1/receipts/{other}")).await.ok();
    assert_eq!(receipt["not_covered"]["deliveries"].as_array().unwrap().len(), 1, "{receipt:#}");
}

/// A receipt contains the newest deliveries up to a limit, and says that older deliveries exist.
#[tokio::test(flavor = "multi_thread")]
async fn a_record_of_many_deliveries_holds_the_newest() {
    let sink = WebhookSink::start().await;
    let url = sink.url("/hook");
    let channel = |n: usize| {
        format!(
            "  hook{n}: {{type: webhook, url: \"{url}\", secret_env: HOOK_SECRET, allow: [127.0.0.0/8]}}\n"
        )
    };
    let all: Vec<String> = (0..50).map(channel).collect();
    let channels = format!("channels:\n{}", all.concat());
    let server = TestServer::setup().channels(&channels).env("HOOK_SECRET", SECRET).start().await;
    for who in ["anna", "ben"] {
        person(&server, who, json!({})).await;
    }
    let id = ask(&server, json!({})).await;
    for who in ["anna", "ben", "anna", "ben"] {
        let body = json!({"assignment": {"approvers": [who]}});
        server.post(&format!("/v1/interrupts/{id}/reassign"), &body).await.ok();
    }
    let receipt = server.get(&format!("/v1/receipts/{id}")).await.ok();
    let not_covered = &receipt["not_covered"];
    let deliveries = not_covered["deliveries"].as_array().unwrap();
    assert_eq!((deliveries.len(), &not_covered["has_older"]), (200, &json!(true)));
    assert!(deliveries.iter().all(|each| each["event"] == "asked"), "{deliveries:#?}");
    assert!(page(&server, &id).await.contains("Older notifications are not listed."));
}
