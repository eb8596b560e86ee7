//! Tests of the output of commands about people and groups.

use holdshort_testkit::home::Home;
use serde_json::{Value, json};

#[test]
fn where_there_is_no_group_that_is_said() {
    let home = Home::new();
    let serving = home.serve(&[]);
    let ran = home.run(&["groups"]);
    assert_eq!((ran.code, &*ran.out), (0, ""), "{ran:?}");
    assert!(ran.err.contains("No group has members"), "{ran:?}");
    assert_eq!(home.json(&["groups"]), json!([]));
    serving.stop();
}

/// A date until which a person is away means midnight in the person's time zone, or else in UTC.
#[test]
fn somebody_is_away_until_a_day() {
    let home = Home::new();
    let serving = home.serve(&[]);
    for (who, zone, begins) in [
        ("anna", &["--time-zone", "Europe/Berlin"][..], "2099-01-09T23:00:00.000Z"),
        ("ben", &[], "2099-01-10T00:00:00.000Z"),
    ] {
        let set = [&["people", "set", who, "--role", "reviewer"][..], zone].concat();
        assert_eq!(home.run(&set).code, 0);
        let away = home.json(&["people", "away", who, "--until", "2099-01-10"]);
        assert_eq!(away["away"]["until"], begins, "{away}");
    }
    let ran = home.run(&["people", "away", "anna", "--until", "soon"]);
    assert!(
        ran.code == 2 && ran.err.contains("--until is not a timestamp: use the form of RFC 3339"),
        "{ran:?}"
    );
    serving.stop();
}

/// A person who may not decide on an interrupt cannot snooze it, and the output names the approvers.
#[tokio::test]
async fn who_may_put_something_off_is_said() {
    let home = Home::new();
    let serving = home.serve(&[]);
    assert_eq!(home.run(&["people", "set", "anna", "--role", "reviewer"]).code, 0);
    let asked: Value = holdshort_http::plain()
        .build()
        .unwrap()
        .post(format!("{}/v1/interrupts", serving.started["listening"].as_str().unwrap()))
        .bearer_auth(serving.started["agent_token"].as_str().unwrap())
        .json(&json!({"kind": "review", "title": "Send it?", "assignment": {"approvers": ["anna"]}}))
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    let ran = home.run(&["snooze", asked["id"].as_str().unwrap(), "--for", "2h"]);
    assert!(ran.code == 1 && ran.err.contains("approvers anna"), "{ran:?}");
    assert!(ran.err.contains("Ask one of the approvers") && !ran.err.contains("to decide."), "{ran:?}");
    serving.stop();
}
