//! Checkpoints that the real binary sends to channels, and that recipients compare with the journal.

use std::fs;
use std::time::Duration;

use holdshort_testkit::mailbox::{Mailbox, SmtpSecurity};
use holdshort_testkit::server::{Setup, TestServer, eventually};
use holdshort_testkit::sink::{ReceivedRequest, WebhookSink};
use serde_json::{Value, json};

use crate::notifications::{SECRET, wait_state};

fn hook(sink: &WebhookSink) -> String {
    let url = sink.url("/kept");
    format!(
        "channels:\n  kept: {{type: webhook, url: \"{url}\", secret_env: HOOK_SECRET, allow: [127.0.0.0/8], \
         retry_delay: 100ms, events: [checkpoint]}}\n"
    )
}

fn every_second(channels: &str) -> Setup {
    TestServer::setup().channels(channels).env("HOOK_SECRET", SECRET).checkpoint_every(Duration::from_secs(1))
}

async fn freeze_and_lift(server: &TestServer) {
    server.post("/v1/system/freeze", &json!({"reason": "a look"})).await.ok();
    server.post("/v1/system/unfreeze", &json!({})).await.ok();
}

fn sizes(received: &[ReceivedRequest]) -> Vec<u64> {
    received.iter().map(|each| each.json()["data"]["size"].as_u64().unwrap()).collect()
}

/// Returns true if `audit verify` finds that the journal extends the checkpoint in the stored note.
fn is_checkpoint_continued(server: &TestServer, kept: &str, key: &str) -> bool {
    let file = server.workspace().join("kept.txt");
    fs::write(&file, kept).unwrap();
    let ran = server
        .client_command()
        .args(["audit", "verify", "--against"])
        .arg(&file)
        .args(["--key", key])
        .output();
    let ran = ran.unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(matches!(ran.status.code(), Some(0 | 1)), "{ran:?}");
    ran.status.success() && said.contains("continues from")
}

/// One checkpoint is sent per interval with new events. Sending a checkpoint appends no event. A failed delivery is
/// retried after a restart, under the same id.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_keeps_each_checkpoint_once_while_the_journal_grows() {
    let sink = WebhookSink::start().await;
    let mut server = every_second(&hook(&sink)).start().await;
    freeze_and_lift(&server).await;
    let first = sink.wait_for(1).await.remove(0);
    let body = first.json();
    assert_eq!(
        (&body["type"], first.header("x-event-type")),
        (&json!("checkpoint.signed"), "checkpoint.signed")
    );
    let (note, key) = (body["data"]["note"].as_str().unwrap(), body["data"]["key"].as_str().unwrap());
    assert!(is_checkpoint_continued(&server, note, key), "{body}");
    let told = eventually("it is in the journal", async || {
        let events = server.get("/v1/audit/events?type=checkpoint_told").await.ok();
        events["items"].as_array().filter(|items| !items.is_empty()).cloned()
    });
    let told = told.await;
    assert_eq!(
        (&told[0]["data"]["size"], &told[0]["data"]["root"]),
        (&body["data"]["size"], &body["data"]["root"])
    );
    let deliveries = server.get("/v1/deliveries?channel=kept").await.ok();
    let delivery = &deliveries["items"][0];
    assert_eq!((&delivery["event"], delivery.get("interrupt")), (&json!("checkpoint"), None), "{delivery}");
    assert_eq!(delivery["seq"], told[0]["seq"], "{delivery}");

    wait_state(&server, "delivered", 1).await;
    server.restart().await;
    sink.answer([503]);
    freeze_and_lift(&server).await;
    let received = sink.wait_for(3).await;
    let sizes = sizes(&received);
    assert!(sizes[1] > sizes[0] + 1, "a journal in which nothing happens is not signed again: {sizes:?}");
    assert_eq!(sizes[1], sizes[2], "tried again");
    assert_eq!(received[1].header("webhook-id"), received[2].header("webhook-id"));
    assert_ne!(received[0].header("webhook-id"), received[1].header("webhook-id"));
    for each in &received {
        assert!(is_checkpoint_continued(&server, each.json()["data"]["note"].as_str().unwrap(), key));
    }
}

/// `audit verify` reads a mail that the recipient saved as a file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_to_a_fixed_address_is_a_file_to_compare_with() {
    let mailbox = Mailbox::start(SmtpSecurity::Clear, false);
    let channels = format!(
        "channels:\n  auditor: {{type: email, server: \"{}\", security: none, from: holdshort@example.org, \
         to: [auditor@example.org], events: [checkpoint], allow: [127.0.0.0/8, \"::1/128\"]}}\n",
        mailbox.server()
    );
    let server = every_second(&channels).start().await;
    freeze_and_lift(&server).await;
    let mail = mailbox.wait_for(1).await.remove(0);
    assert_eq!(mail["to"], json!(["auditor@example.org"]));
    let subject = mail["subject"].as_str().unwrap();
    assert!(subject.starts_with("[Holdshort] Checkpoint of ") && subject.ends_with(" events"), "{subject}");
    let text = mail["text"].as_str().unwrap();
    let key = text.lines().find_map(|line| line.strip_prefix("Its key: ")).unwrap();
    assert!(is_checkpoint_continued(&server, text, key), "{text}");
    let raw = mail["raw"].as_str().unwrap();
    assert!(raw.contains("quoted-printable") && is_checkpoint_continued(&server, raw, key), "{raw}");
    // A mail relay may have changed the transfer encoding.
    let encoded = data_encoding::BASE64.encode(text.as_bytes());
    let head =
        "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64";
    assert!(is_checkpoint_continued(&server, &format!("{head}\r\n\r\n{encoded}\r\n"), key), "{encoded}");
    let signed: Value = server.post("/v1/audit/checkpoints", &json!({})).await.ok();
    assert_eq!(signed["key"], json!(key), "it is the key that the server tells");
}

/// A checkpoint interval without a channel for checkpoints is a configuration error that stops the start.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interval_that_nobody_asks_for_stops_the_start() {
    let sink = WebhookSink::start().await;
    let channels = hook(&sink).replace("events: [checkpoint]", "events: [opened]");
    let mut server = every_second(&channels).stopped();
    assert_eq!(server.try_start().await.unwrap_err().code(), Some(2));
    server.wait_for_log("events: [checkpoint]").await;
}
