//! Events while an interrupt waits, over REST: reminders, escalation, snoozing, and working hours of groups.

use holdshort_core::time::Timestamp;
use holdshort_engine::{Clock, SystemClock};
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Api, SOON, Served, created, ok, refusal, send_request, text};
use crate::people::{approve, code, peopled};

/// Returns the events of these types in the run of an interrupt.
async fn happened(served: &Served, asked: &Value, kinds: &[&str]) -> Vec<Value> {
    let path = format!("/v1/runs/{}/events", text(asked, "run"));
    let page = ok(served.operator().get(&path).await);
    let events = page["items"].as_array().expect("a page").clone();
    events.into_iter().filter(|event| kinds.contains(&text(event, "type"))).collect()
}

/// Reads a path repeatedly until the response fulfils a condition.
async fn until(api: &Api, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let waited = tokio::time::timeout(SOON, async {
        loop {
            let shown = ok(api.get(path).await);
            if is_so(&shown) {
                return shown;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    });
    waited.await.expect("it comes to be so")
}

fn path_of(asked: &Value) -> String {
    format!("/v1/interrupts/{}", text(asked, "id"))
}

fn ahead(ms: u64) -> String {
    SystemClock.now().plus_ms(ms).to_string()
}

async fn snooze(api: &Api, asked: &Value, until: Value) -> (u16, Value) {
    let said = api.post(&format!("{}/snooze", path_of(asked)), &json!({"until": until})).await;
    (said.0, said.1)
}

#[tokio::test]
async fn those_who_are_asked_are_reminded_and_then_others_are_asked() {
    let served = peopled().await;
    let (anna, cleo) = (served.signed_in_as("anna").await, served.signed_in_as("cleo").await);
    let ask = json!({
        "kind": "tool_approval", "title": "Delete 41 branches", "assignment": {"approvers": ["anna"]},
        "reminders": {"after_ms": 30}, "escalation": [{"after_ms": 400, "groups": ["finance"]}],
    });
    let asked = created(served.agent().post("/v1/interrupts", &ask).await);
    assert!(text(&asked, "remind_at").ends_with('Z'));
    assert_eq!(asked["escalates"]["groups"], json!(["finance"]));
    assert_eq!(code(&cleo.get(&path_of(&asked)).await), (403, "forbidden_role"));

    let escalated = until(&anna, &path_of(&asked), |shown| shown["escalates"].is_null()).await;
    assert_eq!(escalated["assignment"]["groups"], json!(["finance"]));
    assert_eq!(escalated["version"], json!(2));
    let kinds = ["interrupt_reminded", "interrupt_escalated"];
    let events = happened(&served, &asked, &kinds).await;
    let told: Vec<(&str, &Value)> =
        events.iter().map(|event| (text(event, "type"), &event["data"]["to"])).collect();
    assert_eq!(
        told[..2],
        [("interrupt_reminded", &json!(["anna"])), ("interrupt_escalated", &json!(["anna", "cleo"])),]
    );
    assert!(text(&events[0]["data"], "interrupt").starts_with("int_"));
    let mine = ok(cleo.get("/v1/interrupts?group=mine&status=open").await);
    assert_eq!(mine["items"][0]["id"], asked["id"], "it is in her list now");
    let decided = ok(approve(&cleo, &asked).await);
    assert_eq!(decided["resolution"]["by"], json!(["cleo"]));
    assert_eq!((&decided["remind_at"], &decided["escalates"]), (&Value::Null, &Value::Null));
}

/// Deadlines of interrupts that pass while no server runs take effect once, at the next start.
#[tokio::test]
async fn a_server_that_was_down_makes_up_for_it_once() {
    let served = peopled().await;
    let (agent, anna) = (served.agent(), served.signed_in_as("anna").await);
    let step = json!([{"after_ms": 1_500, "approvers": ["cleo"]}]);
    let waits = json!({
        "kind": "tool_approval", "title": "Delete 41 branches", "assignment": {"approvers": ["anna"]},
        "reminders": {"after_ms": 1_400, "every_ms": 100, "limit": 100}, "escalation": step,
    });
    let mut expires = waits.clone();
    expires["expires_in_ms"] = json!(1_600);
    let waits = created(agent.post("/v1/interrupts", &waits).await);
    let expires = created(agent.post("/v1/interrupts", &expires).await);
    assert_eq!(snooze(&anna, &waits, json!(ahead(1_400))).await.0, 200);
    let folder = served.stop().await;
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    let served = Served::again(folder).await;
    let count = async |asked: &Value, kind: &str| happened(&served, asked, &[kind]).await.len();
    assert_eq!(count(&waits, "interrupt_escalated").await, 1);
    let reminded = happened(&served, &waits, &["interrupt_reminded"]).await;
    let woken = reminded.iter().filter(|event| event["data"]["cause"] == "snoozed").count();
    assert_eq!(woken, 1, "{reminded:?}");
    assert_eq!(count(&expires, "interrupt_resolved").await, 1);
    let shown = ok(served.operator().get(&path_of(&expires)).await);
    assert_eq!(shown["resolution"]["cause"], "expiry");
}

#[tokio::test]
async fn who_puts_it_off_has_it_out_of_their_list_alone() {
    let served = peopled().await;
    let (anna, ben) = (served.signed_in_as("anna").await, served.signed_in_as("ben").await);
    let asked = served.ask_of(json!({"groups": ["legal"]})).await;
    let list = "/v1/interrupts?status=open&snoozed=false";
    let listed = async |api: &Api| ok(api.get(list).await)["items"].as_array().expect("a list").len();
    let (status, shown) = snooze(&anna, &asked, json!("2126-01-31T09:30:00Z")).await;
    assert_eq!((status, shown["code"].as_str()), (422, Some("invalid_request")), "a hundred years");
    let until = ahead(7_200_000);
    let (status, shown) = snooze(&anna, &asked, json!(until)).await;
    assert_eq!((status, shown["you"]["may_decide"].as_bool()), (200, Some(true)));
    assert!(shown["you"]["snoozed_until"].is_string());
    assert_eq!((listed(&anna).await, listed(&ben).await), (0, 1));
    let served = served.restart().await;
    let (anna, ben) = (served.signed_in_as("anna").await, served.signed_in_as("ben").await);
    assert_eq!((listed(&anna).await, listed(&ben).await), (0, 1), "also after a restart");
    assert_eq!(ok(anna.get("/v1/interrupts?status=open").await)["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(ok(ben.get(&path_of(&asked)).await)["you"]["snoozed_until"], Value::Null);
    let (_, shown) = snooze(&anna, &asked, Value::Null).await;
    assert_eq!(shown["you"]["snoozed_until"], Value::Null);
    assert_eq!(listed(&anna).await, 1);
    assert_eq!(snooze(&served.agent(), &asked, Value::Null).await.0, 403);
    ok(approve(&anna, &asked).await);
    assert_eq!(snooze(&anna, &asked, json!(until)).await.0, 409);
}

#[tokio::test]
async fn the_hours_of_a_group_are_set_and_counted_in() {
    let served = peopled().await;
    let operator = served.operator();
    let put = |group: &str, body: &Value| {
        send_request(operator.request(Method::PUT, &format!("/v1/groups/{group}/hours")).json(body))
    };
    let office = json!({"time_zone": "Europe/Berlin", "week": {"mon-tue": ["09:00-12:00", "13:00-17:00"]}, "holidays": ["2026-12-25"]});
    let set = ok(put("legal", &office).await);
    assert_eq!((&set["people"], &set["source"]), (&json!(2), &json!("api")));
    assert_eq!(set["hours"]["week"]["tue"], json!(["09:00-12:00", "13:00-17:00"]));
    let all = ok(operator.get("/v1/groups").await);
    let names: Vec<&str> =
        all["items"].as_array().expect("a list").iter().map(|item| text(item, "name")).collect();
    assert_eq!(names, ["finance", "legal"]);
    let wrong = [
        (json!({"time_zone": "Mars", "week": {"mon": ["09:00-17:00"]}}), "/time_zone"),
        (json!({"time_zone": "UTC", "week": {}}), "/week"),
        (json!({"time_zone": "UTC", "week": {"monday": ["09:00-17:00"]}}), "/week/monday"),
        (json!({"time_zone": "UTC", "week": {"mon": ["9-17"]}}), "/week/mon/0"),
        (
            json!({"time_zone": "UTC", "week": {"mon": ["09:00-17:00"]}, "holidays": ["25.12."]}),
            "/holidays/0",
        ),
        (json!({"time_zone": "UTC", "week": {"mon": ["09:00-17:00"]}, "open": true}), "/open"),
    ];
    for (body, pointer) in wrong {
        assert_eq!(refusal(&put("legal", &body).await), (422, "invalid_request", vec![pointer]));
    }

    let mut ask = json!({
        "kind": "tool_approval", "title": "May I?", "assignment": {"groups": ["legal"]}, "working_time": true,
        "reminders": {"after_ms": 3_600_000},
    });
    let asked = created(served.agent().post("/v1/interrupts", &ask).await);
    let at: Timestamp = text(&asked, "remind_at").parse().expect("a time");
    // The first day of 1970 was a Thursday. During working hours in Berlin, the date is the same as in UTC.
    let weekday = (at.as_millis() / 86_400_000 + 4) % 7;
    assert!(weekday == 1 || weekday == 2, "{at}");
    ask["assignment"] = json!({"groups": ["finance"]});
    let refused = served.agent().post("/v1/interrupts", &ask).await;
    assert_eq!(refusal(&refused), (422, "invalid_request", vec!["/working_time"]));

    let forget = || send_request(operator.request(Method::DELETE, "/v1/groups/legal/hours"));
    assert_eq!(forget().await.0, 204);
    assert_eq!(refusal(&forget().await), (404, "not_found", vec![]));
}

/// No deadline of an interrupt expires while the installation is frozen. Overdue deadlines take effect after the freeze
/// is lifted.
#[tokio::test]
async fn no_deadline_runs_out_while_everything_is_frozen() {
    let served = Served::new().await;
    let (agent, operator) = (served.agent(), served.operator());
    let ask = json!({"kind": "tool_approval", "title": "Delete 41 branches", "expires_in_ms": 4_000});
    let asked = created(agent.post("/v1/interrupts", &ask).await);
    ok(operator.post("/v1/system/freeze", &json!({"reason": "a look"})).await);
    tokio::time::sleep(std::time::Duration::from_millis(4_500)).await;
    assert_eq!(ok(operator.get(&path_of(&asked)).await)["status"], "open");
    ok(operator.post("/v1/system/unfreeze", &json!({})).await);
    let ended = until(&operator, &path_of(&asked), |shown| shown["status"] == "resolved").await;
    assert_eq!(ended["resolution"]["cause"], "expiry");
}
