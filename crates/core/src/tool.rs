//! Tools as data: the declaration of a tool, the result of an inspection, the outcome of a call.
//!
//! This module runs nothing. The crate `tools` fills these types; the run decides on them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::changeset::Changeset;
use crate::digest::Digest;
use crate::level::Level;
use crate::time::Timestamp;
use holdshort_command::Class;

/// Declaration of a tool to agents and gates. Pinned into the run with its workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    pub name: String,
    pub description: String,
    /// JSON Schema (2020-12) of the arguments. Always an object schema that rejects additional properties.
    pub parameters: Value,
    pub runs: Runs,
}

/// Place in which a call of the tool is executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Runs {
    /// In this process, or a sandboxed child of it.
    Here { effect: Effect, category: Category, on_crash: OnCrash },
    /// In the client: the call is handed out as an interrupt, and the client reports the outcome.
    Client { effect: Effect, category: Category },
    /// Not executed: the call opens an interrupt, and the answer is its result.
    Opens(Opens),
    /// Not executed: the calling agent hands its work over.
    HandsOver(Receiver),
    /// Not executed: the call starts a phase of the run, and the phase's output is its result.
    Begins(PhaseTool),
    /// Not executed: the arguments are recorded with the run.
    Records,
}

/// Phase that a call starts (contract A25).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseTool {
    Planning,
    /// Planning in which a person decides on every plan.
    HumanPlanning,
    Control,
    /// Execution of a plan in which a person approves the start of every step.
    HumanControl,
    OneShot,
    IdeaGeneration,
    Checkpoint,
    Copilot,
    /// Several phases, one after the other.
    Chain,
}

impl PhaseTool {
    /// Names of phases in a chain and in the tools `invoke_NAME_phase`. They are those of the registry (contract A8).
    pub const NAMES: [(&str, Self); 8] = [
        ("planning", Self::Planning),
        ("hitl_planning", Self::HumanPlanning),
        ("control", Self::Control),
        ("hitl_control", Self::HumanControl),
        ("one_shot", Self::OneShot),
        ("idea_generation", Self::IdeaGeneration),
        ("hitl_checkpoint", Self::Checkpoint),
        ("copilot", Self::Copilot),
    ];

    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, tool)| tool)
    }
}

/// Receiver of handed-over work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Receiver {
    /// Another agent, which continues the same conversation.
    Agent(String),
    /// No receiver: the work is finished.
    Terminator,
    /// A person. Afterwards the same agent continues.
    Admin,
}

/// Ability of a call to change anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Read,
    Write,
}

/// Handling of a crash between start and finish of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnCrash {
    /// Read-only or idempotent: the call is run again.
    Rerun,
    /// The outcome is unknown: a person is asked. A commit is always rolled forward, whatever its tool declares,
    /// because its progress is visible. Definitions of 0.1 used `probe` for tools that change files.
    #[serde(alias = "probe")]
    Ask,
}

/// Category of a call, for gates and grants (contract A24).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    ReadOnly,
    FileWrite,
    Bash,
    CodeExec,
    Install,
    Web,
}

impl Category {
    /// Name of the category in journals and workflows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::FileWrite => "file_write",
            Self::Bash => "bash",
            Self::CodeExec => "code_exec",
            Self::Install => "install",
            Self::Web => "web",
        }
    }

    /// Describes the calls of the category.
    pub const fn does(self) -> &'static str {
        match self {
            Self::ReadOnly => "reads",
            Self::FileWrite => "writes files",
            Self::Bash => "runs commands",
            Self::CodeExec => "executes code",
            Self::Install => "installs packages",
            Self::Web => "reaches the network",
        }
    }
}

impl From<Class> for Category {
    fn from(class: Class) -> Self {
        match class {
            Class::Reads => Self::ReadOnly,
            Class::Runs => Self::Bash,
            Class::RunsCode => Self::CodeExec,
            Class::ReachesOut => Self::Web,
            Class::Installs => Self::Install,
        }
    }
}

/// Tools that open an interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opens {
    Question,
    Plan,
    Review,
}

/// State of a file or folder that a call depends on. `path` is relative to the workspace, with `/`.
///
/// A path that ends with `/` is a folder (`./` is the workspace). Its `sha256` identifies the folder independently of
/// its name and its content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Precondition {
    pub path: String,
    /// SHA-256 of the file's bytes, or of the folder's identity. `None` if the path must be absent.
    pub sha256: Option<Digest>,
}

/// Path of a call that leads through a link to another place than its names suggest. Other paths have no entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResolvedPath {
    /// Path as the call names it, relative to the working directory. Empty for all paths of the call.
    pub named: String,
    /// Absolute path without links. `None` if unknown: asking and forbidding rules then treat it as any place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<String>,
}

/// Degree of confinement of a command (design, part 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxLevel {
    /// Not confined: every command asks, without grants.
    None,
    /// Either files or network is confined: every command asks, without grants.
    Partial,
    /// Confined in files (Landlock), network (own namespace unless the workflow opens it), resources and process group.
    Full,
}

/// Permitted effect of a command on the workspace: decided by the vote, bound by the digest, enforced by the sandbox.
///
/// Variants are in ascending order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CommandEffect {
    /// Reads. The workspace is read-only, its files cannot be executed, and there is no network.
    Reads,
    /// Writes only below these places, relative to the workspace with `/`. `.` is the whole workspace.
    Writes { places: Vec<String> },
    /// Writes anywhere in the workspace, except in places from which a person's own tools run code
    /// ([`guarded`](holdshort_command::guarded)).
    Workspace,
    /// Writes in those places too: a person approved a card that states this.
    Guarded,
}

/// Result of the read-only inspection of a call before the gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// Canonical path of the workspace.
    pub workspace: String,
    /// Canonical working directory of a command. For other tools the workspace.
    pub cwd: String,
    /// Sorted by path.
    pub preconditions: Vec<Precondition>,
    /// Set for commands only.
    pub sandbox: Option<SandboxLevel>,
    /// Codes of findings that make the call ask, whatever the rules allow: `hard_link` and others.
    pub ask_because: Vec<String>,
    /// Resolved paths of the call that lead to another place than their names suggest.
    pub places: Vec<ResolvedPath>,
    /// Data for the card: `{"diff": {…}, "impact": {…}}`.
    pub card: Value,
    /// Set for tools that change files only.
    pub proposed: Option<Box<ProposedChanges>>,
}

/// Proposed changes of a call. The bytes of the changed files are in the journal before the run receives this.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProposedChanges {
    pub changeset: Changeset,
    /// Result of the call for the agent, once the changes are committed.
    pub text: String,
    /// Data reported by the tool.
    pub data: Value,
}

/// Result of inspecting a call.
#[derive(Clone, Debug, PartialEq)]
pub enum InspectionOutcome {
    Ready(Inspection),
    /// The call cannot or must not run, for example because a path is outside the workspace. The message goes to the
    /// model.
    Impossible {
        code: &'static str,
        message: String,
    },
}

/// Outcome of a started call.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The call ran. The text is the result for the model. A command that exits with 1 is `Done` too.
    Done { text: String, data: Value },
    /// A command ran and was denied by the sandbox: it tried a write or an execution beyond its effect. The text
    /// reports it.
    Confined { text: String, data: Value },
    /// A command ran and created files that a person's own tools run by themselves. They were set aside, or remain and
    /// the text reports it.
    SetAside { text: String, data: Value },
    /// A person stopped the command, which may have done a part of its work. The text is its output until then.
    Stopped { text: String, data: Value },
    /// The call failed. The text states the reason.
    Failed { text: String },
    /// A precondition no longer held, so nothing was done.
    Changed { paths: Vec<String> },
    /// The call began and did not finish: a person must decide. The text describes its progress.
    Halfway { text: String },
    /// The call ran. Its result is withheld until a person releases it.
    Held(Box<WithheldOutput>),
}

/// A withheld result, with derived data for the person who may release it. The data is never raw.
#[derive(Clone, Debug, PartialEq)]
pub struct WithheldOutput {
    pub title: String,
    /// The text that becomes the result of the call after the release.
    pub content: String,
    /// Reasons for withholding, one on each line.
    pub findings: Vec<String>,
    pub level: Level,
    /// The findings as data, for display.
    pub details: Value,
    /// Data reported by the tool, stored with the result.
    pub data: Value,
}

/// Outcome of a command's trial.
#[derive(Clone, Debug, PartialEq)]
pub enum TrialOutcome {
    Yielded(TrialResult),
    /// A precondition no longer held, so the command was not run.
    Changed {
        paths: Vec<String>,
    },
    /// A trial is not possible here, for this reason. The command was not run.
    Impossible {
        why: String,
    },
}

/// Changes that a commit makes in the run's layer, which the run's own commands see, and not in the workspace.
///
/// Each `before` is the earlier entry of the layer. The layer is a cache, so a different entry at the commit is not an
/// error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerChanges {
    pub changes: Changeset,
    /// Start of the trial, and modification time of all its files. A source that changes later is therefore newer than
    /// the output built from it.
    pub made_at: Timestamp,
}

/// Result of a command that ran in a trial without lasting effects. If a limit stopped the command, its changes are
/// dropped, and the text reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialResult {
    /// Changes of the workspace.
    pub changeset: Changeset,
    /// Changes of the run's layer, if there are any.
    pub layer: Option<Box<LayerChanges>>,
    /// Codes of findings that ask, whatever the rules allow: `hard_link`, `special_file`, `layer_full` and those of the
    /// guard.
    pub ask_because: Vec<String>,
    /// Result of the call for the agent, once its changes are released.
    pub text: String,
    /// Exit code, time and limits of the command.
    pub data: Value,
    /// Data about the changes for the card.
    pub card: Value,
}
