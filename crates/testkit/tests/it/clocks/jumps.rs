//! A SQLite server whose clock jumps five minutes forward and back while the server is down. No action is repeated or
//! lost, and no action waits for a deadline that has already passed.

use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::{TestServer, eventually};
use holdshort_testkit::sink::WebhookSink;
use reqwest::Method;
use serde_json::{Value, json};

use super::{ClockedServer, text};
use crate::notifications::{SECRET, deliveries};
use crate::play::{SOLO, count, done, one};

const MINUTE: u64 = 60_000;

const PEOPLE: &str = "
people:
  anna: {roles: [reviewer]}
  cleo: {roles: [reviewer]}
";

/// Time of each restart of the server, and the events since the previous restart. The interrupt opens at 12:00. The
/// reminder is due at 12:04, the escalation at 12:06, and the expiry at 12:30.
const JUMPS: [(&str, &[&str]); 9] = [
    ("12:05:00", &["12:05 reminds anna"]),
    // The clock is set back to before the reminder, but the reminder was already sent.
    ("12:00:10", &[]),
    ("12:05:30", &[]),
    // The deadline of the escalation is computed from the opening, so no jump moves it. The new approvers are reminded
    // four minutes later, at 12:10.
    ("12:06:30", &["12:06 asks anna cleo"]),
    ("12:01:30", &[]),
    ("12:16:00", &["12:16 reminds anna cleo"]),
    ("12:11:00", &[]),
    // The next reminder was due at 12:26, but an expired interrupt is not reminded.
    ("12:31:00", &["12:31 ends expired"]),
    ("12:26:00", &[]),
];

/// Opens an interrupt with the same idempotency key each time, so that repeated requests return the first interrupt.
async fn ask(server: &TestServer) -> Value {
    let body = json!({
        "kind": "review", "title": "May it go?", "assignment": {"approvers": ["anna"]},
        "reminders": {"after_ms": 4 * MINUTE, "every_ms": 10 * MINUTE, "limit": 5},
        "escalation": [{"after_ms": 6 * MINUTE, "approvers": ["cleo"]}], "expires_in_ms": 30 * MINUTE,
    });
    let request =
        server.request(Method::POST, "/v1/interrupts").header("idempotency-key", "once").json(&body);
    server.send(request).await.ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_jumps_forward_and_back_does_nothing_twice() {
    let (sink, model) = (WebhookSink::start().await, ScriptedModel::start().await);
    model.script("solo", [one(count("one")), done()]);
    let channels = format!(
        "channels:\n  hook: {{type: webhook, url: \"{}\", secret_env: HOOK_SECRET, allow: [127.0.0.0/8], \
         kinds: [review]}}\n",
        sink.url("/hook")
    );
    let setup = TestServer::setup().workflow("solo", SOLO).model(&model).people(PEOPLE);
    let setup = setup.channels(&channels).env("HOOK_SECRET", SECRET);
    let mut office = ClockedServer::open("2026-06-01T12:00:00Z", setup).await;
    let asked = ask(&office.server).await;
    let run = office.server.start_run("solo", "count").await;
    let held = office.server.wait_one(&run).await;

    let (mut expected, mut before) = (Vec::new(), Vec::new());
    for (time, new) in JUMPS {
        office.back_at(&format!("2026-06-01T{time}Z")).await;
        expected.extend(new.iter().map(|what| format!("2026-06-01T{what}")));
        assert_eq!(office.happened(&asked).await, expected, "back at {time}");
        assert_eq!(ask(&office.server).await["id"], asked["id"], "back at {time}");
        let events = office.server.events(text(&asked["run"])).await;
        assert!(events.starts_with(&before), "{time}: {before:#?} is not the beginning of {events:#?}");
        before = events;
        if time == "12:00:10" {
            // Decide after the clock was ahead and was set back.
            office.server.choose(&held, "approve").await;
            office.server.wait_status(&run, &["completed"]).await;
        }
        // Wait for all deliveries, because a server that is killed while it sends would send again.
        let told = async || deliveries(&office.server, "&state=waiting").await.is_empty().then_some(());
        eventually("what has happened is told", told).await;
    }
    assert_eq!(office.server.wait_status(&run, &["completed"]).await["id"], run);
    assert_eq!(office.server.lines("count.txt"), 1);
    assert_eq!(office.server.events_of(&run, "tool_started").await.len(), 1);
    // By the server's clock the interrupt would stay open for four more minutes.
    assert_eq!(office.now(&asked).await["resolution"]["outcome"], "expired");
    let told: Vec<String> =
        sink.received().iter().map(|each| text(&each.json()["type"]).replace("interrupt.", "")).collect();
    assert_eq!(told, ["opened", "reminded", "escalated", "reminded", "expired"]);
    office.assert_verified();
}
