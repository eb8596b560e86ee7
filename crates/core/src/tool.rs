//! Tools as data: the declaration of a tool, the result of an inspection, and the outcome of a call.
//!
//! This module executes nothing. The crate `tools` creates values of these types, and the run decides from them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::changeset::Changeset;
use crate::digest::Digest;
use crate::level::Level;
use crate::time::Timestamp;
use holdshort_command::Class;

/// Declaration of a tool for agents and gates. The declaration is part of the workflow to which the run is bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    pub name: String,
    pub description: String,
    /// JSON Schema (2020-12) of the tool's arguments, which always describes an object and rejects unknown properties.
    pub parameters: Value,
    pub runs: Runs,
}

/// Way in which a call of the tool is executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Runs {
    /// The server executes the call, in its own process or in a sandboxed child process.
    Here { effect: Effect, category: Category, on_crash: OnCrash },
    /// The client executes the call. The call becomes an interrupt, and the client reports the outcome.
    Client { effect: Effect, category: Category },
    /// The call is not executed, but opens an interrupt. The person's answer is the result of the call.
    Opens(Opens),
    /// The call is not executed. The agent that makes the call hands its work over to this receiver.
    HandsOver(Receiver),
    /// The call is not executed, but starts a phase of the run. The output of the phase is the result of the call.
    Begins(PhaseTool),
    /// The call is not executed. The journal records the arguments of the call.
    Records,
}

/// Kind of phase that a call starts (contract A25).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseTool {
    Planning,
    /// Planning phase in which a person decides on every plan.
    HumanPlanning,
    Control,
    /// Phase that carries out a plan, in which a person approves the start of every step.
    HumanControl,
    OneShot,
    IdeaGeneration,
    Checkpoint,
    Copilot,
    /// Several phases, one after the other.
    Chain,
}

impl PhaseTool {
    /// Names of phases in chains and in the tools `invoke_NAME_phase`. The registry uses the same names (contract A8).
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

/// Receiver to which an agent hands over its work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Receiver {
    /// The agent hands its work over to this agent, which continues the same conversation.
    Agent(String),
    /// The agent hands its work over to nobody, because the work is finished.
    Terminator,
    /// The agent hands its work over to a person. After the person's answer, the agent continues.
    Admin,
}

/// Effect of a call: the call only reads, or it may change something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Read,
    Write,
}

/// Treatment of a call whose process crashed after the start of the call and before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnCrash {
    /// After a crash, the call runs again, because the call is read-only or idempotent.
    Rerun,
    /// After a crash, the outcome of the call is unknown, so a person is asked. Exception: a commit is always completed
    /// after a crash, whatever its tool declares, because the progress of a commit is visible. Definitions of version
    /// 0.1 used `probe` for tools that change files.
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

    /// Returns a verb phrase that describes the calls of the category on the card.
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

/// State of a file or folder on which a call depends. `path` is relative to the workspace, with `/` as the separator.
///
/// A path that ends with `/` is a folder (`./` is the workspace). The `sha256` of a folder identifies the folder
/// itself, and does not depend on the folder's name or content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Precondition {
    pub path: String,
    /// SHA-256 of the bytes of the file, or of the identity of the folder. `None` if nothing may exist at the path.
    pub sha256: Option<Digest>,
}

/// Path of a call that contains a link, with the path to which the link leads. A path without links has no entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResolvedPath {
    /// Path as written in the call, relative to the working directory. If empty, the entry is about all paths of the
    /// call.
    pub named: String,
    /// Absolute path to which the named path leads, without links. `None` if the target of a link is unknown. Rules
    /// that ask or forbid then match the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<String>,
}

/// Level at which the sandbox of this machine can confine a command (design, part 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxLevel {
    /// The sandbox confines nothing. A person is asked about every command, and grants do not apply.
    None,
    /// The sandbox confines only files or only the network. A person is asked about every command, and grants do not
    /// apply.
    Partial,
    /// The sandbox confines files (by Landlock), the network (by a separate namespace), resources and the process
    /// group. The workflow can allow network access.
    Full,
}

/// Effect that a command is permitted to have on the workspace. The gates determine the effect, an approval is bound to
/// the effect, and the sandbox enforces the effect.
///
/// The variants are in ascending order: later variants permit more.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CommandEffect {
    /// The command only reads. The workspace is read-only, its files cannot be executed, and there is no network.
    Reads,
    /// The command may write only below the paths in `places`. The paths are relative to the workspace, with `/` as the
    /// separator, and `.` is the whole workspace.
    Writes { places: Vec<String> },
    /// The command may write anywhere in the workspace, except to guarded files: files from which a person's own tools
    /// execute code ([`guarded`](holdshort_command::guarded)).
    Workspace,
    /// The command may write anywhere in the workspace, including guarded files. A person has approved this on the
    /// card.
    Guarded,
}

/// Result of inspecting a call before the gates vote. The inspection changes nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// Canonical path of the workspace of the inspected call.
    pub workspace: String,
    /// Canonical working directory of a command. For all other tools, the workspace.
    pub cwd: String,
    /// Preconditions of the call, sorted by path.
    pub preconditions: Vec<Precondition>,
    /// Level at which the sandbox confines the command. `None` if the tool is not a command.
    pub sandbox: Option<SandboxLevel>,
    /// Codes of risks that the inspection found, such as `hard_link`. For each of these risks, the gates ask a person,
    /// even if the rules allow the call.
    pub ask_because: Vec<String>,
    /// Paths of the call that contain a link, with the paths to which the links lead.
    pub places: Vec<ResolvedPath>,
    /// Data for the card of the call: `{"diff": {…}, "impact": {…}}`.
    pub card: Value,
    /// Changes that the tool proposes. Set only for tools that change files.
    pub proposed: Option<Box<ProposedChanges>>,
}

/// Changes that a tool proposes for a call. The contents of the changed files are stored in the journal before the run
/// gets the proposal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProposedChanges {
    pub changeset: Changeset,
    /// Result that the agent gets after the changes are committed.
    pub text: String,
    /// Data that the tool reports about the call.
    pub data: Value,
}

/// Outcome of the inspection of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum InspectionOutcome {
    Ready(Inspection),
    /// The call cannot or must not be executed, for example because a path is outside the workspace. The model gets the
    /// message.
    Impossible {
        code: &'static str,
        message: String,
    },
}

/// Outcome of a call that started.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The call was executed. The model gets the text as the result. A command that exits with code 1 was also
    /// executed.
    Done { text: String, data: Value },
    /// The command tried to write or execute something that its permitted effect excludes, and the sandbox prevented
    /// this attempt. The text reports the attempt.
    Confined { text: String, data: Value },
    /// A command created files that a person's own tools execute automatically. The files were moved away. The text
    /// lists the files that could not be moved.
    SetAside { text: String, data: Value },
    /// A person stopped the command. The command may have done a part of its work. The text is the output of the
    /// command until the stop.
    Stopped { text: String, data: Value },
    /// The call failed. The text is the reason.
    Failed { text: String },
    /// A precondition was no longer met, so the call had no effect.
    Changed { paths: Vec<String> },
    /// The call began but did not finish, so a person must decide. The text describes how far the call got.
    Halfway { text: String },
    /// The call was executed. The agent gets the result only after a person has approved the result.
    Held(Box<HeldOutput>),
}

/// Result that waits for a person's review, with additional data for the reviewer. The additional data never contains
/// the raw result.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldOutput {
    pub title: String,
    /// Text that becomes the result of the call after the approval.
    pub content: String,
    /// Reasons why a person must review the result, one per entry.
    pub findings: Vec<String>,
    /// Consequences of the findings under regulations, one per entry.
    pub implications: Vec<String>,
    pub level: Level,
    /// Findings as data that the card displays.
    pub details: Value,
    /// Data that the tool reported, which is stored with the result.
    pub data: Value,
}

/// Outcome of a command's trial.
#[derive(Clone, Debug, PartialEq)]
pub enum TrialOutcome {
    Yielded(TrialResult),
    /// A precondition was no longer met, so the command was not executed.
    Changed {
        paths: Vec<String>,
    },
    /// A trial is not possible on this machine. `why` is the reason. The command was not executed.
    Impossible {
        why: String,
    },
}

/// Changes that a commit makes to the run's private layer, not to the workspace. The layer contains files that git
/// ignores, such as caches and build output. Only commands of this run see the layer.
///
/// Each `before` is the entry that the layer had before the change. Because the layer is a cache, it is not an error if
/// the layer has another entry at the time of the commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerChanges {
    pub changes: Changeset,
    /// Time at which the trial started. All files of the layer get this modification time. A source file that changes
    /// after the trial is therefore newer than the output that was built from it.
    pub made_at: Timestamp,
}

/// Result of a command that ran in a trial. A trial has no lasting effects. If a limit stopped the command, its changes
/// are discarded, and the text reports the limit.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialResult {
    /// Changes of the tried command to the workspace.
    pub changeset: Changeset,
    /// Changes to the run's private layer: files that git ignores and that only this run sees.
    pub layer: Option<Box<LayerChanges>>,
    /// Codes of risks that were found in the changes: `hard_link`, `special_file`, `layer_full`, and the codes of
    /// guarded files. For each of these risks, the gates ask a person, even if the rules allow the call.
    pub ask_because: Vec<String>,
    /// Result that the agent gets after the changes are committed.
    pub text: String,
    /// Exit code, duration and limits of the command.
    pub data: Value,
    /// Data about the changes of the tried command, for the card.
    pub card: Value,
}
