//! Actions on an interrupt that do not resolve it, such as claims and comments, over REST.

use serde_json::{Value, json};

use crate::harness::{Served, ok, refusal, text};
use holdshort_core::actor::Role;

fn path(interrupt: &Value, verb: &str) -> String {
    format!("/v1/interrupts/{}/{verb}", text(interrupt, "id"))
}

#[tokio::test]
async fn a_claim_says_who_is_at_it_and_keeps_nobody_from_deciding() {
    let served = Served::with_issuer().await;
    let (operator, admin) = (served.operator(), served.issued("ada", Role::Admin));
    let asked = operator.ask().await;
    let nothing = json!({});
    for _ in 0..2 {
        let claimed = ok(operator.post(&path(&asked, "claim"), &nothing).await);
        assert_eq!((&claimed["claimed_by"], &claimed["status"]), (&json!("operator"), &json!("open")));
    }
    let refused = admin.post(&path(&asked, "claim"), &nothing).await;
    assert_eq!(refusal(&refused), (409, "already_claimed", vec![]));
    // Everybody sees the claim, in the list too, even after a restart.
    let served = served.restart().await;
    let operator = served.operator();
    let path_of = format!("/v1/interrupts/{}", text(&asked, "id"));
    for shown in [
        ok(operator.get(&path_of).await),
        ok(operator.get("/v1/interrupts?status=open").await)["items"][0].clone(),
    ] {
        assert_eq!(shown["claimed_by"], "operator");
    }
    let released = ok(operator.post(&path(&asked, "release"), &nothing).await);
    assert_eq!(released["claimed_by"], Value::Null);
    assert_eq!(ok(operator.get(&path_of).await)["claimed_by"], Value::Null);
    ok(operator.post(&path(&asked, "release"), &nothing).await);

    ok(operator.post(&path(&asked, "claim"), &nothing).await);
    let admin = served.issued("ada", Role::Admin);
    let decided = ok(admin.decide(&asked, &json!({"option": "approve"})).await);
    assert_eq!(decided["resolution"]["by"], json!(["ada"]));
    let refused = operator.post(&path(&asked, "claim"), &nothing).await;
    assert_eq!(refusal(&refused), (409, "already_resolved", vec![]));
    let refused = served.agent().post(&path(&asked, "claim"), &nothing).await;
    assert_eq!(refusal(&refused), (403, "forbidden_role", vec![]));
    let refused = operator.post("/v1/interrupts/int_00000000000000000000000000/claim", &nothing).await;
    assert_eq!(refusal(&refused), (404, "not_found", vec![]));
}

#[tokio::test]
async fn comments_stand_beside_the_decision() {
    let served = Served::new().await;
    let operator = served.operator();
    let asked = operator.ask().await;
    let comment = async |text: &str| operator.post(&path(&asked, "comments"), &json!({"text": text})).await;
    ok(comment("who made that?").await);
    assert_eq!(refusal(&comment("").await), (422, "invalid_request", vec!["/text"]));
    ok(operator.decide(&asked, &json!({"option": "approve"})).await);
    let said = ok(comment("it was me").await);
    let texts = |list: &Value| -> Vec<String> {
        list["items"].as_array().unwrap().iter().map(|item| text(item, "text").to_owned()).collect()
    };
    assert_eq!(texts(&said), ["who made that?", "it was me"]);
    assert_eq!(said["items"][0]["by"], "operator");
    let served = served.restart().await;
    let read = ok(served.operator().get(&path(&asked, "comments")).await);
    assert_eq!(read, said);
    // The agent that asked may read the comments, but may not comment.
    let refused = served.agent().post(&path(&asked, "comments"), &json!({"text": "x"})).await;
    assert_eq!(refusal(&refused), (403, "forbidden_role", vec![]));
}
