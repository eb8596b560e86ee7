//! Converts the configuration of a run. A rule with an unknown tool or agent is rejected, because a `forbid` rule with
//! a misspelt name would forbid nothing. A rule without criteria is also rejected, because it would match every call.

use holdshort_core::definition::{self, Definition};
use holdshort_core::policy;
use holdshort_core::run;
use holdshort_core::schema::Problem;
use holdshort_core::tool;
use holdshort_protocol::{
    Category, ChangeScope, ChangeWord, Checkpoint, GateConfig, Rule, RuleAction, RunConfig, SmartConfig,
};
use holdshort_web::limits::LINE_BYTES;
use holdshort_web::problem::{Answer, Refused};

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
    let gates = config.gates.unwrap_or_default();
    for (i, rule) in gates.rules.iter().enumerate() {
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
        gates: self::gates(gates),
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
        Some(ChangeScope::Word(_)) | None => &no_globs,
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
    let speaks_of_changes = rule.changes.is_some() || rule.deletes.is_some();
    if rule.categories.is_empty() && !speaks_of_changes && lists.iter().all(|(_, list)| list.is_empty()) {
        let message = "needs a criterion: `tools`, `commands`, `paths`, `urls`, `categories`, `agents`, `changes` or `deletes`; \
                       `tools: [\"*\"]` matches every call";
        problems.push(Problem::new(at, message));
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

fn gates(gates: GateConfig) -> run::Gates {
    run::Gates {
        rules: gates.rules.into_iter().map(rule).collect(),
        mandatory: gates.mandatory.into_iter().map(checkpoint).collect(),
        smart: gates.smart.map(smart),
        plan: gates.plan.is_some(),
        before_step: gates.before_step.is_some(),
        after_step: gates.after_step.is_some(),
        on_error: gates.on_error.is_some(),
    }
}

fn checkpoint(checkpoint: Checkpoint) -> policy::Checkpoint {
    match checkpoint {
        Checkpoint::AfterPlanning => policy::Checkpoint::AfterPlanning,
        Checkpoint::BeforeFileEdit => policy::Checkpoint::BeforeFileEdit,
        Checkpoint::BeforeExecution => policy::Checkpoint::BeforeExecution,
        Checkpoint::BeforeDeploy => policy::Checkpoint::BeforeDeploy,
    }
}

fn rule(rule: Rule) -> policy::Rule {
    policy::Rule {
        tools: rule.tools,
        commands: rule.commands,
        paths: rule.paths,
        urls: rule.urls,
        categories: rule.categories.into_iter().map(category).collect(),
        agents: rule.agents,
        changes: rule.changes.map(|scope| match scope {
            ChangeScope::Word(ChangeWord::None) => policy::ChangeScope::None,
            ChangeScope::Word(ChangeWord::Ignored) => policy::ChangeScope::Ignored,
            ChangeScope::Paths(globs) => policy::ChangeScope::Paths(globs),
        }),
        deletes: rule.deletes,
        action: match rule.action {
            RuleAction::Allow => policy::RuleAction::Allow,
            RuleAction::Ask => policy::RuleAction::Ask,
            RuleAction::Forbid => policy::RuleAction::Forbid,
        },
        reason: rule.reason,
    }
}

fn category(category: Category) -> tool::Category {
    match category {
        Category::ReadOnly => tool::Category::ReadOnly,
        Category::FileWrite => tool::Category::FileWrite,
        Category::Bash => tool::Category::Bash,
        Category::CodeExec => tool::Category::CodeExec,
        Category::Install => tool::Category::Install,
        Category::Web => tool::Category::Web,
    }
}
