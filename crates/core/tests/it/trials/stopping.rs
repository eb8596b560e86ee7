//! A person stops a command: its process ends, its trial changes nothing, and the run continues with the person's
//! message for the agent.

use holdshort_core::actor::Actor;
use holdshort_core::interrupt::Kind;
use holdshort_core::run::{Action, Begin, CallEnd, CallState, Input, Rejection};
use holdshort_core::tool::{Outcome, TrialOutcome};
use serde_json::{Value, json};

use super::{end_of, runs};
use crate::world::{World, calls, choose, command, definition, write};

fn stop(text: &str) -> Input {
    let text = (!text.is_empty()).then(|| text.to_owned());
    Input::StopCall { call: "call_1".to_owned(), text }
}

/// Returns a run whose first call is being tried in isolation.
fn trying(line: &str) -> World {
    let mut world = runs(&[line]);
    world.work_once();
    world.work_once();
    world.send(Input::Begin { begins: vec![Begin::Trial { call: "call_1".to_owned() }] });
    assert!(world.run.calls["call_1"].trial.running.is_some());
    world
}

/// Returns a run whose command is running without a trial.
fn running() -> World {
    let mut world = World::started(definition(), vec![calls(&[command("make")])]);
    world.work();
    world.decide(Kind::ToolApproval, choose("approve"));
    world.begin_tool("call_1");
    world
}

fn call_result(world: &World) -> String {
    world.run.calls["call_1"].result.as_deref().unwrap_or_default().to_owned()
}

fn refused(world: &World, input: Input) -> Rejection {
    world.handle(&Actor::operator("rest"), input).expect_err("it is refused")
}

#[test]
fn a_trial_is_stopped_before_what_ends_it_and_nothing_of_it_happens() {
    let mut world = trying("./do a=1");
    assert_eq!(world.person(stop("wrong folder")), ["tool_stopped call_1"]);
    assert_eq!(world.run.stopping().map(|id| id.to_string()).collect::<Vec<_>>(), ["try/call_1/1"]);
    assert_eq!(end_of(&world, "call_1"), None, "its process is not gone yet");
    assert!(world.person(stop("twice is once")).is_empty());
    // The result of the stopped trial arrives and opens no interrupt.
    let tried = world.try_command("call_1");
    world.send(Input::Tried { call: "call_1".to_owned(), attempt: 1, tried });
    assert_eq!(end_of(&world, "call_1"), Some(CallEnd::Refused));
    assert_eq!(
        call_result(&world),
        "tried ./do a=1\nA person stopped this command. It ran only in a trial, so nothing has changed. The \
        person \
        says: wrong folder"
    );
    assert_eq!(world.run.stopping().count(), 0);
    world.work();
    assert!(world.files.is_empty() && world.open_kinds().is_empty());
    assert!(matches!(world.run.actions()[..], [Action::CallModel { .. }]), "the agent hears it next");
}

#[test]
fn a_stopped_trial_never_begins_again() {
    let ends: [fn(&mut World); 3] = [
        |world| {
            world.crash();
        },
        |world| {
            let tried = TrialOutcome::Changed { paths: vec!["a".to_owned()] };
            world.send(Input::Tried { call: "call_1".to_owned(), attempt: 1, tried });
        },
        |world| {
            let tried = TrialOutcome::Impossible { why: "no room".to_owned() };
            world.send(Input::Tried { call: "call_1".to_owned(), attempt: 1, tried });
        },
    ];
    for end in ends {
        let mut world = trying("./do a=1");
        world.person(stop(""));
        end(&mut world);
        assert_eq!(end_of(&world, "call_1"), Some(CallEnd::Refused), "{:#?}", world.story());
        let told = call_result(&world);
        assert!(told.starts_with("Its output is lost.\nA person stopped this command."), "{told}");
        assert!(told.ends_with("Do not run the same command again unless a person requests it."), "{told}");
        world.work();
        assert_eq!((world.count("trial_started"), world.effects.len()), (1, 0));
    }
}

#[test]
fn a_stopped_trial_whose_workspace_another_call_wrote_ends_too() {
    let mut world = World::started(super::trying(), vec![calls(&[command("./do a=1"), write("b.txt")])]);
    world.work_once();
    world.work_once();
    world.send(Input::Begin { begins: vec![Begin::Trial { call: "call_1".to_owned() }] });
    world.person(stop(""));
    let tried = world.try_command("call_1");
    world.send(Input::Tried { call: "call_1".to_owned(), attempt: 1, tried });
    world.work();
    assert_eq!(end_of(&world, "call_1"), Some(CallEnd::Refused));
    assert_eq!(world.open_kinds(), ["tool_approval"], "the other call goes its way");
}

#[test]
fn a_command_that_runs_in_the_workspace_is_stopped_and_may_have_done_a_part() {
    let mut world = running();
    world.person(stop("enough"));
    assert_eq!(world.run.stopping().map(|id| id.to_string()).collect::<Vec<_>>(), ["tool/call_1/1"]);
    let outcome =
        Outcome::Stopped { text: "half\nkilled".to_owned(), data: json!({ "exit_code": Value::Null }) };
    world.send(Input::Ran { call: "call_1".to_owned(), attempt: 1, outcome });
    assert_eq!(end_of(&world, "call_1"), Some(CallEnd::Failed));
    assert_eq!(
        call_result(&world),
        "half\nkilled\nA person stopped this command. It ran in the workspace, and may have done a part of \
        its work. The person \
         says: enough"
    );
    assert!(world.run.calls["call_1"].untold_at.is_some(), "an undo names it");
}

#[test]
fn one_that_had_ended_by_itself_is_done_and_one_that_a_crash_took_asks_nobody() {
    let mut world = running();
    world.person(stop("enough"));
    let outcome = Outcome::Done { text: "built".to_owned(), data: Value::Null };
    world.send(Input::Ran { call: "call_1".to_owned(), attempt: 1, outcome });
    assert_eq!(end_of(&world, "call_1"), Some(CallEnd::Done));
    assert!(call_result(&world).contains("but it had already ended. The person says: enough"));

    let mut world = running();
    world.person(stop(""));
    world.crash();
    assert!(world.open_kinds().is_empty(), "{:#?}", world.story());
    assert_eq!(end_of(&world, "call_1"), Some(CallEnd::Failed));
    assert!(call_result(&world).contains("may have done a part of its work"));
}

#[test]
fn what_does_not_run_is_not_stopped() {
    let mut gated = runs(&["./do a=1"]);
    gated.work();
    let mut committing = gated.clone();
    committing.decide(Kind::ToolApproval, choose("approve"));
    committing.begin_tool("call_1");
    assert!(matches!(committing.run.calls["call_1"].state, CallState::Started { .. }));
    let mut ended = trying("make");
    let tried = ended.try_command("call_1");
    ended.send(Input::Tried { call: "call_1".to_owned(), attempt: 1, tried });
    ended.work();
    let mut doubted = running();
    doubted.crash();
    let mut file = World::started(definition(), vec![calls(&[write("a.txt")])]);
    file.work();
    for (world, why) in [
        (gated, "it is not running"),
        (committing, "its changes are being written as a whole; undo them afterwards"),
        (ended, "it has ended"),
        (doubted, "it is unknown whether the call is still running"),
        (file, "it is not a command"),
    ] {
        assert_eq!(refused(&world, stop("")), Rejection::NotStoppable(why));
    }
    let world = trying("make");
    let unknown = Input::StopCall { call: "call_9".to_owned(), text: None };
    assert_eq!(refused(&world, unknown), Rejection::UnknownCall);
    assert!(matches!(refused(&world, stop(&"x".repeat(100_000))), Rejection::Invalid(_)));
}
