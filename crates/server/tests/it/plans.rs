//! The layout of a draft plan, in which each subtask gets a position, even in an unfinished draft.

use serde_json::{Value, json};

use crate::harness::{Served, ok, refusal};

/// Ids of a plan's subtasks, each with the ids of the subtasks on which it depends.
type Subtasks = &'static [(&'static str, &'static [&'static str])];

fn draft(subtasks: Subtasks) -> Value {
    let subtasks: Vec<Value> =
        subtasks.iter().map(|(id, needs)| json!({ "id": id, "depends_on": needs })).collect();
    json!({ "subtasks": subtasks })
}

#[tokio::test]
async fn a_draft_is_laid_out_also_one_that_can_not_be_carried_out() {
    let served = Served::new().await;
    let operator = served.operator();
    let table: [(Subtasks, Value); 5] = [
        (&[], json!([])),
        (&[("report", &["look"]), ("look", &[])], json!([[1, 0], [0, 0]])),
        (
            &[("a", &[]), ("b", &[]), ("c", &["a", "b"]), ("d", &["b"])],
            json!([[0, 0], [0, 1], [1, 0], [1, 1]]),
        ),
        // A cycle, and a dependency on a subtask that does not exist.
        (&[("a", &["b"]), ("b", &["a"])], json!([[0, 0], [0, 1]])),
        (&[("a", &["ghost"])], json!([[0, 0]])),
    ];
    for (subtasks, places) in table {
        let said = ok(operator.post("/v1/plans/layout", &draft(subtasks)).await);
        let found: Vec<Value> = said["places"]
            .as_array()
            .unwrap()
            .iter()
            .map(|place| json!([place["layer"], place["row"]]))
            .collect();
        assert_eq!(json!(found), places, "{subtasks:?}");
    }
    let many: Vec<Value> = (0..201).map(|n| json!({ "id": n.to_string() })).collect();
    let said = operator.post("/v1/plans/layout", &json!({ "subtasks": many })).await;
    assert_eq!(refusal(&said), (422, "invalid_request", vec!["/subtasks"]));
    let said =
        operator.post("/v1/plans/layout", &json!({ "subtasks": [{ "id": "a", "color": "red" }] })).await;
    assert_eq!(refusal(&said), (422, "invalid_request", vec!["/subtasks/0/color"]));
    let said = served.agent().post("/v1/plans/layout", &draft(&[])).await;
    assert_eq!(refusal(&said).0, 403);
}
