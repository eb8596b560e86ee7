//! The turn loop from the start of a run to its end, without a decision by a person.

use holdshort_core::message::FailureKind;
use holdshort_core::message::Message;
use holdshort_core::projection::Status;
use serde_json::json;

use crate::stage::{Stage, command, option, read, write};
use crate::world::Say;

#[tokio::test]
async fn a_run_goes_from_its_start_to_completed() {
    let stage = Stage::solo(vec![Say::Calls(vec![read("a.txt")]), Say::Text("All is well.")]);
    stage.world.write("a.txt", "alpha");
    let run = stage.play().await;
    let told = stage.story(&run).await;
    assert_eq!(
        told,
        [
            "run_started",
            "phase_started",
            "step_started",
            "model_started",
            "model_replied",
            "tool_inspected call_1",
            "tool_authorised call_1",
            "tool_started call_1",
            "tool_finished call_1",
            "model_started",
            "model_replied",
            "step_ended",
            "phase_ended",
            "run_completed",
        ]
    );
    let ended = stage.run(&run).await.ended.clone().unwrap();
    assert_eq!(ended.status, Status::Completed);
    assert_eq!(ended.result["text"], json!("All is well."));
    let last = stage.world.requests().pop().unwrap();
    let result = Message::Tool { call: "call_1".into(), name: "read_file".into(), text: "alpha".into() };
    assert_eq!(last.last(), Some(&result));
}

#[tokio::test]
async fn of_several_calls_the_free_ones_run_and_the_gated_ones_wait() {
    let calls = Say::Calls(vec![read("a.txt"), write("b.txt", "beta"), command("touch c")]);
    let stage = Stage::solo(vec![calls, Say::Text("Done.")]);
    stage.world.write("a.txt", "alpha");
    let run = stage.play().await;
    assert_eq!(stage.status(&run).await, Status::Waiting);
    assert_eq!(stage.open(&run).await.len(), 2);
    assert_eq!((stage.world.effects().len(), stage.world.requests().len()), (0, 1));

    let first = stage.open(&run).await.remove(0);
    stage.decide(&run, &first.opened.interrupt, option("approve")).await.unwrap();
    stage.world.settle().await;
    // The model gets no result until all calls have results.
    assert_eq!((stage.world.effects(), stage.world.requests().len()), (vec!["write:b.txt=beta".into()], 1));

    stage.decide_only(&run, option("reject")).await;
    assert_eq!(stage.status(&run).await, Status::Completed);
    let results: Vec<String> = stage.world.requests()[1]
        .iter()
        .filter_map(|message| match message {
            Message::Tool { text, .. } => Some(text.clone()),
            Message::System { .. } | Message::User { .. } | Message::Assistant { .. } => None,
        })
        .collect();
    assert_eq!(results, ["alpha", "written", "a person refused this call"]);
}

#[tokio::test]
async fn one_side_effect_runs_at_a_time() {
    let calls = Say::Calls(vec![command("touch a"), command("touch b")]);
    let stage = Stage::solo(vec![calls, Say::Text("Done.")]);
    let run = stage.play().await;
    for interrupt in stage.open(&run).await {
        stage.decide(&run, &interrupt.opened.interrupt, option("approve")).await.unwrap();
    }
    assert_eq!(stage.world.waiting(), ["tool/call_1/1"]);
    stage.world.settle().await;
    assert_eq!(stage.world.effects(), ["run:touch a", "run:touch b"]);
    assert_eq!(stage.status(&run).await, Status::Completed);
}

#[tokio::test]
async fn phases_without_needs_work_side_by_side() {
    let workflow = "
name: both
agents:
  left: {instructions: Work., tools: [read_file]}
  right: {instructions: Work., tools: [read_file]}
phases:
  - {id: a, kind: one_shot, agent: left, needs: []}
  - {id: b, kind: one_shot, agent: right, needs: []}
";
    let stage = Stage::solo(Vec::new());
    stage.world.script("left", vec![Say::Text("L")]);
    stage.world.script("right", vec![Say::Text("R")]);
    let run = stage.start_with(workflow, None).await;
    assert_eq!(stage.world.waiting(), ["model/a/0/1", "model/b/0/1"]);
    stage.world.settle().await;
    let ended = stage.run(&run).await.ended.clone().unwrap();
    assert_eq!(ended.result["phases"], json!({"a": "L", "b": "R"}));
}

#[tokio::test]
async fn a_failed_model_call_is_tried_again_when_its_time_has_come() {
    let again = Say::FailOnce(FailureKind::RateLimited, Box::new(Say::Text("Done.")));
    let stage = Stage::solo(vec![again]);
    let run = stage.play().await;
    assert_eq!((stage.status(&run).await, stage.world.waiting().len()), (Status::Running, 0));
    assert_eq!(stage.driver.due().await.unwrap(), 0);
    stage.clock.advance_ms(500);
    assert_eq!(stage.driver.due().await.unwrap(), 1);
    stage.world.settle().await;
    assert_eq!(stage.status(&run).await, Status::Completed);
    assert_eq!(stage.world.performed(), ["model/work/0/1", "model/work/0/2"]);
}

/// A run loaded at a sequence number contains exactly the events up to this number, or all events if the number is
/// after the last event.
#[tokio::test]
async fn a_run_is_loaded_as_it_was_at_a_sequence() {
    let stage = Stage::solo(vec![Say::Calls(vec![read("a.txt")]), Say::Text("All is well.")]);
    stage.world.write("a.txt", "alpha");
    let id = stage.play().await;
    let whole = stage.run(&id).await;
    let mut then = stage.driver.load_at(&id, 1).await.unwrap();
    for event in stage.events(&id).await.iter().skip(1) {
        then.apply(event);
        assert_eq!(stage.driver.load_at(&id, then.seq).await.unwrap(), then);
    }
    assert_eq!(then, *whole);
    assert_eq!(stage.driver.load_at(&id, whole.seq + 1).await.unwrap(), *whole);
}
