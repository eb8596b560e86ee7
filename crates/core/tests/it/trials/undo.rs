//! The changes that an undo of a run reverts, and the calls with changes that it cannot revert.

use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::changeset::{Change, Entry};
use holdshort_core::definition::KindGate;
use holdshort_core::digest::Digest;
use holdshort_core::interrupt::{Assignment, Decision, Kind};
use holdshort_core::run::undo::{self, Arguments, NotUndone, Undo};
use holdshort_core::run::{Begin, Config, Input, Rejection, Run};
use holdshort_core::session::Session;
use holdshort_core::tool::{Outcome, TrialOutcome, TrialResult};
use serde_json::json;

use super::{runs, trying};
use crate::world::{
    World, assigned, calls, choose, choose_with, command, definition, draw, one_shot, says, write,
};

/// Formats each change as `path: before > after`, with the content of the file before and after.
fn describe_changes(undo: &Undo) -> Vec<String> {
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
        if !world.open_kinds().contains(&Kind::ToolApproval.as_str()) {
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
    assert_eq!(describe_changes(&undo), ["a: 2 > -", "c: 1 > -"], "b came and went");
    assert!(undo.mixed.is_empty() && undo.unknown.is_empty());
    let first = world.run.calls["call_1"].ended_at.expect("it has ended");
    assert_eq!(
        describe_changes(&world.run.undo(first).expect("the second one")),
        ["a: 2 > 1", "b: - > 1", "c: 1 > -"]
    );
    assert_eq!(world.run.undo(world.run.seq), Err(NotUndone::Nothing));
    assert_eq!(world.run.undo(world.run.seq + 1), Err(NotUndone::UnknownEvent));
}

/// The card of a checkpoint lists the files that the run has changed so far. A file that came and went is not listed.
#[test]
fn a_checkpoint_lists_the_changed_files() {
    let mut definition = trying();
    definition.phases[0].gates.before_step = true;
    definition.phases[0].gates.after_step = true;
    let lines = ["./do new=1 b=1 old=22 -gone", "./do -b"];
    let replies = lines.iter().map(|line| calls(&[command(line)])).chain([says("Done.")]).collect();
    let mut world = World::started(definition, replies);
    world.files.extend([("old", "1"), ("gone", "1")].map(|(name, text)| (name.to_owned(), text.to_owned())));
    let listed = |world: &World| {
        let asked = &world.run.interrupts[&world.open(Kind::Checkpoint)];
        asked.content["payload"].get("changed_files").cloned()
    };
    assert_eq!(listed(&world), None, "nothing has changed before the step");
    world.decide(Kind::Checkpoint, choose("approve"));
    let world = released(world);
    assert_eq!(listed(&world), Some(json!(["deleted gone", "created new", "changed old"])));
}

/// Returns a world for the undo of `of` after the event `to`, the input that starts it, and the changes that it
/// reverts.
fn undo_start(of: &Run, to: u64, id: u8) -> (World, Input, Undo) {
    let undo = of.undo(to).expect("there is something to take back");
    let arguments = Arguments {
        task: Arguments::task(of, to),
        run: of.id.clone(),
        to,
        changes: Digest::of_json(&undo),
        seen: of.seq,
    };
    let definition = undo::definition(&of.definition, &undo.phases).expect("somebody may release it");
    let mut world = World::new(definition.clone());
    world.run = Run::new(draw(id).id(), Arc::new(definition));
    let Input::Start(mut start) = world.start_input(Config::default()) else { unreachable!("it is a start") };
    start.input = serde_json::to_value(&arguments).expect("they are JSON");
    (world, Input::Start(start), undo)
}

/// Returns an undo that waits for a person's decision.
fn undo_begun(of: &Run, to: u64, id: u8) -> World {
    let (mut world, start, undo) = undo_start(of, to, id);
    world.send(start);
    world.work_once();
    world.send(Input::Begin { begins: vec![Begin::Trial { call: "call_1".to_owned() }] });
    let yielded = TrialResult {
        changeset: undo.changeset,
        layer: None,
        ask_because: vec!["undo".to_owned()],
        text: String::new(),
        data: json!({}),
        card: json!({}),
    };
    let tried = TrialOutcome::Yielded(yielded);
    world.send(Input::Tried { call: "call_1".to_owned(), attempt: 1, tried });
    world
}

/// Returns a run that has undone the changes of `of` after the event `to`, or only the paths in `only`.
fn taken_back(of: &Run, to: u64, only: Option<&[&str]>, id: u8) -> Run {
    let mut world = undo_begun(of, to, id);
    let decision = match only {
        Some(paths) => Decision { edit: json!(paths), ..choose("keep_some") },
        None => choose("approve"),
    };
    release(&mut world, decision);
    world.run
}

fn release(world: &mut World, decision: Decision) {
    world.decide(Kind::ToolApproval, decision);
    world.begin_tool("call_1");
    let outcome = Outcome::Done { text: String::new(), data: json!({}) };
    world.send(Input::Ran { call: "call_1".to_owned(), attempt: 1, outcome });
}

/// Function that ends an undo.
type End = fn(&mut World);

/// From its start to its end, an undo is the only undo of its run.
#[test]
fn a_run_has_one_open_undo() {
    let played = released(World::started(trying(), vec![calls(&[command("./do a=1 b=1")])]));
    let of = &played.run;
    let another = Run { id: draw(33).id(), ..of.clone() };
    let second = |first: &World, of: &Run| {
        let (world, start, _) = undo_start(of, 0, 32);
        let handled = world.run.handle(&first.context(&Actor::operator("rest")), start)?;
        Ok::<_, Rejection>(
            handled.events.iter().map(|event| event.fact.encode().0).take(2).collect::<Vec<_>>(),
        )
    };
    let ends: [(&str, End); 4] = [
        ("approved", |world| release(world, choose("approve"))),
        ("approved in part", |world| {
            release(world, Decision { edit: json!(["a"]), ..choose("keep_some") });
        }),
        ("rejected", |world| drop(world.decide(Kind::ToolApproval, choose("reject")))),
        ("cancelled", |world| drop(world.person(Input::Cancel { text: None }))),
    ];
    for (name, end) in ends {
        let (mut started, start, _) = undo_start(of, 0, 31);
        started.send(start);
        let mut first = undo_begun(of, 0, 31);
        for world in [&started, &first] {
            let refused = second(world, of).expect_err(name);
            assert!(
                matches!(&refused, Rejection::UndoOpen { by } if *by == first.run.id),
                "{name}: {refused}"
            );
            assert_eq!(second(world, &another).expect(name), ["undo_started", "run_started"], "{name}");
        }
        end(&mut first);
        assert!(first.run.ended.is_some(), "{name}");
        assert_eq!((first.count("undo_started"), first.count("undo_ended")), (1, 1), "{name}");
        assert_eq!(second(&first, of).expect(name), ["undo_started", "run_started"], "{name}");
        // A process that reads the session again knows the same open undos.
        let mut replayed = Session::new(first.session.id.clone());
        first.log.iter().for_each(|event| replayed.apply(event));
        assert_eq!(replayed, first.session, "{name}");
    }
}

/// An undo has nothing left to do after later undo runs have reverted all its changes and were not undone themselves.
#[test]
fn an_undo_is_over_where_later_ones_have_taken_all_of_it_back() {
    let replies = ["./do a=1 b=1", "./do a=22"].map(|line| calls(&[command(line)]));
    let mut world = World::started(trying(), replies.to_vec());
    let approve = |world: &mut World| {
        world.work();
        world.decide(Kind::ToolApproval, choose("approve"));
        world.work();
    };
    approve(&mut world);
    let early = world.run.clone();
    approve(&mut world);
    let run = &world.run;
    let first = run.calls["call_1"].ended_at.expect("it has ended");
    let is_over = |to, since: &[&Run]| run.undo(to).expect("it changed something").is_taken_back(run, since);

    let whole = taken_back(run, 0, None, 11);
    assert!(!is_over(0, &[]) && is_over(0, &[&whole]) && is_over(first, &[&whole]));
    // First only the path `a` is reverted, then also the path `b`.
    let part = taken_back(run, 0, Some(&["a"]), 12);
    let rest = taken_back(run, 0, Some(&["b"]), 13);
    assert!(!is_over(0, &[&part]) && is_over(0, &[&part, &rest]));
    // An undo back to an event keeps the changes before the event.
    let last = taken_back(run, first, None, 14);
    assert!(is_over(first, &[&last]) && !is_over(0, &[&last]));
    // The undo is itself undone, and that second undo is undone, too.
    let back = taken_back(&whole, 0, None, 15);
    assert!(!is_over(0, &[&whole, &back]));
    let gone = taken_back(&back, 0, None, 16);
    assert!(is_over(0, &[&whole, &back, &gone]));
    // An undo that was requested earlier does not revert changes that the run wrote after the request.
    let before = taken_back(&early, 0, None, 17);
    assert!(!is_over(0, &[&before]));
}

#[test]
fn what_a_person_dropped_is_not_undone() {
    let mut world = runs(&["./do a=1 b=1"]);
    world.work();
    world.decide(Kind::ToolApproval, Decision { edit: json!(["b"]), ..choose("keep_some") });
    world.work();
    assert_eq!(describe_changes(&world.run.undo(0).expect("it kept b")), ["b: 1 > -"]);
}

#[test]
fn calls_whose_changes_nobody_knows_are_named() {
    // A command that runs without a trial, followed by a file write.
    let mut world = World::started(definition(), vec![calls(&[command("make all")]), calls(&[write("a")])]);
    world.proposes = true;
    let world = released(world);
    let undo = world.run.undo(0).expect("it wrote a file");
    assert_eq!(
        (describe_changes(&undo), undo.unknown),
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
fn nothing_is_undone_while_a_commit_that_a_crash_cut_off_rests() {
    let mut world = World::started(trying(), vec![calls(&[command("./do a=1 b=1")])]);
    world.work();
    world.decide(Kind::ToolApproval, choose("approve"));
    world.begin_tool("call_1");
    let found = world.run.calls["call_1"].committing().cloned().expect("it was tried");
    world.commit_one(&found.changeset.as_ref().expect("it is kept").changes()[0]);
    world.person(Input::Pause);
    world.crash();
    assert_eq!(world.run.undo(0), Err(NotUndone::AtWork));
    world.person(Input::Resume);
    world.work();
    assert_eq!(describe_changes(&world.run.undo(0).expect("it is done")), ["a: 1 > -", "b: 1 > -"]);
}

/// Returns a run whose commit has written `a` and then found that something else changed `b`.
fn halfway() -> World {
    let mut world = World::started(trying(), vec![calls(&[write("c")]), calls(&[command("./do a=1 b=1")])]);
    world.proposes = true;
    world.work();
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    world.decide(Kind::ToolApproval, choose("approve"));
    world.begin_tool("call_2");
    let found = world.run.calls["call_2"].committing().cloned().expect("it was tried");
    world.commit_one(&found.changeset.as_ref().expect("it is kept").changes()[0]);
    world.files.insert("b".to_owned(), "somebody else's".to_owned());
    world.crash();
    world.work();
    assert_eq!(world.open_kinds(), ["unknown_outcome"]);
    world
}

#[test]
fn a_commit_that_stopped_halfway_is_named_whatever_became_of_it() {
    for option in ["rerun", "happened", "skip"] {
        let mut world = halfway();
        world.decide(Kind::UnknownOutcome, choose_with(option, "It did."));
        let undo = released(world).run.undo(0).expect("c was written");
        assert!(
            undo.unknown.iter().any(|call| call.contains("./do a=1 b=1")),
            "{option}: {:?}",
            undo.unknown
        );
    }
}

#[test]
fn a_change_that_was_refused_after_a_conflict_is_not_named() {
    let mut world = World::started(trying(), vec![calls(&[write("c")]), calls(&[command("./do a=1")])]);
    world.proposes = true;
    world.work();
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    world.files.insert("a".to_owned(), "somebody else's".to_owned());
    world.decide(Kind::ToolApproval, choose("approve"));
    world.work();
    assert_eq!(world.run.calls["call_2"].attempt, 1, "it was begun");
    world.decide(Kind::ToolApproval, choose("reject"));
    world.work();
    let undo = world.run.undo(0).expect("c was written");
    assert_eq!((describe_changes(&undo), undo.unknown), (vec!["c: 9 > -".to_owned()], Vec::<String>::new()));
}

fn with_quorum(mut assignment: Assignment, quorum: Option<u32>) -> Assignment {
    assignment.stages[0].required = quorum.unwrap_or(1);
    assignment
}

#[test]
fn who_has_to_agree_to_the_changes_has_to_agree_to_their_undo() {
    // Approvers of each phase with the quorum, and expected approvers of the undo. The approvers of the workflow are
    // `cfo` and `cto`.
    type Names<'a> = (&'a [&'a str], Option<u32>);
    type Row<'a> = (&'a [Names<'a>], Option<Names<'a>>);
    let table: [Row<'_>; 6] = [
        (&[(&[], None)], Some((&["cfo", "cto"], None))),
        (&[(&["cfo", "cto"], Some(2))], Some((&["cfo", "cto"], Some(2)))),
        (&[(&["ceo"], Some(1))], Some((&["ceo"], Some(1)))),
        (&[(&[], None), (&["cto", "ceo"], None)], Some((&["cto"], None))),
        (&[(&["cfo", "cto"], Some(2)), (&["cto", "ceo"], None)], None),
        (&[(&["ceo"], None), (&["cto"], None)], None),
    ];
    let gate = |names: &[&str], quorum| KindGate {
        assignment: assigned(names).map(|assignment| with_quorum(assignment, quorum)),
        ..KindGate::default()
    };
    for (phases, expected) in table {
        let mut of = definition();
        of.gates.kinds.insert(Kind::ToolApproval, gate(&["cfo", "cto"], None));
        of.phases.clear();
        for (i, (names, quorum)) in phases.iter().enumerate() {
            let mut phase = one_shot(&format!("p{i}"), &[]);
            phase.kinds.insert(Kind::ToolApproval, gate(names, *quorum));
            of.phases.push(phase);
        }
        let ids = of.phases.iter().map(|phase| phase.id.clone()).collect();
        // A phase whose calls changed nothing adds no approvers to the undo.
        let mut silent = one_shot("silent", &[]);
        silent.kinds.insert(Kind::ToolApproval, gate(&["nobody"], Some(9)));
        of.phases.push(silent);
        let gate = undo::definition(&of, &ids).map(|undo| undo.gate(undo.phases.first(), Kind::ToolApproval));
        let told = gate.as_ref().ok().and_then(|gate| gate.assignment.clone());
        let expected = expected.and_then(|(names, quorum)| Some(with_quorum(assigned(names)?, quorum)));
        assert_eq!(told, expected, "{phases:?}");
        if let Ok(gate) = gate {
            assert_eq!(gate.options, ["approve", "keep_some", "reject"]);
        }
    }
}
