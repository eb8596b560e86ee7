//! Daylight saving time: the hour that is skipped and the hour that occurs twice. Groups have working hours in Berlin,
//! and a channel has quiet hours. The server is down while the clocks change.
//!
//! Two groups are asked. Every day, `legal` works from 02:30 to 05:00, and `finance` works from 00:00 to 02:30.

use holdshort_testkit::server::{TestServer, eventually};
use holdshort_testkit::sink::WebhookSink;
use serde_json::{Value, json};

use super::{ClockedServer, text};
use crate::notifications::deliveries;

const HOUR: u64 = 3_600_000;

const PEOPLE: &str = "
people:
  anna: {roles: [reviewer], groups: [legal], time_zone: Europe/Berlin}
  ben: {roles: [reviewer], groups: [finance], time_zone: Europe/Berlin}
  cleo: {roles: [reviewer], time_zone: Europe/Berlin}
groups:
  legal: {time_zone: Europe/Berlin, week: {mon-sun: 02:30-05:00}}
  finance: {time_zone: Europe/Berlin, week: {mon-sun: 00:00-02:30}}
";

/// Night in which the clocks change. All timestamps are in UTC.
struct Night {
    /// Time at which the questions of the night are asked: 23:30 in Berlin, outside all working hours.
    asked: &'static str,
    /// Deadlines after one, two and four working hours of the group `legal`.
    remind: &'static str,
    escalate: &'static str,
    expire: &'static str,
    /// Deadline after three working hours of the group `finance`.
    expire_finance: &'static str,
    /// End of the channel's quiet hours, which last from 22:00 to 02:30 in Berlin.
    quiet_until: &'static str,
    snooze_until: &'static str,
    looks: &'static [Look],
}

/// A restart of the server during the night, and the events that are expected by then.
struct Look {
    at: &'static str,
    /// Expected events since the previous restart, of the interrupt for `legal` and of the interrupt for `finance`.
    legal: &'static [&'static str],
    finance: &'static [&'static str],
    /// Number of messages that the channel has sent by this restart of the server.
    sent: usize,
}

async fn assert_right(night: &Night) {
    let sink = WebhookSink::start().await;
    let channels = format!(
        "channels:\n  held: {{type: ntfy, url: \"{}\", allow: [127.0.0.0/8], kinds: [review], events: [opened], \
         quiet: {{from: \"22:00\", to: \"02:30\", zone: Europe/Berlin}}}}\n",
        sink.url("/held")
    );
    let setup = TestServer::setup().people(PEOPLE).channels(&channels);
    let mut office = ClockedServer::open(night.asked, setup).await;
    let legal = office
        .ask(&json!({
            "kind": "review", "title": "May it go?", "assignment": {"groups": ["legal"]}, "working_time": true,
            "reminders": {"after_ms": HOUR}, "escalation": [{"after_ms": 2 * HOUR, "approvers": ["cleo"]}],
            "expires_in_ms": 4 * HOUR,
        }))
        .await;
    let finance = office
        .ask(&json!({
            "kind": "tool_approval", "title": "Pay it?", "assignment": {"groups": ["finance"]},
            "working_time": true, "expires_in_ms": 3 * HOUR,
        }))
        .await;
    // The card shows these deadlines before any of them is due.
    let due = |value: &Value| text(value).trim_end_matches(".000Z").to_owned();
    let found = [
        due(&legal["remind_at"]),
        due(&legal["escalates"]["at"]),
        due(&legal["expires_at"]),
        due(&finance["expires_at"]),
    ];
    let expected = [night.remind, night.escalate, night.expire, night.expire_finance];
    assert_eq!(found, expected.map(|at| at.trim_end_matches('Z').to_owned()));
    office.snooze("anna", &legal, night.snooze_until).await;
    let held = office.server.get("/v1/deliveries?state=waiting").await.ok();
    assert_eq!(due(&held["items"][0]["next_at"]), night.quiet_until.trim_end_matches('Z'), "{held:#}");

    let (mut of_legal, mut of_finance) = (Vec::new(), Vec::new());
    for look in night.looks {
        office.back_at(look.at).await;
        // Each event occurs once, and its timestamp is the minute of the restart.
        let came = |what: &&str| format!("{} {what}", &look.at[..16]);
        of_legal.extend(look.legal.iter().map(came));
        of_finance.extend(look.finance.iter().map(came));
        let found = (office.happened(&legal).await, office.happened(&finance).await);
        assert_eq!(found, (of_legal.clone(), of_finance.clone()), "back at {}", look.at);
        // The outcome must also be recorded, because a message is sent again if the server is killed before the
        // recording.
        let sent =
            async || (deliveries(&office.server, "&state=delivered").await.len() >= look.sent).then_some(());
        eventually("what was held back is sent", sent).await;
        assert_eq!(sink.count(), look.sent, "back at {}", look.at);
    }
    office.assert_verified();
}

/// On 29 March 2026, at 01:00 UTC, the clocks of Berlin jump from 02:00 to 03:00. Berlin is one hour ahead of UTC
/// before the change, and two hours ahead after the change.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_hour_that_does_not_exist_counts_nothing() {
    let night = Night {
        asked: "2026-03-28T22:30:00Z",
        // The local time 02:30 does not exist. Work begins at 03:00 (01:00 UTC) and ends at 05:00 (03:00 UTC), two
        // hours later.
        remind: "2026-03-29T02:00:00Z",
        escalate: "2026-03-29T03:00:00Z",
        // The last two of the four working hours are on the next day, from 02:30 (00:30 UTC).
        expire: "2026-03-30T02:30:00Z",
        // From 00:00 (23:00 UTC) to the change are two hours. The third working hour begins on the next day at 00:00
        // (22:00 UTC).
        expire_finance: "2026-03-29T23:00:00Z",
        quiet_until: "2026-03-29T01:00:00Z",
        snooze_until: "2026-03-29T01:15:00Z",
        looks: &[
            // If the skipped half hour counted, the reminder would already be due at 01:30 UTC.
            Look { at: "2026-03-29T01:45:00Z", legal: &["wakes anna"], finance: &[], sent: 1 },
            Look { at: "2026-03-29T02:30:00Z", legal: &["reminds anna"], finance: &[], sent: 1 },
            // Working hours are over. The new approvers are reminded after one working hour of the next day, at 01:30
            // UTC.
            Look { at: "2026-03-29T03:30:00Z", legal: &["asks anna cleo"], finance: &[], sent: 1 },
            Look { at: "2026-03-29T22:30:00Z", legal: &[], finance: &[], sent: 1 },
            Look {
                at: "2026-03-30T02:00:00Z",
                legal: &["reminds anna cleo"],
                finance: &["ends expired"],
                sent: 1,
            },
            Look { at: "2026-03-30T03:00:00Z", legal: &["ends expired"], finance: &[], sent: 1 },
        ],
    };
    assert_right(&night).await;
}

/// On 25 October 2026, at 01:00 UTC, the clocks of Berlin jump from 03:00 to 02:00. Berlin is two hours ahead of UTC
/// before the change, and one hour ahead after the change. The local time 02:30 occurs at 00:30 UTC and again at 01:30
/// UTC.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_hour_that_exists_twice_counts_twice() {
    let night = Night {
        asked: "2026-10-24T21:30:00Z",
        // Work begins at the first 02:30 (00:30 UTC). One hour later the local time is 02:30 again.
        remind: "2026-10-25T01:30:00Z",
        escalate: "2026-10-25T02:30:00Z",
        // At 05:00 (04:00 UTC), three and a half working hours have passed. The last half hour begins on the next day
        // at 02:30 (01:30 UTC).
        expire: "2026-10-26T02:00:00Z",
        // From 00:00 (22:00 UTC) to the second 02:30 would be three and a half hours. The third hour ends when the
        // clocks change.
        expire_finance: "2026-10-25T01:00:00Z",
        quiet_until: "2026-10-25T01:30:00Z",
        snooze_until: "2026-10-25T00:45:00Z",
        looks: &[
            Look { at: "2026-10-25T01:15:00Z", legal: &["wakes anna"], finance: &["ends expired"], sent: 0 },
            Look { at: "2026-10-25T01:45:00Z", legal: &["reminds anna"], finance: &[], sent: 1 },
            // The new approvers are reminded after one more working hour, which is still on the same day.
            Look { at: "2026-10-25T02:45:00Z", legal: &["asks anna cleo"], finance: &[], sent: 1 },
            Look { at: "2026-10-26T01:45:00Z", legal: &["reminds anna cleo"], finance: &[], sent: 1 },
            Look { at: "2026-10-26T02:15:00Z", legal: &["ends expired"], finance: &[], sent: 1 },
        ],
    };
    assert_right(&night).await;
}
