//! Hooks of plugins and extensions of the coding agents. They run next to the hooks of the settings.

use std::path::PathBuf;

use serde_json::Value;

use super::coding_cli::CodingCli;
use super::files;
use super::settings::{Folders, Format, Source};

const HOOKS: &str = "hooks/hooks.json";

/// Returns the files with hooks of installed plugins and extensions.
pub(crate) fn sources(cli: CodingCli, folders: &Folders) -> Vec<Source> {
    let paths = match cli {
        CodingCli::Claude => plugins(folders),
        CodingCli::Gemini => extensions(folders),
        CodingCli::Codex | CodingCli::Cursor => Vec::new(),
    };
    paths.into_iter().map(|path| Source { path, format: Format::Settings }).collect()
}

/// Returns the files of installed plugins of Claude Code, also of plugins that are turned off: they can be turned on at
/// any time.
fn plugins(folders: &Folders) -> Vec<PathBuf> {
    let list = folders.claude.join("plugins/installed_plugins.json");
    let text = files::text(&list).ok().flatten().unwrap_or_default();
    let mut found = Vec::new();
    collect(&serde_json::from_str(&text).unwrap_or_default(), &mut found);
    found.into_iter().map(|folder| folder.join(HOOKS)).collect()
}

/// Collects each `installPath` of the list. Its form differs between versions.
fn collect(value: &Value, found: &mut Vec<PathBuf>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("installPath").and_then(Value::as_str).map(PathBuf::from));
            members.values().for_each(|member| collect(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn extensions(folders: &Folders) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folders.gemini.join("extensions"));
    let mut found: Vec<PathBuf> =
        entries.into_iter().flatten().flatten().map(|entry| entry.path().join(HOOKS)).collect();
    found.sort();
    found
}
