//! The calls of one reply, which run in parallel or one after another, each with a result.

use holdshort_core::interrupt::Kind;
use holdshort_core::message::{Arguments, Reply, RequestedCall, Stop, Usage};
use holdshort_core::projection::Status;
use holdshort_core::run::Input;
use holdshort_core::{json, limits};
use serde_json::{Value, json};

use super::request_messages;
use crate::world::{World, calls, choose, choose_with, command, definition, read, says, write};

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
        world.person(Input::Decide { interrupt, decision: choose(option), holder: None });
        world.work();
    }
    assert_eq!(world.run.status(), Status::Completed);
    assert_eq!(
        request_messages(&world)[..5],
        [
            "assistant: I will. call_1 call_2 call_3 call_4",
            "call_1: text",
            "call_2: written",
            "call_3: a person refused this call",
            "call_4: the first",
        ],
    );
}

/// Calls with side effects run one at a time, in the order of the reply.
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
    assert_eq!(due(&world), ["tool/call_1/1"]);
    world.begin_tool("call_1");
    assert_eq!(due(&world), Vec::<String>::new());
    assert_eq!(world.begin_tool("call_3"), Vec::<String>::new());
    let outcome = world.execute("call_1");
    world.send(Input::Ran { call: "call_1".to_owned(), attempt: 1, outcome });
    assert_eq!(due(&world), ["inspect/call_2/1"], "it is looked at behind the write");
    world.work_once();
    assert_eq!(due(&world), ["tool/call_2/1"]);
}

/// An invalid call gets an error as its result, without being shown to a person or given to a tool.
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
        stop: Stop::Whole,
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
    request_messages(&world);
    crate::events::reread(&world);
}

/// An agent cannot call a tool that only other agents of the workflow have.
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

/// The result of a tool can always be stored and read back, even with unusual values.
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
