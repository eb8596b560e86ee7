//! The journal can be proven to be as it was written, and one damaged run is no other run's business.

use serde_json::json;

use crate::harness::{Served, ok};

#[tokio::test]
async fn an_untouched_journal_is_intact() {
    let served = Served::new().await;
    let operator = served.operator();
    let asked = operator.ask().await;
    ok(operator.decide(&asked, &json!({"option": "approve"})).await);
    operator.ask().await;
    ok(operator.post("/v1/system/freeze", &json!({})).await);
    let report = ok(operator.get("/v1/audit/verify").await);
    assert_eq!(report, json!({"intact": true, "streams": 3, "events": 8, "damages": []}));
}
