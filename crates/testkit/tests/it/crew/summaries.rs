//! Notifications with the summary of the findings (document 003, parts 4 and 8; contract D4).

use holdshort_testkit::model::Scripted;
use holdshort_testkit::server::Setup;
use holdshort_testkit::sink::WebhookSink;
use serde_json::{Value, json};

use super::webhooks::{allow_local_webhooks, register};
use super::{get, model, paused, setup};

/// Returns a reply that requests a review, whose findings contain raw data of a customer next to derived findings.
fn review() -> Scripted {
    Scripted::call(
        "request_review",
        json!({
            "title": "Transfers to DE02 1203 0000 0000 2020 51",
            "content": "Anna Hawthorn split 14,000.",
            "findings": ["structuring: customer 1, 12850.00 EUR", "contact anna.h@example.org, born 1980-02-01"],
            "risk_level": "high",
        }),
    )
}

async fn told(setup: Setup, kind: &str) -> (Value, Value) {
    let sink = WebhookSink::start().await;
    let server = allow_local_webhooks(setup).start().await;
    register(&server, &sink, json!({"type": kind, "secret": null})).await;
    let (_, review) = paused(&server).await;
    let body = sink.wait_for(1).await[0].json();
    let shown = get(&server, &format!("/webhooks/status/{review}")).await;
    (body, shown["deliveries"][0]["payload"].clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_summary_has_the_findings_and_no_raw_data_of_a_customer() {
    let model = model().await;
    let summary =
        "Transfers to [redacted]: structuring: customer 1, 12850.00 EUR; contact [redacted] born [redacted]";
    for kind in ["custom_url", "slack", "teams"] {
        model.script("compliance_checker", vec![review()]);
        let (body, payload) = told(setup(&model), kind).await;
        assert!(body.to_string().contains(summary), "{kind}: {body:#}");
        assert_eq!(payload["summary"], summary, "the record of the delivery");
        for raw in ["Hawthorn", "14,000", "1203", "anna.h", "1980"] {
            assert!(!body.to_string().contains(raw), "{kind}: {raw} in {body:#}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_setting_a_notification_has_no_content() {
    let model = model().await;
    model.script("compliance_checker", vec![review()]);
    let (body, payload) = told(setup(&model).env("WEBHOOK_SUMMARY", "false"), "custom_url").await;
    assert_eq!(body["summary"], "Waiting for a decision: review in fraud");
    assert_eq!(payload, body, "the record of the delivery is what was sent");
    assert!(!body.to_string().contains("structuring"), "{body:#}");
}

/// A workflow that withholds content from reviewers also withholds the summary, because its reader is unknown.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn content_that_is_withheld_is_in_no_summary() {
    let model = model().await;
    let workflow =
        super::WORKFLOW.to_owned() + "gates:\n  withhold: [{from: [reviewer], fields: [/content]}]\n";
    let (body, _) = told(setup(&model).workflow("fraud", &workflow), "custom_url").await;
    assert_eq!(body["summary"], "Waiting for a decision: review in fraud");
}
