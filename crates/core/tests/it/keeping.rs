//! A run after its end: legal hold, its lifting, and erasure of content. The end of the run does not change.

use holdshort_core::actor::Actor;
use holdshort_core::event;
use holdshort_core::projection::Status;
use holdshort_core::run::{Erasure, ErasureReason, Input, Rejection, Run};
use serde_json::Value;

use crate::world::{World, definition, says};

fn anna() -> Actor {
    Actor::admin("anna", "test")
}

#[test]
fn a_run_ends_where_it_ended_whatever_comes_after() {
    let mut world = World::started(definition(), vec![says("Done.")]);
    world.pass_ms(1_000);
    world.work();
    let ended = world.run.row().expect("it has begun");
    assert_eq!((world.run.status(), ended.updated_at), (Status::Completed, world.run.last_at));
    let session = world.run.session_row(true);
    for input in [
        Input::LegalHold { reason: "A case is open.".to_owned() },
        Input::LiftLegalHold,
        Input::EraseContent { because: ErasureReason::Request },
    ] {
        world.pass_ms(60_000);
        let told = world.try_send(&anna(), input).expect("it has ended");
        assert!(!told.is_empty());
        let row = world.run.row().expect("it has begun");
        assert_eq!((row.updated_at, row.created_at), (ended.updated_at, ended.created_at), "{told:?}");
        assert_eq!(world.run.session_row(true), session, "its session is as idle as before");
        assert!(world.run.last_at > ended.updated_at);
    }
}

/// A run can have only one legal hold, because lifting one would also lift a second.
#[test]
fn a_run_is_held_for_one_reason() {
    let mut world = World::started(definition(), vec![says("Done.")]);
    world.work();
    let mut hold = |reason: &str| world.try_send(&anna(), Input::LegalHold { reason: reason.to_owned() });
    assert_eq!(hold("Case 114 is open.").unwrap(), ["legal_hold_placed"]);
    assert!(hold("Case 114 is open.").unwrap().is_empty());
    let refused = hold("Case 115 is open.").unwrap_err();
    assert!(matches!(&refused, Rejection::HeldAlready(stands) if stands.by == "anna"), "{refused}");
    assert!(refused.to_string().contains("by anna (Case 114 is open.); lift the hold"), "{refused}");
    world.try_send(&anna(), Input::LiftLegalHold).unwrap();
    let next = Input::LegalHold { reason: "Case 115 is open.".to_owned() };
    assert_eq!(world.try_send(&anna(), next).unwrap(), ["legal_hold_placed"]);
}

#[test]
fn a_run_says_who_erased_it_once_all_of_it_is() {
    let mut world = World::started(definition(), vec![says("Done.")]);
    world.work();
    assert_eq!(world.run.erased, None);
    world.pass_ms(60_000);
    while !world
        .try_send(&anna(), Input::EraseContent { because: ErasureReason::Retention })
        .unwrap()
        .is_empty()
    {}
    let expected = Erasure { by: "anna".to_owned(), at: world.now, because: ErasureReason::Retention };
    assert_eq!(world.run.erased, Some(expected));
    // A replay yields the same state.
    let mut again = Run::new(world.run.id.clone(), world.run.definition.clone());
    world.log.iter().for_each(|event| again.apply(event));
    assert_eq!(again.erased, world.run.erased);
}

#[test]
fn the_types_of_all_events_are_known() {
    let types = event::types();
    for (known, some) in types.iter().zip([
        ["run_started", "content_erased", "legal_hold_placed", "result_held"],
        ["grant_added", "grant_revoked", "grant_added", "grant_revoked"],
        ["frozen", "unfrozen", "policy_set", "frozen"],
    ]) {
        assert!(some.iter().all(|some| known.iter().any(|known| known == some)), "{some:?}: {known:?}");
        assert!(
            known.iter().all(|known| known.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'))
        );
    }
    let mut world = World::started(definition(), vec![says("Done.")]);
    world.work();
    for event in &world.log {
        let (kind, _): (String, Value) = event.fact.encode();
        assert!(types.concat().contains(&kind), "{kind}");
    }
}
