//! Votes of several people over HTTP: what an edit does to them, who has to be among them, and who counts twice.

use serde_json::{Value, json};

use crate::harness::{Api, Served, created, ok, text};
use crate::people::{approve, peopled};

/// `anna`, `ben` and `dirk` are of legal, `cleo` of finance.
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

/// A text that two of legal have to agree on, with more said of its assignment.
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

/// Who has a vote that counts.
fn voters(shown: &Value) -> Vec<&str> {
    shown["votes"].as_array().into_iter().flatten().map(|vote| text(vote, "by")).collect()
}

/// Who approved before has approved something else.
#[tokio::test]
async fn an_edit_takes_back_what_others_had_voted() {
    let (served, [anna, ben, _, dirk]) = team().await;
    let asked = text_of_two(&served, &json!({})).await;
    assert_eq!(voters(&ok(approve(&anna, &asked).await)), ["anna"]);
    assert_eq!(voters(&edit(&ben, &asked).await), ["ben"]);
    // One more for the text as it was is the only one for it.
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
    // Anna and ben are two, and one of them wrote it.
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
