//! Interrupt settings of a phase, which override the interrupt settings of the workflow.

use std::collections::BTreeMap;

use holdshort_core::actor::Actor;
use holdshort_core::definition::{Control, Definition, IdeaGeneration, KindGate, Phase, PhaseKind, Planning};
use holdshort_core::interrupt::{Effect, Escalation, Kind, Reminders};
use holdshort_core::run::Input;
use serde_json::json;

use crate::world::{
    World, assigned, calls, checkpoint, choose, definition, first_approvers, one_shot, says, write,
};

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn labels(of: &[(&str, &str)]) -> BTreeMap<String, String> {
    of.iter().map(|(id, label)| ((*id).to_owned(), (*label).to_owned())).collect()
}

fn gate(expires_in_ms: u64, approver: &str, options: &[&str]) -> KindGate {
    KindGate {
        expires_in_ms: Some(expires_in_ms),
        assignment: assigned(&[approver]),
        options: texts(options),
        ..KindGate::default()
    }
}

fn remind(after_ms: u64) -> Reminders {
    Reminders { after_ms, every_ms: None, limit: 1 }
}

fn escalate(to: &str) -> Escalation {
    Escalation { after_ms: 1, approvers: texts(&[to]), ..Escalation::default() }
}

#[test]
fn a_phase_says_only_what_differs() {
    let usual = || KindGate {
        options: texts(&["approve", "reject"]),
        labels: labels(&[("approve", "Go"), ("reject", "Stop")]),
        reject: Some(Effect::EndTurn),
        respond: Some(Effect::Refuse),
        expires_in_ms: Some(1_000),
        on_expiry: Some("reject".to_owned()),
        assignment: assigned(&["ann", "ben"]),
        reminders: Some(remind(4)),
        escalation: vec![escalate("cy")],
        working_time: Some(false),
    };
    let nothing = KindGate::default;
    let table = [
        (nothing(), usual()),
        (
            KindGate { options: texts(&["reject", "edit"]), ..nothing() },
            KindGate { options: texts(&["reject", "edit"]), ..usual() },
        ),
        (
            KindGate { labels: labels(&[("reject", "Never"), ("edit", "Change")]), ..nothing() },
            KindGate {
                labels: labels(&[("approve", "Go"), ("edit", "Change"), ("reject", "Never")]),
                ..usual()
            },
        ),
        (
            KindGate { reject: Some(Effect::FailRun), ..nothing() },
            KindGate { reject: Some(Effect::FailRun), ..usual() },
        ),
        (
            KindGate { respond: Some(Effect::Respond), ..nothing() },
            KindGate { respond: Some(Effect::Respond), ..usual() },
        ),
        (KindGate { expires_in_ms: Some(5), ..nothing() }, KindGate { expires_in_ms: Some(5), ..usual() }),
        (
            KindGate { on_expiry: Some("approve".to_owned()), ..nothing() },
            KindGate { on_expiry: Some("approve".to_owned()), ..usual() },
        ),
        (
            KindGate { assignment: assigned(&["cy"]), ..nothing() },
            KindGate { assignment: assigned(&["cy"]), ..usual() },
        ),
        (
            KindGate { reminders: Some(remind(1)), working_time: Some(true), ..nothing() },
            KindGate { reminders: Some(remind(1)), working_time: Some(true), ..usual() },
        ),
        (
            KindGate { escalation: vec![escalate("dee")], ..nothing() },
            KindGate { escalation: vec![escalate("dee")], ..usual() },
        ),
    ];
    for (own, merged) in table {
        assert_eq!(own.over(usual()), merged, "{own:?}");
        assert_eq!(own.over(nothing()), own, "where the workflow says nothing");
    }
}

/// Each interrupt uses the settings of its own phase: at a checkpoint, before a step, for a call and for a plan.
#[test]
fn each_phase_has_its_own_requests() {
    let mut definition = Definition {
        phases: vec![checkpoint("look", &[]), one_shot("work", &["look"]), one_shot("ship", &["work"])],
        ..definition()
    };
    let usual =
        KindGate { expires_in_ms: Some(60_000), assignment: assigned(&["ann"]), ..KindGate::default() };
    definition.gates.kinds = BTreeMap::from([(Kind::Checkpoint, usual.clone()), (Kind::ToolApproval, usual)]);
    let [look, work, ship] = &mut definition.phases[..] else { panic!("three phases") };
    look.kinds.insert(Kind::Checkpoint, gate(3_600_000, "ben", &["reject", "approve"]));
    work.gates.before_step = true;
    let soon = KindGate { expires_in_ms: Some(1_000), ..KindGate::default() };
    work.kinds.insert(Kind::Checkpoint, soon);
    ship.gates.before_step = true;
    ship.kinds.insert(Kind::ToolApproval, gate(5_000, "cy", &["approve", "reject"]));

    let mut world = World::started(definition, vec![calls(&[write("a")]), says("Done.")])
        .with("ship", vec![calls(&[write("b")]), says("Done.")]);
    let mut asked = Vec::new();
    while let Some((kind, opened)) = {
        world.work();
        world.run.open_interrupts().next().map(|(_, each)| (each.opened.kind, each.opened.clone()))
    } {
        let options: Vec<&str> = opened.options.iter().map(|each| each.id.as_str()).collect();
        let left = opened.expires_at.map(|at| at.ms_since(world.now));
        asked.push(format!(
            "{:?} {left:?} {:?} {}",
            opened.about,
            first_approvers(&opened),
            options.join(" ")
        ));
        let who = Actor { id: first_approvers(&opened)[0].clone(), ..Actor::operator("rest") };
        let decides =
            Input::Decide { interrupt: world.open(kind), decision: choose("approve"), holder: None };
        assert!(world.handle(&Actor::operator("rest"), decides.clone()).is_err(), "nobody else may");
        world.try_send(&who, decides).expect("they may");
    }
    assert_eq!(
        asked,
        [
            r#"Phase("look") Some(3600000) ["ben"] reject approve"#,
            r#"BeforeStep("work") Some(1000) ["ann"] approve edit skip reject"#,
            r#"Call("call_1") Some(60000) ["ann"] approve approve_session edit respond reject"#,
            r#"BeforeStep("ship") Some(60000) ["ann"] approve edit skip reject"#,
            r#"Call("call_2") Some(5000) ["cy"] approve reject"#,
        ],
    );
}

/// The interrupt about a plan uses the settings of the planning phase, even if a later phase is carrying out the plan.
#[test]
fn a_plan_has_the_gate_of_the_phase_that_plans() {
    let mut definition = definition();
    definition.agents.insert("planner".to_owned(), definition.agents["pair"].clone());
    let [planning, control, _] = kinds();
    definition.phases = vec![
        Phase { kind: planning, ..one_shot("plan", &[]) },
        Phase { kind: control, ..one_shot("work", &["plan"]) },
    ];
    definition.phases[0].kinds.insert(Kind::PlanApproval, gate(9_000, "operator", &[]));
    definition.phases[1].kinds.insert(Kind::PlanApproval, gate(1_000, "other", &[]));
    let plan = json!({ "subtasks": [{ "id": "a", "description": "do a" }] });
    let mut world = World::started(definition, Vec::new()).with("plan/plan", vec![says(&plan.to_string())]);
    world.work();
    world.decide(Kind::PlanApproval, choose("approve"));
    let more = json!({ "subtasks": [
        { "id": "a", "description": "do a" }, { "id": "b", "description": "do b", "depends_on": ["a"] },
    ] });
    world.person(Input::Replan { phase: "plan".to_owned(), version: None, plan: more });
    let opened = &world.run.interrupts[&world.open(Kind::PlanApproval)].opened;
    assert_eq!(
        (opened.expires_at, first_approvers(opened)),
        (Some(world.now.plus_ms(9_000)), texts(&["operator"]))
    );
}

fn kinds() -> [PhaseKind; 3] {
    let planner = "planner".to_owned();
    [
        PhaseKind::Planning(Planning {
            planner: planner.clone(),
            improver: None,
            reviewer: None,
            reviews: 0,
            iterations: 3,
            settles: false,
            agents: texts(&["pair"]),
            always_asks: false,
            optional: false,
        }),
        PhaseKind::Control(Control { plan: "plan".to_owned(), agent: "pair".to_owned(), only: None }),
        PhaseKind::IdeaGeneration(IdeaGeneration {
            maker: planner.clone(),
            critic: planner,
            ideas: 1,
            reviews: 0,
        }),
    ]
}

#[test]
fn what_a_phase_may_open_follows_from_its_kind() {
    let [planning, control, ideas] = kinds();
    let never = |kind: &PhaseKind| {
        let never = Kind::ALL.into_iter().filter(|each| !kind.opens(*each));
        never.map(Kind::as_str).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        [one_shot("a", &[]).kind, control, planning, ideas, checkpoint("a", &[]).kind]
            .map(|kind| never(&kind)),
        [
            "choice turn",
            "choice turn",
            "checkpoint choice turn",
            "checkpoint choice turn",
            "tool_approval plan_approval error question choice turn escalation review continuation client_call \
             unknown_outcome",
        ],
    );
}

/// A definition without settings for kinds in phases is serialised as before, so that stored definitions keep their
/// digests.
#[test]
fn a_phase_without_gates_of_its_own_is_written_as_ever() {
    let definition = definition();
    let written = json!(definition);
    assert_eq!(written.pointer("/phases/0/kinds"), None);
    assert_eq!(serde_json::from_value::<Definition>(written).ok(), Some(definition));
}
