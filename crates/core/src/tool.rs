//! Tools as data: the declaration of a tool, the result of an inspection, the outcome of a call.
//!
//! This module executes nothing. The crate `tools` fills these types, and the run makes its decisions from them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::changeset::Changeset;
use crate::digest::Digest;
use crate::level::Level;
use crate::time::Timestamp;
use holdshort_command::Class;

/// Declaration of a tool for agents and gates. A run pins the declaration together with its workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    pub name: String,
    pub description: String,
    /// JSON Schema (2020-12) of the arguments. The schema always describes an object and rejects additional properties.
    pub parameters: Value,
    pub runs: Runs,
}

/// Place in which a call of the tool is executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Runs {
    /// In the server process, or in a sandboxed child process of the server.
    Here { effect: Effect, category: Category, on_crash: OnCrash },
    /// In the client: the call becomes an interrupt, and the client reports the outcome.
    Client { effect: Effect, category: Category },
    /// Not executed: the call opens an interrupt, and the person's answer is the result of the call.
    Opens(Opens),
    /// Not executed: the calling agent hands its work over to this receiver.
    HandsOver(Receiver),
    /// Not executed: the call starts a phase of the run, and the output of the phase is the result of the call.
    Begins(PhaseTool),
    /// Not executed: the arguments of the call are recorded with the run.
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
    /// Several phases in sequence.
    Chain,
}

impl PhaseTool {
    /// Names of phases in chains and in the tools `invoke_NAME_phase`. The names are those of the registry (contract
    /// A8).
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
    /// Second agent, which continues the same conversation.
    Agent(String),
    /// No receiver: the work is finished.
    Terminator,
    /// Person. After the person's answer, the calling agent continues.
    Admin,
}

/// Effect of a call: it only reads, or it may change something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Read,
    Write,
}

/// Handling of a call after a crash between its start and its finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnCrash {
    /// The call is read-only or idempotent, so it is run again.
    Rerun,
    /// After a crash, the outcome of the call is unknown, so a person is asked. A commit is always completed after a
    /// crash, whatever its tool declares, because its progress is visible. Definitions of version 0.1 used `probe` for
    /// tools that change files.
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
    /// Returns the name of the category in journals and workflows.
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

    /// Returns a verb phrase for the card that describes the calls of the category.
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

/// Path of a call that leads through a link to a place other than its names suggest. A path without links has no entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResolvedPath {
    /// Path as the call names it, relative to the working directory. Empty: the entry applies to all paths of the call.
    pub named: String,
    /// Absolute path without links. `None`: the target is unknown, so rules that ask or forbid match as if it could be
    /// any path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<String>,
}

/// Degree to which the sandbox confines a command (design, part 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxLevel {
    /// The command is not confined. A person is asked about every command, and grants do not apply.
    None,
    /// Only files or only the network is confined. A person is asked about every command, and grants do not apply.
    Partial,
    /// Files (Landlock), network (own namespace unless the workflow opens it), resources and the process group are
    /// confined.
    Full,
}

/// Permitted effect of a command on the workspace. The gates decide the effect, the digest of an approval includes
/// the effect, and the sandbox enforces the effect.
///
/// Variants are in ascending order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CommandEffect {
    /// The command reads. The workspace is read-only, its files cannot be executed, and there is no network.
    Reads,
    /// The command writes only below these places. Places are relative to the workspace, with `/`; `.` is the whole
    /// workspace.
    Writes { places: Vec<String> },
    /// The command writes anywhere in the workspace, except to guarded places: places from which a person's own tools
    /// run code ([`guarded`](holdshort_command::guarded)).
    Workspace,
    /// The command writes anywhere in the workspace, including guarded places. A person approved a card that states
    /// this permission.
    Guarded,
}

/// Result of inspecting a call before its gate. The inspection changes nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// Canonical path of the workspace.
    pub workspace: String,
    /// Canonical working directory of a command. For any other tool, the workspace.
    pub cwd: String,
    /// Preconditions of the call, sorted by path.
    pub preconditions: Vec<Precondition>,
    /// Degree to which the sandbox confines the command. `None` for tools that are not commands.
    pub sandbox: Option<SandboxLevel>,
    /// Codes of findings such as `hard_link`. For each finding, a person is asked about the call even if the rules
    /// allow it.
    pub ask_because: Vec<String>,
    /// Paths of the call that lead through a link to a place other than their names suggest.
    pub places: Vec<ResolvedPath>,
    /// Data for the card: `{"diff": {…}, "impact": {…}}`.
    pub card: Value,
    /// Changes that the tool proposes. Only for tools that change files.
    pub proposed: Option<Box<ProposedChanges>>,
}

/// Proposed changes of a call. The bytes of the changed files are stored in the journal before the run receives the
/// proposal.
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
    /// The call cannot or must not be executed, for example because a path is outside the workspace. The model receives
    /// the message.
    Impossible {
        code: &'static str,
        message: String,
    },
}

/// Outcome of a started call.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The call was executed. The model receives the text as the result. A command with exit code 1 is also `Done`.
    Done { text: String, data: Value },
    /// The sandbox denied a command a write or an execution beyond its permitted effect. The command ran; the text
    /// reports the denial.
    Confined { text: String, data: Value },
    /// A command created files that a person's own tools run automatically. The files were moved away, or they remain
    /// and the text reports them.
    SetAside { text: String, data: Value },
    /// A person stopped the command, which may have done a part of its work. The text is the output of the command
    /// until the stop.
    Stopped { text: String, data: Value },
    /// The call failed. The text states the reason.
    Failed { text: String },
    /// A precondition no longer held, so the call had no effect.
    Changed { paths: Vec<String> },
    /// The call began and did not finish, so a person must decide. The text describes the progress of the call.
    Halfway { text: String },
    /// The call was executed. The result is held until a person releases it.
    Held(Box<HeldOutput>),
}

/// A held result, with derived data for the person who may release it. The derived data never contains the raw result.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldOutput {
    pub title: String,
    /// Text that becomes the result of the call after the release.
    pub content: String,
    /// Reasons for holding the result, one per entry.
    pub findings: Vec<String>,
    /// Consequences of the findings under regulations, one per entry.
    pub implications: Vec<String>,
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
    /// A precondition no longer held, so the command was not executed.
    Changed {
        paths: Vec<String>,
    },
    /// A trial is not possible here, for the reason `why`. The command was not executed.
    Impossible {
        why: String,
    },
}

/// Changes that a commit makes in the layer of the run, not in the workspace. The layer contains the run's ignored
/// files, such as caches and build output. Only commands of the same run see the layer.
///
/// Each `before` is the previous entry of the layer. The layer is a cache, so a different entry at commit time is not
/// an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerChanges {
    pub changes: Changeset,
    /// Start of the trial, which also becomes the modification time of all files of the layer. A source file that
    /// changes after the trial is therefore newer than the output built from the file.
    pub made_at: Timestamp,
}

/// Result of a command that ran in a trial, without lasting effects. If a limit stopped the command, the changes are
/// dropped, and the text reports the limit.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialResult {
    /// Changes of the workspace.
    pub changeset: Changeset,
    /// Changes of the run's layer, if there are any.
    pub layer: Option<Box<LayerChanges>>,
    /// Codes of findings: `hard_link`, `special_file`, `layer_full`, and the codes of guarded files. For each finding,
    /// a person is asked about the call even if the rules allow it.
    pub ask_because: Vec<String>,
    /// Result of the call for the agent, once the changes are committed.
    pub text: String,
    /// Exit code, duration and limits of the command.
    pub data: Value,
    /// Data about the changes, for the card.
    pub card: Value,
}
