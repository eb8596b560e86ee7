//! Rules file: its content, and its problems with line and column.

use holdshort_core::policy::RuleAction;
use holdshort_workflow::rules_file::parse;

#[test]
fn tools_and_agents_may_be_any() {
    let text = "rules:\n  - {tools: [shell], commands: [\"git push *\"], do: forbid, reason: No.}\n  \
                - {agents: [billing-bot], tools: [lookup_order], do: allow}\n  - {tools: [\"*\"], do: ask}\n";
    let rules = parse("rules.yaml", text).expect("it is right");
    let told: Vec<_> = rules.iter().map(|rule| (rule.action, rule.tools.join(" "))).collect();
    assert_eq!(
        told,
        [
            (RuleAction::Forbid, "shell".to_owned()),
            (RuleAction::Allow, "lookup_order".to_owned()),
            (RuleAction::Ask, String::new()),
        ],
    );
    assert_eq!(
        (rules[0].reason.as_deref(), rules[1].agents.join(" ")),
        (Some("No."), "billing-bot".to_owned())
    );
    assert_eq!(parse("rules.yaml", "rules: []\n"), Ok(Vec::new()));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (text, place) in [
        ("", "1:1"),
        ("rule: []\n", "1:1"),
        ("rules:\n  - {do: allow}\n", "2:5"),
        ("rules:\n  - {tols: [shell], do: forbid}\n", "2:6"),
        ("rules:\n  - {tools: [shell], do: maybe}\n", "2:26"),
        ("rules:\n  - {tools: [], do: allow}\n", "2:13"),
        ("rules:\n  - {paths: [\"/etc\"], do: allow}\n", "2:14"),
    ] {
        let problems = parse("rules.yaml", text).expect_err(text);
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(told.iter().any(|told| told.contains(&format!("rules.yaml:{place}"))), "{text}: {told:?}");
    }
}
