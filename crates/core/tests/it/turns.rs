//! The turn loop: what a reply sets going, and when the model is called again.

use holdshort_core::definition::{Definition, Phase};
use holdshort_core::interrupt::{Decision, Kind};
use holdshort_core::message::{
    Arguments, Failure, FailureKind, Message, Reply, Request, RequestedCall, Usage,
};
use holdshort_core::projection::Status;
use holdshort_core::run::{Config, Input};
use holdshort_core::{json, limits};
use serde_json::{Value, json};

use crate::world::{
    Answer, World, calls, choose, choose_with, command, definition, edit, fails, read, says, write,
};

fn phase(change: impl FnOnce(&mut Phase)) -> Definition {
    let mut definition = definition();
    change(&mut definition.phases[0]);
    definition
}

fn asking_off() -> Definition {
    let mut definition = definition();
    definition.asking.enabled = false;
    definition.tools.remove("ask_human");
    definition
}

/// What the next request says, without system message and task.
fn heard(world: &World) -> Vec<String> {
    let request = world.run.request("work").expect("the step is there");
    paired(&request);
    request.messages[2..].iter().map(say).collect()
}

fn say(message: &Message) -> String {
    match message {
        Message::System { text } => format!("system: {text}"),
        Message::User { text } => format!("user: {text}"),
        Message::Assistant { text, calls, .. } => {
            let calls: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
            format!("assistant: {text} {}", calls.join(" ")).trim_end().to_owned()
        }
        Message::Tool { call, text, .. } => format!("{call}: {text}"),
    }
}

/// Every call has its result directly after it, and no id twice.
pub(crate) fn paired(request: &Request) {
    let mut seen = std::collections::BTreeSet::new();
    let mut rest = request.messages.as_slice();
    while let Some((message, more)) = rest.split_first() {
        rest = more;
        let Message::Assistant { calls, .. } = message else {
            assert!(!matches!(message, Message::Tool { .. }), "a result without its call: {request:#?}");
            continue;
        };
        for call in calls {
            assert!(seen.insert(call.id.clone()), "{} is there twice", call.id);
            let (result, more) = rest.split_first().expect("a call has a result");
            assert!(matches!(result, Message::Tool { call: id, .. } if *id == call.id), "{request:#?}");
            rest = more;
        }
    }
}

#[test]
fn several_calls_in_one_reply() {
    let script = vec![
        calls(&[
            read("a.txt"),
            write("b.txt"),
            command("make"),
            ("ask_human", json!({ "question": "Which?" })),
        ]),
        says("Done."),
    ];
    let mut world = World::started(definition(), script);
    world.files.insert("a.txt".to_owned(), "text".to_owned());
    world.work();
    assert_eq!(
        (
            world.count("model_started"),
            world.open_kinds().len(),
            world.count("tool_started"),
            world.run.status()
        ),
        (1, 3, 1, Status::Waiting),
        "the free one runs, the gated ones wait: {:#?}",
        world.story(),
    );
    world.decide(Kind::Question, choose_with("answer", "the first"));
    world.work();
    let approvals: Vec<_> = world.run.open_interrupts().map(|(id, _)| id.clone()).collect();
    for (interrupt, option) in approvals.into_iter().zip(["approve", "reject"]) {
        assert_eq!(world.count("model_started"), 1, "the model is called only when every call is settled");
        world.person(Input::Decide { interrupt, decision: choose(option) });
        world.work();
    }
    assert_eq!(world.run.status(), Status::Completed);
    assert_eq!(
        heard(&world)[..5],
        [
            "assistant: I will. call_1 call_2 call_3 call_4",
            "call_1: text",
            "call_2: written",
            "call_3: a person refused this call",
            "call_4: the first",
        ],
    );
}

/// One side effect at a time; what only reads does not wait for it.
#[test]
fn writes_take_turns() {
    let mut definition = definition();
    definition.gates.rules = vec![crate::world::allow(&["*"])];
    let mut world = World::started(definition, vec![calls(&[write("a"), read("x"), write("b")])]);
    for _ in 0..4 {
        world.work_once();
    }
    let due = |world: &World| -> Vec<String> {
        world.run.actions().iter().map(|action| action.id().to_string()).collect()
    };
    assert_eq!(due(&world), ["tool/call_1/1", "tool/call_2/1"]);
    world.begin_tool("call_1");
    assert_eq!(due(&world), ["tool/call_2/1"]);
    assert_eq!(world.begin_tool("call_3"), Vec::<String>::new());
    let outcome = world.execute("call_1");
    world.send(Input::Ran { call: "call_1".to_owned(), attempt: 1, outcome });
    assert_eq!(due(&world), ["tool/call_2/1", "tool/call_3/1"]);
}

/// What can not be run is answered, not asked about, and never gets near a tool.
#[test]
fn calls_that_can_not_be_run_are_answered() {
    let malformed = |text: &str| RequestedCall {
        tool: "write_file".to_owned(),
        arguments: Arguments::Malformed(text.to_owned()),
    };
    let call = |tool: &str, arguments: Value| RequestedCall {
        tool: tool.to_owned(),
        arguments: Arguments::Json(arguments),
    };
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    let reply = Reply {
        text: String::new(),
        calls: vec![
            malformed(r#"{"path": "#),
            call("write_file", json!("a.txt")),
            call("write_file", json!(["a.txt"])),
            call("write_file", json!({ "path": "a.txt" })),
            call("write_file", json!({ "path": "a.txt", "content": "x", "mode": 7 })),
            call("delete_everything", json!({})),
            call(&"x".repeat(1_000), json!({})),
            call("write_file", json!({ "path": "a.txt", "content": 18_446_744_073_709_551_615_u64 })),
            call("write_file", json!({ "path": "a.txt", "content": 1e300 })),
            call("write_file", json!({ "path": "a.txt", "content": deep })),
        ],
        usage: Usage { input_tokens: u64::MAX, output_tokens: u64::MAX },
        model: "m".to_owned(),
    };
    let mut world = World::started(definition(), vec![Ok(reply), says("Done.")]);
    let told = world.work();
    let codes: Vec<&str> = told
        .iter()
        .filter(|line| line.starts_with("tool_"))
        .filter_map(|line| line.rsplit(' ').next())
        .collect();
    assert_eq!(
        codes,
        [
            "malformed_arguments",
            "malformed_arguments",
            "malformed_arguments",
            "invalid_arguments",
            "invalid_arguments",
            "unknown_tool",
            "unknown_tool",
            "malformed_arguments",
            "malformed_arguments",
            "malformed_arguments",
        ],
    );
    assert_eq!((world.effects.len(), world.run.status()), (0, Status::Completed));
    heard(&world);
    crate::events::reread(&world);
}

/// A tool that the agent does not have is not available, also where the workflow knows it.
#[test]
fn an_agent_has_its_own_tools_only() {
    let mut definition = definition();
    if let Some(agent) = definition.agents.get_mut("pair") {
        agent.tools.retain(|tool| tool != "run_command");
    }
    let mut world = World::started(definition, vec![calls(&[command("make")])]);
    assert_eq!(world.work()[2], "tool_finished call_1 failed unknown_tool");
}

#[test]
fn a_reply_holds_so_many_calls_and_no_more() {
    let many: Vec<_> = (0..=limits::CALLS_PER_REPLY).map(|i| read(&i.to_string())).collect();
    let owned: Vec<(&str, Value)> = many.iter().map(|(tool, arguments)| (*tool, arguments.clone())).collect();
    let mut world = World::started(definition(), vec![calls(&owned), says("Done.")]);
    let told = world.work();
    assert_eq!(told[2], "tool_finished call_33 failed too_many_calls");
    assert_eq!(world.count("tool_started"), limits::CALLS_PER_REPLY);
}

#[test]
fn an_empty_reply_is_a_failure_that_may_be_tried_again() {
    let nothing = Ok(Reply { text: " \n".to_owned(), ..Reply::default() });
    let mut world = World::started(definition(), vec![nothing, says("Done.")]);
    assert_eq!(world.work(), ["model_started", "model_failed unusable"]);
    world.pass_ms(500);
    world.work();
    assert_eq!(world.run.status(), Status::Completed);
}

/// The same call again and again is a loop, and a person is asked (LESSONS 15).
#[test]
fn equal_calls_in_a_row_end_in_a_question() {
    let mut script: Vec<_> = (0..4).map(|_| calls(&[read("a"), read("a")])).collect();
    script.push(says("Done."));
    let mut world = World::started(definition(), script);
    let told = world.work();
    assert_eq!(told.last().map(String::as_str), Some("interrupt_opened continuation"));
    assert_eq!(told[told.len() - 2], "limit_reached identical_calls");
    world.decide(Kind::Continuation, choose_with("continue", "read b instead"));
    assert_eq!(heard(&world).last().map(String::as_str), Some("user: read b instead"));
    world.work();
    assert_eq!(world.run.status(), Status::Completed);
}

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

/// What a person says while the model works reaches its next request, even after its last word.
#[test]
fn a_message_during_a_model_call_is_heard_next() {
    for (reply, expected) in [
        (says("Done."), vec!["assistant: Done.", "user: use TypeScript"]),
        (
            calls(&[read("a")]),
            vec!["assistant: I will. call_1", "call_1: there is no file `a`", "user: use TypeScript"],
        ),
    ] {
        let mut world = World::started(definition(), Vec::new());
        world.begin_model("work");
        world.message("use TypeScript");
        world.answer("work", 0, reply);
        world.work();
        assert_eq!(
            (heard(&world), world.run.status()),
            (expected.into_iter().map(str::to_owned).collect(), Status::Running)
        );
    }
}

#[test]
fn a_message_is_heard_while_calls_wait_and_by_steps_that_start_later() {
    let mut definition = definition();
    definition.phases.push(crate::world::one_shot("next", &["work"]));
    let mut world = World::started(definition, vec![calls(&[write("a")]), says("Done.")]);
    world.work();
    world.message("hurry");
    world.decide(Kind::ToolApproval, choose_with("approve", "fine by me"));
    world.work();
    assert_eq!(
        heard(&world),
        [
            "assistant: I will. call_1",
            "call_1: written",
            "user: hurry",
            "user: fine by me",
            "assistant: Done."
        ],
    );
    let next = world.run.request("next").expect("it has started");
    assert_eq!(next.messages[2..].iter().map(say).collect::<Vec<_>>(), ["user: hurry"]);
}

/// A name, the workflow, the reply that leads to a question, its kind, the decision.
type Noted = (&'static str, Definition, Answer, Kind, Decision);

/// Whatever a person says with a decision reaches a later request (LESSONS 38).
#[test]
fn no_note_is_lost() {
    let review = || ("request_review", json!({ "title": "t", "content": "c" }));
    let plan = || ("create_plan", json!({ "subtasks": [{ "id": "1", "description": "do" }] }));
    let table: Vec<Noted> = vec![
        (
            "approve a call",
            definition(),
            calls(&[write("a")]),
            Kind::ToolApproval,
            choose_with("approve", "NOTE"),
        ),
        (
            "edit a call",
            definition(),
            calls(&[write("a")]),
            Kind::ToolApproval,
            with_text(edit(write("b").1)),
        ),
        ("respond", definition(), calls(&[write("a")]), Kind::ToolApproval, choose_with("respond", "NOTE")),
        (
            "reject a call",
            definition(),
            calls(&[write("a")]),
            Kind::ToolApproval,
            choose_with("reject", "NOTE"),
        ),
        (
            "approve a plan",
            definition(),
            calls(&[plan()]),
            Kind::PlanApproval,
            choose_with("approve", "NOTE"),
        ),
        ("revise a plan", definition(), calls(&[plan()]), Kind::PlanApproval, choose_with("revise", "NOTE")),
        ("reject a plan", definition(), calls(&[plan()]), Kind::PlanApproval, choose_with("reject", "NOTE")),
        ("edit a plan", definition(), calls(&[plan()]), Kind::PlanApproval, with_text(edit(plan().1))),
        ("release", definition(), calls(&[review()]), Kind::Review, choose_with("approve", "NOTE")),
        (
            "go ahead",
            phase(|phase| phase.gates.before_step = true),
            says("x"),
            Kind::Checkpoint,
            choose_with("approve", "NOTE"),
        ),
        (
            "redo",
            phase(|phase| phase.gates.after_step = true),
            says("x"),
            Kind::Checkpoint,
            choose_with("redo", "NOTE"),
        ),
        (
            "retry",
            phase(|phase| phase.gates.on_error = true),
            fails(FailureKind::Rejected),
            Kind::Error,
            choose_with("retry", "NOTE"),
        ),
        (
            "continue",
            phase(|phase| phase.limits.rounds = 1),
            calls(&[read("a")]),
            Kind::Continuation,
            choose_with("continue", "NOTE"),
        ),
        ("skip a question", definition(), says("Which?"), Kind::Question, choose_with("skip", "NOTE")),
    ];
    let lost: Vec<&str> = table
        .into_iter()
        .filter_map(|(name, definition, reply, kind, decision)| {
            let mut world = World::started(definition, vec![reply]);
            world.work();
            world.decide(kind, decision);
            world.work();
            (!heard(&world).iter().any(|line| line.contains("NOTE"))).then_some(name)
        })
        .collect();
    assert_eq!(lost, Vec::<&str>::new());

    // What ends a step or a phase is heard by the next one.
    let mut definition = phase(|phase| phase.gates.after_step = true);
    definition.phases.push(crate::world::checkpoint("look", &["work"]));
    definition.phases.push(crate::world::one_shot("next", &["look"]));
    let mut world = World::started(definition, vec![says("Done.")]);
    world.work();
    world.decide(Kind::Checkpoint, choose_with("continue", "NOTE one"));
    world.decide(Kind::Checkpoint, choose_with("approve", "NOTE two"));
    let next = world.run.request("next").expect("it has started");
    assert_eq!(next.messages[2..].iter().map(say).collect::<Vec<_>>(), ["user: NOTE one", "user: NOTE two"]);
}

fn with_text(decision: Decision) -> Decision {
    Decision { text: Some("NOTE".to_owned()), ..decision }
}

/// A redone step keeps its conversation, and can be sent back so often and no more.
#[test]
fn a_step_is_redone_with_the_feedback() {
    let script = (0..4).map(|i| says(&format!("Done {i}."))).collect();
    let mut world = World::started(phase(|phase| phase.gates.after_step = true), script);
    world.work();
    world.decide(Kind::Checkpoint, choose_with("redo", "use ISO dates"));
    assert_eq!(
        heard(&world),
        ["assistant: Done 0.", "user: The person wants this step done again: use ISO dates"],
    );
    world.work();
    world.decide(Kind::Checkpoint, choose("redo"));
    world.work();
    let offered: Vec<String> = world.run.interrupts[&world.open(Kind::Checkpoint)]
        .opened
        .options
        .iter()
        .map(|choice| choice.id.clone())
        .collect();
    assert_eq!(offered, ["continue", "abort"]);
    world.decide(Kind::Checkpoint, choose("continue"));
    assert_eq!(world.run.ended.as_ref().map(|ended| ended.result["text"].clone()), Some(json!("Done 2.")));
}

/// A limit's name, how it is set, and a reply that reaches it.
type Limited = (&'static str, fn(&mut Phase), Answer);

/// A limit asks, or ends the run by its name where nobody may be asked.
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

/// Waits double up to a minute; a provider may ask for more, within that minute.
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
        (waits, world.run.ended.map(|ended| ended.reason).unwrap_or_default())
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
        failed.run.ended.map(|ended| (ended.status, ended.reason, ended.text)),
        Some((Status::Failed, "model_failed".to_owned(), Some("TimedOut".to_owned()))),
    );
    let mut asked = run(phase(|phase| phase.gates.on_error = true));
    assert_eq!(asked.open_kinds(), ["error"]);
    asked.decide(Kind::Error, choose("retry"));
    asked.work();
    assert_eq!(asked.run.status(), Status::Completed);
}

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

/// A person stops it: nothing starts, what is under way comes back, decisions are taken, deadlines go on.
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

/// The turn is ended while another call of it is under way: the step waits for that call and starts nothing.
#[test]
fn ending_a_turn_waits_for_what_is_under_way() {
    let ended_turn = |answer: &str| {
        let mut definition = definition();
        definition.gates.rules = vec![crate::world::rule(
            holdshort_core::definition::RuleAction::Allow,
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
        let told = world.person(Input::Decide { interrupt: second, decision: choose("reject") });
        assert_eq!(
            told,
            [
                "decision_made reject",
                "interrupt_resolved rejected reject",
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

/// Skipping a failed step withdraws what it still asks: no run completes with a question open.
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

/// Attempts lost to our own crash count against no limit; crashes without progress have one of their own.
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

/// What a tool reports is journalled whatever it holds, and read again.
#[test]
fn what_a_tool_reports_can_always_be_read_again() {
    let mut deep = json!("bottom");
    for _ in 0..200 {
        deep = json!({ "deeper": deep });
    }
    let mut definition = definition();
    definition.gates.rules = vec![crate::world::allow(&["*"])];
    let mut world = World::started(definition, vec![calls(&[command("make")])]);
    world.work_once();
    world.work_once();
    world.begin_tool("call_1");
    let data = json!({ "big": u64::MAX, "small": i64::MIN, "huge": 1e300, "fine": 9_007_199_254_740_991_u64, "deep": deep });
    let outcome = holdshort_core::tool::Outcome::Done { text: "ok".to_owned(), data };
    world.send(Input::Ran { call: "call_1".to_owned(), attempt: 1, outcome });
    let kept = &world.run.calls["call_1"].outcome;
    assert_eq!(
        (&kept["big"], &kept["small"], &kept["fine"]),
        (&json!("18446744073709551615"), &json!("-9223372036854775808"), &json!(json::MAX_INTEGER)),
    );
    crate::events::reread(&world);
}

/// The first event pins the workflow; the input must fit its schema and its limit.
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
