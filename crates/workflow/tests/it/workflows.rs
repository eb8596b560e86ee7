//! Meaning of valid workflows: defaults, merging, durations, YAML's booleans, disabled asking.

use std::collections::BTreeMap;

use holdshort_core::asking::{Asking, Deliver, Form};
use holdshort_core::definition::{
    CheckpointPhase, Control, Definition, EndCondition, Gates, Grants, IdeaGeneration, Judge, KindGate,
    Limits, NoChannel, Phase, PhaseKind, PlanGate, Planning, SameAction, Smart, StepGates,
};
use holdshort_core::handoff;
use holdshort_core::interrupt::{Effect, Escalation, Kind, Reminders};
use holdshort_core::policy::{ChangeScope, Checkpoint, GrantCovers, Rule, RuleAction};
use holdshort_core::pricing::{ModelTerms, Price};
use holdshort_core::schema;
use holdshort_core::tool::{self, Category, Runs};
use holdshort_core::web::Web;
use holdshort_workflow::parse;
use serde_json::{Value, json};

use crate::catalogue::catalogue;

fn good(text: &str) -> Definition {
    parse("workflow.yaml", text, &catalogue()).unwrap()
}

const SMALL: &str = "
name: small
agents: {solo: {instructions: Work., tools: [read_file]}}
phases: [{id: work, kind: one_shot, agent: solo}]
";

const FULL: &str = r#"
name: full_flow-2
description: Everything that the grammar has.
input:
  type: object
  properties: {task: {type: string}, depth: {type: integer, minimum: 1}}
  required: [task]
agents:
  Author: {instructions: "Write.", model: large, tools: [read_file, ask_human, edit_file, run_command], ends: finish}
  critic: {instructions: "Read."}
phases:
  - id: draft
    kind: one_shot
    agent: Author
    input: Only a draft.
    gates: {before_step: ask, after_step: unless_clean, on_error: off, tool_approval: {expires_in: 5m}}
    limits: {rounds: 5, budget: {tokens: 1000}}
  - id: look
    kind: checkpoint
    message: Is the draft good enough?
    gates: {checkpoint: {options: [reject, approve], labels: {approve: Publish}, on_expiry: reject, approvers: [operator]}}
  - id: critique
    kind: one_shot
    agent: critic
    needs: []
  - id: final
    kind: one_shot
    agent: Author
    needs: [look, critique]
gates:
  after_step: "ask"
  on_error: ask
  plan: show
  mandatory: [before_deploy, after_planning, {before_execution: {trial: true}}]
  deploy: [ship, "kubectl *"]
  smart: {keywords: [drop table, wipe], judge: large}
  trial: on
  same_action: once
  release_ends_step: on
  grants: {covers: category, expires_after: 8h}
  withhold: [{from: [reviewer], fields: [/arguments/*/iban]}]
  rules:
    - {tools: [read_file, ask_human], do: allow}
    - {tools: [run_command], commands: ["git push *"], do: forbid, reason: People push.}
    - {paths: ["docs/**"], categories: [file_write], agents: [Author], do: allow}
    - {changes: ignored, do: allow}
    - {tools: [run_command], changes: ["docs/**"], deletes: 3, do: ask}
    - {tools: ["*"], do: ask}
  tool_approval: {options: [reject, approve, respond], labels: {approve: "Yes", reject: "off"}, reject: end_turn, expires_in: 30m, on_expiry: reject, approvers: [operator], reminders: {after: 10m, every: 5m}, escalation: [{after: 20m, approvers: [operator], replace: true}], working_time: false}
  question: {expires_in: 500ms}
  checkpoint: {on_expiry: approve, expires_in: 7d}
limits: {rounds: 20, tool_calls: 40, attempts: 1, redos: 3, plan_steps: 7, parallel: 2, budget: {tokens: 50000, money: "1.50"}}
asking: {enabled: true}
models:
  default: {window_tokens: 32000}
  large: {price: {input_per_million: "2.50", output_per_million: "10", currency: USD}}
network: true
"#;

#[test]
fn a_small_workflow_has_the_defaults() {
    let definition = good(SMALL);
    let expected = Definition {
        name: "small".into(),
        description: String::new(),
        input: json!({"type": "object", "properties": {"task": {"type": "string"}}, "required": ["task"]}),
        agents: definition.agents.clone(),
        tools: definition.tools.clone(),
        phases: vec![Phase {
            id: "work".into(),
            kind: PhaseKind::OneShot { agent: "solo".into() },
            needs: vec![],
            input: None,
            gates: StepGates::default(),
            kinds: BTreeMap::new(),
            limits: Limits::default(),
        }],
        gates: Gates::default(),
        limits: Limits::default(),
        asking: Asking::default(),
        models: BTreeMap::new(),
        network: false,
        web: Web::default(),
        result: None,
    };
    assert_eq!(definition, expected);
    assert!(definition.agents.keys().eq(["solo"]) && definition.tools.keys().eq(["read_file"]));
}

#[test]
fn every_key_is_read() {
    let definition = good(FULL);
    let limits = Limits {
        rounds: 20,
        tool_calls: 40,
        attempts: 1,
        redos: 3,
        plan_steps: 7,
        parallel: 2,
        continues: 0,
        budget_tokens: Some(50_000),
        budget_money: Some(1_500_000),
    };
    let gates = StepGates { after_step: true, on_error: true, ..StepGates::default() };
    let phase = |id: &str, kind, needs: &[&str]| Phase {
        id: id.into(),
        kind,
        needs: needs.iter().map(|need| (*need).to_owned()).collect(),
        input: None,
        gates,
        kinds: BTreeMap::new(),
        limits,
    };
    let one_shot = |agent: &str| PhaseKind::OneShot { agent: agent.into() };
    let nothing = KindGate::default();
    let soon = KindGate { expires_in_ms: Some(5 * 60 * 1000), ..nothing.clone() };
    let editor = KindGate {
        options: vec!["reject".into(), "approve".into()],
        labels: [("approve".to_owned(), "Publish".to_owned())].into(),
        on_expiry: Some("reject".into()),
        assignment: Some(holdshort_core::interrupt::Assignment::from_approvers(vec!["operator".into()])),
        ..nothing
    };
    let draft = Phase {
        input: Some("Only a draft.".into()),
        gates: StepGates { before_step: true, after_step: true, unless_clean: true, on_error: false },
        kinds: [(Kind::ToolApproval, soon)].into(),
        limits: Limits { rounds: 5, budget_tokens: Some(1000), ..limits },
        ..phase("draft", one_shot("Author"), &[])
    };
    let look = PhaseKind::Checkpoint(CheckpointPhase {
        message: "Is the draft good enough?".into(),
        ..CheckpointPhase::default()
    });
    assert_eq!(
        definition.phases,
        [
            draft,
            Phase { kinds: [(Kind::Checkpoint, editor)].into(), ..phase("look", look, &["draft"]) },
            phase("critique", one_shot("critic"), &[]),
            phase("final", one_shot("Author"), &["look", "critique"]),
        ]
    );
    assert_eq!(
        definition.agents["Author"].tools,
        ["read_file", "ask_human", "edit_file", "run_command", "finish"]
    );
    assert_eq!(definition.tools["finish"], handoff::finish());
    assert_eq!(
        (definition.agents["Author"].ends, definition.agents["critic"].ends),
        (EndCondition::Finish, EndCondition::Reply)
    );
    assert_eq!(definition.agents["Author"].model.as_deref(), Some("large"));
    assert_eq!((definition.limits, definition.network), (limits, true));
    let price =
        Price { input_per_million: 2_500_000, output_per_million: 10_000_000, currency: "USD".to_owned() };
    let models = [
        ("default", ModelTerms { window_tokens: Some(32_000), price: None }),
        ("large", ModelTerms { window_tokens: None, price: Some(price) }),
    ];
    assert_eq!(definition.models, models.map(|(name, terms)| (name.to_owned(), terms)).into());
    assert_eq!(definition.input["properties"]["depth"], json!({"type": "integer", "minimum": 1}));
    assert_eq!(definition.gates, full_gates());
}

fn full_gates() -> Gates {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let rule = |action| Rule { action, ..Rule::default() };
    let tool_approval = KindGate {
        options: texts(&["reject", "approve", "respond"]),
        labels: [("approve", "Yes"), ("reject", "off")].map(|(id, label)| (id.into(), label.into())).into(),
        reject: Some(Effect::EndTurn),
        respond: None,
        expires_in_ms: Some(30 * 60 * 1000),
        on_expiry: Some("reject".into()),
        assignment: Some(holdshort_core::interrupt::Assignment::from_approvers(texts(&["operator"]))),
        reminders: Some(Reminders { after_ms: 10 * 60 * 1000, every_ms: Some(5 * 60 * 1000), limit: 10 }),
        escalation: vec![Escalation {
            after_ms: 20 * 60 * 1000,
            approvers: texts(&["operator"]),
            groups: Vec::new(),
            replace: true,
        }],
        working_time: Some(false),
    };
    Gates {
        release_ends_step: true,
        plan: PlanGate::Show,
        same_action: SameAction::Once,
        grants: Grants { covers: GrantCovers::Category, expires_after_ms: Some(8 * 3_600_000) },
        withhold: vec![holdshort_core::interrupt::Withhold {
            from: [holdshort_core::actor::Role::Reviewer].into(),
            fields: texts(&["/arguments/*/iban"]),
        }],
        trial: true,
        mandatory: [Checkpoint::AfterPlanning, Checkpoint::BeforeDeploy, Checkpoint::BeforeExecution].into(),
        trial_before_execution: true,
        deploy: texts(&["ship", "kubectl *"]),
        smart: Some(Smart { keywords: texts(&["drop table", "wipe"]), judge: Judge::Model("large".into()) }),
        rules: vec![
            Rule { tools: texts(&["read_file", "ask_human"]), ..rule(RuleAction::Allow) },
            Rule {
                tools: texts(&["run_command"]),
                commands: texts(&["git push *"]),
                reason: Some("People push.".into()),
                ..rule(RuleAction::Forbid)
            },
            Rule {
                paths: texts(&["docs/**"]),
                categories: vec![Category::FileWrite],
                agents: texts(&["Author"]),
                ..rule(RuleAction::Allow)
            },
            Rule { changes: Some(ChangeScope::Ignored), ..rule(RuleAction::Allow) },
            Rule {
                tools: texts(&["run_command"]),
                changes: Some(ChangeScope::Paths(texts(&["docs/**"]))),
                deletes: Some(3),
                ..rule(RuleAction::Ask)
            },
            rule(RuleAction::Ask),
        ],
        kinds: BTreeMap::from([
            (Kind::ToolApproval, tool_approval),
            (Kind::Question, KindGate { expires_in_ms: Some(500), ..KindGate::default() }),
            (
                Kind::Checkpoint,
                KindGate {
                    expires_in_ms: Some(7 * 24 * 3600 * 1000),
                    on_expiry: Some("approve".into()),
                    ..KindGate::default()
                },
            ),
        ]),
    }
}

#[test]
fn off_is_a_word_quoted_or_not() {
    let on_error = |written: &str| {
        let text = SMALL.to_owned() + &format!("gates: {{before_step: ask, on_error: {written}}}\n");
        good(&text).phases[0].gates
    };
    let gates = StepGates { before_step: true, ..StepGates::default() };
    assert_eq!([on_error("off"), on_error("\"off\""), on_error("'off'")], [gates; 3]);
}

#[test]
fn smart_approval_is_on_off_or_described() {
    let smart =
        |written: &str| good(&(SMALL.to_owned() + &format!("gates: {{smart: {written}}}\n"))).gates.smart;
    let usual = Smart::default();
    assert_eq!(usual.keywords, ["delete", "production", "deploy", "critical", "irreversible"]);
    assert_eq!([smart("on"), smart("{}"), smart("{judge: run}")], [(); 3].map(|()| Some(usual.clone())));
    assert_eq!(smart("off"), None);
    assert_eq!(smart("{judge: off}"), Some(Smart { judge: Judge::Off, ..usual.clone() }));
    assert_eq!(smart("{keywords: []}"), Some(Smart { keywords: Vec::new(), ..usual }));
}

#[test]
fn with_asking_off_no_agent_has_a_tool_that_asks() {
    let text = "
name: quiet
agents: {solo: {instructions: Work., tools: [ask_human, create_plan, read_file]}}
phases: [{id: work, kind: one_shot, agent: solo}]
gates: {rules: [{tools: [ask_human], do: allow}]}
asking: {enabled: false}
";
    let definition = good(text);
    assert_eq!(definition.agents["solo"].tools, ["create_plan", "read_file"]);
    // No agent has `record_assumption`: the run adds this tool.
    assert_eq!(
        definition.tools.keys().collect::<Vec<_>>(),
        ["create_plan", "read_file", "record_assumption"]
    );
    // The rule still names only `ask_human`, which no agent has. An empty list would match every tool.
    assert_eq!(definition.gates.rules[0].tools, ["ask_human"]);
}

/// With `form: reply`, questions are delivered together, unless the workflow sets `deliver` (contract C8).
#[test]
fn how_agents_ask() {
    let asking = |written: &str| {
        let text = "
name: asks
agents: {solo: {instructions: Work., tools: [ask_human]}}
phases: [{id: work, kind: one_shot, agent: solo}]
";
        let asking = good(&format!("{text}asking: {written}\n")).asking;
        (asking.form, asking.deliver)
    };
    assert_eq!(asking("{}"), (Form::Tool, Deliver::AtOnce));
    assert_eq!(asking("{form: reply}"), (Form::Reply, Deliver::PerStage));
    assert_eq!(asking("{form: reply, deliver: at_once}"), (Form::Reply, Deliver::AtOnce));
    assert_eq!(asking("{form: reply, enabled: false}").0, Form::Reply);
}

#[test]
fn a_hand_off_is_a_tool_of_its_agent() {
    let text = "
name: team
agents:
  control: {instructions: Choose., handoffs: [engineer, terminator, admin], tools: [read_file]}
  engineer: {instructions: Build., handoffs: [control]}
phases: [{id: work, kind: one_shot, agent: control}]
gates: {rules: [{tools: [handoff_to_engineer, handoff_to_admin], do: allow}]}
";
    let definition = good(text);
    let chosen = ["read_file", "handoff_to_engineer", "handoff_to_terminator", "handoff_to_admin"];
    assert_eq!(definition.agents["control"].tools, chosen);
    assert_eq!(definition.agents["engineer"].tools, ["handoff_to_control"]);
    assert_eq!(definition.tools["handoff_to_engineer"], handoff::tool("engineer"));
    let quiet = good(&format!("{text}asking: {{enabled: false}}\n"));
    assert_eq!(quiet.agents["control"].tools, chosen[..3], "nobody can be asked");
    assert!(!quiet.tools.contains_key("handoff_to_admin"));
}

#[test]
fn an_alias_may_repeat_what_is_written_once() {
    let text = "
name: twins
agents:
  one: &worker {instructions: Work., tools: [read_file]}
  two: *worker
phases: [{id: work, kind: one_shot, agent: two}]
";
    let definition = good(text);
    assert_eq!(definition.agents["one"], definition.agents["two"]);
}

#[test]
fn the_digest_is_of_the_meaning_not_of_the_text() {
    let spaced = SMALL.replace("phases:", "# a comment\nphases:");
    let other = SMALL.replace("Work.", "Work!");
    let digest = |text: &str| good(text).digest();
    assert_eq!(digest(SMALL), digest(&spaced));
    assert_ne!(digest(SMALL), digest(&other));
}

#[test]
fn plans_have_phases_of_their_own() {
    let definition = good(
        "
name: planned
agents:
  planner: {instructions: Plan.}
  reviewer: {instructions: Judge.}
  engineer: {instructions: Build.}
  researcher: {instructions: Look.}
phases:
  - {id: ideas, kind: idea_generation, agents: {maker: researcher, critic: reviewer}, ideas: 5}
  - {id: plan, kind: hitl_planning, agents: {planner: planner, reviewer: reviewer}, reviews: 2}
  - {id: look, kind: hitl_checkpoint, message: Good?}
  - {id: work, kind: hitl_control, agent: engineer}
  - {id: again, kind: control, agent: engineer, only: 2, gates: {on_error: ask}}
",
    );
    let kinds: Vec<&PhaseKind> = definition.phases.iter().map(|phase| &phase.kind).collect();
    let control = |only| Control { plan: "plan".into(), agent: "engineer".into(), only };
    let ideas =
        IdeaGeneration { maker: "researcher".into(), critic: "reviewer".into(), ideas: 5, reviews: 1 };
    let planning = Planning {
        planner: "planner".into(),
        improver: None,
        reviewer: Some("reviewer".into()),
        reviews: 2,
        iterations: 3,
        settles: false,
        always_asks: false,
        optional: false,
        agents: vec!["engineer".into(), "researcher".into()],
    };
    assert_eq!(
        kinds,
        [
            &PhaseKind::IdeaGeneration(ideas),
            &PhaseKind::Planning(planning),
            &PhaseKind::Checkpoint(CheckpointPhase { message: "Good?".into(), ..CheckpointPhase::default() }),
            &PhaseKind::Control(control(None)),
            &PhaseKind::Control(control(Some(2))),
        ]
    );
    let gates: Vec<_> = definition.phases[3..].iter().map(|phase| phase.gates).collect();
    assert_eq!(
        gates,
        [
            StepGates { before_step: true, ..StepGates::default() },
            StepGates { on_error: true, ..StepGates::default() },
        ]
    );
}

#[test]
fn tools_of_its_own_run_in_the_client_and_may_take_the_place_of_built_in_ones() {
    let definition = good(
        "name: a
tools:
  - {name: read_file, description: Reads., runs: client, effect: read, parameters: {type: object, properties: {path: {type: string}}, required: [path]}}
  - {name: save, description: Saves., runs: client, category: file_write, parameters: {type: object, properties: {path: {type: string}}}}
  - {name: execute, description: Runs., runs: client, category: bash, parameters: {type: object, properties: {command: {type: string}}}}
  - {name: reload, description: Reloads., runs: client}
agents:
  solo: {instructions: Work., tools: [read_file, save, execute, reload, ask_human]}
phases:
  - {id: work, kind: planning, optional: true, then: settle, agents: {planner: solo}}
  - {id: look, kind: checkpoint, message: Good?, ask: false, edit: true}
  - {id: last, kind: checkpoint, message: Ship?, when_no_channel: auto}
",
    );
    let client = |effect, category| Runs::Client { effect, category };
    let expected = [
        ("execute", client(tool::Effect::Write, Category::Bash)),
        ("read_file", client(tool::Effect::Read, Category::ReadOnly)),
        ("reload", client(tool::Effect::Write, Category::CodeExec)),
        ("save", client(tool::Effect::Write, Category::FileWrite)),
    ];
    for (name, runs) in expected {
        assert_eq!(definition.tools[name].runs, runs, "{name}");
        assert_eq!(definition.tools[name].parameters["additionalProperties"], false, "{name}");
    }
    assert!(
        definition.phases[0].kind.planning().is_some_and(|planning| planning.optional && planning.settles)
    );
    let look =
        CheckpointPhase { message: "Good?".into(), unasked: true, edit: true, ..CheckpointPhase::default() };
    assert_eq!(definition.phases[1].kind, PhaseKind::Checkpoint(look));
    let look = CheckpointPhase {
        message: "Ship?".into(),
        when_no_channel: NoChannel::Auto,
        ..CheckpointPhase::default()
    };
    assert_eq!(definition.phases[2].kind, PhaseKind::Checkpoint(look));
}

/// A schema is accepted in the form that libraries generate: the root is a `$ref`, with definitions and `$schema`.
#[test]
fn what_libraries_print_is_what_a_tool_takes() {
    for library in ["pydantic", "zod"] {
        let printed = match library {
            "pydantic" => include_str!("../../../core/tests/schemas/pydantic.json"),
            _ => include_str!("../../../core/tests/schemas/zod.json"),
        };
        let printed: Value = serde_json::from_str(printed).unwrap();
        for name in ["Refund", "Node"] {
            let schema = &printed[name];
            let text = format!(
                "name: a\ninput: {schema}\ntools:\n  - {{name: x, description: d, runs: client, parameters: {schema}}}\n\
                 agents: {{solo: {{instructions: i, tools: [x]}}}}\nphases: [{{id: p, kind: one_shot, agent: solo}}]\n"
            );
            let definition = good(&text);
            let parameters = &definition.tools["x"].parameters;
            let top = (&parameters["type"], &parameters["additionalProperties"]);
            assert_eq!(top, (&json!("object"), &json!(false)), "{library} {name}");
            let takes = |value: Value| schema::check(parameters, &value, "").is_empty();
            let tree = json!({ "name": "a", "children": [{ "name": "b", "children": [] }] });
            let refund = json!({ "order": 1, "amount": 2, "currency": "EUR", "lines": [], "due": null });
            let (mut fits, mut other) = if name == "Node" { (tree, refund) } else { (refund, tree) };
            assert!(takes(fits.clone()) && !takes(other.take()), "{library} {name}");
            fits["more"] = json!(1);
            assert!(!takes(fits), "{library} {name}: nothing but what is named");
        }
    }
}

/// If a checkpoint is listed twice, the stricter entry applies.
#[test]
fn a_checkpoint_asks_about_the_trial_only_where_nothing_says_before_it() {
    let (name, first, after) =
        ("before_execution", "{before_execution: {trial: true}}", "{before_execution: {trial: false}}");
    for (listed, asks_after) in [
        (first.to_owned(), true),
        (name.to_owned(), false),
        (after.to_owned(), false),
        (format!("{first}, {name}"), false),
        (format!("{name}, {first}"), false),
        (format!("{first}, {after}"), false),
        (format!("{after}, {first}"), false),
    ] {
        let text = format!(
            "name: a\nagents: {{solo: {{instructions: Work., tools: [run_command]}}}}\n\
             phases: [{{id: work, kind: one_shot, agent: solo}}]\ngates: {{trial: on, mandatory: [{listed}]}}\n"
        );
        let gates = parse("workflow.yaml", &text, &catalogue()).unwrap().gates;
        assert!(gates.mandatory.contains(&Checkpoint::BeforeExecution), "{listed}");
        assert_eq!(gates.trial_before_execution, asks_after, "{listed}");
    }
}
