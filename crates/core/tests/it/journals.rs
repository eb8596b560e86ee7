//! Journals that were written by earlier versions can always be replayed.
//!
//! A file contains one stored event per line: `{stream, seq, head, salt, content, hash}`, with bytes as text. The
//! workflow definition of the run is in a file with the same name. Never rewrite a journal file; add a new one.

use std::path::Path;
use std::sync::Arc;

use holdshort_core::definition::Definition;
use holdshort_core::digest::Digest;
use holdshort_core::envelope::{Sealed, SealedContent};
use holdshort_core::id::StreamId;
use holdshort_core::interrupt::Kind;
use holdshort_core::policy::RuleAction;
use holdshort_core::run::{Input, Run};
use holdshort_core::session::Session;
use holdshort_core::{json, limits};
use serde::{Deserialize, Serialize};

use crate::endings::finish::{finishes, finishing};
use crate::events::{open, replay, seal, story};
use crate::world::{World, calls, choose, choose_with, command, describe_event, read, rule, says, write};
use crate::{copilot, plans};

#[derive(Serialize, Deserialize)]
struct Line {
    stream: StreamId,
    seq: u64,
    head: String,
    salt: Option<[u8; 16]>,
    content: Option<String>,
    hash: Digest,
}

impl From<Sealed> for Line {
    fn from(sealed: Sealed) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("JSON is UTF-8");
        Self {
            stream: sealed.stream,
            seq: sealed.seq,
            head: text(sealed.head),
            salt: sealed.content.as_ref().map(|content| content.salt),
            content: sealed.content.map(|content| text(content.bytes)),
            hash: sealed.hash,
        }
    }
}

impl From<Line> for Sealed {
    fn from(line: Line) -> Self {
        let content =
            line.salt.zip(line.content).map(|(salt, text)| SealedContent { salt, bytes: text.into_bytes() });
        Self { stream: line.stream, seq: line.seq, head: line.head.into_bytes(), content, hash: line.hash }
    }
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/journals")
}

/// Name of a journal, and the function that makes its run.
type Story = (&'static str, fn() -> World);

/// Returns the runs from which new journals are made.
fn stories() -> [Story; 4] {
    [("turns", story), ("endings", endings), ("plan", plans::story), ("copilot", copilot::story)]
}

/// Returns a run with replies that do not end their step, ordered calls, a grant for a kind of command, and a command
/// in doubt. The run reaches the limit of failures, and ends by `finish` with undone items.
fn endings() -> World {
    let mut definition = finishing();
    definition.gates.rules.push(rule(RuleAction::Allow, &["run_command"], &["false"]));
    let mut script = vec![
        says("Shall I go on?"),
        calls(&[write("a.txt"), command("make x"), read("a.txt")]),
        calls(&[command("make x")]),
    ];
    script.extend((0..limits::FAILED_CALLS).map(|_| calls(&[command("false")])));
    script.push(finishes(serde_json::json!({ "summary": "Done.", "undone": ["the changelog"] })));
    let mut world = World::started(definition, script);
    let approve = |world: &mut World, call: &str, option: &str| {
        let interrupt = world.run.calls[call].interrupt.clone().expect("it asks");
        world.person(Input::Decide { interrupt, decision: choose(option), holder: None });
    };
    world.work();
    approve(&mut world, "call_1", "approve");
    world.work();
    // The command is running when the process ends.
    approve(&mut world, "call_2", "approve_session");
    world.begin_tool("call_2");
    world.crash();
    world.decide(Kind::UnknownOutcome, choose("rerun"));
    world.work();
    world.decide(Kind::Continuation, choose_with("continue", "try something else"));
    world.work();
    world
}

/// Describes the final state of a replayed run.
fn end_of(run: &Run, session: &Session) -> String {
    let ended = run.ended.as_ref().expect("it has ended");
    let (open, actions) = (run.open_interrupts().count(), run.actions().len());
    let grants = session.grants.size();
    let text = String::from_utf8(json::canonical(&ended.result["text"])).expect("JSON is UTF-8");
    format!("{:?} {}, {open} open, {actions} actions, {grants} grants, {text}\n", ended.status, ended.reason)
}

/// Writes the missing journals for an event format version: `NEW_JOURNAL=2 cargo test -p holdshort-core`. Existing
/// journals stay unchanged.
#[test]
fn new_journals_are_written_on_demand() {
    let Ok(version) = std::env::var("NEW_JOURNAL") else { return };
    for (name, play) in stories() {
        if folder().join(format!("{version}-{name}.jsonl")).exists() {
            continue;
        }
        let world = play();
        let lines: Vec<String> = seal(&world.log)
            .into_iter()
            .map(|sealed| String::from_utf8(json::canonical(&Line::from(sealed))).expect("JSON is UTF-8"))
            .collect();
        let told: Vec<String> = world.log.iter().map(describe_event).collect();
        for (suffix, text) in [
            ("jsonl", lines.join("\n") + "\n"),
            (
                "definition.json",
                String::from_utf8(json::canonical(&*world.run.definition)).expect("JSON is UTF-8") + "\n",
            ),
            ("story.txt", told.join("\n") + "\n"),
            ("end.txt", end_of(&world.run, &world.session)),
        ] {
            let path = folder().join(format!("{version}-{name}.{suffix}"));
            assert!(!path.exists(), "{} is there already: journals are never rewritten", path.display());
            std::fs::write(path, text).expect("the folder can be written");
        }
    }
}

#[test]
fn old_journals_replay() {
    let mut found = 0;
    for entry in std::fs::read_dir(folder()).expect("the folder is there") {
        let path = entry.expect("it can be listed").path();
        let Some(name) =
            path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".jsonl"))
        else {
            continue;
        };
        found += 1;
        let kept = |suffix: &str| {
            std::fs::read_to_string(folder().join(format!("{name}.{suffix}")))
                .expect("it is beside the journal")
        };
        let sealed: Vec<Sealed> = kept("jsonl")
            .lines()
            .map(|line| json::from_slice::<Line>(line.as_bytes()).expect("a line is an event").into())
            .collect();
        let log = open(&sealed).expect("the chain holds");
        let definition: Definition = json::from_slice(kept("definition.json").as_bytes()).expect("it is one");
        let StreamId::Run(id) = sealed[0].stream.clone() else { panic!("a run's stream comes first") };
        let mut world = World::new(definition);
        world.run = Run::new(id, Arc::clone(&world.run.definition));
        let (run, session) = replay(&world, &log);

        assert_eq!(
            log.iter().map(|event| describe_event(event) + "\n").collect::<String>(),
            kept("story.txt"),
            "{name}"
        );
        assert_eq!(end_of(&run, &session), kept("end.txt"), "{name}");
    }
    assert!(found >= 5, "{found} journals are kept");
}
