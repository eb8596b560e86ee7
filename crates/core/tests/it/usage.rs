//! Approvals of external agents, which can be used once, only for the approved action, and only until they expire.

use holdshort_core::actor::Actor;
use holdshort_core::digest::Digest;
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::{Cause, Decision, Kind, Outcome, Refusal, Unusable};
use holdshort_core::projection::Status;
use holdshort_core::run::{Ask, Config, Input, Origin, Rejection};
use holdshort_core::system;
use holdshort_core::system::freeze::Part;
use serde_json::{Value, json};

use crate::pairs::ask;
use crate::world::{self, World, choose, choose_with, edit, of_system};

fn agent() -> Actor {
    Actor::agent("their-agent", "rest")
}

/// Returns a world in which an agent asks for the approval of this payload, and the id of the interrupt.
fn open_approval(origin: Origin, kind: Kind, payload: Value, usable_ms: Option<u64>) -> (World, InterruptId) {
    let mut world = World::new(world::external());
    let Input::Start(mut start) = world.start_input(Config::default()) else { unreachable!() };
    start.origin = origin;
    world.try_send(&agent(), Input::Start(start)).expect("it may start");
    let ask = Ask { kind, payload, usable_ms, ..ask() };
    world.try_send(&agent(), Input::Ask(Box::new(ask))).expect("it may ask");
    let interrupt = world.open(kind);
    (world, interrupt)
}

fn uses(world: &mut World, interrupt: &InterruptId, what: &Value) -> Result<Vec<String>, Rejection> {
    let digest = Digest::of_json(what);
    world.try_send(&agent(), Input::UseApproval { interrupt: interrupt.clone(), digest })
}

fn refused(result: Result<Vec<String>, Rejection>) -> Unusable {
    match result {
        Err(Rejection::Unusable(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_approval_is_used_once_also_after_its_run_has_ended() {
    let payload = json!({ "tool": "git", "arguments": { "branches": 41 } });
    for origin in [Origin::External, Origin::ExternalOnce] {
        let (mut world, interrupt) = open_approval(origin, Kind::ToolApproval, payload.clone(), None);
        let of = |world: &World| world.run.interrupts[&interrupt].clone();
        assert_eq!(of(&world).opened.action_digest, Some(Digest::of_json(&payload)));
        let why = refused(uses(&mut world, &interrupt, &payload));
        assert_eq!(why, Unusable::NotApproved("no decision has been made yet"));
        world.decide(Kind::ToolApproval, choose("approve"));
        assert_eq!(of(&world).used, None);
        assert_eq!(uses(&mut world, &interrupt, &payload).expect("it is approved"), ["approval_used"]);
        let used = of(&world).used.clone().expect("it is used");
        assert_eq!((&*used.by, used.digest), ("their-agent", Digest::of_json(&payload)));
        for what in [payload.clone(), Value::Null] {
            let why = refused(uses(&mut world, &interrupt, &what));
            let Unusable::Used { by, at, .. } = why else { panic!("{why:?}") };
            assert_eq!((by, at), (used.by.clone(), used.at));
        }
    }
}

/// An approval can be used only for the approved payload. The rejection for another payload contains the reason.
#[test]
fn it_is_used_for_what_was_approved() {
    let payload = json!({ "tool": "git", "arguments": { "branches": 41 }, "note": "x" });
    let edited = json!({ "tool": "git", "arguments": { "branches": 3 }, "note": "x" });
    let table: [(Kind, Value, Decision, Option<Value>); 9] = [
        (Kind::ToolApproval, payload.clone(), choose("approve"), Some(payload.clone())),
        (Kind::ToolApproval, payload.clone(), edit(json!({ "branches": 3 })), Some(edited)),
        // An edit that changes nothing is stored as an approval.
        (Kind::ToolApproval, payload.clone(), edit(json!({ "branches": 41 })), Some(payload.clone())),
        // If the payload has no member `arguments`, the edit replaces the whole payload.
        (Kind::ToolApproval, json!({ "a": 1 }), edit(json!({ "a": 2 })), Some(json!({ "a": 2 }))),
        (Kind::Checkpoint, json!("go"), choose("approve"), Some(json!("go"))),
        (Kind::ToolApproval, payload.clone(), choose("reject"), None),
        (Kind::ToolApproval, payload.clone(), choose_with("respond", "41"), None),
        (Kind::PlanApproval, payload.clone(), choose_with("revise", "less"), None),
        (Kind::Question, payload.clone(), choose_with("answer", "yes"), None),
    ];
    for (kind, payload, decision, approved) in table {
        let (mut world, interrupt) = open_approval(Origin::External, kind, payload, None);
        world.decide(kind, decision.clone());
        assert_eq!(world.run.interrupts[&interrupt].approved(), approved, "{decision:?}");
        let other = refused(uses(&mut world, &interrupt, &json!({ "something": "else" })));
        match approved {
            None => assert!(matches!(other, Unusable::NotApproved(_)), "{decision:?}: {other:?}"),
            Some(approved) => {
                let digest = Digest::of_json(&approved);
                assert_eq!(other, Unusable::Differs { digest, approved: Box::new(approved.clone()) });
                uses(&mut world, &interrupt, &approved).expect("this was approved");
            }
        }
    }
}

#[test]
fn it_is_used_in_time_and_not_in_a_freeze() {
    let payload = json!({ "n": 1 });
    let approved = |usable_ms| {
        let (mut world, interrupt) =
            open_approval(Origin::ExternalOnce, Kind::ToolApproval, payload.clone(), usable_ms);
        world.decide(Kind::ToolApproval, choose("approve"));
        (world, interrupt)
    };
    let (mut world, interrupt) = approved(Some(1_000));
    let until = world.run.interrupts[&interrupt].usable_until().expect("there is an end");
    world.now = until;
    let why = refused(uses(&mut world, &interrupt, &payload));
    assert_eq!(why, Unusable::Expired { at: until, digest: Digest::of_json(&payload) });
    let (mut world, interrupt) = approved(None);
    world.now = world.now.plus_ms(10_000_000_000);
    let part = Part::Agent("their-agent".to_owned());
    world.system.apply(&of_system(system::Fact::PartFrozen { part: part.clone() }));
    assert_eq!(uses(&mut world, &interrupt, &payload), Err(Rejection::Frozen));
    world.system.apply(&of_system(system::Fact::PartUnfrozen { part }));
    uses(&mut world, &interrupt, &payload).expect("it has no end");
}

#[test]
fn only_whoever_asked_uses_and_withdraws_it() {
    let (mut world, interrupt) = open_approval(Origin::External, Kind::ToolApproval, json!({}), None);
    let inputs = || {
        let digest = Digest::of_json(&json!({}));
        [
            Input::UseApproval { interrupt: interrupt.clone(), digest },
            Input::Withdraw { interrupt: interrupt.clone(), text: None },
        ]
    };
    for actor in
        [Actor::agent("another", "rest"), Actor::for_role(holdshort_core::actor::Role::Reviewer, "rest")]
    {
        for input in inputs() {
            assert_eq!(world.try_send(&actor, input), Err(Rejection::Role));
        }
    }
    // An external agent cannot withdraw an interrupt of a native run.
    let mut own = World::started(world::definition(), Vec::new());
    let unknown = own.try_send(&Actor::operator("rest"), inputs()[1].clone());
    assert_eq!(unknown, Err(Rejection::UnknownInterrupt));
}

#[test]
fn a_question_is_withdrawn_once_and_ends_the_run_that_was_made_for_it() {
    for (origin, told, status) in [
        (Origin::External, vec!["interrupt_resolved cancelled"], Status::Running),
        (
            Origin::ExternalOnce,
            vec!["interrupt_resolved cancelled", "run_cancelled withdrawn"],
            Status::Cancelled,
        ),
    ] {
        let (mut world, interrupt) = open_approval(origin, Kind::ToolApproval, json!({}), None);
        let withdraw =
            || Input::Withdraw { interrupt: interrupt.clone(), text: Some("done by hand".to_owned()) };
        assert_eq!(world.try_send(&agent(), withdraw()).expect("it may"), told);
        assert_eq!(world.run.status(), status);
        let resolution = world.run.interrupts[&interrupt].resolution.clone().expect("it is resolved");
        assert_eq!((resolution.outcome, resolution.cause), (Outcome::Cancelled, Cause::Withdrawn));
        assert_eq!(world.try_send(&agent(), withdraw()).expect("twice is once"), Vec::<String>::new());
        let why = refused(uses(&mut world, &interrupt, &json!({})));
        assert_eq!(why, Unusable::NotApproved("it was withdrawn"));
    }
    let (mut world, interrupt) = open_approval(Origin::External, Kind::ToolApproval, json!({}), None);
    world.decide(Kind::ToolApproval, choose("approve"));
    let late = world.try_send(&agent(), Input::Withdraw { interrupt, text: None });
    assert_eq!(late, Err(Rejection::Refused(Refusal::AlreadyResolved)));
}
