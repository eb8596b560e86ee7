//! The journal can be proven to be as it was written, and one damaged run is no other run's business.

use serde_json::json;

use crate::harness::{Served, ok, text};

#[tokio::test]
async fn an_untouched_journal_is_intact() {
    let served = Served::new().await;
    let operator = served.operator();
    let asked = operator.ask().await;
    ok(operator.decide(&asked, &json!({"option": "approve"})).await);
    operator.ask().await;
    ok(operator.post("/v1/system/freeze", &json!({"reason": "a look"})).await);
    let head = ok(operator.get("/v1/audit/head").await);
    let (short, hash) = (text(&head, "head"), text(&head, "hash"));
    assert_eq!((head["events"].as_u64(), short), (Some(8), &*format!("8:{}", &hash[..24])));
    let report = ok(operator.get("/v1/audit/verify").await);
    let intact =
        json!({"intact": true, "streams": 3, "events": 8, "head": short, "unsealed": 0, "damages": []});
    assert_eq!(report, intact);
    let noted = format!("/v1/audit/verify?against=8:{hash},{short}");
    let compared = ok(operator.get(&noted).await);
    let against = json!([{"head": format!("8:{hash}"), "holds": true}, {"head": short, "holds": true}]);
    assert_eq!((&compared["intact"], &compared["against"]), (&json!(true), &against));

    // One of another journal, and one of a later hour of this one.
    let digits = &hash[..24];
    let compared = ok(operator.get(&format!("/v1/audit/verify?against=7:{digits},9:{digits}")).await);
    let against = json!([{"head": format!("7:{digits}"), "holds": false}, {"head": format!("9:{digits}"), "holds": false}]);
    assert_eq!((&compared["intact"], &compared["against"]), (&json!(false), &against));
    let told: Vec<_> =
        compared["damages"].as_array().unwrap().iter().map(|each| text(each, "message")).collect();
    assert_eq!(told.len(), 2);
    assert!(told[0].starts_with("the first 7 events are not those whose head was"), "{told:?}");
    assert!(told[1].starts_with("the journal has 8 events, and its head was 9:"), "{told:?}");

    for wrong in ["8", &format!("8:{}", &digits[1..]), &format!("{short},"), &[short; 101].join(",")] {
        let refused = operator.get(&format!("/v1/audit/verify?against={wrong}")).await;
        assert_eq!((refused.0, text(&refused.1, "code")), (400, "invalid_query"), "{wrong}");
    }
}
