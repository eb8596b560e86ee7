//! Replies that do not really end the work. The first one is refused, and after the second one a person is asked. Such
//! a reply never makes the run `completed`.

use holdshort_core::definition::Definition;
use holdshort_core::interrupt::Kind;
use holdshort_core::message::{Reply, Stop};
use holdshort_core::projection::Status;

use crate::handoffs::TO_TERMINATOR;
use holdshort_core::run::Input;

use crate::world::{
    Answer, World, calls, choose, choose_with, command, definition, handing_over, read, says,
};

fn asking_off() -> Definition {
    let mut definition = definition();
    definition.asking.enabled = false;
    definition.tools.remove("ask_human");
    definition
}

fn stopped(stop: Stop) -> Answer {
    says("Half of").map(|reply| Reply { stop, ..reply })
}

/// Returns replies that do not really end a step: name of the flaw, reply, kind of the interrupt that it opens, and
/// failure reason if asking is switched off. `None` means that the run does not fail.
fn dishonest() -> Vec<(&'static str, Answer, Kind, Option<&'static str>)> {
    let json = "```json\n{\"tool\": \"run_command\", \"arguments\": {\"command\": \"ls\"}}\n```";
    vec![
        ("cut", stopped(Stop::Cut), Kind::Continuation, Some("reply_cut")),
        ("filtered", stopped(Stop::Filtered), Kind::Continuation, Some("reply_filtered")),
        ("unclear", stopped(Stop::Unclear), Kind::Continuation, Some("reply_unclear")),
        ("call_as_text", says(json), Kind::Continuation, Some("call_as_text")),
        ("asks", says("Should I proceed? Reply with yes or no."), Kind::Question, None),
        ("announces", says("I will now run the tests."), Kind::Continuation, None),
    ]
}

#[test]
fn it_is_told_once_and_then_a_person_is_asked() {
    for (flaw, reply, kind, _) in dishonest() {
        let mut world = World::started(definition(), vec![reply.clone(), reply.clone(), says("Done.")]);
        let told = world.work();
        assert_eq!(
            (&told[2], world.open_kinds(), world.run.status()),
            (&format!("end_refused {flaw}"), vec![kind.as_str()], Status::Waiting),
        );
        let option = if kind == Kind::Question { "answer" } else { "continue" };
        world.decide(kind, choose_with(option, "go on"));
        world.work();
        assert_eq!(world.run.status(), Status::Completed, "{flaw}: an honest end is one");
        let ended = world.run.ended.expect("it is");
        assert_eq!((ended.reason.as_str(), &ended.result["text"]), ("done", &"Done.".into()));
    }
}

/// With asking switched off, a reply that does not really end its step is refused once. A repetition of the reply fails
/// the run with a reason. If the reply asks for something or announces work, its repetition is accepted as the end.
#[test]
fn where_nobody_may_be_asked_it_fails_with_its_reason() {
    for (flaw, reply, _, reason) in dishonest() {
        let mut world = World::started(asking_off(), vec![reply.clone(), reply]);
        world.work();
        let ended = world.run.ended.clone().expect("it is");
        let expected = reason.map_or((Status::Completed, "done"), |reason| (Status::Failed, reason));
        assert_eq!((ended.status, ended.reason.as_str()), expected, "{flaw}");
        assert_eq!((world.count("end_refused"), world.count("interrupt_opened")), (1, 0), "{flaw}");
    }
}

/// A reply that asks is refused only once per step, even with calls in between. The count restarts when a person has
/// spoken in the step.
#[test]
fn it_is_told_once_in_a_step_until_a_person_has_spoken() {
    let asks = || says("Shall I continue?");
    let reads = || calls(&[read("a")]);
    let mut world = World::started(definition(), vec![asks(), reads(), asks()]);
    world.files.insert("a".to_owned(), String::new());
    world.work();
    let counts = |world: &World| (world.count("end_refused"), world.count("interrupt_opened"));
    assert_eq!((counts(&world), world.open_kinds()), ((1, 1), vec!["question"]));
    world.decide(Kind::Question, choose_with("answer", "yes"));
    world = world.with("work", vec![reads(), asks(), reads(), asks()]);
    world.work();
    assert_eq!((counts(&world), world.open_kinds()), ((2, 2), vec!["question"]), "it counts anew");
    world.decide(Kind::Question, choose_with("answer", "yes"));

    // Approving a call tells the agent nothing, so the count does not restart. A message to the run restarts the
    // count.
    world = world.with("work", vec![asks(), calls(&[command("make")])]);
    world.work();
    world.decide(Kind::ToolApproval, choose("approve"));
    world = world.with("work", vec![asks()]);
    world.work();
    assert_eq!((counts(&world), world.open_kinds()), ((3, 4), vec!["question"]));
    world.decide(Kind::Question, choose_with("answer", "yes"));
    world = world.with("work", vec![asks(), reads()]);
    world.work();
    world.person(Input::Message { text: "Go on.".to_owned() });
    world = world.with("work", vec![asks(), says("Done.")]);
    world.work();
    assert_eq!((counts(&world), world.run.status()), ((5, 4), Status::Completed));
}

/// With asking switched off, a reply that asks is refused again after a call. A repetition without a call in between is
/// accepted.
#[test]
fn where_nobody_may_be_asked_words_are_told_again_after_a_call() {
    let asks = || says("Shall I continue?");
    let script = vec![asks(), calls(&[read("a")]), asks(), asks()];
    let mut world = World::started(asking_off(), script);
    world.work();
    assert_eq!((world.count("end_refused"), world.run.status()), (2, Status::Completed));
}

/// A reply that contains only thoughts, an empty code fence, dots or invisible characters is not accepted as the end.
#[test]
fn a_reply_that_says_nothing_is_none() {
    let table = [
        "<think>I am done.</think>",
        "<think>I am done.</think>\n\n",
        "<think>I never come to",
        "```\n```",
        "```json\n\n```",
        "...",
        "…",
        "\u{200b}\u{feff}",
        "---",
    ];
    for text in table {
        let mut world = World::started(definition(), vec![says(text), says("Done.")]);
        let told = world.work();
        assert!(told.iter().any(|event| event.starts_with("model_failed")), "{text:?}: {told:#?}");
    }
    for text in ["👍", "42", "```\nls\n```", "否", "<think>x</think>Done."] {
        assert!(holdshort_core::reply::says_something(text), "{text:?}");
    }
}

/// A person may accept a cut reply as the end of the step. The run then ends with the reason `partial`, not `done`.
#[test]
fn a_person_may_take_it_as_the_end() {
    let mut world = World::started(definition(), vec![stopped(Stop::Cut), stopped(Stop::Cut)]);
    world.work();
    let asked = &world.run.interrupts[&world.open(Kind::Continuation)];
    let labels: Vec<&str> = asked.opened.options.iter().map(|option| option.label.as_str()).collect();
    assert_eq!(labels, ["Continue", "Accept the reply", "Cancel the run"]);
    assert_eq!(
        (&asked.content["payload"]["flaw"], &asked.content["payload"]["output"]),
        (&"cut".into(), &"Half of".into()),
    );
    world.decide(Kind::Continuation, choose("finish"));
    let ended = world.run.ended.expect("nothing is left to do");
    assert_eq!((ended.status, ended.reason.as_str()), (Status::Completed, "partial"));
    assert_eq!(
        ended.result["text"],
        "Half of\n\nA person accepted this result unchanged. Its last reply was cut off before it was \
        complete.",
    );
}

/// If no person decides about a cut reply in time, the run is cancelled, because an expiry is not an approval.
#[test]
fn nobody_decides_in_time() {
    let mut definition = definition();
    definition.gates.kinds.entry(Kind::Continuation).or_default().expires_in_ms = Some(1_000);
    let mut world = World::started(definition, vec![stopped(Stop::Cut), stopped(Stop::Cut)]);
    world.work();
    world.pass_ms(1_000);
    world.send(holdshort_core::run::Input::Tick);
    assert_eq!(
        world.run.ended.map(|ended| (ended.status, ended.reason.clone(), ended.text.clone())),
        Some((
            Status::Cancelled,
            "expired".to_owned(),
            Some(
                "nobody decided in time about step `work`: Its last reply was cut off before it was complete."
                    .to_owned()
            ),
        )),
    );
}

/// A call in a cut reply has no effect, even if it would end the work.
#[test]
fn a_cut_reply_does_not_finish_by_its_tool() {
    let finished = || calls(&[(TO_TERMINATOR, serde_json::json!({ "message": "Done." }))]);
    let cut = finished().map(|reply| Reply { stop: Stop::Cut, ..reply });
    let mut world = World::started(handing_over(), vec![cut]);
    let told = world.work();
    assert!(told.contains(&"tool_finished call_1 failed reply_not_whole".to_owned()), "{told:#?}");
    assert_eq!(world.run.status(), Status::Running);
    world = world.with("work", vec![finished()]);
    world.work();
    assert_eq!(world.run.status(), Status::Completed);
}

/// Failed calls in a row open an interrupt. A successful call resets the count.
#[test]
fn failed_calls_in_a_row_end_in_a_question() {
    let missing = |n: u32| calls(&[read(&format!("missing_{n}"))]);
    let limit = holdshort_core::limits::FAILED_CALLS;
    let mut world = World::started(definition(), (0..limit - 1).map(missing).collect());
    world.files.insert("there".to_owned(), String::new());
    world.work();
    world = world.with("work", vec![calls(&[read("there")])]);
    world.work();
    world = world.with("work", (0..=limit).map(missing).collect());
    let told = world.work();
    assert!(
        told.ends_with(&[
            "limit_reached failed_calls".to_owned(),
            "interrupt_opened continuation".to_owned()
        ]),
        "{told:#?}"
    );
    assert_eq!(world.count("model_replied"), 2 * limit as usize, "not before the last of so many");
    world.decide(Kind::Continuation, choose("continue"));
    world = world.with("work", vec![says("Done.")]);
    world.work();
    assert_eq!(world.run.status(), Status::Completed, "a fresh budget");
}
