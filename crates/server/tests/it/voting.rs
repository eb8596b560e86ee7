//! Votes of several people over HTTP: the effect of an edit, required members, people with two votes, and the
//! approvers.

use serde_json::{Value, json};

use crate::harness::{Api, Served, created, ok, refusal, text};
use crate::people::{approve, code, looked_at, peopled};

/// Starts a server with four people: `anna`, `ben` and `dirk` are in the group `legal`, `cleo` is in `finance`.
async fn team() -> (Served, [Api; 4]) {
    let served = peopled().await;
    served.set("dirk", &["reviewer"], &["legal"]).await;
    let people = [
        served.signed_in_as("anna").await,
        served.signed_in_as("ben").await,
        served.signed_in_as("cleo").await,
        served.signed_in_as("dirk").await,
    ];
    (served, people)
}

/// Requests a review of a text by two people of the group `legal`. `more` contains further fields of the assignment.
async fn text_of_two(served: &Served, more: &Value) -> Value {
    let mut assignment = json!({"groups": ["legal"], "quorum": {"required": 2}});
    assignment.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let ask =
        json!({"kind": "review", "title": "t", "payload": {"content": "ready"}, "assignment": assignment});
    created(served.agent().post("/v1/interrupts", &ask).await)
}

async fn edit(api: &Api, asked: &Value) -> Value {
    ok(api.decide(asked, &json!({"option": "edit", "edit": "sent"})).await)
}

fn voters(shown: &Value) -> Vec<&str> {
    shown["votes"].as_array().into_iter().flatten().map(|vote| text(vote, "by")).collect()
}

/// An edit in a vote withdraws the existing votes on the interrupt, because they were for another text.
#[tokio::test]
async fn an_edit_takes_back_what_others_had_voted() {
    let (served, [anna, ben, _, dirk]) = team().await;
    let asked = text_of_two(&served, &json!({})).await;
    assert_eq!(voters(&ok(approve(&anna, &asked).await)), ["anna"]);
    assert_eq!(voters(&edit(&ben, &asked).await), ["ben"]);
    // After the edit, only this vote is for the original text.
    let seen = ok(approve(&dirk, &asked).await);
    assert_eq!((&seen["status"], voters(&seen)), (&json!("open"), vec!["ben", "dirk"]));
    let settled = edit(&anna, &asked).await;
    assert_eq!(
        (&settled["resolution"]["option"], &settled["resolution"]["by"]),
        (&json!("edit"), &json!(["ben", "anna"]))
    );
}

#[tokio::test]
async fn whoever_wrote_the_edit_does_not_release_it() {
    let (served, [anna, ben, _, dirk]) = team().await;
    let asked = text_of_two(&served, &json!({"self_approval": false})).await;
    edit(&anna, &asked).await;
    // Anna and Ben are two people, but Anna wrote the edit.
    assert_eq!(edit(&ben, &asked).await["status"], "open");
    assert_eq!(edit(&dirk, &asked).await["resolution"]["option"], "edit");
}

#[tokio::test]
async fn everybody_who_is_named_and_each_group_has_to_be_among_them() {
    let (served, [anna, ben, cleo, dirk]) = team().await;
    let asked = served
        .ask_of(json!({
            "approvers": ["anna"], "groups": ["finance", "legal"], "quorum": {"required": 2, "roles": "all"},
        }))
        .await;
    for api in [&ben, &dirk, &anna] {
        assert_eq!(ok(approve(api, &asked).await)["status"], "open");
    }
    let settled = ok(approve(&cleo, &asked).await);
    assert_eq!(settled["resolution"]["by"], json!(["ben", "dirk", "anna", "cleo"]));
}

#[tokio::test]
async fn one_person_counts_in_two_stages_where_the_ask_says_so() {
    let (served, [anna, ..]) = team().await;
    let stage = |name: &str| json!({"name": name, "approvers": ["anna"]});
    let asked = served.ask_of(json!({"stages": [stage("law"), stage("money")], "distinct": false})).await;
    assert_eq!(ok(approve(&anna, &asked).await)["assignment"]["stage"], 1);
    assert_eq!(ok(approve(&anna, &asked).await)["resolution"]["outcome"], "approved");
}

/// Only the person who started the run can pass a gate that names this person as the approver.
#[tokio::test]
async fn whoever_started_it_confirms_it_and_nobody_else_does() {
    let people = "people:\n  anna: {roles: [operator]}\n  ben: {roles: [operator]}\n";
    let (served, _folder) = looked_at("{approvers: [starter]}", people).await;
    let (anna, ben) = (served.signed_in_as("anna").await, served.signed_in_as("ben").await);
    let start = json!({"workflow": "own", "input": {"task": "t"}});
    let run = created(anna.post("/v1/runs", &start).await);
    let held = served.next_of(text(&run, "id")).await;
    assert_eq!(held["assignment"]["approvers"], json!(["anna"]));
    for other in [&ben, &served.operator()] {
        assert_eq!(code(&approve(other, &held).await), (403, "not_an_approver"));
    }
    assert_eq!(ok(approve(&anna, &held).await)["resolution"]["by"], json!(["anna"]));
}

/// A run does not start if the approvers of its gate were removed after the workflow was loaded.
#[tokio::test]
async fn no_run_starts_that_nobody_could_decide() {
    let (served, _) = team().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("own")).unwrap();
    let workflow = "name: own\nphases:\n  - id: look\n    kind: checkpoint\n    message: Is it good?\n    gates:\n      \
         checkpoint:\n        assignment: {groups: [finance]}\n";
    std::fs::write(folder.path().join("own/workflow.yaml"), workflow).unwrap();
    let workflows = folder.path().to_owned();
    let served = served.restart_with(|options| options.workflows = Some(workflows)).await;
    let operator = served.operator();
    let start = json!({"workflow": "own", "input": {"task": "t"}});
    created(operator.post("/v1/runs", &start).await);
    assert_eq!(operator.delete("/v1/people/cleo").await.0, 200);
    let refused = operator.post("/v1/runs", &start).await;
    assert_eq!(refusal(&refused), (422, "invalid_request", vec!["/workflow"]));
    assert!(
        refused.1.to_string().contains("no person who may decide is in the group `finance`"),
        "{refused:?}"
    );
}
