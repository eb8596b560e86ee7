//! Configs of MARS clients, and the workflows to which the configs are converted.

use holdshort_core::definition::{Definition, Phase, PhaseKind, PlanGate};
use holdshort_core::interrupt::{Effect, Kind};
use holdshort_edges::mars::base as shipped;
use holdshort_edges::mars::config::{self, Translated, translate};
use serde_json::{Value, json};

fn translate_config(config: &Value) -> Result<Translated, Vec<(String, String)>> {
    over(&shipped().unwrap(), config)
}

fn over(base: &Definition, config: &Value) -> Result<Translated, Vec<(String, String)>> {
    let problems = |problems: Vec<holdshort_core::schema::Problem>| {
        problems.into_iter().map(|problem| (problem.pointer, problem.message)).collect()
    };
    translate(config.as_object().unwrap(), base).map_err(problems)
}

fn made(config: &Value) -> Definition {
    translate_config(config).unwrap_or_else(|problems| panic!("{config}: {problems:?}")).definition
}

/// Returns the phases of a workflow, each with the gates before and after its steps.
fn shape(definition: &Definition) -> String {
    let phase = |phase: &Phase| {
        let gates = phase.gates;
        let mut text = phase.id.clone();
        for (is_on, word) in
            [(gates.before_step, " before"), (gates.after_step, " after"), (gates.on_error, " error")]
        {
            text.push_str(if is_on { word } else { "" });
        }
        if matches!(&phase.kind, PhaseKind::Checkpoint(look) if look.unasked) {
            text.push_str(" unasked");
        }
        text
    };
    let plan = if definition.gates.plan == PlanGate::Ask { "plan: " } else { "" };
    format!("{plan}{}", definition.phases.iter().map(phase).collect::<Vec<_>>().join(", "))
}

/// Returns, for each phase, the requests of these kinds: seconds to expiry, option on expiry, named options. Plan
/// approvals are listed only for planning phases, and errors only for the other phases.
fn describe_requests(definition: &Definition, kinds: &[Kind]) -> Vec<String> {
    let one = |phase: &Phase, kind: Kind| {
        let gate = definition.gate(Some(phase), kind);
        let ms = gate.expires_in_ms.unwrap();
        let options = (!gate.options.is_empty()).then(|| format!("({})", gate.options.join(" ")));
        let words = [Some(kind.as_str().to_owned()), Some((ms / 1_000).to_string()), gate.on_expiry, options];
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
    };
    let opens = |phase: &Phase, kind: Kind| {
        let plans = phase.kind.planning().is_some();
        phase.kind.opens(kind) && (kind != Kind::PlanApproval || plans) && (kind != Kind::Error || !plans)
    };
    let all = definition.phases.iter().map(|phase| {
        let requests = kinds.iter().filter(|kind| opens(phase, **kind)).map(|kind| one(phase, *kind));
        format!("{}: {}", phase.id, requests.collect::<Vec<_>>().join(", "))
    });
    all.collect()
}

#[test]
fn modes_and_presets() {
    let table = [
        (json!({}), "one_shot"),
        // The web UI's form sends this key with every mode.
        (json!({"mode": "one-shot", "approvalMode": "before_step"}), "one_shot"),
        (json!({"mode": "planning-control", "approvalMode": "both"}), "planning, control"),
        (json!({"mode": "planning-control"}), "planning, control"),
        (json!({"mode": "planning_control", "approval_mode": "on_error"}), "planning, control"),
        (
            json!({"mode": "hitl-interactive", "hitlVariant": "error_recovery", "approvalMode": "both"}),
            "planning, hitl_control error",
        ),
        (
            json!({"mode": "hitl-interactive", "hitlVariant": "planning_only", "approvalMode": "both"}),
            "plan: hitl_planning, control",
        ),
        (
            json!({"preset": "step_by_step", "approvalMode": "both"}),
            "plan: hitl_planning, hitl_control before after error",
        ),
        (json!({"mode": "hitl-interactive"}), "plan: hitl_planning, hitl_control before after error"),
        (json!({"mode": "hitl-interactive", "hitlVariant": "planning_only"}), "plan: hitl_planning, control"),
        (
            json!({"mode": "hitl-interactive", "hitl_variant": "error-recovery"}),
            "planning, hitl_control error",
        ),
        (json!({"mode": "hitl-interactive", "approval_mode": "never"}), "plan: hitl_planning, hitl_control"),
        (json!({"mode": "idea-generation", "n_ideas": 5}), "idea_generation"),
        (json!({"preset": "autonomous"}), "planning, control"),
        (json!({"preset": "review_plan"}), "plan: hitl_planning, control"),
        (json!({"mode": "step_by_step"}), "plan: hitl_planning, hitl_control before"),
        (json!({"preset": "error_recovery"}), "planning, hitl_control error"),
        (
            json!({"phases": [{"type": "planning"}, {"type": "hitl_checkpoint", "config": {"checkpoint_type": "after_planning"}}, {"type": "hitl_control"}]}),
            "planning, hitl_checkpoint_after_planning, hitl_control before",
        ),
        (
            json!({"phases": [{"type": "hitl_checkpoint", "config": {"require_approval": false}}, {"type": "one_shot"}]}),
            "hitl_checkpoint_custom unasked, one_shot",
        ),
    ];
    for (config, shape) in table {
        assert_eq!(self::shape(&made(&config)), shape, "{config}");
    }
    for (word, gates) in [
        ("none", ""),
        ("never", ""),
        ("manual", " before"),
        ("before_each_step", " before"),
        ("after_step", " after"),
        ("both", " before after error"),
        ("on_error", " error"),
    ] {
        let definition = made(&json!({"mode": "hitl-interactive", "approval_mode": word}));
        assert_eq!(shape(&definition), format!("plan: hitl_planning, hitl_control{gates}"));
        let own =
            json!({"phases": [{"type": "planning"}, {"type": "control", "config": {"approval_mode": word}}]});
        assert_eq!(shape(&made(&own)), format!("planning, control{gates}"));
    }
}

/// Every config key has an effect: two different values of a key result in two different workflows.
#[test]
fn each_key_changes_the_workflow() {
    let table = [
        ("max_rounds", "planning-control", json!(7), json!(8)),
        ("max_plan_steps", "planning-control", json!(7), json!(8)),
        ("maxPlanSteps", "hitl-interactive", json!(7), json!(8)),
        ("n_plan_reviews", "planning-control", json!(0), json!(2)),
        ("max_n_attempts", "planning-control", json!(1), json!(2)),
        ("maxAttempts", "planning-control", json!(1), json!(2)),
        ("max_human_iterations", "hitl-interactive", json!(1), json!(2)),
        ("require_explicit_approval", "hitl-interactive", json!(false), json!(true)),
        ("approval_mode", "hitl-interactive", json!("none"), json!("both")),
        ("planInstructions", "planning-control", json!("Two steps."), json!("One step.")),
        ("engineerInstructions", "one-shot", json!("In Rust."), json!("In C.")),
        ("max_redos", "planning-control", json!(0), json!(1)),
        ("step_number", "planning-control", json!(1), json!(2)),
        ("timeout_seconds", "hitl-interactive", json!(0.2), json!(5)),
        ("n_ideas", "idea-generation", json!(1), json!(2)),
        ("n_reviews", "idea-generation", json!(0), json!(2)),
        ("agent", "one-shot", json!("engineer"), json!("researcher")),
        ("tool_approval", "one-shot", json!("none"), json!("prompt")),
        ("toolApproval", "one-shot", json!("auto_allow_all"), json!("none")),
        ("use_ag2_handoffs", "planning-control", json!(false), json!(true)),
        ("use_ag2_handoffs", "one-shot", json!(false), json!(true)),
        ("allow_plan_modification", "hitl-interactive", json!(false), json!(true)),
        ("allow_step_skip", "hitl-interactive", json!(false), json!(true)),
        ("allowStepRetry", "hitl-interactive", json!(false), json!(true)),
        ("allow_step_modification", "hitl-interactive", json!(false), json!(true)),
        ("auto_approve_successful_steps", "hitl-interactive", json!(false), json!(true)),
        ("engineer_model", "one-shot", json!("a"), json!("b")),
        ("hitl_variant", "hitl-interactive", json!("planning_only"), json!("error_recovery")),
    ];
    for (key, mode, one, other) in table {
        let of = |value: &Value| made(&json!({"mode": mode, key: value}));
        assert_ne!(of(&one), of(&other), "{key}");
    }
    let of = |config: Value| {
        made(&json!({"phases": [{"type": "hitl_checkpoint", "config": config}, {"type": "one_shot"}]}))
    };
    for (key, one, other) in [
        ("checkpoint_type", json!("custom"), json!("before_step")),
        ("custom_message", json!("A?"), json!("B?")),
        ("require_approval", json!(false), json!(true)),
        ("default_on_timeout", json!("reject"), json!("approve")),
        ("timeout_seconds", json!(1), json!(2)),
    ] {
        assert_ne!(of(json!({key: one})), of(json!({key: other})), "{key}");
    }
    let run = |config: &Value| {
        let translated = self::translate_config(config).unwrap();
        (translated.config.workspace, translated.config.model, translated.session)
    };
    let all = json!({"workDir": "/w", "model": "m", "sessionId": "ses_1"});
    assert_eq!(run(&all), (Some("/w".into()), Some("m".into()), Some("ses_1".into())));
    let shown = |config: &Value| config::display_of(config);
    assert_ne!(shown(&json!({"showPlan": false})), shown(&json!({})));
    assert_ne!(shown(&json!({"phases": [{"config": {"show_context": true}}]})), shown(&json!({})));
    assert_ne!(shown(&json!({"show_step_context": false})), shown(&json!({})));
}

/// Every key of a copilot has an effect, and both spellings of a key have the same meaning (contract A17).
#[test]
fn each_key_of_a_copilot_changes_the_workflow() {
    let table: [(&str, &str, &[Value]); 19] = [
        ("max_rounds", "maxRounds", &[json!(7), json!(8)]),
        ("max_n_attempts", "maxNAttempts", &[json!(1), json!(2)]),
        ("max_plan_steps", "maxPlanSteps", &[json!(2), json!(5)]),
        ("timeout_seconds", "timeoutSeconds", &[json!(5), json!(6)]),
        (
            "available_agents",
            "availableAgents",
            &[json!(["engineer"]), json!(["researcher"]), json!(["web_surfer"])],
        ),
        ("enable_planning", "enablePlanning", &[json!(false), json!(true)]),
        ("enable_phase_tools", "enablePhaseTools", &[json!(false), json!(true)]),
        ("use_dynamic_routing", "useDynamicRouting", &[json!(false), json!(true)]),
        ("use_copilot_control", "useCopilotControl", &[json!(false), json!(true)]),
        ("control_model", "controlModel", &[json!("a"), json!("b")]),
        ("engineer_model", "engineerModel", &[json!("a"), json!("b")]),
        ("complexity_threshold", "complexityThreshold", &[json!(5), json!(6)]),
        ("auto_approve_simple", "autoApproveSimple", &[json!(false), json!(true)]),
        (
            "intelligent_routing",
            "intelligentRouting",
            &[json!("minimal"), json!("balanced"), json!("aggressive")],
        ),
        (
            "approval_mode",
            "approvalMode",
            &[
                json!("none"),
                json!("before_step"),
                json!("after_step"),
                json!("both"),
                json!("conversational"),
            ],
        ),
        ("conversational", "conversational", &[json!(false), json!(true)]),
        ("auto_continue", "autoContinue", &[json!(false), json!(true)]),
        ("tool_approval", "toolApproval", &[json!("prompt"), json!("auto_allow_all")]),
        ("continuous_mode", "continuousMode", &[json!(false), json!(true)]),
    ];
    for (snake, camel, values) in table {
        let of = |key: &str, value: &Value| made(&json!({"mode": "copilot", key: value}));
        for (n, value) in values.iter().enumerate() {
            assert_eq!(of(snake, value), of(camel, value), "{snake}: {value}");
            for other in &values[n + 1..] {
                assert_ne!(of(snake, value), of(snake, other), "{snake}: {value} and {other}");
            }
        }
    }
    let turns = translate_config(&json!({"mode": "copilot", "maxTurns": 20})).unwrap().idle;
    assert!(matches!(&turns[..], [idle] if idle.key == "maxTurns" && !idle.why.is_empty()), "{turns:?}");
    // The mode, the preset and the list of phases result in the same copilot.
    let by_mode = made(&json!({"mode": "copilot"}));
    for config in [json!({"preset": "copilot"}), json!({"phases": [{"type": "copilot"}]})] {
        assert_eq!(made(&config), by_mode, "{config}");
    }
}

#[test]
fn what_a_copilot_is_unless_the_config_says_otherwise() {
    let definition = made(&json!({"mode": "copilot"}));
    let [phase] = &definition.phases[..] else { panic!("one phase") };
    let PhaseKind::Copilot(copilot) = &phase.kind else { panic!("a copilot") };
    assert_eq!((copilot.agent.as_str(), &copilot.team[..]), ("engineer", &["researcher".to_owned()][..]));
    assert_eq!((phase.limits.rounds, phase.limits.attempts, phase.limits.continues), (100, 3, 0));
    assert_eq!((copilot.simple_words, copilot.conversational, copilot.satisfaction), (Some(50), false, true));
    assert_eq!(copilot.router.as_deref(), Some("copilot_control"));
    assert_eq!((phase.gates.before_step, phase.gates.after_step), (false, true));
    assert_eq!(definition.gates.plan, PlanGate::Ask);
    let has =
        |tool: &str, definition: &Definition| definition.agents["engineer"].tools.iter().any(|it| it == tool);
    assert!(has("create_plan", &definition) && has("invoke_planning_phase", &definition));
    let none = made(&json!({"mode": "copilot", "enablePlanning": false, "enablePhaseTools": false}));
    assert!(!has("create_plan", &none) && !has("invoke_planning_phase", &none));
}

#[test]
fn defaults_are_those_of_each_phase() {
    let definition = made(&json!({"mode": "hitl-interactive"}));
    let [planning, control] = &definition.phases[..] else { panic!("two phases") };
    assert_eq!((planning.limits.plan_steps, planning.limits.rounds, planning.limits.attempts), (10, 50, 3));
    assert_eq!((control.limits.redos, control.limits.rounds, control.limits.parallel), (2, 100, 1));
    let PhaseKind::Planning(plans) = &planning.kind else { panic!("a planning phase") };
    assert_eq!((plans.reviews, plans.iterations), (1, 3));
    assert_eq!(
        describe_requests(
            &definition,
            &[Kind::PlanApproval, Kind::ToolApproval, Kind::Question, Kind::Escalation]
        )[0],
        "hitl_planning: plan_approval 3600, tool_approval 1800, question 1800, escalation 1800"
    );
    assert_eq!(
        describe_requests(&definition, &[Kind::Checkpoint, Kind::Error, Kind::ToolApproval])[1],
        "hitl_control: checkpoint 1800, error 1800, tool_approval 1800"
    );
    let mixed = made(&json!({"phases": [
        {"type": "planning"}, {"type": "hitl_checkpoint"}, {"type": "hitl_control"},
    ], "use_ag2_handoffs": true}));
    assert_eq!(
        describe_requests(&mixed, &[Kind::PlanApproval, Kind::Checkpoint]),
        [
            "planning: plan_approval 3600",
            "hitl_checkpoint_custom: checkpoint 3600",
            "hitl_control: checkpoint 1800",
        ]
    );
    let checkpoint = made(&json!({"phases": [{"type": "hitl_checkpoint"}]}));
    assert!(checkpoint.agents.is_empty() && checkpoint.tools.is_empty(), "nothing that no phase needs");
}

/// Instructions on a call refuse the call, whatever the mode (contracts A33, E43).
#[test]
fn instructions_on_a_call_are_a_refusal() {
    for mode in ["one-shot", "planning-control", "hitl-interactive", "copilot"] {
        let definition = made(&json!({ "mode": mode }));
        let gate = &definition.gates.kinds[&Kind::ToolApproval];
        assert_eq!(gate.respond, Some(Effect::Refuse), "{mode}");
        assert_eq!(gate.labels["respond"], "Give instructions", "{mode}");
    }
}

#[test]
fn options_can_be_switched_off() {
    let config = json!({
        "mode": "hitl-interactive", "allow_plan_modification": false, "allow_step_skip": false,
        "allow_step_retry": false, "allow_step_modification": false,
    });
    let definition = made(&config);
    assert_eq!(
        describe_requests(&definition, &[Kind::PlanApproval, Kind::Checkpoint, Kind::Error]),
        [
            "hitl_planning: plan_approval 3600 (approve revise reject)",
            "hitl_control: checkpoint 1800 (approve continue redo reject abort), error 1800 (hand_over abort)",
        ]
    );
}

/// The shipped base workflow has no trials of commands. A base workflow with trials keeps them, unless a person must be
/// asked before execution, because a trial executes the command.
#[test]
fn a_base_may_try_commands_and_a_checkpoint_comes_before() {
    for approval in ["none", "auto_allow_all", "prompt"] {
        assert!(!made(&json!({"tool_approval": approval})).gates.trial, "{approval}");
    }
    let mut base = shipped().unwrap();
    base.gates.trial = true;
    base.gates.trial_before_execution = true;
    let table = [
        (json!({"tool_approval": "prompt"}), true),
        (json!({"use_ag2_handoffs": true, "ag2_mandatory_checkpoints": ["before_file_edit"]}), true),
        (json!({"use_ag2_handoffs": true, "ag2_mandatory_checkpoints": ["before_execution"]}), false),
    ];
    for (config, before) in table {
        let gates = over(&base, &config).unwrap().definition.gates;
        assert_eq!((gates.trial, gates.trial_before_execution), (true, before), "{config}");
    }
}

/// The two layers of gates are independent of each other, as the table of MARS says (contract A2).
#[test]
fn the_second_layer_is_off_unless_it_is_switched_on() {
    let table = [
        (json!({}), ""),
        (json!({"use_ag2_handoffs": false, "ag2_mandatory_checkpoints": ["before_file_edit"]}), ""),
        (json!({"use_ag2_handoffs": true}), "after_planning"),
        (json!({"use_ag2_handoffs": true, "ag2_mandatory_checkpoints": []}), ""),
        (
            json!({"use_ag2_handoffs": true, "ag2_mandatory_checkpoints": ["before_file_edit", "before_execution", "before_deploy"]}),
            "before_file_edit before_execution before_deploy",
        ),
    ];
    for (keys, mandatory) in table {
        for mode in ["never", "before_step"] {
            let mut config = keys.clone();
            config["mode"] = json!("hitl-interactive");
            config["approval_mode"] = json!(mode);
            let definition = made(&config);
            let found: Vec<&str> = definition.gates.mandatory.iter().map(|each| each.as_str()).collect();
            assert_eq!(
                (found.join(" "), definition.phases[1].gates.before_step),
                (mandatory.to_owned(), mode != "never"),
                "{config}"
            );
        }
    }
    let smart = |config: Value| made(&config).gates.smart.map(|smart| smart.keywords.join(" "));
    assert_eq!(smart(json!({"ag2_smart_approval": true})), None, "the layer is off");
    let on = json!({"use_ag2_handoffs": true, "ag2_smart_approval": true});
    assert_eq!(smart(on.clone()).as_deref(), Some("delete production deploy critical irreversible"));
    let mut own = on;
    own["ag2_smart_criteria"] = json!({"escalate_keywords": ["drop"], "risk_threshold": 0.7});
    assert_eq!(smart(own).as_deref(), Some("drop"));
    let one_shot = made(&json!({"use_ag2_handoffs": true}));
    assert!(one_shot.gates.mandatory.is_empty(), "there is no plan");
    let hands_over = |definition: &Definition| {
        let tools = definition.agents.values().flat_map(|agent| agent.tools.clone());
        tools.filter(|tool| tool.starts_with("handoff_to_")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        hands_over(&one_shot),
        "handoff_to_researcher handoff_to_admin handoff_to_engineer handoff_to_admin"
    );
    assert_eq!(hands_over(&made(&json!({}))), "");
}

#[test]
fn whatever_can_not_be_is_named() {
    let table = [
        (
            json!({"mode": "ocr"}),
            "/config/mode",
            "expected one of: one_shot, planning_control, hitl_interactive, idea_generation, copilot, autonomous, \
             review_plan, step_by_step, error_recovery",
        ),
        (
            json!({"preset": "one_shot"}),
            "/config/preset",
            "expected one of: copilot, autonomous, review_plan, step_by_step, error_recovery",
        ),
        (json!({"mode": 5}), "/config/mode", "expected one of"),
        (json!({"mode": "one-shot", "preset": "autonomous"}), "/config/preset", "omit one of them"),
        (json!({"mode": "hitl-interactive", "hitlVariant": "x"}), "/config/hitlVariant", "expected one of"),
        (json!({"maxRounds": 5, "max_rounds": 6}), "/config/max_rounds", "omit one of them"),
        (json!({"max_rouns": 5}), "/config/max_rouns", "not a known key"),
        (json!({"a/b": 5}), "/config/a~1b", "not a known key"),
        // Keys without effect are checked as strictly as keys with an effect.
        (json!({"availableAgents": "engineer"}), "/config/availableAgents", "list of names"),
        (json!({"saveJson": "yes"}), "/config/saveJson", "`true` or `false`"),
        (json!({"maxTurns": -1}), "/config/maxTurns", "whole number"),
        (
            json!({"intelligentRouting": "wild"}),
            "/config/intelligentRouting",
            "expected one of: balanced, minimal, aggressive",
        ),
        (json!({"summarizerModel": 5}), "/config/summarizerModel", "text"),
        (json!({"mode": "one-shot", "hitlVariant": "x"}), "/config/hitlVariant", "expected one of"),
        (json!({"mode": "one-shot", "approvalMode": "x"}), "/config/approvalMode", "expected one of"),
        (json!({"mode": "one-shot", "maxPlanSteps": 0}), "/config/maxPlanSteps", "whole number"),
        (json!({"mode": "one-shot", "allowStepSkip": 1}), "/config/allowStepSkip", "`true` or `false`"),
        (
            json!({"mode": "one-shot", "default_on_timeout": "reject"}),
            "/config/default_on_timeout",
            "has no effect",
        ),
        (json!({"ideaMakerModel": 5}), "/config/ideaMakerModel", "text"),
        (json!({"ag2_smart_approval": 1}), "/config/ag2_smart_approval", "`true` or `false`"),
        (
            json!({"ag2_smart_criteria": {"keywords": "delete"}}),
            "/config/ag2_smart_criteria/keywords",
            "list",
        ),
        (json!({"ag2_smart_criteria": {"mood": 1}}), "/config/ag2_smart_criteria/mood", "not a known key"),
        (json!({"max_rounds": 0}), "/config/max_rounds", "whole number"),
        (json!({"max_rounds": "5"}), "/config/max_rounds", "whole number"),
        (json!({"approval_mode": "always"}), "/config/approval_mode", "expected one of"),
        (
            json!({"mode": "hitl-interactive", "approval_mode": "conversational"}),
            "/config/approval_mode",
            "expected",
        ),
        (json!({"timeout_seconds": 0}), "/config/timeout_seconds", "seconds"),
        (json!({"timeout_seconds": 1e12}), "/config/timeout_seconds", "seconds"),
        (json!({"tool_approval": "ask"}), "/config/tool_approval", "expected one of"),
        (json!({"use_ag2_handoffs": "yes"}), "/config/use_ag2_handoffs", "`true` or `false`"),
        (
            json!({"ag2_mandatory_checkpoints": ["later"]}),
            "/config/ag2_mandatory_checkpoints/0",
            "not a checkpoint",
        ),
        (json!({"agent": "hacker"}), "/config/agent", "not an agent"),
        (
            json!({"mode": "planning-control", "execute_all_steps": false}),
            "/config/execute_all_steps",
            "needs `step_number`",
        ),
        (
            json!({"mode": "planning-control", "step_number": 2, "execute_all_steps": true}),
            "/config/execute_all_steps",
            "step_number",
        ),
        (
            json!({"mode": "hitl-interactive", "show_intermediate_plans": false}),
            "/config/show_intermediate_plans",
            "can only be true",
        ),
        (json!({"phases": []}), "/config/phases", "1 to 20"),
        (json!({"phases": [{"type": "dance"}]}), "/config/phases/0/type", "expected one of"),
        (json!({"phases": [{"type": "control"}]}), "/config/phases/0", "no earlier phase makes one"),
        (
            json!({"phases": [{"type": "one_shot", "config": {"n_ideas": 1}}]}),
            "/config/phases/0/config/n_ideas",
            "has no effect",
        ),
        (json!({"phases": [{"type": "one_shot", "extra": 1}]}), "/config/phases/0/extra", "not a known key"),
        (json!({"phases": [{"type": "one_shot"}], "mode": "one-shot"}), "/config/mode", "omit one of them"),
        (json!({"phases": []}), "/config/phases", "phase"),
    ];
    for (config, pointer, words) in table {
        let problems = translate_config(&config).map(drop).unwrap_err();
        let found = problems.iter().any(|(at, message)| at == pointer && message.contains(words));
        assert!(found, "{config}: {problems:?}");
    }
}

/// Keys inside a phase apply only to requests of this phase. Keys outside `phases` apply to each phase that knows the
/// key. An expiry never approves a step.
#[test]
fn each_phase_has_its_own_requests() {
    let one = |kind: &str, config: Value| json!({"type": kind, "config": config});
    let look = |config: Value| one("hitl_checkpoint", config);
    let list = |phases: Vec<Value>| json!({ "phases": phases });
    let approve = || json!({"default_on_timeout": "approve", "timeout_seconds": 5});
    let mut beside = list(vec![look(json!({})), one("one_shot", json!({"approval_mode": "both"}))]);
    beside["timeout_seconds"] = json!(9);
    beside["default_on_timeout"] = json!("approve");
    let table = [
        (
            list(vec![
                look(approve()),
                look(json!({"timeout_seconds": 6})),
                look(json!({"default_on_timeout": "reject"})),
            ]),
            "hitl_checkpoint_custom: checkpoint 5 approve | hitl_checkpoint_custom_2: checkpoint 6 \
             | hitl_checkpoint_custom_3: checkpoint 3600 reject",
        ),
        (
            list(vec![
                look(approve()),
                one("one_shot", json!({"approval_mode": "before_step", "timeout_seconds": 7})),
                look(json!({})),
            ]),
            "hitl_checkpoint_custom: checkpoint 5 approve | one_shot: checkpoint 7, error 1800 \
             | hitl_checkpoint_custom_2: checkpoint 3600",
        ),
        (
            list(vec![
                one("hitl_planning", json!({"allow_plan_modification": false, "timeout_seconds": 8})),
                one("hitl_control", json!({"allow_step_skip": false, "approval_mode": "both"})),
                look(json!({})),
                one("hitl_control", json!({"allow_step_modification": false})),
                one("planning", json!({})),
            ]),
            "hitl_planning: plan_approval 8 (approve revise reject) \
             | hitl_control: checkpoint 1800 (approve edit continue redo reject abort), error 1800 (retry hand_over abort) \
             | hitl_checkpoint_custom: checkpoint 3600 \
             | hitl_control_2: checkpoint 1800 (approve continue redo skip reject abort), error 1800 \
             | planning: plan_approval 3600",
        ),
        (beside, "hitl_checkpoint_custom: checkpoint 9 approve | one_shot: checkpoint 9, error 9"),
    ];
    for (config, expected) in table {
        let found = describe_requests(&made(&config), &[Kind::PlanApproval, Kind::Checkpoint, Kind::Error]);
        assert_eq!(found.join(" | "), expected, "{config}");
    }
    for kind in ["one_shot", "control", "hitl_control"] {
        let config =
            list(vec![one("planning", json!({})), one(kind, json!({"default_on_timeout": "approve"}))]);
        let problems = translate_config(&config).map(drop).unwrap_err();
        assert_eq!(problems[0].0, "/config/phases/1/config/default_on_timeout", "{problems:?}");
    }
}

/// A config cannot weaken a workflow `mars` in the server's workflow folder.
#[test]
fn what_the_base_asks_no_config_takes_away() {
    let own = |gates: &str| {
        let text = include_str!("../../src/mars/base.yaml");
        let (head, _) = text.split_once("\ngates:").unwrap();
        let text = format!("{head}\ngates:\n{gates}");
        holdshort_workflow::parse("mars.yaml", &text, &holdshort_tools::catalogue(&[])).unwrap()
    };
    let base = own("  plan: ask
  before_step: ask
  after_step: ask
  on_error: ask
  mandatory: [before_deploy]
  smart: {keywords: [wipe], judge: off}
  checkpoint: {expires_in: 10s, on_expiry: reject}
  rules:
    - {tools: [read_file], do: allow}
");
    for config in [
        json!({"mode": "planning-control", "approval_mode": "never"}),
        json!({"preset": "autonomous", "auto_approve_successful_steps": true, "toolApproval": "auto_allow_all"}),
        json!({"mode": "planning-control", "use_ag2_handoffs": true, "ag2_mandatory_checkpoints": []}),
    ] {
        let definition = over(&base, &config).unwrap().definition;
        let gates = &definition.gates;
        assert_eq!(shape(&definition), "plan: planning before after error, control before after error");
        assert!(definition.phases.iter().all(|phase| !phase.gates.unless_clean), "{config}");
        assert_eq!(gates.rules, base.gates.rules, "{config}");
        assert_eq!((&gates.mandatory, &gates.smart), (&base.gates.mandatory, &base.gates.smart), "{config}");
        let control = &describe_requests(&definition, &[Kind::Checkpoint, Kind::Error])[1];
        assert_eq!(control, "control: checkpoint 10 reject, error 1800");
    }
    let config = json!({"mode": "hitl-interactive", "require_explicit_approval": false});
    let settles = |base: &Definition| {
        let definition = over(base, &config).unwrap().definition;
        definition.phases.iter().any(|phase| phase.kind.planning().is_some_and(|planning| planning.settles))
    };
    assert_eq!([settles(&base), settles(&shipped().unwrap())], [false, true]);
    for (config, pointer) in [
        (json!({"mode": "planning-control", "timeout_seconds": 11}), "/config/timeout_seconds"),
        (
            json!({"phases": [{"type": "hitl_checkpoint"}], "default_on_timeout": "approve"}),
            "/config/default_on_timeout",
        ),
    ] {
        let problems = over(&base, &config).map(drop).unwrap_err();
        assert!(problems.iter().any(|(at, _)| at == pointer), "{config}: {problems:?}");
    }

    // A config cannot weaken the workflow's settings for a phase either, and cannot leave only options that approve.
    let text = include_str!("../../src/mars/base.yaml").replace(
        "message: Shall the work go on?, when_no_channel: auto}",
        "message: m, gates: {checkpoint: {expires_in: 20s, on_expiry: reject}}}",
    );
    let text = format!(
        "{text}  error: {{options: [retry]}}\n  checkpoint: {{options: [approve, continue, skip, reject]}}\n"
    );
    let phased = holdshort_workflow::parse("mars.yaml", &text, &holdshort_tools::catalogue(&[])).unwrap();
    let one = |kind: &str, config: Value| json!({"phases": [{"type": "planning"}, {"type": kind, "config": config}]});
    let found = over(&phased, &one("hitl_control", json!({"timeout_seconds": 21, "allow_step_skip": false})));
    assert_eq!(
        describe_requests(&found.unwrap().definition, &[Kind::Checkpoint])[1],
        "hitl_control: checkpoint 21 (approve continue reject)"
    );
    let found = over(&phased, &one("hitl_checkpoint", json!({"timeout_seconds": 20}))).unwrap();
    assert_eq!(
        describe_requests(&found.definition, &[Kind::Checkpoint])[1],
        "hitl_checkpoint_custom: checkpoint 20 reject (approve continue skip reject)"
    );
    for (config, key) in [
        (one("hitl_checkpoint", json!({"timeout_seconds": 21})), "timeout_seconds"),
        (one("hitl_checkpoint", json!({"default_on_timeout": "approve"})), "default_on_timeout"),
        (
            one("hitl_control", json!({"approval_mode": "both", "allow_step_retry": false})),
            "allow_step_retry",
        ),
    ] {
        let problems = over(&phased, &config).map(drop).unwrap_err();
        assert!(
            problems.iter().all(|(at, _)| *at == format!("/config/phases/1/config/{key}")),
            "{problems:?}"
        );
    }

    // A config may add checkpoints to those of the base workflow.
    let smart = json!({"mode": "hitl-interactive", "use_ag2_handoffs": true, "ag2_smart_approval": true});
    let found = over(&base, &smart).unwrap().definition.gates;
    let words = found.smart.map(|smart| smart.keywords.join(" "));
    assert_eq!(words.as_deref(), Some("wipe delete production deploy critical irreversible"));
    assert_eq!(found.mandatory.len(), 2);
    // If the base workflow allows all calls, a config may remove the rule that allows them.
    let free = own("  rules:\n    - {tools: [\"*\"], do: allow}\n");
    let rules =
        |word: &str| over(&free, &json!({"tool_approval": word})).unwrap().definition.gates.rules.len();
    assert_eq!([rules("none"), rules("prompt")], [1, 0]);
}

#[test]
fn the_mode_is_named_however_it_is_written() {
    for (config, mode) in [
        (json!({}), "one-shot"),
        (json!({"Mode": "Planning_Control"}), "planning-control"),
        (json!({"preset": "review_plan", "mode": null}), "review_plan"),
        (json!({"phases": [{"type": "planning"}]}), "phases"),
    ] {
        assert_eq!(config::mode_of(&config), mode, "{config}");
    }
    let checkpoints = json!({"phases": [
        {"type": "hitl_checkpoint", "config": {"checkpoint_type": "after_planning"}},
        {"type": "hitl_checkpoint", "config": {"checkpoint_type": "after_planning"}},
        {"type": "hitl_checkpoint"},
        {"type": "one_shot"},
    ]});
    let phases = translate_config(&checkpoints).unwrap().definition.phases;
    let position = |phase: &Phase| match &phase.kind {
        PhaseKind::Checkpoint(look) => look.position.clone(),
        _ => None,
    };
    let positions: Vec<Option<String>> = phases.iter().map(position).collect();
    let of_checkpoints = ["after_planning", "after_planning", "custom"].map(|each| Some(each.to_owned()));
    assert_eq!(positions, [&of_checkpoints[..], &[None]].concat());
}

/// A plan is executed without an approval only after the configured number of plans was shown, never earlier (contract
/// A13).
#[test]
fn nothing_settles_before_enough_plans_were_shown() {
    let of = |config: Value| {
        let mut config = config;
        config["mode"] = json!("hitl-interactive");
        config["require_explicit_approval"] = json!(false);
        let definition = translate_config(&config)?.definition;
        let planning =
            definition.phases.into_iter().find_map(|phase| phase.kind.planning().cloned()).unwrap();
        Ok((planning.iterations, planning.settles))
    };
    for (config, expected) in [
        (json!({}), (3, true)),
        (json!({"auto_approve_after_iterations": 1}), (1, true)),
        (json!({"auto_approve_after_iterations": 2, "max_human_iterations": 5}), (2, true)),
        (json!({"auto_approve_after_iterations": 2, "max_human_iterations": 2}), (2, true)),
        // The default of `auto_approve_after_iterations` is larger than `max_human_iterations`, so no plan is executed
        // without an approval.
        (json!({"max_human_iterations": 2}), (2, false)),
    ] {
        assert_eq!(of(config.clone()), Ok(expected), "{config}");
    }
    let problems: Vec<(String, String)> =
        of(json!({"auto_approve_after_iterations": 5, "max_human_iterations": 1})).unwrap_err();
    assert_eq!(problems[0].0, "/config/auto_approve_after_iterations");
}
