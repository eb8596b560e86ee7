//! Reads `gates.rules`: which calls are allowed, asked about or forbidden. This module checks that each rule can match
//! a call at all.
//!
//! A rule that names a tool that no agent has is a problem: a `forbid` rule with a misspelt name would not stop the
//! call.

use holdshort_core::policy::ChangeScope;
use holdshort_core::policy::{Rule, RuleAction};
use holdshort_core::tool::{self, Category};
use holdshort_core::web::Pattern;

use super::agents::{Agents, listed};
use crate::bounds;
use crate::item::{Fields, Item, Keys};
use crate::problem::Problems;
use crate::yaml::Value;

const CRITERIA: &[&str] = KEYS.known.split_at(2).1;
const KEYS: Keys = Keys {
    known: &[
        "do",
        "reason",
        // The other keys are criteria.
        "tools",
        "commands",
        "paths",
        "urls",
        "categories",
        "agents",
        "changes",
        "deletes",
    ],
    later: &[],
};
const SCOPES: [(&str, Scope); 2] = [("none", Scope::None), ("ignored", Scope::Ignored)];
const ACTIONS: [(&str, RuleAction); 3] =
    [("allow", RuleAction::Allow), ("ask", RuleAction::Ask), ("forbid", RuleAction::Forbid)];
const CATEGORIES: [(&str, Category); 6] = [
    ("read_only", Category::ReadOnly),
    ("file_write", Category::FileWrite),
    ("bash", Category::Bash),
    ("code_exec", Category::CodeExec),
    ("install", Category::Install),
    ("web", Category::Web),
];
/// Shell operators between commands, and redirections, which a pattern for commands must not contain.
const OPERATORS: [&str; 9] = ["|", "||", "&", "&&", ";", ">", ">>", "<", "2>&1"];
/// Name in `tools` of a rule that means every tool: a rule with `tools: ["*"]` applies to every call.
const EVERY_TOOL: &str = "*";

/// Reads the rules of the installation's rules file, for which the existing agents and tools are unknown.
pub(crate) fn of_installation(item: &Item<'_>, problems: &mut Problems) -> Option<Vec<Rule>> {
    read(item, None, &[], problems)
}

pub(super) fn read(
    item: &Item<'_>,
    agents: Option<&Agents>,
    catalogue: &[tool::Spec],
    problems: &mut Problems,
) -> Option<Vec<Rule>> {
    let items = item.list(bounds::RULES, problems)?;
    Some(items.iter().filter_map(|item| rule(item, agents, catalogue, problems)).collect())
}

fn rule(
    item: &Item<'_>,
    agents: Option<&Agents>,
    catalogue: &[tool::Spec],
    problems: &mut Problems,
) -> Option<Rule> {
    let fields = item.fields(&KEYS, problems)?;
    let action = fields.need("do", problems).and_then(|item| item.one_of(&ACTIONS, problems));
    for key in CRITERIA {
        if let Some(criterion) = fields.find(key)
            && matches!(&criterion.node.value, Value::List(list) if list.is_empty())
        {
            problems.at(criterion, format!("`{key}` is empty and would match every call; leave it out"));
        }
    }
    if CRITERIA.iter().all(|key| fields.find(key).is_none() && !fields.was_meant(key)) {
        problems.at(item, format!("a rule {}", Rule::MISSING_CRITERION));
    }
    let rule = Rule {
        tools: tools(&fields, agents, catalogue, problems),
        commands: commands(&fields, problems),
        paths: paths(&fields, problems),
        urls: urls(&fields, problems),
        categories: categories(&fields, problems),
        agents: rule_agents(&fields, agents, problems),
        changes: fields.find("changes").and_then(|item| scope(item, problems)),
        deletes: fields
            .find("deletes")
            .and_then(|item| item.count(u64::from(u32::MAX), problems))
            .and_then(|count| u32::try_from(count).ok()),
        action: action.unwrap_or_default(),
        reason: fields.find("reason").and_then(|item| item.text(bounds::LINE, problems)),
    };
    if let Some(agents) = agents {
        can_match(&fields, &rule, agents, catalogue, problems);
    }
    Some(rule)
}

fn strings<'a>(fields: &Fields<'a>, key: &str, problems: &mut Problems) -> Vec<(String, Item<'a>)> {
    fields.find(key).and_then(|item| item.texts(bounds::LIST, bounds::LINE, problems)).unwrap_or_default()
}

/// Reads the full names of tools in a rule. Returns an empty list for `["*"]`, which matches every tool.
fn tools(
    fields: &Fields<'_>,
    agents: Option<&Agents>,
    catalogue: &[tool::Spec],
    problems: &mut Problems,
) -> Vec<String> {
    let texts = strings(fields, "tools", problems);
    let had = agents.map(Agents::tools);
    let mut tools = Vec::new();
    for (text, item) in &texts {
        if text == EVERY_TOOL {
            if texts.len() > 1 {
                problems.at(item, "`*` matches every tool: do not list other tools with it");
            }
            continue;
        }
        // For the rules file, the tools of the agents are unknown. Therefore names of tools are not checked.
        let Some(had) = &had else {
            tools.push(text.clone());
            continue;
        };
        if had.contains(text.as_str()) {
            tools.push(text.clone());
            continue;
        }
        let there = listed(had.iter().copied());
        let why = if catalogue.iter().any(|spec| spec.name == *text) {
            format!("no agent has the tool `{text}`, so this rule would never match it")
        } else if text.contains('*') {
            format!(
                "tools match by their full names, and there is no tool `{text}`; the agents have these \
                tools: {there}"
            )
        } else {
            format!("there is no tool `{text}`; the agents have these tools: {there}")
        };
        problems.unknown(item, text, why, had.iter().copied());
    }
    tools
}

/// Reads the patterns of a rule for the words of one simple command. A pattern with quotes or operators is rejected,
/// because it could never match: these are removed from the command before the comparison.
fn commands(fields: &Fields<'_>, problems: &mut Problems) -> Vec<String> {
    let mut patterns = strings(fields, "commands", problems);
    patterns.retain(|(pattern, item)| {
        let stray = pattern.split_whitespace().find(|word| OPERATORS.contains(word));
        let stray = stray.or_else(|| ["\"", "'"].into_iter().find(|quote| pattern.contains(*quote)));
        if let Some(stray) = stray {
            let message =
                format!("a pattern holds the words of one command; with `{stray}` it would never match");
            problems.at(item, message);
        }
        stray.is_none()
    });
    patterns.into_iter().map(|(pattern, _)| pattern).collect()
}

/// Reads `changes` of a rule: a word such as `none`, or a list of globs.
fn scope(item: &Item<'_>, problems: &mut Problems) -> Option<ChangeScope> {
    if matches!(item.node.value, Value::List(_)) {
        let texts = item.texts(bounds::LIST, bounds::LINE, problems).unwrap_or_default();
        return Some(ChangeScope::Paths(globs(texts, problems)));
    }
    Some(match item.one_of(&SCOPES, problems)? {
        Scope::None => ChangeScope::None,
        Scope::Ignored => ChangeScope::Ignored,
    })
}

#[derive(Clone, Copy)]
enum Scope {
    None,
    Ignored,
}

fn paths(fields: &Fields<'_>, problems: &mut Problems) -> Vec<String> {
    globs(strings(fields, "paths", problems), problems)
}

/// Reads the globs of a rule for paths relative to the workspace.
fn globs(texts: Vec<(String, Item<'_>)>, problems: &mut Problems) -> Vec<String> {
    let mut paths = Vec::new();
    for (text, item) in texts {
        if text.starts_with('/') || text.split('/').any(|part| part == "..") {
            problems.at(
                &item,
                "a path is relative to the workspace, without `..`; this pattern would never \
                match",
            );
        } else if let Err(error) = globset::Glob::new(&text) {
            problems.at(&item, format!("not a glob: {}", error.kind()));
        } else {
            paths.push(text);
        }
    }
    paths
}

/// Reads the patterns of a rule for the host and the path of a URL.
fn urls(fields: &Fields<'_>, problems: &mut Problems) -> Vec<String> {
    let mut patterns = strings(fields, "urls", problems);
    patterns.retain(|(pattern, item)| match Pattern::parse(pattern) {
        Ok(_) => true,
        Err(why) => {
            problems.at(item, why);
            false
        }
    });
    patterns.into_iter().map(|(pattern, _)| pattern).collect()
}

fn categories(fields: &Fields<'_>, problems: &mut Problems) -> Vec<Category> {
    let items = fields.find("categories").and_then(|item| item.list(bounds::LIST, problems));
    items.unwrap_or_default().iter().filter_map(|item| item.one_of(&CATEGORIES, problems)).collect()
}

fn rule_agents(fields: &Fields<'_>, agents: Option<&Agents>, problems: &mut Problems) -> Vec<String> {
    let mut names = Vec::new();
    for (text, item) in strings(fields, "agents", problems) {
        match agents {
            Some(agents) if !agents.has(&text) => {
                problems.unknown(&item, &text, format!("there is no agent `{text}`"), agents.names());
            }
            _ => names.push(text),
        }
    }
    names
}

/// Reports a problem if a rule has patterns for commands or URLs, but no tool of the rule has such an argument.
fn can_match(
    fields: &Fields<'_>,
    rule: &Rule,
    agents: &Agents,
    catalogue: &[tool::Spec],
    problems: &mut Problems,
) {
    let had = agents.tools();
    let is_covered =
        |name: &str| had.contains(name) && (rule.tools.is_empty() || rule.tools.iter().any(|t| t == name));
    for (key, patterns, argument, what) in [
        ("commands", &rule.commands, "/properties/command", "a command"),
        ("urls", &rule.urls, "/properties/url", "a URL"),
    ] {
        let Some(item) = fields.find(key).filter(|_| !patterns.is_empty()) else { continue };
        let takes_it = |spec: &tool::Spec| spec.parameters.pointer(argument).is_some();
        if !catalogue.iter().any(|spec| is_covered(&spec.name) && takes_it(spec)) {
            problems.at(
                item,
                format!(
                    "none of the tools of this rule takes {what}, so the rule would never \
                    match"
                ),
            );
        }
    }
}
