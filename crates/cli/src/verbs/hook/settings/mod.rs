//! Settings of the coding agents: where they are, how a hook is added and removed, and what in them weakens a hook.
//!
//! Works on texts, and changes nothing but the hook: comments, order and formatting of everything else stay. One file
//! per agent; `json.rs` edits JSON. Reads and writes no files.

pub(crate) mod claude;
pub(crate) mod codex;
pub(crate) mod cursor;
pub(crate) mod gemini;
mod json;

use std::path::{Path, PathBuf};

use super::coding_cli::CodingCli;
use super::versions::Version;

/// Folders in which the settings of coding agents are found.
#[derive(Clone, Debug)]
pub(crate) struct Folders {
    pub home: PathBuf,
    /// Folder of the settings of Claude Code (`CLAUDE_CONFIG_DIR`).
    pub claude: PathBuf,
    /// Folder of the settings of Codex (`CODEX_HOME`).
    pub codex: PathBuf,
    /// Folder of the settings of Gemini CLI (`GEMINI_CLI_HOME`).
    pub gemini: PathBuf,
    /// Root of the settings for all users: `/`.
    pub system: PathBuf,
}

impl Folders {
    /// Returns the folders that the environment selects.
    pub(crate) fn from_variables(home: PathBuf, variable: &dyn Fn(&str) -> Option<PathBuf>) -> Self {
        Self {
            claude: variable("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.join(".claude")),
            codex: variable("CODEX_HOME").unwrap_or_else(|| home.join(".codex")),
            gemini: variable("GEMINI_CLI_HOME").unwrap_or_else(|| home.clone()).join(".gemini"),
            system: PathBuf::from("/"),
            home,
        }
    }
}

/// Hook as it is written into the settings.
#[derive(Clone, Debug)]
pub(crate) struct HookEntry {
    pub cli: CodingCli,
    /// Command line that starts the hook.
    pub command: String,
    /// Version of the coding agent, which decides which keys it understands.
    pub version: Version,
}

/// Inserted texts of one step: start and length in bytes, in the text after the step.
pub(crate) type Step = Vec<(usize, usize)>;

/// Settings with the hook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Added {
    pub text: String,
    pub steps: Vec<Step>,
    /// Lists and objects that did not exist before, such as `hooks/PreToolUse`.
    pub created: Vec<String>,
}

/// Hook that settings contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundHook {
    pub event: String,
    /// Command line, address or tool: the text with which a person recognises the hook.
    pub shown: String,
    /// True if the hook is written exactly as this program writes it.
    pub is_exact: bool,
    /// Position of the group in the list of the event, and of the hook in the group.
    pub position: (usize, usize),
}

/// Hooks and switches of one settings file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inspection {
    pub hooks: Vec<FoundHook>,
    /// Settings that keep hooks from running. Each is a clause with the file as its subject.
    pub off: Vec<String>,
    /// Settings that remove the agent's own prompt or sandbox, which holds where no hook can.
    pub no_second_line: Vec<String>,
}

/// Settings file that can contain hooks or turn hooks off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub path: PathBuf,
    pub format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Settings of the agent.
    Settings,
    /// List of hooks of Codex (`hooks.json`).
    HookList,
    /// Requirements of an administrator for Codex.
    Requirements,
}

fn source(path: PathBuf) -> Source {
    Source { path, format: Format::Settings }
}

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
    add(&remove(entry.cli, text, is_ours, &[])?, entry)
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
