//! Callbacks of external agents: every resolution of an interrupt, and no other event, is sent to its callback.

use holdshort_core::actor::Actor;
use holdshort_core::gate::foreign::ForeignCall;
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::{Kind, Outcome};
use holdshort_core::notice::{Notice, Occasion, callbacks};
use holdshort_core::run::{Ask, Config, Input, Origin};
use holdshort_core::system;
use serde_json::{Value, json};

use crate::pairs::ask;
use crate::world::{self, World, allow, choose_with, of_system};

fn agent() -> Actor {
    Actor::agent("their-agent", "rest")
}

fn id() -> InterruptId {
    "int_01k6f0000000000000000000cc".parse().expect("an id")
}

/// Returns a run of an external agent. A rule allows the tool `lookup`.
fn external() -> World {
    let mut world = World::new(world::external());
    world.system.apply(&of_system(system::Fact::PolicySet { rules: vec![allow(&["lookup"])] }));
    let Input::Start(mut start) = world.start_input(Config::default()) else { unreachable!() };
    start.origin = Origin::External;
    world.try_send(&agent(), Input::Start(start)).expect("it may start");
    world
}

/// Returns the callback notices for the events that `happens` appends.
fn collect_callbacks(world: &mut World, happens: impl FnOnce(&mut World)) -> Vec<Notice> {
    let (seq, from) = (world.run.seq, world.log.len());
    happens(world);
    callbacks(&world.run, seq + 1, &world.log[from..])
}

fn asks(world: &mut World, ask: Ask) {
    world.try_send(&agent(), Input::Ask(Box::new(ask))).expect("it may ask");
}

/// A test case: title, question, change to the question, and the expected occasion and outcome of the callback.
type Row = (&'static str, Ask, fn(&mut World), Occasion, Outcome);

#[test]
fn each_resolution_is_told_once_to_whoever_said_where() {
    let lookup = ForeignCall {
        tool: "lookup".to_owned(),
        arguments: json!({ "order": 1 }),
        workspace: Some("/ws".to_owned()),
        ..ForeignCall::default()
    };
    let calls = Ask { kind: Kind::ToolApproval, payload: Value::Null, call: Some((lookup, None)), ..ask() };
    let table: [Row; 6] = [
        (
            "a person answers",
            ask(),
            |world| drop(world.decide(Kind::Question, choose_with("answer", "x"))),
            Occasion::Resolved,
            Outcome::Answered,
        ),
        (
            "nobody does",
            Ask { expires_in_ms: Some(1_000), ..ask() },
            |world| {
                world.pass_ms(1_000);
                world.send(Input::Tick);
            },
            Occasion::Expired,
            Outcome::Expired,
        ),
        (
            "the agent withdraws it",
            ask(),
            |world| {
                let interrupt = world.open(Kind::Question);
                world.try_send(&agent(), Input::Withdraw { interrupt, text: None }).unwrap();
            },
            Occasion::Resolved,
            Outcome::Cancelled,
        ),
        (
            "the agent is done",
            ask(),
            |world| drop(world.try_send(&agent(), Input::Finish { result: json!("done") }).unwrap()),
            Occasion::Resolved,
            Outcome::Cancelled,
        ),
        (
            "a person cancels the run",
            ask(),
            |world| drop(world.person(Input::Cancel { text: None })),
            Occasion::Resolved,
            Outcome::Cancelled,
        ),
        ("a rule allows it, and nobody is asked", calls, |_| (), Occasion::Resolved, Outcome::Approved),
    ];
    for (name, ask, happens, occasion, outcome) in table {
        for callback in [Some(id()), None] {
            let mut world = external();
            let asked = Ask { callback: callback.clone(), ..ask.clone() };
            let found = collect_callbacks(&mut world, |world| {
                asks(world, asked);
                happens(world);
            });
            let found: Vec<_> =
                found.into_iter().map(|notice| (notice.interrupt, notice.occasion, notice.outcome)).collect();
            let expected: Vec<_> = callback.into_iter().map(|id| (id, occasion, Some(outcome))).collect();
            assert_eq!(found, expected, "{name}");
        }
    }
}

/// The event of an external question records that a callback exists, but not its URL.
#[test]
fn the_event_says_that_and_not_where() {
    let mut world = external();
    for callback in [Some(id()), None] {
        asks(&mut world, Ask { callback, ..ask() });
    }
    let opened = |id: &InterruptId| serde_json::to_value(&world.run.interrupts[id].opened).unwrap();
    assert_eq!(opened(&id())["callback"], json!(true));
    let other = world.run.interrupts.keys().find(|other| **other != id()).unwrap();
    assert_eq!(opened(other).get("callback"), None);
    crate::events::reread(&world);
}

/// When a run ends, each of its open interrupts is reported to its own callback.
#[test]
fn a_run_that_ends_tells_all_that_were_open() {
    let mut world = external();
    let ids: Vec<InterruptId> =
        ["a", "b"].map(|end| format!("int_01k6f0000000000000000000c{end}").parse().unwrap()).into();
    for id in &ids {
        asks(&mut world, Ask { callback: Some(id.clone()), ..ask() });
    }
    asks(&mut world, ask());
    let found = collect_callbacks(&mut world, |world| {
        world.try_send(&agent(), Input::Finish { result: json!("done") }).unwrap();
    });
    assert_eq!(found.iter().map(|notice| notice.interrupt.clone()).collect::<Vec<_>>(), ids);
    let seqs: Vec<u64> = found.iter().map(|notice| notice.seq).collect();
    assert_eq!(seqs, [seqs[0], seqs[0] + 1], "each names its own event");
}
