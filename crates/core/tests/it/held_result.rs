//! A phase that is a single call without a model. The tool holds its result back until a person releases it.

use holdshort_core::definition::{Definition, KindGate, PhaseKind, StepGates};
use holdshort_core::digest::Digest;
use holdshort_core::envelope;
use holdshort_core::interrupt::Kind;
use holdshort_core::policy::RuleAction;
use holdshort_core::projection::Status;
use holdshort_core::run::{Config, Input};
use holdshort_core::tool::{Category, Effect as Does, OnCrash, Runs, Spec};
use serde_json::{Value, json};

use crate::world::{World, allow, choose, choose_with, definition, edit, one_shot, phase, rule, says};

const REPORT: &str = "# Report\n\n- F1: customer 3\n";

/// Returns a workflow with three phases: an agent, a report, and a second agent.
fn reporting() -> Definition {
    let mut definition = definition();
    let spec = Spec {
        name: "held_report".to_owned(),
        description: String::new(),
        parameters: json!({ "type": "object", "properties": {}, "additionalProperties": false }),
        runs: Runs::Here { effect: Does::Read, category: Category::ReadOnly, on_crash: OnCrash::Rerun },
    };
    definition.tools.insert(spec.name.clone(), spec);
    let call = PhaseKind::Call { tool: "held_report".to_owned(), agent: Some("pair".to_owned()) };
    definition.phases =
        vec![one_shot("work", &[]), phase("release", &["work"], call), one_shot("after", &["release"])];
    definition.gates.rules = vec![allow(&["held_report"])];
    definition.gates.kinds =
        [(Kind::Review, KindGate { expires_in_ms: Some(3_600_000), ..KindGate::default() })].into();
    definition.result = Some("release".to_owned());
    definition
}

fn started(definition: Definition) -> World {
    let mut world = World::new(definition)
        .with("work", vec![says("I checked everything, and nothing needs a look.")])
        .with("after", vec![says("It is released.")]);
    world.files.insert("report".to_owned(), REPORT.to_owned());
    world.start(Config::default());
    world
}

fn held() -> World {
    let mut world = started(reporting());
    world.work();
    world
}

fn fact_of(world: &World, kind: &str) -> Value {
    let event = world.log.iter().find(|event| event.fact.encode().0 == kind).expect(kind);
    event.fact.encode().1
}

#[test]
fn the_run_makes_the_call_whatever_the_agent_said() {
    let world = held();
    assert_eq!(world.run.status(), Status::Waiting);
    let expected = [
        "phase_started release",
        "step_started release",
        "call_made call_1",
        "tool_inspected call_1",
        "tool_authorised call_1 gate",
        "tool_started call_1",
        "result_held call_1",
        "interrupt_opened review",
    ];
    let story = world.story();
    assert_eq!(story[story.len() - expected.len()..], expected);
    let shown = &world.run.interrupts[&world.open(Kind::Review)];
    let digest = Digest::of_bytes(REPORT.as_bytes());
    assert_eq!(shown.content["payload"]["content"], REPORT);
    assert_eq!(shown.content["payload"]["findings"], json!(["sanctions: F1"]));
    assert_eq!(shown.opened.action_digest, Some(digest));
    assert_eq!(shown.opened.agent.as_deref(), Some("pair"));
    assert_eq!(fact_of(&world, "result_held")["digest"], json!(digest));
    // Later phases do not get a result that is still held.
    assert_eq!(world.run.calls["call_1"].result, None);
    assert!(!world.run.phases.contains_key("after"));
}

#[test]
fn what_is_released_is_what_was_shown() {
    let mut world = held();
    // The tool would return a different result now. The result that was shown is released.
    world.files.insert("report".to_owned(), "# Another\n".to_owned());
    let told = world.decide(Kind::Review, choose_with("approve", "Send it on Monday."));
    let expected = [
        "decision_made approve",
        "interrupt_resolved approved approve",
        "output_released call_1",
        "tool_finished call_1 done released",
        "note_added",
        "step_ended completed",
        "phase_ended completed release",
        "phase_started after",
        "step_started after",
    ];
    assert_eq!(told, expected);
    assert_eq!(fact_of(&world, "output_released")["digest"], json!(Digest::of_bytes(REPORT.as_bytes())));
    assert_eq!(world.run.calls["call_1"].outcome, json!({ "own": 1 }));
    // The agent of the next phase gets the report and the reviewer's comment.
    let request =
        serde_json::to_string(&world.run.request("after").expect("a request").messages).expect("JSON");
    assert!(request.contains("F1: customer 3") && request.contains("Send it on Monday."), "{request}");
    world.work();
    let ended = world.run.ended.as_ref().expect("it ended");
    assert_eq!(ended.status, Status::Completed);
    let result = &world.log.last().expect("an event").content.data;
    assert_eq!(result["text"], REPORT);
    assert_eq!(result["phases"]["after"], "It is released.");
    assert_eq!(result["released"], json!([{ "title": "The report", "content": REPORT }]));
}

#[test]
fn a_rejection_fails_the_run_with_the_reason() {
    let mut world = held();
    world.decide(Kind::Review, choose_with("reject", "The rows are wrong."));
    let ended = world.run.ended.as_ref().expect("it ended");
    assert_eq!((ended.status, ended.reason.as_str()), (Status::Failed, "rejected"));
    assert_eq!(world.why(), Some("`The report` was not released: The rows are wrong."));
    assert_eq!(world.count("output_released"), 0);
}

#[test]
fn expiry_fails_the_run_and_is_no_rejection() {
    let mut world = held();
    world.pass_ms(3_600_001);
    world.send(Input::Tick);
    let ended = world.run.ended.as_ref().expect("it ended");
    assert_eq!((ended.status, ended.reason.as_str()), (Status::Failed, "expired"));
    assert_eq!(world.why(), Some("nobody released the output in time"));
}

#[test]
fn an_edit_is_what_is_released_where_it_is_on_offer() {
    let mut world = held();
    world.decide(Kind::Review, edit(json!("# Shorter\n")));
    let released = fact_of(&world, "output_released");
    assert_eq!(
        (&released["edited"], &released["digest"]),
        (&json!(true), &json!(Digest::of_bytes(b"# Shorter\n")))
    );
    assert_eq!(world.run.calls["call_1"].result.as_deref(), Some("# Shorter\n"));
    // The tool's data describes the tool's text. An edit replaces the text, so the data is dropped.
    assert_eq!(world.run.calls["call_1"].outcome, Value::Null);
}

/// A rule that allowed the call does not release its held result.
#[test]
fn a_changed_policy_releases_nothing() {
    let mut world = held();
    let interrupt = world.open(Kind::Review);
    world.send(Input::Revote);
    assert_eq!(world.open(Kind::Review), interrupt);
}

#[test]
fn a_crash_repeats_nothing_and_asks_once() {
    let mut world = held();
    let before = world.story();
    world.crash();
    world.work();
    assert_eq!(world.story(), before);
    // The call only reads, so it is repeated after a crash.
    let mut world = started(reporting());
    while !world.story().iter().any(|told| told == "tool_authorised call_1 gate") {
        world.work_once().expect("something to do");
    }
    world.begin_tool("call_1");
    world.crash();
    world.work();
    assert_eq!(world.count("interrupt_opened"), 1);
}

/// The run fails if the call of the phase fails or is refused.
#[test]
fn a_call_that_is_not_done_fails_the_run() {
    let mut definition = reporting();
    definition.gates.rules = vec![rule(RuleAction::Forbid, &["held_report"], &[])];
    let mut world = started(definition);
    world.work();
    let ended = world.run.ended.as_ref().expect("it ended");
    assert_eq!((ended.status, ended.reason.as_str()), (Status::Failed, "call_failed"));

    // The gates ask about the call as about every other call. A person gives the result as text instead.
    let mut definition = reporting();
    definition.gates.rules = Vec::new();
    let mut world = started(definition);
    world.work();
    world.decide(Kind::ToolApproval, choose_with("respond", "Take this as the report."));
    assert_eq!(world.run.ended.as_ref().map(|ended| ended.reason.as_str()), Some("call_failed"));

    // A person interrupts the run while the result of the call is held.
    let mut world = held();
    world.person(Input::Interrupt { text: Some("Go on without it.".to_owned()) });
    world.work();
    assert_eq!(world.run.ended.as_ref().map(|ended| ended.reason.as_str()), Some("call_failed"));
}

/// Gates around steps do not apply to a phase that is a single call, so that the call cannot be skipped.
#[test]
fn no_gate_stands_around_it() {
    let mut definition = reporting();
    for phase in &mut definition.phases {
        phase.gates =
            StepGates { before_step: true, after_step: true, on_error: true, ..StepGates::default() };
    }
    let mut world = started(definition);
    world.work();
    world.decide(Kind::Checkpoint, choose("approve"));
    world.work();
    world.decide(Kind::Checkpoint, choose("continue"));
    world.work();
    assert_eq!(world.open_kinds(), ["review"]);
    world.decide(Kind::Review, choose("approve"));
    assert_eq!(world.open_kinds(), ["checkpoint"]);
}

#[test]
fn erased_content_is_not_released() {
    let mut world = held();
    for event in &mut world.log {
        if event.fact.encode().0 == "result_held" {
            event.content = envelope::Content::none();
        }
    }
    let mut replayed = World::new(reporting());
    replayed.now = world.now;
    replayed.append(world.log.clone());
    let interrupt = replayed.open(Kind::Review);
    replayed.person(Input::Decide { interrupt, decision: choose("approve"), holder: None });
    assert_eq!(replayed.run.ended.as_ref().map(|ended| ended.reason.as_str()), Some("internal"));
    assert_eq!(replayed.count("output_released"), 0);
}
