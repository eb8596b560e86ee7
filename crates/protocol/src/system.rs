//! The installation: what it is, what it offers, whether it is frozen, whether its journal is whole.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The state of the installation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct System {
    /// No tool and no model call starts.
    pub frozen: bool,
    /// Of the installation's own rules.
    pub policy_version: u64,
    /// Events of the stream `sys` so far.
    pub seq: u64,
}

/// What runs here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "version": "0.1.0", "rehearsal": true, "model": {"name": "rehearsal", "provider": "rehearsal"},
    "sandbox": "full", "data": "/home/me/.local/share/holdshort"
}))]
pub struct Info {
    pub version: String,
    /// No model is configured: agents play their scripts. Every surface says so.
    pub rehearsal: bool,
    /// What answers the agents' requests.
    pub model: Model,
    /// How far commands are confined: `none`, `partial` or `full`.
    pub sandbox: String,
    /// The data folder.
    pub data: String,
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
    /// Its number: the epoch of its start, larger than that of every earlier start.
    pub node: u64,
    pub name: String,
    /// It is the one that answers.
    pub here: bool,
    /// Whether it renewed its leases in time. Others take over the runs of one that did not.
    pub alive: bool,
    pub opened_at: String,
    /// When its leases end unless it renews them; absent where no other node could take them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alive_until: Option<String>,
    /// How many runs it drives. Runs that wait for a person are driven by nobody.
    pub driving: u64,
    /// The first of them, at most 100.
    pub runs: Vec<String>,
}

/// A workflow that can be started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Workflow {
    pub name: String,
    pub description: String,
    /// JSON Schema of its input.
    #[schema(value_type = Object)]
    pub input: Value,
    pub agents: Vec<String>,
    pub phases: Vec<String>,
    pub tools: Vec<String>,
    /// SHA-256 of what a run pins.
    pub digest: String,
    /// It has a script, and plays without a model on its sample.
    pub rehearsal: bool,
}

/// Whether the journal is as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Verification {
    /// No damage was found.
    pub intact: bool,
    pub streams: u64,
    pub events: u64,
    /// The first that were found, at most one per stream.
    pub damages: Vec<Damage>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Damage {
    pub stream: String,
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// `ok`.
    pub status: String,
}
