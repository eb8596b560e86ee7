//! Messages of people during a run. Each message reaches the later requests exactly once.

use holdshort_core::definition::Definition;
use holdshort_core::interrupt::{Decision, Kind};
use holdshort_core::message::FailureKind;
use holdshort_core::projection::Status;
use serde_json::json;

use super::{phase, request_messages, say};
use crate::world::{Answer, World, calls, choose, choose_with, definition, edit, fails, read, says, write};

/// A message of a person during a model call is in the next request. The message continues a step that the reply would
/// have ended.
#[test]
fn a_message_during_a_model_call_is_heard_next() {
    for (reply, expected) in [
        (says("Done."), vec!["assistant: Done.", "user: use TypeScript"]),
        (
            calls(&[read("a")]),
            vec!["assistant: I will. call_1", "call_1: there is no file `a`", "user: use TypeScript"],
        ),
    ] {
        let mut world = World::started(definition(), Vec::new());
        world.begin_model("work");
        world.message("use TypeScript");
        world.answer("work", 0, reply);
        world.work();
        assert_eq!(
            (request_messages(&world), world.run.status()),
            (expected.into_iter().map(str::to_owned).collect(), Status::Running)
        );
    }
}

#[test]
fn a_message_is_heard_while_calls_wait_and_by_steps_that_start_later() {
    let mut definition = definition();
    definition.phases.push(crate::world::one_shot("next", &["work"]));
    let mut world = World::started(definition, vec![calls(&[write("a")]), says("Done.")]);
    world.work();
    world.message("hurry");
    world.decide(Kind::ToolApproval, choose_with("approve", "fine by me"));
    world.work();
    assert_eq!(
        request_messages(&world),
        [
            "assistant: I will. call_1",
            "call_1: written",
            "user: hurry",
            "user: fine by me",
            "assistant: Done."
        ],
    );
    let next = world.run.request("next").expect("it has started");
    assert_eq!(next.messages[2..].iter().map(say).collect::<Vec<_>>(), ["user: hurry"]);
}

/// A test case: name, workflow, reply that opens an interrupt, kind of the interrupt, and decision.
type Noted = (&'static str, Definition, Answer, Kind, Decision);

/// The text of every decision reaches a later request (lesson 38).
#[test]
fn no_note_is_lost() {
    let review = || ("request_review", json!({ "title": "t", "content": "c" }));
    let plan = || ("create_plan", json!({ "subtasks": [{ "id": "1", "description": "do" }] }));
    let table: Vec<Noted> = vec![
        (
            "approve a call",
            definition(),
            calls(&[write("a")]),
            Kind::ToolApproval,
            choose_with("approve", "NOTE"),
        ),
        (
            "edit a call",
            definition(),
            calls(&[write("a")]),
            Kind::ToolApproval,
            with_text(edit(write("b").1)),
        ),
        ("respond", definition(), calls(&[write("a")]), Kind::ToolApproval, choose_with("respond", "NOTE")),
        (
            "reject a call",
            definition(),
            calls(&[write("a")]),
            Kind::ToolApproval,
            choose_with("reject", "NOTE"),
        ),
        (
            "approve a plan",
            definition(),
            calls(&[plan()]),
            Kind::PlanApproval,
            choose_with("approve", "NOTE"),
        ),
        ("revise a plan", definition(), calls(&[plan()]), Kind::PlanApproval, choose_with("revise", "NOTE")),
        ("reject a plan", definition(), calls(&[plan()]), Kind::PlanApproval, choose_with("reject", "NOTE")),
        ("edit a plan", definition(), calls(&[plan()]), Kind::PlanApproval, with_text(edit(plan().1))),
        ("release", definition(), calls(&[review()]), Kind::Review, choose_with("approve", "NOTE")),
        (
            "go ahead",
            phase(|phase| phase.gates.before_step = true),
            says("x"),
            Kind::Checkpoint,
            choose_with("approve", "NOTE"),
        ),
        (
            "redo",
            phase(|phase| phase.gates.after_step = true),
            says("x"),
            Kind::Checkpoint,
            choose_with("redo", "NOTE"),
        ),
        (
            "retry",
            phase(|phase| phase.gates.on_error = true),
            fails(FailureKind::Rejected),
            Kind::Error,
            choose_with("retry", "NOTE"),
        ),
        (
            "continue",
            phase(|phase| phase.limits.rounds = 1),
            calls(&[read("a")]),
            Kind::Continuation,
            choose_with("continue", "NOTE"),
        ),
        (
            "skip a question",
            definition(),
            calls(&[("ask_human", json!({ "question": "Which?" }))]),
            Kind::Question,
            choose_with("skip", "NOTE"),
        ),
    ];
    let lost: Vec<&str> = table
        .into_iter()
        .filter_map(|(name, definition, reply, kind, decision)| {
            let mut world = World::started(definition, vec![reply]);
            world.work();
            world.decide(kind, decision);
            world.work();
            (!request_messages(&world).iter().any(|line| line.contains("NOTE"))).then_some(name)
        })
        .collect();
    assert_eq!(lost, Vec::<&str>::new());

    // If the decision ends a step or a phase, the next step gets the text of the decision.
    let mut definition = phase(|phase| phase.gates.after_step = true);
    definition.phases.push(crate::world::checkpoint("look", &["work"]));
    definition.phases.push(crate::world::one_shot("next", &["look"]));
    let mut world = World::started(definition, vec![says("Done.")]);
    world.work();
    world.decide(Kind::Checkpoint, choose_with("continue", "NOTE one"));
    world.decide(Kind::Checkpoint, choose_with("approve", "NOTE two"));
    let next = world.run.request("next").expect("it has started");
    assert_eq!(next.messages[2..].iter().map(say).collect::<Vec<_>>(), ["user: NOTE one", "user: NOTE two"]);
}

#[test]
fn an_edit_is_told_in_a_sentence() {
    for (decision, told) in [
        (edit(write("b").1), "user: A person edited this call before it ran."),
        (with_text(edit(write("b").1)), "user: A person edited this call before it ran: NOTE"),
    ] {
        let mut world = World::started(definition(), vec![calls(&[write("a")])]);
        world.work();
        world.decide(Kind::ToolApproval, decision);
        assert_eq!(request_messages(&world).last().map(String::as_str), Some(told));
    }
}

fn with_text(decision: Decision) -> Decision {
    Decision { text: Some("NOTE".to_owned()), ..decision }
}

/// A step that is redone keeps its conversation. The number of redos is limited.
#[test]
fn a_step_is_redone_with_the_feedback() {
    let script = (0..4).map(|i| says(&format!("Done {i}."))).collect();
    let mut world = World::started(phase(|phase| phase.gates.after_step = true), script);
    world.work();
    world.decide(Kind::Checkpoint, choose_with("redo", "use ISO dates"));
    assert_eq!(request_messages(&world), ["assistant: Done 0.", "user: Do it again: use ISO dates"],);
    world.work();
    world.decide(Kind::Checkpoint, choose("redo"));
    world.work();
    let offered: Vec<String> = world.run.interrupts[&world.open(Kind::Checkpoint)]
        .opened
        .options
        .iter()
        .map(|choice| choice.id.clone())
        .collect();
    assert_eq!(offered, ["continue", "abort"]);
    world.decide(Kind::Checkpoint, choose("continue"));
    assert_eq!(world.run.ended.as_ref().map(|ended| ended.result["text"].clone()), Some(json!("Done 2.")));
}
