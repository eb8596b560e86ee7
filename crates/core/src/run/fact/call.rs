//! Facts about calls: inspections, approvals, ends.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::gate::Release;
use crate::id::InterruptId;
use crate::tool::{Category, LayerChanges, Precondition, ResolvedPath, SandboxLevel};

/// Call as a model reply lists it. The arguments are content of the event, not part of this fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    pub call: String,
    pub tool: String,
    /// Digest of the tool and the arguments. Calls that repeat the previous call are recognised by this digest.
    pub digest: Digest,
}

/// Results of an inspection that the gates and the digest of the action need.
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
    /// Number of changed paths, including directories.
    pub changed: usize,
}

impl LayerDigest {
    pub(in crate::run) fn from_changes(layer: &LayerChanges) -> Self {
        Self { changeset: layer.changes.digest(), changed: layer.changes.changes().len() }
    }
}

/// Person, rule or grant that allowed a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Authority {
    Gate(Release),
    Interrupt(InterruptId),
}

/// Judgement of a model about a call that the gates would allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    Clear,
    /// A person must decide on the call.
    Escalate,
    /// The model was unavailable, or the reply of the model was unreadable. A person must decide on the call.
    Unheard,
}

/// Reason why a call returns to the gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReturnReason {
    /// A file that the call depends on has changed since a person saw the call.
    Changed,
    /// A person edited the arguments of the call.
    Edited,
    /// The rule or grant that allowed the call is no longer valid, or another rule or grant now allows the call.
    Withdrawn,
    /// A person stated that the call had no effect, so the call is executed again.
    Rerun,
}

/// Outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEnd {
    Done,
    Failed,
    /// A rule or a person refused the call, or nobody decided on the call in time.
    Refused,
    /// A person's text replaces the result of the call.
    Answered,
    Skipped,
    /// The run ended before the call started.
    Cancelled,
    /// The run ended while the call was running. The outcome of the call is unknown.
    Unknown,
}
