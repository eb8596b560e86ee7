//! Quiet hours and digests, with the real binary. Several notices are sent in one message, no notice is sent twice, and
//! no request is sent for an interrupt that is already decided.

use std::time::Duration;

use holdshort_testkit::mailbox::{Mailbox, SmtpSecurity};
use holdshort_testkit::server::TestServer;
use holdshort_testkit::sink::WebhookSink;
use serde_json::{Value, json};

use crate::cluster::database;
use crate::mails::{mailed, person, to_legal};
use crate::notifications::{ask, deliveries, resolve, wait_state};

/// Interval in which a channel collects notices for a digest. The interval is long enough for a test to ask all its
/// questions within one interval.
const EVERY: &str = "12s";
const PERIOD: Duration = Duration::from_secs(12);

/// Waits until an interval between two digests has just begun.
async fn begin_of_a_period() {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let left = PERIOD.as_millis() - now.as_millis() % PERIOD.as_millis();
    tokio::time::sleep(Duration::from_millis(u64::try_from(left).unwrap() + 50)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_things_are_one_mail_to_each_and_none_that_is_decided() {
    let mailbox = Mailbox::start(SmtpSecurity::Starttls, false);
    let more = format!(", title: true, digest: {EVERY}, personal: {{ben: {{digest: off}}}}");
    let mut server = mailed(&mailbox, &more).start().await;
    for id in ["anna", "ben"] {
        person(&server, id, json!({})).await;
    }
    begin_of_a_period().await;
    let mut asked = Vec::new();
    for title in ["One", "Two", "Three"] {
        asked.push(ask(&server, to_legal(&json!({"title": title}))).await);
    }
    // Ben has no digest, so he receives each notice at once.
    wait_state(&server, "delivered", 3).await;
    resolve(&server, &asked[1]).await;
    wait_state(&server, "delivered", 4).await;
    server.restart().await;
    // Ben has four mails, about three interrupts and one resolution. Anna has one mail.
    let mails = mailbox.wait_for(5).await;
    let of = |who: &str| -> Vec<&Value> {
        mails.iter().filter(|mail| mail["to"] == json!([format!("{who}@example.org")])).collect()
    };
    let [anna] = of("anna")[..] else { panic!("one mail: {mails:#?}") };
    assert_eq!((of("ben").len(), &anna["subject"]), (4, &json!("[Holdshort] 2 new notifications")));
    let text = anna["text"].as_str().unwrap();
    for (title, is_there) in [("“One”", true), ("“Two”", false), ("“Three”", true)] {
        assert_eq!(text.contains(title), is_there, "{title}: {text}");
    }
    assert_eq!(text.matches("/d/").count(), 2, "a link of her own for each: {text}");
    let dropped = wait_state(&server, "dropped", 2).await;
    assert_eq!(dropped.len(), 2);
    assert_eq!(wait_state(&server, "delivered", 6).await.len(), 6);
    assert_eq!(deliveries(&server, "&state=waiting").await.len(), 0, "nothing more is told");
    assert_eq!(mailbox.mails().len(), 5, "nothing twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_send_one_digest() {
    let sink = WebhookSink::start().await;
    let url = database().await;
    let channels = format!(
        "channels:\n  team: {{type: slack, url_env: SLACK, allow: [127.0.0.0/8], digest: {EVERY}}}\n"
    );
    let node = |name: &str| {
        TestServer::setup().channels(&channels).env("SLACK", &sink.url("/slack")).database(&url, name)
    };
    let one = node("a").start().await;
    let other = node("b").start().await;
    begin_of_a_period().await;
    for n in 0..10 {
        ask(if n % 2 == 0 { &one } else { &other }, json!({"title": format!("Thing {n}")})).await;
    }
    let received = sink.wait_for(1).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(sink.received().len(), 1, "one message");
    let body = received[0].json();
    assert_eq!(body["text"], "10 new notifications");
    assert_eq!(body["blocks"].as_array().unwrap().len(), 11);
    assert_eq!(wait_state(&one, "delivered", 10).await.len(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn in_quiet_hours_nothing_is_sent() {
    let sink = WebhookSink::start().await;
    // Quiet hours, in UTC, that began one hour ago and end in one hour.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let at = |hours: u64| format!("{:02}:{:02}", (now / 3600 + hours) % 24, now / 60 % 60);
    let quiet = format!("quiet: {{from: \"{}\", to: \"{}\", zone: UTC}}", at(23), at(1));
    let channels = format!(
        "channels:\n  held: {{type: ntfy, url: \"{0}\", allow: [127.0.0.0/8], {quiet}}}\n  \
         awake: {{type: ntfy, url: \"{1}\", allow: [127.0.0.0/8]}}\n",
        sink.url("/held"),
        sink.url("/awake"),
    );
    let server = TestServer::setup().channels(&channels).start().await;
    ask(&server, json!({})).await;
    let received = sink.wait_for(1).await;
    assert_eq!(received[0].json()["topic"], "awake");
    wait_state(&server, "delivered", 1).await;
    let [held] = &deliveries(&server, "&state=waiting").await[..] else { panic!("one") };
    assert_eq!((&held["channel"], &held["attempts"]), (&json!("held"), &json!(0)));
    let next = held["next_at"].as_str().unwrap();
    assert!(next.contains(&format!("T{}:", at(1))), "{next} is at {}", at(1));
}
