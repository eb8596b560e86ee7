//! Several people decide on a plan. The client receives the approvers, the votes, the missing votes, and whether its
//! own person may vote.

use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::TestServer;
use reqwest::Method;
use serde_json::{Value, json};

use super::ide::{Ide, get};
use super::{WORKFLOW, on_plan, plans, subtask, user};

const PEOPLE: &str =
    "people:\n  anna: {roles: [reviewer], groups: [legal]}\n  ben: {roles: [reviewer], groups: [legal]}\n";

async fn asked_of(assignment: &str) -> (ScriptedModel, TestServer, Ide, Value) {
    let model = ScriptedModel::start().await;
    let gate = format!("plan_approval: {{assignment: {assignment}, ");
    let workflow = WORKFLOW.replace("plan_approval: {", &gate);
    let setup = TestServer::setup().workflow("codelab_ide", &workflow).people(PEOPLE);
    let server = setup.model(&model).start().await;
    model.script("orchestrator", [plans(&[subtask("s1", "coder", &[])])]);
    let mut ide = Ide::connect(&server, "s").await;
    ide.say(&user("Build it.")).await;
    let plan = ide.find("plan_notification").await;
    (model, server, ide, plan)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_says_who_is_asked_and_each_vote_is_told() {
    let two = "{groups: [legal], approvers: [operator], quorum: {required: 2}}";
    let (model, server, mut ide, plan) = asked_of(two).await;
    let assignment = &plan["metadata"]["assignment"];
    assert_eq!(
        (&assignment["groups"], &assignment["needed"], &assignment["votes"], &assignment["you"]),
        (&json!(["legal"]), &json!(2), &json!([]), &json!({"may_decide": true}))
    );
    let content = plan["content"].as_str().unwrap();
    assert!(content.contains("Approvers: 2 of operator, the group legal"), "{content}");

    ide.say(&on_plan(&plan, "approve")).await;
    let voted = loop {
        let frame = ide.find("status").await;
        if frame["status"] == "votes_changed" {
            break frame;
        }
    };
    let metadata = &voted["metadata"];
    assert_eq!(metadata["plan_id"], plan["metadata"]["plan_id"]);
    assert_eq!(metadata["assignment"]["votes"][0]["by"], "operator");
    assert!(voted["content"].as_str().unwrap().contains("Missing: one more person"), "{voted}");
    assert_eq!(model.requests().len(), 1, "nothing of it runs");

    // A client that connects later receives the plan with its votes, and so does a reader of the list of pending
    // requests.
    let mut other = Ide::connect(&server, "s").await;
    let again = other.find("plan_notification").await;
    assert_eq!(again["metadata"]["assignment"]["votes"][0]["by"], "operator");
    let waiting = get(&server, "sessions/s/pending-plans").await;
    assert_eq!(waiting["pending_plans"][0]["assignment"]["needed"], 1);

    let id = plan["metadata"]["approval_request_id"].as_str().unwrap();
    let path = format!("/v1/interrupts/{id}/decisions");
    server.send(server.request(Method::DELETE, &path)).await.ok();
    let back = ide.find("status").await;
    assert_eq!(
        (&back["status"], &back["metadata"]["assignment"]["votes"]),
        (&json!("votes_changed"), &json!([]))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_may_not_decide_is_told_so_before_it_does() {
    let (model, _server, mut ide, plan) = asked_of("{groups: [legal]}").await;
    let you = &plan["metadata"]["assignment"]["you"];
    assert_eq!((&you["may_decide"], &you["code"]), (&json!(false), &json!("not_an_approver")));
    ide.say(&on_plan(&plan, "approve")).await;
    assert_eq!(ide.find("error").await["code"], "not_an_approver");
    assert_eq!(model.requests().len(), 1);
}
