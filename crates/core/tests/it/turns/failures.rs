//! Failed model calls: retries with increasing delays, and failures without a possible retry.

use holdshort_core::definition::Definition;
use holdshort_core::interrupt::Kind;
use holdshort_core::message::{Failure, FailureKind, Reply};
use holdshort_core::projection::Status;

use super::phase;
use crate::world::{World, calls, choose, definition, fails, read, says};

#[test]
fn an_empty_reply_is_a_failure_that_may_be_tried_again() {
    let nothing = Ok(Reply { text: " \n".to_owned(), ..Reply::default() });
    let mut world = World::started(definition(), vec![nothing, says("Done.")]);
    assert_eq!(world.work(), ["model_started", "model_failed unusable"]);
    world.pass_ms(500);
    world.work();
    assert_eq!(world.run.status(), Status::Completed);
}

/// The delay before a retry doubles with each failure, up to one minute. A provider may request a longer delay, also up
/// to one minute.
#[test]
fn failed_model_calls_back_off() {
    let definition = || phase(|phase| phase.limits.attempts = 12);
    let waits = |retry_after_ms: Option<u64>, kind| {
        let mut world = World::started(definition(), Vec::new());
        let mut waits = Vec::new();
        while world.run.ended.is_none() {
            world.begin_model("work");
            world.answer("work", 0, Err(Failure { kind, retry_after_ms, message: "no".to_owned() }));
            if let Some(at) = world.run.next_deadline() {
                waits.push(at.ms_since(world.now));
                world.pass_ms(at.ms_since(world.now) - 1);
                assert_eq!(world.begin_model("work"), Vec::<String>::new(), "not before its time");
                world.pass_ms(1);
            }
        }
        (waits, world.run.ended.map(|ended| ended.reason.clone()).unwrap_or_default())
    };
    let failed = "model_failed".to_owned();
    assert_eq!(
        waits(None, FailureKind::Unavailable),
        (
            vec![500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000],
            failed.clone()
        ),
    );
    assert_eq!(waits(Some(5_000), FailureKind::RateLimited).0[..5], [5_000, 5_000, 5_000, 5_000, 8_000]);
    assert_eq!(waits(Some(u64::MAX), FailureKind::RateLimited).0[0], 60_000);
    for kind in [FailureKind::Rejected, FailureKind::Script] {
        assert_eq!(waits(None, kind), (Vec::new(), failed.clone()), "{kind:?} is not tried again");
    }
}

#[test]
fn attempts_are_counted_in_a_row() {
    let bad = || fails(FailureKind::Cut);
    let script = vec![bad(), bad(), calls(&[read("a")]), bad(), bad(), says("Done.")];
    let mut world = World::started(definition(), script);
    for _ in 0..10 {
        world.work();
        world.pass_ms(60_000);
    }
    assert_eq!((world.run.status(), world.count("model_failed")), (Status::Completed, 4));
}

#[test]
fn attempts_exhausted_ask_or_fail() {
    let script = || (0..3).map(|_| fails(FailureKind::TimedOut)).chain([says("Done.")]).collect::<Vec<_>>();
    let run = |definition: Definition| {
        let mut world = World::started(definition, script());
        for _ in 0..4 {
            world.work();
            world.pass_ms(60_000);
        }
        world
    };
    let failed = run(definition());
    assert_eq!(
        failed.run.ended.map(|ended| (ended.status, ended.reason.clone(), ended.text.clone())),
        Some((
            Status::Failed,
            "model_failed".to_owned(),
            Some(
                "TimedOut\nSo far: 0 steps done, 0 calls made, 0 replies of models, 0 tokens, 2 min 0 s."
                    .to_owned()
            ),
        )),
    );
    let mut asked = run(phase(|phase| phase.gates.on_error = true));
    assert_eq!(asked.open_kinds(), ["error"]);
    asked.decide(Kind::Error, choose("retry"));
    asked.work();
    assert_eq!(asked.run.status(), Status::Completed);
}
