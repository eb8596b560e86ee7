//! Decisions on a plan, and what happens without a decision.

use holdshort_core::actor::Actor;
use holdshort_core::definition::{KindGate, PlanGate, Planning};
use holdshort_core::interrupt::{Effect, HeldWork, Kind};
use holdshort_core::policy::Checkpoint;
use holdshort_core::projection::Status;
use holdshort_core::run::Input;
use serde_json::json;

use super::{approved, at_work, ended, plan_of, planned, planning, proposed, proposes, request, subtask};
use crate::world::{World, allow, calls, choose, choose_with, edit, says, write};

#[test]
fn a_plan_waits_for_a_person_and_nothing_else_runs() {
    let world = proposed(planned(planning()), &[subtask("a", &[]), subtask("b", &["a"]), subtask("c", &[])]);
    let asked = &world.run.interrupts[&world.open(Kind::PlanApproval)];
    let options: Vec<_> = asked.opened.options.iter().map(|each| (each.id.as_str(), each.effect)).collect();
    assert_eq!(
        options,
        [
            ("approve", Effect::Proceed),
            ("edit", Effect::ProceedWithEdit),
            ("revise", Effect::Replan),
            ("reject", Effect::FailRun),
        ],
    );
    let payload = &asked.content["payload"];
    assert_eq!((&payload["iteration"], &payload["plan"]["subtasks"][1]["id"]), (&json!(1), &json!("b")));
    assert_eq!((at_work(&world).as_str(), world.run.status()), ("plan/plan", Status::Waiting));
}

/// Cases 02 to 05: each decision on a plan has its own effect.
#[test]
fn each_decision_on_a_plan_has_its_effect() {
    let two = [subtask("a", &[]), subtask("b", &[])];

    let mut world = proposed(planned(planning()), &two);
    world.decide(Kind::PlanApproval, choose_with("approve", "mind the units"));
    assert_eq!(at_work(&world), "work/a work/b");
    assert!(request(&world, "work/b").contains("mind the units"));

    let mut world = proposed(planned(planning()), &two);
    world.decide(Kind::PlanApproval, choose_with("reject", "wrong"));
    assert_eq!(
        (ended(&world), world.why()),
        (Some((Status::Failed, "rejected")), Some("the plan was rejected: wrong"),)
    );

    let mut world = proposed(planned(planning()), &two);
    let interrupt = world.open(Kind::PlanApproval);
    for bad in [
        json!({ "subtasks": [] }),
        json!({ "subtasks": [{ "id": "x", "description": "y", "agent": "nobody" }] }),
    ] {
        let input = Input::Decide { interrupt: interrupt.clone(), decision: edit(bad), holder: None };
        world.try_send(&Actor::operator("rest"), input).unwrap_err();
        assert!(world.run.interrupts[&interrupt].is_open());
    }
    world.decide(Kind::PlanApproval, edit(plan_of(&[subtask("c", &[]), subtask("d", &["c"])])));
    assert_eq!(at_work(&world), "work/c");
    assert_eq!(world.run.plans["plan"].versions.len(), 2);

    let mut definition = planned(planning());
    definition.gates.kinds.entry(Kind::PlanApproval).or_default().reject = Some(Effect::DropPlan);
    let mut world = proposed(definition, &two);
    world.decide(Kind::PlanApproval, choose("reject"));
    assert_eq!(ended(&world), Some((Status::Completed, "done")));

    let mut definition = planned(planning());
    definition.gates.plan = PlanGate::Show;
    assert_eq!(at_work(&proposed(definition, &two)), "work/a work/b", "shown, and work goes on");
}

/// The run fails if no version of the plan is approved within the allowed number. The card of the last version warns of
/// this (contract A13).
#[test]
fn iterations_end() {
    let revise = |world: &World| {
        let opened = &world.run.interrupts[&world.open(Kind::PlanApproval)].opened;
        let offer = opened.options.iter().find(|offer| offer.id == "revise").unwrap();
        (offer.work(), offer.asks_again(opened.kind), offer.does(opened.kind, true, false))
    };
    let mut world = proposed(planned(Planning { iterations: 2, ..planning() }), &[subtask("a", &[])]);
    let goes_on = "asks the agent for another plan, with your feedback";
    assert_eq!(revise(&world), (HeldWork::Repeats, false, goes_on));
    world.decide(Kind::PlanApproval, choose_with("revise", "one"));
    world.script.entry("plan/plan".to_owned()).or_default().push_back(proposes(&[subtask("b", &[])]));
    world.work();
    let ends = "ends the run as failed, because the workflow allows no further plan";
    assert_eq!(revise(&world), (HeldWork::Ended, true, ends));
    world.decide(Kind::PlanApproval, choose_with("revise", "two"));
    assert_eq!(ended(&world), Some((Status::Failed, "plan_iterations")));
}

/// Mandatory checkpoints always ask a person. The checkpoint after planning shares one interrupt with the plan's gate
/// (cases 01, 09).
#[test]
fn a_person_must_speak_at_mandatory_checkpoints() {
    let must = |at| {
        let mut definition = planned(planning());
        definition.gates.mandatory.insert(at);
        definition.gates.rules = vec![allow(&["*"])];
        definition
    };
    for gate in [PlanGate::Ask, PlanGate::Show] {
        let mut definition = must(Checkpoint::AfterPlanning);
        definition.gates.plan = gate;
        let world = proposed(definition, &[subtask("a", &[])]);
        let asked = &world.run.interrupts[&world.open(Kind::PlanApproval)].opened;
        assert_eq!(
            asked.risk.reasons.iter().map(|each| each.code.as_str()).collect::<Vec<_>>(),
            ["after_planning"]
        );
    }

    let writing = || {
        let mut world = approved(must(Checkpoint::BeforeFileEdit), &[subtask("a", &[])])
            .with("work/a", vec![calls(&[write("config.yaml")]), says("Done.")]);
        world.work();
        assert!(world.effects.is_empty(), "nothing is written before a person has spoken");
        world
    };
    let mut world = writing();
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    assert_eq!(world.effects, ["write_file config.yaml"]);
    assert_eq!(ended(&world), Some((Status::Completed, "done")), "the same agent goes on");
    let mut world = writing();
    world.decide(Kind::ToolApproval, choose("reject"));
    assert_eq!((ended(&world), world.effects.len()), (Some((Status::Failed, "rejected")), 0));
}

#[test]
fn a_person_who_speaks_during_a_review_is_heard_after_it() {
    let planning = Planning { reviewer: Some("reviewer".to_owned()), reviews: 1, ..planning() };
    let mut world =
        World::started(planned(planning), Vec::new()).with("plan/plan", vec![proposes(&[subtask("a", &[])])]);
    world.work();
    world.message("Use ISO dates.");
    let due: Vec<String> = world.run.actions().iter().map(|action| action.id().to_string()).collect();
    assert_eq!(due, ["model/plan/review_1/0/1"]);
}

/// If approval is not required, the last version of the plan is accepted after the allowed number of feedback rounds
/// (contract A13).
#[test]
fn a_plan_may_be_settled_after_its_iterations() {
    let settles = || planned(Planning { iterations: 1, settles: true, ..planning() });
    let revised = |definition| {
        let mut world = proposed(definition, &[subtask("a", &[])]);
        world.decide(Kind::PlanApproval, choose_with("revise", "shorter"));
        let mut world = world.with("plan/plan", vec![proposes(&[subtask("b", &[])])]);
        world.work();
        world
    };
    let world = revised(settles());
    assert_eq!((at_work(&world).as_str(), world.open_kinds().len()), ("work/b", 0));
    // A mandatory checkpoint always needs a person's approval.
    let mut must = settles();
    must.gates.mandatory.insert(Checkpoint::AfterPlanning);
    let mut world = proposed(must, &[subtask("a", &[])]);
    world.decide(Kind::PlanApproval, choose_with("revise", "shorter"));
    assert_eq!(ended(&world), Some((Status::Failed, "plan_iterations")));
}

/// A run with an expired plan ends with the reason `expired`, not `rejected` (contract E9).
#[test]
fn a_plan_that_nobody_decides_on_is_not_rejected() {
    let mut definition = planned(planning());
    let gate = KindGate { expires_in_ms: Some(1_000), ..KindGate::default() };
    definition.gates.kinds.insert(Kind::PlanApproval, gate);
    let mut world = proposed(definition, &[subtask("a", &[])]);
    world.pass_ms(1_000);
    world.send(Input::Tick);
    assert_eq!(
        (ended(&world), world.why()),
        (Some((Status::Failed, "expired")), Some("nobody decided on the plan in time"))
    );
}
