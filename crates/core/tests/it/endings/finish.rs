//! Agents with `ends: finish`, whose step ends only by the tool `finish`. Its arguments list what was done and what was
//! left undone.

use holdshort_core::definition::{Definition, EndCondition};
use holdshort_core::handoff::{FINISH, finish};
use holdshort_core::interrupt::Kind;
use holdshort_core::projection::Status;
use serde_json::{Value, json};

use crate::world::{Answer, World, calls, choose, choose_with, command, definition, read, says};

pub(crate) fn finishing() -> Definition {
    let mut definition = definition();
    definition.tools.insert(FINISH.to_owned(), finish());
    let agent = definition.agents.get_mut("pair").expect("it is there");
    agent.ends = EndCondition::Finish;
    agent.tools.push(FINISH.to_owned());
    definition
}

pub(crate) fn finishes(arguments: Value) -> Answer {
    calls(&[(FINISH, arguments)])
}

fn ended(world: &World) -> (Status, &str, &Value) {
    let ended = world.run.ended.as_ref().expect("it has ended");
    (ended.status, ended.reason.as_str(), &ended.result)
}

#[test]
fn the_tool_ends_the_step_with_its_summary() {
    let mut world = World::started(finishing(), vec![finishes(json!({ "summary": "Both are fixed." }))]);
    world.work();
    let (status, reason, result) = ended(&world);
    assert_eq!((status, reason), (Status::Completed, "done"));
    assert_eq!(
        *result,
        json!({
            "text": "Both are fixed.", "phases": { "work": "Both are fixed." }, "released": [],
        })
    );
}

/// Undone items are in the text and in the data of the result, and the run's end reason is `partial`.
#[test]
fn what_was_left_undone_is_said() {
    let undone = json!(["the tests of Windows", " ", "the changelog: nobody said which version"]);
    let mut world =
        World::started(finishing(), vec![finishes(json!({ "summary": "Fixed.", "undone": undone }))]);
    world.work();
    let (status, reason, result) = ended(&world);
    assert_eq!((status, reason), (Status::Completed, "partial"));
    assert_eq!(
        result["text"],
        "Fixed.\n\nLeft undone:\n- the tests of Windows\n- the changelog: nobody said which version",
    );
    assert_eq!(result["undone"], json!(["the tests of Windows", "the changelog: nobody said which version"]));
}

/// A reply without a call of `finish` does not end the step. The first such reply is refused, and after the second a
/// person is asked.
#[test]
fn a_reply_without_the_tool_is_no_end() {
    let mut world = World::started(finishing(), vec![says("Done."), says("All of it is done.")]);
    let told = world.work();
    assert!(told.contains(&"end_refused not_finished".to_owned()), "{told:#?}");
    assert_eq!(world.open_kinds(), ["continuation"]);
    world.decide(Kind::Continuation, choose_with("continue", "call finish"));
    world = world.with("work", vec![finishes(json!({ "summary": "Done." }))]);
    world.work();
    assert_eq!(ended(&world).1, "done");

    // Agents ask only by a tool, so a question in the text is not a question to a person.
    let mut world = World::started(finishing(), vec![says("Which one?"), says("Which one?")]);
    world.work();
    assert_eq!(world.open_kinds(), ["continuation"]);
    world.decide(Kind::Continuation, choose("finish"));
    assert_eq!(ended(&world).1, "partial");
}

#[test]
fn where_nobody_may_be_asked_the_run_fails() {
    let mut definition = finishing();
    definition.asking.enabled = false;
    let mut world = World::started(definition, vec![says("Done."), says("Done.")]);
    world.work();
    let ended = world.run.ended.as_ref().expect("it has");
    assert_eq!((ended.status, ended.reason.as_str()), (Status::Failed, "not_finished"));
}

/// The instructions of the agent name the tool `finish`. A call of `finish` with invalid arguments does not end the
/// step.
#[test]
fn the_agent_is_told_and_held_to_it() {
    let mut world = World::started(
        finishing(),
        vec![
            finishes(json!({ "summary": "" })),
            finishes(json!({ "summary": " \n\u{200b}" })),
            finishes(json!({ "done": true })),
        ],
    );
    let system = world.run.request("work").expect("it has started").messages.remove(0);
    assert!(format!("{system:?}").contains("ends with the tool `finish`"));
    world.work();
    assert_eq!((world.run.status(), world.count("step_ended")), (Status::Running, 0));
    let blank = world.run.calls["call_2"].result.clone().expect("it is told");
    assert!(blank.contains("/summary: is blank: say what you did"), "{blank}");
}

/// Two `finish` calls in one reply are refused, because they could contradict each other.
#[test]
fn two_in_one_reply_end_nothing() {
    let whole = json!({ "summary": "Done." });
    let partly = json!({ "summary": "Done.", "undone": ["the changelog"] });
    let script = vec![calls(&[(FINISH, whole), (FINISH, partly.clone())]), finishes(partly)];
    let mut world = World::started(finishing(), script);
    let told = world.work();
    for call in ["call_1", "call_2"] {
        assert!(told.contains(&format!("tool_finished {call} failed second_handoff")), "{told:#?}");
        let said = world.run.calls[call].result.clone().expect("it is told");
        assert!(said.contains("none of these calls took effect"), "{said}");
    }
    assert_eq!(ended(&world).1, "partial");

    // A call with invalid arguments is not treated as a second finish call.
    let script = vec![calls(&[(FINISH, json!({ "summary": "" })), (FINISH, json!({ "summary": "Done." }))])];
    let mut world = World::started(finishing(), script);
    world.work();
    assert_eq!(ended(&world).1, "done");
}

/// A `finish` call runs after all other calls of its reply. If one of them failed, the `finish` call does not end the
/// step.
#[test]
fn it_is_no_end_beside_a_failure() {
    let mut definition = finishing();
    definition.gates.rules.push(crate::world::allow(&["run_command"]));
    let reply = calls(&[(FINISH, json!({ "summary": "Done." })), command("false")]);
    let mut world = World::started(definition, vec![reply]);
    let told = world.work();
    assert!(told.contains(&"tool_finished call_1 failed not_finished".to_owned()), "{told:#?}");
    assert_eq!(world.run.status(), Status::Running);
}

/// After a gate has sent the step back, only the undone items of the last finish call apply.
#[test]
fn what_is_done_again_is_not_undone() {
    let mut definition = finishing();
    definition.phases[0].gates.after_step = true;
    let script = vec![
        finishes(json!({ "summary": "Half.", "undone": ["the rest"] })),
        calls(&[read("a")]),
        finishes(json!({ "summary": "All of it." })),
    ];
    let mut world = World::started(definition, script);
    world.work();
    let asked = &world.run.interrupts[&world.open(Kind::Checkpoint)].content;
    assert_eq!(asked["payload"]["output"], "Half.\n\nLeft undone:\n- the rest");
    world.decide(Kind::Checkpoint, choose_with("redo", "the rest too"));
    world.work();
    world.decide(Kind::Checkpoint, choose("continue"));
    let (_, reason, result) = ended(&world);
    assert_eq!((reason, result.get("undone")), ("done", None));
}
