//! The installation: what it is, what it offers, whether it is frozen, whether its journal is whole.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::Origin;

/// The state of the installation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct System {
    /// No tool and no model call starts.
    pub frozen: bool,
    /// What stands: of the whole installation first, then of its parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub freezes: Vec<Frozen>,
    /// Of the installation's own rules.
    pub policy_version: u64,
    /// Events of the stream `sys` so far.
    pub seq: u64,
}

/// What a freeze holds: one of these, or everything where none is named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"workflow": "deploy"}))]
pub struct FreezeOf {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// All runs of the workflow of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// What the agent of this name does, in whatever run; or what an agent that runs elsewhere asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// Nothing of a run, a workflow or an agent is to start; nothing at all where none is named.
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
    /// Why, for whoever wants to go on.
    pub reason: String,
}

/// Nothing of it starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Frozen {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Not there where it was frozen by an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub by: String,
    #[schema(format = DateTime)]
    pub at: String,
}

impl Frozen {
    /// What is frozen, by whom, and what a decision does meanwhile: for a card.
    pub fn words(&self, origin: Origin) -> String {
        let part = match (&self.run, &self.workflow, &self.agent) {
            (Some(_), _, _) => "the run".to_owned(),
            (_, Some(name), _) => format!("the workflow {name}"),
            (_, _, Some(name)) => format!("the agent {name}"),
            (None, None, None) => "everything".to_owned(),
        };
        let why = self.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let meanwhile = match origin {
            Origin::Native => "a decision is taken, and starts nothing until that is lifted",
            Origin::External => "only a decision that stops the agent is taken until that is lifted",
        };
        format!("{part}, by {}{why}: {meanwhile}", self.by)
    }
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
    /// The address that other machines use, where one is configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
    /// What is wrong with the certificate that lies there now. The one from before is used on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_problem: Option<String>,
    /// Warnings about the installation: people whose names are the same, a clock that is behind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Known problems of the journal: missing events, or the reason why nothing can be written. An audit finds more.
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
    /// Of the journal, as its events give it: `1042:3f2a91b0c4d5e6f708192a3b`.
    pub head: String,
    /// Events that are not chained yet. In a data folder there are none; in a database those of the last second.
    pub unsealed: u64,
    /// The heads that it was compared with; absent where there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against: Vec<ComparedHead>,
    /// The first that were found, at most one per stream; those of the journal as a whole name `journal`.
    pub damages: Vec<Damage>,
}

/// A head that somebody noted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ComparedHead {
    pub head: String,
    /// The journal continues from it.
    pub holds: bool,
}

/// Heads that a journal is compared with at once.
pub const MAX_HEADS: usize = 100;

/// Where the chain over all events of the journal ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "head": "1042:3f2a91b0c4d5e6f708192a3b", "events": 1042,
    "hash": "3f2a91b0c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f"
}))]
pub struct JournalHead {
    /// The number of events and the first digits of the hash: what a person writes down.
    pub head: String,
    pub events: u64,
    /// SHA-256, as 64 hexadecimal digits.
    pub hash: String,
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
