//! Types of the settings editors: the hook to write, the hooks that were found, and the files that contain them.

use std::path::PathBuf;

use crate::verbs::hook::coding_cli::CodingCli;
use crate::verbs::hook::versions::Version;

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
    /// True if the settings contained an earlier form of the hook.
    pub is_replacement: bool,
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

pub(super) fn source(path: PathBuf) -> Source {
    Source { path, format: Format::Settings }
}
