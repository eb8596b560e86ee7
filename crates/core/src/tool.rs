//! Tools as the core sees them: what a tool declares, what an inspection found, how a call ended.
//!
//! Nothing here runs anything. The crate `tools` fills these types; the run decides on them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::changeset::Changeset;
use crate::digest::Digest;
use crate::level::Level;
use crate::time::Timestamp;
use holdshort_command::Class;

/// A tool as agents and gates know it. Pinned into the run with its workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    pub name: String,
    pub description: String,
    /// JSON Schema (2020-12) of the arguments; always an object schema that refuses further properties.
    pub parameters: Value,
    pub runs: Runs,
}

/// Where a call to the tool happens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Runs {
    /// In this process (or a sandboxed child of it).
    Here { effect: Effect, category: Category, on_crash: OnCrash },
    /// In the client: the call is handed out as an interrupt, and the client tells what came of it.
    Client { effect: Effect, category: Category },
    /// Nowhere: the call opens an interrupt, and the answer is its result.
    Opens(Opens),
    /// Nowhere: the agent that makes the call gives its work away.
    HandsOver(Receiver),
    /// Nowhere: the call begins a phase of the run, and what that brings is its result.
    Begins(PhaseTool),
    /// Nowhere: what the call says is kept with the run.
    Records,
}

/// Which phase a call begins (contract A25).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseTool {
    Planning,
    /// A plan that a person always decides on.
    HumanPlanning,
    Control,
    /// A person lets every step of the plan begin.
    HumanControl,
    OneShot,
    IdeaGeneration,
    Checkpoint,
    Copilot,
    /// Several, one after the other.
    Chain,
}

impl PhaseTool {
    /// The names of phases in a chain, and in the tools `invoke_NAME_phase`: those of the registry (contract A8).
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

/// Whom work is handed over to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Receiver {
    /// Another agent, which goes on with the same conversation.
    Agent(String),
    /// Nobody: the work is finished.
    Terminator,
    /// A person; then the same agent goes on.
    Admin,
}

/// Whether a call can change anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Read,
    Write,
}

/// What a crash between start and finish of a call means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnCrash {
    /// Read-only or idempotent: run it again.
    Rerun,
    /// Nobody can know: a person is asked. What is committed is carried on, whatever its tool says: where a commit stands
    /// can be seen. Definitions of 0.1 said `probe` of tools that change files.
    #[serde(alias = "probe")]
    Ask,
}

/// The kinds of call that gates and grants speak of (contract A24).
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
    /// As it is written in journals and workflows.
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

    /// What calls of it do.
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

/// The tools that open an interrupt themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opens {
    Question,
    Plan,
    Review,
}

/// The state of a file or folder that a call relies on. `path` is relative to the workspace, with `/`.
///
/// A path that ends with `/` is a folder (`./` is the workspace), and `sha256` says which folder it is, whatever its
/// name: it does not change with what lies in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Precondition {
    pub path: String,
    /// SHA-256 of the file's bytes, or of the folder's identity; `None` where it must be absent.
    pub sha256: Option<Digest>,
}

/// A path that a call names and that leads elsewhere than its names say: through a link. A path without a place leads
/// where it says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResolvedPath {
    /// As the call names it, from the working directory. Empty: all that the call names.
    pub named: String,
    /// Absolute, without links; `None` where nobody could tell, which rules that hold back take for any place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<String>,
}

/// How far a command is confined (design, part 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxLevel {
    /// Not confined: every command asks, without grants.
    None,
    /// Files or network are confined, but not both: every command asks, without grants.
    Partial,
    /// Files (Landlock), network (own namespace unless the workflow opens it), resources, process group.
    Full,
}

/// What a command may do to the workspace: decided by the vote, bound by the digest, enforced by the sandbox.
///
/// Ordered from the least to the most.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CommandEffect {
    /// It reads. The workspace is read-only, nothing in it can be executed, and there is no network.
    Reads,
    /// It writes beneath these places only, relative to the workspace with `/`; `.` is all of it.
    Writes { places: Vec<String> },
    /// It writes anywhere in the workspace but where a person's own tools look for what they run
    /// ([`guarded`](holdshort_command::guarded)).
    Workspace,
    /// It writes there too: a person approved a card that says so.
    Guarded,
}

/// What a read-only look before the gate found out about a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// The canonical path of the workspace.
    pub workspace: String,
    /// The canonical working directory of a command, or the workspace.
    pub cwd: String,
    /// Sorted by path.
    pub preconditions: Vec<Precondition>,
    /// Of commands only.
    pub sandbox: Option<SandboxLevel>,
    /// Findings that make the call ask whatever the rules allow: codes such as `hard_link`.
    pub ask_because: Vec<String>,
    /// Where the paths lead that the call names, for those that lead elsewhere than they say.
    pub places: Vec<ResolvedPath>,
    /// What a person needs to see, as data: `{"diff": {…}, "impact": {…}}`.
    pub card: Value,
    /// Of tools that change files only.
    pub proposed: Option<Box<Proposed>>,
}

/// What a call that changes files would do. The bytes of those files are in the journal before the run hears of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposed {
    pub changeset: Changeset,
    /// What the agent reads as the result of the call, once it is done.
    pub text: String,
    /// The tool's own account.
    pub data: Value,
}

/// The result of looking at a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Inspected {
    Ready(Inspection),
    /// The call can not or must not run (path outside the workspace, text to replace not found …). The
    /// message goes to the model.
    Impossible {
        code: &'static str,
        message: String,
    },
}

/// How a started call ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It ran; the text is what the model reads. A command that exits with 1 is `Done` too.
    Done { text: String, data: Value },
    /// A command ran and met the walls of its effect: it tried to write or to execute what it may not. The text says so.
    Confined { text: String, data: Value },
    /// A command ran and made what a person's own tools run by themselves: it was set aside, or is left and the text
    /// says so.
    SetAside { text: String, data: Value },
    /// A command that a person stopped: it may have done a part of its work. The text is what it printed until then.
    Stopped { text: String, data: Value },
    /// It did not do what it should; the text says why.
    Failed { text: String },
    /// A precondition no longer held, so nothing was done.
    Changed { paths: Vec<String> },
    /// It was begun, and did not come to its end: a person must say. The text says how far it came.
    Halfway { text: String },
    /// It ran, and nobody reads what it brings before a person has released it.
    Held(Box<Held>),
}

/// A result that is held back, and what the person is shown who may release it: derived, never raw.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    pub title: String,
    /// What is released: exactly this text becomes the result of the call.
    pub content: String,
    /// Why it is held, a line each.
    pub findings: Vec<String>,
    pub level: Level,
    /// The same as data, for whoever shows it.
    pub details: Value,
    /// The tool's own account, which goes with the result.
    pub data: Value,
}

/// What a trial of a command came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Tried {
    Yielded(Yielded),
    /// A precondition no longer held, so it was not run.
    Changed {
        paths: Vec<String>,
    },
    /// It can not be tried here, and why. Nothing has run.
    Impossible {
        why: String,
    },
}

/// Changes that a commit makes in the run's layer, where the run's own commands find them, and not in the workspace.
///
/// Each `before` is what the layer held. The layer is a cache: a commit that finds something else there is no error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerChanges {
    pub changes: Changeset,
    /// Start of the trial, and modification time of every file of it: a source that changed later is newer than what
    /// was built from the earlier one.
    pub made_at: Timestamp,
}

/// What a command did where it could harm nothing. A command that a limit stopped has changed nothing: what it did until
/// then is dropped, and the text says so.
#[derive(Clone, Debug, PartialEq)]
pub struct Yielded {
    /// Changes of the workspace.
    pub changeset: Changeset,
    /// Changes of the run's layer; `None` where there are none.
    pub layer: Option<Box<LayerChanges>>,
    /// Codes of findings that ask whatever the rules allow: `hard_link`, `special_file`, `layer_full` and those of the guard.
    pub ask_because: Vec<String>,
    /// What the agent reads as the result of the call, once its changes are released.
    pub text: String,
    /// The command's own account: exit code, time, limits.
    pub data: Value,
    /// What a person needs to see of the changes.
    pub card: Value,
}
