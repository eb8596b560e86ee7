//! Questions that an agent prints in its reply instead of asking with a tool, and runs with asking switched off.

use holdshort_core::interrupt::Kind;
use holdshort_core::projection::Status;
use serde_json::json;

use super::{asking_off, request_messages, say};
use crate::world::{World, calls, choose, choose_with, definition, says};

/// A reply that ends with a question is refused once. If the model repeats the question, a person is asked (lesson
/// 34).
#[test]
fn a_printed_question_is_told_once_and_then_asked() {
    let mut world = World::started(definition(), vec![says("Which one?")]);
    assert_eq!(world.work().last().map(String::as_str), Some("end_refused asks"));
    assert_eq!(world.open_kinds(), Vec::<&str>::new());
    assert!(request_messages(&world)[1].contains("call `ask_human`"), "{:?}", request_messages(&world));
    world = world.with("work", vec![says("I looked. Which one?")]);
    world.work();
    let asked = &world.run.interrupts[&world.open(Kind::Question)].content;
    assert_eq!(
        (&asked["title"], &asked["payload"]["question"]),
        (&json!("Which one?"), &json!("I looked. Which one?"))
    );
}

#[test]
fn a_printed_question_goes_on_with_the_answer_or_without() {
    let after = |decision| {
        let mut world = World::started(definition(), vec![says("Which one?"), says("Which one?")]);
        world.work();
        world.decide(Kind::Question, decision);
        request_messages(&world).split_off(3)
    };
    assert_eq!(after(choose_with("answer", "the first")), ["user: the first"]);
    assert_eq!(
        after(choose("skip")),
        ["user: The person skipped the question. Go on with your best assumption, and say what you assumed."],
    );
}

/// With asking switched off, no interrupt opens, the asking tool is removed, and the model must decide itself.
#[test]
fn asking_off_asks_nobody() {
    let question = ("ask_human", json!({ "question": "Which?" }));
    let script = vec![calls(&[question]), says("I took the first. Right?"), says("I took the first.")];
    let mut world = World::started(asking_off(), script);
    world.work();
    let request = world.run.request("work").expect("the step is there");
    assert_eq!(
        (
            world.count("interrupt_opened"),
            world.run.status(),
            request.tools.iter().any(|tool| tool.name == "ask_human")
        ),
        (0, Status::Completed, false),
    );
    assert!(say(&request.messages[0]).contains("Nobody can be asked"));
}
