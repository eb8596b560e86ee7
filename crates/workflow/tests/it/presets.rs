//! Interrupts of each preset, for the same team and the same plan with a failing command.

use holdshort_core::asking::Asking;
use holdshort_core::definition::{PlanGate, StepGates};
use holdshort_core::message::Reply;
use holdshort_workflow::{Library, PRESETS};
use serde_json::json;

use crate::catalogue::catalogue;
use crate::stage::{Stage, calls, finishes, hands, plans, says};

/// Plays the workflow of a preset: a subtask without an agent, and a subtask of the engineer with a failing command.
/// The person agrees to everything.
fn played(preset: &str) -> (Vec<String>, String) {
    let plan = plans(&["look", "build@engineer"]);
    let planner = [plan.clone(), plan];
    let engineer = [calls("run_command", json!({ "command": "false" })), finishes("It does not build.")];
    let script: [(&str, &[Reply]); 5] = [
        ("planner", &planner),
        ("plan_reviewer", &[says("Good.")]),
        ("control", &[hands("researcher", "Look at it.")]),
        ("researcher", &[says("It is small.")]),
        ("engineer", &engineer),
    ];
    let definition = Library::new(&catalogue(), &[], &holdshort_core::people::Deciders::local(), vec![])
        .unwrap()
        .get(preset)
        .unwrap();
    let mut stage = Stage::new(definition, &script);
    let mut chain = vec![stage.chain()];
    while let Some(option) = stage.agrees() {
        chain.push(stage.decide(option, ""));
    }
    (chain, stage.ended())
}

#[test]
fn what_stops_and_what_does_not() {
    let table: [(&str, &[&str]); 5] = [
        ("autonomous", &["planner plan_reviewer planner control researcher engineer engineer"]),
        (
            "error_recovery",
            &["planner plan_reviewer planner control researcher engineer (error)", "engineer"],
        ),
        (
            "full_interactive",
            &[
                "planner plan_reviewer planner (plan_approval)",
                "(checkpoint)",
                "control researcher (checkpoint)",
                "(checkpoint)",
                "engineer (error)",
                "engineer (checkpoint)",
                "",
            ],
        ),
        (
            "review_plan",
            &["planner plan_reviewer planner (plan_approval)", "control researcher engineer engineer"],
        ),
        (
            "step_by_step",
            &[
                "planner plan_reviewer planner (plan_approval)",
                "(checkpoint)",
                "control researcher (checkpoint)",
                "engineer engineer",
            ],
        ),
    ];
    for (preset, expected) in table {
        let (chain, ended) = played(preset);
        assert_eq!(
            (chain, ended.as_str()),
            (expected.iter().map(|each| (*each).to_owned()).collect(), "completed done"),
            "{preset}"
        );
    }
    assert_eq!(table.map(|(preset, _)| preset), PRESETS.each_ref().map(|preset| preset.name));
}

/// A preset differs from the base only in its gates, and in settings that its gates need.
#[test]
fn a_preset_is_the_base_with_other_gates() {
    let library =
        Library::new(&catalogue(), &[], &holdshort_core::people::Deciders::local(), vec![]).unwrap();
    let base = library.get("autonomous").unwrap();
    for preset in &PRESETS[1..] {
        let mut definition = (*library.get(preset.name).unwrap()).clone();
        assert_eq!((definition.name.as_str(), definition.asking.enabled), (preset.name, true));
        assert!(definition.agents["engineer"].tools.contains(&"ask_human".to_owned()), "it may ask");
        assert_eq!(definition.gates.rules, base.gates.rules, "what is not named stays");
        definition.name.clone_from(&base.name);
        definition.description.clone_from(&base.description);
        definition.asking = Asking { enabled: false, ..Asking::default() };
        assert!(definition.gates.trial, "who may be asked decides on what a command did");
        definition.gates.trial = false;
        definition.gates.plan = PlanGate::Show;
        definition.phases.iter_mut().for_each(|phase| phase.gates = StepGates::default());
        definition.agents.clone_from(&base.agents);
        definition.tools.clone_from(&base.tools);
        assert_eq!(definition, *base);
    }
}
