//! Limits of a step: reaching one asks a person, or ends the run with the name of the limit.

use holdshort_core::definition::Phase;
use holdshort_core::interrupt::Kind;
use holdshort_core::limits;
use holdshort_core::message::{FailureKind, Reply, Usage};
use holdshort_core::projection::Status;

use serde_json::json;

use super::{phase, request_messages};
use crate::world::{Answer, World, calls, choose, choose_with, definition, fails, read, says};

/// Several equal calls in a row are considered a loop, so a person is asked (lesson 15).
#[test]
fn equal_calls_in_a_row_end_in_a_question() {
    let mut script: Vec<_> = (0..4).map(|_| calls(&[read("a"), read("a")])).collect();
    script.push(says("Done."));
    let mut world = World::started(definition(), script);
    let told = world.work();
    assert_eq!(told.last().map(String::as_str), Some("interrupt_opened continuation"));
    assert_eq!(told[told.len() - 2], "limit_reached identical_calls");
    world.decide(Kind::Continuation, choose_with("continue", "read b instead"));
    assert_eq!(request_messages(&world).last().map(String::as_str), Some("user: read b instead"));
    world.work();
    assert_eq!(world.run.status(), Status::Completed);
}

/// A step gets its first `continues` new budgets without asking, and later ones from a person. The interrupt shows the
/// number of all new budgets so far.
#[test]
fn budgets_that_continue_by_themselves_are_counted_and_the_next_one_asks() {
    let continues = phase(|phase| {
        phase.limits.rounds = 1;
        phase.limits.continues = 2;
    });
    let script = ["a", "b", "c", "d"].map(|name| calls(&[read(name)]));
    let mut world = World::started(continues, [&script[..], &[says("Done.")]].concat());
    world.work();
    let payload = |world: &World| {
        let interrupt = world.open(Kind::Continuation);
        world.run.interrupts[&interrupt].content["payload"].clone()
    };
    assert_eq!(payload(&world)["continuations"], json!(2), "{}", payload(&world));
    let lifted = |world: &World| world.count("limit_lifted");
    assert_eq!((world.count("limit_reached"), lifted(&world)), (3, 2));
    for (continuations, asked) in [(3, 2), (4, 2)] {
        world.decide(Kind::Continuation, choose("continue"));
        world.work();
        if world.run.ended.is_some() {
            break;
        }
        assert_eq!((payload(&world)["continuations"].clone(), asked), (json!(continuations), 2));
    }
    assert_eq!(world.run.status(), Status::Completed, "{:#?}", world.story());
}

/// A test case: name of a limit, function that sets it, and reply that reaches it.
type Limited = (&'static str, fn(&mut Phase), Answer);

/// Reaching a limit asks a person. With asking switched off, it ends the run with the name of the limit.
#[test]
fn a_limit_asks_or_ends_the_run() {
    let reads = |n: usize| calls(&(0..n).map(|i| read(&i.to_string())).collect::<Vec<_>>());
    let costly = || {
        let usage = Usage { input_tokens: 60, output_tokens: 50 };
        reads(1).map(|reply| Reply { usage, ..reply })
    };
    let table: Vec<Limited> = vec![
        ("rounds", |phase| phase.limits.rounds = 1, reads(1)),
        ("tool_calls", |phase| phase.limits.tool_calls = 2, reads(2)),
        ("budget_tokens", |phase| phase.limits.budget_tokens = Some(110), costly()),
        ("identical_calls", |_| {}, calls(&vec![read("a"); 8])),
    ];
    for (limit, change, reply) in table {
        let mut asking = phase(change);
        asking.limits = asking.phases[0].limits;
        let mut silent = asking.clone();
        silent.asking.enabled = false;

        let mut world = World::started(asking, vec![reply.clone(), says("Done.")]);
        let told = world.work();
        let expected = [format!("limit_reached {limit}"), "interrupt_opened continuation".to_owned()];
        assert!(told.ends_with(&expected), "{limit}: {told:#?}");
        world.decide(Kind::Continuation, choose("continue"));
        world.work();
        assert_eq!(world.run.status(), Status::Completed, "{limit}: a fresh budget");

        let mut world = World::started(silent, vec![reply, says("Done.")]);
        let told = world.work();
        let expected = [format!("limit_reached {limit}"), format!("run_failed limit_{limit}")];
        assert!(told.ends_with(&expected), "{limit}: {told:#?}");
    }
}

/// The output of a step that a person stops at a limit names the limit, and the run is `partial` (contract E22).
#[test]
fn what_is_stopped_at_a_limit_says_so() {
    let silent = || Ok(Reply { text: String::new(), ..calls(&[read("a")]).expect("it is a reply") });
    for (reply, said) in [(calls(&[read("a")]), "I will.\n\n"), (silent(), "")] {
        let mut world = World::started(phase(|phase| phase.limits.rounds = 1), vec![reply]);
        world.work();
        world.decide(Kind::Continuation, choose("finish"));
        let ended = world.run.ended.expect("nothing is left to do");
        let expected = format!("{said}Stopped at its limit of 1 round.");
        assert_eq!((ended.status, ended.reason.as_str()), (Status::Completed, "partial"));
        assert_eq!(ended.result["text"], expected.as_str());
    }
}

#[test]
fn a_limit_that_is_not_reached_says_nothing() {
    let definition = phase(|phase| {
        phase.limits.rounds = 2;
        phase.limits.tool_calls = 2;
    });
    let mut world = World::started(definition, vec![calls(&[read("a")]), says("Done.")]);
    world.work();
    assert_eq!((world.count("limit_reached"), world.run.status()), (0, Status::Completed));
}

/// A model call that is lost in a crash of the server counts towards no limit of the step. Crashes without progress
/// have a limit of their own.
#[test]
fn crashes_without_progress_have_a_limit() {
    let mut world = World::started(definition(), Vec::new());
    for _ in 0..limits::CRASHES - 1 {
        world.begin_model("work");
        assert_eq!(world.crash(), ["adopted", "model_lost"]);
    }
    world.begin_model("work");
    assert_eq!(world.crash(), ["adopted", "model_lost", "run_failed crashes"]);

    let mut world = World::started(definition(), Vec::new());
    world.files = (0..limits::CRASHES * 2).map(|i| (i.to_string(), String::new())).collect();
    for i in 0..limits::CRASHES * 2 {
        world.begin_model("work");
        world.crash();
        world.begin_model("work");
        let turn = world.run.steps["work"].turn;
        world.answer("work", turn, calls(&[read(&i.to_string())]));
        world.work();
    }
    assert_eq!(world.run.status(), Status::Running, "with progress in between they do not add up");
}

/// The interrupt at a limit or a failure shows the work done and the usage so far.
#[test]
fn what_was_achieved_and_spent_is_told() {
    let usage = Usage { input_tokens: 60, output_tokens: 50 };
    let reply = || calls(&[read("a.txt"), read("b.txt")]).map(|reply| Reply { usage, ..reply });
    let mut limited = phase(|phase| phase.limits.rounds = 2);
    limited.limits = limited.phases[0].limits;
    let mut world = World::started(limited, vec![reply(), reply(), fails(FailureKind::Rejected)]);
    world.pass_ms(61_000);
    world.work();
    let spent = |world: &World, kind| {
        let asked = &world.run.interrupts[&world.open(kind)].content;
        (asked["payload"]["spent"].clone(), asked["message"].as_str().unwrap_or_default().to_owned())
    };
    let (value, words) = spent(&world, Kind::Continuation);
    assert_eq!(value, json!({"steps_done": 0, "calls": 4, "requests": 2, "tokens": 220, "ms": 61_000}));
    assert_eq!(words, "So far: 0 steps done, 4 calls made, 2 replies of models, 220 tokens, 1 min 1 s.");

    let mut failing = phase(|phase| phase.gates.on_error = true);
    failing.limits = failing.phases[0].limits;
    let mut world = World::started(failing, vec![reply(), fails(FailureKind::Rejected)]);
    world.work();
    let (value, words) = spent(&world, Kind::Error);
    assert_eq!(value, json!({"steps_done": 0, "calls": 2, "requests": 1, "tokens": 110, "ms": 0}));
    assert!(words.contains("\n\nSo far: 0 steps done, 2 calls made, 1 reply of a model"), "{words}");
}

/// If a run fails without a person's decision, its error shows the work done and the usage so far. Calls that failed
/// before their start are included.
#[test]
fn what_a_failed_run_achieved_and_spent_is_told() {
    let missing = |n: u32| calls(&[read(&format!("missing_{n}"))]);
    let script: Vec<_> = (0..limits::FAILED_CALLS).map(missing).collect();
    let mut world = World::started(definition(), script.clone());
    world.work();
    let asked = &world.run.interrupts[&world.open(Kind::Continuation)].content;
    assert_eq!(asked["payload"]["spent"]["calls"], limits::FAILED_CALLS, "{asked}");

    let mut alone = definition();
    alone.asking.enabled = false;
    alone.tools.remove("ask_human");
    let mut world = World::started(alone, script);
    world.work();
    let ended = world.run.ended.expect("it has");
    assert_eq!(
        (ended.reason.as_str(), ended.text.as_deref()),
        (
            "limit_failed_calls",
            Some(
                "the limit `failed_calls` of 6 is reached\n\
                 So far: 0 steps done, 6 calls made, 6 replies of models, 0 tokens, 0 s."
            )
        ),
    );
}

#[test]
fn durations_read_well() {
    let table = [
        (0, "0 s"),
        (59_999, "59 s"),
        (61_000, "1 min 1 s"),
        (3_600_000, "1 h 0 min"),
        (90_000_000, "1 d 1 h"),
    ];
    for (ms, words) in table {
        assert_eq!(holdshort_core::time::format_duration(ms), words);
    }
}

/// A question between two failures does not reset their count, so that an agent cannot avoid the limit by asking.
#[test]
fn an_answered_question_between_failed_calls_ends_no_row() {
    let missing = |n: u32| calls(&[read(&format!("missing_{n}"))]);
    let mut script: Vec<_> = (1..limits::FAILED_CALLS).map(missing).collect();
    script.extend([calls(&[("ask_human", json!({ "question": "Which?" }))]), missing(limits::FAILED_CALLS)]);
    let mut world = World::started(definition(), script);
    world.work();
    world.decide(Kind::Question, choose_with("answer", "the second"));
    let told = world.work();
    let expected = ["limit_reached failed_calls", "interrupt_opened continuation"];
    assert!(told.ends_with(&expected.map(str::to_owned)), "{told:#?}");
}
