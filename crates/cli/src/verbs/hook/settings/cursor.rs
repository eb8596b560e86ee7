//! Hooks of Cursor (`hooks.json`, version 1).

use std::path::Path;

use serde_json::{Value, json};

use super::json::{self, NewHook, Syntax};
use super::types::{Added, Folders, HookEntry, Inspection, Source, source};

pub(super) const SYNTAX: Syntax = Syntax { has_comments: false, has_groups: false, switches: &[] };
pub(super) const EVENTS: &[&str] = &["beforeShellExecution", "beforeMCPExecution", "preToolUse"];
const VERSION: u64 = 1;

pub(super) fn sources(folders: &Folders, root: &Path) -> Vec<Source> {
    [
        folders.home.join(".cursor/hooks.json"),
        root.join(".cursor/hooks.json"),
        folders.system.join("etc/cursor/hooks.json"),
        folders.system.join("Library/Application Support/Cursor/hooks.json"),
    ]
    .map(source)
    .into()
}

fn hooks(entry: &HookEntry) -> Vec<NewHook> {
    let hook = json!({
        "command": entry.command, "timeout": entry.cli.timeout_in_settings(), "failClosed": true,
    });
    EVENTS.iter().map(|event| NewHook { event, value: hook.clone() }).collect()
}

pub(super) fn add(text: &str, entry: &HookEntry) -> Result<Added, String> {
    inspect(text, Some(entry))?;
    json::add(text, SYNTAX, &hooks(entry), &[("version", VERSION.into())])
}

pub(super) fn inspect(text: &str, entry: Option<&HookEntry>) -> Result<Inspection, String> {
    let settings = json::read(text, SYNTAX)?;
    match settings.get("version") {
        None => {}
        Some(version) if version.as_u64() == Some(VERSION) => {}
        Some(version) => {
            return Err(format!(
                "has version {}, and only version {VERSION} is known",
                shorten(&version.to_string())
            ));
        }
    }
    let found = json::hooks(&settings, SYNTAX, &entry.map(hooks).unwrap_or_default())?;
    let has_hooks = settings.get("hooks").and_then(Value::as_object).is_some_and(|hooks| !hooks.is_empty());
    let off = match settings.get("version") {
        None if has_hooks => {
            vec!["has no `version`, so Cursor reads no hook of it: add `\"version\": 1`".to_owned()]
        }
        _ => Vec::new(),
    };
    Ok(Inspection { hooks: found, off, no_second_line: Vec::new() })
}

fn shorten(text: &str) -> &str {
    text.get(..40).unwrap_or(text)
}
