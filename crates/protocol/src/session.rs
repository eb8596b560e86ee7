//! Sessions and what people allowed in them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A conversation with a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Session {
    pub id: String,
    /// Its newest runs; the others by `GET /v1/runs?session=`.
    pub runs: Vec<String>,
    /// Grants that hold now.
    pub grants: Vec<String>,
}

/// A remembered decision: calls that it covers are not asked about again in its session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Grant {
    pub id: String,
    pub session: String,
    pub tool: String,
    pub workspace: String,
    /// Of commands: the programs that it covers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<GrantCommand>,
    /// Who gave it.
    pub owner: String,
    /// Where it was given.
    pub run: String,
    pub interrupt: String,
    #[schema(format = DateTime)]
    pub added_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub revoked_at: Option<String>,
}

/// Whether a grant holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrantStatus {
    Active,
    Revoked,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GrantCommand {
    pub program: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subcommand: Option<String>,
    /// Whether it covers the command when it writes.
    pub writes: bool,
    /// The files that it may be redirected to and from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}
