//! Calls in facts: what was looked at, who released them, how they ended.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::gate::Release;
use crate::id::InterruptId;
use crate::tool::{Category, LayerChanges, Precondition, ResolvedPath, SandboxLevel};

/// A call as a reply lists it; its arguments are content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    pub call: String,
    pub tool: String,
    /// Of tool and arguments: equal calls in a row are counted.
    pub digest: Digest,
}

/// What an inspection found, as far as gates and digest need it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Look {
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

/// Changes of a run's layer, as an event names them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerDigest {
    /// Digest of the changes.
    pub changeset: Digest,
    /// Number of changed paths, folders included.
    pub changed: usize,
}

impl LayerDigest {
    pub(in crate::run) fn from_changes(layer: &LayerChanges) -> Self {
        Self { changeset: layer.changes.digest(), changed: layer.changes.changes().len() }
    }
}

/// Who or what released a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Authority {
    Gate(Release),
    Interrupt(InterruptId),
}

/// What a model says about a call that the gates let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    Clear,
    /// A person must decide.
    Escalate,
    /// It could not be reached or read: a person must decide.
    Unheard,
}

/// Why a call goes back to the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Returned {
    /// A file it relies on is not as it was shown.
    Changed,
    /// A person edited the arguments.
    Edited,
    /// The rule or grant that released it holds no longer, or another one releases it by now.
    Withdrawn,
    /// A person said that it did not happen.
    Rerun,
}

/// Outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallEnd {
    Done,
    Failed,
    /// By a rule, a person, or because nobody decided in time.
    Refused,
    /// A person's text is its result.
    Answered,
    Skipped,
    /// The run ended before it started.
    Cancelled,
    /// The run ended while it ran.
    Unknown,
}
