//! Settings of the coding agents: where they are, how a hook is added and removed, and what in them weakens a hook.
//!
//! Works on texts, and changes nothing but the hook: comments, order and formatting of everything else stay. One file
//! per agent; `json.rs` edits JSON. Reads and writes no files.

pub(crate) mod claude;
pub(crate) mod codex;
pub(crate) mod cursor;
pub(crate) mod gemini;
mod json;
mod types;

use std::path::{Path, PathBuf};

pub(crate) use types::{Added, Folders, Format, FoundHook, HookEntry, Inspection, Source, Step};

use super::coding_cli::CodingCli;

/// Returns the settings file into which the hook is written. It belongs to the user, so that the agent's project cannot
/// contain it.
pub(crate) fn user_file(cli: CodingCli, folders: &Folders) -> PathBuf {
    match cli {
        CodingCli::Claude => folders.claude.join("settings.json"),
        CodingCli::Codex => folders.codex.join("config.toml"),
        CodingCli::Gemini => folders.gemini.join("settings.json"),
        CodingCli::Cursor => folders.home.join(".cursor/hooks.json"),
    }
}

/// Returns all settings that the agent reads in a root.
pub(crate) fn sources(cli: CodingCli, folders: &Folders, root: &Path) -> Vec<Source> {
    match cli {
        CodingCli::Claude => claude::sources(folders, root),
        CodingCli::Codex => codex::sources(folders, root),
        CodingCli::Gemini => gemini::sources(folders, root),
        CodingCli::Cursor => cursor::sources(folders, root),
    }
}

/// Adds the hook. Replaces an earlier form of it, and returns settings that already contain exactly this form unchanged.
/// The error is a clause with the file as its subject.
pub(crate) fn ensure(text: &str, entry: &HookEntry, is_ours: &dyn Fn(&str) -> bool) -> Result<Added, String> {
    let found = inspect(entry.cli, Format::Settings, text, Some(entry))?;
    let ours: Vec<&FoundHook> = found.hooks.iter().filter(|hook| is_ours(&hook.shown)).collect();
    if ours.is_empty() {
        return add(text, entry);
    }
    let is_there = |event: &&str| ours.iter().any(|hook| hook.is_exact && hook.event == *event);
    if ours.len() == events(entry.cli).len() && events(entry.cli).iter().all(is_there) {
        return Ok(Added { text: text.to_owned(), ..Added::default() });
    }
    let added = add(&remove(entry.cli, text, is_ours, &[])?, entry)?;
    Ok(Added { is_replacement: true, ..added })
}

fn add(text: &str, entry: &HookEntry) -> Result<Added, String> {
    match entry.cli {
        CodingCli::Claude => claude::add(text, entry),
        CodingCli::Codex => codex::add(text, entry),
        CodingCli::Gemini => gemini::add(text, entry),
        CodingCli::Cursor => cursor::add(text, entry),
    }
}

/// Removes each hook whose command line is ours. Lists and objects in `created` are removed if they are empty
/// afterwards.
pub(crate) fn remove(
    cli: CodingCli,
    text: &str,
    is_ours: &dyn Fn(&str) -> bool,
    created: &[String],
) -> Result<String, String> {
    match cli {
        CodingCli::Codex => codex::remove(text, is_ours),
        CodingCli::Claude => json::remove(text, claude::SYNTAX, is_ours, created),
        CodingCli::Gemini => json::remove(text, gemini::SYNTAX, is_ours, created),
        CodingCli::Cursor => json::remove(text, cursor::SYNTAX, is_ours, created),
    }
}

/// Reads what settings say about hooks. The error is a clause with the file as its subject.
pub(crate) fn inspect(
    cli: CodingCli,
    format: Format,
    text: &str,
    entry: Option<&HookEntry>,
) -> Result<Inspection, String> {
    match cli {
        CodingCli::Claude => claude::inspect(text, entry),
        CodingCli::Codex => codex::inspect(format, text, entry),
        CodingCli::Gemini => gemini::inspect(text, entry),
        CodingCli::Cursor => cursor::inspect(text, entry),
    }
}

/// Returns the reason why settings hold back the replacement of a command: their rules may concern the command, or they
/// turn a sandbox on. The reason is a clause with the file as its subject. Settings that cannot be parsed hold back
/// every command. `cwd`: absolute path of the working directory of the command.
pub(crate) fn holds_back(
    cli: CodingCli,
    format: Format,
    text: &str,
    line: &str,
    cwd: &str,
) -> Option<String> {
    let found = match cli {
        CodingCli::Claude => claude::holds_back(text, line, cwd),
        CodingCli::Codex => codex::holds_back(format, text),
        CodingCli::Gemini => gemini::holds_back(text),
        CodingCli::Cursor => Ok(None),
    };
    found.unwrap_or_else(Some)
}

/// Returns folders whose files are rules of the agent.
pub(crate) fn rule_folders(cli: CodingCli, folders: &Folders, root: &Path) -> Vec<PathBuf> {
    match cli {
        CodingCli::Codex => {
            vec![
                folders.codex.join("rules"),
                root.join(".codex/rules"),
                folders.system.join("etc/codex/rules"),
            ]
        }
        CodingCli::Gemini => vec![
            folders.gemini.join("policies"),
            root.join(".gemini/policies"),
            folders.system.join("etc/gemini-cli/policies"),
        ],
        CodingCli::Claude => vec![
            folders.system.join("etc/claude-code/managed-settings.d"),
            folders.system.join("Library/Application Support/ClaudeCode/managed-settings.d"),
        ],
        CodingCli::Cursor => Vec::new(),
    }
}

/// Returns the arguments of the agent that set rules or a sandbox. A short argument may contain its value.
pub(crate) const fn rule_arguments(cli: CodingCli) -> &'static [&'static str] {
    match cli {
        CodingCli::Claude => &["--disallowedTools", "--disallowed-tools", "--settings"],
        CodingCli::Gemini => &["--policy", "--admin-policy"],
        CodingCli::Codex => &["--sandbox", "--profile", "--full-auto", "--config", "-s", "-p", "-c"],
        CodingCli::Cursor => &[],
    }
}

/// Returns the reason if the agent uses a sandbox unless its settings turn it off.
pub(crate) fn sandboxed_by_default<'a>(
    cli: CodingCli,
    texts: impl Iterator<Item = &'a str>,
) -> Option<String> {
    let is_on = cli == CodingCli::Codex && !texts.into_iter().any(codex::has_no_sandbox);
    is_on.then(|| "it would be carried out inside the sandbox of Codex, which refuses the server".to_owned())
}

/// Undoes the steps of an installation, if nothing else changed since.
pub(crate) fn undo(text: &str, steps: &[Step]) -> Option<String> {
    let mut text = text.to_owned();
    for step in steps.iter().rev() {
        for (start, length) in step.iter().rev() {
            let end = start.checked_add(*length)?;
            text.get(*start..end)?;
            text.replace_range(*start..end, "");
        }
    }
    Some(text)
}

/// Returns the events before a tool, at which a hook can rewrite or allow a call.
pub(crate) const fn deciding_events(cli: CodingCli) -> &'static [&'static str] {
    match cli {
        CodingCli::Claude | CodingCli::Codex => &["PreToolUse", "PermissionRequest"],
        CodingCli::Gemini => &["BeforeTool"],
        CodingCli::Cursor => &["beforeShellExecution", "beforeMCPExecution", "preToolUse"],
    }
}

/// Returns the events in which the hook is registered.
pub(crate) const fn events(cli: CodingCli) -> &'static [&'static str] {
    match cli {
        CodingCli::Claude => claude::EVENTS,
        CodingCli::Codex => codex::EVENTS,
        CodingCli::Gemini => &["BeforeTool"],
        CodingCli::Cursor => cursor::EVENTS,
    }
}

#[cfg(test)]
mod tests;
