//! Start, pause and end of runs and steps. After an end, no interrupt stays open and nothing starts.

use holdshort_core::interrupt::Kind;
use holdshort_core::limits;
use holdshort_core::message::Reply;
use holdshort_core::projection::Status;
use holdshort_core::run::{Config, Input};
use serde_json::{Value, json};

use super::phase;
use crate::world::{World, calls, choose, command, definition, read, says, write};

#[test]
fn cancel_acts_at_once_and_what_comes_later_is_too_late() {
    let model = {
        let mut world = World::started(definition(), Vec::new());
        world.begin_model("work");
        world
    };
    let write_under_way = {
        let mut definition = definition();
        definition.gates.rules = vec![crate::world::allow(&["*"])];
        let mut world = World::started(definition, vec![calls(&[command("make"), read("a")])]);
        for _ in 0..3 {
            world.work_once();
        }
        world.begin_tool("call_1");
        world.begin_tool("call_2");
        world
    };
    let table = [
        (model, vec!["run_cancelled cancelled"]),
        (
            write_under_way,
            vec![
                "tool_finished call_1 unknown run_ended",
                "tool_finished call_2 cancelled run_ended",
                "run_cancelled cancelled",
            ],
        ),
    ];
    for (mut world, expected) in table {
        let told = world.person(Input::Cancel { text: Some("enough".to_owned()) });
        assert_eq!(told, expected);
        assert_eq!(world.run.ended.as_ref().and_then(|ended| ended.text.as_deref()), Some("enough"));
        assert_eq!((world.run.actions(), world.run.next_deadline()), (Vec::new(), None));
        let reply = Input::Replied { step: "work".to_owned(), turn: 0, reply: Reply::default() };
        assert!(world.handle(&holdshort_core::actor::Actor::engine(), reply).is_err());
    }
}

/// A paused run starts no work. Running work may return, decisions are accepted, and deadlines still expire.
#[test]
fn a_paused_run_starts_nothing() {
    let mut world = World::started(definition(), vec![calls(&[write("a")]), says("Done.")]);
    world.begin_model("work");
    world.person(Input::Pause);
    let reply =
        world.script.get_mut("work").and_then(std::collections::VecDeque::pop_front).expect("scripted");
    world.answer("work", 0, reply);
    assert_eq!((world.run.actions(), world.run.status()), (Vec::new(), Status::Paused));
    world.person(Input::Resume);
    world.work();
    world.person(Input::Pause);
    world.decide(Kind::ToolApproval, choose("approve"));
    assert_eq!((world.run.actions(), world.begin_tool("call_1")), (Vec::new(), Vec::new()));
    world.person(Input::Resume);
    world.work();
    assert_eq!((world.run.status(), world.effects.len()), (Status::Completed, 1));
}

/// If a decision ends the turn while another call runs, the step waits for that call and starts nothing further.
#[test]
fn ending_a_turn_waits_for_what_is_under_way() {
    let ended_turn = |answer: &str| {
        let mut definition = definition();
        definition.gates.rules = vec![crate::world::rule(
            holdshort_core::policy::RuleAction::Allow,
            &["run_command"],
            &["make *"],
        )];
        let gate = holdshort_core::definition::KindGate {
            reject: Some(holdshort_core::interrupt::Effect::EndTurn),
            ..Default::default()
        };
        definition.gates.kinds = std::collections::BTreeMap::from([(Kind::ToolApproval, gate)]);
        let script = vec![calls(&[
            command("make"),
            write("b"),
            write("c"),
            ("ask_human", json!({ "question": "?" })),
        ])];
        let mut world = World::started(definition, script);
        for _ in 0..4 {
            world.work_once();
        }
        world.begin_tool("call_1");
        let second = world.run.calls["call_2"].interrupt.clone().expect("it was asked about");
        let told =
            world.person(Input::Decide { interrupt: second, decision: choose("reject"), holder: None });
        assert_eq!(
            told,
            [
                "decision_made reject",
                "interrupt_resolved rejected reject",
                "refusal_added tool",
                "tool_finished call_2 refused refused",
                "interrupt_resolved superseded",
                "tool_finished call_3 skipped step_ended",
                "interrupt_resolved superseded",
                "tool_finished call_4 skipped step_ended",
                "step_closed completed",
            ],
        );
        assert_eq!((world.run.status(), world.run.actions()), (Status::Running, Vec::new()));
        let then = match answer {
            "done" => {
                let outcome = world.execute("call_1");
                world.send(Input::Ran { call: "call_1".to_owned(), attempt: 1, outcome })
            }
            "changed" => {
                let outcome = holdshort_core::tool::Outcome::Changed { paths: vec!["x".to_owned()] };
                world.send(Input::Ran { call: "call_1".to_owned(), attempt: 1, outcome })
            }
            _ => {
                world.crash();
                world.decide(Kind::UnknownOutcome, choose(answer))
            }
        };
        (then, world.run.ended.map(|ended| ended.result["text"].clone()))
    };
    let text = Some(json!("a person refused this call"));
    let end = ["step_ended completed", "phase_ended completed work", "run_completed done"];
    let then =
        |first: &[&str]| -> Vec<String> { first.iter().chain(&end).map(|line| (*line).to_owned()).collect() };
    assert_eq!(ended_turn("done"), (then(&["tool_finished call_1 done"]), text.clone()));
    assert_eq!(
        ended_turn("changed"),
        (then(&["tool_returned call_1 changed", "tool_finished call_1 skipped step_ended"]), text.clone()),
    );
    assert_eq!(
        ended_turn("rerun"),
        (
            then(&[
                "decision_made rerun",
                "interrupt_resolved answered rerun",
                "tool_returned call_1 rerun",
                "tool_finished call_1 skipped step_ended",
            ]),
            text,
        ),
    );
}

/// Skipping a failed step withdraws its open interrupts, so that a completed run has no open interrupt.
#[test]
fn a_step_that_is_given_up_leaves_nothing_open() {
    let mut definition = phase(|phase| phase.gates.on_error = true);
    definition.gates.rules = vec![crate::world::allow(&["read_file"])];
    let mut world = World::started(definition, vec![calls(&[read("a"), write("b")])]);
    for _ in 0..3 {
        world.work_once();
    }
    for _ in 0..limits::CRASHES {
        world.begin_tool("call_1");
        world.crash();
    }
    assert_eq!(world.open_kinds().len(), 2);
    let told = world.decide(Kind::Error, choose("skip"));
    assert_eq!(
        told,
        [
            "decision_made skip",
            "interrupt_resolved answered skip",
            "tool_finished call_1 skipped step_ended",
            "interrupt_resolved superseded",
            "tool_finished call_2 skipped step_ended",
            "step_ended skipped",
            "phase_ended skipped work",
            "run_completed done",
        ],
    );
}

/// The first event records the digest of the workflow. The input must match the workflow's schema and the size limit.
#[test]
fn a_run_starts_once_with_an_input_that_fits() {
    let world = World::new(definition());
    let engine = holdshort_core::actor::Actor::engine();
    let with = |input: Value| {
        let Input::Start(mut start) = world.start_input(Config::default()) else { unreachable!() };
        start.input = input;
        match world.handle(&engine, Input::Start(start)) {
            Ok(_) => String::new(),
            Err(holdshort_core::run::Rejection::Invalid(problems)) => problems[0].pointer.clone(),
            Err(other) => format!("{other:?}"),
        }
    };
    assert_eq!(
        [
            with(json!({ "task": "x" })),
            with(json!({})),
            with(json!({ "task": "x".repeat(limits::INPUT_BYTES) })),
            with(json!({ "task": "x", "n": u64::MAX })),
        ],
        ["", "/input", "/input", "/input"],
    );
}
