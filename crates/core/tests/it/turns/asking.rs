//! Questions that are printed instead of asked, and runs in which nobody may be asked.

use holdshort_core::definition::Definition;
use holdshort_core::interrupt::Kind;
use holdshort_core::projection::Status;
use serde_json::json;

use super::{asking_off, heard, say};
use crate::world::{World, calls, choose, choose_with, definition, says};

/// A question printed as the last word is asked (LESSONS 34); polite closings are not.
#[test]
fn a_printed_question_is_asked() {
    let table = [
        ("Which file do you mean?", true),
        ("I looked around.\n\n**Which one should I change?**", true),
        ("Please specify the file.", true),
        ("Please confirm", true),
        ("Done. Anything else?", false),
        ("Done. Would you like me to commit it?", false),
        ("Let me know if it works for you?", false),
        ("Is it done? Yes.", false),
        ("Done.", false),
    ];
    let asked = |definition: Definition, text: &str| {
        let mut world = World::started(definition, vec![says(text)]);
        world.work();
        !world.open_kinds().is_empty()
    };
    let wrong: Vec<&str> = table
        .into_iter()
        .filter(|(text, asks)| asked(definition(), text) != *asks)
        .map(|(text, _)| text)
        .collect();
    assert_eq!(wrong, Vec::<&str>::new());
    assert!(!asked(asking_off(), "Which file do you mean?"), "not where asking is switched off");
}

#[test]
fn a_printed_question_goes_on_with_the_answer_or_without() {
    let after = |decision| {
        let mut world = World::started(definition(), vec![says("Which one?")]);
        world.work();
        world.decide(Kind::Question, decision);
        heard(&world)
    };
    assert_eq!(after(choose_with("answer", "the first")), ["assistant: Which one?", "user: the first"]);
    assert_eq!(
        after(choose("skip")),
        [
            "assistant: Which one?",
            "user: The person skipped the question. Go on with your best assumption, and say what you assumed.",
        ],
    );
}

/// With asking off, nothing opens: the tool is gone, and the model is told to decide.
#[test]
fn asking_off_asks_nobody() {
    let question = ("ask_human", json!({ "question": "Which?" }));
    let mut world = World::started(asking_off(), vec![calls(&[question]), says("I took the first. Right?")]);
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
