//! The installation: its version, models and workflows, its freezes, and the integrity of its journal.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::Origin;

/// State of the installation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct System {
    /// True if the whole installation is frozen: no tool and no model call starts.
    pub frozen: bool,
    /// Active freezes: the one of the whole installation first, then those of its parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub freezes: Vec<Frozen>,
    /// Version of the installation's own rules.
    pub policy_version: u64,
    /// Number of events in the stream `sys`.
    pub seq: u64,
}

/// Target of a freeze: one of these, or the whole installation if none is named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"workflow": "deploy"}))]
pub struct FreezeOf {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Name of a workflow. The freeze covers all its runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// Name of an agent. The freeze covers its work in every run, and the requests of an agent of this name that
    /// runs elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// Request to freeze a run, a workflow or an agent, or the whole installation if none is named. Frozen
/// work does not start.
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
    /// Reason that is shown to people who want to continue.
    pub reason: String,
}

/// An active freeze. The work that it covers does not start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Frozen {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Absent if an older version created the freeze.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub by: String,
    #[schema(format = DateTime)]
    pub at: String,
}

impl Frozen {
    /// Describes the freeze for a card: its target, its author, and the effect of a decision until it is lifted.
    pub fn describe(&self, origin: Origin) -> String {
        let part = match (&self.run, &self.workflow, &self.agent) {
            (Some(_), _, _) => "the run".to_owned(),
            (_, Some(name), _) => format!("the workflow {name}"),
            (_, _, Some(name)) => format!("the agent {name}"),
            (None, None, None) => "everything".to_owned(),
        };
        let why = self.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let meanwhile = match origin {
            Origin::Native => "decisions are accepted, but start nothing until the freeze is lifted",
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
    /// True if no model is configured: agents play their scripts. Every surface labels the run as a rehearsal.
    pub rehearsal: bool,
    /// Default model of the agents.
    pub model: Model,
    /// Level of the command sandbox: `none`, `partial` or `full`.
    pub sandbox: String,
    /// Path of the data folder.
    pub data: String,
    /// Address that other machines use. Absent if none is configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
    /// Problem of the new certificate file. The server still uses the previous certificate. Absent if there is
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_problem: Option<String>,
    /// Warnings about the installation: people with equal names, a clock that is behind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Known problems of the journal: missing events, or the reason why nothing can be written. An audit finds
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

/// A server that uses the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "node": 7, "name": "blue", "here": true, "alive": true, "opened_at": "2026-11-01T10:00:00Z",
    "alive_until": "2026-11-01T10:42:15Z", "driving": 1, "runs": ["run_01k6f0000000000000000000aa"]
}))]
pub struct Node {
    /// Number of the node: the epoch of its start. It is larger than that of every earlier start.
    pub node: u64,
    pub name: String,
    /// True for the node that answers this request.
    pub here: bool,
    /// True if the node renewed its leases in time. Otherwise other nodes take over its runs.
    pub alive: bool,
    pub opened_at: String,
    /// Time at which its leases end unless it renews them. Absent if no other node can use the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alive_until: Option<String>,
    /// Number of runs that the node drives. No node drives a run that waits for a person.
    pub driving: u64,
    /// Ids of the first 100 of these runs.
    pub runs: Vec<String>,
}

/// A workflow that can be started.
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
    /// SHA-256 of the definition that a run pins.
    pub digest: String,
    /// True if the workflow has a script and plays on its sample without a model.
    pub rehearsal: bool,
}

/// Result of an audit of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Verification {
    /// True if no damage was found.
    pub intact: bool,
    pub streams: u64,
    pub events: u64,
    /// Head that the stored events give: `1042:3f2a91b0c4d5e6f708192a3b`.
    pub head: String,
    /// Number of events that are not chained yet. Always 0 in a data folder; in a database, the events of the last
    /// second.
    pub unsealed: u64,
    /// Heads that the journal was compared with. Absent if none was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<ComparedHead>,
    /// Damages: the first of each stream. Damages of the whole journal have the stream `journal`.
    pub damages: Vec<Damage>,
}

/// A head that was noted earlier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ComparedHead {
    pub head: String,
    /// True if the journal continues from this head.
    pub holds: bool,
}

/// Maximum heads that one request compares with the journal. A request with more is refused with `invalid_query` (400).
pub const MAX_HEADS: usize = 100;

/// Head of the chain over all events of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "head": "1042:3f2a91b0c4d5e6f708192a3b", "events": 1042,
    "hash": "3f2a91b0c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f"
}))]
pub struct JournalHead {
    /// Number of events and first digits of the hash, for a person to note.
    pub head: String,
    pub events: u64,
    /// SHA-256 as 64 hexadecimal digits.
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
