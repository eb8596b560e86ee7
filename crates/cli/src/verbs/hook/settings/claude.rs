//! Hooks in the settings of Claude Code (`settings.json`).
//!
//! Claude Code ignores a whole settings file, without a word, if the file contains a comment or a hook of the wrong
//! shape. Such a file is refused.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::json::{self, NewHook, Syntax};
use super::types::{Added, Folders, HookEntry, Inspection, Source, source};
use crate::verbs::hook::versions::CLAUDE_ON_FAILURE;

pub(super) const SYNTAX: Syntax = Syntax { has_comments: false, has_groups: true, switches: &[] };
pub(super) const EVENTS: &[&str] = &["PreToolUse", "PermissionRequest", "Elicitation", "PostToolUse"];
/// Tools that change a file, whose result is compared with what was approved.
const EDITS: &str = "Edit|MultiEdit|NotebookEdit|Write";

pub(super) fn sources(folders: &Folders, root: &Path) -> Vec<Source> {
    let managed = folders.system.join("etc/claude-code/managed-settings.json");
    let mac = folders.system.join("Library/Application Support/ClaudeCode/managed-settings.json");
    [
        folders.claude.join("settings.json"),
        root.join(".claude/settings.json"),
        root.join(".claude/settings.local.json"),
        managed,
        mac,
    ]
    .map(source)
    .into()
}

/// Returns the hooks to register. All tools pass `PreToolUse`, also questions to the person (`AskUserQuestion`).
fn hooks(entry: &HookEntry) -> Vec<NewHook> {
    let mut hook = json!({
        "type": "command", "command": entry.command, "timeout": entry.cli.timeout_in_settings(),
    });
    if entry.version >= CLAUDE_ON_FAILURE {
        hook["onFailure"] = "block".into();
    }
    let of_event = |event: &'static str| {
        let matcher = match event {
            "PostToolUse" => Some(EDITS),
            // Its matcher is the name of a server, and all servers are meant.
            "Elicitation" => None,
            _ => Some("*"),
        };
        let mut group = Map::new();
        group.extend(matcher.map(|matcher| ("matcher".to_owned(), matcher.into())));
        group.insert("hooks".to_owned(), json!([hook]));
        NewHook { event, value: group.into() }
    };
    EVENTS.iter().copied().map(of_event).collect()
}

pub(super) fn add(text: &str, entry: &HookEntry) -> Result<Added, String> {
    json::add(text, SYNTAX, &hooks(entry), &[])
}

pub(super) fn inspect(text: &str, entry: Option<&HookEntry>) -> Result<Inspection, String> {
    let settings = json::read(text, SYNTAX)?;
    let found = json::hooks(&settings, SYNTAX, &entry.map(hooks).unwrap_or_default())?;
    let mut off = Vec::new();
    for switch in ["disableAllHooks", "allowManagedHooksOnly"] {
        if is_on(settings.get(switch)) {
            off.push(format!("sets `{switch}`, so Claude Code does not run the hook: remove this setting"));
        }
    }
    // The minimal mode of the agent has no hooks.
    if let Some(value) = settings.get("env").and_then(|env| env.get("CLAUDE_CODE_SIMPLE"))
        && is_on(Some(value))
    {
        off.push(
            "sets `env.CLAUDE_CODE_SIMPLE`, so Claude Code does not run the hook: remove this setting"
                .to_owned(),
        );
    }
    let mode = settings.get("permissions").and_then(|permissions| permissions.get("defaultMode"));
    let no_second_line = match mode.and_then(Value::as_str) {
        Some("bypassPermissions") => vec![
            "sets `permissions.defaultMode` to `bypassPermissions`: Claude Code itself asks nothing where the hook does not run"
                .to_owned(),
        ],
        _ => Vec::new(),
    };
    Ok(Inspection { hooks: found, off, no_second_line })
}

/// Returns true unless the setting is absent or clearly off.
fn is_on(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !matches!(text.as_str(), "" | "0" | "false"),
        Some(_) => true,
    }
}

/// Returns the reason why these settings hold back the replacement of a command.
pub(super) fn holds_back(text: &str, line: &str, cwd: &str) -> Result<Option<String>, String> {
    let settings = json::read(text, SYNTAX)?;
    if is_on(settings.get("sandbox").and_then(|sandbox| sandbox.get("enabled"))) {
        return Ok(Some("turns on the sandbox of Claude Code, which refuses the server".to_owned()));
    }
    let Some(permissions) = settings.get("permissions") else { return Ok(None) };
    for list in ["deny", "ask"] {
        let rules = match permissions.get(list) {
            None | Some(Value::Null) => continue,
            Some(Value::Array(rules)) => rules,
            Some(_) => return Err(format!("has no list at `permissions.{list}`")),
        };
        let held = rules.iter().find(|rule| rule.as_str().is_none_or(|rule| may_concern(rule, line, cwd)));
        if let Some(rule) = held {
            return Ok(Some(format!(
                "has the rule {rule} in `permissions.{list}`, which a trial would skip"
            )));
        }
    }
    Ok(None)
}

/// Returns true unless the rule certainly concerns no part of this command. Claude Code applies rules about reading and
/// editing to some commands as well, and their absolute paths include the working directory.
fn may_concern(rule: &str, line: &str, cwd: &str) -> bool {
    let (tool, text) = match rule.trim().split_once('(') {
        Some((tool, rest)) => (tool, rest.strip_suffix(')').unwrap_or(rest)),
        None => (rule.trim(), ""),
    };
    if ["WebFetch", "WebSearch", "Agent", "Task", "Skill"].contains(&tool) || tool.starts_with("mcp__") {
        return false;
    }
    // A word that the shell computes may be any word. A backslash at the end of a line joins two words.
    if line.contains(|c| "$`*?[{~".contains(c)) || line.contains("\\\n") {
        return true;
    }
    let line: String = line.chars().filter(|c| !"\\'\"".contains(*c)).collect();
    let is_literal = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let named: Vec<&str> =
        text.split(|c| !is_literal(c)).filter(|word| word.contains(char::is_alphanumeric)).collect();
    // A rule may name a part of a word, such as `*.env*`.
    let in_folder = |name: &str| tool != "Bash" && cwd.contains(name);
    named.is_empty() || named.iter().all(|name| line.contains(name) || in_folder(name))
}
