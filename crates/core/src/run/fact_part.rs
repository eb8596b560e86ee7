//! What facts are made of, where that has fields or words of its own.

use super::state::StepRole;
use crate::digest::Digest;
use crate::gate::Release;
use crate::id::InterruptId;
use crate::json::is_default;
use crate::routing::Route;
use crate::tool::{Category, LayerChanges, Precondition, ResolvedPath, SandboxLevel};
use serde::{Deserialize, Serialize};

/// A subtask without its words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
}

/// A subtask, and its place in the plan when its step started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanPart {
    pub id: String,
    /// From 1.
    pub number: usize,
    /// How many there were.
    pub of: usize,
}

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

/// Route of a copilot's next task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoutedTask {
    pub phase: String,
    pub by: RoutedBy,
    /// Step of the router, if one was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    pub route: Route,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complexity: Option<u8>,
    /// Agent that begins, if it is not the phase's own agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// True if no checkpoints of steps apply.
    #[serde(default, skip_serializing_if = "is_default")]
    pub simple: bool,
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
    pub(super) fn from_changes(layer: &LayerChanges) -> Self {
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

/// Who routed a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoutedBy {
    /// A router agent.
    Router,
    /// The rules of [`routing`](crate::routing), because no router is configured, or it could not be heard.
    Rules,
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
pub(super) fn is_worker(role: &StepRole) -> bool {
    *role == StepRole::Worker
}
