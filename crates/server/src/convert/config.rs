//! Converts the configuration of a run. A rule with an unknown tool or agent is rejected, because a `forbid` rule with
//! a misspelt name would forbid nothing. A rule without criteria is also rejected, because it would match every call.

use holdshort_core::definition::{self, Definition};
use holdshort_core::policy::{ChangeScope, Rule};
use holdshort_core::run;
use holdshort_core::schema::Problem;
use holdshort_core::tool;
use holdshort_protocol::{GateConfig, RunConfig, SmartConfig};
use holdshort_web::limits::LINE_BYTES;
use holdshort_web::problem::{Answer, Refused};
use holdshort_web::view::policy::{read_checkpoint, read_rule};

/// Maximum number of keywords that the configuration of a run may add to the workflow's smart approval.
const MAX_KEYWORDS: usize = 200;

pub(crate) fn config(config: Option<RunConfig>, definition: &Definition) -> Answer<run::Config> {
    let Some(config) = config else { return Ok(run::Config::default()) };
    if definition.is_external() {
        return Err(Refused::invalid_at(
            "/config",
            "is not supported in this workflow, because Holdshort executes nothing in it",
        ));
    }
    let mut problems = Vec::new();
    if config.model.as_ref().is_some_and(|name| !is_line(name)) {
        problems.push(Problem::new("/config/model", "is not a valid model name"));
    }
    let mut gates = config.gates.unwrap_or_default();
    let rules: Vec<Rule> = std::mem::take(&mut gates.rules).into_iter().map(read_rule).collect();
    for (i, rule) in rules.iter().enumerate() {
        check(rule, definition, &format!("/config/gates/rules/{i}"), &mut problems);
    }
    if let Some(smart) = &gates.smart {
        check_smart(smart, &mut problems);
    }
    if config.asking.is_some_and(|asking| asking.enabled) && !definition.asking.enabled {
        problems.push(Problem::new(
            "/config/asking/enabled",
            "is turned off in this workflow, and a run cannot turn it on",
        ));
    }
    for (i, name) in config.without_tools.iter().enumerate() {
        let why = match definition.tools.get(name).map(|spec| &spec.runs) {
            None => unknown_tool(name, definition),
            Some(
                tool::Runs::Here { .. }
                | tool::Runs::Client { .. }
                | tool::Runs::Opens(tool::Opens::Question),
            ) => continue,
            Some(
                tool::Runs::Opens(_) | tool::Runs::HandsOver(_) | tool::Runs::Begins(_) | tool::Runs::Records,
            ) => format!(
                "`{name}` cannot be excluded, because this workflow needs the tool to continue or \
                to end its work"
            ),
        };
        problems.push(Problem::new(format!("/config/without_tools/{i}"), why));
    }
    if !problems.is_empty() {
        return Err(Refused::invalid(problems));
    }
    Ok(run::Config {
        asks_nobody: config.asking.is_some_and(|asking| !asking.enabled),
        without_tools: config.without_tools.into_iter().collect(),
        workspace: config.workspace,
        model: config.model,
        unattended: config.unattended,
        gates: self::gates(gates, rules),
        unreviewed: false,
    })
}

fn unknown_tool(name: &str, definition: &Definition) -> String {
    let known: Vec<&str> = definition.tools.keys().map(String::as_str).collect();
    format!("`{name}` is not a tool of this workflow; its tools are: {}", known.join(", "))
}

fn is_line(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= LINE_BYTES && !text.chars().any(char::is_control)
}

fn check(rule: &Rule, definition: &Definition, at: &str, problems: &mut Vec<Problem>) {
    let no_globs = Vec::new();
    let changes = match &rule.changes {
        Some(ChangeScope::Paths(globs)) => globs,
        Some(ChangeScope::None | ChangeScope::Ignored) | None => &no_globs,
    };
    let lists = [
        ("tools", &rule.tools),
        ("commands", &rule.commands),
        ("paths", &rule.paths),
        ("urls", &rule.urls),
        ("agents", &rule.agents),
        ("changes", changes),
    ];
    if matches!(&rule.changes, Some(ChangeScope::Paths(globs)) if globs.is_empty()) {
        problems.push(Problem::new(format!("{at}/changes"), "is empty; omit it, or write `none`"));
    }
    if rule.deletes == Some(0) {
        problems.push(Problem::new(format!("{at}/deletes"), "must be at least 1"));
    }
    if !rule.has_criterion() {
        problems.push(Problem::new(at, Rule::MISSING_CRITERION));
    }
    for (key, list) in lists {
        for (i, each) in list.iter().enumerate() {
            let message = if !is_line(each) {
                Some(format!("is empty, longer than {LINE_BYTES} bytes, or contains control characters"))
            } else if key == "tools" && each != "*" && !definition.tools.contains_key(each) {
                Some(unknown_tool(each, definition))
            } else if key == "urls" {
                holdshort_core::web::Pattern::parse(each).err()
            } else if key == "agents" && !definition.agents.contains_key(each) {
                let known: Vec<&str> = definition.agents.keys().map(String::as_str).collect();
                let known = known.join(", ");
                Some(format!("`{each}` is not an agent of this workflow; its agents are: {known}"))
            } else {
                None
            };
            problems.extend(message.map(|message| Problem::new(format!("{at}/{key}/{i}"), message)));
        }
    }
}

fn check_smart(smart: &SmartConfig, problems: &mut Vec<Problem>) {
    let keywords = smart.keywords.as_deref().unwrap_or_default();
    if keywords.len() > MAX_KEYWORDS {
        let message = format!("contains more than {MAX_KEYWORDS} keywords");
        problems.push(Problem::new("/config/gates/smart/keywords", message));
    }
    for (i, keyword) in keywords.iter().enumerate() {
        if !is_line(keyword) || !holdshort_core::gate::smart::is_keyword(keyword) {
            let message = format!(
                "contains no word, is longer than {LINE_BYTES} bytes, or contains control characters"
            );
            problems.push(Problem::new(format!("/config/gates/smart/keywords/{i}"), message));
        }
    }
    if smart.judge.as_ref().is_some_and(|name| !is_line(name)) {
        problems.push(Problem::new("/config/gates/smart/judge", "is not a valid model name"));
    }
}

fn smart(smart: SmartConfig) -> definition::Smart {
    let usual = definition::Smart::default();
    definition::Smart {
        keywords: smart.keywords.unwrap_or(usual.keywords),
        judge: match smart.judge.as_deref() {
            None | Some("run") => definition::Judge::Run,
            Some("off") => definition::Judge::Off,
            Some(name) => definition::Judge::Model(name.to_owned()),
        },
    }
}

fn gates(gates: GateConfig, rules: Vec<Rule>) -> run::Gates {
    run::Gates {
        rules,
        mandatory: gates.mandatory.into_iter().map(read_checkpoint).collect(),
        smart: gates.smart.map(smart),
        plan: gates.plan.is_some(),
        before_step: gates.before_step.is_some(),
        after_step: gates.after_step.is_some(),
        on_error: gates.on_error.is_some(),
    }
}
