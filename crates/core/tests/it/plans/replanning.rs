//! New versions of a plan while the plan is carried out.

use holdshort_core::actor::Actor;
use holdshort_core::definition::{Control, KindGate, Phase, PhaseKind, StepGates};
use holdshort_core::interrupt::{Assignment, Effect, Interrupt, Kind, Refusal};
use holdshort_core::projection::Status;
use holdshort_core::run::{Input, Rejection};
use serde_json::{Value, json};

use super::{approved, at_work, ended, gated, plan_of, planned, planning, proposed, say, subtask};
use crate::assignments::{actor, decide, of_people, people, stages};
use crate::world::{World, choose, one_shot};

fn replan(version: Option<usize>, plan: Value) -> Input {
    Input::Replan { phase: "plan".to_owned(), version, plan }
}

#[test]
fn what_has_not_started_can_be_planned_anew() {
    let mut waiting = proposed(planned(planning()), &[subtask("a", &[])]);
    let early = waiting.try_send(&Actor::operator("rest"), replan(None, plan_of(&[subtask("b", &[])])));
    assert!(matches!(early, Err(Rejection::PlanHeld { version: 1 })), "it is listed, and waits: {early:?}");
    let mut world = approved(planned(planning()), &[subtask("a", &[]), subtask("b", &["a"])]);
    let person = Actor::operator("rest");
    let without_a = plan_of(&[subtask("b", &[])]);
    let refused = world.try_send(&person, replan(None, without_a));
    assert!(matches!(refused, Err(Rejection::Invalid(_))), "{refused:?}");
    let stale = world.try_send(&person, replan(Some(7), plan_of(&[subtask("a", &[])])));
    assert!(matches!(stale, Err(Rejection::StalePlan { found: 1 })), "{stale:?}");

    // The gate asks a person about the new version. Until the decision, no further subtask of the current version
    // starts.
    let more = plan_of(&[subtask("a", &[]), subtask("x", &["a"])]);
    world.person(replan(Some(1), more.clone()));
    let asked = &world.run.interrupts[&world.open(Kind::PlanApproval)];
    let options: Vec<&str> = asked.opened.options.iter().map(|each| each.id.as_str()).collect();
    let payload = &asked.content["payload"];
    assert_eq!(options, ["approve", "edit", "reject"], "no planner wrote it: none makes it anew");
    assert_eq!(
        (&payload["iteration"], payload.get("iterations")),
        (&json!(2), None),
        "nor is one counted down"
    );
    say(&mut world, "work/a", "a is done.");
    assert_eq!(at_work(&world), "");
    let mut dropped = world.clone();
    dropped.decide(Kind::PlanApproval, choose("reject"));
    assert_eq!(at_work(&dropped), "work/b", "the old plan goes on");
    world.decide(Kind::PlanApproval, choose("approve"));
    assert_eq!(at_work(&world), "work/x");
    say(&mut world, "work/x", "x is done.");
    assert_eq!(ended(&world), Some((Status::Completed, "done")));
    let late = world.try_send(&person, replan(None, more));
    assert!(matches!(late, Err(Rejection::Ended(_))), "{late:?}");
}

#[test]
fn a_plan_is_planned_anew_only_while_it_is_carried_out_and_for_all_who_do() {
    let control = Control { plan: "plan".to_owned(), agent: "writer".to_owned(), only: None };
    let mut definition = planned(planning());
    definition.phases.push(Phase { kind: PhaseKind::Control(control), ..one_shot("verify", &["plan"]) });
    definition.phases[1].limits.parallel = 1;
    let mut world = approved(definition, &[subtask("a", &[]), subtask("b", &[])]);
    assert_eq!(at_work(&world), "verify/a verify/b work/a");
    let person = Actor::operator("rest");
    let refused = world.try_send(&person, replan(None, plan_of(&[subtask("a", &[])])));
    let Err(Rejection::Invalid(problems)) = refused else { panic!("{refused:?}") };
    assert_eq!(problems[0].pointer, "/plan/subtasks");
    assert!(problems[0].message.contains("`b` has started"), "{problems:?}");
    // Naming the default agent in a subtask does not change the subtask.
    let mut named = subtask("a", &[]);
    named["agent"] = json!("pair");
    let mut definition = planned(planning());
    definition.phases.insert(1, crate::world::checkpoint("look", &["plan"]));
    definition.phases[2].needs = vec!["look".to_owned()];
    let mut waiting = approved(definition, &[subtask("a", &[]), subtask("b", &["a"])]);
    let early = waiting.try_send(&person, replan(None, plan_of(&[named.clone()])));
    assert!(
        matches!(early, Err(Rejection::NoPlan)),
        "what a person is looking at does not change: {early:?}"
    );
    waiting.decide(Kind::Checkpoint, choose("approve"));
    waiting.person(replan(None, plan_of(&[named, subtask("c", &["a"])])));
    assert_eq!(waiting.open_kinds(), ["plan_approval"]);
    let again = waiting.try_send(&person, replan(Some(1), plan_of(&[subtask("a", &[])])));
    assert!(matches!(again, Err(Rejection::PlanHeld { version: 2 })), "{again:?}");
}

/// The author of a new version of a plan cannot approve it if the gate requires a second person.
#[test]
fn whoever_planned_anew_does_not_release_it() {
    let mut world = approved(planned(planning()), &[subtask("a", &[])]);
    people(&mut world.system);
    let olga = actor(&world.system, "olga");
    let more = plan_of(&[subtask("a", &[]), subtask("b", &["a"])]);
    world.try_send(&olga, replan(None, more)).expect("she may");
    let id = world.open(Kind::PlanApproval);
    let four = Assignment { self_approval: false, ..stages(vec![of_people(&["olga", "anna"], 1)]) };
    world.run.interrupts.change(&id, |interrupt| interrupt.assignment = four);
    let told = decide(&mut world, &id, "olga", choose("approve"));
    assert_eq!(told, Err(Rejection::Refused(Refusal::OwnWork)));
    decide(&mut world, &id, "anna", choose("approve")).expect("somebody else does");
    assert_eq!(at_work(&world), "work/a");
    assert!(!world.run.interrupts[&id].is_open());
}

#[test]
fn a_phase_of_one_subtask_keeps_its_plan() {
    let mut definition = planned(planning());
    let control = Control { plan: "plan".to_owned(), agent: "pair".to_owned(), only: Some(2) };
    definition.phases[1].kind = PhaseKind::Control(control);
    let mut world = approved(definition, &[subtask("a", &[]), subtask("b", &[])]);
    assert_eq!(at_work(&world), "work/b");
    let turned = plan_of(&[subtask("b", &[]), subtask("a", &[])]);
    let refused = world.try_send(&Actor::operator("rest"), replan(None, turned));
    assert!(matches!(refused, Err(Rejection::Invalid(_))), "{refused:?}");
}

#[test]
fn rejecting_another_version_never_ends_the_run() {
    let mut definition = planned(planning());
    let gate = KindGate { reject: Some(Effect::FailRun), ..KindGate::default() };
    definition.gates.kinds.insert(Kind::PlanApproval, gate);
    let mut world = approved(definition, &[subtask("a", &[])]);
    world.person(replan(None, plan_of(&[subtask("a", &[]), subtask("b", &["a"])])));
    let told = world.decide(Kind::PlanApproval, choose("reject"));
    assert_eq!(told[1], "interrupt_resolved rejected reject");
    let resolved = world.log.iter().rev().find(|event| event.fact.encode().0 == "interrupt_resolved");
    assert_eq!(resolved.expect("it is there").fact.encode().1["effect"], "drop_plan");
    assert_eq!(at_work(&world), "work/a");
}

/// A subtask whose step waits for a person before its start can still be changed or dropped.
#[test]
fn what_is_held_before_it_begins_can_be_planned_anew() {
    let gates = StepGates { before_step: true, ..StepGates::default() };
    let mut world = approved(gated(gates), &[subtask("a", &[]), subtask("b", &[]), subtask("c", &[])]);
    let person = Actor::operator("rest");
    let held = |world: &World| {
        let of = |interrupt: &&Interrupt| interrupt.opened.kind == Kind::Checkpoint;
        let open = world.run.open_interrupts().map(|(_, each)| each).filter(of);
        open.map(|each| format!("{}", each.content["payload"]["input"])).collect::<Vec<_>>().join(" ")
    };
    // `a` is approved and runs. `b` and `c` wait for a person before they start.
    let about_a = world.run.steps["work/a"].blocked.clone().expect("it is held");
    world.person(Input::Decide { interrupt: about_a, decision: choose("approve"), holder: None });
    assert_eq!(at_work(&world), "work/a work/b work/c");

    let mut other = subtask("b", &[]);
    other["description"] = json!("do b otherwise");
    let refused = world.try_send(&person, replan(None, plan_of(&[other.clone()])));
    let Err(Rejection::Invalid(problems)) = refused else { panic!("{refused:?}") };
    assert!(problems.iter().all(|problem| problem.message.contains("`a` has started")), "{problems:?}");

    // The gate asks about the new version, and neither `b` nor `c` starts. After a rejection, both wait for a person
    // as before.
    world.person(replan(None, plan_of(&[subtask("a", &[]), other])));
    assert_eq!((at_work(&world).as_str(), held(&world).as_str()), ("work/a", ""));
    let mut dropped = world.clone();
    dropped.decide(Kind::PlanApproval, choose("reject"));
    assert_eq!(at_work(&dropped), "work/a work/b work/c");
    assert!(held(&dropped).contains("do b") && held(&dropped).contains("do c"), "{}", held(&dropped));

    world.decide(Kind::PlanApproval, choose("approve"));
    assert_eq!(at_work(&world), "work/a work/b");
    assert!(held(&world).contains("do b otherwise"), "{}", held(&world));
    world.decide(Kind::Checkpoint, choose("approve"));
    say(&mut world, "work/a", "a is done.");
    say(&mut world, "work/b", "b is done.");
    assert_eq!(ended(&world), Some((Status::Completed, "done")));
}
