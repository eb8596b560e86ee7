//! Phases: their order, the results that they pass to later phases, and the result of the run.

use holdshort_core::definition::{CheckpointPhase, Definition, NoChannel, Phase, PhaseKind};
use holdshort_core::interrupt::Kind;
use holdshort_core::message::Message;
use holdshort_core::projection::Status;
use holdshort_core::run::{Config, Input};
use serde_json::json;

use crate::world::{World, calls, checkpoint, choose, choose_with, definition, edit, one_shot, says, write};

fn phased(phases: Vec<Phase>) -> Definition {
    Definition { phases, ..definition() }
}

fn task(world: &World, step: &str) -> String {
    match &world.run.request(step).expect("the step has started").messages[1] {
        Message::User { text } => text.clone(),
        other => panic!("the task comes first, not {other:?}"),
    }
}

fn at_work(world: &World) -> Vec<&str> {
    world.run.phases.iter().filter(|(_, end)| end.is_none()).map(|(id, _)| id.as_str()).collect()
}

#[test]
fn phases_start_when_what_they_need_has_ended() {
    let phases = vec![
        one_shot("a", &[]),
        one_shot("b", &[]),
        one_shot("c", &["a", "b"]),
        one_shot("d", &["a"]),
        one_shot("e", &["c", "d"]),
    ];
    let mut world = World::started(phased(phases), Vec::new());
    let mut say = |step: &str| {
        world.script.entry(step.to_owned()).or_default().push_back(says(&format!("{step} is done.")));
        world.work();
        at_work(&world).join(" ")
    };
    assert_eq!(["a", "b", "d", "c", "e"].map(&mut say), ["b d", "c d", "c", "e", ""]);
    assert_eq!(
        world.run.ended.map(|ended| ended.result.clone()),
        Some(json!({
            "text": "e is done.",
            "phases": {
                "a": "a is done.", "b": "b is done.", "c": "c is done.", "d": "d is done.", "e": "e is done.",
            },
            "released": [],
        })),
    );
}

#[test]
fn so_many_phases_work_at_once() {
    let mut definition = phased((0..6).map(|i| one_shot(&i.to_string(), &[])).collect());
    definition.limits.parallel = 2;
    let mut world = World::started(definition, Vec::new());
    assert_eq!(at_work(&world), ["0", "1"]);
    world.script.insert("1".to_owned(), [says("Done.")].into());
    world.work();
    assert_eq!(at_work(&world), ["0", "2"]);
}

/// A run in which no phase can start fails with the reason `no_phase_can_start`.
#[test]
fn a_run_that_can_not_go_on_fails() {
    let dead = phased(vec![one_shot("a", &["nowhere"])]);
    let circle = phased(vec![one_shot("a", &[]), one_shot("b", &["c"]), one_shot("c", &["b"])]);
    let mut no_room = phased(vec![one_shot("a", &[])]);
    no_room.limits.parallel = 0;
    for definition in [dead, circle, no_room] {
        let mut world = World::started(definition, Vec::new()).with("a", vec![says("Done.")]);
        world.work();
        let reason = world.run.ended.as_ref().map(|ended| (ended.status, ended.reason.as_str()));
        assert_eq!(reason, Some((Status::Failed, "no_phase_can_start")));
    }
}

#[test]
fn results_and_a_phases_own_words_are_handed_on() {
    let mut phases = vec![one_shot("plan", &[]), one_shot("note", &[]), one_shot("work", &["plan", "note"])];
    phases[2].input = Some("Follow the plan.\n".to_owned());
    let mut world = World::started(phased(phases), Vec::new())
        .with("plan", vec![says("First this, then that.")])
        .with("note", vec![says("Mind the gap.")]);
    world.work();
    assert_eq!(
        task(&world, "work"),
        "Do it\n\nFollow the plan.\n\nResult of `plan`:\nFirst this, then that.\n\nResult of `note`:\nMind the gap.",
    );
}

#[test]
fn a_checkpoint_shows_the_results_and_stops_what_needs_it() {
    let phases =
        vec![one_shot("a", &[]), checkpoint("look", &["a"]), one_shot("b", &["look"]), one_shot("c", &["a"])];
    let started =
        || World::started(phased(phases.clone()), Vec::new()).with("a", vec![says("Look at this.")]);
    let mut world = started();
    world.work();
    let shown = world.run.interrupts[&world.open(Kind::Checkpoint)].content["payload"].clone();
    assert_eq!(
        (at_work(&world), world.run.status(), shown),
        (
            vec!["c", "look"],
            Status::Running,
            json!({ "position": "phase", "phase": "look", "results": { "a": "Look at this." } }),
        ),
        "what does not need it goes on",
    );
    world.decide(Kind::Checkpoint, choose("approve"));
    assert_eq!(at_work(&world), ["b", "c"]);

    let mut world = started();
    world.work();
    world.decide(Kind::Checkpoint, choose_with("reject", "wrong"));
    let ended = world.run.ended.as_ref().map(|ended| (ended.status, ended.reason.as_str()));
    assert_eq!(
        (ended, world.why()),
        (Some((Status::Failed, "rejected")), Some("checkpoint `look` was rejected: wrong")),
    );
}

/// At the gate before a step, a person can approve the step, replace its input, or skip it without a model call.
#[test]
fn a_gate_before_a_step() {
    let definition = || {
        let mut definition = phased(vec![one_shot("work", &[]), one_shot("next", &["work"])]);
        definition.phases[0].gates.before_step = true;
        definition
    };
    let mut world = World::started(definition(), vec![says("Done.")]);
    assert_eq!((world.run.actions(), world.run.status()), (Vec::new(), Status::Waiting));
    world.decide(Kind::Checkpoint, edit(json!("Do that instead")));
    assert_eq!(task(&world, "work"), "Do that instead");

    let mut world = World::started(definition(), vec![says("Done.")]);
    world.decide(Kind::Checkpoint, choose("skip"));
    assert_eq!((at_work(&world), world.count("model_started")), (vec!["next"], 0));

    let mut world = World::started(definition(), Vec::new());
    let bad = world.run.open_interrupts().next().map(|(id, _)| id.clone()).expect("it asks");
    let bad = Input::Decide { interrupt: bad, decision: edit(json!({ "not": "a text" })), holder: None };
    assert!(world.try_send(&holdshort_core::actor::Actor::operator("rest"), bad).is_err());
}

/// The config of a run can add gates to those of the workflow, but remove none.
#[test]
fn a_run_adds_gates() {
    let mut config = Config::default();
    config.gates.before_step = true;
    config.gates.after_step = true;
    let mut world = World::new(definition()).with("work", vec![says("Done.")]);
    world.start(config);
    assert_eq!(world.open_kinds(), ["checkpoint"]);
    world.decide(Kind::Checkpoint, choose("approve"));
    world.work();
    assert_eq!(world.open_kinds(), ["checkpoint"]);

    let mut shown = definition();
    shown.gates.plan = holdshort_core::definition::PlanGate::Show;
    let plan = ("create_plan", json!({ "subtasks": [{ "id": "1", "description": "do" }] }));
    for (asks, expected) in [(false, Vec::new()), (true, vec!["plan_approval"])] {
        let mut config = Config::default();
        config.gates.plan = asks;
        let mut world =
            World::new(shown.clone()).with("work", vec![calls(std::slice::from_ref(&plan)), says("Done.")]);
        world.start(config);
        world.work();
        assert_eq!(world.open_kinds(), expected);
    }
}

#[test]
fn a_limit_of_one_phase_is_its_own() {
    let mut phases = vec![one_shot("work", &[]), one_shot("next", &["work"])];
    phases[0].limits.rounds = 1;
    let mut world = World::started(phased(phases), vec![calls(&[crate::world::read("a")])]);
    world.work();
    world.decide(Kind::Continuation, choose("finish"));
    assert_eq!(
        (at_work(&world), task(&world, "next")),
        (vec!["next"], "Do it\n\nResult of `work`:\nI will.\n\nStopped at its limit of 1 round.".to_owned())
    );
}

/// While one step waits for a person, another works. The run is `waiting` once no step can continue.
#[test]
fn a_run_waits_when_nothing_else_can() {
    let phases = vec![one_shot("a", &[]), one_shot("b", &[])];
    let mut world = World::started(phased(phases), Vec::new())
        .with("a", vec![calls(&[write("x")])])
        .with("b", vec![calls(&[write("y")])]);
    world.work_once();
    world.work_once();
    assert_eq!((world.open_kinds().len(), world.run.status()), (1, Status::Running));
    world.work();
    assert_eq!((world.open_kinds().len(), world.run.status()), (2, Status::Waiting));
    let row = world.run.row().expect("it has started");
    assert_eq!((row.runnable, row.deadline), (false, None), "a parked run costs a row");
}

#[test]
fn a_workflow_knows_its_kinds_of_phase() {
    let kinds = [one_shot("a", &[]).kind, checkpoint("b", &[]).kind];
    assert!(matches!(kinds, [PhaseKind::OneShot { .. }, PhaseKind::Checkpoint { .. }]));
}

/// Contracts A12, E8: the approval of a checkpoint that asks nobody is recorded in the journal.
#[test]
fn a_checkpoint_that_asks_nobody_is_written_down_as_approved() {
    let mut definition = definition();
    let look = CheckpointPhase { message: "Look.".to_owned(), unasked: true, ..CheckpointPhase::default() };
    definition.phases.insert(0, Phase { kind: PhaseKind::Checkpoint(look), ..one_shot("look", &[]) });
    definition.phases[1].needs = vec!["look".to_owned()];
    let world = World::started(definition, Vec::new());
    assert_eq!(
        world.story()[1..6],
        [
            "phase_started look",
            "interrupt_opened checkpoint",
            "interrupt_resolved approved approve",
            "phase_ended completed look",
            "phase_started work",
        ],
    );
}

/// An unattended run approves a checkpoint automatically only if its workflow allows it, and otherwise waits for a
/// person (contract E8).
#[test]
fn a_checkpoint_passes_by_itself_only_where_run_and_workflow_say_so() {
    for (when_no_channel, unattended, passes) in [
        (NoChannel::Park, false, false),
        (NoChannel::Park, true, false),
        (NoChannel::Auto, false, false),
        (NoChannel::Auto, true, true),
    ] {
        let mut definition = definition();
        let look =
            CheckpointPhase { message: "Look.".to_owned(), when_no_channel, ..CheckpointPhase::default() };
        definition.phases.insert(0, Phase { kind: PhaseKind::Checkpoint(look), ..one_shot("look", &[]) });
        definition.phases[1].needs = vec!["look".to_owned()];
        let mut world = World::new(definition);
        world.start(Config { unattended, ..Config::default() });
        let resolved = "interrupt_resolved approved approve";
        assert_eq!(world.story().contains(&resolved.to_owned()), passes, "{when_no_channel:?} {unattended}");
        assert_eq!(world.run.open_interrupts().count(), usize::from(!passes));
    }
}

/// A change that a person requests at a checkpoint reaches the agents of later phases (contract A12).
#[test]
fn a_checkpoint_may_take_what_is_to_be_different() {
    let mut definition = definition();
    let look = CheckpointPhase { message: "Look.".to_owned(), edit: true, ..CheckpointPhase::default() };
    definition.phases.insert(0, Phase { kind: PhaseKind::Checkpoint(look), ..one_shot("look", &[]) });
    definition.phases[1].needs = vec!["look".to_owned()];
    let mut world = World::started(definition, Vec::new());
    world.decide(Kind::Checkpoint, edit(json!({ "dates": "ISO" })));
    let heard = format!("{:?}", world.run.request("work").expect("it has started").messages);
    assert!(heard.contains("to be different") && heard.contains("ISO"), "{heard}");
}
