//! Keys of agents and services.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Role;

/// A key to be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"name": "build-bot", "expires_in_ms": 7_776_000_000u64}))]
pub struct MakeKey {
    /// What its holder is called in events, on cards and in lists: 1 to 64 of `a-z`, `0-9`, `.`, `_`, `-`.
    #[schema(min_length = 1, max_length = 64)]
    pub name: String,
    /// `agent`, `operator`, `reviewer` or `auditor`; `agent` where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Without it the key counts until it is revoked. At most ten years.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub expires_in_ms: Option<u64>,
}

/// How the secret of a key is replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"overlap_ms": 3_600_000}))]
pub struct RotateKey {
    /// How long the secret of now goes on counting; 0 where it is left out, at most 30 days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 2_592_000_000u64)]
    pub overlap_ms: Option<u64>,
}

/// A key. Its secret is nowhere to be read.
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
    /// Who made it.
    pub made_by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
    /// When its secret was replaced the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub rotated_at: Option<String>,
    /// Until when the secret before that one counts, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub previous_until: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub revoked_at: Option<String>,
    /// At this server, since it was started.
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

/// A key with a secret that was just drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KeyWithSecret {
    #[serde(flatten)]
    pub key: Key,
    /// To be sent as `Authorization: Bearer SECRET`. It is shown this once: only its SHA-256 is kept.
    #[schema(example = "hs_key_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")]
    pub secret: String,
}
