//! State of the installation: version, models, workflows, freezes, and integrity of the journal.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::Origin;

/// Freezes of the installation, and the version of its policy rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct System {
    /// True if the whole installation is frozen: no tool call and no model call starts.
    pub frozen: bool,
    /// Active freezes. A freeze of the whole installation is first in the list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub freezes: Vec<Frozen>,
    /// Version of the policy rules of the installation.
    pub policy_version: u64,
    /// Number of events in the stream `sys`, which records people, keys and settings.
    pub seq: u64,
}

/// Target of a freeze: one run, one workflow or one agent. If no field is set, the target is the whole installation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"workflow": "deploy"}))]
pub struct FreezeOf {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Name of a workflow. The freeze stops all runs of this workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// Name of an agent. The freeze stops its work in every run. It also applies to requests of an external agent with
    /// this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// Request to freeze a run, a workflow or an agent. If no target is given, freezes the whole installation. During a
/// freeze, no work of the target starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"workflow": "deploy", "reason": "The release is broken."}))]
pub struct Freeze {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Reason of the freeze. The reason is shown to people who try to continue frozen work.
    pub reason: String,
}

/// An active freeze. Work of its target does not start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Frozen {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Reason of the freeze. Absent if an old version of Holdshort created the freeze, because it recorded no reasons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub by: String,
    #[schema(format = DateTime)]
    pub at: String,
}

impl Frozen {
    /// Describes the freeze for a card: its target, its author, and the effect of a decision during the freeze.
    pub fn describe(&self, origin: Origin) -> String {
        let part = match (&self.run, &self.workflow, &self.agent) {
            (Some(_), _, _) => "the run".to_owned(),
            (_, Some(name), _) => format!("the workflow {name}"),
            (_, _, Some(name)) => format!("the agent {name}"),
            (None, None, None) => "everything".to_owned(),
        };
        let why = self.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let meanwhile = match origin {
            Origin::Native => "decisions are accepted, but no work starts until the freeze is lifted",
            Origin::External => "only decisions that stop the agent are accepted until the freeze is lifted",
        };
        format!("{part}, by {}{why}: {meanwhile}", self.by)
    }
}

/// Version and configuration of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "version": "0.1.0", "rehearsal": true, "model": {"name": "rehearsal", "provider": "rehearsal"},
    "sandbox": "full", "data": "/home/me/.local/share/holdshort"
}))]
pub struct Info {
    pub version: String,
    /// True if no model is configured. Agents then replay recorded scripts, and every user interface labels the run as
    /// a rehearsal.
    pub rehearsal: bool,
    /// Default model of the agents.
    pub model: Model,
    /// Protection by the command sandbox: `none`, `partial` or `full`.
    pub sandbox: String,
    /// Path of the data folder.
    pub data: String,
    /// Base URL of the server for other machines. Absent if none is configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
    /// Reason why the server cannot use a renewed certificate file, and still uses the previous certificate. Absent if
    /// there is no problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_problem: Option<String>,
    /// Warnings about the installation, such as people with equal names or a clock that is behind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Known problems of the journal, such as missing events, or the reason why it cannot be written. An audit may find
    /// more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub journal_problems: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Model {
    pub name: String,
    pub provider: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
}

/// A server process that uses the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "node": 7, "name": "blue", "here": true, "alive": true, "opened_at": "2026-11-01T10:00:00Z",
    "alive_until": "2026-11-01T10:42:15Z", "driving": 1, "runs": ["run_01k6f0000000000000000000aa"]
}))]
pub struct Node {
    /// Number of the server process. Each start of a server process gets a larger number than all earlier starts.
    pub node: u64,
    pub name: String,
    /// True if this node is the server that sends the response.
    pub here: bool,
    /// True if the node has renewed its leases in time. If false, other nodes take over the runs of this node.
    pub alive: bool,
    pub opened_at: String,
    /// Time until which the leases of the node are valid, unless it renews them earlier. Absent if only one node can
    /// use the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alive_until: Option<String>,
    /// Number of runs that the node is executing. Runs that wait for a person are not counted.
    pub driving: u64,
    /// Ids of the runs that the node is executing, at most 100.
    pub runs: Vec<String>,
}

/// Workflow that can be started, with its input and its agents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Workflow {
    pub name: String,
    pub description: String,
    /// JSON Schema of the input.
    #[schema(value_type = Object)]
    pub input: Value,
    pub agents: Vec<String>,
    pub phases: Vec<String>,
    pub tools: Vec<String>,
    /// SHA-256 of the workflow definition. A run always uses the definition with which it was started.
    pub digest: String,
    /// True if the workflow contains a script of prepared replies, with which it can run on sample data without a
    /// model.
    pub rehearsal: bool,
}

/// Result of an audit of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Verification {
    /// True if the audit found no damage.
    pub intact: bool,
    pub streams: u64,
    pub events: u64,
    /// Head of the journal (number of events and first digits of their hash), computed from the stored events:
    /// `1042:3f2a91b0c4d5e6f708192a3b`.
    pub head: String,
    /// Number of events that are not in the hash chain yet. Always 0 for a `SQLite` journal. For a `PostgreSQL`
    /// journal, these are the events of about the last second.
    pub unsealed: u64,
    /// Results of the comparison with the journal heads that the request contains. Absent if the request contained no
    /// head.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<ComparedHead>,
    /// Damages that the audit found, at most one per stream. A damage of the whole journal has the stream `journal`.
    pub damages: Vec<Damage>,
}

/// Journal head that was noted earlier, and the result of its comparison with the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ComparedHead {
    pub head: String,
    /// True if the journal still contains all events up to this head unchanged.
    pub holds: bool,
}

/// Maximum number of journal heads that one request can compare with the journal. A request with more heads is refused
/// with `invalid_query` (400).
pub const MAX_HEADS: usize = 100;

/// Head of the hash chain over all events of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "head": "1042:3f2a91b0c4d5e6f708192a3b", "events": 1042,
    "hash": "3f2a91b0c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f"
}))]
pub struct JournalHead {
    /// Number of events, and the first digits of the hash, short enough for a person to write down.
    pub head: String,
    pub events: u64,
    /// SHA-256 of the head, as 64 hexadecimal digits.
    pub hash: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Damage {
    pub stream: String,
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// Always `ok`.
    pub status: String,
}
