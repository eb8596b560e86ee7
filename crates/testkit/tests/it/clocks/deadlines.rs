//! Deadlines that pass while the server is down: a delegation during an absence, a delegation of one interrupt, and a
//! key.

use holdshort_testkit::server::{TestServer, eventually};
use reqwest::Method;
use serde_json::{Value, json};

use super::{ClockedServer, path, text};

const HOUR: u64 = 3_600_000;
/// Deadline of a delegation, one hour after the start of the server.
const UNTIL: &str = "2026-06-01T13:00:00Z";

const PEOPLE: &str = "
people:
  anna: {roles: [reviewer]}
  ben: {roles: [reviewer]}
  cleo: {roles: [reviewer]}
";

async fn asked_of(office: &ClockedServer, approver: &str) -> Value {
    let body = json!({
        "kind": "tool_approval", "title": "May I?", "assignment": {"approvers": [approver]}, "expires_in_ms": 4 * HOUR,
    });
    office.ask(&body).await
}

/// Returns whether a person may decide the interrupt, together with the person whom they represent. If the interrupt is
/// not shown to the person, returns the refusal.
async fn may_decide(office: &ClockedServer, who: &str, asked: &Value) -> Value {
    let shown = office.send_as(who, Method::GET, &path(asked, ""), &Value::Null).await;
    if shown.status != 200 {
        let (status, code) = shown.refusal();
        return json!([status, code]);
    }
    let you = &shown.ok()["you"];
    json!([you["may_decide"], you["in_place_of"]])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_counts_until_a_time_ends_while_the_server_is_down() {
    let mut office = ClockedServer::open("2026-06-01T12:00:00Z", TestServer::setup().people(PEOPLE)).await;
    let (of_anna, of_ben) = (asked_of(&office, "anna").await, asked_of(&office, "ben").await);
    let away = json!({"until": UNTIL, "delegate": "cleo"});
    office.send_as("anna", Method::PUT, "/v1/people/anna/away", &away).await.ok();
    let delegation = json!({"until": UNTIL, "to": "cleo"});
    office.send_as("ben", Method::POST, &path(&of_ben, "/delegate"), &delegation).await.ok();
    let bot = json!({"name": "bot", "role": "reviewer", "expires_in_ms": HOUR});
    let key = office.server.post("/v1/keys", &bot).await.ok();
    let of_bot = asked_of(&office, "bot").await;

    // A restart before the deadline ends none of the delegations.
    for (time, counts) in [("12:58", true), ("13:02", false)] {
        office.back_at(&format!("2026-06-01T{time}:00Z")).await;
        for (asked, who) in [(&of_anna, "anna"), (&of_ben, "ben")] {
            // A person cannot read an interrupt that is not assigned to them.
            let expected = if counts { json!([true, who]) } else { json!([403, "forbidden_role"]) };
            assert_eq!(may_decide(&office, "cleo", asked).await, expected, "{who} at {time}");
        }
        let shown = office.with_token(text(&key["secret"]), Method::GET, "/v1/login", &Value::Null).await;
        let expected = if counts { (200, "") } else { (401, "credential_expired") };
        assert_eq!(shown.refusal(), expected, "{time}");
    }
    // An interrupt that is assigned to the bearer of an expired key is reassigned to admins and operators.
    eventually("it is handed to admins and operators", async || {
        let handed = office.server.events_of(text(&of_bot["run"]), "interrupt_reassigned").await;
        (handed.len() == 1).then_some(())
    })
    .await;
    let again = json!({"kind": "tool_approval", "title": "May I?", "assignment": {"approvers": ["bot"]}});
    let refused = office.server.post("/v1/interrupts", &again).await;
    assert_eq!(refused.refusal(), (422, "invalid_request"));

    let approve = json!({"option": "approve"});
    for (asked, who) in [(&of_anna, "anna"), (&of_ben, "ben")] {
        let decisions = path(asked, "/decisions");
        let refused = office.send_as("cleo", Method::POST, &decisions, &approve).await;
        assert_eq!(refused.refusal(), (403, "not_an_approver"), "{who}");
        let decided = office.send_as(who, Method::POST, &decisions, &approve).await.ok();
        assert_eq!(decided["resolution"]["by"], json!([who]), "{decided}");
    }
    office.assert_verified();
}
