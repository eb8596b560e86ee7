//! Random workflows. The workflows have phases, gates, limits, rules and expiries, and use the tools that really exist.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use holdshort_core::asking::Asking;
use holdshort_core::definition::{
    Agent, CheckpointPhase, Control, Definition, EXTERNAL, EndCondition, Gates, Judge, KindGate, Limits,
    Phase, PhaseKind, PlanGate, Planning, Smart, StepGates,
};
use holdshort_core::handoff;
use holdshort_core::interrupt::{self, Assignment, Kind};
use holdshort_core::policy::{ChangeScope, GrantCovers, Rule, RuleAction};
use holdshort_core::tool::{Category, Effect, Runs, Spec};
use serde_json::json;

use super::choices::Choices;
use super::copilots::ROUTER;

pub(super) const PLANNER: &str = "planner";
const TOOLS: [&str; 6] =
    ["read_file", "write_file", "run_command", "ask_human", "create_plan", "request_review"];

const REJECTS: [interrupt::Effect; 3] =
    [interrupt::Effect::Refuse, interrupt::Effect::EndTurn, interrupt::Effect::FailRun];

pub(super) fn random(choices: &mut Choices) -> Arc<Definition> {
    static SPECS: LazyLock<BTreeMap<String, Spec>> = LazyLock::new(|| {
        let all = holdshort_tools::catalogue(&[]).into_iter();
        all.filter(|spec| TOOLS.contains(&&*spec.name)).map(|spec| (spec.name.clone(), spec)).collect()
    });
    let asking = Asking { enabled: !choices.one_in(6), ..Asking::default() };
    let mut tools = SPECS.clone();
    if !asking.enabled {
        tools.remove("ask_human");
    }
    let agent = Agent {
        instructions: "Work.".to_owned(),
        asking_instructions: None,
        model: None,
        tools: tools.keys().cloned().collect(),
        ends: EndCondition::Reply,
    };
    let limits = Limits { attempts: 2, redos: 1, ..Limits::default() };
    let phases = (0..=choices.below(3)).map(|n| phase(n, limits, choices)).collect();
    let kinds = Kind::ALL.into_iter().filter_map(|kind| Some((kind, gate(kind, choices)?))).collect();
    let plan = if choices.one_in(2) { PlanGate::Show } else { PlanGate::Ask };
    Arc::new(Definition {
        name: "simulated".to_owned(),
        description: String::new(),
        input: json!({}),
        agents: BTreeMap::from([("agent".to_owned(), agent)]),
        tools,
        phases,
        gates: Gates { plan, rules: rules(choices), kinds, ..Gates::default() },
        limits,
        asking,
        models: BTreeMap::new(),
        network: false,
        web: holdshort_core::web::Web::default(),
        result: None,
    })
}

/// Returns a workflow that makes a plan and then carries out its subtasks. The other settings of the workflow are
/// random.
pub(super) fn planned(choices: &mut Choices) -> Arc<Definition> {
    let mut definition = (*random(choices)).clone();
    let planner = Agent {
        instructions: "Plan.".to_owned(),
        asking_instructions: None,
        model: None,
        tools: Vec::new(),
        ends: EndCondition::Reply,
    };
    definition.agents.insert(PLANNER.to_owned(), planner);
    let planning = Planning {
        planner: PLANNER.to_owned(),
        improver: choices.one_in(3).then(|| "agent".to_owned()),
        reviewer: choices.one_in(2).then(|| "agent".to_owned()),
        reviews: u32::from(choices.one_in(2)),
        iterations: 2,
        agents: vec!["agent".to_owned()],
        settles: false,
        always_asks: false,
        optional: false,
    };
    let control = Control { plan: "plan".to_owned(), agent: "agent".to_owned(), only: None };
    let mut plan = phase(0, definition.limits, choices);
    "plan".clone_into(&mut plan.id);
    plan.needs = Vec::new();
    plan.kind = PhaseKind::Planning(planning);
    let mut work = phase(0, definition.limits, choices);
    "work".clone_into(&mut work.id);
    work.needs = vec!["plan".to_owned()];
    work.kind = PhaseKind::Control(control);
    work.limits.parallel = if choices.one_in(2) { 1 } else { 3 };
    definition.phases.truncate(1);
    definition.phases.extend([plan, work]);
    Arc::new(definition)
}

/// Returns a workflow with two agents. The agents can hand over their work to each other, to a person, and to the
/// terminator, which ends it. Some tools of the workflow run at the client, and it may have smart approval.
pub(super) fn team(choices: &mut Choices) -> Arc<Definition> {
    let mut definition = (*random(choices)).clone();
    let names = ["agent", "other"];
    let agent = definition.agents["agent"].clone();
    definition.agents.insert("other".to_owned(), agent);
    let mut tools: Vec<(&str, Spec)> = Vec::new();
    for name in names {
        let others = names.into_iter().chain([handoff::TERMINATOR, handoff::ADMIN]);
        tools.extend(others.filter(|other| *other != name).map(|other| (name, handoff::tool(other))));
        for (tool, effect) in [("client_read", Effect::Read), ("client_write", Effect::Write)] {
            let category = if effect == Effect::Read { Category::ReadOnly } else { Category::CodeExec };
            let spec = Spec {
                name: tool.to_owned(),
                description: String::new(),
                parameters: json!({ "type": "object", "properties": { "n": {} }, "additionalProperties": false }),
                runs: Runs::Client { effect, category },
            };
            tools.push((name, spec));
        }
    }
    for (name, spec) in tools {
        definition.agents.entry(name.to_owned()).and_modify(|agent| agent.tools.push(spec.name.clone()));
        definition.tools.insert(spec.name.clone(), spec);
    }
    let tools = vec!["client_read".to_owned()];
    definition.gates.rules.push(Rule { tools, action: RuleAction::Allow, ..Rule::default() });
    if choices.one_in(2) {
        let judge = if choices.one_in(2) { Judge::Run } else { Judge::Off };
        definition.gates.smart = Some(Smart { judge, ..Smart::default() });
    }
    Arc::new(definition)
}

/// Changes some agents of the workflow, so that they can end their work only with `finish`. The planner and the router
/// are not changed, because their replies are texts.
pub(super) fn with_finish(definition: &Definition, choices: &mut Choices) -> Arc<Definition> {
    let mut definition = definition.clone();
    for (name, agent) in &mut definition.agents {
        if name != PLANNER && name != ROUTER && choices.one_in(2) {
            agent.ends = EndCondition::Finish;
            agent.tools.push(handoff::FINISH.to_owned());
            definition.tools.insert(handoff::FINISH.to_owned(), handoff::finish());
        }
    }
    Arc::new(definition)
}

/// Changes some interrupts of the workflow, so that they require two people.
pub(super) fn with_quorums(definition: &Definition, choices: &mut Choices) -> Arc<Definition> {
    let mut definition = definition.clone();
    for kind in [Kind::ToolApproval, Kind::PlanApproval, Kind::Review] {
        if choices.one_in(3) {
            let gate = definition.gates.kinds.entry(kind).or_default();
            // If the existing assignment names only one approver, this approver could never complete a stage for two
            // people.
            let named = if gate.assignment.is_some() {
                super::founders::NAMES.map(str::to_owned).to_vec()
            } else {
                Vec::new()
            };
            gate.assignment = Some(Assignment::simple(named, 2));
        }
    }
    Arc::new(definition)
}

/// Changes a workflow, so that commands are tried. In some of these workflows, a call whose trial changed nothing then
/// needs no approval.
pub(super) fn with_trials(definition: &Definition, choices: &mut Choices) -> Arc<Definition> {
    let mut definition = definition.clone();
    definition.gates.trial = !choices.one_in(4);
    if definition.gates.trial && choices.one_in(2) {
        let tools = vec!["run_command".to_owned()];
        let changes = Some(ChangeScope::None);
        definition.gates.rules.push(Rule { tools, changes, action: RuleAction::Allow, ..Rule::default() });
    }
    Arc::new(definition)
}

/// Changes some grants of the workflow, so that they allow a whole category of calls. Changes others, so that they
/// expire.
pub(super) fn with_grants(definition: &Definition, choices: &mut Choices) -> Arc<Definition> {
    let mut definition = definition.clone();
    if choices.one_in(3) {
        definition.gates.grants.covers = GrantCovers::Category;
    }
    definition.gates.grants.expires_after_ms = choices.one_in(3).then(|| 1 + choices.below(120_000) as u64);
    Arc::new(definition)
}

pub(super) fn external() -> Arc<Definition> {
    Arc::new(Definition {
        name: EXTERNAL.to_owned(),
        description: String::new(),
        input: json!({}),
        agents: BTreeMap::new(),
        tools: BTreeMap::new(),
        phases: Vec::new(),
        gates: Gates::default(),
        limits: Limits::default(),
        asking: Asking::default(),
        models: BTreeMap::new(),
        network: false,
        web: holdshort_core::web::Web::default(),
        result: None,
    })
}

pub(super) fn phase(n: usize, limits: Limits, choices: &mut Choices) -> Phase {
    let kind = if choices.one_in(6) {
        PhaseKind::Checkpoint(CheckpointPhase { message: "Look.".to_owned(), ..CheckpointPhase::default() })
    } else {
        PhaseKind::OneShot { agent: "agent".to_owned() }
    };
    let before = n.checked_sub(1).filter(|_| choices.one_in(2));
    let gates = StepGates {
        before_step: choices.one_in(6),
        after_step: choices.one_in(6),
        on_error: choices.one_in(2),
        unless_clean: false,
    };
    let few = |choices: &mut Choices| 2 + u32::try_from(choices.below(6)).unwrap_or(0);
    Phase {
        id: format!("p{n}"),
        kind,
        needs: before.map(|before| format!("p{before}")).into_iter().collect(),
        input: None,
        gates,
        kinds: BTreeMap::new(),
        limits: Limits { rounds: few(choices), tool_calls: 2 * few(choices), ..limits },
    }
}

fn gate(kind: Kind, choices: &mut Choices) -> Option<KindGate> {
    if !choices.one_in(3) {
        return None;
    }
    let rows = kind.row().options;
    Some(KindGate {
        expires_in_ms: choices.one_in(2).then(|| 1_000 + choices.below(60_000) as u64),
        on_expiry: choices.one_in(2).then(|| choices.pick(rows).id.to_owned()),
        reject: choices.one_in(3).then(|| *choices.pick(&REJECTS)),
        assignment: choices.one_in(5).then(|| Assignment::from_approvers(vec!["alice".to_owned()])),
        ..KindGate::default()
    })
}

/// Returns rules for a workflow or for the installation. The rules match the few different calls that simulated models
/// make.
pub(super) fn rules(choices: &mut Choices) -> Vec<Rule> {
    (0..choices.below(4)).map(|_| rule(choices)).collect()
}

fn rule(choices: &mut Choices) -> Rule {
    let (tool, command) = *choices.pick(&[
        ("read_file", ""),
        ("write_file", ""),
        ("run_command", "make *"),
        ("run_command", "git push *"),
        ("run_command", "rm *"),
    ]);
    let action = *choices.pick(&[RuleAction::Allow, RuleAction::Allow, RuleAction::Ask, RuleAction::Forbid]);
    Rule {
        tools: vec![tool.to_owned()],
        commands: if command.is_empty() { Vec::new() } else { vec![command.to_owned()] },
        action,
        ..Rule::default()
    }
}
