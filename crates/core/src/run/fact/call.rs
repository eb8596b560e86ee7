//! Facts about calls: inspections, approvals, ends.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::gate::Release;
use crate::id::InterruptId;
use crate::tool::{Category, LayerChanges, Precondition, ResolvedPath, SandboxLevel};

/// Tool call as a model reply lists it. The arguments are content of the event, not part of this fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    pub call: String,
    pub tool: String,
    /// Digest of the tool and the arguments of a call. Calls that repeat the previous call are recognised by this
    /// digest.
    pub digest: Digest,
}

/// Results of the inspection of a tool call that the approval gates and the digest of the action need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InspectionFacts {
    pub digest: Digest,
    pub category: Category,
    pub workspace: String,
    pub cwd: String,
    pub preconditions: Vec<Precondition>,
    pub sandbox: Option<SandboxLevel>,
    pub ask_because: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<ResolvedPath>,
}

/// Changes of the run's private layer (ignored files that only this run sees), as an event records them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerDigest {
    /// Digest of the changeset that describes the changes to the private layer.
    pub changeset: Digest,
    /// Number of paths that changed in the run's private layer, including directories.
    pub changed: usize,
}

impl LayerDigest {
    pub(in crate::run) fn from_changes(layer: &LayerChanges) -> Self {
        Self { changeset: layer.changes.digest(), changed: layer.changes.changes().len() }
    }
}

/// Person, rule or grant that allowed a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Authority {
    Gate(Release),
    Interrupt(InterruptId),
}

/// Judgement of a model about a tool call that the approval gates would allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    Clear,
    /// A person must decide on the judged tool call.
    Escalate,
    /// The judging model was unavailable, or its reply was unreadable. A person must decide on the tool call.
    Unheard,
}

/// Reason why a tool call returns to the approval gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReturnReason {
    /// A file that the tool call depends on has changed since a person saw the call.
    Changed,
    /// A person edited the arguments of the tool call.
    Edited,
    /// The rule or grant that allowed the tool call is no longer valid, or another rule or grant now allows the call.
    Withdrawn,
    /// A person stated that the tool call had no effect, so the call is executed again.
    Rerun,
}

/// Outcome of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEnd {
    Done,
    Failed,
    /// A rule or a person refused the tool call, or nobody decided on the call in time.
    Refused,
    /// A person's text replaces the result of the tool call.
    Answered,
    Skipped,
    /// The run ended before the tool call started.
    Cancelled,
    /// The run ended while the tool call was running. The outcome of the call is unknown.
    Unknown,
}
