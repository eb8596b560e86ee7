//! Several people decide. The request lists the approvers, the votes, the missing votes, and whether the client's own
//! person may vote.

use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::TestServer;
use reqwest::Method;
use serde_json::{Value, json};

use super::Mars;
use crate::play::{count, done, one};

/// Workflow that the MARS edge runs.
const BASE: &str = include_str!("../../../../edges/src/mars/base.yaml");

const PEOPLE: &str =
    "people:\n  anna: {roles: [reviewer], groups: [legal]}\n  ben: {roles: [reviewer], groups: [legal]}\n";

/// Starts a task with one call that is assigned to these approvers. Returns the request that the client receives.
async fn asked_of(assignment: &str) -> (TestServer, Mars, Value) {
    let model = ScriptedModel::start().await;
    model.script("engineer", [one(count("a")), done()]);
    let gates = format!("gates:\n  tool_approval: {{assignment: {assignment}}}\n");
    let setup = TestServer::setup().workflow("mars", &BASE.replace("gates:\n", &gates)).people(PEOPLE);
    let server = setup.model(&model).start().await;
    let config = json!({"mode": "one-shot", "tool_approval": "prompt"});
    let mut mars = Mars::start(&server, "t1", "Count it.", config).await;
    let asked = mars.wait_for_request().await;
    (server, mars, asked)
}

fn approval(asked: &Value) -> Value {
    json!({"type": "resolve_approval", "approval_id": asked["approval_id"], "resolution": "allow"})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_says_who_is_asked_and_is_told_again_with_each_vote() {
    let two = "{groups: [legal], approvers: [operator], quorum: {required: 2}}";
    let (server, mut mars, asked) = asked_of(two).await;
    let assignment = &asked["context"]["assignment"];
    assert_eq!(
        (&assignment["groups"], &assignment["needed"], &assignment["votes"], &assignment["you"]),
        (&json!(["legal"]), &json!(2), &json!([]), &json!({"may_decide": true}))
    );
    let description = asked["description"].as_str().unwrap();
    assert!(description.contains("Approvers: 2 of operator, the group legal"), "{description}");

    mars.say(&approval(&asked)).await;
    let voted = mars.wait("approval_requested").await;
    let assignment = &voted["context"]["assignment"];
    assert_eq!((&voted["approval_id"], &assignment["needed"]), (&asked["approval_id"], &json!(1)));
    assert_eq!(assignment["votes"][0]["by"], "operator");
    assert!(voted["description"].as_str().unwrap().contains("Missing: one more person"), "{voted}");
    assert_eq!(server.lines("count.txt"), 0);

    let path = format!("/v1/interrupts/{}/decisions", asked["approval_id"].as_str().unwrap());
    server.send(server.request(Method::DELETE, &path)).await.ok();
    let back = mars.wait("approval_requested").await;
    assert_eq!(back["context"]["assignment"]["votes"], json!([]));
    assert_eq!(back["context"]["assignment"]["needed"], 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_may_not_decide_is_told_so_before_it_does() {
    let (server, mut mars, asked) = asked_of("{groups: [legal]}").await;
    let you = &asked["context"]["assignment"]["you"];
    assert_eq!((&you["may_decide"], &you["code"]), (&json!(false), &json!("not_an_approver")));
    assert_eq!(mars.refused(&approval(&asked)).await["error_type"], "not_an_approver");
    assert_eq!(server.lines("count.txt"), 0);
}
