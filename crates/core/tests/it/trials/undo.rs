//! What an undo of a run would take back, and what it says it can not.

use holdshort_core::changeset::{Change, Entry};
use holdshort_core::definition::KindGate;
use holdshort_core::interrupt::{Decision, Kind};
use holdshort_core::run::undo::{self, NotUndone, Undo};
use serde_json::json;

use super::{runs, trying};
use crate::world::{World, calls, choose, command, definition, write};

/// As `path: before > after`, by the bytes of each.
fn told(undo: &Undo) -> Vec<String> {
    let bytes = |entry: &Option<Entry>| match entry {
        Some(Entry::File { bytes, .. }) => bytes.to_string(),
        Some(_) => "?".to_owned(),
        None => "-".to_owned(),
    };
    let told = |it: &Change| format!("{}: {} > {}", it.path, bytes(&it.before), bytes(&it.after));
    undo.changeset.changes().iter().map(told).collect()
}

fn released(mut world: World) -> World {
    for _ in 0..10 {
        world.work();
        if world.open_kinds().is_empty() {
            break;
        }
        world.decide(Kind::ToolApproval, choose("approve"));
    }
    world
}

#[test]
fn a_run_is_undone_back_to_an_event() {
    let replies = ["./do a=1 b=1", "./do a=22 -b c=1"].map(|line| calls(&[command(line)]));
    let world = released(World::started(trying(), replies.to_vec()));
    let undo = world.run.undo(0).expect("it changed something");
    assert_eq!(told(&undo), ["a: 2 > -", "c: 1 > -"], "b came and went");
    assert!(undo.mixed.is_empty() && undo.unknown.is_empty());
    let first = world.run.calls["call_1"].ended_at.expect("it has ended");
    assert_eq!(told(&world.run.undo(first).expect("the second one")), ["a: 2 > 1", "b: - > 1", "c: 1 > -"]);
    assert_eq!(world.run.undo(world.run.seq), Err(NotUndone::Nothing));
    assert_eq!(world.run.undo(world.run.seq + 1), Err(NotUndone::UnknownEvent));
}

#[test]
fn what_a_person_dropped_is_not_undone() {
    let mut world = runs(&["./do a=1 b=1"]);
    world.work();
    world.decide(Kind::ToolApproval, Decision { edit: json!(["b"]), ..choose("keep_some") });
    world.work();
    assert_eq!(told(&world.run.undo(0).expect("it kept b")), ["b: 1 > -"]);
}

#[test]
fn calls_whose_changes_nobody_knows_are_named() {
    // A command that runs without a trial, then a file that is written.
    let mut world = World::started(definition(), vec![calls(&[command("make all")]), calls(&[write("a")])]);
    world.proposes = true;
    let world = released(world);
    let undo = world.run.undo(0).expect("it wrote a file");
    assert_eq!(
        (told(&undo), undo.unknown),
        (vec!["a: 9 > -".to_owned()], vec!["run_command: make all".to_owned()])
    );
}

#[test]
fn nothing_is_undone_in_the_middle_of_a_commit() {
    let mut world = World::started(trying(), vec![calls(&[command("./do a=1")])]);
    world.work();
    world.decide(Kind::ToolApproval, choose("approve"));
    world.begin_tool("call_1");
    assert_eq!(world.run.undo(0), Err(NotUndone::AtWork));
}

#[test]
fn who_has_to_agree_to_the_changes_has_to_agree_to_their_undo() {
    let mut of = definition();
    let gate = KindGate { approvers: vec!["cfo".to_owned()], quorum: Some(2), ..KindGate::default() };
    of.gates.kinds.insert(Kind::ToolApproval, gate);
    let phase = KindGate { quorum: Some(3), ..KindGate::default() };
    of.phases[0].kinds.insert(Kind::ToolApproval, phase);
    let undo = undo::definition(&of);
    let gate = undo.gate(undo.phases.first(), Kind::ToolApproval);
    assert_eq!((gate.approvers, gate.quorum), (vec!["cfo".to_owned()], Some(3)));
    assert_eq!(gate.options, ["approve", "keep_some", "reject"]);
}
