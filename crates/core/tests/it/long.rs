//! A run with the maximum number of events can be replayed, and the next input ends the run with the reason
//! `limit_events`.

use holdshort_core::actor::Actor;
use holdshort_core::digest::Digest;
use holdshort_core::envelope::{Chain, Content};
use holdshort_core::event::{self, Event};
use holdshort_core::gate::Release;
use holdshort_core::id::StreamId;
use holdshort_core::limits::EVENTS;
use holdshort_core::message::{Stop, Usage};
use holdshort_core::projection::Status;
use holdshort_core::run::{Authority, CallEnd, Config, Fact, Input, InspectionFacts, Listed, Run};
use holdshort_core::tool::Category;
use serde_json::json;

use crate::events::seal;
use crate::world::{World, definition};

/// Returns the events of `n` turns, each of which calls one tool.
fn turns(world: &World, n: u32) -> Vec<Event> {
    let step = "work".to_owned();
    let digest = Digest::ZERO;
    let mut events = Vec::new();
    let mut say = |fact, content| {
        events.push(Event {
            stream: StreamId::Run(world.run.id.clone()),
            at: world.now,
            actor: Actor::engine(),
            fact: event::Fact::Run(fact),
            content,
        });
    };
    for turn in 0..n {
        let call = format!("call_{}", turn + 1);
        let arguments = json!({ "path": format!("src/file_{turn}.rs") });
        say(
            Fact::ModelStarted { step: step.clone(), turn, attempt: 1, epoch: 1, shortened: false },
            Content::none(),
        );
        let calls = vec![Listed { call: call.clone(), tool: "read_file".to_owned(), digest }];
        let replied = Fact::ModelReplied {
            step: step.clone(),
            turn,
            model: "m".to_owned(),
            usage: Usage::default(),
            calls,
            stop: Stop::Whole,
        };
        let text = "I look at the next file, to see whether it has to change with the others.";
        say(replied, Content { text: Some(text.to_owned()), data: json!({ "arguments": [arguments] }) });
        let look = InspectionFacts {
            digest,
            category: Category::ReadOnly,
            workspace: "/ws".to_owned(),
            cwd: "/ws".to_owned(),
            preconditions: Vec::new(),
            sandbox: None,
            ask_because: Vec::new(),
            places: Vec::new(),
        };
        say(Fact::ToolInspected { call: call.clone(), look }, Content::none());
        let by = Authority::Gate(Release::OpensInterrupt);
        say(Fact::ToolAuthorised { call: call.clone(), digest, by, effect: None }, Content::none());
        say(
            Fact::ToolStarted {
                call: call.clone(),
                attempt: 1,
                digest,
                epoch: 1,
                sandbox: None,
                changeset: None,
                effect: None,
            },
            Content::none(),
        );
        let finished = Fact::ToolFinished { call, end: CallEnd::Done, code: None };
        say(finished, Content::text("fn main() { println!(\"a line of a file\"); }\n".repeat(20)));
    }
    events
}

/// Applies events until the run has `upto` events, and returns them. The log of the world stays unchanged.
fn grow(world: &mut World, upto: u64) -> Vec<Event> {
    let mut events = turns(world, u32::try_from(upto / 6 + 1).expect("a limit is small"));
    events.truncate(usize::try_from(upto - world.run.seq).expect("a limit is small"));
    for event in &events {
        world.run.apply(event);
    }
    assert_eq!(world.run.seq, upto);
    events
}

#[test]
fn what_comes_at_the_limit_is_written_down_and_ends_the_run() {
    let table: [(&str, Input, &[&str]); 4] = [
        ("a message", Input::Message { text: "hello".to_owned() }, &["message_added"]),
        ("a pause", Input::Pause, &["run_paused"]),
        ("a sweep", Input::Tick, &[]),
        ("what is nothing", Input::Resume, &[]),
    ];
    let mut world = World::new(definition());
    world.start(Config::default());
    grow(&mut world, EVENTS);
    for (what, input, first) in table {
        let mut world = world.clone();
        let told = world.send(input);
        // The interrupted turn had a running call, which ends, too.
        let rest: Vec<&str> =
            told.iter().map(String::as_str).filter(|each| !each.starts_with("tool_finished")).collect();
        assert_eq!(rest, [first, &["run_failed limit_events"]].concat(), "{what}");
        assert_eq!(world.run.status(), Status::Failed, "{what}");
    }
    // A person can still cancel the run.
    assert!(
        world.clone().person(Input::Cancel { text: None }).contains(&"run_cancelled cancelled".to_owned())
    );
}

#[test]
fn before_the_limit_nothing_is_noticed() {
    let mut world = World::new(definition());
    world.start(Config::default());
    grow(&mut world, EVENTS - 2);
    assert_eq!(world.message("one"), ["message_added"]);
    assert_eq!(world.run.status(), Status::Running);
    assert!(world.message("two").contains(&"run_failed limit_events".to_owned()));
}

/// Measures, for use with a profiler, the time to resume a run with the maximum number of events.
#[test]
#[ignore = "a campaign: cargo xtask verify --long"]
fn campaign_of_a_run_at_its_limit() {
    let mut world = World::new(definition());
    world.start(Config::default());
    let rest = grow(&mut world, EVENTS);
    let sealed = seal(&[world.log.clone(), rest].concat());
    let mut chain = Chain::START;
    let mut run = Run::new(world.run.id.clone(), world.run.definition.clone());
    for sealed in &sealed {
        run.apply(&event::open(sealed, &mut chain).expect("what was sealed"));
    }
    assert_eq!(run, world.run);
}
