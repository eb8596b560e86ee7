//! Keys of agents and services.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Role;

/// Request to create a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"name": "build-bot", "expires_in_ms": 7_776_000_000u64}))]
pub struct MakeKey {
    /// Name of the key. Events, cards and lists show this name. 1 to 64 characters of `a-z`, `0-9`, `.`, `_`, `-`.
    #[schema(min_length = 1, max_length = 64)]
    pub name: String,
    /// Role of the key: `agent`, `operator`, `reviewer` or `auditor`. Defaults to `agent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Lifetime in milliseconds, at most ten years. If absent, the key is valid until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub expires_in_ms: Option<u64>,
    /// Canonical absolute path of the folder in which the server may run trials of this agent's commands. Only for the
    /// role `agent`. Without a folder, the server runs no trials for the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

/// Request to replace the secret of a key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"overlap_ms": 3_600_000}))]
pub struct RotateKey {
    /// Milliseconds for which the previous secret stays valid beside the new one. Defaults to 0; the maximum is 30
    /// days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 2_592_000_000u64)]
    pub overlap_ms: Option<u64>,
}

/// A key of an agent or a service, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "key_01k6f0000000000000000000aa", "name": "build-bot", "role": "agent", "status": "live",
    "made_at": "2026-11-01T10:00:00.000Z", "made_by": "operator", "last_used_at": "2026-11-01T10:05:00.000Z"
}))]
pub struct Key {
    pub id: String,
    pub name: String,
    pub role: Role,
    pub status: KeyStatus,
    #[schema(format = DateTime)]
    pub made_at: String,
    /// Id of the person who created the key.
    pub made_by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
    /// Folder in which the server may run trials of this agent's commands. Absent if it runs no trials for the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Time at which the secret was last replaced. Absent if the secret was never replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub rotated_at: Option<String>,
    /// Time until which the previous secret is still valid. Absent if it is no longer valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub previous_until: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub revoked_at: Option<String>,
    /// Time at which this server last accepted the key. Absent if the key was not used since the server started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub last_used_at: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyStatus {
    Live,
    Expired,
    Revoked,
}

/// Key of an agent or a service, with its new secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KeyWithSecret {
    #[serde(flatten)]
    pub key: Key,
    /// Secret, to send as `Authorization: Bearer SECRET`. No other response contains it: the server stores only its
    /// SHA-256.
    #[schema(example = "hs_key_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")]
    pub secret: String,
}
