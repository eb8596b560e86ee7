//! The calls of one reply run in the order of the reply. The card of a call lists the calls that run before it.

use holdshort_core::definition::Definition;
use holdshort_core::interrupt::Kind;
use holdshort_core::policy::{Rule, RuleAction};
use holdshort_core::projection::Status;
use holdshort_core::run::{Action, Config, Input, Rejection};
use holdshort_core::tool::InspectionOutcome;
use serde_json::{Value, json};

use crate::world::{
    World, allow, calls, choose, choose_with, command, definition, edit, one_shot, read, rule, says, write,
};

/// Tool calls of one reply, each with its tool and arguments.
type Reply = Vec<(&'static str, Value)>;

fn free(tools: &[&str]) -> Definition {
    let mut definition = definition();
    definition.gates.rules.push(allow(tools));
    definition
}

/// Returns the actions that are to be done now, except model calls.
fn due(world: &World) -> Vec<String> {
    let actions = world.run.actions();
    let ours = actions.iter().filter(|action| !matches!(action, Action::CallModel { .. }));
    ours.map(|action| action.id().to_string()).collect()
}

/// Inspects all calls and starts none of them.
fn looked(world: &mut World) {
    while let Some(Action::Inspect { call, revision }) = world.run.actions().first().cloned() {
        let inspected = world.inspect(&call);
        world.send(Input::Inspected { call, revision, inspected });
    }
}

fn finished(world: &World) -> Vec<String> {
    world.story().into_iter().filter(|told| told.starts_with("tool_finished")).collect()
}

/// Returns the title of each open approval card, with the preceding calls and their outcomes.
fn cards(world: &World) -> Vec<(String, Vec<String>)> {
    let mut open: Vec<_> = world.run.open_interrupts().map(|(_, each)| each).collect();
    open.sort_by_key(|each| each.opened_seq);
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let after = |each: &Value| {
        format!("{} {} {}", text(&each["call_id"]), text(&each["title"]), text(&each["became"]))
    };
    let cards = open.into_iter().map(|each| {
        let told = each.content["payload"]["after"].as_array().into_iter().flatten().map(after).collect();
        (text(&each.content["title"]), told)
    });
    cards.collect()
}

/// Reads run in parallel up to the first writing call, and later calls wait for that call. Each table row has a reply,
/// and the actions to be done after the inspections.
#[test]
fn what_may_start_first() {
    let table: Vec<(Reply, &[&str])> = vec![
        (vec![read("a"), read("b"), read("c")], &["tool/call_1/1", "tool/call_2/1", "tool/call_3/1"]),
        (vec![read("a"), write("b"), read("c")], &["tool/call_1/1"]),
        (vec![write("a"), write("b")], &["tool/call_1/1"]),
        (vec![write("a"), read("a"), read("b")], &["tool/call_1/1"]),
        (vec![read("a"), read("b"), command("make")], &["tool/call_1/1", "tool/call_2/1"]),
    ];
    for (reply, expected) in table {
        let mut world = World::started(free(&["*"]), vec![calls(&reply)]);
        world.work_once();
        looked(&mut world);
        assert_eq!(due(&world), expected, "{reply:?}");
        world.work();
        assert_eq!(finished(&world).len(), reply.len(), "everything ends");
    }
}

#[test]
fn what_is_not_due_does_not_begin() {
    let mut world = World::started(free(&["*"]), vec![calls(&[write("a"), write("b")])]);
    world.work_once();
    looked(&mut world);
    assert_eq!(world.begin_tool("call_2"), Vec::<String>::new());
    assert_eq!(world.begin_tool("call_1"), ["tool_started call_1"]);
}

/// A person is asked about two calls at once, but the later call waits for the earlier one to end.
#[test]
fn a_later_call_waits_while_an_earlier_one_is_asked_about() {
    let mut world =
        World::started(definition(), vec![calls(&[write("a"), command("make"), read("a")]), says("Done.")]);
    world.work();
    assert_eq!(
        cards(&world),
        [
            ("write_file: a".to_owned(), vec![]),
            ("run_command: make".to_owned(), vec!["call_1 write_file: a -".to_owned()]),
        ],
    );
    let open: Vec<_> = world.run.open_interrupts().map(|(id, _)| id.clone()).collect();
    world.person(Input::Decide { interrupt: open[1].clone(), decision: choose("approve"), holder: None });
    world.work();
    assert_eq!((world.effects.len(), world.run.status()), (0, Status::Waiting), "it waits for the first");
    world.person(Input::Decide { interrupt: open[0].clone(), decision: choose("approve"), holder: None });
    world.work();
    assert_eq!(world.effects, ["write_file a", "run_command make"]);
    assert_eq!(world.run.status(), Status::Completed);
    assert_eq!(
        finished(&world),
        ["tool_finished call_1 done", "tool_finished call_2 done", "tool_finished call_3 done"],
    );
}

/// A refused call does not change a later call and its open card. A client that shows the card adds the outcome of the
/// refused call.
#[test]
fn a_refusal_holds_up_nothing() {
    let decisions = [choose_with("reject", "not that"), choose_with("respond", "it is there")];
    for decision in decisions {
        let reply = calls(&[write("a"), command("make")]);
        let mut world = World::started(definition(), vec![reply, says("Done.")]);
        world.work();
        let first = world.run.calls["call_1"].interrupt.clone().expect("it asks");
        world.person(Input::Decide { interrupt: first, decision, holder: None });
        world.work();
        assert_eq!((world.count("interrupt_opened"), world.open_kinds()), (2, vec!["tool_approval"]));
        world.decide(Kind::ToolApproval, choose("approve"));
        world.work();
        assert_eq!(
            (world.effects.clone(), world.run.status()),
            (vec!["run_command make".to_owned()], Status::Completed)
        );
    }
}

/// A call of the client is handed out as soon as it is approved, because the client orders its calls itself.
#[test]
fn calls_of_the_client_wait_for_nothing() {
    let definition = crate::world::with_client();
    let write = |path: &str| ("client_write", json!({ "path": path, "content": "x" }));
    let mut world = World::started(definition, vec![calls(&[write("a"), write("b")])]);
    world.work();
    let second = world.run.calls["call_2"].interrupt.clone().expect("it asks");
    world.person(Input::Decide { interrupt: second, decision: choose("approve"), holder: None });
    world.work();
    assert_eq!(world.open_kinds(), ["tool_approval", "client_call"]);
}

/// A call is inspected again after an earlier write. If its files have changed, a person is asked again.
#[test]
fn a_later_call_is_looked_at_again_when_its_ground_has_changed() {
    let mut world = World::started(definition(), vec![calls(&[write("a"), write("a")]), says("Done.")]);
    world.work();
    let first = world.run.calls["call_1"].interrupt.clone().expect("it asks");
    world.person(Input::Decide { interrupt: first, decision: choose("approve"), holder: None });
    world.work();
    let again = world.run.calls["call_2"].interrupt.clone().expect("it asks");
    assert!(world.run.interrupts[&again].opened.supersedes.is_some());
    world.person(Input::Decide { interrupt: again, decision: choose("approve"), holder: None });
    world.work();
    assert_eq!((world.effects.len(), world.run.status()), (2, Status::Completed));
}

/// Returns a workflow with these rules about other paths, and then a rule that allows reading `src`.
fn reading_src(others: &[(RuleAction, &str)]) -> Definition {
    let mut definition = definition();
    let on = |action, path: &str| Rule { paths: vec![path.to_owned()], ..rule(action, &[], &[]) };
    let reads = Rule { paths: vec!["src/**".to_owned()], ..rule(RuleAction::Allow, &["read_file"], &[]) };
    let cats = Rule { paths: reads.paths.clone(), ..rule(RuleAction::Allow, &["run_command"], &["cat *"]) };
    definition.gates.rules =
        others.iter().map(|(action, path)| on(*action, path)).chain([reads, cats]).collect();
    definition
}

/// A released call is inspected again if an earlier call has turned its file into a link. The gates then vote on the
/// link's target.
#[test]
fn a_released_call_is_looked_at_again_behind_a_write() {
    let forbid = [(RuleAction::Forbid, "secrets/**")];
    let link = || command("ln -s ../secrets/key src/a");
    let elsewhere = || command("ln -s ../secrets/key src/b");
    let (reads, cats) = (|| read("src/a"), || command("cat src/a"));
    let returned = ["tool_returned call_2 changed", "tool_inspected call_2"];
    let refused = [&returned[..], &["tool_finished call_2 refused forbidden"]].concat();
    let asked = [&returned[..], &["interrupt_opened tool_approval"]].concat();
    let as_it_was = vec!["tool_inspected call_2", "tool_started call_2"];
    let table = [
        // A rule released the call.
        (reading_src(&forbid), link(), reads(), &refused),
        (reading_src(&forbid), link(), cats(), &refused),
        (reading_src(&[]), link(), reads(), &asked),
        (reading_src(&[]), link(), cats(), &asked),
        (reading_src(&forbid), elsewhere(), reads(), &as_it_was),
        (reading_src(&forbid), elsewhere(), cats(), &as_it_was),
        // A person released the call, whose card showed a different target.
        (reading_src(&forbid), link(), command("wc src/a"), &refused),
        (reading_src(&[]), link(), command("wc src/a"), &asked),
        (reading_src(&forbid), elsewhere(), command("wc src/a"), &as_it_was),
    ];
    for (definition, first, second, expected) in table {
        let case = format!("{first:?}, {second:?}: {:?}", definition.gates.rules);
        let mut world = World::started(definition, vec![calls(&[first, second])]);
        world.work();
        // Decides in reverse order, so that the writing call starts only after the other call is released.
        let mut open: Vec<_> = world.run.open_interrupts().map(|(id, _)| id.clone()).collect();
        open.reverse();
        for interrupt in open {
            world.person(Input::Decide { interrupt, decision: choose("approve"), holder: None });
        }
        let told = world.work();
        let of_it = |line: &&String| line.contains("call_2") || line.starts_with("interrupt_opened");
        let of_it: Vec<_> = told.iter().filter(of_it).take(expected.len()).collect();
        assert_eq!(of_it, expected.iter().collect::<Vec<_>>(), "{case}");
        if expected == &asked {
            let asked = world.open(Kind::ToolApproval);
            assert_eq!(world.run.calls["call_2"].interrupt, Some(asked), "{case}");
        }
    }
}

/// An inspection that began before a write is outdated, even if its result arrives after the write.
#[test]
fn a_look_that_a_write_has_overtaken_counts_for_nothing() {
    let script = vec![calls(&[command("ln -s ../secrets/key src/a"), read("src/a")])];
    let mut world = World::started(reading_src(&[(RuleAction::Forbid, "secrets/**")]), script);
    world.work_once();
    let overtaken = world.inspect("call_2");
    let inspected = world.inspect("call_1");
    world.send(Input::Inspected { call: "call_1".to_owned(), revision: 0, inspected });
    world.decide(Kind::ToolApproval, choose("approve"));
    world.begin_tool("call_1");
    let outcome = world.execute("call_1");
    world.send(Input::Ran { call: "call_1".to_owned(), attempt: 1, outcome });
    let late = Input::Inspected { call: "call_2".to_owned(), revision: 0, inspected: overtaken };
    assert!(
        world.handle(&holdshort_core::actor::Actor::engine(), late).is_err(),
        "it is of an older revision"
    );
    assert_eq!(world.work(), ["tool_inspected call_2", "tool_finished call_2 refused forbidden"]);
}

/// After a write in doubt, the calls of other steps are inspected again.
#[test]
fn a_doubt_has_what_other_steps_do_looked_at_again() {
    let mut definition = free(&["*"]);
    definition.phases = vec![one_shot("one", &[]), one_shot("two", &[])];
    let mut world = World::new(definition);
    world.start(Config::default());
    for (step, call) in [("one", command("make")), ("two", write("a"))] {
        world.begin_model(step);
        world.answer(step, 0, calls(&[call]));
    }
    looked(&mut world);
    world.begin_tool("call_1");
    assert_eq!(due(&world), Vec::<String>::new(), "one writes at a time");
    world.crash();
    assert_eq!(world.open_kinds(), ["unknown_outcome"]);
    assert_eq!(due(&world), ["inspect/call_2/1"]);
}

/// Returns the result of an inspection that found no file.
fn impossible() -> InspectionOutcome {
    InspectionOutcome::Impossible { code: "not_found", message: "there is no such text".to_owned() }
}

/// A call that needs the result of an earlier call does not fail, but is inspected again after the earlier call.
#[test]
fn what_an_earlier_call_makes_possible_waits_for_it() {
    let mut world = World::started(definition(), vec![calls(&[write("a"), write("b")]), says("Done.")]);
    world.work_once();
    let inspected = world.inspect("call_1");
    world.send(Input::Inspected { call: "call_1".to_owned(), revision: 0, inspected });
    let told =
        world.send(Input::Inspected { call: "call_2".to_owned(), revision: 0, inspected: impossible() });
    assert_eq!(told, ["tool_deferred call_2"]);
    assert_eq!((due(&world), world.run.status()), (vec![], Status::Waiting), "nobody looks meanwhile");
    let late = Input::Inspected { call: "call_2".to_owned(), revision: 0, inspected: impossible() };
    assert!(world.handle(&holdshort_core::actor::Actor::engine(), late).is_err(), "nothing waits for it");
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    assert_eq!(cards(&world), [("write_file: b".to_owned(), vec!["call_1 write_file: a done".to_owned()])],);
    world.decide(Kind::ToolApproval, edit(write("b").1));
    world.work();
    assert_eq!((world.effects.len(), world.run.status()), (2, Status::Completed));

    // If no earlier call could create the file, the call fails.
    let mut world = World::started(definition(), vec![calls(&[write("b")])]);
    world.work_once();
    let told =
        world.send(Input::Inspected { call: "call_1".to_owned(), revision: 0, inspected: impossible() });
    assert_eq!(told, ["tool_finished call_1 failed not_found"]);
}

/// A duplicate of an earlier inspection's result is rejected as outdated, even if nothing was written in between.
#[test]
fn the_look_that_put_a_call_off_does_not_answer_for_the_one_in_its_turn() {
    let mut world = World::started(definition(), vec![calls(&[write("a"), write("b")]), says("Done.")]);
    world.work_once();
    let inspected = world.inspect("call_1");
    world.send(Input::Inspected { call: "call_1".to_owned(), revision: 0, inspected });
    let first = || Input::Inspected { call: "call_2".to_owned(), revision: 0, inspected: impossible() };
    assert_eq!(world.send(first()), ["tool_deferred call_2"]);
    world.decide(Kind::ToolApproval, choose_with("reject", "Not this one."));
    assert_eq!(due(&world), ["inspect/call_2/1"]);
    let again = world.handle(&holdshort_core::actor::Actor::engine(), first());
    assert!(matches!(again, Err(Rejection::Outdated)), "{again:?}");
}

/// Questions and plans do not wait for other calls. Calls of different replies or steps do not wait for each other.
#[test]
fn what_asks_is_asked_at_once() {
    let question = ("ask_human", json!({ "question": "Which?" }));
    let mut world = World::started(definition(), vec![calls(&[write("a"), question])]);
    world.work();
    assert_eq!(world.open_kinds().len(), 2);
    world.decide(Kind::Question, choose_with("answer", "the first"));
    assert_eq!(world.open_kinds(), ["tool_approval"]);
}

/// A forbidden call does not delay the other calls of its reply.
#[test]
fn a_forbidden_call_holds_up_nothing() {
    let mut definition = free(&["write_file"]);
    definition.gates.rules.insert(0, rule(RuleAction::Forbid, &[], &["make *", "make"]));
    let mut world = World::started(definition, vec![calls(&[command("make"), write("a")]), says("Done.")]);
    world.work();
    assert_eq!(
        (world.effects.clone(), world.run.status()),
        (vec!["write_file a".to_owned()], Status::Completed)
    );
}

/// After a crash, the second call waits until the doubt about the first call is settled.
#[test]
fn a_doubt_holds_up_what_comes_after_it() {
    let script = vec![calls(&[command("make"), write("a")]), says("Done.")];
    let mut world = World::started(free(&["*"]), script);
    world.work_once();
    looked(&mut world);
    world.begin_tool("call_1");
    world.crash();
    world.work();
    assert_eq!((world.open_kinds(), world.effects.len()), (vec!["unknown_outcome"], 0));
    world.decide(Kind::UnknownOutcome, choose("rerun"));
    world.work();
    assert_eq!(world.effects, ["run_command make", "write_file a"]);
}
