//! Results that a person gives in place of an agent, and the effect of skipping a step.

use holdshort_core::actor::Actor;
use holdshort_core::definition::{Definition, PlanGate, StepGates};
use holdshort_core::interrupt::{Decision, Kind, Refusal};
use holdshort_core::message::FailureKind;
use holdshort_core::projection::Status;
use holdshort_core::run::{Input, Rejection};
use serde_json::{Value, json};

use super::{at_work, ended, plan_of, planned, planning, proposes, request, say, subtask};
use crate::world::{World, choose, choose_with, definition, fails, one_shot};

/// Returns a run with a failed step and an open interrupt about it.
fn failed(mut definition: Definition, step: &str) -> World {
    definition.phases[0].gates.on_error = true;
    let mut world = World::started(definition, Vec::new()).with(step, vec![fails(FailureKind::Rejected)]);
    world.work();
    world
}

fn hand_over(text: &str) -> Decision {
    choose_with("hand_over", text)
}

/// A plan from a person is parsed, checked and shown like the planner's, in every accepted format (contract A8).
#[test]
fn a_plan_that_a_person_gives_is_the_plan() {
    let plan = plan_of(&[subtask("mine", &[])]).to_string();
    let sub_tasks =
        json!({ "sub_tasks": [{ "sub_task": "do mine", "sub_task_agent": "writer" }] }).to_string();
    let bare = json!([subtask("mine", &[])]).to_string();
    let fenced = format!("This one:\n```json\n{plan}\n```");
    for text in [plan.as_str(), &sub_tasks, &bare, &fenced] {
        let mut world = failed(planned(planning()), "plan/plan");
        world.decide(Kind::Error, hand_over(text));
        assert_eq!((world.open_kinds(), at_work(&world)), (vec!["plan_approval"], "plan/plan".to_owned()));
        world.decide(Kind::PlanApproval, choose("approve"));
        assert!(at_work(&world).starts_with("work/"), "{text}: {}", at_work(&world));

        let mut definition = planned(planning());
        definition.gates.plan = PlanGate::Show;
        let mut world = failed(definition, "plan/plan");
        world.decide(Kind::Error, hand_over(text));
        assert!(at_work(&world).starts_with("work/"), "{text}: {}", at_work(&world));
    }
}

#[test]
fn what_is_no_plan_is_refused_and_the_interrupt_stays_open() {
    let nobody = json!({ "id": "a", "description": "x", "agent": "nobody" });
    for (text, pointer) in [
        ("I planned it in my head".to_owned(), "/text"),
        (plan_of(&[nobody]).to_string(), "/text/subtasks/0/agent"),
        (plan_of(&[]).to_string(), "/text/subtasks"),
    ] {
        let mut world = failed(planned(planning()), "plan/plan");
        let interrupt = world.open(Kind::Error);
        let decide = Input::Decide { interrupt, decision: hand_over(&text), holder: None };
        let refused = world.try_send(&Actor::operator("rest"), decide);
        let Err(Rejection::Refused(Refusal::Invalid(problems))) = refused else { panic!("{refused:?}") };
        assert_eq!((problems[0].pointer.as_str(), world.open_kinds()), (pointer, vec!["error"]), "{text}");
    }
}

#[test]
fn a_planner_that_may_answer_may_be_answered_for() {
    let mut optional = planning();
    optional.optional = true;
    for text in ["It is 42.", "- one\n- two"] {
        let mut world = failed(planned(optional.clone()), "plan/plan");
        world.decide(Kind::Error, hand_over(text));
        assert_eq!(result(&world), json!({ "plan": text, "work": {} }));
    }
    let mut world = failed(planned(optional.clone()), "plan/plan");
    world.decide(Kind::Error, hand_over(&plan_of(&[subtask("mine", &[])]).to_string()));
    assert_eq!(world.open_kinds(), ["plan_approval"]);

    let mut world = failed(planned(optional), "plan/plan");
    world.decide(Kind::Error, choose("skip"));
    assert_eq!(ended(&world), Some((Status::Completed, "done")));
}

#[test]
fn without_a_plan_there_is_nothing_to_carry_out() {
    let mut world = failed(planned(planning()), "plan/plan");
    world.decide(Kind::Error, choose_with("skip", "no time"));
    assert_eq!(ended(&world), Some((Status::Failed, "no_plan")));
    assert_eq!(world.why(), Some("`plan/plan` was skipped, so there is no plan: no time"));
}

/// A plan has no judgement if the reviewer's step is skipped.
#[test]
fn a_skipped_reviewer_is_not_quoted() {
    let mut reviewed = planning();
    (reviewed.reviewer, reviewed.reviews) = (Some("reviewer".to_owned()), 1);
    let mut definition = planned(reviewed);
    definition.phases[0].gates.on_error = true;
    let mut world = World::started(definition, Vec::new())
        .with("plan/plan", vec![proposes(&[subtask("a", &[])])])
        .with("plan/review_1", vec![fails(FailureKind::Rejected)]);
    world.work();
    world.decide(Kind::Error, choose_with("skip", "the reviewer is away"));
    assert_eq!((world.open_kinds(), world.count("step_judged")), (vec!["plan_approval"], 0));
    assert!(!request(&world, "plan/plan").contains("away"));
}

/// The reason for skipping a step becomes a note to the next step, and not the output of the skipped step.
#[test]
fn a_skipped_step_brings_nothing() {
    let skips: [(StepGates, Kind); 2] = [
        (StepGates { on_error: true, ..StepGates::default() }, Kind::Error),
        (StepGates { before_step: true, ..StepGates::default() }, Kind::Checkpoint),
    ];
    for (gates, kind) in skips {
        let mut definition = definition();
        definition.phases[0].gates = gates;
        definition.phases.push(one_shot("next", &["work"]));
        let mut world = World::started(definition, vec![fails(FailureKind::Rejected)]);
        world.work();
        world.decide(kind, choose_with("skip", "I did it myself"));
        let told = request(&world, "next");
        assert!(told.contains("A person said about `work`: It was skipped: I did it myself"), "{told}");
        assert!(!told.contains("Result of `work`"), "{told}");
        say(&mut world, "next", "Done.");
        assert_eq!(
            (result(&world), ended(&world)),
            (json!({ "next": "Done." }), Some((Status::Completed, "done")))
        );
    }
}

/// The reason for skipping the improver's step does not replace the task.
#[test]
fn a_skipped_improver_leaves_the_task_as_it_is() {
    let mut improved = planning();
    improved.improver = Some("improver".to_owned());
    let mut world = failed(planned(improved), "plan/improve");
    world.decide(Kind::Error, choose_with("skip", "it is clear"));
    let told = request(&world, "plan/plan");
    assert!(told.contains("Do it\n"), "{told}");
    assert_eq!(told.matches("it is clear").count(), 1, "{told}");
}

fn result(world: &World) -> Value {
    world.run.ended.as_ref().map(|ended| ended.result["phases"].clone()).unwrap_or_default()
}
