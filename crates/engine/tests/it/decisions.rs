//! Effects of a decision on the call that the decision is about.

use holdshort_core::actor::Actor;
use holdshort_core::interrupt::{Outcome, Refusal};
use holdshort_core::projection::Status;
use holdshort_core::run::{Input, Rejection};
use holdshort_engine::Error;
use serde_json::json;

use crate::stage::{Stage, command, edit, option, text, write};
use crate::world::Say;

fn deleting() -> Stage<holdshort_store::Memory> {
    Stage::solo(vec![Say::Calls(vec![command("rm old")]), Say::Text("Done.")])
}

#[tokio::test]
async fn approve_runs_what_was_shown_once() {
    let stage = deleting();
    let run = stage.play().await;
    let shown = stage.only_open(&run).await;
    stage.decide_only(&run, option("approve")).await;
    assert_eq!(stage.world.effects(), ["run:rm old"]);
    assert_eq!(stage.status(&run).await, Status::Completed);

    // Repeating a decision changes nothing. A different decision is rejected as too late.
    let repeated = stage.decide(&run, &shown.opened.interrupt, option("approve")).await.unwrap();
    assert_eq!(
        repeated.interrupts[&shown.opened.interrupt].resolution.as_ref().unwrap().outcome,
        Outcome::Approved
    );
    let other = stage.decide(&run, &shown.opened.interrupt, option("reject")).await;
    assert!(matches!(other, Err(Error::Rejected(Rejection::Refused(Refusal::AlreadyResolved)))), "{other:?}");
    assert_eq!(stage.world.effects(), ["run:rm old"]);
}

#[tokio::test]
async fn edit_runs_exactly_the_edited_call() {
    let stage = deleting();
    let run = stage.play().await;
    let shown = stage.only_open(&run).await;
    stage.decide_only(&run, edit(json!({"command": "mv old archive"}))).await;
    assert_eq!(stage.world.effects(), ["run:mv old archive"]);
    assert_eq!(stage.status(&run).await, Status::Completed);
    // The edited call is inspected and voted on again, with a new digest.
    let call = stage.run(&run).await.calls["call_1"].clone();
    assert_ne!(call.digest, shown.opened.action_digest);
    assert_eq!(call.revision, 1);
}

#[tokio::test]
async fn an_edit_that_does_not_fit_leaves_the_interrupt_open() {
    let stage = deleting();
    let run = stage.play().await;
    let shown = stage.only_open(&run).await.opened.interrupt;
    for wrong in
        [json!({"command": 1}), json!({"command": "x", "more": 1}), json!({"path": "x"}), json!("rm")]
    {
        let refused = stage.decide(&run, &shown, edit(wrong.clone())).await;
        let invalid = matches!(refused, Err(Error::Rejected(Rejection::Refused(Refusal::Invalid(_)))));
        assert!(invalid, "{wrong} {refused:?}");
    }
    assert!(stage.only_open(&run).await.is_open());
    assert_eq!(stage.world.effects().len(), 0);
}

#[tokio::test]
async fn an_edit_may_meet_a_forbid() {
    let workflow = crate::stage::SOLO.replace(
        "    - {tools: [read_file], do: allow}",
        "    - {tools: [run_command], commands: [\"sudo *\"], do: forbid}",
    );
    let stage = deleting();
    let run = stage.start_with(&workflow, None).await;
    stage.world.settle().await;
    stage.decide_only(&run, edit(json!({"command": "sudo rm old"}))).await;
    assert_eq!(stage.world.effects().len(), 0);
    assert!(stage.last_request().contains("refused by policy"), "{}", stage.last_request());
}

#[tokio::test]
async fn respond_is_the_result_and_nothing_runs() {
    let stage = deleting();
    let run = stage.play().await;
    stage.decide_only(&run, text("respond", "there is no file called old")).await;
    assert_eq!(stage.world.effects().len(), 0);
    assert!(stage.last_request().contains("there is no file called old"));
    assert_eq!(stage.status(&run).await, Status::Completed);
}

#[tokio::test]
async fn reject_tells_the_model_why() {
    let stage = deleting();
    let run = stage.play().await;
    stage.decide_only(&run, text("reject", "keep it")).await;
    assert_eq!(stage.world.effects().len(), 0);
    assert!(stage.last_request().contains("a person refused this call: keep it"));
    assert_eq!(stage.status(&run).await, Status::Completed);
}

#[tokio::test]
async fn a_file_that_changed_after_the_approval_is_asked_about_again() {
    let calls = Say::Calls(vec![command("touch x"), write("a.txt", "new")]);
    let stage = Stage::solo(vec![calls, Say::Text("Done.")]);
    stage.world.write("a.txt", "old");
    let run = stage.play().await;
    let [first, second] = stage.open(&run).await.try_into().unwrap();
    // The command runs, and the approved write waits until it ends. In between, a different program changes the file.
    stage.decide(&run, &first.opened.interrupt, option("approve")).await.unwrap();
    stage.decide(&run, &second.opened.interrupt, option("approve")).await.unwrap();
    stage.world.write("a.txt", "by somebody else");
    stage.world.settle().await;
    assert_eq!(stage.world.effects(), ["run:touch x"]);
    let again = stage.only_open(&run).await;
    assert_eq!(again.opened.supersedes, Some(second.opened.interrupt));
    assert_ne!(again.opened.action_digest, second.opened.action_digest);
    stage.decide_only(&run, option("approve")).await;
    assert_eq!(stage.world.file("a.txt").unwrap(), "new");
    assert_eq!(stage.status(&run).await, Status::Completed);
}

#[tokio::test]
async fn agents_never_decide() {
    let stage = deleting();
    let run = stage.play().await;
    let interrupt = stage.only_open(&run).await.opened.interrupt;
    let input = Input::Decide { interrupt, decision: option("approve"), holder: None };
    let refused = stage.driver.send(&run, input, Actor::agent("agent", "test")).await;
    assert!(matches!(refused, Err(Error::Rejected(Rejection::Refused(Refusal::Role)))), "{refused:?}");
}

#[tokio::test]
async fn plans_questions_and_reviews_go_to_a_person() {
    let plan = json!({"subtasks": [{"id": "one", "description": "first"}]});
    let stage = Stage::solo(vec![
        Say::Calls(vec![("ask_human", json!({"question": "Which?"}))]),
        Say::Calls(vec![("create_plan", plan)]),
        Say::Calls(vec![("request_review", json!({"title": "Summary", "content": "raw"}))]),
        Say::Text("Done."),
    ]);
    let run = stage.play().await;
    stage.decide_only(&run, text("answer", "the second")).await;
    assert!(stage.last_request().contains("the second"));
    stage.decide_only(&run, text("revise", "shorter")).await;
    assert!(stage.last_request().contains("Feedback: shorter"));
    stage.decide_only(&run, edit(json!("polished"))).await;
    let ended = stage.run(&run).await.ended.clone().unwrap();
    assert_eq!(ended.result["released"], json!([{"title": "Summary", "content": "polished"}]));
}
