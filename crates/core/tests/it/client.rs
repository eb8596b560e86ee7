//! Tool calls that a client runs (contracts B11, E33). Such a call passes the gates like any other, is handed out to
//! the client, and ends with the client's result.

use holdshort_core::actor::Actor;
use holdshort_core::definition::{Definition, KindGate};
use holdshort_core::interrupt::{Assignment, Effect, Kind, Refusal};
use holdshort_core::message::Message;
use holdshort_core::projection::Status;
use holdshort_core::run::{CallEnd, CallState, ClientOutcome, Input, Rejection};
use holdshort_core::system::Fact;
use serde_json::{Value, json};

use crate::turns::paired;
use crate::world::{Answer, World, allow, calls, choose, choose_with, edit, of_system, says, with_client};

fn fetch() -> (&'static str, Value) {
    ("client_read", json!({ "path": "a.txt" }))
}

fn store() -> (&'static str, Value) {
    ("client_write", json!({ "path": "a.txt", "content": "new" }))
}

/// Returns a workflow that allows reads and asks about writes.
fn client() -> Definition {
    let mut definition = with_client();
    definition.gates.rules.push(allow(&["client_read"]));
    definition
}

fn worked(script: Vec<Answer>) -> World {
    let mut world = World::started(client(), script);
    world.work();
    world
}

fn done(call: &str, text: &str) -> Input {
    Input::ClientResult { call: call.to_owned(), outcome: ClientOutcome::Done { text: text.to_owned() } }
}

fn failed(call: &str, text: &str) -> Input {
    Input::ClientResult { call: call.to_owned(), outcome: ClientOutcome::Failed { text: text.to_owned() } }
}

fn refused(world: &mut World, input: Input) -> Rejection {
    world.try_send(&Actor::operator("rest"), input).expect_err("it is not taken")
}

fn state(world: &World) -> &CallState {
    &world.run.calls["call_1"].state
}

/// Returns the result of the first call in the model's next request.
fn first_call_result(world: &World) -> String {
    let request = world.run.request("work").expect("the step is there");
    paired(&request);
    let of_call = |message: &Message| match message {
        Message::Tool { call, text, .. } if call == "call_1" => Some(text.clone()),
        _ => None,
    };
    request.messages.iter().find_map(of_call).expect("the call has a result")
}

/// Readers see if a person was asked about a call, if it was approved, and if a client has it.
#[test]
fn readers_see_how_far_a_call_is() {
    let seen = |world: &World| {
        let run = &world.run;
        (run.approval_of("call_1").is_some(), run.is_approved("call_1"), run.handed_out("call_1").is_some())
    };
    let asked = || worked(vec![calls(&[store()]), says("Done.")]);
    let mut free = worked(vec![calls(&[fetch()]), says("Done.")]);
    assert_eq!(seen(&free), (false, false, true));
    free.person(done("call_1", "x"));
    assert_eq!(seen(&free), (false, false, false));
    let table = [
        (choose("approve"), (true, true, true)),
        (edit(json!({ "path": "b.txt", "content": "x" })), (true, true, true)),
        (choose("reject"), (true, false, false)),
    ];
    for (decision, expected) in table {
        let mut world = asked();
        assert_eq!(seen(&world), (true, false, false));
        world.decide(Kind::ToolApproval, decision.clone());
        world.work();
        assert_eq!(seen(&world), expected, "{decision:?}");
    }
}

#[test]
fn what_is_free_is_handed_out_at_once_and_the_answer_is_its_result() {
    let mut world = worked(vec![calls(&[fetch()]), says("Done.")]);
    assert_eq!(world.open_kinds(), ["client_call"]);
    assert_eq!(world.run.status(), Status::Waiting);
    assert!(world.run.actions().is_empty(), "nothing is done here");
    world.person(done("call_1", "the text"));
    assert_eq!(first_call_result(&world), "the text");
    world.work();
    assert_eq!(world.run.status(), Status::Completed);
}

#[test]
fn what_asks_is_handed_out_after_the_approval() {
    let mut world = worked(vec![calls(&[store()]), says("Done.")]);
    assert_eq!(world.open_kinds(), ["tool_approval"]);
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    assert_eq!(world.open_kinds(), ["client_call"]);
    world.decide(Kind::ClientCall, choose_with("error", "the disk is full"));
    assert_eq!(state(&world), &CallState::Ended(CallEnd::Failed));
    assert_eq!(first_call_result(&world), "the disk is full");
}

#[test]
fn what_is_refused_is_never_handed_out_and_an_edit_is_what_goes_out() {
    let mut world = worked(vec![calls(&[store()]), says("Done.")]);
    let edited = {
        let mut world = world.clone();
        world.decide(Kind::ToolApproval, edit(json!({ "path": "b.txt", "content": "other" })));
        world.work();
        let open = world.open(Kind::ClientCall);
        world.run.interrupts[&open].content["payload"]["arguments"].clone()
    };
    assert_eq!(edited, json!({ "path": "b.txt", "content": "other" }));
    world.decide(Kind::ToolApproval, choose_with("reject", "not now"));
    world.work();
    assert_eq!(world.count("tool_started"), 0);
    assert!(first_call_result(&world).contains("not now"));
}

#[test]
fn a_result_before_the_decision_is_that_persons_approval() {
    let mut world = worked(vec![calls(&[store()]), says("Done.")]);
    let told = world.person(done("call_1", "written"));
    assert_eq!(
        told,
        [
            "decision_made approve",
            "interrupt_resolved approved approve",
            "tool_authorised call_1 interrupt",
            "tool_started call_1",
            "interrupt_opened client_call",
            "decision_made result",
            "interrupt_resolved answered result",
            "tool_finished call_1 done",
        ],
    );
    let implied = world.log.iter().filter_map(|event| {
        let (kind, facts) = event.fact.encode();
        (kind == "decision_made").then(|| facts["implied"].clone())
    });
    assert_eq!(implied.collect::<Vec<_>>(), [json!(true), Value::Null]);
}

#[test]
fn one_that_may_not_be_approved_by_this_person_is_not_implied_either() {
    let mut definition = client();
    let gate = KindGate {
        assignment: Some(Assignment::from_approvers(vec!["other".to_owned()])),
        ..KindGate::default()
    };
    definition.gates.kinds.insert(Kind::ToolApproval, gate);
    let mut world = World::started(definition, vec![calls(&[store()])]);
    world.work();
    let rejection = refused(&mut world, done("call_1", "written"));
    assert_eq!(rejection, Rejection::Refused(Refusal::NotAnApprover));
    assert_eq!(world.open_kinds(), ["tool_approval"]);
}

#[test]
fn the_same_result_twice_is_one_and_another_one_is_a_conflict() {
    let mut world = worked(vec![calls(&[fetch()]), says("Done.")]);
    world.person(done("call_1", "the text"));
    assert!(world.person(done("call_1", "the text")).is_empty());
    for other in [done("call_1", "another"), failed("call_1", "the text")] {
        assert_eq!(refused(&mut world, other), Rejection::Refused(Refusal::AlreadyResolved));
    }
    assert_eq!(refused(&mut world, done("call_9", "x")), Rejection::UnknownCall);
}

#[test]
fn only_what_the_client_runs_takes_a_result() {
    let mut world = worked(vec![calls(&[("run_command", json!({ "command": "make" }))])]);
    let Rejection::Invalid(problems) = refused(&mut world, done("call_1", "x")) else {
        panic!("a problem with its place")
    };
    assert_eq!(problems[0].pointer, "/call_id");
    assert_eq!(world.open_kinds(), ["tool_approval"]);
}

#[test]
fn several_calls_of_one_reply_are_out_side_by_side_and_the_model_hears_them_together() {
    let mut world = worked(vec![calls(&[fetch(), store()]), says("Done.")]);
    assert_eq!(world.open_kinds().len(), 2, "{:?}", world.open_kinds());
    world.person(done("call_1", "the text"));
    assert!(world.run.actions().is_empty(), "the model waits for both");
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    world.person(failed("call_2", "no room"));
    paired(&world.run.request("work").expect("the step is there"));
    world.work();
    assert_eq!(world.run.status(), Status::Completed);
}

#[test]
fn an_approval_under_a_freeze_is_handed_out_after_it() {
    let mut world = worked(vec![calls(&[store()])]);
    world.system.apply(&of_system(Fact::Frozen));
    world.decide(Kind::ToolApproval, choose("approve"));
    let begin = Input::Begin { begins: vec![world.begin_of("call_1")] };
    assert_eq!(world.try_send(&Actor::engine(), begin), Err(Rejection::Frozen));
    assert!(world.open_kinds().is_empty());
    world.system.apply(&of_system(Fact::Unfrozen));
    world.work();
    assert_eq!(world.open_kinds(), ["client_call"]);
}

#[test]
fn a_crash_of_ours_is_none_of_the_clients() {
    let mut world = worked(vec![calls(&[fetch()]), says("Done.")]);
    assert!(world.crash().is_empty(), "nothing is in flight here");
    world.person(done("call_1", "the text"));
    world.work();
    assert_eq!(world.run.status(), Status::Completed);
}

#[test]
fn what_is_out_when_the_run_ends_is_left_in_doubt_where_it_writes() {
    for (call, end) in [(fetch(), CallEnd::Cancelled), (store(), CallEnd::Unknown)] {
        let mut world = worked(vec![calls(&[call])]);
        if world.open_kinds() == ["tool_approval"] {
            world.decide(Kind::ToolApproval, choose("approve"));
            world.work();
        }
        world.person(Input::Cancel { text: None });
        assert_eq!(state(&world), &CallState::Ended(end));
        assert!(world.open_kinds().is_empty());
    }
}

#[test]
fn a_step_that_ends_waits_for_what_is_out() {
    let mut definition = client();
    let gate = KindGate { reject: Some(Effect::EndTurn), ..KindGate::default() };
    definition.gates.kinds.insert(Kind::ToolApproval, gate);
    let mut world = World::started(definition, vec![calls(&[fetch(), store()])]);
    world.work();
    world.decide(Kind::ToolApproval, choose("reject"));
    assert_eq!(world.open_kinds(), ["client_call"]);
    assert_eq!(world.run.status(), Status::Waiting);
    world.person(done("call_1", "the text"));
    assert_eq!(world.run.status(), Status::Completed);
}

#[test]
fn a_client_that_does_not_answer_in_time_leaves_a_doubt_that_the_model_reads() {
    let mut definition = client();
    let gate = KindGate { expires_in_ms: Some(1_000), ..KindGate::default() };
    definition.gates.kinds.insert(Kind::ClientCall, gate);
    let mut world = World::started(definition, vec![calls(&[fetch()]), says("Done.")]);
    world.work();
    world.pass_ms(1_001);
    world.send(Input::Tick);
    assert!(first_call_result(&world).contains("did not report"), "{}", first_call_result(&world));
}

/// A result that arrives before the call is handed out is accepted, because the approving client may run the call at
/// once.
#[test]
fn a_result_between_approval_and_hand_out_counts() {
    for hold in [Input::Pause, Input::Tick] {
        let mut world = worked(vec![calls(&[store()]), says("Done.")]);
        if hold == Input::Tick {
            world.system.apply(&of_system(Fact::Frozen));
        }
        world.send(hold);
        world.decide(Kind::ToolApproval, choose("approve"));
        assert_eq!(state(&world), &CallState::Authorised);
        world.person(done("call_1", "written"));
        assert_eq!(state(&world), &CallState::Ended(CallEnd::Done));
    }
}

#[test]
fn a_write_that_the_client_does_not_tell_of_is_in_doubt() {
    let mut definition = client();
    let gate = KindGate { expires_in_ms: Some(1_000), ..KindGate::default() };
    definition.gates.kinds.insert(Kind::ClientCall, gate);
    let mut world = World::started(definition, vec![calls(&[store()]), says("Done.")]);
    world.work();
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    world.pass_ms(1_001);
    world.send(Input::Tick);
    assert_eq!(world.open_kinds(), ["unknown_outcome"]);
    world.decide(Kind::UnknownOutcome, choose_with("happened", "written"));
    assert_eq!(first_call_result(&world), "written");
}

/// Any node may hand out a call to a client. The epoch of the node that drives the run stays the same.
#[test]
fn handing_a_call_out_takes_no_work_from_the_node_that_drives_the_run() {
    let mut world = worked(vec![calls(&[store()]), says("Done.")]);
    let driver = world.run.last_epoch();
    world.epoch += 1;
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    assert!(matches!(state(&world), CallState::WithClient(_)));
    assert_eq!(world.run.last_epoch(), driver);
}
