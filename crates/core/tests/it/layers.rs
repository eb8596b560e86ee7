//! The two approval layers of MARS: gates around steps, and gates within the conversation (contracts A1, A2, A14).

use holdshort_core::definition::{
    Agent, Control, Definition, EndCondition, Judge, Phase, PhaseKind, PlanGate, Planning, Smart, StepGates,
};
use holdshort_core::interrupt::Kind;
use holdshort_core::policy::Checkpoint;
use holdshort_core::projection::Status;
use holdshort_core::run::Config;

use crate::world::{
    World, allow, calls, choose, choose_with, command, definition, one_shot, read, says, write,
};

const PLAN: &str = r#"{"subtasks": [{"id": "a", "description": "write the config"}]}"#;

/// Returns a workflow that allows every call of its planner and engineer, so that only gates around steps and
/// checkpoints ask.
fn free() -> Definition {
    let mut definition = definition();
    let agent = Agent {
        instructions: "Plan.".to_owned(),
        asking_instructions: None,
        model: None,
        tools: Vec::new(),
        ends: EndCondition::Reply,
    };
    definition.agents.insert("planner".to_owned(), agent);
    let planning = Planning {
        planner: "planner".to_owned(),
        improver: None,
        reviewer: None,
        reviews: 0,
        iterations: 3,
        agents: vec!["pair".to_owned()],
        settles: false,
        always_asks: false,
        optional: false,
    };
    let control = Control { plan: "plan".to_owned(), agent: "pair".to_owned(), only: None };
    definition.phases = vec![
        Phase { kind: PhaseKind::Planning(planning), ..one_shot("plan", &[]) },
        Phase { kind: PhaseKind::Control(control), ..one_shot("work", &["plan"]) },
    ];
    definition.gates.plan = PlanGate::Show;
    definition.gates.rules = vec![allow(&["*"])];
    definition
}

/// Returns the config of a run for these values of `approval_mode` and the hand-off settings of MARS.
fn config(mode: &str, handoffs: bool, mandatory: &[Checkpoint], smart: bool) -> Config {
    let mut config = Config::default();
    config.gates.before_step = matches!(mode, "before_step" | "both");
    config.gates.after_step = matches!(mode, "after_step" | "both");
    if handoffs {
        config.gates.mandatory = mandatory.iter().copied().collect();
        let words = Smart { keywords: vec!["config".to_owned()], judge: Judge::Off };
        config.gates.smart = smart.then_some(words);
    }
    config
}

/// Approves every interrupt of the run. Returns kind, position and reason codes of the opened interrupts, in order.
fn approve_all(mut world: World) -> Vec<String> {
    let mut asked = Vec::new();
    for _ in 0..20 {
        world.work();
        let Some((_, interrupt)) = world.run.open_interrupts().next() else { break };
        let kind = interrupt.opened.kind;
        let position = interrupt.content.pointer("/payload/position").and_then(|each| each.as_str());
        let why = interrupt.opened.risk.reasons.iter().map(|reason| reason.code.as_str());
        let words: Vec<&str> = std::iter::once(kind.as_str()).chain(position).chain(why).collect();
        asked.push(words.join(" "));
        let option = if position == Some("after_step") { "continue" } else { "approve" };
        world.decide(kind, choose(option));
    }
    assert_eq!(world.run.status(), Status::Completed, "{:#?}", world.story());
    asked
}

/// A test case: the MARS settings `approval_mode`, `use_ag2_handoffs`, `ag2_mandatory_checkpoints` and
/// `ag2_smart_approval`, and the expected interrupts.
type Row<'a> = (&'a str, bool, &'a [Checkpoint], bool, &'a [&'a str]);

/// Each approval layer works the same with the other layer on or off (contract A2).
#[test]
fn each_layer_fires_by_itself() {
    use Checkpoint::{AfterPlanning, BeforeDeploy, BeforeFileEdit};
    const BEFORE: &str = "checkpoint before_step";
    const AFTER: &str = "checkpoint after_step";
    const PLANNED: &str = "plan_approval after_planning";
    const RISKY_PLAN: &str = "plan_approval keyword";
    let table: &[Row<'_>] = &[
        ("never", false, &[], false, &[]),
        ("never", false, &[AfterPlanning, BeforeFileEdit], true, &[]),
        ("before_step", false, &[BeforeFileEdit], true, &[BEFORE]),
        ("after_step", false, &[], false, &[AFTER]),
        ("both", false, &[], false, &[BEFORE, AFTER]),
        ("never", true, &[], false, &[]),
        ("never", true, &[AfterPlanning], false, &[PLANNED]),
        ("never", true, &[BeforeFileEdit], false, &["tool_approval before_file_edit"]),
        ("never", true, &[BeforeDeploy], false, &[]),
        ("never", true, &[], true, &[RISKY_PLAN, "tool_approval keyword"]),
        ("before_step", true, &[], true, &[RISKY_PLAN, BEFORE, "tool_approval keyword"]),
        ("before_step", true, &[BeforeFileEdit], false, &[BEFORE, "tool_approval before_file_edit"]),
        // Two reasons to ask about the same call open a single interrupt.
        (
            "before_step",
            true,
            &[BeforeFileEdit],
            true,
            &[RISKY_PLAN, BEFORE, "tool_approval before_file_edit keyword"],
        ),
        (
            "both",
            true,
            &[AfterPlanning, BeforeFileEdit],
            true,
            &[
                "plan_approval after_planning keyword",
                BEFORE,
                "tool_approval before_file_edit keyword",
                AFTER,
            ],
        ),
    ];
    for (mode, handoffs, mandatory, smart, expected) in table {
        let mut world = World::new(free())
            .with("plan/plan", vec![says(PLAN)])
            .with("work/a", vec![calls(&[write("config.yaml")]), says("Done.")]);
        world.start(config(mode, *handoffs, mandatory, *smart));
        assert_eq!(approve_all(world), *expected, "{mode} {handoffs} {mandatory:?} {smart}");
    }
}

/// A run can add checkpoints to those of its workflow, but remove none.
#[test]
fn a_run_adds_checkpoints() {
    let mut definition = free();
    definition.gates.mandatory.insert(Checkpoint::AfterPlanning);
    let mut world = World::new(definition)
        .with("plan/plan", vec![says(PLAN)])
        .with("work/a", vec![calls(&[command("make release"), write("config.yaml")]), says("Done.")]);
    world.start(config("never", true, &[Checkpoint::BeforeDeploy], false));
    assert_eq!(approve_all(world), ["plan_approval after_planning", "tool_approval before_deploy deploys"]);
}

/// With `after_step: unless_clean`, a step without failures needs no approval (contract A14,
/// `auto_approve_successful_steps`).
#[test]
fn a_clean_step_is_let_through() {
    let after = |gates: StepGates, config: Config, script| {
        let mut definition = definition();
        definition.phases[0].gates = gates;
        definition.gates.rules = vec![allow(&["*"])];
        let mut world = World::new(definition).with("work", script);
        world.start(config);
        world.work();
        world
    };
    let clean = || vec![calls(&[command("make")]), says("Done."), says("Done again.")];
    let failing = || vec![calls(&[command("false")]), says("Done."), says("Done again.")];
    let gates = StepGates { after_step: true, unless_clean: true, ..StepGates::default() };
    let asks = |world: &World| !world.open_kinds().is_empty();

    assert!(!asks(&after(gates, Config::default(), clean())));
    let mut sent_back = after(gates, Config::default(), failing());
    assert!(asks(&sent_back));
    sent_back.decide(Kind::Checkpoint, choose_with("redo", "once more"));
    sent_back.work();
    assert!(asks(&sent_back), "who sent it back sees what came of it");
    // A gate that the run adds asks even after a step without failures.
    assert!(asks(&after(gates, config("after_step", false, &[], false), clean())));
    // A failure that a tool reports makes a step unclean.
    let unread = vec![calls(&[read("nowhere")]), says("Done.")];
    assert!(asks(&after(gates, Config::default(), unread)));
}
