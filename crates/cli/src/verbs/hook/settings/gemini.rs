//! Hooks in the settings of Gemini CLI (`settings.json` with comments).

use std::path::Path;

use serde_json::{Map, Value, json};

use super::json::{self, NewHook, Syntax};
use super::types::{Added, Folders, HookEntry, Inspection, Source, source};

pub(super) const SYNTAX: Syntax =
    Syntax { has_comments: true, has_groups: true, switches: &["enabled", "disabled", "notifications"] };
/// Name with which `/hooks disable` turns the hook off.
const NAME: &str = "holdshort";

pub(super) fn sources(folders: &Folders, root: &Path) -> Vec<Source> {
    let mac = folders.system.join("Library/Application Support/GeminiCli");
    let linux = folders.system.join("etc/gemini-cli");
    [
        folders.gemini.join("settings.json"),
        root.join(".gemini/settings.json"),
        linux.join("settings.json"),
        linux.join("system-defaults.json"),
        mac.join("settings.json"),
        mac.join("system-defaults.json"),
    ]
    .map(source)
    .into()
}

fn hooks(entry: &HookEntry) -> Vec<NewHook> {
    let hook = json!({
        "name": NAME, "type": "command", "command": entry.command, "timeout": entry.cli.timeout_in_settings(),
    });
    vec![NewHook { event: "BeforeTool", value: json!({"matcher": "*", "hooks": [hook]}) }]
}

pub(super) fn add(text: &str, entry: &HookEntry) -> Result<Added, String> {
    json::add(text, SYNTAX, &hooks(entry), &[])
}

pub(super) fn inspect(text: &str, entry: Option<&HookEntry>) -> Result<Inspection, String> {
    let settings = json::read(text, SYNTAX)?;
    let found = json::hooks(&settings, SYNTAX, &entry.map(hooks).unwrap_or_default())?;
    let mut off = Vec::new();
    // `hooks.enabled` and `hooks.disabled` are the switches of earlier versions.
    for part in ["hooksConfig", "hooks"] {
        let Some(Value::Object(switches)) = settings.get(part) else { continue };
        off.extend(switched_off(part, switches, entry));
    }
    if settings.get("tools").and_then(|tools| tools.get("enableHooks")) == Some(&Value::Bool(false)) {
        off.push(is_off("tools.enableHooks"));
    }
    let approval = settings.get("general").and_then(|general| general.get("defaultApprovalMode"));
    let no_second_line = match approval.and_then(Value::as_str) {
        Some("yolo") => vec![
            "sets `general.defaultApprovalMode` to `yolo`: Gemini CLI itself asks nothing where the hook does not run"
                .to_owned(),
        ],
        _ => Vec::new(),
    };
    Ok(Inspection { hooks: found, off, no_second_line })
}

fn is_off(setting: &str) -> String {
    format!("turns hooks off with `{setting}`, so Gemini CLI does not run the hook: remove this setting")
}

fn switched_off(part: &str, switches: &Map<String, Value>, entry: Option<&HookEntry>) -> Vec<String> {
    let mut off = Vec::new();
    if switches.get("enabled") == Some(&Value::Bool(false)) {
        off.push(is_off(&format!("{part}.enabled")));
    }
    let ours = |name: &Value| {
        name.as_str().is_some_and(|name| name == NAME || entry.is_some_and(|entry| entry.command == name))
    };
    if switches.get("disabled").and_then(Value::as_array).is_some_and(|names| names.iter().any(ours)) {
        off.push(format!(
            "lists the hook in `{part}.disabled`, so Gemini CLI does not run it: enter `/hooks enable {NAME}`"
        ));
    }
    off
}

/// Returns the reason why these settings hold back the replacement of a command.
pub(super) fn holds_back(text: &str) -> Result<Option<String>, String> {
    const RULES: [(&str, &str); 7] = [
        ("tools", "exclude"),
        ("tools", "core"),
        ("tools", "sandbox"),
        ("policyPaths", ""),
        ("adminPolicyPaths", ""),
        ("excludeTools", ""),
        ("coreTools", ""),
    ];
    let settings = json::read(text, SYNTAX)?;
    let found = RULES.iter().find(|(part, name)| {
        let value = settings
            .get(*part)
            .and_then(|value| if name.is_empty() { Some(value) } else { value.get(*name) });
        match value {
            None | Some(Value::Null | Value::Bool(false)) => false,
            Some(Value::Array(items)) => !items.is_empty(),
            Some(Value::Bool(true) | Value::Number(_) | Value::String(_) | Value::Object(_)) => true,
        }
    });
    Ok(found.map(|(part, name)| {
        let dot = if name.is_empty() { "" } else { "." };
        format!("sets `{part}{dot}{name}`, which a trial would skip")
    }))
}
