//! Freezes of a run, a workflow or an agent, and their effect on deadlines.

use holdshort_core::actor::Actor;
use holdshort_core::definition::KindGate;
use holdshort_core::interrupt::Kind;
use holdshort_core::run::{Begin, Input, Rejection};
use holdshort_core::system;
use holdshort_core::system::freeze::Part;

use crate::world::{World, allow, calls, command, definition, of_system};

/// A run stops if its workflow, its agent or the run itself is frozen. No other freeze stops it. The run continues
/// after the freeze is lifted.
#[test]
fn a_part_is_frozen_by_itself() {
    let mut definition = definition();
    definition.gates.rules = vec![allow(&["*"])];
    let script = || vec![calls(&[command("make x")])];
    let mut world = World::started(definition.clone(), script());
    let named = |workflow: &str, agent: &str, run: &str| {
        [
            Part::Workflow(workflow.to_owned()),
            Part::Agent(agent.to_owned()),
            Part::Run(run.parse().expect("an id")),
        ]
    };
    let agent = world.run.steps["work"].agent.clone();
    let own = named(&world.run.definition.name, &agent, &world.run.id.to_string());
    let others = named("other", "other", "run_01k6f0000000000000000000cc");
    for (own, other) in own.into_iter().zip(others) {
        world = World::started(definition.clone(), script());
        let freeze = |world: &mut World, part: &Part| {
            let input = system::Input::Freeze { part: Some(part.clone()), reason: "a look".to_owned() };
            let actor = Actor::operator("rest");
            let events = world.system.handle(world.now, &actor, input).expect("an operator may");
            world.append(events)
        };
        assert_eq!(freeze(&mut world, &other), ["part_frozen"]);
        let model = || Input::Begin { begins: vec![Begin::Model { step: "work".to_owned(), turn: 0 }] };
        let begun = |world: &World| world.handle(&Actor::engine(), model()).map(|events| events.len());
        assert_eq!(begun(&world), Ok(1), "{other:?} holds something else");
        freeze(&mut world, &own);
        let held = begun(&world);
        assert!(matches!(held, Err(Rejection::Frozen) | Ok(0)), "{own:?}: {held:?}");
        let lift = system::Input::Unfreeze { part: Some(own.clone()) };
        let before = world.system.freezes.clone();
        let events = world.system.handle(world.now, &Actor::operator("rest"), lift).expect("an operator may");
        world.append(events);
        assert!(world.system.freezes.lifts(&before));
        assert_eq!(begun(&world), Ok(1), "{own:?} is lifted");
    }
}

/// No deadline expires in a frozen run. One that passed during the freeze takes effect when the freeze is lifted.
#[test]
fn no_deadline_runs_out_in_what_is_frozen() {
    let mut definition = definition();
    definition
        .gates
        .kinds
        .insert(Kind::ToolApproval, KindGate { expires_in_ms: Some(1_000), ..KindGate::default() });
    let mut world = World::started(definition, vec![calls(&[command("make x")])]);
    world.work();
    let id = world.open(Kind::ToolApproval);
    world.pass_ms(2_000);
    let agent = world.run.steps["work"].agent.clone();
    for part in [Part::Agent(agent), Part::Run(world.run.id.clone())] {
        world.system.apply(&of_system(system::Fact::PartFrozen { part: part.clone() }));
        world.send(Input::Tick);
        assert!(world.run.interrupts[&id].is_open(), "{part:?}");
        world.system.apply(&of_system(system::Fact::PartUnfrozen { part }));
    }
    world.system.apply(&of_system(system::Fact::Frozen));
    world.send(Input::Tick);
    assert!(world.run.interrupts[&id].is_open());
    world.system.apply(&of_system(system::Fact::Unfrozen));
    world.send(Input::Tick);
    assert!(!world.run.interrupts[&id].is_open());
}

/// A freeze keeps its first reason. Repeating the freeze with the same reason changes nothing. A freeze with another
/// reason is refused, with an error that contains the first reason.
#[test]
fn another_reason_does_not_hide_the_one_that_stands() {
    let mut world = World::started(definition(), vec![calls(&[command("make x")])]);
    for part in [None, Some(Part::Workflow("deploy".to_owned()))] {
        let freeze = |world: &World, who: &str, reason: &str| {
            let input = system::Input::Freeze { part: part.clone(), reason: reason.to_owned() };
            let actor = Actor { id: who.to_owned(), ..Actor::operator("rest") };
            world.system.handle(world.now, &actor, input)
        };
        let events = freeze(&world, "anna", "a leak").expect("an operator may");
        world.append(events);
        assert_eq!(freeze(&world, "ben", "a leak"), Ok(Vec::new()));
        let refused = freeze(&world, "ben", "a fire").expect_err("the first would be lost").to_string();
        assert!(refused.contains("by anna (a leak)"), "{refused}");
        assert_eq!(world.system.freezes.for_part(part.as_ref()).map(|freeze| &*freeze.by), Some("anna"));
    }
}
